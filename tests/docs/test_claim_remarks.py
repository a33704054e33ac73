"""What the tables of conclusions say beside what was found follows from documents, or has a source, word for word."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from tests.docs.saidofclaims import CLAIMS, SENTENCES, Sentence, find_said

FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|sixteen|twenty|hundred|half|third|quarter(?= of)|twice|double)\b",
    re.IGNORECASE,
)
DIRECTION = re.compile(
    r"\b(?:all|every|none?|most|least|more|less|fewer|\w+(?:er|est) than|slower|faster)\b", re.IGNORECASE
)
TEXTS = [
    (claim, claim[field])
    for claim in CLAIMS
    for field in ("claim", "note")
    if field in claim and (field == "note" or FIGURE.search(claim[field]))
]


@pytest.mark.parametrize(
    ("claim", "text"), TEXTS, ids=lambda one: one if isinstance(one, str) else one["_id"]
)
def test_a_remark_and_a_conclusion_with_a_figure_are_what_documents_or_a_source_say(
    claim: dict[str, Any], text: str
) -> None:
    assert " ".join(said for _, said in find_said(claim, text)) == text


def test_every_sentence_is_said_somewhere() -> None:
    said = [one for claim, text in TEXTS for one, _ in find_said(claim, text)]
    assert [one.says for one in SENTENCES if one not in said] == []


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda one: str(one.says))
def test_a_figure_in_a_sentence_is_filled_in_and_a_direction_decided_unless_a_source_has_it(
    sentence: Sentence,
) -> None:
    if not sentence.source:
        assert not FIGURE.search(sentence.written)
        assert sentence.follows or not DIRECTION.search(sentence.written)


@pytest.mark.parametrize(
    "sentence", [one for one in SENTENCES if one.pipeline], ids=lambda one: str(one.says)
)
def test_a_sentence_about_documents_is_said_by_one_and_where_there_are_none_by_none(
    sentence: Sentence,
) -> None:
    assert len(sentence.find()) == 1
    assert aggregate([], list(sentence.pipeline)) == []
