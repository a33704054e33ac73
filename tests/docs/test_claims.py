"""What the sources conclude is held against rows: each claim finds its row, and its row decides what is said of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate

ROOT = Path(__file__).parents[2]
CLAIMS = sorted((ROOT / "fixtures" / "claims").glob("*.jsonl"))
STAGES = json.loads((ROOT / "docs" / "pipelines" / "claims.json").read_text("utf-8"))["pipeline"]
FIELDS = {
    "_id", "page", "testname", "source", "claim", "row", "compares", "expects", "least", "most", "note", "advice",
    "size", "beside",
}  # fmt: skip
CLAIM = {
    "_id": "a: b",
    "testname": "a",
    "claim": "It is far slower.",
    "row": {"order": 2},
    "expects": ["slower"],
}


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def said(claim: dict[str, Any], comparison: dict[str, Any] | None, field: str = "comparison") -> str:
    row = {"_id": {"testname": "a", "order": 2}, **({field: comparison} if comparison else {})}
    (found,) = aggregate([claim], STAGES, collections={"results": [row]})
    return str(found["here"])


def slower(low: float, high: float) -> dict[str, Any]:
    return {"verdict": "slower", "ratio": (low + high) / 2, "low": low, "high": high}


@pytest.mark.parametrize("path", CLAIMS, ids=lambda path: path.stem)
def test_each_claim_is_about_one_row_and_says_what_it_expects(path: Path) -> None:
    measured = ROOT / "fixtures" / "results" / path.name
    rows = [row["_id"] for row in read(measured)] if measured.exists() else []
    for claim in read(path):
        assert claim.keys() <= FIELDS, claim["_id"]
        assert (ROOT / "docs" / "experiments" / f"{claim['page']}.md").is_file(), claim["_id"]
        if "row" in claim:
            assert number_of(claim, rows) == 1, claim["_id"]
            if "size" in claim:
                assert number_of({**claim, "row": claim["beside"]}, rows) == 1, claim["_id"]
                assert claim["least"] < claim["most"], claim["_id"]
            else:
                assert claim["expects"], claim["_id"]
        else:
            assert claim.get("note") or claim.get("advice"), f"{claim['_id']}: no row, and no reason"


@pytest.mark.parametrize("path", CLAIMS, ids=lambda path: path.stem)
def test_no_remark_says_again_in_words_what_has_to_hold(path: Path) -> None:
    assert [
        one["_id"]
        for one in read(path)
        if re.search(r"\bcount(s|ed)? (as|up|\w+ times)", one.get("note", ""), re.IGNORECASE)
    ] == []


def number_of(claim: dict[str, Any], rows: Iterable[dict[str, Any]]) -> int:
    wanted = {"testname": claim["testname"], **claim["row"]}
    return sum(wanted.items() <= {**row, "query": None}.items() for row in rows)


def test_a_claim_holds_where_the_interval_lies_within_its_bounds() -> None:
    assert said(CLAIM, slower(0.2, 0.3)) == "holds here"
    assert said({**CLAIM, "most": 0.5}, slower(0.2, 0.3)) == "holds here"
    assert said({**CLAIM, "least": 0.1, "most": 0.3}, slower(0.2, 0.3)) == "holds here"


def test_an_interval_that_reaches_over_a_bound_decides_nothing() -> None:
    assert said({**CLAIM, "most": 0.5}, slower(0.4, 0.6)) == "cannot be told here"
    assert said({**CLAIM, "least": 0.5}, slower(0.4, 0.6)) == "cannot be told here"


def test_a_claim_does_not_hold_beyond_its_bounds_and_where_rows_conclude_something_else() -> None:
    assert said({**CLAIM, "most": 0.5}, slower(0.6, 0.7)) == "does not hold here"
    assert said({**CLAIM, "expects": ["faster"]}, slower(0.6, 0.7)) == "does not hold here"
    alike = {"verdict": "no difference", "ratio": 1, "low": 0.97, "high": 1.03}
    assert said(CLAIM, alike) == "does not hold here"


def test_nothing_is_said_without_a_conclusion() -> None:
    unknown = {"verdict": "not known", "ratio": 0.9, "low": 0.7, "high": 1.1}
    assert said(CLAIM, unknown) == "cannot be told here"
    assert said(CLAIM, None) == "cannot be told here"
    assert said({**CLAIM, "row": {"order": 3}}, slower(0.2, 0.3)) == "cannot be told here"
    assert (
        said({"_id": "a: c", "testname": "a", "note": "no such machine"}, slower(0.2, 0.3))
        == "cannot be told here"
    )
    assert said({"_id": "a: d", "testname": "a", "advice": True}, None) == "advice, nothing to measure"


def test_where_any_verdict_is_expected_the_bounds_alone_decide() -> None:
    nearly = {**CLAIM, "expects": ["slower", "no difference", "faster"], "least": 0.7}
    unknown = {"verdict": "not known", "ratio": 0.95, "low": 0.8, "high": 1.1}
    assert said(nearly, unknown) == "holds here"
    assert said(nearly, {**unknown, "low": 0.6}) == "cannot be told here"
    assert said(nearly, slower(0.4, 0.5)) == "does not hold here"
    assert said(nearly, None) == "cannot be told here"


def test_a_claim_about_two_variants_reads_the_contrast_and_all_campaigns_go_before_one() -> None:
    beside = {**CLAIM, "compares": "contrast"}
    assert said(beside, slower(0.2, 0.3), "contrast") == "holds here"
    assert said(beside, slower(0.2, 0.3)) == "cannot be told here"
    over = {"verdict": "not known", "ratio": 0.9, "low": 0.7, "high": 1.1}
    row = {"_id": {"testname": "a", "order": 2}, "comparison": slower(0.2, 0.3), "campaigns": over}
    (found,) = aggregate([CLAIM], STAGES, collections={"results": [row]})
    assert found["here"] == "cannot be told here"


@pytest.mark.parametrize(
    ("size", "times"),
    [("data", 0.8), ("indexes", 0.5), ("storage", 0.7), ("data and indexes", 0.7), ("a document", 0.4)],
)
def test_a_claim_about_a_size_is_decided_by_the_ratio_of_two_rows_unless_it_is_of_files(
    size: str, times: float
) -> None:
    counted = size in ("data", "a document")
    rows = [
        {
            "_id": {"testname": "a", "order": order},
            "comparison": slower(0.2, 0.3),  # Of its speed, which is another matter.
            "collection_stats": {
                "size": data,
                "count": count,
                "totalIndexSize": index,
                "storageSize": stored,
            },
        }
        for order, data, count, index, stored in ((1, 1000, 10, 500, 100), (2, 800, 20, 250, 70))
    ]
    claim = {"_id": "a: e", "testname": "a", "row": {"order": 2}, "beside": {"order": 1}, "size": size}

    def found(least: float, most: float, beside: dict[str, Any] | None = None) -> tuple[str, Any]:
        asked = {**claim, "least": least, "most": most, **({"beside": beside} if beside else {})}
        (said,) = aggregate([asked], STAGES, collections={"results": rows})
        return said["here"], said["found"]

    holds, does_not = ("holds here", "does not hold here") if counted else ("cannot be told here",) * 2
    assert found(times - 0.01, times + 0.01) == (holds, f"{times} times")
    assert found(times + 0.01, 2) == found(0, times - 0.01) == (does_not, f"{times} times")
    assert found(0, 2, {"order": 3})[0] == "cannot be told here"
