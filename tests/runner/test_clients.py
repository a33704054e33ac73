"""The fast path does what PyMongo does: same documents, same counts, same errors."""

from __future__ import annotations

import os
import socket
import ssl
import struct
import subprocess
import time
from functools import partial

import bson
import pymongo
import pytest
from bson.code import Code
from bson.int64 import Int64
from bson.min_key import MinKey
from bson.regex import Regex
from pymongo import MongoClient

from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.driving import Pace, Surroundings, drive
from mongo_tables.runner.errors import TargetError, UnexpectedReply
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.wire import connection as wire_connection
from mongo_tables.runner.wire.client import WireClient
from mongo_tables.runner.wire.connection import WireConnection, check_driver
from mongo_tables.runner.wire.loop import Hub
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import Done
from tests.mongod import free_port, program
from tests.runner.reference_client import PyMongoClient
from tests.runner.windows import alone, nothing_done, opened

MAJORITY = RequestOptions()
ONE = RequestOptions({"w": 1}, retryable_writes=False)
INCREMENT = bson.encode({"$inc": {"n": 1}})


def outcomes(kind, uri, act):
    """What the calls in ``act`` gave or raised, and the documents that are there then."""
    with MongoClient(uri) as client:
        collection = client["clients_test"]["things"]
        collection.drop()
        collection.insert_many([{"_id": n, "n": 0, "group": n % 2} for n in range(500)])
        collection.create_index("unique", unique=True, sparse=True)
        connection = kind(client, ("clients_test", "things"), MAJORITY)
        answers = list(act(connection))
        connection.close()
        return answers, list(collection.find().sort("_id", 1))


def both(uri, act):
    wire, reference = outcomes(WireClient, uri, act), outcomes(PyMongoClient, uri, act)
    assert wire == reference
    return wire


def code(call):
    try:
        return call()
    except Exception as error:
        details = getattr(error, "details", None) or {}
        errors = details.get("writeErrors")
        return ("refused", errors[0]["code"] if errors else error.code)


def test_inserts_leave_the_same_documents(replica_set):
    def act(connection):
        connection.insert([bson.encode({"_id": Int64(1000 + n), "text": "ü" * n}) for n in range(700)])
        connection.insert([bson.encode({"_id": "one"})])
        yield code(lambda: connection.insert([bson.encode({"_id": n}) for n in (9000, 3, 9001)]))
        yield code(lambda: connection.insert([bson.encode({"_id": "one"})]))

    answers, documents = both(replica_set.uri, act)
    assert answers == [("refused", 11000)] * 2
    assert len(documents) == 500 + 700 + 1 + 1


def test_updates_match_and_upsert_the_same(replica_set):
    def act(connection):
        for selector, upsert in (
            ({"_id": 5}, False),
            ({"_id": -1}, False),
            ({"_id": -2}, True),
            ({"_id": -2}, True),
        ):
            yield connection.update(bson.encode(selector), INCREMENT, upsert)
        yield code(
            lambda: connection.update(bson.encode({"_id": 6}), bson.encode({"$inc": {"group": "x"}}), False)
        )

    answers, documents = both(replica_set.uri, act)
    assert answers[:4] == [1, 0, 1, 1]
    assert answers[4][0] == "refused"
    assert {one["_id"]: one["n"] for one in documents if one["_id"] in (-2, 5)} == {-2: 2, 5: 1}


def test_many_updates_in_one_request_leave_the_same_documents_whatever_one_of_them_does(replica_set):
    def statement(selector, update, upsert=True):
        return bson.encode({"q": selector, "u": update, "upsert": upsert})

    def act(connection):
        counted = [{"$set": {"n": {"$add": [{"$ifNull": ["$n", 0]}, 5]}}}]
        yield connection.update_each(
            [
                statement({"_id": 1}, {"$inc": {"n": 1}}),
                statement({"_id": 2}, counted),
                statement({"_id": -1}, counted),
                statement({"_id": b"bytes"}, {"$push": {"items": {"a": 1}}}),
                statement({"_id": -2}, counted, False),
            ]
        )
        broken = [statement({"_id": 3}, {"$inc": {"group": "x"}}), statement({"_id": 4}, {"$inc": {"n": 9}})]
        yield code(lambda: connection.update_each(broken))

    answers, documents = both(replica_set.uri, act)
    assert answers == [4, ("refused", 14)]
    found = {one["_id"]: one.get("n") for one in documents}
    assert [found[key] for key in (1, 2, -1, b"bytes", 4)] == [1, 5, 5, None, 9]
    assert -2 not in found


