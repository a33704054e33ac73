"""A product that answers MongoDB's messages is a target where the workload allows, and rows name it.

None is to be had here: a stand-in says of itself what one says, lacks the commands that it lacks, and passes the work
on to MongoDB.
"""

from __future__ import annotations

import pytest

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.host import product_of
from tests.runner.router import Foreign, routed
from tests.runner.test_sharded import INSERTS, MIX, RECORD, row_of


@pytest.mark.parametrize("text", [MIX + RECORD, INSERTS], ids=["records", "inserts"])
def test_a_row_names_it_and_says_what_it_does_not_know(text, replica_set, crew, tmp_path):
    with routed(replica_set.uri, cluster=Foreign()) as uri:
        row = row_of(uri, crew, tmp_path, text)
    assert row["versions"]["product"] == "FerretDB 2.5.0"
    assert row["versions"]["server"] == "7.0.77"
    assert row["work"]["errors"] == {}
    assert row["work"]["operations"] > 0
    assert row["topology"]["kind"] == "single server"
    assert row["before_status"]["process"] == "ferretdb"
    assert "secret.example" not in str(row)
    assert (row["client"]["sessions"], row["client"]["retryable_writes"]) == (False, False)
    assert {"hostInfo", "getDiagnosticData", "the cache"} <= {
        one["what"] for one in row["servers"]["not_known"]
    }
    assert list(row["collection_stats"]) == ["count"]
    # Time may end the window of a machine that is busy before everything is inserted.
    assert 0 < row["collection_stats"]["count"] <= (400 if text == INSERTS else 100)
    assert row["checks"]["settled"] is False


def test_what_needs_the_cache_of_mongodb_is_refused(replica_set, crew, tmp_path):
    text = (MIX + RECORD).replace("recordcount = 100", "workingSetRatio = 0.5")
    with (
        routed(replica_set.uri, cluster=Foreign()) as uri,
        pytest.raises(TargetError, match="the size of WiredTiger's cache"),
    ):
        row_of(uri, crew, tmp_path, text)


@pytest.mark.parametrize(
    ("says", "product"),
    [
        ({"version": "6.0.5", "modules": [], "storageEngines": ["wiredTiger"]}, ""),
        ({"version": "7.0.42", "ferretdbVersion": "v1.24.0"}, "FerretDB 1.24.0"),
        ({"version": "5.0.0"}, "not MongoDB"),
    ],
)
def test_who_answers_is_known_by_what_it_says_of_its_build(says, product):
    assert product_of(says) == product
