"""Several campaigns: what they conclude together stands in the rows, and what cannot be pooled is refused."""

from __future__ import annotations

import json
from math import exp, inf, log, sqrt
from statistics import fmean

import bson
import pytest
from jsonschema import Draft7Validator

from mongo_tables.directives.schemas import load
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.intervals import Interval, pool
from mongo_tables.results.pooling import pool_rows, thin_out
from tests.results.blockrows import SHAKE, campaign, measured, shaken, side_by_side

FLAT = shaken(100, SHAKE[::-1])
SLIGHT = [
    ratio * sqrt(one * other)
    for ratio, one, other in zip(
        (104, 90, 121, 99, 125, 103, 129, 108, 114, 101), SHAKE, SHAKE[::-1], strict=True
    )
]
"""Beside the reference its p is 3 %, which one of twenty rows without a difference has by chance."""


def at(hour, speeds=(50,), reference=100, **parts):
    """The campaign of that hour: size 1, the reference, and size 4, 5, 6… of these speeds."""
    rows = [
        measured(1, shaken(reference), shaken(reference, SHAKE[::-1])),
        *(
            measured(size, one if isinstance(one, list) else shaken(one))
            for size, one in enumerate(speeds, 4)
        ),
    ]
    return [{**row, **parts} for row in campaign(rows, 0, f"of-{hour}", hour)]


def pooled(*campaigns):
    """What the rows of the first campaign have together with the others."""
    first, *others = campaigns
    return [row.get("campaigns") for row in pool_rows(first, [row for rows in others for row in rows]).rows]


def interval(row):
    return Interval(*(row["comparison"][name] for name in ("ratio", "low", "high", "blocks", "p")))


def test_two_campaigns_reach_from_the_lowest_end_of_theirs_to_the_highest():
    new, old = at(9, [50]), at(3, [40])
    (_, found) = pooled(new, old)
    expected = pool([interval(new[1]), interval(old[1])])
    assert [found[name] for name in ("ratio", "low", "high", "blocks", "p")] == pytest.approx(expected)
    assert (found["low"], found["high"]) == (old[1]["comparison"]["low"], new[1]["comparison"]["high"])
    assert (found["verdict"], found["against"], found["margin"], found["count"]) == (
        "slower",
        "size 1",
        0.1,
        2,
    )


def test_each_campaign_stands_in_the_row_with_what_it_found_the_oldest_first():
    new, old = at(9, [50]), at(3, [40])
    new[1]["speed"], old[1]["speed"] = {"median": 50.0}, {"median": 40.0}
    (_, found) = pooled(new, old)
    assert [one["id"] for one in found["each"]] == ["of-3", "of-9"]
    assert [one["start"].hour for one in found["each"]] == [3, 9]
    assert [one["ratio"] for one in found["each"]] == [
        old[1]["comparison"]["ratio"],
        new[1]["comparison"]["ratio"],
    ]
    assert [one["speed"] for one in found["each"]] == [40.0, 50.0]
    assert list(found["each"][0]) == ["id", "start", "ratio", "low", "high", "p", "blocks", "speed"]


def test_what_one_hour_has_and_another_has_not_is_not_known():
    assert pooled(at(9, [50]), at(3, [150]))[1]["verdict"] == "not known"
    assert pooled(at(9, [50]), at(3, [150]))[1]["p"] == 1.0
    assert at(9, [SLIGHT])[1]["comparison"]["verdict"] == "faster"
    assert pooled(at(9, [SLIGHT]), at(3, [SLIGHT]))[1]["verdict"] == "faster"
    assert pooled(at(9, [SLIGHT]), at(3, [FLAT]))[1]["verdict"] == "not known"


def test_five_campaigns_are_as_sure_as_their_ratios_are_alike():
    speeds = (50, 51, 49, 50.5, 49.5)
    campaigns = [at(hour, [speed]) for hour, speed in enumerate(speeds)]
    (_, found) = pooled(*campaigns)
    ratios = [rows[1]["comparison"]["ratio"] for rows in campaigns]
    assert found["ratio"] == pytest.approx(exp(fmean(map(log, ratios))))
    assert found["low"] > min(rows[1]["comparison"]["low"] for rows in campaigns)
    assert (found["verdict"], found["count"], found["blocks"]) == ("slower", 5, 50)


