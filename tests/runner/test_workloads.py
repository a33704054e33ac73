"""Every kind of work does what it says."""

from __future__ import annotations

import random
import uuid
from dataclasses import replace
from functools import partial
from multiprocessing import Value

import bson
import pytest
from pymongo import MongoClient

from mongo_tables.directives.schemas.validation import validator
from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.window import hand_out
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import Share, workload, workloads
from mongo_tables.runner.workloads.inserts import heads
from mongo_tables.runner.workloads.queries import encoder
from tests.runner.reference_client import PyMongoClient

DATABASE = "workloads_test"
NUMBERED = {
    "collection": "c",
    "totalDocsToInsert": 100,
    "docSizeKB": 0.2,
    "writeBatchSize": 9,
    "idType": "SEQUENCE",
}


def test_each_workload_of_the_package_is_named_and_may_stand_in_an_experiment():
    assert list(workloads()) == validator("experiment").schema["definitions"]["workload"]["enum"]


@pytest.mark.parametrize("name", workloads())
def test_a_workload_speaks_of_parameters_that_an_experiment_may_have(name):
    schema = validator("experiment").schema
    traits = workload(name)
    assert traits.needs <= schema["properties"]["parameters"]["properties"].keys()
    assert traits.amount is None or traits.amount in traits.needs
    assert set(traits.update_functions) <= set(schema["definitions"]["updateFunction"]["enum"])
    assert not traits.batched or "writeBatchSize" in traits.needs


@pytest.fixture
def database(replica_set):
    with MongoClient(replica_set.uri) as client:
        client.drop_database(DATABASE)
        yield client[DATABASE]


def perform(crew, replica_set, name, config, connections=5, **limits):
    load = Load(replica_set.uri, DATABASE, name, config, "seed", connections, **limits)
    if load.seconds and not load.rates:
        load = replace(load, least=200)  # however slow the machine is
    return crew.perform(load)


def test_numbered_documents_are_all_there_once(crew, replica_set, database):
    done = perform(crew, replica_set, "insert", NUMBERED)
    assert (done.operations, done.documents, done.errors) == (100, 100, {})
    found = list(database.c.find({}, {"count": 1}).sort("_id", 1))
    assert found == [{"_id": n, "count": 0} for n in range(100)]
    assert sum(done.latencies.values()) == 12  # in batches of 9


def test_groups_hold_their_documents_in_places_from_zero(crew, replica_set, database):
    perform(crew, replica_set, "insert", {**NUMBERED, "groupSize": 20})
    for group in range(5):
        places = database.c.find({"group": group}, {"group_seq": 1, "group_seq_i": 1}).sort("_id", 1)
        assert [(one["group_seq"], one["group_seq_i"]) for one in places] == [
            (float(n), float(n)) for n in range(20)
        ]


def test_the_driver_leaves_the_same_bytes(crew, replica_set, database):
    left = []

    def by_reference():
        take = partial(hand_out, Value("q", 0), NUMBERED["totalDocsToInsert"])
        held = PyMongoClient(database.client, (DATABASE, "c"), RequestOptions())
        step = workload("insert").open_steps(held, NUMBERED, Share(0, 1, "seed/0", take))
        while step():
            pass

    for act in (lambda: perform(crew, replica_set, "insert", NUMBERED), by_reference):
        workload("insert").create(database, NUMBERED)
        act()
        left.append([bson.encode(document) for document in database.c.find().sort("_id", 1)])
    assert left[0] == left[1]


@pytest.mark.parametrize("kind", ["UUID", "OBJECT_ID", "BUSINESS_ID"])
def test_documents_that_are_sent_again_get_an_id_of_their_own(crew, replica_set, database, kind, monkeypatch):
    config = {**NUMBERED, "idType": kind, "totalDocsToInsert": 300, "customers": 7}
    done = perform(crew, replica_set, "insert", config)
    assert done.errors == {}
    assert database.c.count_documents({}) == 300


