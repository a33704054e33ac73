"""Checks that cast doubt on the figures of a window: the client as the bottleneck, and Little's law.

The client is the bottleneck if a worker process used most of a processor, or if client threads waited for a
processor, or answers waited to be read, for a notable part of the latency.

By Little's law throughput times mean latency is the number of requests in flight (J. D. C. Little, "A Proof for the
Queuing Formula: L = λW", Operations Research 9(3), 1961). In a closed loop each connection always has one request in
flight, so the product should be the number of connections. A smaller product means that connections spent time
outside their requests; a larger one means that the figures contradict each other. The law does not apply to work at a
given rate, where connections wait on purpose, nor to unacknowledged requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.runner.outcome import Outcome
from mongo_tables.runner.series import mean
from mongo_tables.runner.workloads import workload

OWN_SHARE = 0.05
"""If the client's own delay is a larger share of the mean latency, the row is client-bound."""
CLIENT_BOUND_SHARE = 0.85
"""The share of one core used by a worker process from which the interpreter lock may be the bottleneck."""


def busiest_share(outcome: Outcome) -> float:
    """Return the share of one processor that the busiest client process used."""
    return max(outcome.process_cpu_seconds) / outcome.seconds


def in_run_queue(outcome: Outcome) -> float:
    """Return the microseconds per request for which a client thread was runnable and did not run."""
    answered = outcome.paced.service or outcome.latencies  # with a rate, latencies include unsent requests
    return outcome.lag.in_run_queue / 1000 / max(1, sum(answered.values()))


def list_limits(outcome: Outcome, busiest: float) -> list[str]:
    """Return in which respects the client was the bottleneck; ``busiest`` is the share of its busiest process."""
    found = []
    if busiest >= CLIENT_BOUND_SHARE:
        found.append(f"a process of it used {busiest:.0%} of a processor")
    # With a rate, latencies include the backlog that a starved client causes itself.
    latency = mean(outcome.paced.service or outcome.latencies)
    delays = {
        "requests waited for a processor": in_run_queue(outcome),
        "answers waited to be read": outcome.lag.of_an_answer() or 0.0,
    }
    for what, own in delays.items():
        if latency is not None and own > OWN_SHARE * latency:
            found.append(f"{what} for {own:,.0f} of {latency:,.0f} µs")
    return found


def remark(outcome: Outcome) -> str:
    """Return a remark if the client was the bottleneck, else ""."""
    limits = list_limits(outcome, busiest_share(outcome))
    return f"the client was the limit: {', '.join(limits)}" if limits else ""


NOTABLE = 0.05
"""The difference from 1 that causes a remark."""


def check_window(
    outcome: Outcome, name: str, rates: Sequence[float], connections: int
) -> dict[str, Any] | None:
    """Return the result of ``check_law`` for a window of the workload ``name``, or None if the law does not apply."""
    if rates or workload(name).paces_itself or not outcome.options.acknowledges:
        return None
    return check_law(outcome.window.busy / 1e9, outcome.seconds, connections)


def check_law(spent: float, seconds: float, connections: int) -> dict[str, Any]:
    """Return the ``concurrency`` by the law, the ``expected`` connections, and the ``ratio`` of the two.

    ``spent`` is the number of seconds that connections spent in requests in a window of ``seconds``: the number of
    requests times their mean latency, each weighted with the part of its time inside the window.

    Example:
        >>> check_law(spent=95.0, seconds=10.0, connections=10)
        {'concurrency': 9.5, 'expected': 10, 'ratio': 0.95}
    """
    concurrency = spent / seconds
    return {"concurrency": concurrency, "expected": connections, "ratio": concurrency / connections}


def remark_on_law(found: Mapping[str, Any]) -> str:
    """Return a remark if the ratio is off by more than ``NOTABLE``, else ""."""
    if abs(found["ratio"] - 1) <= NOTABLE:
        return ""
    return f"{found['concurrency']:.1f} of {found['expected']} connections in a request on average"
