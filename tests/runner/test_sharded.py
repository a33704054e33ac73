"""A sharded cluster is reached through its mongos: rows say what that knows, and what it cannot tell is refused.

No mongos can be had here: a stand-in says of itself what one says, and passes the rest on to a replica set.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

import pytest

from preprocessor.commands.run.lookingat import list_findings
from preprocessor.runner import experiment as experiments
from preprocessor.runner.errors import TargetError, WorkFailed
from preprocessor.runner.execution import obstacle, open_run
from preprocessor.runner.progress import Progress
from preprocessor.runner.resultcheck import check_result
from preprocessor.runner.servers import GIVEN
from preprocessor.runner.store import FileStore
from preprocessor.runner.target import LocalTarget, UriTarget
from tests.runner.measured import measure
from tests.runner.router import SHARDS, Cluster, routed
from tests.runner.test_execution import DATABASE, OPTIONS, RECORDS

MIX = RECORDS.replace("updateproportion = 0.0", "updateproportion = 0.5")
RECORD = "[[variants]]\nrecordcount = 100\nreadproportion = 0.5\n"


def row_of(uri, crew, folder, text=MIX + RECORD, **options):
    store = FileStore(folder)
    experiment = experiments.read(text.encode(), "tiny.toml")
    asked = replace(OPTIONS, **options)
    measure([open_run(experiment, asked, UriTarget(uri), crew, Progress(io.StringIO()))], store)
    (row,) = store.rows("tiny")
    check_result(row)
    return row


@pytest.mark.parametrize("client", ["wire", "pymongo"])
def test_a_row_says_what_a_mongos_knows_and_nothing_of_machines_that_it_does_not_see(
    client, replica_set, crew, tmp_path
):
    with routed(replica_set.uri) as uri:
        row = row_of(uri, crew, tmp_path, client=client)
    assert row["topology"] == {"kind": "sharded cluster", "shards": 2, "place": GIVEN}
    assert [one["role"] for one in row["servers"]["members"]] == ["mongos"]
    assert {one["what"] for one in row["servers"]["not_known"]} == {"the cache", "systemMetrics"}
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
        (("[[", 'readPreference = { mode = "secondary" }\n[['), "reads elsewhere than from the primary"),
    ],
)
def test_what_a_mongos_cannot_tell_is_refused(change, said, replica_set, crew, tmp_path):
    text = MIX + RECORD
    with routed(replica_set.uri) as uri, pytest.raises(TargetError, match=said) as caught:
        row_of(uri, crew, tmp_path, text.replace(*change))
    assert "the mongod of a replica set" in caught.value.hint


def test_a_dry_run_says_that_it_is_a_sharded_cluster(replica_set):
    with routed(replica_set.uri) as uri:
        assert "sharded cluster" in list(list_findings(uri, [DATABASE]))[1].text


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
    row = sharded_row(cluster, variant, crew, tmp_path, replica_set)
    told = row["sharding"]
    assert told["shard_key"] == key
    assert [one["chunks"] for one in told["shards"]] == chunks
    assert [one["documents"] for one in told["shards"]] == [200, 200]
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


def test_a_key_that_the_cluster_refuses_is_told_in_a_line(replica_set, crew, tmp_path):
    wrong = HASHED.replace("{ _id", "{ intfield1 = 1, _id")
    with pytest.raises(
        TargetError, match=r"cannot be sharded by .*numInitialChunks is only supported"
    ) as caught:
        sharded_row(Cluster(), wrong, crew, tmp_path, replica_set)
    assert "clusterManager" in caught.value.hint


def test_a_replica_set_cannot_shard(replica_set, crew, tmp_path):
    with pytest.raises(TargetError, match="the target has no shards"):
        row_of(replica_set.uri, crew, tmp_path, INSERTS + HASHED)
    experiment = experiments.load("insert_shardkey")
    found = obstacle(experiment, OPTIONS, LocalTarget(), FileStore(tmp_path))
    assert found is not None
    assert "a local target has no shards" in found[0]
