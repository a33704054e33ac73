"""Throughput and latency say how many requests are in flight."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mongo_tables.runner.client_limits import check_law, check_window, remark_on_law
from mongo_tables.runner.request_options import RequestOptions
from mongo_tables.runner.window import Inside


def test_connections_that_are_always_in_a_request_are_all_in_flight():
    # Ten connections, each with 100 requests of 10 ms in a second.
    found = check_law(10.0, 1.0, 10)
    assert found == {"concurrency": pytest.approx(10), "expected": 10, "ratio": pytest.approx(1)}
    assert remark_on_law(found) == ""


def test_a_difference_is_said_in_either_direction():
    assert remark_on_law(check_law(9.4, 1.0, 10)) == "9.4 of 10 connections in a request on average"
    assert remark_on_law(check_law(21.2, 2.0, 10)) == "10.6 of 10 connections in a request on average"
    assert remark_on_law(check_law(9.6, 1.0, 10)) == ""


def window_of(**options):
    """A second in which ten connections spent 9.4 seconds in requests."""
    return SimpleNamespace(
        window=Inside(busy=9.4e9), seconds=1.0, options=RequestOptions(write_concern=options)
    )


@pytest.mark.parametrize("name", ["insert", "update", "query"])
def test_it_holds_for_work_by_amount_as_for_work_by_time(name):
    found = check_window(window_of(w="majority"), name, (), 10)
    assert found == {"concurrency": pytest.approx(9.4), "expected": 10, "ratio": pytest.approx(0.94)}


def test_it_says_nothing_of_work_in_which_connections_wait_on_purpose_nor_of_what_nobody_answers():
    assert check_window(window_of(w=1), "insert", (100.0,), 10) is None
    assert check_window(window_of(w=1), "event_reports", (), 10) is None
    assert check_window(window_of(w=0), "insert", (), 10) is None
