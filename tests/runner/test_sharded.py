"""A sharded cluster is reached through its mongos: rows say what that knows, and what it cannot tell is refused.

No mongos can be had here: a stand-in says of itself what one says, and passes the rest on to a replica set.
"""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from preprocessor.commands.run.lookingat import list_findings
from preprocessor.runner import experiment as experiments
from preprocessor.runner.errors import TargetError
from preprocessor.runner.execution import open_run
from preprocessor.runner.progress import Progress
from preprocessor.runner.resultcheck import check_result
from preprocessor.runner.servers import GIVEN
from preprocessor.runner.store import FileStore
from preprocessor.runner.target import UriTarget
from tests.runner.measured import measure
from tests.runner.router import routed
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
