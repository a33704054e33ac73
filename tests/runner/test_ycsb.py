"""YCSB's core workloads do what they do, on data that either program has loaded.

What YCSB's core workloads define: keys, records, distributions; expected values are those of YCSB's own classes.

The workload does what YCSB's core workloads do, on data that either program has loaded.
"""

from __future__ import annotations

import random
from collections import Counter

import bson
import pytest
from pymongo import MongoClient

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.wire.connection import document
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload
from mongo_tables.runner.workloads.ycsb import (
    Sequence,
    Zipfian,
    chooser,
    field_drawer,
    id_element,
    key_namer,
    record_maker,
)

UNIFORM = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999999)
"""Inputs of the generators; the outputs below are those of ``site.ycsb:core:0.17.0`` for the same inputs."""


def given():
    return iter(UNIFORM * 2).__next__


@pytest.mark.parametrize(
    ("number", "key"),
    [
        (0, "user6284781860667377211"),
        (1, "user8517097267634966620"),
        (2, "user1820151046732198393"),
        (3, "user4052466453699787802"),
        (1000, "user5952875239596136740"),
        (9_999_999, "user5174843297794066704"),
        (10**10, "user1201321332300452516"),
        (2**63 - 1, "user8289549613075766851"),
    ],
)
def test_a_hashed_key_is_ycsbs(number, key):
    assert key_namer({})(number).decode() == key


def test_ordered_keys_are_the_number():
    assert key_namer({"insertorder": "ordered"})(1000) == b"user1000"


def test_a_record_has_its_key_and_ten_binary_fields_of_a_hundred_bytes():
    made = bson.decode(record_maker({}, random.Random(1).random)(0))
    assert list(made) == ["_id", *(f"field{number}" for number in range(10))]
    assert made.pop("_id") == "user6284781860667377211"
    assert {(type(value), len(value)) for value in made.values()} == {(bytes, 100)}  # subtype 0
    assert len(set(made.values())) == 10


def test_fields_are_as_many_and_as_long_as_is_asked():
    asked = {"fieldcount": 12, "fieldlength": 7, "insertorder": "ordered"}
    made = bson.decode(record_maker(asked, random.Random(1).random)(5))
    assert made.pop("_id") == "user5"
    assert list(made) == [f"field{number}" for number in range(12)]
    assert {len(value) for value in made.values()} == {7}


def test_bytes_of_fields_are_in_the_ranges_of_ycsbs():
    field = field_drawer(60, random.Random(1).random)
    seen = [set() for _ in range(6)]
    for _ in range(2000):
        for place, byte in enumerate(bson.decode(document(field(3)))["field3"]):
            seen[place % 6].add(byte - 32)
    # Bits that may be set: 0x1F, 0x3F and 0x5F in turn.
    ranges = [{value for value in range(96) if value & mask == value} for mask in (31, 63, 95)]
    assert seen == ranges * 2


def test_elements_are_bson():
    assert bson.decode(document(id_element("userü".encode()))) == {"_id": "userü"}
    assert bson.decode(document(field_drawer(0, random.random)(9))) == {"field9": b""}


def test_zipfian_numbers_are_ycsbs():
    zipfian = Zipfian(1000, given())
    assert [zipfian.next(1000) for _ in UNIFORM] == [0, 0, 0, 0, 3, 22, 151, 471, 927, 999]


def test_scrambled_zipfian_numbers_are_ycsbs():
    choose = chooser("zipfian", Sequence(20_000, 0, 1), 10_000, 0, given())
    assert [choose() for _ in UNIFORM] == [4927, 4927, 9555, 2317, 918, 387, 6757, 8534, 5564, 8559]


def test_latest_numbers_are_ycsbs_also_after_inserts():
    sequence = Sequence(1000, 0, 1)
    choose = chooser("latest", sequence, 1000, 0, given())
    assert [choose() for _ in UNIFORM] == [999, 999, 999, 999, 996, 977, 848, 528, 73, 1]
    for _ in range(50):
        sequence.acknowledge()
    assert [choose() for _ in UNIFORM] == [1049, 1049, 1049, 1049, 1046, 1026, 890, 554, 76, 1]


