"""What the clusters of a run may cost at most, known before the first of them is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from mongo_tables.runner.atlas.machine import AtlasMachine
from mongo_tables.runner.atlas.prices import CURRENCY, Prices
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.estimate import Estimate

AROUND_SECONDS: Final = 35 * 60.0
"""Beside its work, for each window: a cluster is made or changed, looked at and removed. None was timed: this is an
assumption, with room."""
MIB_PER_SECOND: Final = {"M30": 9.0}
"""At which data comes in: the slowest of the published inserts with four indexes (johnlpage/UniBench@2a53a30
reporting/report.md, lines 419 and 480) on that tier, and on larger ones:"""
MIB_PER_SECOND_OF_LARGER: Final = 60.0


class Cost(NamedTuple):
    """Of a variant, over all its windows."""

    machine: AtlasMachine
    windows: int
    hours: float
    dollars: float


def cost(machine: AtlasMachine, estimate: Estimate, prices: Prices) -> Cost:
    """What a variant costs at most: each of its windows on a cluster made for it, whose data is loaded anew.

    Raises RunnerError where the price is not known.
    """
    loading = estimate.bytes / 2**20 / MIB_PER_SECOND.get(machine.tier, MIB_PER_SECOND_OF_LARGER)
    seconds = estimate.windows * (AROUND_SECONDS + loading) + (estimate.seconds or 0.0)
    return Cost(machine, estimate.windows, seconds / 3600, seconds / 3600 * prices.of(machine))


def in_all(costs: Iterable[Cost]) -> float:
    """What all of it costs at most, in whole cents, so that whoever allows what is said allows enough."""
    cents = sum(one.dollars for one in costs) * 100
    return math.ceil(round(cents, 6)) / 100  # without what binary fractions add


def check(costs: Iterable[Cost], most: float | None, prices: Prices) -> None:
    """Raise RunnerError where all of it may cost more than was allowed, or nothing was."""
    total = in_all(costs)
    if most is None:
        raise RunnerError(
            f"a run on Atlas costs money, here up to {total:.2f} {CURRENCY} by the prices of {prices}",
            f"--max-cost {total:.2f} allows that; --dry-run shows every call",
        )
    if total > most:
        raise RunnerError(
            f"the run may cost {total:.2f} {CURRENCY} by the prices of {prices}, and --max-cost is {most:g}",
            "allow more, or measure less: fewer --repeats, a smaller --scale, shorter --seconds",
        )


def table(costs: Mapping[int, Cost], prices: Prices) -> list[str]:
    """Lines for people: one for each variant, by its number from 0 on, and the cost of all."""
    lines = [
        f"{number + 1:>7}  {one.machine}: {one.windows} windows, up to {one.hours:.1f} hours at "
        f"{prices.of(one.machine):.2f} {CURRENCY}: {one.dollars:.2f} {CURRENCY}"
        for number, one in costs.items()
    ]
    total = in_all(costs.values())
    return [*lines, f"{'all':>7}  up to {total:.2f} {CURRENCY}, by the prices of {prices}"]
