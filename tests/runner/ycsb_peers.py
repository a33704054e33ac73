"""YCSB runs on what we have loaded, and we on what YCSB has loaded; go-ycsb too, with keys in order.

A command, not a part of the suite, as neither is a Python package: ``python -m tests.outside ycsb``.

go-ycsb 1.0.1 hashes the bytes of a sequence number high byte first, YCSB low byte first: their hashed keys differ.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pymongo import MongoClient

from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload

DATABASE = "ycsb"
"""go-ycsb takes no other."""
RECORDS = 200
MIX = {"readproportion": 0.5, "updateproportion": 0.5}
WHERE = {
    "ycsb": "unpack https://github.com/brianfrankcooper/YCSB/releases and set YCSB_HOME, or put its bin on PATH",
    "go-ycsb": "build github.com/pingcap/go-ycsb/cmd/go-ycsb v1.0.1 and put it on PATH",
}


def ycsb():
    """The start of a command line of YCSB, None when it is not here."""
    found = shutil.which("ycsb.sh") or shutil.which("ycsb")
    home = os.environ.get("YCSB_HOME") or (found and Path(found).resolve().parents[1])
    if not home:
        return None
    script = next(Path(home, "bin", name) for name in ("ycsb.sh", "ycsb") if Path(home, "bin", name).exists())
    return lambda phase: [script, phase, "mongodb", "-P", Path(home, "workloads", "workloada")]


def go_ycsb():
    """The same for go-ycsb."""
    found = shutil.which("go-ycsb")
    return found and (lambda phase: [found, phase, "mongodb", "-p", "workload=core"])


@pytest.fixture(
    params=[("ycsb", ycsb, "hashed"), ("ycsb", ycsb, "ordered"), ("go-ycsb", go_ycsb, "ordered")],
    ids=["ycsb-hashed", "ycsb-ordered", "go-ycsb-ordered"],
)
def peer(request, replica_set):
    """What does a phase with this peer and gives what it said; the order of keys that it shares with us."""
    name, start, order = request.param
    begin = start()
    if begin is None:
        pytest.fail(f"{name} is not here: {WHERE[name]}")
    uri = replica_set.uri.replace("/?", f"/{DATABASE}?")
    given = {"mongodb.url": uri, "recordcount": RECORDS, "operationcount": 500, "insertorder": order, **MIX}
    # With zipfian go-ycsb also chooses the record after the last, which is not there.
    given["requestdistribution"] = "uniform" if name == "go-ycsb" else "zipfian"

    def phase(which):
        properties = [part for name, value in given.items() for part in ("-p", f"{name}={value}")]
        done = subprocess.run(
            [*map(str, begin(which)), *properties], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return phase, order


@pytest.fixture
def ours(replica_set):
    """Our load and our run, and the collection."""
    with MongoClient(replica_set.uri) as client, WorkerPool(1) as crew:
        client.drop_database(DATABASE)

        def perform(name, config, **limits):
            return crew.perform(Load(replica_set.uri, DATABASE, name, config, "seed", 2, **limits))

        yield perform, client[DATABASE].usertable


def config(order):
    return {
        "collection": "usertable",
        "recordcount": RECORDS,
        "insertorder": order,
        "testTimeSecs": 1,
        **MIX,
        "requestdistribution": "zipfian",
    }


def shape(collection):
    return {
        one["_id"]: {name: (type(value), len(value)) for name, value in one.items() if name != "_id"}
        for one in collection.find()
    }


def test_we_run_on_what_the_peer_has_loaded_and_load_the_same_keys_and_fields(peer, ours):
    phase, order = peer
    perform, collection = ours
    said = phase("load")
    theirs = shape(collection)
    assert len(theirs) == RECORDS, said
    done = perform("ycsb", config(order), seconds=0.5)
    assert done.errors == {}
    assert set(done.latencies_by_kind) == {"read", "update"}
    assert shape(collection) == theirs
    collection.drop()
    perform("ycsb_load", workload("ycsb").preload(config(order)))
    assert shape(collection) == theirs


def test_the_peer_runs_on_what_we_have_loaded(peer, ours):
    phase, order = peer
    perform, collection = ours
    perform("ycsb_load", workload("ycsb").preload(config(order)))
    said = phase("run")
    assert re.search(r"\bREAD\b", said)
    assert not re.search(r"READ-FAILED|READ_ERROR|UPDATE_ERROR|NOT_FOUND", said), said
    assert len(shape(collection)) == RECORDS