def test_few_records_are_chosen_much_more_often_than_others():
    choose = chooser("zipfian", Sequence(1000, 0, 1), 1000, 0, random.Random(1).random)
    counts = Counter(choose() for _ in range(50_000))
    assert max(counts) < 1000
    # The two most frequent items have 1 and 1/2^0.99 of 26.469 parts.
    assert [count / 50_000 for _, count in counts.most_common(2)] == pytest.approx(
        [1 / 26.469, 0.5035 / 26.469], rel=0.1
    )


def test_no_record_is_chosen_before_it_is_there():
    sequence = Sequence(1000, 0, 1)
    choose = chooser("zipfian", sequence, 1000, 2000, random.Random(1).random)
    assert max(choose() for _ in range(5000)) < 1000
    for _ in range(2000):
        sequence.acknowledge()
    assert max(choose() for _ in range(5000)) > 2500


def test_uniform_numbers_are_all_that_were_loaded():
    choose = chooser("uniform", Sequence(1000, 0, 1), 300, 0, random.Random(1).random)
    assert {choose() for _ in range(10_000)} == set(range(300))


def inserted(sequence, count):
    for _ in range(count):
        yield sequence.following()
        sequence.acknowledge()


def test_connections_insert_numbers_of_their_own_and_together_every_one():
    taken = [list(inserted(Sequence(100, worker, 3), 4)) for worker in range(3)]
    assert taken[1] == [101, 104, 107, 110]
    assert sorted(number for part in taken for number in part) == list(range(100, 112))


def test_a_connection_chooses_from_the_loaded_records_and_its_own():
    sequence = Sequence(100, 1, 3)
    own = set(inserted(sequence, 4))
    choose = chooser("latest", sequence, 100, 0, random.Random(1).random)
    assert {sequence.number(choose()) for _ in range(20_000)} == set(range(1, 100)) | own


def test_what_cannot_be_chosen_from_is_said():
    with pytest.raises(CommandError, match="hotspot"):
        chooser("hotspot", Sequence(10, 0, 1), 10, 0, random.random)
    with pytest.raises(CommandError, match="4 records"):
        chooser("latest", Sequence(3, 0, 1), 3, 0, random.random)


DATABASE = "ycsb_test"
RECORDS = 300
CONFIG = {"collection": "usertable", "recordcount": RECORDS, "testTimeSecs": 0.5}
READS = {"readproportion": 1.0, "updateproportion": 0.0}
KEYS = [key_namer({})(number).decode() for number in range(5000)]


@pytest.fixture
def collection(replica_set):
    with MongoClient(replica_set.uri) as client:
        client.drop_database(DATABASE)
        yield client[DATABASE].usertable


@pytest.fixture
def perform(crew, replica_set):
    def performed(name, config, **limits):
        # As many operations as the shares of kinds need, however slow the machine is.
        load = Load(replica_set.uri, DATABASE, name, config, "seed", 4, least=400, **limits)
        return crew.perform(load)

    return performed


@pytest.fixture
def run(perform, collection):
    """Loads ``CONFIG`` with what is given on top, and does its work."""

    def done(seconds=0.4, **given):
        config = {**CONFIG, **given}
        workload("ycsb").create(collection.database, config)
        perform("ycsb_load", workload("ycsb").preload(config))
        return perform("ycsb", config, seconds=seconds)

    return done


def kinds(outcome):
    return {kind: sum(counts.values()) for kind, counts in outcome.latencies_by_kind.items()}


def keys(collection):
    return {one["_id"] for one in collection.find({}, {"_id": 1})}


