"""What the tables of claims remark follows from rows, or from a source: ``remarks.json`` has how.

A remark is sentences of ``remarks.json``, word for word. What stands in braces there is filled in: from the one document
that a pipeline gives, from ``claim``, and from ``row`` and ``other``, the ``_id`` of the two rows that the claim compares,
and ``found``, what their comparison says. A pipeline that gives no document says that the sentence does not hold. Of what
no row has, ``source`` says where it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from preprocessor.aggregation import aggregate
from preprocessor.results import Query, open_source
from preprocessor.results.conclusions import name_of

ROOT = Path(__file__).parents[2]
SENTENCES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "remarks.json").read_text("utf-8"))
ASKING = [one for one in SENTENCES if "pipeline" in one]
SOURCE = open_source(str(ROOT / "fixtures"))
SPELLED = dict(enumerate("none one two three four five six seven eight nine ten".split())) | {
    "OBJECT_ID": "ObjectId"
}
FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|half|third|quarter|twice|thrice|double)\b",
    re.IGNORECASE,
)
DIRECTION = re.compile(
    r"\b(?:all|every|none?|most|least|more|less|fewer|\w+(?:er|est) than|slower|faster)\b", re.IGNORECASE
)


class Filling(Formatter):
    """Formats as Python does, and by name: ``word``, ``Word``, ``percent``, ``json``, ``schema``, ``call``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "word" | "Word":
                spelled = str(SPELLED.get(value, value))
                return spelled[0].upper() + spelled[1:] if format_spec == "Word" else spelled
            case "percent":
                return f"{value * 100:.0f}"
            case "json":
                return json.dumps(value)
            case "schema":
                return str(value).removeprefix("app")
            case "call":
                return value[0].lower() + value[1:]
        return str(super().format_field(value, format_spec))


def read(collection: str) -> list[dict[str, Any]]:
    return list(SOURCE.aggregate(Query(collection, ())))


CLAIMS = read("claims")
ROWS = read("results")
REMARKED = [claim for claim in CLAIMS if claim.get("note")]


@cache
def ask(number: int) -> list[Mapping[str, Any]]:
    sentence = SENTENCES[number]
    if "pipeline" not in sentence:
        return [{}]
    return list(SOURCE.aggregate(Query(sentence["collection"], tuple(sentence["pipeline"]))))


def find_rows(claim: Mapping[str, Any]) -> dict[str, Any]:
    """What a sentence may name of the rows that a claim compares: nothing where it names none."""
    if "row" not in claim:
        return {}
    of_it = [row for row in ROWS if row["_id"]["testname"] == claim["testname"]]
    (row,) = (one for one in of_it if claim["row"].items() <= {**one["_id"], "query": None}.items())
    told = row["campaigns"]["contrast"] if claim.get("compares") == "contrast" else row["campaigns"]
    (other,) = (
        one
        for one in of_it
        if (
            claim["beside"].items() <= {**one["_id"], "query": None}.items()
            if "beside" in claim
            else name_of(one) == told["against"]
        )
    )
    return {"row": row["_id"], "other": other["_id"], "found": told}


def say(claim: Mapping[str, Any]) -> dict[int, str]:
    """The sentences that hold for a claim, by their numbers."""
    known = {"claim": claim, **find_rows(claim)}
    said = {}
    for number, sentence in enumerate(SENTENCES):
        if str(claim["_id"]).startswith(sentence.get("of", "")):
            for document in ask(number):
                try:
                    said[number] = Filling().vformat(sentence["says"], (), {**document, **known})
                except (KeyError, TypeError):  # It is about rows, and the claim names others or none.
                    continue
    return said


def find_used(claim: Mapping[str, Any]) -> list[tuple[int, str]]:
    """The sentences of a remark, in its order, and their numbers."""
    note = f" {claim['note']} "
    used = [(number, text) for number, text in say(claim).items() if f" {text} " in note]
    return sorted(used, key=lambda one: note.index(f" {one[1]} "))


@pytest.mark.parametrize("claim", REMARKED, ids=lambda claim: str(claim["_id"]))
def test_a_remark_is_what_rows_or_a_source_say(claim: dict[str, Any]) -> None:
    assert " ".join(text for _, text in find_used(claim)) == claim["note"]


def test_every_sentence_is_one_of_a_remark() -> None:
    used = {number for claim in REMARKED for number, _ in find_used(claim)}
    assert [one["says"] for number, one in enumerate(SENTENCES) if number not in used] == []


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda one: str(one["says"]))
def test_a_figure_in_a_sentence_is_filled_in_and_a_direction_decided_unless_a_source_has_it(
    sentence: dict[str, Any],
) -> None:
    parts = list(Formatter().parse(sentence["says"]))
    written = "".join(text for text, *_ in parts)
    decided = "pipeline" in sentence or any(name for _, name, *_ in parts)
    if "source" not in sentence:
        assert not FIGURE.search(written)
        assert decided or not DIRECTION.search(written)


@pytest.mark.parametrize("sentence", ASKING, ids=lambda one: str(one["says"]))
def test_a_sentence_about_rows_is_said_by_one_document_and_of_no_rows_by_none(
    sentence: dict[str, Any],
) -> None:
    assert len(ask(SENTENCES.index(sentence))) == 1
    assert aggregate([], sentence["pipeline"]) == []
