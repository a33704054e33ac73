"""What a connection string or an experiment asks for is done or refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from mongo_tables.commands.run.targets import OpenedTarget, share_out
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.named_targets import ALONE
from mongo_tables.runner.options import Options
from mongo_tables.runner.request_options import (
    HONOURED,
    WITHOUT_EFFECT,
    check_options,
    conflict,
    request_options,
)
from mongo_tables.runner.target import open_target

REFUSED = {
    "compressors": ["zlib"], "enableOverloadRetargeting": True, "loadBalanced": True, "maxAdaptiveRetries": 1, "timeoutMS": 0.1,
}  # fmt: skip


def given(options):
    """The options of a connection string that has these."""
    return open_target(f"mongodb://localhost/?{options}").given


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_prepared_messages_do_not_carry_is_refused_and_the_driver_does_it(name):
    asked = {name.lower(): REFUSED[name]}  # PyMongo gives some of them so
    with pytest.raises(TargetError, match=name):
        check_options(asked, "wire")
    check_options(asked, "pymongo")


@pytest.mark.parametrize("kind", ["wire", "pymongo"])
def test_a_read_is_sent_again_by_no_client_so_that_is_refused_and_its_opposite_is_not(kind):
    with pytest.raises(TargetError, match="retryReads"):
        check_options(given("retryReads=true"), kind)
    check_options(given("retryReads=false"), kind)


def test_an_option_that_a_later_driver_has_is_refused_until_somebody_has_looked_at_it():
    with pytest.raises(TargetError, match="quantumLinks"):
        check_options({"quantumLinks": 3}, "wire")


def test_what_is_switched_off_asks_for_nothing():
    check_options(given("loadBalanced=false&timeoutMS=0&retryReads=false"), "wire")


def test_what_is_honoured_and_what_means_nothing_to_a_run_is_not_refused():
    check_options(dict.fromkeys((*HONOURED, *WITHOUT_EFFECT), "set"), "wire")


@pytest.mark.parametrize("leave_out", [False, True])
def test_a_run_is_refused_before_anything_is_asked_of_the_deployment(leave_out):
    options = Options(scale=1.0, seconds=None, repeats=None, seed=1, client="wire")
    place = OpenedTarget(ALONE, open_target("mongodb://localhost/?compressors=zlib"))
    with pytest.raises(TargetError, match="compressors"):
        share_out([], options, [place], SimpleNamespace(), leave_out=leave_out)


def test_the_page_of_targets_names_every_option_and_what_becomes_of_it():
    page = (Path(__file__).parents[2] / "docs" / "targets.md").read_text(encoding="utf-8")
    names = {*HONOURED, *WITHOUT_EFFECT, *REFUSED, "retryReads"}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


@pytest.mark.parametrize("kind", ["wire", "pymongo"])
def test_what_every_client_does_is_not_refused(kind):
    asked = "readPreference=secondary&readPreferenceTags=use:reports&readConcernLevel=majority&w=1&retryWrites=false"
    check_options(given(asked), kind)
    with MongoClient(f"mongodb://localhost/?{asked}", connect=False) as client:
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