def test_ids_are_what_their_kind_says():
    share = Share(0x2A, 100, "seed")
    made = {
        kind: heads({"idType": kind, "totalDocsToInsert": 9, "customers": 7}, share)(0)
        for kind in ("UUID", "BUSINESS_ID")
    }
    values = {
        kind: bson.decode(len(head + b"12345").to_bytes(4, "little") + head + b"\0")["_id"]
        for kind, head in made.items()
    }
    assert values["UUID"].as_uuid().version == 4
    assert values["UUID"].as_uuid().variant == uuid.RFC_4122
    assert values["BUSINESS_ID"][:3] == "ACC"
    assert values["BUSINESS_ID"][8:] == "_00000102a"
    assert int(values["BUSINESS_ID"][3:8]) < 7


FLAT = {
    "collection": "c", "nFields": 10, "textBytes": 30, "writeBatchSize": 64, "idType": "WORKER_SEQUENCE",
    "nSecondaryIndexes": 5,
}  # fmt: skip


@pytest.mark.parametrize(
    "concern",
    [{"w": 1, "j": False}, pytest.param({"w": "majority", "j": True}, marks=pytest.mark.thorough)],
)
def test_flat_documents_are_inserted_until_the_time_is_over_and_none_is_lost(
    crew, replica_set, database, concern
):
    workload("flat_insert").create(database, FLAT)
    done = perform(crew, replica_set, "flat_insert", {**FLAT, "writeConcern": concern}, 4, seconds=0.3)
    assert done.errors == {}
    assert database.c.count_documents({}) == done.operations == 64 * sum(done.latencies.values())
    assert {one["_id"]["w"] for one in database.c.find({}, {"_id": 1})} == {0, 1, 2, 3}
    assert set(database.c.index_information()) == {"_id_", *(f"fld{number}_1" for number in range(5))}


class Sent(list):
    """A client that keeps what it is to insert."""

    insert = list.extend


def test_no_more_flat_documents_are_prepared_than_a_window_has_time_for():
    config, sent = {**FLAT, "writeBatchSize": 1, "testTimeSecs": 0.01}, Sent()
    step = workload("flat_insert").open_steps(sent, config, Share(0, 1, "s"))
    for _ in range(40):
        step()
    bodies = [bson.decode(one) for one in sent]
    for one in bodies:
        one.pop("_id", None)
    assert bodies[:20] == bodies[20:]
    assert len({one["fld0"] for one in bodies}) == 20


def test_hot_updates_are_all_counted(crew, replica_set, database):
    perform(crew, replica_set, "insert", NUMBERED)
    config = {**NUMBERED, "nUpdates": 83, "nHotspots": 3, "indexUpdate": True}
    workload("hot_update").reset(database, config)
    done = perform(crew, replica_set, "hot_update", config)
    assert done.operations == 83
    assert sum(one["count"] for one in database.c.find()) == 83
    assert {one["_id"] for one in database.c.find({"count": {"$gt": 0}})} == {0, 1, 2}
    workload("hot_update").reset(database, {**config, "indexUpdate": False})
    assert set(database.c.index_information()) == {"_id_"}


@pytest.mark.parametrize("function", ["UpdateOne", "FindOneAndUpdate"])
@pytest.mark.parametrize("upsert", [True, False])
def test_update_api_adds_the_new_documents_and_counts_up_the_old(
    crew, replica_set, database, function, upsert
):
    workload("insert").create(database, NUMBERED)
    perform(crew, replica_set, "insert", NUMBERED)
    config = {
        **NUMBERED, "initialDocsToInsert": 100, "nUpdates": 60, "percentNew": 50, "upsert": upsert,
        "updateFunction": function,
    }  # fmt: skip
    done = perform(crew, replica_set, "update_api", config)
    assert (done.operations, done.errors) == (60, {})
    assert sum(one["count"] for one in database.c.find()) == 60
    new = list(database.c.find({"_id": {"$gte": 100}}))
    assert 10 < len(new) < 50
    assert all(one["count"] == 1 and "intfield1" in one for one in new)
    workload("update_api").reset(database, config)
    assert database.c.count_documents({}) == 100