def test_find_and_update_finds_the_same(replica_set):
    def act(connection):
        for selector, upsert in (({"_id": 5}, False), ({"_id": -1}, False), ({"_id": -2}, True)):
            yield connection.find_and_update(bson.encode(selector), INCREMENT, upsert)
        broken = bson.encode({"$nonsense": {"n": 1}})
        yield code(lambda: connection.find_and_update(bson.encode({"_id": 5}), broken, False))

    answers, _ = both(replica_set.uri, act)
    assert answers[:3] == [1, 0, 1]
    assert answers[3][0] == "refused"


def test_replacing_and_deleting_leave_the_same_documents(replica_set):
    def act(connection):
        for number in (5, -1):
            yield connection.replace(bson.encode({"_id": number}), bson.encode({"new": "ü"}))
        for number in (6, 6, -1):
            yield connection.delete(bson.encode({"_id": number}))
        yield code(lambda: connection.replace(bson.encode({"_id": 7}), bson.encode({"_id": 8})))
        yield code(lambda: connection.delete(bson.encode({"$nonsense": 1})))

    answers, documents = both(replica_set.uri, act)
    assert answers[:5] == [1, 0, 1, 0, 0]
    assert [answer[0] for answer in answers[5:]] == ["refused", "refused"]
    assert {"_id": 5, "new": "ü"} in documents
    assert len(documents) == 499


def test_pipelines_are_drained_whatever_the_size_of_a_batch(replica_set):
    def act(connection):
        for stages in ([], [{"$match": {"group": 1}}, {"$sort": {"n": 1}}], [{"$match": {"_id": -1}}]):
            yield connection.aggregate(bson.encode({str(n): stage for n, stage in enumerate(stages)}))
        yield code(lambda: connection.aggregate(bson.encode({"0": {"$nonsense": {}}})))

    answers, _ = both(replica_set.uri, act)
    assert [answer[0] for answer in answers] == [500, 250, 0, "refused"]


@pytest.mark.parametrize(
    ("limit", "skip", "found"), [(1, 0, 1), (20, 240, 10), (101, 0, 101), (250, 0, 250), (0, 3, 247)]
)
def test_queries_are_drained_whatever_the_size_of_a_batch(replica_set, limit, skip, found):
    def act(connection):
        yield connection.find(bson.encode({"group": 1}), limit, skip)[0]
        yield code(lambda: connection.find(bson.encode({"$nonsense": 1}), 1, 0))

    answers, _ = both(replica_set.uri, act)
    assert answers[0] == found
    assert answers[1][0] == "refused"


class Trickling:
    """A socket from which at most some bytes come at once."""

    def __init__(self, socket, most):
        self.sendall = socket.sendall
        self._receive = socket.recv
        self._most = most

    def recv(self, length):
        return self._receive(min(length, self._most))


def test_answers_that_begin_alike_are_told_apart(replica_set):
    def act(connection):
        for limit in (3, 3, 2, 150, 150, 3):
            yield connection.find(bson.encode({"group": 1}), limit, 0)[0]
            yield connection.find(bson.encode({"_id": limit}), 1, 0)[0]
            yield connection.find(bson.encode({"_id": "x" * limit}), 1, 0)[0]
        yield connection.read(bson.encode({"_id": 5}), EVERYTHING)
        yield connection.find(bson.encode({"_id": 5}), 1, 0)[0]

    answers, _ = both(replica_set.uri, act)
    assert answers[:18:3] == [3, 3, 2, 150, 150, 3]
    assert answers[1:18:3] == [1] * 6
    assert answers[2:18:3] == [0] * 6
    assert answers[18:] == [(1, len(bson.encode({"_id": 5, "n": 0, "group": 1}))), 1]


@pytest.mark.parametrize("most", [1, 20, 21, 50])
def test_answers_that_come_in_pieces_are_the_same_answers(replica_set, most):
    def act(connection):
        if isinstance(connection, WireClient):
            held = connection._writing
            held._socket = Trickling(held._socket, most)
        yield connection.find(bson.encode({"group": 1}), 150, 0)[0]
        yield connection.update(bson.encode({"_id": 5}), INCREMENT, False)
        yield code(lambda: connection.insert([bson.encode({"_id": 5})]))

    answers, _ = both(replica_set.uri, act)
    assert answers == [150, 1, ("refused", 11000)]


def test_a_connection_that_ends_in_the_middle_of_an_answer_is_an_error(replica_set):
    with MongoClient(replica_set.uri) as client:
        connection = WireClient(client, ("clients_test", "things"), MAJORITY)
        ours = connection._writing
        held, ours._socket = ours._socket, Trickling(ours._socket, 30)
        pieces = iter((held.recv, lambda length: b""))
        ours._socket.recv = lambda length: next(pieces)(min(length, 30))
        with pytest.raises(ConnectionError, match="closed the connection"):
            connection.find(bson.encode({}), 1, 0)


