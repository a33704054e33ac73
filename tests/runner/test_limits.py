"""What limited a row is determined from all its windows, and from what was observed in the one that is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bson import json_util

from mongo_tables.runner.limits import find_published_limit, find_resources

RESULTS = sorted((Path(__file__).parents[2] / "fixtures" / "results").glob("*.jsonl"))
EVICTED, FLUSHED = "modified pages evicted by application threads", "log sync time duration (usecs)"

USED = {"server": 0.2, "client": 0.1, "other": 0.1}
IDLE = {"processors": {**USED, "busy": 0.4}}


def status(evicted: int, flushed: int) -> dict[str, Any]:
    return {"wiredTiger": {"cache": {EVICTED: evicted}, "log": {FLUSHED: flushed}}}


def make_row(**change: Any) -> dict[str, Any]:
    """Return a row of one window, in which nothing was busy."""
    return {
        "duration": 1000,
        "hardware": {"cores": 2},
        "repeats": [{**IDLE, "client_bound": False}],
        "checks": {"in_flight_share": 0.0, "in_flight_allowed": 0.05},
        "work": {"operations": 1000},
        "topology": {"cache_gb": 1.0},
        "before_status": status(0, 0),
        "after_status": status(0, 0),
        **change,
    }


def series(name: str, *values: float | None) -> dict[str, Any]:
    return {"measurements": [{"name": name, "dataPoints": [{"value": value} for value in values]}]}


@pytest.mark.parametrize(
    ("busy", "shown", "limit"),
    [
        ([1.0, 1.1, 1.9], 1.9, "waiting"),
        ([1.3, 1.6, 1.7], 1.3, "processors"),
        ([1.3, 1.7], 1.7, "waiting"),
        ([None], 1.6, "processors"),
    ],
)
def test_processors_are_judged_by_the_median_window_and_not_by_the_one_that_is_shown(
    busy: list[float | None], shown: float, limit: str
) -> None:
    windows = [{"processors": one and {**USED, "busy": one}} for one in reversed(busy)]
    found = find_resources(make_row(processors={**USED, "busy": shown}, repeats=windows))
    known = [one for one in busy if one] or [shown]
    assert found["limit"] == limit
    assert (found["busy_least"], found["busy_most"]) == pytest.approx((50 * known[0], 50 * known[-1]))


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({}, "waiting"),
        ({"repeats": [{"client_bound": one} for one in (True, True, False)]}, "client"),
        ({"repeats": [{**IDLE, "client_bound": one} for one in (True, False)]}, "waiting"),
        ({"repeats": [{"client_bound": False}]}, "not known"),
        ({"repeats": [{"client_bound": False}], "after_status": status(40, 0)}, "eviction"),
        ({"metrics": series("SYSTEM_NORMALIZED_CPU_IOWAIT", None, 10, 30)}, "disk"),
        ({"checks": {"in_flight_share": 0.07, "in_flight_allowed": 0.09}}, "waiting"),
        ({"checks": {"in_flight_share": 0.10, "in_flight_allowed": 0.09}}, "batches in flight"),
        ({"checks": {"in_flight_share": None, "in_flight_allowed": 0.09}}, "waiting"),
        ({"metrics": series("CACHE_DIRTY_BYTES", 2**28)}, "eviction"),
        ({"after_status": status(40, 0)}, "eviction"),
        ({"after_status": status(40, 0), "fingerprint": {"operations": 10_000}}, "waiting"),
        ({"after_status": status(2, 900_000)}, "journal"),
        ({"after_status": status(2, 200_000)}, "waiting"),
    ],
)
def test_a_row_waits_only_if_no_counter_explains_it(change: dict[str, Any], limit: str) -> None:
    assert find_resources(make_row(**change))["limit"] == limit


@pytest.mark.parametrize(
    ("target", "members", "percent"),
    [
        ("local", [{"cores": 8}], 5.0),
        ("local", [], 20.0),
        ("db:27017", [{"cores": 8}], 5.0),
        ("db:27017", [{"role": "primary"}], None),
    ],
)
def test_processors_are_busy_out_of_those_of_the_servers(
    target: str, members: list[dict[str, Any]], percent: float | None
) -> None:
    row = make_row(experiment={"target": target}, servers={"members": members})
    assert find_resources(row)["busy"] == percent


def test_committed_rows_say_the_limit_that_their_own_figures_show() -> None:
    rows = [json_util.loads(line) for path in RESULTS for line in path.read_text("utf-8").splitlines()]
    assert rows
    for row in rows:
        assert row["resources"] == find_resources(row), row["_id"]


IO2 = {"atlasDiskType": "PROVISIONED", "atlasDiskSizeGB": 200, "atlasIOPS": 3000}
GP3 = {**IO2, "atlasDiskType": "STANDARD"}


@pytest.mark.parametrize(
    ("figures", "machine", "limit"),
    [
        ({"meancpu": 75, "meanIops": 2699}, GP3, "processors"),
        ({"meancpu": 74, "meanIops": 2700}, GP3, "disk operations"),
        ({"meancpu": 74, "meanWrite": 214, "iowait": 20}, GP3, "disk writes, waiting for the disk"),
        ({"meancpu": 74, "meanWrite": 214, "iowait": 19}, IO2, "none found"),
        ({"meancpu": 74, "meanWrite": 214}, {**GP3, "atlasDiskSizeGB": 512}, "none found"),
        ({"DocsPerSecond": 5, "iowait": 30}, GP3, None),
        ({"meancpu": 90}, {}, None),
        ({"meancpu": 74, "meanWrite": 214}, {"atlasIOPS": 3000}, "none found"),
        ({"meancpu": "about 90", "meanIops": 2700}, GP3, "disk operations"),
    ],
)
def test_a_published_run_was_limited_by_what_it_used_up_of_its_machine(
    figures: dict[str, float], machine: dict[str, Any], limit: str | None
) -> None:
    assert find_published_limit(figures, machine) == limit