def test_queries_find_what_their_template_asks_for_until_the_time_is_over(crew, replica_set, database):
    config = {**NUMBERED, "groupSize": 20, "query": {"group": "RANDINT(1,5)"}, "limit": 7, "skip": 2}
    workload("query").create(database, config)
    perform(crew, replica_set, "insert", config)
    done = perform(crew, replica_set, "query", config, seconds=0.3)
    assert done.errors == {}
    assert done.documents == 7 * done.operations > 0
    assert round(done.seconds, 3) >= 0.3


def test_a_query_that_finds_another_number_of_documents_fails_the_run(replica_set, database):
    config = {**NUMBERED, "groupSize": 20, "query": {"group": "RANDINT(1,5)"}, "limit": 21}
    workload("query").create(database, config)
    with WorkerPool(1) as crew:
        perform(crew, replica_set, "insert", config)
        with pytest.raises(WorkFailed, match="a query found 20 documents, but 21 were expected"):
            perform(crew, replica_set, "query", config, seconds=5)


UPDATED = {**NUMBERED, "docSizeKB": 1.0, "initialDocsToInsert": 100, "nSecondaryIndexes": 2}


@pytest.mark.parametrize("touched", [True, False])
def test_updates_change_the_indexed_fields_or_those_after_them(crew, replica_set, database, touched):
    perform(crew, replica_set, "insert", UPDATED)
    config = {
        **UPDATED, "documentRange": 10, "updateFunction": "UpdateOne", "nFieldsUpdated": 2,
        "indexUpdate": touched,
    }  # fmt: skip
    workload("update").reset(database, config)
    assert set(database.c.index_information()) == {"_id_", "intfield1_1", "intfield2_1"}
    before = list(database.c.find().sort("_id", 1))
    done = perform(crew, replica_set, "update", config, seconds=0.3)
    assert done.errors == {}
    assert done.operations == done.documents > 10
    changed = {
        (one["_id"] < 10, name)
        for old, one in zip(before, database.c.find().sort("_id", 1), strict=True)
        for name in one
        if one[name] != old[name]
    }
    assert changed == {(True, f"intfield{n}") for n in ((1, 2) if touched else (3, 4))}
    workload("update").reset(database, {**config, "nSecondaryIndexes": 0})
    assert set(database.c.index_information()) == {"_id_"}


def test_replacing_changes_whole_documents_and_keeps_their_ids_and_size(crew, replica_set, database):
    perform(crew, replica_set, "insert", UPDATED)
    config = {**UPDATED, "documentRange": 100, "updateFunction": "ReplaceOne"}
    done = perform(crew, replica_set, "update", config, seconds=0.3)
    assert done.errors == {}
    left = list(database.c.find().sort("_id", 1))
    assert [one["_id"] for one in left] == list(range(100))
    replaced = [one for one in left if one["count"] == 1]
    assert len(replaced) > 5
    assert all(1024 <= len(bson.encode(one)) < 1024 + 128 for one in replaced)


def writes_of(database):
    """How many writes the server had for the collection; what it writes of its own sessions is in another."""
    (stats,) = database.c.aggregate([{"$collStats": {"latencyStats": {}}}])
    return stats["latencyStats"]["writes"]["ops"]


