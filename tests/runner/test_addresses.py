"""A connection string that cannot be used is told in a line, and nothing of its password is."""

from __future__ import annotations

import pytest

from preprocessor.runner import experiment as experiments
from preprocessor.runner.errors import RunnerError
from preprocessor.runner.store import open_store
from preprocessor.runner.target import open_target


@pytest.mark.parametrize("opened", [open_target, open_store])
@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("mongodb://me:s3cr/Xq7Zk@host/db", "names no database"),
        ("mongodb://me:Xq7Zk@@host/", "must be escaped"),
        ("mongodb://me:Xq7Zk@host:99999/", "Port must be an integer"),
        ("mongodb://me:Xq7Zk@host/?w=-1", "must be a non negative"),
        ("mongodb://me:Xq7Zk@host/?tls=true&tlsCAFile=/nowhere", "No such file"),
    ],
)
def test_a_string_that_the_driver_refuses_is_told_without_its_secret(opened, uri, told):
    with pytest.raises(RunnerError, match=told) as caught:
        opened(uri)
    assert "no usable connection string" in caught.value.message
    assert "Xq7Zk" not in caught.value.message
    assert "percent-encode" in caught.value.hint


@pytest.mark.parametrize("opened", [open_target, open_store, experiments.load])
@pytest.mark.parametrize("slip", ["mongodb:/", "Mongodb://", "mongdb://"])
def test_a_string_with_a_slip_in_it_is_told_without_its_secret(opened, slip):
    with pytest.raises(RunnerError) as caught:
        opened(f"{slip}me:Xq7Zk@host/db")
    assert "Xq7Zk" not in caught.value.message


def test_a_results_database_that_does_not_answer_is_told_in_a_line():
    store = open_store("mongodb://me:Xq7Zk@127.0.0.1:1/db", patience_ms=100)
    with pytest.raises(RunnerError, match="the results database: ServerSelectionTimeoutError") as caught:
        store.experiments()
    store.close()
    assert caught.value.message.endswith("Connection refused")
