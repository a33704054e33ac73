"""The total work of all workers, inside and outside the window, and checks of the window's figures.

The client is the bottleneck if a worker process uses most of a core (``CLIENT_BOUND_SHARE``), or if one of two delays
exceeds ``OWN_SHARE`` of the mean latency: the time for which a client thread waits for a core, or the time for which an
answer waits to be read.

By Little's law throughput times mean latency is the number of requests in flight (J. D. C. Little, "A Proof for the
Queuing Formula: L = λW", Operations Research 9(3), 1961). In a closed loop each connection always has one request in
flight, so the product should be the number of connections. A smaller product means that connections spent time
outside their requests; a larger one means that the figures contradict each other. The law is not checked for work at a
given rate, where connections wait on purpose, nor for unacknowledged requests.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.driving import UNSENT, ConnectionStats, Failures, add_up
from mongo_tables.runner.series import Counts, IntervalSeries, add_counts, mean, merge
from mongo_tables.runner.warmup import NONE, Lead, Steady, WarmUp, judge, speeds_within
from mongo_tables.runner.window import NEVER, Board, Inside
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload


@dataclass(slots=True, kw_only=True)
class Outcome(ConnectionStats):
    """The statistics of all workers, with derived figures, for a window of ``seconds`` that opened at ``opened_at``.

    If the window is all of the work, the counts of the window include all of the work. ``warmup`` describes the time
    before the window. ``steady`` says whether all connections had work throughout the window, ``keeps_speed`` whether
    the speed was constant in the window. ``latencies`` counts requests by buckets of microseconds; with a rate, it
    includes unsent requests by their age. ``latencies_by_kind`` counts the answered requests of each kind. With a rate,
    ``service`` counts requests by the time from sending to answer. ``all_errors`` also counts failed requests before
    and after the window. ``process_cpu_seconds`` has the CPU seconds of each worker process in the window.
    ``process_first_late`` has, for each process, the seconds by which the first requests of its connections were late.
    ``machines`` describes the load machines as a row does, or is empty if this machine generates the load.
    """

    options: RequestOptions
    seconds: float
    opened_at: datetime
    warmup: WarmUp
    steady: bool
    keeps_speed: Steady
    all_errors: dict[str, int]
    service: dict[int, int]
    latencies: dict[int, int]
    latencies_by_kind: dict[str, dict[int, int]]
    process_cpu_seconds: tuple[float, ...]
    process_first_late: tuple[tuple[float, ...], ...]
    machines: tuple[Mapping[str, Any], ...] = ()

    @property
    def errors(self) -> dict[str, int]:
        """Return the number of failed requests by the name of the error."""
        return self.failures.counts()


def sum_up(tallies: Sequence[ConnectionStats], start: float, board: Board, lead: Lead, load: Load) -> Outcome:
    """Return the outcome of a window from the processes' statistics. The load began at ``start`` (monotonic clock).

    If the work ends after an amount, and its steady part has fewer requests than there are connections, the window is
    all of the work.
    """
    total = add_up(tallies)
    total.series, every = IntervalSeries(total.series.width), Failures()
    for one in (total.failures, total.failures_apart):
        add_counts(every, one)
    no_part = board.opens >= board.closes or total.inside.requests < load.connections
    is_whole = load.is_whole or (load.has_steady_part and no_part)
    for other in (*(one.series for one in tallies), *(one.apart for one in tallies if is_whole)):
        total.series.merge(other)
    by_kind = deepcopy(total.series.latencies)
    if is_whole:
        add_counts(total.sendings, total.sendings_apart)
        merge(by_kind, {UNSENT: total.late.get(UNSENT, {})})
    else:
        merge(by_kind, total.late)
    latencies = _of_all_kinds(by_kind)
    by_kind.pop(UNSENT, None)
    service = _of_all_kinds(total.sendings.service)
    opens, ends = board.opens / 1e9, board.closes / 1e9
    usages = [one.whole_usage if is_whole else one.usage for one in tallies]
    if is_whole:
        opens, answered = start, _of_all_kinds(by_kind)
        busy = 1000 * sum(took * count for took, count in answered.items())
        total.inside = Inside(total.operations, total.documents, total.bytes, sum(answered.values()), busy)
        total.failures, total.usage, total.unfinished = every, total.whole_usage, 0
    if is_whole or board.closes == NEVER:
        ends = total.finished
    seconds = ends - opens
    steady: Steady = "unknown"
    if not is_whole:
        steady = _judge_speed(board, opens, seconds, total.series, service or latencies)
    total.in_one_thread = all(one.in_one_thread for one in tallies)
    options = tallies[0].options or RequestOptions()
    return Outcome(
        **{one.name: getattr(total, one.name) for one in fields(total)} | {"options": options},
        seconds=seconds,
        opened_at=datetime.now(UTC) + timedelta(seconds=opens - time.monotonic()),
        warmup=_warm_up(opens - start, lead, load, is_whole),
        steady=not is_whole,
        keeps_speed=steady,
        all_errors=every.counts(),
        service=service,
        latencies=latencies,
        latencies_by_kind=dict(sorted(by_kind.items())),
        process_cpu_seconds=tuple(one.cpu_seconds for one in usages),
        process_first_late=tuple(tuple(late / 1e9 for late in one.first_late) for one in tallies),
    )


def _warm_up(seconds: float, lead: Lead, load: Load, is_whole: bool) -> WarmUp:
    """Return the description of the time before the window."""
    if load.lead:
        return lead.describe(seconds)
    if load.has_steady_part and not is_whole:
        return WarmUp("first answer of each connection", seconds, None)
    return NONE


def _judge_speed(
    board: Board, opens: float, seconds: float, series: IntervalSeries, latencies: Mapping[int, int]
) -> Steady:
    """Return whether the speed was constant.

    ``latencies`` are measured from the moment of sending, so that they exclude the backlog of a rate that is too high.
    """
    since = opens * 1e9 - board.counted_from
    return judge(speeds_within(series, since, since + seconds * 1e9, 1000 * (mean(latencies) or 0.0)))


def _of_all_kinds(counts: Counts) -> dict[int, int]:
    total: Counts = {"": {}}
    for one in counts.values():
        merge(total, {"": one})
    return total[""]


def describe_lateness(first_late: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the delay of the latest connection and the delay of the process that began last, in seconds."""
    processes = [late for late in first_late if late]
    if not processes:
        return {}
    return {
        "latest_connection_seconds": max(map(max, processes)),
        "latest_process_seconds": max(map(min, processes)),
    }


