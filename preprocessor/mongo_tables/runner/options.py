"""The options and profiles of a run, and the window lengths that follow from them.

If scaling leaves little work, a window consists of little more than the start of the connections. So an amount of work
is raised until each connection has several requests. A window that ends by time is lengthened while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from mongo_tables.runner.connection_strings import OnError
from mongo_tables.runner.driving import Arrivals
from mongo_tables.runner.experiment import Experiment, configs
from mongo_tables.runner.workloads import Config, workload

RATE = "operationsPerSecond"
"""The experiment parameter that sets the rate, as the option ``--rate`` does for all variants."""
LEAST_BATCHES = 5
"""An amount of work is raised to this many requests for each connection."""
LEAST_REQUESTS = 3
"""A window that ends by time is lengthened until it has this many requests for each connection."""
MOST_TIMES_LONGER = 10
STEPS = 4
"""A window is lengthened in steps of 1/STEPS of its length."""
_UNLIMITED = 10**12


def operations_of_requests(name: str, config: Config, requests: int) -> int:
    """Return the number of operations in ``requests`` requests of each connection."""
    each = config["writeBatchSize"] if workload(name).batched else 1
    return int(requests * config["numberOfThreads"] * each)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    ``seconds`` is the longest window. The run measures ``repeats`` blocks (None: the number in the experiment). Then it
    adds blocks, up to ``most_repeats``, until both ends of each ratio's interval differ from the ratio by at most the
    share ``width``.
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
    """Whether variants that require another machine are measured on the available machine."""
    profile: str | None = None
    batch_seconds: float | None = None
    """``seconds`` for windows of batches."""
    paced_seconds: float | None = None
    """``seconds`` for work that paces itself."""
    slices: float | None = None
    """The length in seconds of the slices in which targets side by side also take turns; None for no slices."""
    lengthens: bool = True
    """Whether a window with few requests is lengthened."""

    def rates_of(self, config: Config) -> tuple[float, ...]:
        """Return the rates of a variant in operations per second, one for each step. Empty means unlimited."""
        return (float(config[RATE]),) if RATE in config else self.rates


PROFILES = {
    # Some reports divide by the length of a window in whole seconds: 0.55 rounds to 1, but 0.5 to 0.
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
"""The profiles by name.

``quick`` measures everything in a short time, but too imprecisely for publication. ``publish`` has the number of blocks
that conclusions need. More blocks make conclusions more precise; longer windows hardly do.
"""


def has_rates(experiment: Experiment) -> bool:
    """Return whether the experiment itself sets the rate of operations, by a parameter or by its workload."""
    paces_itself = workload(experiment.workload).paces_itself
    return paces_itself or any(RATE in config for config in configs(experiment))


def longest_seconds(name: str, config: Config, limits: Options) -> float | None:
    """Return the longest requested window in seconds, or None if there is no limit.

    Work that paces itself has its own limit, because its connections would be idle for most of a shorter window.
    """
    traits = workload(name)
    if traits.paces_itself:
        return limits.paced_seconds or limits.seconds
    batches = traits.batched and config.get("writeBatchSize", 1) > 1
    return limits.batch_seconds or limits.seconds if batches else limits.seconds


def window_seconds(config: Config, seconds: float | None, duration: float | None) -> float | None:
    """Return the maximum length of a window in seconds, or None if only its work ends it."""
    limits = [limit for limit in (seconds, duration, config.get("testTimeSecs")) if limit]
    return min(limits, default=None)


def ends_after(since: int, asked: int, enough: bool, ahead: int) -> int | None:
    """Return the final length of a window that has been open for ``since``, or None while it has too little work.

    All values are in nanoseconds. ``asked`` is the requested length, ``enough`` says whether enough operations are
    done. Senders must know the end of the window ``ahead`` nanoseconds in advance. So if the requested end is nearer or
    has passed, the window is lengthened in steps. It ends after ``MOST_TIMES_LONGER`` times its requested length in any
    case.
    """
    soonest, most = since + ahead, MOST_TIMES_LONGER * asked
    if not enough and soonest < most:
        return None
    steps = max(STEPS, -(-STEPS * soonest // asked))
    return max(soonest, min(steps * asked // STEPS, most))


def with_enough_work(name: str, config: Config, duration: float | None) -> Config:
    """Return the config with enough work for a meaningful window, or for a window of ``duration`` seconds."""
    if duration and "testTimeSecs" in config:
        return {**config, "testTimeSecs": duration}
    amount = workload(name).amount
    if amount is None:
        return config
    enough = operations_of_requests(name, config, LEAST_BATCHES)
    return {**config, amount: _UNLIMITED if duration else max(config[amount], enough)}
