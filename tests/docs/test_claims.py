"""What the sources conclude is held against rows: each claim finds its row, and its row decides what is said of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.results.conclusions import name_of
from tests.docs.saidofclaims import CLAIMS as CLAIMED
from tests.docs.saidofclaims import find_compared, read_rows

ROOT = Path(__file__).parents[2]
CLAIMS = sorted((ROOT / "fixtures" / "claims").glob("*.jsonl"))
STAGES = list(SharedPipelines(ROOT / "docs" / "pipelines")("claims").stages)
FIELDS = {
    "_id", "page", "testname", "source", "published", "claim", "row", "compares", "expects", "least", "most", "note", "advice",
    "size", "beside", "per",
}  # fmt: skip
CLAIM = {
    "_id": "a: b",
    "testname": "a",
    "claim": "It is far slower.",
    "row": {"order": 2},
    "beside": {"order": 1},
    "expects": ["slower"],
}
SAME = {"regime": "same", "counters": [{"counter": "pages_read", "value": 0.3}]}
OUTSIDE = {"counter": "pages_read", "value": 0.31, "least": 0, "most": 0.02, "inside": False}
OTHER = {"regime": "other", "counters": [OUTSIDE]}


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def said(claim: dict[str, Any], comparison: dict[str, Any] | None, field: str = "comparison") -> str:
    return str(judge(claim, {field: comparison} if comparison else {})["here"])


def judge(claim: dict[str, Any], row: dict[str, Any], *regimes: dict[str, Any] | None) -> dict[str, Any]:
    """What is said of the claim, where the fingerprints of its row and of the reference are these."""
    mine, others = regimes or (SAME, SAME)
    rows = [
        {"_id": {"testname": "a", "order": order}, "fingerprint": regime, **more}
        for order, regime, more in ((2, mine, row), (1, others, {}))
    ]
    (found,) = aggregate([claim], STAGES, collections={"results": rows})
    return found


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
            assert number_of({**claim, "row": claim["beside"]}, rows) == 1, claim["_id"]
            if "size" in claim:
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
    assert said({**CLAIM, "most": 0.5}, slower(0.4, 0.6)) == "undecided here"
    assert said({**CLAIM, "least": 0.5}, slower(0.4, 0.6)) == "undecided here"


def test_a_claim_does_not_hold_beyond_its_bounds_and_where_rows_conclude_something_else() -> None:
    assert said({**CLAIM, "most": 0.5}, slower(0.6, 0.7)) == "does not hold here"
    assert said({**CLAIM, "expects": ["faster"]}, slower(0.6, 0.7)) == "does not hold here"
    alike = {"verdict": "no difference", "ratio": 1, "low": 0.97, "high": 1.03}
    assert said(CLAIM, alike) == "does not hold here"


def test_nothing_is_said_without_a_conclusion() -> None:
    unknown = {"verdict": "not known", "ratio": 0.9, "low": 0.7, "high": 1.1}
    assert said(CLAIM, unknown) == "undecided here"
    assert said(CLAIM, None) == "undecided here"
    assert said({**CLAIM, "row": {"order": 3}}, slower(0.2, 0.3)) == "undecided here"
    assert (
        said({"_id": "a: c", "testname": "a", "note": "no such machine"}, slower(0.2, 0.3))
        == "undecided here"
    )
    assert said({"_id": "a: d", "testname": "a", "advice": True}, None) == "advice, nothing to measure"


def test_where_any_verdict_is_expected_the_bounds_alone_decide() -> None:
    nearly = {**CLAIM, "expects": ["slower", "no difference", "faster"], "least": 0.7}
    unknown = {"verdict": "not known", "ratio": 0.95, "low": 0.8, "high": 1.1}
    assert said(nearly, unknown) == "holds here"
    assert said(nearly, {**unknown, "low": 0.6}) == "undecided here"
    assert said(nearly, slower(0.4, 0.5)) == "does not hold here"
    assert said(nearly, None) == "undecided here"


def test_a_claim_about_two_variants_reads_the_contrast_and_all_campaigns_go_before_one() -> None:
    beside = {**CLAIM, "compares": "contrast"}
    assert said(beside, slower(0.2, 0.3), "contrast") == "holds here"
    assert said(beside, slower(0.2, 0.3)) == "undecided here"
    over = {"verdict": "not known", "ratio": 0.9, "low": 0.7, "high": 1.1}
    row = {"comparison": slower(0.2, 0.3), "campaigns": over}
    assert judge(CLAIM, row)["here"] == "undecided here"


UNKNOWN = {"regime": "unknown", "counters": [{"counter": "pages_read", "value": 0.3}]}
NO_COUNTER = "No published counter shows whether the regime is the same as at full size."
WITHIN, BEYOND = {"comparison": slower(0.2, 0.3)}, {"comparison": slower(0.6, 0.7)}


@pytest.mark.parametrize("row", [WITHIN, BEYOND])
@pytest.mark.parametrize("regimes", [(OTHER, SAME), (SAME, OTHER), (OTHER, OTHER), (OTHER, None)])
def test_nothing_is_said_of_rows_in_another_regime_and_the_remark_names_the_counter(
    row: dict[str, Any], regimes: tuple[dict[str, Any] | None, ...]
) -> None:
    found = judge({**CLAIM, "most": 0.5, "note": "A note."}, row, *regimes)
    assert found["here"] == "undecided here"
    assert found["note"].startswith("A note. The regime differs from that at full size: ")
    assert "pages read 0.31 per operation, at full size 0 to 0.02" in found["note"]
    assert ("of the row that it is compared with" in found["note"]) == (regimes[1] is OTHER)


@pytest.mark.parametrize("regimes", [(UNKNOWN, SAME), (SAME, UNKNOWN), (SAME, None), (None, None)])
def test_a_claim_does_not_hold_only_where_both_rows_are_in_the_published_regime(
    regimes: tuple[dict[str, Any] | None, ...],
) -> None:
    claim = {**CLAIM, "most": 0.5}
    for row, here, unknown in (
        (BEYOND, "does not hold here", "undecided here"),
        (WITHIN, "holds here", "holds here"),
    ):
        assert (judge(claim, row)["here"], judge(claim, row)["note"]) == (here, None)
        found = judge(claim, row, *regimes)
        assert (found["here"], found["note"]) == (unknown, NO_COUNTER)


@pytest.mark.parametrize(("row", "here"), [(WITHIN, "holds here"), (BEYOND, "undecided here")])
@pytest.mark.parametrize("order", [1, 2])
def test_a_claim_that_holds_where_something_else_limited_the_published_row_has_a_remark(
    row: dict[str, Any], here: str, order: int
) -> None:
    """One that does not hold is undecided: the limit may be why."""
    waiting = {"limit": "waiting"}
    rows = [
        {"_id": {"testname": "a", "order": 2}, "fingerprint": SAME, "resources": waiting, **row},
        {"_id": {"testname": "a", "order": 1}, "fingerprint": SAME, "resources": waiting},
    ]
    published = {
        "result_id": {"testname": "a", "order": order},
        "testname": "a",
        "limit": "processors",
    }
    collections = {"results": rows, "published": [published]}
    (found,) = aggregate([{**CLAIM, "most": 0.5}], STAGES, collections=collections)
    of = "of the row that it is compared with, " if order == 1 else ""
    assert (found["here"], found["note"]) == (
        here,
        f"The limit differs from that at full size: {of}waiting here, processors there. "
        "So the size of the effect may differ there.",
    )


def test_a_claim_about_bytes_a_second_is_decided_by_the_ratio_times_what_requests_carry() -> None:
    rows = [
        {
            "_id": {"testname": "a", "order": order},
            "fingerprint": SAME,
            "work": {"operations": 10, "documents": 10, "bytes": carried},
            **more,
        }
        for order, carried, more in ((2, 400, {"comparison": slower(0.4, 0.5)}), (1, 100, {}))
    ]

    def found(**asked: Any) -> tuple[str, str, float]:
        claim = {**CLAIM, "expects": ["faster"], **asked}
        (one,) = aggregate([claim], STAGES, collections={"results": rows})
        return one["here"], one["found"]["verdict"], one["found"]["ratio"]

    assert found(per="bytes") == ("holds here", "faster", pytest.approx(1.8))
    assert found(per="bytes", least=1.7) == ("undecided here", "faster", pytest.approx(1.8))
    assert found(per="documents") == ("does not hold here", "slower", pytest.approx(0.45))
    assert found() == ("does not hold here", "slower", pytest.approx(0.45))


@pytest.mark.parametrize(
    "claim", [one for one in CLAIMED if "beside" in one and "size" not in one], ids=lambda one: one["_id"]
)
def test_a_claim_names_the_row_with_which_its_row_was_compared(claim: dict[str, Any]) -> None:
    compared = find_compared(claim)
    (other,) = (one for one in read_rows() if one["_id"] == compared["other"])
    assert name_of(other) == compared["found"]["against"]


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

    holds, does_not = ("holds here", "does not hold here") if counted else ("undecided here",) * 2
    assert found(times - 0.01, times + 0.01) == (holds, f"{times} times")
    assert found(times + 0.01, 2) == found(0, times - 0.01) == (does_not, f"{times} times")
    assert found(0, 2, {"order": 3})[0] == "undecided here"
