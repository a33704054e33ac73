"""How a run was asked for: options and profiles, and how long windows are by them.

An amount that scaling made small is raised until every connection has its first batch, its last one and some between
them: else the window would be the start of the connections. A window that time ends is lengthened while it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mongo_tables.runner.driving import Arrivals
from mongo_tables.runner.experiment import Experiment, configs
from mongo_tables.runner.request_options import Kind, OnError
from mongo_tables.runner.workloads import Config, workload

RATE = "operationsPerSecond"
"""The parameter by which an experiment says what ``--rate`` says of all of its variants."""
LEAST_BATCHES = 5
"""Requests for each connection that an amount is raised to."""
LEAST_REQUESTS = 3
"""Requests for each connection that a window is lengthened for."""
MOST_TIMES_LONGER = 10
STEPS = 4
"""In so many parts of its length a window is lengthened."""
_UNLIMITED = 10**12


def operations_of_requests(name: str, config: Config, requests: int) -> int:
    """How many operations so many requests of each connection have."""
    each = config["writeBatchSize"] if workload(name).batched else 1
    return int(requests * config["numberOfThreads"] * each)


@dataclass(frozen=True, slots=True)
class Profile:
    """Factor of data and times, the most seconds of windows, those of batches and of paced work, and how many blocks.

    There are ``repeats`` of them, then up to ``most_repeats``, until every interval of a ratio reaches from it by no
    more than the part ``width`` of it.
    """

    scale: float
    seconds: float
    batch_seconds: float
    paced_seconds: float
    repeats: int
    most_repeats: int = 0
    width: float = 0.0
    lengthens: bool = True
    """Whether a window with few requests is made longer."""
    least_batches: int = LEAST_BATCHES
    """Requests for each connection that an amount is raised to."""


PROFILES = {
    # Not half a second: reports exist that divide by the length of a window, rounded to whole seconds.
    "quick": Profile(
        scale=0.001,
        seconds=0.55,
        batch_seconds=0.55,
        paced_seconds=0.55,
        repeats=1,
        lengthens=False,
        least_batches=3,
    ),
    "publish": Profile(
        scale=0.01, seconds=0.7, batch_seconds=2.0, paced_seconds=5.0, repeats=20, most_repeats=40, width=0.06
    ),
}
"""By name. ``quick`` is a first look at everything in a short time, and not for publishing. ``publish`` is for that: as
many blocks as conclusions need. Longer windows hardly help, more blocks do."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run was asked for; ``repeats`` None means as often as the experiment says."""

    scale: float
    seconds: float | None
    repeats: int | None
    seed: int
    client: Kind
    rates: tuple[float, ...] = ()
    arrivals: Arrivals = "even"
    on_error: OnError = "stop"
    duration: float | None = None
    as_is: bool = False
    """Whether variants that ask for another machine are measured on the one that is there."""
    profile: str | None = None
    batch_seconds: float | None = None
    """What ``seconds`` is for windows of batches."""
    paced_seconds: float | None = None
    """The same for work that paces itself."""
    slices: float | None = None
    """Seconds of the slices in which targets side by side take turns too; None for none."""

    @property
    def lengthens(self) -> bool:
        """Whether a window with few requests is made longer."""
        return self.profile is None or PROFILES[self.profile].lengthens

    def rates_of(self, config: Config) -> tuple[float, ...]:
        """Operations a second of a variant, in steps; empty for as many as can be."""
        return (float(config[RATE]),) if RATE in config else self.rates


def least_batches(profile: str | None) -> int:
    """Requests for each connection that an amount is raised to in a run by this profile, or by none."""
    return PROFILES[profile].least_batches if profile else LEAST_BATCHES


class Asked(NamedTuple):
    """How long windows are to be: ``seconds`` at most, for batches ``batch_seconds``, for paced work ``paced_seconds``.

    Or, whatever the experiment says, ``duration`` seconds. With ``lengthens``, one with few requests is longer.
    ``compares`` is whether speeds say something, as those of work at a given rate do not.
    """

    seconds: float | None = None
    batch_seconds: float | None = None
    paced_seconds: float | None = None
    duration: float | None = None
    lengthens: bool = True
    compares: bool = True


def has_rates(experiment: Experiment) -> bool:
    """Whether the experiment says itself how many operations are to start in a second."""
    paces_itself = workload(experiment.workload).paces_itself
    return paces_itself or any(RATE in config for config in configs(experiment))


def longest_seconds(name: str, config: Config, limits: Options | Profile | Asked) -> float | None:
    """The most seconds of a window that were asked for; work that paces itself rests for most of a short one."""
    traits = workload(name)
    if traits.paces_itself:
        return limits.paced_seconds or limits.seconds
    batches = traits.batched and config.get("writeBatchSize", 1) > 1
    return limits.batch_seconds or limits.seconds if batches else limits.seconds


def window_seconds(config: Config, seconds: float | None, duration: float | None) -> float | None:
    """How long a window is at most; None where its work alone ends it."""
    limits = [limit for limit in (seconds, duration, config.get("testTimeSecs")) if limit]
    return min(limits, default=None)


def ends_after(since: int, asked: int, enough: bool, ahead: int) -> int | None:
    """How long a window is that was asked to be ``asked`` long; None while too little is done. All in nanoseconds.

    It is open ``since`` then. What is given is its length as asked, or so many steps more that its end lies ``ahead``,
    since who sends requests looks at it so long before. At ``MOST_TIMES_LONGER`` of its length it ends in any case.
    """
    soonest, most = since + ahead, MOST_TIMES_LONGER * asked
    if not enough and soonest < most:
        return None
    steps = max(STEPS, -(-STEPS * soonest // asked))
    return max(soonest, min(steps * asked // STEPS, most))


def steps_without_length(
    experiment: Experiment, rates: Sequence[float], duration: float | None
) -> tuple[str, str] | None:
    """Why a rate cannot have steps, which are parts of a window whose length is known before, and the remedy."""
    by_amount = any(workload(experiment.workload).plan(config) for config in configs(experiment))
    if len(rates) < 2 or duration or not by_amount:
        return None
    return (
        f"{experiment.name} ends when its work is done: nobody knows before where the steps of the rate would lie",
        "say with --duration how long each window is, or name one rate",
    )


def with_enough_work(name: str, config: Config, duration: float | None, least: int = LEAST_BATCHES) -> Config:
    """The config with work for a window that means something, or for one of so many seconds.

    ``least`` is to how many requests of each connection an amount is raised.
    """
    if duration and "testTimeSecs" in config:
        return {**config, "testTimeSecs": duration}
    amount = workload(name).amount
    if amount is None:
        return config
    enough = operations_of_requests(name, config, least)
    return {**config, amount: _UNLIMITED if duration else max(config[amount], enough)}
