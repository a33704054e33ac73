"""Events come in and reports are got as the experiment asks for.

Events come in and reports are got as the experiment asks for.

Requests come at random moments about as often as they are to, and wait for no longer than the window.
"""

from __future__ import annotations

import random

import pytest
from bson.codec_options import CodecOptions
from pymongo import MongoClient

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.event_schemas import CLOCKS, VERSIONS, loading
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import Done, workload
from mongo_tables.runner.workloads.events import REPORTED_FROM, Pacing, pace_requests
from tests.runner.event_counting import counted, report_of
from tests.runner.processes import finish, start

DATABASE = "event_workloads_test"
CONFIG = {
    "collection": "events", "initialEvents": 3_000, "writeBatchSize": 40, "testTimeSecs": 0.6,
    "writeConcern": {"w": "majority", "j": True},
}  # fmt: skip


@pytest.fixture
def database(replica_set):
    with MongoClient(replica_set.uri) as client:
        client.drop_database(DATABASE)
        yield client[DATABASE]


def perform(crew, replica_set, name, config, connections=4, **limits):
    return crew.perform(Load(replica_set.uri, DATABASE, name, config, "seed/4", connections, **limits))


def loaded(crew, replica_set, database, version, connections=4):
    config = {**CONFIG, "version": version}
    workload("event_reports").create(database, config)
    return perform(crew, replica_set, "event_load", workload("event_reports").preload(config), connections)


def events():
    return [event for batch in loading(3_000, "seed/4", 40, range(CLOCKS)) for event in batch]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_loaded_answers_as_counting_does(crew, replica_set, database, version):
    done = loaded(crew, replica_set, database, version)
    assert (done.operations, done.documents, done.errors) == (3_000, 3_000, {})
    collection = database.get_collection("events", codec_options=CodecOptions(tz_aware=True))
    for key in (1, 3):
        answers = [
            list(collection.aggregate(pipeline))
            for pipeline in VERSIONS[version].pipelines(key, REPORTED_FROM)
        ]
        assert report_of(answers) == counted(events(), key, REPORTED_FROM)


def test_the_data_does_not_depend_on_who_loads_it(crew, replica_set, database):
    kept = []
    for connections in (1, 3):
        loaded(crew, replica_set, database, "appV6R1", connections)
        kept.append({one["_id"]: one["items"] for one in database.events.find()})
    assert kept[0] == kept[1]


def test_indexes_and_compression_are_those_of_the_version(database):
    for name, indexes, compressor in (
        ("appV1", 2, "snappy"),
        ("appV5R0", 1, "snappy"),
        ("appV6R4", 1, "zstd"),
    ):
        workload("event_load").create(database, {**CONFIG, "version": name})
        stats = database.command("collStats", "events")
        assert stats["nindexes"] == indexes
        assert f"block_compressor={compressor}" in stats["wiredTiger"]["creationString"]


@pytest.mark.parametrize("version", ["appV5R4", pytest.param("appV6R3", marks=pytest.mark.thorough)])
def test_reports_follow_each_other_when_no_rate_is_asked_for(crew, replica_set, database, version):
    loaded(crew, replica_set, database, version)
    config = {**CONFIG, "version": version}
    asked = database.client.admin.command("serverStatus")["metrics"]["commands"]["aggregate"]["total"]
    done = perform(crew, replica_set, "reports", config, seconds=1.0, least=10)
    asked = database.client.admin.command("serverStatus")["metrics"]["commands"]["aggregate"]["total"] - asked
    assert done.errors == {}
    assert asked == done.operations * (1 if version == "appV6R3" else 5) > 0
    assert list(done.latencies_by_kind) == ["getReports"]


def test_reports_and_events_come_side_by_side(crew, replica_set, database):
    loaded(crew, replica_set, database, "appV6R3")
    config = {
        **CONFIG, "version": "appV6R3", "eventsPerSecond": 400, "reportsPerSecond": 40,
        "eventsFrom": "2020-01-01", "testTimeSecs": 2,
    }  # fmt: skip
    done = perform(crew, replica_set, "event_reports", config, connections=8, seconds=2)
    counts = {kind: sum(latencies.values()) for kind, latencies in done.latencies_by_kind.items()}
    assert done.errors == {}
    items = database.events.aggregate(
        [{"$project": {"days": {"$objectToArray": "$items"}}}, {"$unwind": "$days"}]
    )
    later = [sum(one["days"]["v"].values()) for one in items if one["days"]["k"] >= "20200101"]
    # Each of the four that write may send one more when the window has just closed.
    assert counts["bulkUpsert"] * 40 <= sum(later) <= (counts["bulkUpsert"] + 4) * 40


