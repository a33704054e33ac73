"""The estimated cost of a run, before it starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import mul
from typing import NamedTuple

from mongo_tables.runner import cache_size, warmup
from mongo_tables.runner.blocks import plan_blocks
from mongo_tables.runner.experiment import Experiment, config_of, configs, scale, scale_of
from mongo_tables.runner.local_set import MEMBERS
from mongo_tables.runner.options import (
    LEAST_REQUESTS,
    MOST_TIMES_LONGER,
    Options,
    has_rates,
    longest_seconds,
    operations_of_requests,
    with_enough_work,
)
from mongo_tables.runner.slices import plan_slices
from mongo_tables.runner.workloads import Config, Done, workload


@dataclass(frozen=True, slots=True)
class VariantEstimate:
    """The estimate of one variant.

    ``operations`` is the number of operations in a window; None means as many as its time permits. ``documents`` is the
    number of documents that are loaded before a window and inserted in it, ``bytes`` the size of their BSON.
    ``seconds`` is the length of all ``windows`` with their warm-up. ``local_seconds`` also includes loading, connecting
    and querying the server. Both times assume a local replica set with two processors.
    """

    operations: int | None
    documents: int
    bytes: int
    windows: int
    seconds: float
    local_seconds: float


# The constants were measured with three members and the client on two processors: all experiments, profile quick.
WINDOW_OVERHEAD_SECONDS = 0.2
"""Seconds around each window to prepare it, flush to disk, query the server and write the row."""
MAKING_SECONDS = 0.6
"""Seconds to create a collection and its indexes on all members."""
CONNECTION_SECONDS = 0.004
"""Seconds to open a connection."""
LOADED_BYTES_PER_SECOND = 15 * 2**20
"""Bytes per second that are loaded into three members before a window. One member loads three times as many."""
LOADED_PER_SECOND = 20_000
"""Documents or upserts per second that are loaded before a window.

