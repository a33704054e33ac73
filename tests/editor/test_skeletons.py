"""What is written for a stage or an operator that is chosen can be run as it stands, with a field that documents have."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from mongo_tables.aggregation import catalogue, check
from mongo_tables.editor.arguments import argument_names
from mongo_tables.editor.bodies import comment_body, cursor_at
from mongo_tables.editor.completion import complete
from mongo_tables.editor.session import Session, request_of
from mongo_tables.editor.skeletons import named_argument, without_gaps
from tests.editor.conftest import lay_out

PLACES = {
    "stage": '[{"|"}]',
    "stage within a stage": '[{"$unionWith": {"coll": "runs", "pipeline": [{"|"}]}}]',
    "expression": '[{"$set": {"x": {"|"}}}]',
    "accumulator": '[{"$group": {"_id": null, "x": {"|"}}}]',
    "window": '[{"$setWindowFields": {"sortBy": {"threads": 1}, "output": {"x": {"|"}}}}]',
    "head of a query": '[{"$match": {"|"}}]',
    "head of a query of elements": '[{"$match": {"threads": {"$elemMatch": {"|"}}}}]',
    "stage of a facet": '[{"$facet": {"x": [{"|"}]}}]',
    "stage behind another of a facet": '[{"$facet": {"x": [{"$limit": 1}, {"|"}]}}]',
    "window beside its bounds": '[{"$setWindowFields": {"sortBy": {"threads": 1}, '
    '"output": {"x": {"window": {"documents": [-1, 0]}, "|"}}}}]',
    "expression of a query": '[{"$match": {"$expr": {"|"}}}]',
    "condition": '[{"$match": {"threads": {"|"}}}]',
    "condition beside a pattern": '[{"$match": {"threads": {"$regex": "a", "|"}}}]',
}

FEW = {"head of a query of elements": 5}
"""Places where fewer operators can stand than elsewhere, with how many can at least."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {"docs/page.md": "# Speeds\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = Session(lambda: request_of(None, None, None, database=False))
        made.check()
        return made


def accept_all(session: Session, pipeline: str, begins: str = "$") -> dict[str, str]:
    """The pipeline once each of what is offered at its mark was taken, by name; what is no operator is left out."""
    marked = f'<!-- MONGO_TABLE: {{"collection": "runs", "pipeline": {pipeline}}} -->'
    at = marked.index("|")
    text = marked.replace("|", "")
    body = comment_body(text, at)
    assert body is not None
    found = complete(text, cursor_at(text, body, at), session.knowledge)
    before, behind = text[: found.start], text[found.end :]
    taken = {one.label: f"{before}{without_gaps(one.text)}{behind}" for one in found.found}
    return {
        label: written.partition(":")[2].removesuffix("-->")
        for label, written in taken.items()
        if label.startswith(begins)
    }


def with_a_field(text: str) -> str:
    """The text with a field that documents have for the word of each path."""
    return re.sub(r'"\$[a-z]\w*"(?!:)', '"$threads"', text)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_offered_can_be_run_as_it_stands(session: Session, place: str) -> None:
    accepted = accept_all(session, PLACES[place])
    assert len(accepted) >= FEW.get(place, 9)
    for label, text in accepted.items():
        pipeline: Sequence[Any] = json.loads(with_a_field(text))["pipeline"]
        try:
            check(pipeline)
        except Exception as error:
            raise AssertionError(f"{label}: {text}") from error


def test_documents_begin_a_pipeline_that_reads_no_collection(session: Session) -> None:
    text = accept_all(session, '[{"$unionWith": {"pipeline": [{"|"}]}}]')["$documents"]
    check(json.loads(text)["pipeline"])


@pytest.mark.parametrize("kind", ["stage", "expression", "accumulator", "window"])
def test_each_argument_is_written_as_json(kind: catalogue.Kind) -> None:
    for name in catalogue.names(kind):
        for argument in argument_names(name):
            json.loads(without_gaps(named_argument(name, argument)))


@pytest.mark.parametrize(
    "place",
    [
        '[{"$set": {"x": {"$switch": {"branches": [|], "default": 0}}}}]',
        '[{"$densify": {"field": "threads", "range": |}}]',
        '[{"$setWindowFields": {"sortBy": {"threads": 1}, "output": {"x": {"$sum": 1, "window": |}}}}]',
        '[{"$fill": {"output": {"threads": |}}}]',
    ],
)
def test_a_document_within_arguments_can_be_run_as_it_stands(session: Session, place: str) -> None:
    ((_, text),) = accept_all(session, place, begins="{").items()
    check(json.loads(with_a_field(text))["pipeline"])


@pytest.mark.parametrize(
    ("skeleton", "plain"),
    [
        ('{"x": {"y": "${1:field}"\\}\\}${2}', '{"x": {"y": "field"}}'),
        (r'"a\\\\"b"', r'"a\\"b"'),
        (r"\${1:x\}", "${1:x}"),
        (r"${1:we\}ird}", "we}ird"),
    ],
)
def test_an_editor_without_gaps_gets_the_text_that_one_with_gaps_shows(skeleton: str, plain: str) -> None:
    assert without_gaps(skeleton) == plain