def test_of_updates_so_many_are_reads_as_is_asked_for(crew, replica_set, database):
    perform(crew, replica_set, "insert", UPDATED)
    config = {**UPDATED, "documentRange": 100, "updateFunction": "UpdateOne", "percentReads": 50}
    written = writes_of(database)
    done = perform(crew, replica_set, "update", config, seconds=1)
    written = writes_of(database) - written
    assert done.errors == {}
    # Four standard deviations: on a busy machine there are few.
    assert abs(written - done.operations / 2) <= 2 * done.operations**0.5
    kinds = {kind: sum(counts.values()) for kind, counts in done.latencies_by_kind.items()}
    assert list(kinds) == ["read", "update"]
    assert kinds["update"] == written
    assert sum(kinds.values()) == sum(done.latencies.values()) == done.operations


def test_deleting_deletes_so_many_documents_and_none_twice(crew, replica_set, database):
    perform(crew, replica_set, "insert", NUMBERED)
    config = {**NUMBERED, "initialDocsToInsert": 100, "nDeletes": 63}
    done = perform(crew, replica_set, "delete", config)
    assert (done.operations, done.errors) == (63, {})
    assert database.c.count_documents({}) == 37
    perform(crew, replica_set, "insert", {**NUMBERED, "collection": "again"})
    all_of_them = {**config, "collection": "again", "nDeletes": 1000}
    assert perform(crew, replica_set, "delete", all_of_them).operations == 100


def test_aggregations_give_what_their_template_asks_for(crew, replica_set, database):
    pipeline = [
        {"$match": {"group": {"$in": "RANDINTLIST(1,5,2)"}}},
        {"$group": {"_id": {"$mod": ["$group_seq_i", 4]}, "count": {"$sum": 1}}},
    ]
    config = {**NUMBERED, "groupSize": 20, "pipeline": pipeline, "limit": 4}
    workload("aggregate").create(database, config)
    perform(crew, replica_set, "insert", config)
    done = perform(crew, replica_set, "aggregate", config, seconds=0.3)
    assert done.errors == {}
    assert done.documents == 4 * done.operations > 0
    with WorkerPool(1) as other, pytest.raises(WorkFailed, match="gave 4 documents, but 5 were expected"):
        perform(other, replica_set, "aggregate", {**config, "limit": 5}, seconds=5)


def test_random_numbers_of_a_template_count_from_zero_and_lists_hold_different_ones():
    template = {
        "a": "RANDINT(1,4)",
        "b": {"$in": "RANDINTLIST(1,9,9)"},
        "c": {"$gte": 380},
        "d": ["RANDINT(5,5)", "RANDINT(1,5000000000)", "RANDINTER"],
    }
    encode = encoder(template, random.Random(1))
    drawn = [bson.decode(encode()) for _ in range(200)]
    assert {one["a"] for one in drawn} == {0, 1, 2, 3}
    assert all(one["d"][0] == 4 and one["d"][2] == "RANDINTER" for one in drawn)
    assert all(0 <= one["d"][1] < 5_000_000_000 for one in drawn)
    assert max(one["d"][1] for one in drawn) > 2**32
    assert all(sorted(one["b"]["$in"]) == list(range(9)) for one in drawn)
    assert all(one["c"] == {"$gte": 380} for one in drawn)


def test_every_random_number_of_a_template_is_of_its_own_range_whatever_the_fields_are_called():
    encode = encoder({"a": "RANDINT(1,9)", "_id": "RANDINT(101,109)"}, random.Random(1))
    for _ in range(20):
        drawn = bson.decode(encode())
        assert list(drawn) == ["a", "_id"]
        assert drawn["a"] < 9
        assert 100 <= drawn["_id"] < 109


def test_a_rate_spreads_operations_over_the_time(crew, replica_set, database):
    config = {**NUMBERED, "groupSize": 20, "query": {"_id": "RANDINT(1,100)"}, "limit": 1}
    workload("query").create(database, config)
    perform(crew, replica_set, "insert", config)
    done = perform(crew, replica_set, "query", config, seconds=2.0, rates=(25.0,))
    # As fast as it goes it would be hundreds; what a busy machine does not come to in time is left out.
    assert 0 < done.operations <= 52
