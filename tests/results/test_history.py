"""The speed of a row over campaigns: which points it has, which are compared, and where it changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mongo_tables.results.history import list_series
from tests.results.blockrows import SHAKE, campaign, measured, shaken


def of_hour(hour, speed, reference=100, **parts):
    """The campaign of that hour: size 1, the reference, and size 4."""
    rows = [measured(1, shaken(reference), shaken(reference, SHAKE[::-1])), measured(4, shaken(speed))]
    return [{**row, **parts} for row in campaign(rows, 0, f"of-{hour}", hour)]


def series_of(campaigns, **options):
    return {one.name: one for one in list_series([row for rows in campaigns for row in rows], **options)}


STEADY = [of_hour(hour, 50 + hour % 3) for hour in range(10)]
SLOWER = [of_hour(10 + hour, 40 + hour % 3) for hour in range(8)]


def test_each_campaign_is_a_point_with_the_interval_of_its_blocks_the_oldest_first():
    found = series_of([of_hour(9, 50), of_hour(3, 40)])["t: size 4"]
    assert [(one.campaign, one.value) for one in found.points] == [("of-3", 40), ("of-9", 50)]
    assert all(one.low < one.value < one.high for one in found.points)
    assert found.changes == ()


def test_a_level_that_lasts_is_a_change_with_its_ratio():
    found = series_of([*SLOWER, *STEADY])["t: size 4"]
    (change,) = found.changes
    assert change.point.campaign == "of-10"
    assert change.ratio.ratio == pytest.approx(0.8, rel=0.02)
    assert change.ratio.low < change.ratio.ratio < change.ratio.high < 1


def test_one_slow_campaign_is_no_change():
    assert series_of([*STEADY[:5], of_hour(20, 10), *STEADY[5:]])["t: size 4"].changes == ()


def test_ratios_do_not_have_what_makes_everything_slower():
    everything = [of_hour(10 + hour, (50 + hour % 3) / 2, 50) for hour in range(8)]
    assert series_of([*STEADY, *everything])["t: size 4"].changes
    by_ratio = series_of([*STEADY, *everything], ratios=True)
    assert list(by_ratio) == ["t: size 4"]  # a reference has no ratio to another row
    assert by_ratio["t: size 4"].changes == ()


def test_what_asked_for_other_work_than_the_newest_campaign_is_not_compared():
    other = [of_hour(hour, 20, experiment={"scale": 1}) for hour in range(5)]
    newer = [of_hour(10 + hour, 50, experiment={"scale": 0.01}) for hour in range(5)]
    found = series_of([*other, *newer])["t: size 4"]
    assert [one.otherwise for one in found.points] == [("experiment.scale",)] * 5 + [()] * 5
    assert found.changes == ()


def test_versions_are_beside_the_points_and_are_no_other_work():
    versions = [{"server": "6.0.5", "harness": "mongo-tables 0.1.0+gabc"}, {"server": "8.0.1"}]
    found = series_of([of_hour(hour, 50, versions=one) for hour, one in enumerate(versions)])["t: size 4"]
    assert [(one.program, one.server, one.otherwise) for one in found.points] == [
        ("0.1.0+gabc", "6.0.5", ()), ("", "8.0.1", ()),
    ]  # fmt: skip


LOCAL = {"target": "local"}
REMOTE = {"target": "db:1"}


@pytest.mark.parametrize(
    ("old", "new", "otherwise"),
    [
        (
            {"experiment": LOCAL, "hardware": {"cpu": "A"}},
            {"experiment": LOCAL, "hardware": {"cpu": "B"}},
            ("servers.cpu",),
        ),
        (
            {"experiment": REMOTE, "hardware": {"cpu": "C"}, "servers": {"members": [{"cpu": "A"}]}},
            {"experiment": REMOTE, "hardware": {"cpu": "C"}, "servers": {"members": [{"cpu": "B"}]}},
            ("servers.cpu",),
        ),
        (  # another machine of the client
            {"experiment": REMOTE, "hardware": {"cpu": "C"}, "servers": {"members": [{"cpu": "A"}]}},
            {"experiment": REMOTE, "hardware": {"cpu": "D"}, "servers": {"members": [{"cpu": "A"}]}},
            (),
        ),
        ({"topology": {"cache_gb": 1.0}}, {"topology": {"cache_gb": 1.11}}, ("topology.cache_gb",)),
        ({"topology": {"cache_gb": 1.11}}, {"topology": {"cache_gb": 1.0}}, ("topology.cache_gb",)),
        ({"topology": {"cache_gb": 1.0}}, {"topology": {"cache_gb": 1.09}}, ()),
        (
            {"servers": {"members": [{"cache_gib": 1.5}]}},
            {"servers": {"members": [{"cache_gib": 15.5}]}},
            ("topology.cache_gb",),
        ),
        ({"hardware": {}}, {"hardware": {"cpu": "B"}, "topology": {"cache_gb": 1.0}}, ()),
    ],
)
def test_a_campaign_on_another_processor_or_with_another_cache_is_not_compared(old, new, otherwise):
    earlier = [of_hour(hour, 20 + hour % 3, **old) for hour in range(5)]
    later = [of_hour(10 + hour, 50 + hour % 3, **new) for hour in range(5)]
    found = series_of([*earlier, *later])["t: size 4"]
    assert [one.otherwise for one in found.points] == [otherwise] * 5 + [()] * 5
    assert [one.point.campaign for one in found.changes] == ([] if otherwise else ["of-10"])


def test_a_campaign_that_is_there_twice_counts_once():
    assert len(series_of([of_hour(3, 50), of_hour(3, 50)])["t: size 4"].points) == 1


def test_older_rows_are_points_by_when_they_were_measured_and_have_no_interval():
    repeats = [{"operations_per_second": speed} for speed in (10.0, 30.0, 20.0)]
    old = {
        "_id": {"size": 4, "testname": "t"},
        "start_time": datetime(2026, 1, 2, tzinfo=UTC),
        "repeats": repeats,
    }
    (point,) = series_of([[old]])["t: size 4"].points
    assert (point.campaign, point.value, point.low) == ("2026-01-02T00:00:00Z", 20.0, None)


def test_rows_that_did_nothing_are_left_out():
    assert list(series_of([campaign([measured(1, [9] * 5, [9] * 5), measured(4, [0] * 5)])])) == ["t: size 1"]