def test_workload_c_reads_whole_records(run):
    done = run(**READS, requestdistribution="zipfian")
    assert done.errors == {}
    assert list(kinds(done)) == ["read"]
    assert done.documents == done.operations > 20
    assert done.bytes / done.documents == pytest.approx(1168, abs=3)  # keys have 21 to 23 characters


def test_one_field_is_read_where_that_is_asked(run):
    done = run(**READS, readallfields=False)
    assert done.bytes / done.documents == pytest.approx(151, abs=3)


def test_workload_a_updates_one_field_of_every_second_record_it_touches(run, collection):
    done = run(readproportion=0.5, updateproportion=0.5, requestdistribution="zipfian", seconds=0.8)
    assert done.errors == {}
    assert 0.35 < kinds(done)["update"] / done.operations < 0.65
    assert keys(collection) == set(KEYS[:RECORDS])
    assert {len(bson.encode(one)) for one in collection.find()} <= set(range(1160, 1172))


def test_updates_of_all_fields_change_all_of_them(run, collection, perform):
    config = {**CONFIG, "recordcount": 1}
    run(**READS, recordcount=1)
    before = collection.find_one()
    perform(
        "ycsb", {**config, "readproportion": 0, "updateproportion": 1.0, "writeallfields": True}, seconds=0.4
    )
    after = collection.find_one()
    assert [name for name in before if before[name] == after[name]] == ["_id"]


def test_workload_d_inserts_the_next_records_and_reads_the_latest(run, collection):
    done = run(readproportion=0.7, updateproportion=0, insertproportion=0.3, requestdistribution="latest")
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


def test_workload_e_scans_up_to_so_many_records(run):
    done = run(readproportion=0, updateproportion=0, scanproportion=1.0, maxscanlength=20)
    assert done.errors == {}
    assert 5 < done.documents / done.operations < 15
    assert list(kinds(done)) == ["scan"]


def test_workload_f_reads_and_then_writes_as_one_operation(run, collection):
    before = updates_of(collection)
    done = run(readproportion=0, updateproportion=0, readmodifywriteproportion=1.0)
    assert done.errors == {}
    assert list(kinds(done)) == ["readmodifywrite"]
    assert updates_of(collection) - before == done.operations


def updates_of(collection):
    """How many updates the server had for the collection; those of its own sessions are in another."""
    counts = collection.database.client.admin.command("top")["totals"]
    return counts.get(collection.full_name, {"update": {"count": 0}})["update"]["count"]


def test_a_record_that_is_not_there_is_counted_and_is_no_failure(run, collection, perform):
    run(**READS)
    gone = {**CONFIG, "readproportion": 0.5, "updateproportion": 0.5}
    collection.delete_many({"_id": {"$in": KEYS[: RECORDS // 2]}})
    done = perform("ycsb", gone, seconds=0.5)
    assert done.errors == {}
    assert set(kinds(done)) == {"read", "read_not_found", "update", "update_not_found"}
    assert collection.count_documents({}) == RECORDS - RECORDS // 2


def test_what_no_window_inserted_does_not_hold_up_the_next(run, collection):
    run(**READS)
    collection.insert_one({"_id": "of somebody else"})
    workload("ycsb").reset(collection.database, CONFIG)
    assert keys(collection) == {*KEYS[:RECORDS], "of somebody else"}


def test_no_operation_at_all_is_a_mistake_that_is_told_before_anything_is_loaded():
    with pytest.raises(CommandError, match="all proportions of operations are 0"):
        workload("ycsb").preload({**CONFIG, "readproportion": 0, "updateproportion": 0.0})


def test_large_records_are_loaded_in_messages_that_a_server_takes(crew, replica_set, collection):
    config = {"collection": "usertable", "totalDocsToInsert": 40, "fieldcount": 2, "fieldlength": 700_000}
    done = crew.perform(Load(replica_set.uri, DATABASE, "ycsb_load", config, "seed", 1))
    assert done.bytes > 48_000_000
    assert (done.documents, done.errors) == (40, {})
    assert collection.count_documents({}) == 40