def test_rows_of_an_experiment_are_judged_together_over_campaigns_as_in_one():
    alike = [shaken(100, SHAKE[size % 7 :] + SHAKE[: size % 7]) for size in range(19)]
    (_, alone) = pooled(at(9, [SLIGHT]), at(3, [SLIGHT]))
    (_, among, *others) = pooled(at(9, [SLIGHT, *alike]), at(3, [SLIGHT, *alike]))
    assert among == {**alone, "verdict": "not known"}
    assert {one["verdict"] for one in others} == {"no difference"}


def test_the_reference_itself_is_pooled_and_judged_by_itself():
    (reference, _) = pooled(at(9), at(3))
    assert (reference["against"], reference["verdict"], reference["count"]) == ("itself", "no difference", 2)


def test_a_campaign_that_is_named_twice_counts_once():
    new, old = at(9), at(3)
    assert pooled(new, old, new, [thin_out(row) for row in old]) == pooled(new, old)
    assert pooled(new, new) == [None, None]


def test_the_rows_stay_as_they_are_otherwise_and_what_was_concluded_before_is_replaced():
    new, old = at(9), at(3)
    rows = pool_rows(new, old).rows
    assert [{name: value for name, value in row.items() if name != "campaigns"} for row in rows] == new
    assert pool_rows(rows, old).rows == rows
    assert "campaigns" not in pool_rows(rows, at(5, ())).rows[1]


def test_rows_that_are_not_in_two_campaigns_are_told_and_other_experiments_left_alone():
    other = [{**row, "_id": {**row["_id"], "testname": "u"}, "campaigns": {"kept": True}} for row in at(9)]
    paced = {"_id": {"size": 9, "testname": "t"}, "repeats": []}
    found = pool_rows([*at(9, [50, 60]), paced, *other], at(3, [50])[:2] + at(3, [1, 2, 3, 4])[-1:])
    assert list(found.left_out) == [
        ("t: size 5", "only in campaign of-9"),
        ("t: size 9", "it has no comparison with a reference"),
        ("t: size 7", "not among the rows of the results"),
    ]
    assert list(found.rows[-2:]) == other
    assert [("campaigns" in row) for row in found.rows[:4]] == [True, True, False, False]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("experiment.digest", ("ab12", "cd34")),
        ("experiment.scale", (0.01, 0.005)),
        ("experiment.seconds", (0.7, 2.0)),
        ("client.kind", ("wire", "pymongo")),
        ("client.connections", (10, 24)),
        ("write_concern.w", ("majority", 1)),
    ],
)
def test_campaigns_that_measured_something_else_are_refused_by_the_field(field, values):
    part, name = field.split(".")
    old, new = (at(hour, **{part: {name: value}}) for hour, value in zip((3, 9), values, strict=True))
    with pytest.raises(CommandError) as refused:
        pool_rows(new, old)
    assert refused.value.message == (
        f"t: size 1: the campaigns of-3 and of-9 measured different work: {field} is {values[0]} in the first and "
        f"{values[1]} in the second"
    )


def test_campaigns_with_another_reference_are_refused():
    old = campaign([measured(1, FLAT), measured(4, shaken(50), shaken(50))], 1, "other", 3)
    with pytest.raises(
        CommandError, match=r"comparison\.against is size 4 in the first and itself in the second"
    ):
        pool_rows(at(9), old)


def test_other_machines_and_versions_are_named_in_the_row():
    sides = [
        at(
            hour,
            hardware={"cpu": cpu, "cores": cores},
            versions={"server": server},
            experiment={"in_turn": cores},
        )
        for hour, cpu, cores, server in ((9, "A", 2, "6.0.5"), (3, "B", 4, "6.0.5"), (5, "A", 2, None))
    ]
    (_, found) = pooled(*sides)
    assert found["differs"] == [
        {"field": "hardware.cores", "values": ["4", "2"]},
        {"field": "hardware.cpu", "values": ["B", "A"]},
        {"field": "experiment.in_turn", "values": ["4", "2"]},
        {"field": "versions.server", "values": ["6.0.5", None]},
    ]
    assert pooled(at(9), at(3))[1]["differs"] == []


def test_where_a_campaign_has_no_ratio_nothing_is_known():
    (_, found) = pooled(at(9), at(3, [[0.0] * 10]))
    assert (found["ratio"], found["low"], found["high"], found["verdict"]) == (None, 0.0, inf, "not known")
    assert (found["blocks"], found["each"][0]["ratio"]) == (20, None)


