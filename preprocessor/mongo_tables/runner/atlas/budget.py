"""What the clusters of a run have cost so far, and the most that they may cost."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from mongo_tables.runner.atlas.clock import Clock
from mongo_tables.runner.atlas.machine import AtlasMachine
from mongo_tables.runner.atlas.prices import CURRENCY, Prices
from mongo_tables.runner.errors import KEPT, TargetError


class _Paid(NamedTuple):
    """A cluster that is paid for: at what price of an hour, and since when."""

    per_hour: float
    since: datetime


class Budget:
    """Each cluster is counted from when it is asked for until it is gone, by time, at its price of an hour."""

    def __init__(self, prices: Prices, most: float, clock: Clock) -> None:
        self._prices = prices
        self._most = most
        self._clock = clock
        self._ended = 0.0
        self._running: dict[str, _Paid] = {}

    @property
    def spent(self) -> float:
        """In dollars, until now."""
        return self._ended + sum(map(self._cost, self._running.values()))

    def begin(self, name: str, machine: AtlasMachine) -> None:
        """From now on the cluster is paid for as this machine.

        Raises RunnerError where the price of that is not known, or all is spent.
        """
        per_hour = self._prices.of(machine)
        self.check()
        self.end(name)
        self._running[name] = _Paid(per_hour, self._clock.now())

    def end(self, name: str) -> None:
        """From now on the cluster is not paid for."""
        if paid := self._running.pop(name, None):
            self._ended += self._cost(paid)

    def check(self) -> None:
        """Raise TargetError when no more may be spent."""
        if self.spent >= self._most:
            raise TargetError(
                f"the clusters of this run have cost about {self.spent:.2f} {CURRENCY}, "
                f"and --max-cost is {self._most:g}",
                f"{KEPT}, with what you allow then",
            )

    def _cost(self, paid: _Paid) -> float:
        return (self._clock.now() - paid.since).total_seconds() / 3600 * paid.per_hour
