"""Caches are as small as the data asks, and data follows them.

A local member's cache is as small as the data asks for, where its work leaves room for that.

A working set is as large as was asked, whatever cache the deployment has.
"""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import bson
import pytest
from pymongo import MongoClient

from mongo_tables.runner import cache_size
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.cache_size import EFFECTIVE_SHARE, record_count, scan, sized
from mongo_tables.runner.estimate import estimate, local_seconds
from mongo_tables.runner.experiment_faults import parse
from mongo_tables.runner.options import Options
from mongo_tables.runner.store import FileStore
from tests.runner.processes import TINY, finish, start

FOLLOWS = {"workingSetRatio": 1.38}


@pytest.mark.parametrize(
    ("config", "wanted", "least", "given"),
    [
        ({}, 0.02, 0.008, 0.02),
        ({}, 0.002, 0.008, 0.008),
        ({}, 0.001, 0.0, cache_size.SMALLEST_GB),
        ({}, 0.02, 0.1, 0.1),
        ({}, 0.02, 0.3, 0.3),
        ({}, 0.3, 0.2, 0.3),
        (FOLLOWS, 0.003, 0.008, cache_size.SMALLEST_AT_START_GB),
    ],
)
def test_a_cache_is_as_wanted_with_room_for_what_is_under_way(config, wanted, least, given):
    assert cache_size.of_local(config, wanted, 3, least) == given


def test_a_cache_is_not_larger_than_the_machine_allows():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    for members in (1, 2, 3):
        assert cache_size.of_local({}, 1e6, members) * members < memory / 2


def room(workload, **parameters):
    """The room of an experiment with one variant, at full size."""
    shared = {"database": "mongo_tables_tiny", "collection": "c", **parameters}
    tiny = replace(
        experiments.load("query_full"), name="tiny", workload=workload, parameters=shared, variants=({},)
    )
    return cache_size.room_gb(tiny, tiny)


def test_queries_need_little_room_and_work_that_writes_needs_what_secondaries_bring_in():
    assert room("query", numberOfThreads=48) == cache_size.SMALLEST_GB
    flat = {"numberOfThreads": 4, "writeBatchSize": 512, "nFields": 10, "textBytes": 30}
    assert room("flat_insert", **flat) == cache_size.WRITING_GB > cache_size.SMALLEST_GB


def test_each_connection_that_joins_needs_room():
    assert room("aggregate", numberOfThreads=24, pipeline=[{"$lookup": {}}]) == 24 / 1024
    assert room("aggregate", numberOfThreads=24, pipeline=[]) == cache_size.SMALLEST_GB


def test_rows_say_which_cache_was_wanted_and_given_and_what_is_below_it():
    small = cache_size.describe(0.008, 0.0081)
    assert (small["cache_gb"], small["cache_ratio_kept"], small["cache_set"]) == (0.008, True, "while it ran")
    assert small["below_cache"] == "page cache of the operating system"
    large = cache_size.describe(0.25, 0.008)
    assert (large["wanted_cache_gb"], large["cache_ratio_kept"], large["cache_set"]) == (
        0.008,
        False,
        "at start",
    )


def test_what_does_not_fit_into_a_smaller_cache_has_to_be_read_and_no_server_is_started_for_it(replica_set):
    def pages_read(client):  # of the collection alone: the server reads its own at any time
        return client["cache_test"].command("collStats", "c")["wiredTiger"]["cache"]["pages read into cache"]

    def read(client):
        before = pages_read(client)
        list(client["cache_test"]["c"].aggregate([{"$group": {"_id": None, "n": {"$sum": "$n"}}}]))
        return pages_read(client) - before

    pids = list(replica_set.pids)
    with MongoClient(replica_set.uri) as client:
        client["cache_test"]["c"].insert_many([{"n": n, "x": os.urandom(1000)} for n in range(16_000)])
        client.admin.command("fsync")
        try:
            read(client)  # what was inserted had pages of its own size
            assert read(client) == 0
            replica_set.resize_cache(0.008)
            assert replica_set.cache_gb == 0.008
            cache = client.admin.command("serverStatus")["wiredTiger"]["cache"]
            assert cache["maximum bytes configured"] == round(0.008 * 2**30)
            read(client)
            assert read(client) > 100  # of 500 pages of 32 KiB
        finally:
            replica_set.resize_cache(cache_size.SMALLEST_AT_START_GB)
            client.drop_database("cache_test")
    assert replica_set.pids == pids


class Member:
    """Holds so many bytes in its cache, at one look after the other."""

    def __init__(self, *held):
        self.admin = SimpleNamespace(command=self._command)
        self._held = list(held)

    def _command(self, name, *_, **options):
        if name == "setParameter":
            return {"ok": 1}
        held = self._held.pop(0) if len(self._held) > 1 else self._held[0]
        return {"wiredTiger": {"cache": {"bytes currently in the cache": held}}}


def test_a_member_that_goes_on_holding_more_than_its_cache_is_told_of(monkeypatch):
    monkeypatch.setattr(cache_size, "SHRINK_SECONDS", 0.1)
    small, large = 2**20, 2**26
    assert cache_size.resize([Member(large, large, small), Member(small)], 0.008)
    assert not cache_size.resize([Member(large), Member(small)], 0.008)


YCSB = """\
name = "tiny"
title = "A few records"
workload = "ycsb"

[parameters]
database = "mongo_tables_tiny"
collection = "usertable"
numberOfThreads = 2
testTimeSecs = 5
readproportion = 1.0
updateproportion = 0.0
members = 1
scanBefore = true
diskBaseline = true
"""