def test_after_an_answer_of_another_kind_nothing_more_is_taken_for_an_answer(replica_set):
    with MongoClient(replica_set.uri) as client:
        connection = WireClient(client, ("clients_test", "things"), MAJORITY)
        ours = connection._writing
        held, ours._socket = ours._socket, Trickling(ours._socket, 2**20)
        compressed = struct.pack("<iiiiIB", 30_000, 1, 1, 2012, 0, 0)
        ours._socket.recv = lambda length: compressed + held.recv(length)
        tally, window = nothing_done(), opened()
        drive(
            lambda: Done(1, *connection.find(bson.encode({}), 1, 0)),
            tally,
            Pace(0.0),
            window,
            0,
            Surroundings(),
            alone(tally, window, 0),
        )
    assert [sum(tally.failures.times[name].values()) for name in ("ConnectionError",)] == [1]
    assert "an unexpected answer" in tally.gave_up


EVERYTHING = bson.encode({})


def test_documents_are_read_whole_or_in_part(replica_set):
    def act(connection):
        for selector in ({"_id": 5}, {"_id": -1}, {"group": 1}):
            yield connection.read(bson.encode(selector), EVERYTHING)
            yield connection.read(bson.encode(selector), bson.encode({"n": 1}))
        yield code(lambda: connection.read(bson.encode({"$nonsense": 1}), EVERYTHING))

    answers, _ = both(replica_set.uri, act)
    whole, part = (
        len(bson.encode(document)) for document in ({"_id": 5, "n": 0, "group": 1}, {"_id": 5, "n": 0})
    )
    assert answers[:6] == [(1, whole), (1, part), (0, 0), (0, 0), (1, whole), (1, part)]
    assert answers[6][0] == "refused"


@pytest.mark.parametrize("limit", [1, 100, 101, 250])
def test_scans_go_on_from_a_key_in_the_order_of_keys(replica_set, limit):
    def act(connection):
        for first in (0, 480):
            yield connection.scan(bson.encode({"_id": {"$gte": first}}), limit, bson.encode({"n": 1}))

    size = len(bson.encode({"_id": 5, "n": 0}))
    rest = min(limit, 20)
    assert both(replica_set.uri, act)[0] == [(limit, limit * size), (rest, rest * size)]


@pytest.mark.parametrize("kind", [WireClient, PyMongoClient])
def test_unacknowledged_writes_are_done_and_nobody_hears_of_those_that_are_refused(replica_set, kind):
    with MongoClient(replica_set.uri) as client:
        collection = client["clients_test"]["unheard"]
        collection.drop()
        collection.insert_many([{"_id": n, "n": 0} for n in range(10)])
        connection = kind(
            client, ("clients_test", "unheard"), RequestOptions({"w": 0}, retryable_writes=False)
        )
        connection.insert([bson.encode({"_id": 10, "n": 0})])
        connection.insert([bson.encode({"_id": 10, "n": 99})])
        matched = [connection.update(bson.encode({"_id": n}), INCREMENT, False) for n in (0, 1, -1)]
        matched.append(connection.replace(bson.encode({"_id": 2}), bson.encode({"n": 7})))
        matched.append(connection.delete(bson.encode({"_id": 3})))
        one = bson.encode({"q": {"_id": 4}, "u": {"$set": {"n": 0}}, "upsert": False})
        assert connection.update_each([one, one]) == 2
        # The same connection is answered in order, so that all is done when this is.
        assert connection.read(bson.encode({"_id": 3}), EVERYTHING) in ((0, 0), (1, 23))
        assert matched == [1] * 5
        wait_until(lambda: collection.count_documents({}) == 10)
        connection.close()
        left = {one["_id"]: one["n"] for one in collection.find()}
    assert left == {0: 1, 1: 1, 2: 7, **dict.fromkeys(range(4, 11), 0)}


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_write_concern_that_cannot_be_met_is_an_error(replica_set):
    with MongoClient(replica_set.uri) as client:
        connection = WireClient(client, ("clients_test", "things"), RequestOptions({"w": 2, "wtimeout": 50}))
        with pytest.raises(UnexpectedReply) as caught:
            connection.insert([bson.encode({"of": "a set with one member"})])
        connection.close()
    assert caught.value.code == 100  # UnsatisfiableWriteConcern


