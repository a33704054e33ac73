"""A sharded cluster is reached through its mongos: rows say what that knows, and what it cannot tell is refused.

No mongos can be had here: a stand-in says of itself what one says, and passes the rest on, to a replica set, or to the
shards and the config server of a cluster.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from threading import Thread

import pytest

from mongo_tables.cli import main
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.errors import TargetError, WorkFailed
from mongo_tables.runner.runs import open_run
from mongo_tables.runner.servers import GIVEN
from mongo_tables.runner.store import FileStore, check_document
from mongo_tables.runner.target import LocalTarget, UriTarget
from mongo_tables.runner.terminal import Progress
from tests.runner.measured import measure, obstacle
from tests.runner.router import SHARDS, Cluster, routed
from tests.runner.shards import routed_to, sharded
from tests.runner.test_runs import OPTIONS, RECORDS

MIX = RECORDS.replace("updateproportion = 0.0", "updateproportion = 0.5")
RECORD = "[[variants]]\nrecordcount = 100\nreadproportion = 0.5\n"


def row_of(uri, crew, folder, text=MIX + RECORD, **options):
    store = FileStore(folder)
    experiment = experiments.read(text.encode(), "tiny.toml")
    asked = replace(OPTIONS, **options)
    measure([open_run(experiment, asked, UriTarget(uri), crew, Progress(io.StringIO()))], store)
    (row,) = store.rows("tiny")
    check_document("result", row)
    return row


def test_a_row_says_what_a_mongos_knows_and_nothing_of_machines_that_it_does_not_see(
    replica_set, crew, tmp_path
):
    with routed(replica_set.uri) as uri:
        row = row_of(uri, crew, tmp_path)
    assert row["topology"] == {"kind": "sharded cluster", "shards": 2, "place": GIVEN}
    assert [one["role"] for one in row["servers"]["members"]] == ["mongos"]
    assert {one["what"] for one in row["servers"]["not_known"]} == {
        "the cache",
        "processors and disks in the window",
    }
    assert row["work"]["errors"] == {}
    assert row["work"]["operations"] > 0
    assert (row["client"]["sessions"], row["client"]["retryable_writes"]) == (True, True)
    assert row["before_status"]["process"] == "mongos"
    assert (row["processors"], row["metrics"]["source"]) == (None, None)
    assert row["metrics"]["scope"] == "the mongos only"
    assert row["reads"]["pages_requested"] is None


def test_counters_of_several_mongos_that_answer_in_turn_are_not_subtracted(replica_set, crew, tmp_path):
    with routed(replica_set.uri, 2) as uri:
        row = row_of(uri, crew, tmp_path)
    assert row["work"]["errors"] == {}
    assert len(row["servers"]["members"]) == 2
    assert not {"before_status", "after_status"} & row.keys()
    assert row["metrics"]["measurements"] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("recordcount = 100", "workingSetRatio = 0.5"), "the size of WiredTiger's cache"),
        (
            ("[[", 'readPreference = { mode = "secondary" }\n[['),
            "a mongos does not report whether the other members",
        ),
    ],
)
def test_what_a_mongos_cannot_tell_is_refused(change, said, replica_set, crew, tmp_path):
    text = MIX + RECORD
    with routed(replica_set.uri) as uri, pytest.raises(TargetError, match=said) as caught:
        row_of(uri, crew, tmp_path, text.replace(*change))
    assert "the mongod of a replica set" in caught.value.hint


INSERTS = """\
name = "tiny"
title = "A few documents"
workload = "insert"

[parameters]
database = "mongo_tables_tiny"
collection = "inserts"
numberOfThreads = 4
totalDocsToInsert = 400
docSizeKB = 1.0
writeBatchSize = 10
idType = "SEQUENCE"

