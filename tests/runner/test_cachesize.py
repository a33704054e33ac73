"""A local member's cache is as small as the data asks for, where its work leaves room for that."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from mongo_tables.runner import cache_size
from mongo_tables.runner import experiment as experiments

FOLLOWS = {"workingSetRatio": 1.38}
LIMITED = {"instance": {"memoryRatio": 2.3}}


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
        (LIMITED, 0.003, 0.008, cache_size.SMALLEST_AT_START_GB),
    ],
)
def test_a_cache_is_as_wanted_with_room_for_what_is_under_way(config, wanted, least, given):
    assert cache_size.of_local(config, wanted, least) == given


def test_a_cache_is_not_larger_than_the_machine_allows():
    assert cache_size.of_local({}, 1e6) < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 / 6


def test_local_sets_share_what_the_machine_allows():
    assert cache_size.of_local({}, 1e6, sets=4) == pytest.approx(cache_size.of_local({}, 1e6) / 4, abs=0.002)


def test_batches_under_way_need_room_and_queries_need_none():
    def room(name):
        experiment = experiments.scale(experiments.load(name), 0.001)
        return cache_size.room_gb(experiment.workload, {**experiment.parameters, **experiment.variants[0]})

    assert room("query_full") == cache_size.SMALLEST_GB
    megabytes = 21 * 1000 * 1024 / 2**20
    assert room("insert_idtype") == pytest.approx(cache_size.ROOM_TIMES * megabytes / 1024)


def test_work_that_writes_needs_room_for_what_secondaries_bring_in():
    flat = {"numberOfThreads": 4, "writeBatchSize": 512}
    assert cache_size.room_gb("flat_insert", flat) == cache_size.WRITING_GB > cache_size.SMALLEST_GB


def test_each_connection_that_joins_needs_room():
    assert (
        cache_size.room_gb("aggregate", {"numberOfThreads": 24, "pipeline": [{"$lookup": {}}]}) == 24 / 1024
    )
    assert cache_size.room_gb("aggregate", {"numberOfThreads": 24, "pipeline": []}) == cache_size.SMALLEST_GB


def test_rows_say_which_cache_was_wanted_and_given_and_what_is_below_it():
    small = cache_size.describe(0.008, 0.0081, None)
    assert (small["cache_gb"], small["cache_ratio_kept"], small["cache_set"]) == (0.008, True, "while it ran")
    assert small["below_cache"] == "page cache of the operating system"
    large = cache_size.describe(0.25, 0.008, 10**9)
    assert (large["wanted_cache_gb"], large["cache_ratio_kept"], large["cache_set"]) == (
        0.008,
        False,
        "at start",
    )
    assert large["memory_limit_bytes"] == 10**9


def test_what_does_not_fit_into_a_smaller_cache_has_to_be_read_and_no_server_is_started_for_it(replica_set):
    def read(client):
        before = client.admin.command("serverStatus")["wiredTiger"]["cache"]["pages read into cache"]
        list(client["cache_test"]["c"].aggregate([{"$group": {"_id": None, "n": {"$sum": "$n"}}}]))
        return client.admin.command("serverStatus")["wiredTiger"]["cache"]["pages read into cache"] - before

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
