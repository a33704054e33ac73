"""Counters are subtracted of one process of one server alone."""

from __future__ import annotations

from mongo_tables.runner.servers import ServerProcess, describe_change, is_one_process, process_of

FIRST = ServerProcess("a:1", 7, 60_000)
LATER = ServerProcess("a:1", 7, 90_000)
OTHER = ServerProcess("b:1", 7, 99_000)


def test_a_process_is_known_by_its_server_its_number_and_its_age():
    assert process_of({"host": "a:1", "pid": 7, "uptimeMillis": 60_000, "uptime": 60.0}) == FIRST
    assert is_one_process(FIRST, LATER)
    assert is_one_process(FIRST, FIRST)
    assert not is_one_process(LATER, FIRST)
    assert not is_one_process(FIRST, LATER._replace(pid=8))
    assert not is_one_process(FIRST, OTHER)


def test_an_answer_that_came_late_is_no_other_process():
    assert is_one_process(FIRST, FIRST._replace(uptime=59_000))


def test_where_nobody_may_ask_nothing_is_said_of_a_change():
    assert process_of({}) is None
    assert is_one_process(None, FIRST)
    assert describe_change(None, None, [None, None]) is None


def test_a_primary_that_was_another_for_a_while_is_told_without_the_names_of_machines():
    assert describe_change(FIRST, LATER, [FIRST, LATER]) is None
    said = describe_change(FIRST, LATER, [FIRST, OTHER, LATER])
    assert said == "another server was the primary in a part of the window"
