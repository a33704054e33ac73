"""The workload does what YCSB's core workloads do, on data that either program has loaded."""

from __future__ import annotations

import bson
import pytest
from pymongo import MongoClient

from mongo_tables.runner.errors import ExperimentError
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload
from mongo_tables.runner.workloads.ycsb import key_namer
from tests.runner.bothclients import CLIENTS

DATABASE = "ycsb_test"
RECORDS = 300
CONFIG = {"collection": "usertable", "recordcount": RECORDS, "testTimeSecs": 0.5}
READS = {"readproportion": 1.0, "updateproportion": 0.0}
KEYS = [key_namer("hashed", 1)(number).decode() for number in range(5000)]


@pytest.fixture
def collection(replica_set):
    with MongoClient(replica_set.uri) as client:
        client.drop_database(DATABASE)
        yield client[DATABASE].usertable


@pytest.fixture
def perform(crew, replica_set):
    def performed(name, config, client="wire", **limits):
        return crew.perform(Load(replica_set.uri, DATABASE, name, config, "seed", 4, client, **limits))

    return performed


@pytest.fixture
def run(perform, collection):
    """Loads ``CONFIG`` with what is given on top, and does its work."""

    def done(client="wire", seconds=0.4, **given):
        config = {**CONFIG, **given}
        workload("ycsb").create(collection.database, config)
        perform("ycsb_load", workload("ycsb").preload(config))
        return perform("ycsb", config, client, seconds=seconds)

    return done


def kinds(outcome):
    return {kind: sum(counts.values()) for kind, counts in outcome.latencies_by_kind.items()}


def keys(collection):
    return {one["_id"] for one in collection.find({}, {"_id": 1})}


@pytest.mark.parametrize("client", CLIENTS)
def test_workload_c_reads_whole_records(run, client):
    done = run(client, **READS, requestdistribution="zipfian")
    assert done.errors == {}
    assert list(kinds(done)) == ["read"]
    assert done.documents == done.operations > 20
    assert done.bytes / done.documents == pytest.approx(1168, abs=3)  # keys have 21 to 23 characters


def test_one_field_is_read_where_that_is_asked(run):
    done = run(**READS, readallfields=False)
    assert done.bytes / done.documents == pytest.approx(151, abs=3)


@pytest.mark.parametrize("client", CLIENTS)
def test_workload_a_updates_one_field_of_every_second_record_it_touches(run, collection, client):
    done = run(client, readproportion=0.5, updateproportion=0.5, requestdistribution="zipfian", seconds=0.8)
    assert done.errors == {}
    assert 0.35 < kinds(done)["update"] / done.operations < 0.65
    assert keys(collection) == set(KEYS[:RECORDS])
    assert {len(bson.encode(one)) for one in collection.find()} <= set(range(1160, 1172))


def test_updates_of_all_fields_change_all_of_them(run, collection, perform):
    config = {**CONFIG, "recordcount": 1}
    run(**READS, recordcount=1)
    before = collection.find_one()
    perform(
        "ycsb", {**config, "readproportion": 0, "updateproportion": 1.0, "writeallfields": True}, seconds=0.2
    )
    after = collection.find_one()
    assert [name for name in before if before[name] == after[name]] == ["_id"]


@pytest.mark.parametrize("client", CLIENTS)
def test_workload_d_inserts_the_next_records_and_reads_the_latest(run, collection, client):
    done = run(
        client, readproportion=0.7, updateproportion=0, insertproportion=0.3, requestdistribution="latest"
    )
    assert done.errors == {}
    assert set(kinds(done)) == {"insert", "read"}  # what is not there yet is not read
    inserted = kinds(done)["insert"]
    assert keys(collection) - set(KEYS[:RECORDS]) < set(KEYS[RECORDS : RECORDS + 40 * inserted])
    assert collection.count_documents({}) == RECORDS + inserted


def test_what_a_window_inserted_is_gone_before_the_next(run, collection):
    given = {"readproportion": 0, "updateproportion": 0, "insertproportion": 1.0}
    run(**given)
    assert collection.count_documents({}) > RECORDS
    workload("ycsb").reset(collection.database, {**CONFIG, **given})
    assert keys(collection) == set(KEYS[:RECORDS])


@pytest.mark.parametrize("client", CLIENTS)
def test_workload_e_scans_up_to_so_many_records(run, client):
    done = run(client, readproportion=0, updateproportion=0, scanproportion=1.0, maxscanlength=20)
    assert done.errors == {}
    assert 5 < done.documents / done.operations < 15
    assert list(kinds(done)) == ["scan"]


@pytest.mark.parametrize("client", CLIENTS)
def test_workload_f_reads_and_then_writes_as_one_operation(run, collection, client):
    before = updates_of(collection)
    done = run(client, readproportion=0, updateproportion=0, readmodifywriteproportion=1.0)
    assert done.errors == {}
    assert list(kinds(done)) == ["readmodifywrite"]
    assert updates_of(collection) - before == done.operations


def updates_of(collection):
    """How many updates the server had for the collection; those of its own sessions are in another."""
    counts = collection.database.client.admin.command("top")["totals"]
    return counts.get(collection.full_name, {"update": {"count": 0}})["update"]["count"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_record_that_is_not_there_is_counted_and_is_no_failure(run, collection, perform, client):
    run(**READS)
    gone = {**CONFIG, "readproportion": 0.5, "updateproportion": 0.5}
    collection.delete_many({"_id": {"$in": KEYS[: RECORDS // 2]}})
    done = perform("ycsb", gone, client, seconds=0.5)
    assert done.errors == {}
    assert set(kinds(done)) == {"read", "read_not_found", "update", "update_not_found"}
    assert collection.count_documents({}) == RECORDS - RECORDS // 2


def test_a_part_of_the_records_is_loaded_and_read_where_other_loaders_bring_the_rest(run, collection):
    done = run(**READS, insertstart=100, insertcount=50)
    assert keys(collection) == set(KEYS[100:150])
    assert list(kinds(done)) == ["read"]


@pytest.mark.parametrize("part", [{"insertstart": 300}, {"insertstart": 200, "insertcount": 101}])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(ExperimentError, match="no part of 300 records"):
        workload("ycsb").preload({**CONFIG, **part})


def test_what_no_window_inserted_does_not_hold_up_the_next(run, collection):
    run(**READS)
    collection.insert_one({"_id": "of somebody else"})
    workload("ycsb").reset(collection.database, CONFIG)
    assert keys(collection) == {*KEYS[:RECORDS], "of somebody else"}


def test_no_operation_at_all_is_a_mistake_that_is_told_before_anything_is_loaded():
    with pytest.raises(ExperimentError, match="all proportions of operations are 0"):
        workload("ycsb").preload({**CONFIG, "readproportion": 0, "updateproportion": 0.0})


def test_large_records_are_loaded_in_messages_that_a_server_takes(crew, replica_set, collection):
    config = {"collection": "usertable", "totalDocsToInsert": 40, "fieldcount": 2, "fieldlength": 700_000}
    done = crew.perform(Load(replica_set.uri, DATABASE, "ycsb_load", config, "seed", 1, "wire"))
    assert done.bytes > 48_000_000
    assert (done.documents, done.errors) == (40, {})
    assert collection.count_documents({}) == 40
