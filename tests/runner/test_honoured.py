"""What a connection string or an experiment asks for is done or refused."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from preprocessor.runner.errors import TargetError
from preprocessor.runner.honoured import check_options, conflict
from preprocessor.runner.requestoptions import request_options


@pytest.mark.parametrize("option", ["compressors=zlib", "timeoutMS=100"])
def test_what_the_prepared_messages_do_not_carry_is_refused_and_the_driver_does_it(option):
    with MongoClient(f"mongodb://localhost/?{option}", connect=False) as client:
        with pytest.raises(TargetError, match=option.partition("=")[0]):
            check_options(client, "wire")
        check_options(client, "pymongo")


@pytest.mark.parametrize("kind", ["wire", "pymongo"])
def test_what_every_client_does_is_not_refused(kind):
    asked = "readPreference=secondary&readPreferenceTags=use:reports&readConcernLevel=majority&w=1&retryWrites=false"
    with MongoClient(f"mongodb://localhost/?{asked}", connect=False) as client:
        check_options(client, kind)
        options = request_options(client, {})
        assert options.read_preference == {"mode": "secondary", "tags": [{"use": "reports"}]}
        assert (options.read_concern, options.write_concern) == ({"level": "majority"}, {"w": 1})
        assert (options.reads_primary, options.retryable_writes) == (False, False)


def test_an_experiment_counts_before_the_connection_string_and_both_before_what_drivers_do():
    with MongoClient("mongodb://localhost/?readConcernLevel=majority&w=1", connect=False) as client:
        asked = {
            "readConcern": {"level": "local"},
            "writeConcern": {"w": 2},
            "readPreference": {"mode": "nearest"},
        }
        options = request_options(client, asked)
    assert (options.read_concern, options.write_concern) == ({"level": "local"}, {"w": 2})
    assert options.read_preference == {"mode": "nearest"}
    with MongoClient("mongodb://localhost/", connect=False) as client:
        usual = request_options(client, {})
    assert (usual.read_concern, usual.write_concern, usual.read_preference) == (
        {},
        {"w": "majority"},
        {"mode": "primary"},
    )


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        ({"session": False}, "pymongo", "PyMongo sends"),
        ({"session": False, "retryableWrites": True}, "wire", "in a session only"),
        ({"readPreference": {"mode": "primary", "tags": [{"use": "reports"}]}}, "wire", "cannot be combined"),
        ({"readPreference": {"mode": "often"}}, "wire", "readPreference"),
    ],
)
def test_what_cannot_be_sent_together_is_said_before_anything_is_done(asked, kind, said):
    assert said in conflict(asked, kind)[0]


def test_what_counts_the_time_without_service_is_refused_for_pymongo():
    assert "by itself" in conflict({}, "pymongo", "reconnect")[0]
    assert conflict({}, "wire", "reconnect") is None
    assert conflict({}, "pymongo", "stop") is None


def test_what_can_be_sent_is_no_conflict():
    assert conflict({}, "pymongo") is None
    assert conflict({"session": False, "retryableWrites": False}, "wire") is None
