"""What is told of a server that has ended."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mongo_tables.runner.local_set import demise


@pytest.fixture
def ended():
    """The id of a process that is no more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.fixture
def log(tmp_path):
    """The log of a member."""
    path = tmp_path / "servers" / "member-1" / "mongod.log"
    path.parent.mkdir(parents=True)
    return path


def test_while_all_run_there_is_nothing_to_tell(tmp_path):
    assert demise(tmp_path, [os.getpid()]) == ""


def test_the_first_error_of_the_log_is_told_in_a_line(log, ended):
    log.write_text(
        '{"s":"I","msg":"up"}\n{"s":"E","msg":"Bad","attr":{"why":"so\\nand so"}}\n{"s":"F","msg":"x"}\n'
    )
    told = demise(log.parents[1], [os.getpid(), ended])
    assert told.startswith("mongod ended: Bad ")
    assert "so and so" in told.replace("\\n", " ")
    assert "\n" not in told


def test_a_line_that_was_cut_off_is_told_as_it_is(log, ended):
    log.write_text('{"s":"F","msg":"half a li')
    assert demise(log.parents[1], [ended]) == 'mongod ended: {"s":"F","msg":"half a li'


def test_a_full_disk_is_told_as_one(log, ended):
    log.write_text('{"s":"E","msg":"WiredTiger error","attr":{"message":"No space left on device"}}\n')
    assert "there is no space left on the disk of" in demise(log.parents[1], [ended])


def test_a_server_whose_files_are_gone_has_ended_all_the_same(tmp_path, ended):
    assert demise(tmp_path / "gone", [ended]) == "mongod ended, and its files are gone"


def test_errors_of_a_server_that_had_no_time_to_say_why_it_ended_are_not_the_reason(log, ended):
    log.write_text('{"s":"E","msg":"Failed to handle request"}\n{"s":"I","msg":"and on it goes"}\n')
    assert demise(log.parents[1], [ended]).startswith("mongod was killed")


def test_a_server_that_shut_down_is_told_with_its_error(log, ended):
    log.write_text('{"s":"E","msg":"Error setting up listener"}\n{"s":"I","msg":"Shutting down","attr":{}}\n')
    assert demise(log.parents[1], [ended]) == "mongod ended: Error setting up listener"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('{"s":"I","msg":"up"}\n{"s":"F","msg":"Bad start","attr":{}}\ntry --help\n', "Bad start"),
        ('{"s":"I","msg":"up"}\n\nBadValue: not a number\ntry --help\n', "BadValue: not a number"),
        ("", "it said nothing"),
    ],
)
def test_a_server_that_ended_before_it_had_a_log_is_quoted(tmp_path, ended, said, told):
    (tmp_path / "output").write_text(said, encoding="utf-8")
    assert demise(tmp_path, [ended]) == f"mongod ended: {told}"