def two_targets(hour, second):
    sides = [
        campaign([measured(1, shaken(speed), shaken(speed), name), measured(4, shaken(speed), target=name)], 0, f"of-{hour}", hour)
        for name, speed in (("a", 100), ("b", second))
    ]  # fmt: skip
    return side_by_side(*sides)


def test_targets_that_were_measured_side_by_side_are_pooled_too():
    (on_a, _, _, on_b) = pooled(two_targets(9, 120), two_targets(3, 125))
    assert "targets" not in on_a
    assert (on_b["targets"]["against"], on_b["targets"]["verdict"], on_b["targets"]["count"]) == (
        "a",
        "faster",
        2,
    )
    assert on_b["targets"]["ratio"] == pytest.approx((1.2 * 1.25) ** 0.5)
    (_, _, _, alone) = pooled(two_targets(9, 120), [
        {name: value for name, value in row.items() if name != "targets"} for row in two_targets(3, 125)
    ])  # fmt: skip
    assert "targets" not in alone


def test_slices_of_other_widths_are_other_measurements():
    wide, narrow = (
        [
            {**row, "slices": row["comparison"], "campaign": {**row["campaign"], "slice_seconds": width}}
            for row in at(hour)
        ]
        for hour, width in ((9, 0.4), (3, 0.04))
    )
    with pytest.raises(
        CommandError, match=r"campaign\.slice_seconds is 0\.04 in the first and 0\.4 in the second"
    ):
        pooled(wide, narrow)


def test_a_thin_campaign_concludes_what_the_whole_one_does():
    parts = {
        "experiment": {"name": "t", "scale": 0.01, "parameters": {"a": 1}, "variant": {"b": 2}},
        "hardware": {"cpu": "A"},
        "series": [1] * 1000,
        "latency": {"histogram": "HIST"},
        "before_status": {"host": "x"},
    }
    old = at(3, **parts)
    for row in old:
        row["repeats"] = [{**one, "latency": {"mean": 1.0}, "seed": "s"} for one in row["repeats"]]
    thin = [thin_out(row) for row in old]
    assert pooled(at(9, **parts), thin) == pooled(at(9, **parts), old)
    assert [thin_out(row) for row in thin] == thin
    assert thin[1].keys() == {"_id", "campaign", "comparison", "experiment", "hardware", "repeats"}
    assert thin[1]["experiment"] == {"name": "t", "scale": 0.01}
    assert thin[1]["repeats"][0] == {"block": 0, "again": False, "operations_per_second": 50.0}


@pytest.mark.parametrize(
    "campaigns",
    [
        (at(9), at(3)),
        (at(9), at(3, [[0.0] * 10], hardware={"cores": 2})),
        (two_targets(9, 1), two_targets(3, 2)),
    ],
)
def test_what_stands_in_the_row_is_as_its_schema_says(campaigns):
    schema = load("result")
    validator = Draft7Validator({**schema["properties"]["campaigns"], "definitions": schema["definitions"]})
    for found in pooled(*campaigns):
        assert list(validator.iter_errors(json.loads(write_line(bson.encode(found))))) == []
        assert not validator.is_valid({**json.loads(write_line(bson.encode(found))), "more": 1})


def with_requests(rows, count):
    """The rows with so many requests in each window, on ten connections."""
    return [
        {
            **row,
            "client": {**row.get("client", {}), "connections": 10},
            "repeats": [
                {**repeat, **({} if count is None else {"latency": {"count": count}})}
                for repeat in row["repeats"]
            ],
        }
        for row in rows
    ]


@pytest.mark.parametrize(
    ("here", "there", "few"),
    [(16, 16, True), (30, 30, False), (30, 29, True), (30, None, None)],
)
def test_campaigns_together_say_whether_they_rest_on_few_requests(here, there, few):
    (_, found) = pooled(with_requests(at(9), here), with_requests(at(3), there))
    assert found.get("few_requests") is few


def test_campaigns_that_are_kept_still_say_how_many_requests_they_had():
    (_, found) = pooled(with_requests(at(9), 30), [thin_out(row) for row in with_requests(at(3), 30)])
    assert found["few_requests"] is False