OWN_SHARE = 0.05
"""If one of the client's own delays exceeds this share of the mean latency, the row is client-bound."""
CLIENT_BOUND_SHARE = 0.85
"""If a worker process uses this share of a core or more, the row is client-bound."""


def busiest_share(outcome: Outcome) -> float:
    """Return the share of one processor that the busiest client process used."""
    return max(outcome.process_cpu_seconds) / outcome.seconds


def in_run_queue(outcome: Outcome) -> float:
    """Return the microseconds per request for which a client thread was runnable but did not run."""
    answered = outcome.service or outcome.latencies  # with a rate, latencies include unsent requests
    return outcome.usage.lag.in_run_queue / 1000 / max(1, sum(answered.values()))


def list_limits(outcome: Outcome, busiest: float) -> list[str]:
    """Return the reasons why the client was the bottleneck. ``busiest`` is the result of ``busiest_share``."""
    found = []
    if busiest >= CLIENT_BOUND_SHARE:
        found.append(f"one of its processes used {busiest:.0%} of a processor")
    # With a rate, ``latencies`` would include the backlog that a slow client itself causes.
    latency = mean(outcome.service or outcome.latencies)
    delays = {
        "requests waited for a processor": in_run_queue(outcome),
        "answers waited to be read": outcome.usage.lag.of_an_answer() or 0.0,
    }
    for what, own in delays.items():
        if latency is not None and own > OWN_SHARE * latency:
            found.append(f"{what} for {own:,.0f} of {latency:,.0f} µs")
    return found


NOTABLE = 0.05
"""If a ratio differs from 1 by more than this, a remark says so."""


def check_window(
    outcome: Outcome, name: str, rates: Sequence[float], connections: int
) -> dict[str, Any] | None:
    """Return the ``concurrency`` by Little's law, the ``expected`` number of connections, and their ``ratio``.

    The concurrency is the total time of requests inside the window, divided by the length of the window. Return None if
    the law does not apply, for example because of the ``rates`` or the workload ``name``.
    """
    if rates or workload(name).paces_itself or not outcome.options.acknowledges:
        return None
    concurrency = outcome.inside.busy / 1e9 / outcome.seconds
    return {"concurrency": concurrency, "expected": connections, "ratio": concurrency / connections}


def remark_on_law(found: Mapping[str, Any]) -> str:
    """Return a remark if the ratio differs from 1 by more than ``NOTABLE``, else ""."""
    if abs(found["ratio"] - 1) <= NOTABLE:
        return ""
    return f"{found['concurrency']:.1f} of {found['expected']} connections had a request in flight on average"
