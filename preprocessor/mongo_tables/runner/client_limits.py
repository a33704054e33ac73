"""What casts doubt on the figures of a window: a client that was the limit, and Little's law.

The client is the limit where a worker process used most of a processor, or where threads of the client waited for a
processor, or answers waited for being read, for a notable part of the latency.

By Little's law throughput times mean latency is the number of requests in flight (J. D. C. Little, "A Proof for the
Queuing Formula: L = λW", Operations Research 9(3), 1961). In a closed loop each connection has one request in flight
all the time, so the product should be the number of connections. Less means that connections spent time outside their
requests; figures that give more contradict each other. The law says nothing of work at a given rate, in which
connections wait on purpose, nor of requests that nobody answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.runner.outcome import Outcome
from mongo_tables.runner.series import mean
from mongo_tables.runner.workloads import workload

OWN_SHARE = 0.05
"""A client whose own delay is a larger share of the mean latency than this makes a row client-bound."""
CLIENT_BOUND_SHARE = 0.85
"""Of one core, used by a worker process: from here on the interpreter lock may be what limits the run."""


def busiest_share(outcome: Outcome) -> float:
    """The part of one processor that the busiest process of the client used."""
    return max(outcome.process_cpu_seconds) / outcome.seconds


def in_run_queue(outcome: Outcome) -> float:
    """Microseconds for a request for which a thread of the client was ready to run and did not."""
    answered = outcome.paced.service or outcome.latencies  # with a rate, latencies have what was never sent
    return outcome.lag.in_run_queue / 1000 / max(1, sum(answered.values()))


def list_limits(outcome: Outcome, busiest: float) -> list[str]:
    """By what the client was the limit, in a few words each; ``busiest`` is the share of its busiest process."""
    found = []
    if busiest >= CLIENT_BOUND_SHARE:
        found.append(f"a process of it used {busiest:.0%} of a processor")
    # With a rate, latencies hold the backlog that a starved client makes itself.
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
    """A few words when the client was the limit, else nothing."""
    limits = list_limits(outcome, busiest_share(outcome))
    return f"the client was the limit: {', '.join(limits)}" if limits else ""


NOTABLE = 0.05
"""A difference from 1 that is worth a word."""


def check_window(
    outcome: Outcome, name: str, rates: Sequence[float], connections: int
) -> dict[str, Any] | None:
    """What ``check`` finds in a window of the workload ``name``; None where the law says nothing of it."""
    if rates or workload(name).paces_itself or not outcome.options.acknowledges:
        return None
    return check_law(outcome.window.busy / 1e9, outcome.seconds, connections)


def check_law(spent: float, seconds: float, connections: int) -> dict[str, Any]:
    """``concurrency`` by the law, the ``expected`` connections, and the ``ratio`` of the two.

    ``spent`` are the seconds that connections spent in requests in a window of ``seconds``: the number of requests
    times their mean latency, each counted with the part of its time that lies inside.
    """
    concurrency = spent / seconds
    return {"concurrency": concurrency, "expected": connections, "ratio": concurrency / connections}


def remark_on_law(found: Mapping[str, Any]) -> str:
    """A few words when the ratio is off by more than ``NOTABLE``, else nothing."""
    if abs(found["ratio"] - 1) <= NOTABLE:
        return ""
    return f"{found['concurrency']:.1f} of {found['expected']} connections in a request on average"
