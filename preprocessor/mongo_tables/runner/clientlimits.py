"""Whether the client was the limit of a window, so that its figures are not the server's, and by what.

It is where a worker process used most of a processor, or where threads of the client waited for a processor, or answers
waited for being read, for a notable part of the latency.
"""

from __future__ import annotations

from mongo_tables.runner.load import Outcome
from mongo_tables.runner.series import mean

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
