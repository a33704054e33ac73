"""Rows that nothing can be concluded from are told by the field that is wrong; all others are taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from math import inf, nan
from pathlib import Path
from typing import Any

import bson
import pytest

from mongo_tables.commands.compare.wording import format_json, format_pooled, format_text
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.comparison import compare
from mongo_tables.results.history import list_series
from mongo_tables.results.pooling import pool_rows, thin_out
from mongo_tables.results.row_check import find_row_fault
from mongo_tables.results.within_campaign import compare_within
from mongo_tables.runner.store import FileStore
from tests.results.blockrows import SHAKE, campaign, measured, shaken, side_by_side

FIXTURES = Path(__file__).parents[2] / "fixtures"
ODD = (nan, inf, -1, 0, 10**320, 1e-320, 1e308, None, "x", True, [], [1], {"a": {}}, bson.Decimal128("NaN"))
"""What may stand in place of anything, in a file that somebody edited or that another program wrote."""


def whole(hour: int) -> list[dict[str, Any]]:
    """A campaign with all that rows may have: two targets, contrast, slices, machines."""
    start, few = datetime(2026, 11, 1, hour, tzinfo=UTC), SHAKE[:3]
    flat = shaken(100, few)
    sides = [
        campaign([measured(1, flat, flat, name), measured(4, shaken(speed, few), target=name)], 0, f"of-{hour}", hour)
        for name, speed in (("a", 50), ("b", 60))
    ]  # fmt: skip
    parts = {
        "start_time": start,
        "experiment": {"scale": 0.01, "target": "db:1"},
        "client": {"kind": "wire"},
        "hardware": {"cpu": "A", "cores": 2, "memory_gib": 4},
        "servers": {"members": [{"cpu": "A", "cores": 2}]},
        "versions": {"server": f"8.0.{hour}", "harness": "mongo-tables 1"},
    }
    rows = [{**row, **parts} for row in side_by_side(*sides)]
    rows[3]["contrast"] = {**rows[3]["comparison"], "against": "size 1"}
    rows[3]["slices"] = {**rows[3]["targets"], "mean_latency": 9.0, "long_requests": True, "disturbed": 1}
    rows[3]["campaign"] = {**rows[3]["campaign"], "slice_seconds": 0.04}
    return rows


OLD = whole(3)
ROWS = list(pool_rows(whole(9), OLD).rows)


def list_paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The path of each part; of an array of many alike those of its first."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for name, part in parts:
        yield (name,)
        if isinstance(part, dict | list):
            yield from ((name, *path) for path in list_paths(part))


def change(row: dict[str, Any], path: tuple[str | int, ...], *value: Any) -> dict[str, Any]:
    """The row with this value at the path, or without what is there."""
    changed = deepcopy(row)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    if value:
        place[path[-1]] = value[0]
    else:
        del place[path[-1]]
    return changed


def use(rows: list[dict[str, Any]]) -> None:
    """All that is done with rows that were read; what campaigns do not have in common is refused in words."""
    for found in (compare(OLD, rows), compare(rows, OLD), compare_within(rows)):
        list(format_text(found))
        format_json(found)
    for ratios in (False, True):
        list_series([*rows, *OLD], ratios=ratios)
    list(map(thin_out, rows))
    with suppress(CommandError):
        list(format_pooled(pool_rows(rows, OLD)))


@pytest.mark.parametrize(
    ("number", "every"),
    [(0, 1), (3, 4), pytest.param(3, 1, marks=pytest.mark.exhaustive)],
    ids=["reference", "row of the second target, each fourth part", "row of the second target"],
)
def test_whatever_stands_in_place_of_a_part_of_a_row_is_told_or_can_be_used(number: int, every: int) -> None:
    told = 0
    for path in list(list_paths(ROWS[number]))[::every]:
        for changed in (
            change(ROWS[number], path),
            *(change(ROWS[number], path, value) for value in ODD),
        ):
            if not isinstance(changed.get("_id"), dict) or "testname" not in changed["_id"]:
                continue  # which is no row
            if find_row_fault(changed):
                told += 1
            else:
                use([*ROWS[:number], changed, *ROWS[number + 1 :]])
    assert told


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("repeats", 1, "operations_per_second"),
            nan,
            "repeats.1.operations_per_second is nan, and not a number of 0 or more",
        ),
        (("repeats", 1, "operations_per_second"), inf, "is inf, and not a number of 0 or more"),
        (("repeats", 1, "operations_per_second"), None, "is null, and not a number of 0 or more"),
        (("repeats", 1, "operations_per_second"), "fast", "is 'fast', and not a number of 0 or more"),
        (("repeats", 1, "operations_per_second"), -5, "is -5, and not a number of 0 or more"),
        (("repeats", 1, "block"), "one", "repeats.1.block is 'one', and not a whole number of 0 or more"),
        (("repeats", 1, "block"), 1.5, "repeats.1.block is 1.5, and not a whole number of 0 or more"),
        (("repeats",), "x", "repeats is 'x', and not an array"),
        (("repeats", 1), 7, "repeats.1 is 7, and not a document"),
        (("start_time",), "today", "start_time is 'today', and not a date"),
        (("campaign",), None, "campaign is null, and not a document"),
        (("campaign", "start"), "today", "campaign.start is 'today', and not a date"),
        (("comparison",), "nonsense", "comparison is 'nonsense', and not a document"),
        (("comparison", "ratio"), nan, "comparison.ratio is nan, and not a number above 0 or null"),
        (("comparison", "low"), nan, "comparison.low is nan, and not a number of 0 or more"),
        (("comparison", "p"), 1.5, "comparison.p is 1.5, and not a number from 0 to 1"),
        (
            ("comparison", "verdict"),
            "great",
            "comparison.verdict is 'great', and not one of faster, slower, no difference, not known",
        ),
        (
            ("comparison", "verdict"),
            "faster",
            "comparison has the verdict faster, but an interval from ",
        ),
        (("comparison", "ratio"), None, "comparison has the verdict slower, but no ratio"),
        (("comparison", "ratio"), 0.9, "comparison has a ratio of 0.9, outside its interval from "),
        (("campaigns", "each"), [], "campaigns.each is [], and not an array of 2 or more"),
        (("campaigns", "each", 1, "ratio"), None, "campaigns has a ratio, but some of its campaigns do not"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_path(
    path: tuple[str | int, ...], value: Any, said: str
) -> None:
    assert said in find_row_fault(change(ROWS[1], path, value))


def test_what_is_missing_is_told() -> None:
    assert find_row_fault(change(ROWS[1], ("comparison", "p"))) == "comparison.p is missing"
    speed = ("repeats", 2, "operations_per_second")
    assert find_row_fault(change(ROWS[1], speed)) == "repeats.2.operations_per_second is missing"


def test_rows_of_older_versions_have_less_and_are_taken() -> None:
    row = measured(1, shaken(100, SHAKE))
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert find_row_fault({**row, "start_time": start}) == ""
    assert find_row_fault({"_id": row["_id"], "start_time": start}) == ""
    assert find_row_fault({**row, "start_time": start, "campaign": {"start": start}}) == ""
    as_double = {"block": 1.0, "operations_per_second": 5}
    assert find_row_fault({**row, "start_time": start, "repeats": [as_double]}) == ""


def test_every_row_of_this_site_is_taken() -> None:
    folders = [FIXTURES, *(FIXTURES / "campaigns").iterdir()]
    stores = [FileStore(folder) for folder in folders]
    rows = [row for store in stores for name in store.experiments() for row in store.rows(name)]
    assert rows
    assert [fault for row in rows if (fault := find_row_fault(row))] == []
