"""How long windows are, and how many there are.

How much is done in a window, so that its speed is more than luck.

An amount that scaling made small is raised until every connection has its first batch, its last one and some between
them: else the window would be the start of the connections. A window that time ends is lengthened while it runs.

Profiles: how much is measured where nobody says it option by option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mongo_tables.runner.experiment import Experiment, configs
from mongo_tables.runner.workloads import Config, workload

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


class Limits(Protocol):
    """How long windows may be; None for no limit."""

    @property
    def seconds(self) -> float | None:
        """The most seconds of a window."""

    @property
    def batch_seconds(self) -> float | None:
        """Those of a window of batches."""

    @property
    def paced_seconds(self) -> float | None:
        """Those of a window of work that paces itself."""


def longest_seconds(name: str, config: Config, limits: Limits) -> float | None:
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


def least_batches(profile: str | None) -> int:
    """Requests for each connection that an amount is raised to in a run by this profile, or by none."""
    return PROFILES[profile].least_batches if profile else LEAST_BATCHES


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
