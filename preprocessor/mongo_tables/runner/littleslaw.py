"""Little's law: throughput times mean latency is the number of requests in flight.

In a closed loop each connection has one request in flight all the time, so that the product should be the number of
connections (J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9(3), 1961). Less means
that connections spent time outside their requests; figures that give more contradict each other.

It says nothing of work at a given rate, in which connections wait on purpose, nor of requests that nobody answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.runner.load import Outcome
from mongo_tables.runner.workloads import workload

NOTABLE = 0.05
"""A difference from 1 that is worth a word."""


def check_window(
    outcome: Outcome, name: str, rates: Sequence[float], connections: int
) -> dict[str, Any] | None:
    """What ``check`` finds in a window of the workload ``name``; None where the law says nothing of it."""
    if rates or workload(name).paces_itself or not outcome.options.acknowledges:
        return None
    return check(outcome.window.busy / 1e9, outcome.seconds, connections)


def check(spent: float, seconds: float, connections: int) -> dict[str, Any]:
    """``concurrency`` by the law, the ``expected`` connections, and the ``ratio`` of the two.

    ``spent`` are the seconds that connections spent in requests in a window of ``seconds``: the number of requests
    times their mean latency, each counted with the part of its time that lies inside.
    """
    concurrency = spent / seconds
    return {"concurrency": concurrency, "expected": connections, "ratio": concurrency / connections}


def remark(found: Mapping[str, Any]) -> str:
    """A few words when the ratio is off by more than ``NOTABLE``, else nothing."""
    if abs(found["ratio"] - 1) <= NOTABLE:
        return ""
    return f"{found['concurrency']:.1f} of {found['expected']} connections in a request on average"