def of_ratio(*ratios):
    text = YCSB + "".join(f"[[variants]]\nworkingSetRatio = {ratio}\n" for ratio in ratios)
    return experiments.read(text.encode(), "tiny.toml")


def test_a_record_is_as_large_as_it_is_encoded_and_its_place_in_the_index():
    record = {"_id": "user" + "9" * 19, **{f"field{number}": b"x" * 100 for number in range(10)}}
    cache = 2**28
    count = sized(of_ratio(1.0), 0, lambda: cache).variants[0]["recordcount"]
    assert count * (len(bson.encode(record)) + 64) == pytest.approx(EFFECTIVE_SHARE * cache, rel=1e-4)


def test_data_and_index_of_two_million_records_are_what_was_published_for_them():
    # 2.43 GB at 92 percent of 2,644 MB.
    assert record_count(2430 / 2644, 1168, 3_305_000_000) == pytest.approx(2e6, rel=0.02)


def test_a_variant_gets_the_records_of_its_own_ratio_and_the_others_stay():
    experiment = of_ratio(0.5, 1.0)
    first = sized(experiment, 1, lambda: 2**28)
    assert "recordcount" not in first.variants[0]
    both = sized(first, 0, lambda: 2**28)
    half, whole = (variant["recordcount"] for variant in both.variants)
    assert whole == pytest.approx(2 * half, abs=1)
    twice = sized(experiment, 0, lambda: 2**29)
    assert twice.variants[0]["recordcount"] == pytest.approx(2 * half, abs=1)


def test_an_experiment_without_a_working_set_asks_nobody_for_the_cache():
    tiny = experiments.read(TINY.encode(), "tiny.toml")

    def nobody():
        raise AssertionError("asked")

    assert sized(tiny, 0, nobody) is tiny


def test_at_every_scale_the_ratio_is_what_the_file_says():
    assert [one["workingSetRatio"] for one in experiments.scale(of_ratio(0.9, 2.3), 0.001).variants] == [
        0.9,
        2.3,
    ]


def test_a_ratio_is_a_parameter_that_files_may_give():
    assert parse(YCSB + "[[variants]]\nworkingSetRatio = 0.9\n", "x.toml")[1] == []
    (fault,) = parse(YCSB + "[[variants]]\nworkingSetRatio = 0\n", "x.toml")[1]
    assert "workingSetRatio" in fault.message


def test_a_scan_reads_every_document_and_every_key(replica_set):
    with MongoClient(replica_set.uri) as client:
        collection = client["scan_test"]["records"]
        collection.insert_many([{"_id": f"user{n}", "field0": b"x" * 1000} for n in range(3000)])

        def read():
            found = client.admin.command("serverStatus")["metrics"]["queryExecutor"]
            return found["scanned"], found["scannedObjects"]

        try:
            before = read()
            scan(collection)
            keys, documents = (now - then for now, then in zip(read(), before, strict=True))
            assert keys >= 3000
            assert documents >= 3000
        finally:
            client.drop_database("scan_test")


def test_a_run_loads_what_the_cache_asks_for_of_each_variant_and_once(replica_set, tmp_path):
    path = tmp_path / "tiny.toml"
    variants = "".join(f"[[variants]]\nworkingSetRatio = {ratio}\n" for ratio in (0.002, 0.005))
    path.write_text(YCSB + variants, encoding="utf-8")
    arguments = ("--target", replica_set.uri, "--output", tmp_path, "--seconds", 0.2)
    code, _, err = finish(start(path, *arguments))
    assert code == 0, err
    rows = FileStore(tmp_path).rows("tiny")
    with MongoClient(replica_set.uri) as client:
        cache = client.admin.command("serverStatus")["wiredTiger"]["cache"]["maximum bytes configured"]
    for row in rows:
        asked = row["_id"]["workingSetRatio"] * EFFECTIVE_SHARE * cache
        data = row["collection_stats"]["size"]
        assert data == pytest.approx(asked, rel=0.1)
        assert row["collection_stats"]["count"] == row["variant"]["recordcount"]
        assert row["reads"]["pages_requested"] > row["work"]["operations"] > 10
        assert row["reads"]["cache_hit_rate"] > 0.9
        assert row["disk_baseline"] is None  # the disk of a given deployment is not ours to look at
    first, second = sorted(rows, key=lambda row: row["start_time"])  # their order is drawn
    inserted = (
        second["before_status"]["opcounters"]["insert"] - first["before_status"]["opcounters"]["insert"]
    )
    assert inserted == pytest.approx(second["variant"]["recordcount"], rel=0.05)


def test_the_experiment_asks_for_the_published_working_sets_and_disks():
    experiment = experiments.load("memory_disk")
    configs = list(experiments.configs(experiments.scale(experiment, 0.001)))
    assert [config["workingSetRatio"] for config in configs] == [
        ratio for ratio in (0.92, 1.38, 1.82, 2.3) for _ in range(3)
    ]
    assert [config["instance"]["atlasIOPS"] for config in configs] == [5000, 600, 150] * 4
    assert {config["requestdistribution"] for config in configs} == {"uniform"}
    assert [row.get("qps") for _, row in experiment.published_rows()][:3] == [76113, 69579.5, 70252]
    seconds = local_seconds(estimate(experiment, 3, Options(scale=0.001, seconds=0.7)))
    assert seconds < 240
