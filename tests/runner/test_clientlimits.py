"""A client that was the limit of a window is told of on the terminal, in words that its reader knows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mongo_tables.runner import windows
from mongo_tables.runner.meter import Lag

CONFIG = {"operationsPerSecond": 100, "numberOfThreads": 1}
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
        lag=lag,
        paced=SimpleNamespace(service={}),
        keeps_speed="yes",
    )
    return SimpleNamespace(outcome=outcome, change=None, sharding={})


@pytest.mark.parametrize(
    ("cpu_seconds", "lag", "reason"),
    [
        (0.93, Lag(), "a process of it used 93% of a processor"),
        (0.2, Lag(in_run_queue=6_000_000), "requests waited for a processor for 60 of 1,000 µs"),
        (0.2, Lag(unread=800_000, sampled=10), "answers waited to be read for 80 of 1,000 µs"),
    ],
)
def test_a_client_that_was_the_limit_is_told_of_with_the_reason(cpu_seconds, lag, reason):
    said = list(windows._doubts(RUN, window(cpu_seconds, lag), CONFIG))
    assert said == [f"the client was the limit: {reason}"]


def test_of_a_client_that_was_no_limit_nothing_is_said():
    assert list(windows._doubts(RUN, window(0.2, Lag()), CONFIG)) == []
