"""The options of a run: options and profiles, and the window lengths that follow from them.

If scaling makes an amount small, it is raised until every connection has its first request, its last one and some
between them: otherwise the window would consist of the start of the connections. A window that ends by time is
lengthened while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from mongo_tables.runner.connection_strings import OnError
from mongo_tables.runner.driving import Arrivals
from mongo_tables.runner.experiment import Experiment, configs
from mongo_tables.runner.workloads import Config, workload

RATE = "operationsPerSecond"
"""The experiment parameter that has the meaning of ``--rate`` for all of its variants."""
LEAST_BATCHES = 5
"""The least requests for each connection, to which an amount is raised."""
LEAST_REQUESTS = 3
"""The least requests for each connection, for which a window is lengthened."""
MOST_TIMES_LONGER = 10
STEPS = 4
"""A window is lengthened in steps of 1/STEPS of its length."""
_UNLIMITED = 10**12


def operations_of_requests(name: str, config: Config, requests: int) -> int:
    """Return how many operations this many requests of each connection have."""
    each = config["writeBatchSize"] if workload(name).batched else 1
    return int(requests * config["numberOfThreads"] * each)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    ``seconds`` is the longest window. There are ``repeats`` blocks (None: as the experiment says), then up to
    ``most_repeats``, until no end of a ratio's interval differs from the ratio by more than the part ``width`` of it.
    """

    scale: float = 1.0
    seconds: float | None = None
    repeats: int | None = None
    most_repeats: int = 0
    width: float = 0.0
    seed: int = 1
    rates: tuple[float, ...] = ()
    arrivals: Arrivals = "even"
    on_error: OnError = "stop"
    duration: float | None = None
    as_is: bool = False
    """Whether variants that ask for another machine are measured on the available one."""
    profile: str | None = None
    batch_seconds: float | None = None
    """The ``seconds`` for windows of batches."""
    paced_seconds: float | None = None
    """The same for work that paces itself."""
    slices: float | None = None
    """Seconds of the slices in which targets side by side also take turns; None for none."""
    lengthens: bool = True
    """Whether a window with few requests is lengthened."""

    def rates_of(self, config: Config) -> tuple[float, ...]:
        """Return the operations per second of a variant, in steps. Empty means as many as possible."""
        return (float(config[RATE]),) if RATE in config else self.rates


PROFILES = {
    # Not half a second: some reports divide by the length of a window, rounded to whole seconds.
    "quick": Options(
        scale=0.001,
        seconds=0.55,
        batch_seconds=0.55,
        paced_seconds=0.55,
        repeats=1,
        lengthens=False,
    ),
    "publish": Options(
        scale=0.01, seconds=0.7, batch_seconds=2.0, paced_seconds=5.0, repeats=20, most_repeats=40, width=0.06
    ),
}
"""The profiles by name. ``quick`` is a first look at everything in a short time, not for publication. ``publish`` has
as many blocks as conclusions need. Longer windows hardly help, more blocks do."""


def has_rates(experiment: Experiment) -> bool:
    """Return whether the experiment itself sets the rate of operations."""
    paces_itself = workload(experiment.workload).paces_itself
    return paces_itself or any(RATE in config for config in configs(experiment))


def longest_seconds(name: str, config: Config, limits: Options) -> float | None:
    """Return the longest requested window in seconds. Work that paces itself rests for most of a short one."""
    traits = workload(name)
    if traits.paces_itself:
        return limits.paced_seconds or limits.seconds
    batches = traits.batched and config.get("writeBatchSize", 1) > 1
    return limits.batch_seconds or limits.seconds if batches else limits.seconds


def window_seconds(config: Config, seconds: float | None, duration: float | None) -> float | None:
    """Return the length of a window in seconds at most, or None if only its work ends it."""
    limits = [limit for limit in (seconds, duration, config.get("testTimeSecs")) if limit]
    return min(limits, default=None)


def ends_after(since: int, asked: int, enough: bool, ahead: int) -> int | None:
    """Return the length of a window with the requested length ``asked``, or None while too little is done.

    All values are in nanoseconds; the window has been open for ``since``. The result is the requested length, or as
    many steps more that its end is at least ``ahead`` away, since senders look at it that long before. After
    ``MOST_TIMES_LONGER`` times its length the window ends in any case.
    """
    soonest, most = since + ahead, MOST_TIMES_LONGER * asked
    if not enough and soonest < most:
        return None
    steps = max(STEPS, -(-STEPS * soonest // asked))
    return max(soonest, min(steps * asked // STEPS, most))


def with_enough_work(name: str, config: Config, duration: float | None) -> Config:
    """Return the config with enough work for a meaningful window, or for one of this many seconds."""
    if duration and "testTimeSecs" in config:
        return {**config, "testTimeSecs": duration}
    amount = workload(name).amount
    if amount is None:
        return config
    enough = operations_of_requests(name, config, LEAST_BATCHES)
    return {**config, amount: _UNLIMITED if duration else max(config[amount], enough)}
