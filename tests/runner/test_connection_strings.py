"""A connection string that cannot be used is told in a line, and nothing of its password is."""

from __future__ import annotations

import pytest

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.blocks import Campaign, open_journal
from mongo_tables.runner.connection_strings import selection_ms
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import request
from mongo_tables.runner.store import FileStore, open_store
from mongo_tables.runner.target import open_target
from tests.runner.measured import call


@pytest.mark.parametrize("opened", [open_target, open_store])
@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("mongodb://me:s3cr/Xq7Zk@host/db", "is not the name of a database"),
        ("mongodb://me:Xq7Zk@@host/", "must be escaped"),
        ("mongodb://me:Xq7Zk@host:99999/", "Port must be an integer"),
        ("mongodb://me:Xq7Zk@host/?w=-1", "must be a non negative"),
        ("mongodb://me:Xq7Zk@host/?tls=true&tlsCAFile=/nowhere", r"\[Errno 2\]"),
    ],
)
def test_a_string_that_the_driver_refuses_is_told_without_its_secret(opened, uri, told):
    with pytest.raises(CommandError, match=told) as caught:
        opened(uri)
    assert "not a usable connection string" in caught.value.message
    assert "Xq7Zk" not in caught.value.message
    assert "percent-encode" in caught.value.hint


@pytest.mark.parametrize("opened", [open_target, open_store, experiments.load])
@pytest.mark.parametrize("slip", ["mongodb:/", "Mongodb://", "mongdb://"])
def test_a_string_with_a_slip_in_it_is_told_without_its_secret(opened, slip):
    with pytest.raises(CommandError) as caught:
        opened(f"{slip}me:Xq7Zk@host/db")
    assert "Xq7Zk" not in caught.value.message


def test_a_results_database_that_does_not_answer_is_told_in_a_line():
    store = open_store("mongodb://me:Xq7Zk@127.0.0.1:1/db", patience_ms=100)
    with pytest.raises(CommandError, match="no answer from mongodb://127") as caught:
        store.experiments()
    store.close()
    assert caught.value.message.lower().endswith("connection refused")


@pytest.mark.parametrize(
    ("uri", "waited"),
    [
        ("mongodb://me:pw@h/db?serverSelectionTimeoutMS=1000", 1000),
        ("mongodb+srv://h/?w=1&serverselectiontimeoutms=0", 0),
        ("mongodb://h/?w=1;serverSelectionTimeoutMS=7", 7),
        ("mongodb://h/?connectTimeoutMS=1000", 15_000),
        ("mongodb://serverSelectionTimeoutMS=9:pw@h", 15_000),
        ("mongodb://host/?serverSelectionTimeoutMS=1500.5", 1500),
    ],
)
def test_a_server_is_waited_for_as_long_as_the_connection_string_says_else_as_long_as_usual(uri, waited):
    assert selection_ms(uri, 15_000) == waited


def asked(uri):
    """What must be equal for a run on that deployment to be gone on with."""
    place = call(open_target(uri), "M30")
    options = Options(scale=1.0, seconds=None, repeats=None, seed=1)
    return request(experiments.load("query_full"), options, [str(place)])


FIRST = "mongodb://me:Xq7Zk@host/?w=1&readPreference=secondary&readPreferenceTags=dc:ny"
"""What is asked of a deployment the first time."""


@pytest.mark.parametrize(
    "uri",
    [
        FIRST.replace("w=1", "w=majority"),
        FIRST.replace("dc:ny", "dc:la"),
        FIRST.replace("secondary&", "secondaryPreferred&"),
        *(
            f"{FIRST}&{more}"
            for more in (
                "journal=true", "readConcernLevel=majority", "maxStalenessSeconds=120", "retryWrites=false", "tls=true",
                "socketTimeoutMS=1000", "directConnection=true",
            )
        ),
    ],
)  # fmt: skip
def test_a_run_is_not_gone_on_with_where_the_connection_string_asks_for_something_else(uri, tmp_path):
    store = FileStore(tmp_path)
    campaign = Campaign.new()
    open_journal(store, "query_full", asked(FIRST), False, campaign).keep_state()
    assert open_journal(store, "query_full", asked(f"{FIRST}&appName=another"), True, campaign).kept
    with pytest.raises(CommandError, match="differs in target"):
        open_journal(store, "query_full", asked(uri), True, campaign)


def test_what_a_run_keeps_of_a_connection_string_holds_no_secret():
    uri = f"{FIRST}&authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:Xq7Zk&appName=Xq7Zk"
    assert "Xq7Zk" not in str(asked(uri))