For documents of a KiB or more, the rate applies to three members, and a single member loads three times as many.
"""
KIB = 1024
INSERTED_BYTES_PER_SECOND = 20 * 2**20
"""Bytes per second written in a window."""
REQUESTS_PER_SECOND = 1_000
"""Requests per second in a window, if each request writes little."""
AFTER_CHANGE_SECONDS = 30.0
"""Seconds after a window in which the primary changes: to inspect the members and start a new set."""


AS_IT_SAYS = Options()


def estimate(
    experiment: Experiment, blocks: int, options: Options = AS_IT_SAYS, members: int = MEMBERS
) -> list[VariantEstimate]:
    """Return an estimate for each variant of an experiment in ``blocks`` blocks with the given options.

    ``members`` is the number of members of a local target. All times assume a machine that does nothing else.
    """
    factor = scale_of(experiment, options.scale)
    scaled = scale(experiment, factor)
    scaled = replace(scaled, parameters={"members": members, **scaled.parameters})
    compares = not (options.rates or has_rates(scaled))
    plan = plan_blocks(scaled, [range(len(scaled.variants))], blocks, compares=compares)
    windows = Counter(turn.variant for turn in plan.turns(0))
    estimates = []
    loaded: list[Config | None] = []
    for number, config in enumerate(configs(_sized(scaled, factor))):
        kind = workload(config["workload"])
        before = kind.preload(config)
        count = blocks * windows[number]
        fresh = int(before not in loaded) if kind.keeps_data else count
        loaded.append(before)
        estimates.append(_estimate(scaled, config, options, count, fresh))
    return estimates


def _sized(scaled: Experiment, factor: float) -> Experiment:
    """Return the experiment with the ``recordcount`` that a local target computes from each ``workingSetRatio``."""
    for number, variant in enumerate(scaled.variants):
        wanted = cache_size.wanted_cache_gb(scaled.reference, variant, factor)
        config = config_of(scaled, variant)
        cache_gb = cache_size.of_local(config, wanted, config.get("members", MEMBERS))
        scaled = cache_size.sized(scaled, number, partial(mul, cache_gb, 2**30))
    return scaled


def local_seconds(estimates: Iterable[VariantEstimate]) -> float:
    """Return the total seconds on a local replica set with two processors."""
    return sum(one.local_seconds for one in estimates)


class SlicesEstimate(NamedTuple):
    """The number of windows that a block measures in slices, and the seconds of such a window, including warm-up."""

    windows: int
    seconds: float

    def local_seconds(self, blocks: int) -> float:
        """Return the total seconds of all windows on local replica sets, with the overhead of each window."""
        return blocks * self.windows * (self.seconds + 2 * WINDOW_OVERHEAD_SECONDS)


def estimate_slices(scaled: Experiment, width: float, others: int) -> SlicesEstimate:
    """Return the estimate for ``others`` targets that alternate with the first one in slices of ``width`` seconds."""
    able = [warmup.has_lead(config["workload"], config) for config in configs(scaled)]
    return SlicesEstimate(
        int(able[scaled.baseline]) + others * sum(able), plan_slices(width, "", warm=scaled.warm).length / 1e9
    )


def _estimate(
    scaled: Experiment, config: Config, options: Options, windows: int, fresh: int
) -> VariantEstimate:
    """Return the estimate of a variant. ``fresh`` of its ``windows`` load their data again."""
    name = config["workload"]
    kind = workload(name)
    # A change of the primary takes its own time.
    longest = None if kind.changes_primary else longest_seconds(name, config, options)
    without_end = options.duration and kind.amount is not None
    plan = None if without_end else kind.plan(with_enough_work(name, config, None))
    first = kind.plan_load(config)
    brought = [one for one in (first, plan if plan and plan.bytes else None) if one]
    if plan is None:
        limits = (options.duration or config.get("testTimeSecs"), longest)
        window = min(filter(None, limits), default=0.0)
    else:
        window = _local_window(name, config, plan, options, longest)
    connecting = CONNECTION_SECONDS * config["numberOfThreads"]
    around = WINDOW_OVERHEAD_SECONDS + connecting + (AFTER_CHANGE_SECONDS if kind.changes_primary else 0.0)
    if scaled.warm and kind.keeps_data and warmup.has_lead(name, config):
        window += warmup.lead_seconds(window)[0]
    elif scaled.warm and kind.keeps_data:  # the warm-up is all of the work, with its own connections
        window, around = 2 * window, around + connecting
    return VariantEstimate(
        operations=plan.operations if plan else None,
        documents=sum(load.documents for load in brought),
        bytes=sum(load.bytes for load in brought),
        windows=windows,
        seconds=windows * window,
        local_seconds=windows * (window + around) + fresh * (MAKING_SECONDS + _loading(first, config)),
    )


def _loading(first: Done | None, config: Config) -> float:
    if first is None:
        return 0.0
    size = config.get("members", MEMBERS) / MEMBERS
    each = LOADED_PER_SECOND if first.bytes < KIB * first.operations else LOADED_PER_SECOND / size
    return float(max(first.bytes * size / LOADED_BYTES_PER_SECOND, first.operations / each))


def _local_window(name: str, config: Config, plan: Done, options: Options, longest: float | None) -> float:
    """Return the seconds that a window with a fixed amount of work takes on a local replica set.

    The window opens after the first answer of each connection, and requests in flight at its end are still answered.
    The wait before and the wait after the window each take as long as one request of every connection.
    """
    amount = _writing(plan.operations, plan, name, config)
    if longest is None:
        return amount
    of_each = _writing(operations_of_requests(name, config, 1), plan, name, config)
    if options.lengthens and not options.rates:
        longest = max(longest, min(LEAST_REQUESTS * of_each, MOST_TIMES_LONGER * longest))
    return min(amount, longest + 2 * of_each)


def _writing(operations: float, plan: Done, name: str, config: Config) -> float:
    """Return the seconds that ``operations`` operations take. ``plan`` is the whole amount of work."""
    connections: int = config["numberOfThreads"]
    in_each = operations_of_requests(name, config, 1) / connections
    size = plan.bytes / max(1, plan.operations)
    return max(
        operations * size / INSERTED_BYTES_PER_SECOND,
        operations / LOADED_PER_SECOND,
        operations / in_each / REQUESTS_PER_SECOND,
    )


def table(estimates: Mapping[int, VariantEstimate]) -> list[str]:
    """Return printable lines: a header, a line for each variant, and a line with the total time.

    The keys of ``estimates`` are the numbers of the variants, from 0.
    """
    lines = [f"{'variant':>7}  {'operations':>14}  {'documents':>14}  {'size':>10}  {'time':>10}"]
    for number, one in estimates.items():
        operations = "by time" if one.operations is None else f"{one.operations:,}"
        loaded = f"{one.documents:>14,}  {size(one.bytes):>10}"
        lines.append(f"{number + 1:>7}  {operations:>14}  {loaded}  {say_duration(one.seconds):>10}")
    lines.append(f"{'all':>7}{say_duration(sum(one.seconds for one in estimates.values())):>58}")
    return lines


def size(count: int) -> str:
    """Format a number of bytes with the largest binary unit that does not exceed it.

    Example:
        >>> size(5 * 2**20)
        '5 MiB'
    """
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} TiB"


def say_duration(seconds: float) -> str:
    """Format a duration in seconds or, from 90 seconds on, in minutes."""
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
