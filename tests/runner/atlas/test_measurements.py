"""What Atlas measured of a window: which points, how late, and what is not known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mongo_tables.runner.atlas.api import open_api
from mongo_tables.runner.atlas.clusters import DISK, PROCESS, measured
from mongo_tables.runner.measurement import Measurement
from mongo_tables.runner.sampling import Monitored
from tests.runner.atlas.fake import Fault
from tests.runner.atlas.project import MEASURED_LATE, PROJECT, value_of
from tests.runner.atlas.test_lifecycle import RUN

NAME = f"mongo-tables-{RUN[:6]}-1"
HARDWARE = {
    "instanceSize": "M50",
    "diskIOPS": 3000,
    "ebsVolumeType": "PROVISIONED",
    "nodeCount": 3,
    "diskSizeGB": 200,
}


@pytest.fixture
def cluster(atlas):
    """One that has been ready for an hour, beside one whose name begins as its own does, and many others."""
    for name in (f"{NAME}2", NAME):
        atlas.project.create(
            {"name": name, "replicationSpecs": [{"regionConfigs": [{"electableSpecs": dict(HARDWARE)}]}]}
        )
    atlas.project.foreign_processes = 210
    atlas.time.sleep(2 * 3600)
    return atlas


def window(atlas, seconds, since_minute=20.0):
    """One that ends now."""
    now = atlas.time.now()
    atlas.time.sleep((since_minute - now.second) % 60 + seconds)
    end = atlas.time.now()
    return end - timedelta(seconds=seconds), end


def look(atlas, start, end):
    return measured(open_api(PROJECT), NAME, start, end)


def points(found, name):
    series = [*found.process_series, *found.disk_series]
    return next(one["dataPoints"] for one in series if one["name"] == name)


def test_a_long_window_has_the_points_of_its_own_minutes_alone(cluster):
    start, end = window(cluster, 300)
    found = look(cluster, start, end)
    assert found.is_inside
    assert [one["name"] for one in found.process_series] == list(PROCESS)
    assert [one["name"] for one in found.disk_series] == list(DISK)
    for name in ("SYSTEM_NORMALIZED_CPU_USER", "DISK_PARTITION_IOPS_TOTAL"):
        times = [one["timestamp"] for one in points(found, name)]
        assert times[0] - timedelta(minutes=1) >= start and times[-1] <= end
        assert len(times) == 4
        assert {one["value"] for one in points(found, name)} <= {None, value_of(name, HARDWARE)}


def test_a_short_window_has_the_points_around_it_and_says_so(cluster):
    start, end = window(cluster, 5)
    found = look(cluster, start, end)
    assert found.facts["points"] == "around the window"
    (point,) = points(found, "SYSTEM_NORMALIZED_CPU_USER")
    assert point["timestamp"] - timedelta(minutes=1) < end and point["timestamp"] > start


def test_points_are_waited_for_and_the_lag_is_told(cluster):
    start, end = window(cluster, 120)
    found = look(cluster, start, end)
    lag = found.facts["lag_seconds"]
    assert MEASURED_LATE.total_seconds() <= lag <= (cluster.time.now() - end).total_seconds() + 1
    assert found.facts["granularity_seconds"] == 60
    assert "not_known" not in found.facts


def test_points_without_a_value_stay_as_they_are(cluster):
    measure = cluster.project.measurements

    def with_gap(process, names, start, end):
        answer = measure(process, names, start, end)
        for one in answer["measurements"]:
            one["dataPoints"][2]["value"] = None
        return answer

    cluster.project.measurements = with_gap
    found = look(cluster, *window(cluster, 300))
    values = [one["value"] for one in points(found, "DISK_PARTITION_IOPS_TOTAL")]
    assert values.count(None) == 1
    assert len(values) == 4


def test_a_process_of_which_nothing_is_known_yet_has_no_points_and_the_row_says_no_data(cluster):
    cluster.project.times.no_data = 9 * 3600
    start, end = window(cluster, 120)
    found = look(cluster, start, end)
    assert found.process_series == found.disk_series == []
    assert found.facts == {
        "by": "Atlas Administration API", "granularity_seconds": 60, "lag_seconds": None, "points": "none",
        "not_known": "NO_DATA",
    }  # fmt: skip
    assert cluster.time.now() - end < timedelta(minutes=10)


def test_what_atlas_does_not_measure_in_time_is_not_waited_for_any_longer(cluster):
    measure = cluster.project.measurements
    start, end = window(cluster, 300)
    cluster.project.measurements = lambda process, names, first, last: measure(
        process, names, first, min(last, start + timedelta(minutes=3))
    )
    found = look(cluster, start, end)
    assert found.facts["lag_seconds"] is None
    assert found.facts["not_known"] == "no point had come 8 minutes after the window"
    assert points(found, "SYSTEM_NORMALIZED_CPU_USER")


def test_measurements_that_are_refused_cost_a_window_nothing(cluster):
    cluster.faults.append(Fault("GET processes", 403, {"errorCode": "FORBIDDEN"}))
    cluster.faulty = True
    found = look(cluster, *window(cluster, 120))
    assert found.facts["not_known"] == "Atlas refuses GET processes with 403, FORBIDDEN"
    assert found.process_series == []


def test_only_the_primary_of_the_cluster_is_asked(cluster):
    look(cluster, *window(cluster, 120))
    asked = {
        one.path.partition("/processes/")[2].partition("-shard-")[0]
        for one in cluster.seen
        if "/processes/" in one.path
    }
    assert asked == {NAME}
    pages = [one.query["pageNum"] for one in cluster.seen if one.path.endswith("/processes")]
    assert pages[:3] == [["1"], ["2"], ["3"]]


def series(name, *values):
    when = datetime(2026, 11, 27, tzinfo=UTC)
    return {
        "name": name,
        "units": "PERCENT",
        "dataPoints": [{"timestamp": when, "value": value} for value in values],
    }


@pytest.mark.parametrize(
    ("own", "place", "kept", "source"),
    [
        ([7.0], "inside the window", 40.0, "Atlas"),
        ([7.0], "around the window", 7.0, "own"),
        ([None], "around the window", 40.0, "Atlas"),
        ([], "around the window", 40.0, "Atlas"),
    ],
)
def test_of_two_series_the_one_of_the_window_alone_counts_unless_it_has_no_value(own, place, kept, source):
    mine = [series("SYSTEM_NORMALIZED_CPU_USER", *own)] if own else []
    theirs = [series("SYSTEM_NORMALIZED_CPU_USER", 40.0), series("CACHE_FILL_RATIO", None)]
    one = Measurement(
        "", datetime.now(UTC), datetime.now(UTC), None, {}, {}, mine, [], {}, None, {}, "own"
    ).beside(Monitored("Atlas", theirs, [], {"points": place}))
    assert [found["name"] for found in one.process_series].count("SYSTEM_NORMALIZED_CPU_USER") == 1
    assert (
        next(found for found in one.process_series if "USER" in found["name"])["dataPoints"][-1]["value"]
        == kept
    )
    assert one.source == source
    assert {"CACHE_FILL_RATIO"} <= {
        found["name"] for found in one.process_series
    }  # without a value, as it came
