"""The cost of clusters: the price table and the budget of a run.

Prices come from a table with a date. A cluster is created only if the table contains the cluster's price and the user
allows the total cost.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date as Date
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.atlas.address import STANDARD, AtlasMachine
from mongo_tables.runner.atlas.api import LocalClock
from mongo_tables.runner.errors import KEPT, TargetError
from mongo_tables.runner.estimate import VariantEstimate

OWN: Final = Path(__file__).with_name("prices.toml")
CURRENCY: Final = "USD"


class Prices(NamedTuple):
    """A price table: its date, its source, and the price of each cluster in dollars per hour.

    A price does not depend on the version of MongoDB, or on the IOPS of a STANDARD disk.
    """

    date: Date
    source: str
    per_hour: Mapping[AtlasMachine, float]

    def of(self, machine: AtlasMachine) -> float:
        """Return the machine's price per hour. Raises CommandError if the table has no price for it."""
        try:
            return self.per_hour[machine._replace(version="")]
        except KeyError:
            raise CommandError(
                f"the price of {machine} is not known: the prices of {self.date} have no line for it",
                "write its price into a file and name the file with --prices; the page on Atlas shows the format",
            ) from None

    def __str__(self) -> str:
        return f"{self.source}, {self.date}"


def read_prices(path: str | Path | None = None) -> Prices:
    """Read a price table, by default the built-in one. Raises CommandError if the file is not a price table."""
    try:
        found = tomllib.loads(Path(path or OWN).read_text("utf-8"))
        date, source = found["date"], found["source"]
        if type(date) is not Date or not isinstance(source, str) or found["currency"] != CURRENCY:
            raise ValueError(f"date must be a date, source a string, and currency {CURRENCY!r}")
        return Prices(date, source, dict(map(_line, found["prices"])))
    except OSError as error:
        raise CommandError(f"the prices {path} cannot be read: {error.strerror}") from None
    except (KeyError, ValueError, TypeError) as error:
        fault = f"lack {error.args[0]}" if isinstance(error, KeyError) else f"cannot be used: {error}"
        raise CommandError(f"the prices {path} {fault}", "the page on Atlas shows the format") from None


def _line(line: Mapping[str, Any]) -> tuple[AtlasMachine, float]:
    iops = None if line["disk"] == STANDARD else int(line["iops"])
    per_hour = float(line["per_hour"])
    if not 0 < per_hour < float("inf"):
        raise ValueError(f"{per_hour:g} is not a price per hour")
    return AtlasMachine(line["tier"], line["disk"], iops, int(line["gb"]), line["region"], ""), per_hour


@dataclass(slots=True)
class Budget:
    """The budget of a run. A cluster costs its hourly price from the request to create it until it is deleted."""

    prices: Prices
    most: float
    clock: LocalClock
    _ended: float = 0.0
    _running: dict[str, tuple[float, datetime]] = field(default_factory=dict)
    """For each cluster's name, the price per hour and the time when the cluster was requested."""

    @property
    def spent(self) -> float:
        """Return the dollars spent so far."""
        return self._ended + sum(self._cost(*paid) for paid in self._running.values())

    def begin(self, name: str, machine: AtlasMachine) -> None:
        """Start counting the cost of the cluster.

        Raises CommandError if the cluster's price is unknown or the budget is spent.
        """
        per_hour = self.prices.of(machine)
        self.check()
        self._running[name] = per_hour, self.clock.now()

    def end(self, name: str) -> None:
        """Stop counting the cost of the cluster."""
        if paid := self._running.pop(name, None):
            self._ended += self._cost(*paid)

    def check(self) -> None:
        """Raise TargetError if the budget is spent."""
        if self.spent >= self.most:
            raise TargetError(
                f"the clusters of this run have cost about {self.spent:.2f} {CURRENCY}, "
                f"and --max-cost is {self.most:g}",
                f"{KEPT}, with a larger --max-cost",
            )

    def _cost(self, per_hour: float, since: datetime) -> float:
        return (self.clock.now() - since).total_seconds() / 3600 * per_hour


AROUND_SECONDS: Final = 35 * 60.0
"""Seconds to create, inspect and delete the cluster of a window. This is a generous assumption, not a measurement."""
MIB_PER_SECOND: Final = {"M30": 9.0}
"""The MiB per second that a cluster of a tier loads, from the slowest published inserts with four indexes
(johnlpage/UniBench@2a53a30 reporting/report.md, lines 419 and 480)."""
MIB_PER_SECOND_OF_LARGER: Final = 60.0


class Cost(NamedTuple):
    """The cost of all windows of a variant."""

    machine: AtlasMachine
    windows: int
    hours: float
    dollars: float


def cost(machine: AtlasMachine, estimate: VariantEstimate, prices: Prices) -> Cost:
    """Return the highest possible cost of a variant: each window needs a new cluster and loads the data again.

    Raises CommandError if the price is unknown.
    """
    loading = estimate.bytes / 2**20 / MIB_PER_SECOND.get(machine.tier, MIB_PER_SECOND_OF_LARGER)
    seconds = estimate.windows * (AROUND_SECONDS + loading) + estimate.seconds
    return Cost(machine, estimate.windows, seconds / 3600, seconds / 3600 * prices.of(machine))


def total_cost(costs: Iterable[Cost]) -> float:
    """Return the highest total cost, rounded up to cents, so that ``--max-cost`` with the printed amount allows it."""
    cents = sum(one.dollars for one in costs) * 100
    return math.ceil(round(cents, 6)) / 100  # the inner rounding removes binary fractions


def check_cost(costs: Iterable[Cost], most: float | None, prices: Prices) -> None:
    """Raise CommandError if the run may cost more than ``most`` dollars, or if ``most`` is None."""
    total = total_cost(costs)
    if most is None:
        raise CommandError(
            f"a run on Atlas costs money, here up to {total:.2f} {CURRENCY} by the prices of {prices}",
            f"allow this cost with --max-cost {total:.2f}",
        )
    if total > most:
        raise CommandError(
            f"the run may cost {total:.2f} {CURRENCY} by the prices of {prices}, and --max-cost is {most:g}",
            "allow more, or measure less: fewer --repeats, a smaller --scale, shorter --seconds",
        )


def cost_table(costs: Mapping[int, Cost], prices: Prices) -> list[str]:
    """Return a printable table with a line for each variant and the total cost.

    The keys of ``costs`` are the numbers of the variants, from 0.
    """
    lines = [
        f"{number + 1:>7}  {one.machine}: {one.windows} windows, up to {one.hours:.1f} hours at "
        f"{prices.of(one.machine):.2f} {CURRENCY}: {one.dollars:.2f} {CURRENCY}"
        for number, one in costs.items()
    ]
    total = total_cost(costs.values())
    return [*lines, f"{'all':>7}  up to {total:.2f} {CURRENCY}, by the prices of {prices}"]
