"""The benchmark of stand-ins for a server: what it calls right, alike, another answer and an error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64

from benchmarks import answering
from benchmarks.stand_ins import OTHERS, OURS, ask, judge, read_case_files, write_case

FIXTURE = Path(__file__).parents[2] / "fixtures" / "stand_ins" / "stand_ins.jsonl"
REFUSED = {"error": "OperationFailure", "by_driver": True}


def rows(*documents: dict[str, Any]) -> dict[str, Sequence[str]]:
    return {"rows": [answering.encode(one) for one in documents]}


@pytest.mark.parametrize(
    ("theirs", "ours", "verdict"),
    [
        ({"_id": 1, "a": 5}, {"_id": 1, "a": 5}, "right"),
        ({"a": float("nan")}, {"a": -float("nan")}, "right"),
        ({"_id": 1, "a": 5}, {"a": 5, "_id": 1}, "alike"),
        ({"a": 5}, {"a": 5.0}, "alike"),
        ({"a": 5}, {"a": Int64(5)}, "alike"),
        ({"a": Decimal128("5")}, {"a": 5}, "alike"),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2, "b": 1}]}, "alike"),
        ({"a": 5}, {"a": 6}, "other"),
        ({"a": 1}, {"a": True}, "other"),
        ({"a": "5"}, {"a": 5}, "other"),
        ({"a": None}, {}, "other"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "other"),
    ],
)
def test_a_row_is_right_to_the_byte_or_alike_but_for_order_and_types_or_another_one(
    theirs: dict[str, Any], ours: dict[str, Any], verdict: str
) -> None:
    assert judge(rows(theirs), rows(ours)) == verdict
    assert judge(rows(theirs, {"x": 1}), rows(ours, {"x": 1})) == verdict
    assert judge(rows(theirs, {"x": 1}), rows(ours)) == "other"


def test_an_error_is_right_only_where_the_server_fails_and_a_driver_raises_it() -> None:
    own = {"error": "NotImplementedError", "by_driver": False}
    assert judge(REFUSED, REFUSED) == "right"
    assert judge(REFUSED, own) == "error"
    assert judge(REFUSED, rows({"a": 1})) == "other"
    assert judge(rows({"a": 1}), REFUSED) == "error"
    assert judge(rows({"a": 1}), own) == "error"


def test_libraries_answer_in_a_process_of_their_own_and_ours_as_the_case_files_say() -> None:
    suite = read_case_files()
    ours = ask(sys.executable, OURS, suite.cases)
    assert {judge(theirs, found) for theirs, found in zip(suite.expected, ours.answers, strict=True)} == {
        "right"
    }
    case = write_case({"case": [{"_id": 1, "a": 2}]}, "case", [{"$set": {"b": {"$add": ["$a", 1]}}}], {})
    mock = ask(sys.executable, "mongomock", [case])
    assert judge(rows({"_id": 1, "a": 2, "b": 3}), mock.answers[0]) == "right"
    assert mock.versions["version"].startswith("4.")
    missing = ask(sys.executable, "mongoeco", [case])
    assert "mongoeco" in missing.reason
    assert not missing.answers


def test_the_figures_that_a_page_shows_add_up_for_each_library_and_suite() -> None:
    documents = [json.loads(line) for line in FIXTURE.read_text("utf-8").splitlines()]
    found = {(one["_id"]["suite"], one["_id"]["library"]) for one in documents}
    assert found == {
        (suite, library) for suite in ("files", "tables", "generated") for library in (OURS, *OTHERS)
    }
    for one in documents:
        counted = [one[name] for name in ("right", "alike", "other", "error")]
        assert "reason" in one or sum(counted) == one["cases"]