@pytest.mark.parametrize(("name", "versions"), [("schema_storage", 14), ("schema_load", 7)])
def test_the_experiments_measure_the_versions_they_name(name, versions):
    experiment = experiments.load(name)
    assert len({variant["version"] for variant in experiment.variants}) == versions
    small = experiments.scale(experiment, 0.001)
    assert 50_000 <= small.parameters["initialEvents"] <= 500_000
    assert (
        workload("event_load")
        .plan(workload("event_reports").preload({**small.parameters, **small.variants[0]}))
        .documents
        == (small.parameters["initialEvents"])
    )


UNSATISFIABLE = """\
name = "unsatisfiable"
title = "Events that nobody acknowledges"
workload = "event_reports"

[parameters]
database = "mongo_tables_unsatisfiable"
collection = "events"
numberOfThreads = 2
initialEvents = 100
writeBatchSize = 5
writeConcern = { w = 3 }
testTimeSecs = 1

[[variants]]
version = "appV6R0"
"""


def test_data_that_was_not_loaded_as_a_whole_is_not_measured(replica_set, tmp_path):
    file = tmp_path / "unsatisfiable.toml"
    file.write_text(UNSATISFIABLE, encoding="utf-8")
    code, _, err = finish(start(file, "--target", replica_set.uri, "--output", tmp_path))
    assert code == 2
    assert "some documents could not be loaded: UnexpectedReply 100 (20 times)" in err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "eventsPerSecond needs eventsFrom"),
        ({"eventsFrom": "2020-13-01"}, "eventsFrom is not a day"),
        ({"eventsFrom": "2020-01-01", "numberOfThreads": 1}, "eventsPerSecond needs two connections"),
    ],
)
def test_events_that_cannot_come_in_are_a_mistake_that_is_told_before_anything_is_loaded(given, message):
    with pytest.raises(CommandError, match=message):
        workload("event_reports").preload({**CONFIG, "version": "appV6R3", "eventsPerSecond": 40, **given})


class Clock:
    """A clock that only sleeping and requests move, in nanoseconds."""

    def __init__(self):
        self.now = 1_000

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += round(seconds * 1e9)


def run(interval, length, took, seed="seed"):
    """Moments of the requests in seconds since the start, and what was counted; a request takes ``took`` seconds."""
    clock = Clock()
    moments, counted = [], []

    def send(prepared):
        assert prepared == len(moments)
        moments.append((clock.now - 1_000) / 1e9)
        clock.sleep(took)
        return Done(1, 2, 3, "kind")

    pacing = Pacing(interval, length, random.Random(seed))
    step = pace_requests(lambda: len(moments), send, pacing, clock.sleep, clock)
    while (done := step()) is not None:
        counted.append(done)
    return moments, counted, (clock.now - 1_000) / 1e9


def test_requests_come_as_often_as_they_are_to_while_answers_are_quick():
    moments, counted, end = run(lambda over: 0.1, 1000, 0.02)
    assert len(moments) == pytest.approx(10_000, rel=0.02)
    assert {(done.operations, done.documents, done.kind) for done in counted} == {(1, 2, "kind")}
    assert {done.microseconds for done in counted} == {20_000}
    assert end == pytest.approx(1000)


@pytest.mark.parametrize("length", [2, 10, 25])
def test_many_connections_keep_to_their_rate_together_however_short_the_window_is(length):
    counts = [len(run(lambda over: 10.0, length, 0.01, seed)[0]) for seed in range(3000)]
    assert sum(counts) / 3000 == pytest.approx(length / 10, rel=0.06)


def test_the_first_requests_of_many_connections_are_spread():
    firsts = [run(lambda over: 2.0, 10, 0.01, seed)[0][0] for seed in range(300)]
    assert min(firsts) < 0.1
    assert 2.0 < max(firsts) <= 4.0
    assert sum(firsts) / 300 == pytest.approx(4 / 3, abs=0.15)


def test_slow_answers_are_not_caught_up():
    moments, _, _ = run(lambda over: 0.1, 100, 0.4)
    assert len(moments) == pytest.approx(250, abs=2)


def test_the_rate_follows_the_course_of_the_window():
    moments, _, _ = run(lambda over: 0.1 if over < 0.5 else 0.05, 1000, 0.001)
    assert sum(moment < 500 for moment in moments) == pytest.approx(5_000, rel=0.03)
    assert sum(moment >= 500 for moment in moments) == pytest.approx(10_000, rel=0.03)


def test_without_an_interval_requests_follow_each_other():
    moments, _, end = run(lambda over: 0.0, 1, 0.01)
    assert len(moments) == 100
    assert end == pytest.approx(1.0)


def test_a_request_that_would_come_after_the_window_is_not_sent():
    moments, counted, end = run(lambda over: 1e9, 1, 0.01)
    assert (moments, counted, end) == ([], [], pytest.approx(1.0))