[[variants]]
"""
HASHED = 'shardKey = { _id = "hashed" }\npresplit = 8\nbalancer = "off"\n'
MANY = "totalDocsToInsert = 4000\n"
RANGED = "shardKey = { _id = 1 }\npresplit = [100, 200, 300]\n"
UNTIL_ALL = 60.0
"""Seconds within which a slow machine, too, inserts all documents; the window closes when a connection has none left."""


def sharded_row(cluster, variant, crew, folder, replica_set, mongos=2, **options):
    with routed(replica_set.uri, mongos, cluster) as uri:
        return row_of(uri, crew, folder, INSERTS + variant, **options)


@pytest.mark.parametrize(
    ("variant", "key", "chunks"),
    [
        (HASHED, [{"field": "_id", "kind": "hashed"}], [4, 4]),
        (RANGED, [{"field": "_id", "kind": "range"}], [2, 2]),
    ],
    ids=["hashed", "ranged"],
)
def test_a_row_says_how_its_collection_was_sharded_and_what_each_shard_has(
    variant, key, chunks, replica_set, crew, tmp_path
):
    cluster = Cluster()
    row = sharded_row(cluster, variant, crew, tmp_path, replica_set, seconds=UNTIL_ALL)
    told = row["sharding"]
    assert told["shard_key"] == key
    assert [one["chunks"] for one in told["shards"]] == chunks
    # When the window closes, the other three connections may have some left to do.
    first, second = (one["documents"] for one in told["shards"])
    assert row["work"]["documents"] / 2 <= first == second <= 200
    assert all(one["writes"] > 0 for one in told["shards"])
    assert told["chunks_moved"] == 0
    assert told["balancer"] == ("off" if variant == HASHED else "on")
    assert not any(shard["_id"] in str(told) for shard in SHARDS)


def test_connections_are_spread_over_all_mongos_alike(replica_set, crew, tmp_path):
    cluster = Cluster()
    row = sharded_row(cluster, MANY + HASHED, crew, tmp_path, replica_set, mongos=2)
    assert row["work"]["errors"] == {}
    assert sorted(Counter(mongos for mongos, _ in cluster.inserts).values()) == [2, 2]


def test_chunks_that_the_balancer_moves_in_a_window_are_told(replica_set, crew, tmp_path):
    moving = Cluster(balances=True)
    many = RANGED.replace("[100, 200, 300]", str([*range(10, 200, 10)]))
    row = sharded_row(moving, many, crew, tmp_path, replica_set)
    assert row["sharding"]["balancer"] == "on"
    assert 1 <= row["sharding"]["chunks_moved"] <= 4
    still = sharded_row(Cluster(balances=True), HASHED, crew, tmp_path, replica_set)
    assert (still["sharding"]["balancer"], still["sharding"]["chunks_moved"]) == ("off", 0)


def test_a_shard_that_cannot_be_reached_ends_the_run_in_a_line(replica_set, crew, tmp_path):
    with pytest.raises(
        (TargetError, WorkFailed), match="Could not find host matching read preference"
    ) as caught:
        sharded_row(Cluster(loses_after=10), HASHED, crew, tmp_path, replica_set)
    assert "\n" not in caught.value.message


def test_a_replica_set_cannot_shard(replica_set, crew, tmp_path):
    with pytest.raises(TargetError, match="the target has no shards"):
        row_of(replica_set.uri, crew, tmp_path, INSERTS + HASHED)
    experiment = experiments.load("insert_shardkey")
    found = obstacle(experiment, OPTIONS, LocalTarget(), FileStore(tmp_path))
    assert found is not None
    assert "a local target has no shards" in found[0]


@pytest.fixture(scope="module")
def cluster():
    """Shards and a config server that are started as such."""
    with sharded() as running:
        yield running


@pytest.mark.parametrize(
    ("variant", "chunks", "documents"),
    [(HASHED, 8, None), (RANGED, 4, [200, 200]), ("shardKey = { _id = 1 }\n", 1, [400])],
    ids=["hashed", "presplit", "ranged"],
)
def test_what_a_row_says_of_each_shard_is_what_the_server_of_that_shard_has(
    variant, chunks, documents, cluster, crew, tmp_path
):
    cluster.inserts.clear()
    with routed_to(cluster) as uri:
        row = row_of(uri, crew, tmp_path, INSERTS + variant, seconds=UNTIL_ALL)
    told = row["sharding"]
    found = [one["documents"] for one in told["shards"]]
    sent = [cluster.inserts[name] for name in cluster.shards if cluster.inserts[name]]
    assert sent == (documents or sent)
    assert sum(sent) == 400
    # When the window closes, what was inserted before it is there too, and what other connections have left to do is not.
    assert 0 < row["work"]["documents"] <= sum(found) <= 400
    assert all(0 < one <= most for one, most in zip(found, sent, strict=True))
    assert sum(one["chunks"] for one in told["shards"]) == chunks
    assert all(one["bytes"] > 1000 * one["documents"] for one in told["shards"])
    assert all(0 < one["writes"] <= 40 for one in told["shards"])
    assert row["work"]["errors"] == {}


def test_a_key_that_the_cluster_refuses_is_told_in_a_line(cluster, crew, tmp_path):
    twice = 'shardKey = { _id = "hashed", intfield1 = "hashed" }\n'
    with (
        routed_to(cluster) as uri,
        pytest.raises(
            TargetError, match=r"cannot be sharded by .*one index field is allowed to be"
        ) as caught,
    ):
        row_of(uri, crew, tmp_path, INSERTS + twice)
    assert "\n" not in caught.value.message
    assert "clusterManager" in caught.value.hint


def test_a_mongos_that_does_not_answer_ends_the_run_and_is_named_in_a_line(cluster, crew, tmp_path):
    with routed_to(cluster) as uri, pytest.raises((TargetError, WorkFailed)) as caught:
        asked = f"{uri.rstrip('/')},localhost:1/?serverSelectionTimeoutMS=500"
        row_of(asked, crew, tmp_path, INSERTS + HASHED)
    assert caught.value.message.endswith(
        "a mongos does not answer: localhost:1: [Errno 111] Connection refused"
    )


@pytest.mark.thorough
def test_a_shard_whose_server_ends_in_a_window_ends_the_run_in_a_line(crew, tmp_path):
    many = "totalDocsToInsert = 200_000\n"
    with sharded() as running, routed_to(running) as uri:

        def end_when_both_work():
            while len(running.inserts) < 2:
                time.sleep(0.005)
            running.end("second")

        ending = Thread(target=end_when_both_work, daemon=True)
        ending.start()
        with pytest.raises(
            (TargetError, WorkFailed), match="Could not find host matching read preference"
        ) as caught:
            row_of(uri, crew, tmp_path, INSERTS + many + HASHED)
        ending.join()
    assert "\n" not in caught.value.message


@pytest.mark.thorough
def test_many_load_machines_insert_into_all_shards_and_the_row_tells_of_both(cluster, tmp_path, capsys):
    file = tmp_path / "tiny.toml"
    file.write_text(INSERTS + HASHED, encoding="utf-8")
    with routed_to(cluster) as uri:
        asked = [str(file), "--target", uri, "--load-machines", "local:2", "--processes", "1"]
        assert main(["run", *asked, "--repeats", "1", "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "tiny: 1 rows\n"
    (row,) = FileStore(tmp_path).rows("tiny")
    check_document("result", row)
    assert [one["connections"] for one in row["client"]["machines"]] == [2, 2]
    assert all(one["operations_per_second"] > 0 for one in row["client"]["machines"])
    assert [one["chunks"] for one in row["sharding"]["shards"]] == [4, 4]
    assert all(one["writes"] > 0 for one in row["sharding"]["shards"])
    assert row["work"]["errors"] == {}


PAGE = Path(__file__).parents[2] / "docs/experiments/insert-shardkey.md"


def test_the_page_of_the_experiment_is_filled_by_a_run_on_a_cluster(cluster, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(PAGE.parents[2])
    with routed_to(cluster) as uri:
        asked = ["--target", uri, "--scale", "0.0004", "--repeats", "1", "--output", str(tmp_path)]
        assert main(["run", "insert_shardkey", *asked]) == 0
    assert capsys.readouterr().out == "insert_shardkey: 3 rows\n"
    assert main(["render", str(PAGE), "--results", str(tmp_path)]) == 0
    page = capsys.readouterr().out
    assert "Not measured here" not in page.partition("# Results")[2]
    spread = {cells[0]: cells[1:] for cells in table(page, "Documents on the fullest shard (%)")}
    assert list(spread) == ["ascending keys, hashed", "ascending keys, ranged", "random keys, hashed"]
    assert spread["ascending keys, ranged"] == ["1", "1", "100", "100", "0"]
    for name in ("ascending keys, hashed", "random keys, hashed"):
        shards, chunks, fullest, busiest, moved = spread[name]
        assert (shards, chunks, moved) == ("2", "64", "0")
        assert 50 <= int(fullest) < 60
        assert 50 <= int(busiest) < 60
    assert len(table(page, "Written from the cache (MiB)")) == 5
    assert [cells[0] for cells in table(page, "Compared with ascending keys, hashed")] == list(spread)


def table(page, header):
    """The rows of the table that has the header, each as its cells."""
    lines = iter(page.splitlines())
    next(line for line in lines if line.startswith("|") and header in line)
    rows = takewhile(lambda line: line.startswith("|"), islice(lines, 1, None))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