def test_the_fast_path_signs_in_as_pymongo_does(mongod_with_password):
    with MongoClient(mongod_with_password.uri(credentials="owner:known-only-to-tests@")) as client:
        connection = WireClient(client, ("clients_test", "things"), ONE)
        connection.insert([bson.encode({"_id": "signed in"})])
        connection.close()
        assert client["clients_test"]["things"].count_documents({"_id": "signed in"}) == 1


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    """Connection string of a server that talks TLS only."""
    tmp_path = tmp_path_factory.mktemp("encrypted")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    (tmp_path / "both").write_bytes(key.read_bytes() + certificate.read_bytes())
    (tmp_path / "data").mkdir()
    port = str(free_port())
    place = ["--dbpath", tmp_path / "data", "--port", port, "--bind_ip", "localhost", "--nounixsocket"]
    secure = ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", tmp_path / "both"]
    server = subprocess.Popen([program(), *place, *secure], stdout=subprocess.DEVNULL)
    yield f"mongodb://localhost:{port}/?tls=true&tlsCAFile={certificate}&directConnection=true"
    server.kill()
    server.wait()


def test_the_fast_path_is_encrypted_as_pymongo_is(encrypted):
    with MongoClient(encrypted) as client:
        client["clients_test"]["things"].drop()
        connection = WireClient(client, ("clients_test", "things"), ONE)
        assert isinstance(connection._writing._socket, ssl.SSLSocket)
        connection.insert([bson.encode({"_id": n, "text": "x" * 100_000}) for n in range(50)])
        assert connection.find(bson.encode({}), 0, 0)[0] == 50
        connection.close()


def test_many_encrypted_connections_in_one_thread_get_their_own_answers(encrypted):
    with MongoClient(encrypted) as client, WorkerPool(1) as crew:
        things = client["clients_test"]["things"]
        things.drop()
        things.insert_many([{"_id": Int64(n), "text": "x" * 50_000} for n in range(8)])
        config = {"collection": "things", "recordcount": 8, "writeConcern": {"w": 1}}
        config |= {
            "initialDocsToInsert": 8,
            "documentRange": 8,
            "docSizeKB": 50,
            "updateFunction": "ReplaceOne",
        }
        done = crew.perform(
            Load(encrypted, "clients_test", "update", {**config, "percentReads": 50}, "s", 6, 0.25)
        )
        assert done.errors == {}
        assert set(done.latencies_by_kind) == {"read", "replace"}
        assert done.documents == done.operations > 12


def test_what_is_larger_than_an_encrypted_connection_takes_at_once_goes_out_in_pieces(encrypted, monkeypatch):
    hub, waits = Hub(), []
    send_rest = WireConnection._send_rest

    def send_and_note(connection, rest, wait):
        send_rest(connection, rest, lambda: (waits.append(connection), wait()))

    monkeypatch.setattr(WireConnection, "_send_rest", send_and_note)
    with MongoClient(encrypted) as client:
        client["clients_test"]["large"].drop()
        held = [WireClient(client, ("clients_test", "large"), ONE) for _ in range(2)]
        batch = [bson.encode({"text": "x" * 2**20})] * 8

        def work(one):
            one.insert(batch)
            assert one.read(bson.encode({}), EVERYTHING)[1] > 2**20

        for one in held:
            one.share_thread(hub)
            with socket.socket(fileno=os.dup(*one.files)) as the_same:
                the_same.setsockopt(
                    socket.SOL_SOCKET, socket.SO_SNDBUF, 4096
                )  # else a quick server takes it all
        hub.run({one.files: partial(work, one) for one in held})
        for one in held:
            one.close()
        assert waits
        assert client["clients_test"]["large"].count_documents({}) == 16
        client.drop_database("clients_test")


def test_an_answer_is_counted_whatever_types_of_fields_come_before():
    documents = [{"a": 1}, {"b": "two"}]
    cursor = {"id": Int64(7), "ns": "x.y", "firstBatch": documents}
    odd = {"said": Regex("a", "i"), "code": Code("x", {"y": 1}), "none": None, "least": MinKey()}
    reply = bson.encode({**odd, "ok": 1.0, "cursor": cursor})
    size = sum(len(bson.encode(document)) for document in documents)
    assert wire_connection.batch(reply, wire_connection.FIRST_BATCH) == (2, size, 7)


def test_a_driver_that_is_another_one_inside_is_told_with_the_versions_that_are_known(
    replica_set, monkeypatch
):
    with MongoClient(replica_set.uri) as client:
        check_driver(client)
        monkeypatch.setattr("mongo_tables.runner.wire.connection._OF_SOCKET", ("recv_all_at_once",))
        with pytest.raises(TargetError, match="recv_all_at_once") as of_socket:
            check_driver(client)
        monkeypatch.undo()
        monkeypatch.delattr(client, "_topology")
        with pytest.raises(TargetError, match=pymongo.version) as of_client:
            WireClient(client, ("clients_test", "things"), ONE)
        monkeypatch.undo()
    for caught in (of_socket, of_client):
        assert "4.10 to 4.20" in caught.value.hint
