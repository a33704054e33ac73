"""What casts doubt on the figures of a window is told of.

A client that was the limit of a window is told of on the terminal, in words that its reader knows.

Throughput and latency say how many requests are in flight.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mongo_tables.runner import windows
from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.outcome import check_window, remark_on_law
from mongo_tables.runner.window import Inside, Lag, Usage

CONFIG = {"workload": "query", "operationsPerSecond": 100, "numberOfThreads": 1}
RUN = SimpleNamespace(
    options=SimpleNamespace(rates_of=lambda config: (100.0,)),
    scaled=SimpleNamespace(workload="query"),
    target=SimpleNamespace(cache_shrunk=None),
)


def window(cpu_seconds, lag):
    """A window of a second with a hundred requests of a millisecond."""
    outcome = SimpleNamespace(
        seconds=1.0,
        process_cpu_seconds=(0.1, cpu_seconds),
        latencies={1000: 100},
        usage=Usage(lag=lag),
        service={},
        keeps_speed="yes",
    )
    return SimpleNamespace(outcome=outcome, change=None, sharding={})


@pytest.mark.parametrize(
    ("cpu_seconds", "lag", "reason"),
    [
        (0.93, Lag(), "one of its processes used 93% of a processor"),
        (0.2, Lag(in_run_queue=6_000_000), "requests waited for a processor for 60 of 1,000 µs"),
        (0.2, Lag(unread=800_000, sampled=10), "answers waited to be read for 80 of 1,000 µs"),
    ],
)
def test_a_client_that_was_the_limit_is_told_of_with_the_reason(cpu_seconds, lag, reason):
    said = list(windows._doubts(RUN, window(cpu_seconds, lag), CONFIG))
    assert said == [f"the client was the limit: {reason}"]


def test_of_a_client_that_was_no_limit_nothing_is_said():
    assert list(windows._doubts(RUN, window(0.2, Lag()), CONFIG)) == []


def window_of(busy=9.4, **options):
    """A second in which connections spent so many seconds in requests."""
    options = RequestOptions(write_concern=options)
    return SimpleNamespace(inside=Inside(busy=busy * 1e9), seconds=1.0, options=options)


def law_of(busy):
    return check_window(window_of(busy, w=1), "query", (), 10)


def test_connections_that_are_always_in_a_request_are_all_in_flight():
    found = law_of(10.0)
    assert found == {"concurrency": pytest.approx(10), "expected": 10, "ratio": pytest.approx(1)}
    assert remark_on_law(found) == ""


def test_a_difference_is_said_in_either_direction():
    assert remark_on_law(law_of(9.4)) == "9.4 of 10 connections had a request in flight on average"
    assert remark_on_law(law_of(10.6)) == "10.6 of 10 connections had a request in flight on average"
    assert remark_on_law(law_of(9.6)) == ""


@pytest.mark.parametrize("name", ["insert", "update", "query"])
def test_it_holds_for_work_by_amount_as_for_work_by_time(name):
    found = check_window(window_of(w="majority"), name, (), 10)
    assert found == {"concurrency": pytest.approx(9.4), "expected": 10, "ratio": pytest.approx(0.94)}


def test_it_says_nothing_of_work_in_which_connections_wait_on_purpose_nor_of_what_nobody_answers():
    assert check_window(window_of(w=1), "insert", (100.0,), 10) is None
    assert check_window(window_of(w=1), "event_reports", (), 10) is None
    assert check_window(window_of(w=0), "insert", (), 10) is None
