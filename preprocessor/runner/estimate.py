"""What a run will take, before it is started."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import NamedTuple

from preprocessor.runner import cachesize, warmup
from preprocessor.runner.blocks import LEAST_FOR_INTERVAL
from preprocessor.runner.experiment import Experiment, configs
from preprocessor.runner.lengthening import longest_seconds, with_enough_work
from preprocessor.runner.slices import plan_slices
from preprocessor.runner.target import wanted_cache_gb
from preprocessor.runner.workingset import sized
from preprocessor.runner.workloads import Config, workload


@dataclass(frozen=True, slots=True)
class Estimate:
    """For one variant: operations (None: as many as the time allows), documents and their BSON bytes.

    Documents are those that are loaded before the timed window and those that it inserts; ``seconds`` is the
    length of all its ``windows``, from the time it is given or from the published speed, None when there is
    neither, ``most`` the most that they may take. ``around`` is the time that loading, connecting and looking at the
    server take beside, in seconds on a machine with two processors.
    """

    operations: int | None
    documents: int
    bytes: int
    windows: int
    seconds: float | None
    most: float | None
    around: float


WINDOW_OVERHEAD_SECONDS = 0.4
"""Around each window: to make the collection, prepare, have it written to disk, write the row."""
WARMING_OVERHEAD_SECONDS = 0.1
"""The same for a window that only warms."""
CONNECTION_SECONDS = 0.004
"""To open a connection."""
LOADED_BYTES_PER_SECOND = 15 * 2**20
"""Before a window, into three members on two processors, generated there as well."""
LOADED_PER_SECOND = 20_000
"""The same for documents or upserts that are small."""
LOCAL_SLOWNESS = 5
"""How much longer a window without a time takes where client and members share two processors."""


def estimate(
    scaled: Experiment,
    factor: float,
    repeats: int,
    seconds: float | None,
    duration: float | None = None,
    batch_seconds: float | None = None,
) -> list[Estimate]:
    """Give an estimate for each variant of an experiment that is already scaled by ``factor``, over ``repeats`` blocks.

    A window lasts ``seconds`` at most, one of batches ``batch_seconds``; or, whatever the experiment says, ``duration``
    seconds.
    """
    durations = {variant: row["durationS"] for variant, row in scaled.published_rows() if "durationS" in row}
    estimates = []
    kind = workload(scaled.workload)
    loaded: list[Config | None] = []
    for number, config in enumerate(configs(_sized(scaled, factor))):
        published = durations.get(number + 1, 0) * factor
        longest = longest_seconds(scaled.workload, config, seconds, batch_seconds)
        limits = [limit for limit in (duration or config.get("testTimeSecs", published), longest) if limit]
        windows = _count_windows(scaled, number, repeats)
        each = windows * (2 if scaled.warm else 1)
        before = kind.preload(config)
        fresh = int(before not in loaded) if kind.TRAITS.keeps_data else windows
        loaded.append(before)
        lengths = min(limits) * each if limits else None, longest * each if longest else None
        estimates.append(_estimate(scaled, config, lengths, windows, fresh, bool(duration)))
    return estimates


def _count_windows(experiment: Experiment, number: int, blocks: int) -> int:
    """How often a variant is measured in so many blocks: the reference twice in each, where there are enough."""
    twice = blocks >= LEAST_FOR_INTERVAL and not workload(experiment.workload).TRAITS.goes_on
    return 2 * blocks if twice and number == experiment.baseline else blocks


def _sized(scaled: Experiment, factor: float) -> Experiment:
    """The experiment with the records that a local target would load for a working set."""
    for number, variant in enumerate(scaled.variants):
        wanted = wanted_cache_gb(scaled.reference, variant, factor)
        cache_gb = cachesize.of_local({**scaled.parameters, **variant}, wanted)
        scaled = sized(scaled, number, partial(mul, cache_gb, 2**30))
    return scaled


def local_seconds(estimates: list[Estimate], scaled: Experiment, by_time: bool = False) -> float:
    """How long all of it takes on a local replica set, with what is around the windows; rather too long."""
    by_time = by_time or "testTimeSecs" in scaled.parameters
    total = 0.0
    for one in estimates:
        window = one.seconds if one.seconds is not None else one.most or 0.0
        slow = window if by_time else window * LOCAL_SLOWNESS
        total += one.around + (slow if by_time or one.most is None else min(slow, one.most))
    return total


class SlicesEstimate(NamedTuple):
    """How many windows in slices each block has, and how long one is in seconds, with what warms."""

    windows: int
    seconds: float

    def local_seconds(self, blocks: int) -> float:
        """How long all of them take on local replica sets, with what is around them."""
        return blocks * self.windows * (self.seconds + 2 * WINDOW_OVERHEAD_SECONDS)


def estimate_slices(scaled: Experiment, width: float, others: int) -> SlicesEstimate:
    """The windows in which so many other targets take turns with the first one, in slices of so many seconds."""
    able = [warmup.has_lead(scaled.workload, config) for config in configs(scaled)]
    return SlicesEstimate(
        int(able[scaled.baseline]) + others * sum(able), plan_slices(width, "", warm=scaled.warm).length / 1e9
    )


def _estimate(
    scaled: Experiment,
    config: Config,
    lengths: tuple[float | None, float | None],
    windows: int,
    fresh: int,
    by_time: bool,
) -> Estimate:
    kind = workload(scaled.workload)
    without_end = by_time and kind.TRAITS.amount is not None
    plan = None if without_end else kind.plan(with_enough_work(scaled.workload, config, None))
    before = kind.preload(config)
    first = workload(before.get("workload", "insert")).plan(before) if before else None
    loads = [first] if first else []
    loading = sum(
        max(load.bytes / LOADED_BYTES_PER_SECOND, load.operations / LOADED_PER_SECOND) for load in loads
    )
    if plan and plan.bytes:  # data that it brings in
        loads.append(plan)
    connecting = CONNECTION_SECONDS * config["numberOfThreads"]
    opening = WINDOW_OVERHEAD_SECONDS + connecting
    if scaled.warm:
        opening += WARMING_OVERHEAD_SECONDS + connecting
    return Estimate(
        operations=plan.operations if plan else None,
        documents=sum(load.documents for load in loads),
        bytes=sum(load.bytes for load in loads),
        windows=windows,
        seconds=lengths[0],
        most=lengths[1],
        around=windows * opening + fresh * loading,
    )


def table(estimates: list[Estimate]) -> list[str]:
    """Lines for people: one for each variant, and the time of all."""
    lines = [f"{'variant':>7}  {'operations':>14}  {'documents':>14}  {'size':>10}  {'time':>10}"]
    for number, one in enumerate(estimates, 1):
        operations = "by time" if one.operations is None else f"{one.operations:,}"
        loaded = f"{one.documents:>14,}  {size(one.bytes):>10}"
        lines.append(f"{number:>7}  {operations:>14}  {loaded}  {_time(one.seconds):>10}")
    known = [one.seconds for one in estimates if one.seconds]
    lines.append(f"{'all':>7}{_time(sum(known) if known else None):>58}")
    return lines


def size(count: int) -> str:
    """Bytes in the largest binary unit that leaves at least one of it."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} TiB"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "not known"
    return f"{seconds / 60:.1f} min"
