"""A mistyped text, field or collection empties a table: that is told where it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.results.answers import Answers
from mongo_tables.site.pages import read_page
from tests.judged import report_on


@pytest.fixture
def asked(tmp_path: Path) -> Answers:
    kinds = enumerate(("cart", "search", "cart"))
    rows = [{"_id": n, "kind": kind, "n": n, "samples": [n]} for n, kind in kinds]
    for name in ("runs", "nodes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return Answers(str(tmp_path))


def told(asked: Answers, **body: Any) -> list[tuple[str, str, str]]:
    """The rule of each finding, what stands at its place, and its hint."""
    body = {"collection": "runs", "columns": ["n"], "headers": ["N"], **body}
    text = f"<!-- MONGO_TABLE: {json.dumps(body)} -->"
    build = report_on(asked, read_page(text, "page.md", lambda _: None))
    found = [one for one in build.findings if one.severity != "note"]
    return [(one.rule, re.split(r"[,}]", text[one.column - 1 :])[0], one.hint) for one in found]


SORTED = {"$sort": {"n": 1}}


@pytest.mark.parametrize(
    "body",
    [
        {"where": {"kind": "crat"}},
        {"pipeline": [{"$match": {"kind": "crat"}}, SORTED]},
        {"pipeline": [{"$match": {"$and": [{"n": {"$gte": 0}}, {"kind": {"$eq": "crat"}}]}}, SORTED]},
    ],
)
def test_a_text_that_no_document_has_is_told_with_the_one_that_was_meant(
    asked: Answers, body: dict[str, Any]
) -> None:
    assert told(asked, **body) == [("MT303", '"crat"', "did you mean `cart`?")]


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "nothing like it"},
        {"kind": {"$ne": "crat"}, "n": 9},
        {"$or": [{"kind": "crat"}, {"n": 9}]},
        {"n": 9},
    ],
)
def test_what_is_like_nothing_or_need_not_be_there_is_no_mistyped_text(
    asked: Answers, query: dict[str, Any]
) -> None:
    ((rule, _, hint),) = told(asked, where=query)
    assert (rule, "did you mean" in hint) == ("MT303", False)


def test_a_text_may_be_asked_for_that_no_document_has_yet(asked: Answers) -> None:
    assert told(asked, where={"kind": "crat"}, empty="None yet.") == []


@pytest.mark.parametrize(
    "stage",
    [
        {"$lookup": {"from": "node", "localField": "n", "foreignField": "n", "as": "x"}},
        {"$unionWith": "node"},
        {"$unionWith": {"coll": "node", "pipeline": []}},
    ],
)
def test_a_collection_that_a_stage_reads_is_told_where_another_is_called_nearly_so(
    asked: Answers, stage: dict[str, Any]
) -> None:
    def missing(name: str) -> list[tuple[str, str, str]]:
        written = json.loads(json.dumps(stage).replace('"node"', f'"{name}"'))
        found = told(asked, pipeline=[written, SORTED, {"$project": {"n": 1}}])
        return [one for one in found if one[0] == "MT304"]

    assert missing("node") == [("MT304", '"node"', "did you mean `nodes`?")]
    assert missing("elsewhere") == missing("nodes") == []


@pytest.mark.parametrize(
    ("stage", "place", "meant"),
    [
        ({"$unwind": "$smaples"}, '"$smaples"', "samples"),
        ({"$unwind": {"path": "$smaples"}}, '"$smaples"', "samples"),
        (
            {"$lookup": {"from": "nodes", "localField": "knd", "foreignField": "kind", "as": "x"}},
            '"knd"',
            "kind",
        ),
    ],
)
def test_a_field_that_a_stage_reads_by_its_name_is_told(
    asked: Answers, stage: dict[str, Any], place: str, meant: str
) -> None:
    assert ("MT402", place, f"did you mean `{meant}`?") in told(asked, pipeline=[stage, SORTED])


def test_each_of_many_tables_without_rows_is_told(asked: Answers) -> None:
    body = '<!-- MONGO_TABLE: {"collection": "runs", "where": {"kind": "crat"}, "columns": ["n"], "headers": ["N"]} -->'
    page = read_page("\n\n".join([body] * 200), "page.md", lambda _: None)
    found = report_on(asked, page).faults
    assert [one.hint for one in found] == ["did you mean `cart`?"] * 200
