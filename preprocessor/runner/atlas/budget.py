"""What the clusters of a run have cost so far, and the most that they may cost."""

from __future__ import annotations

from datetime import datetime

from preprocessor.runner.atlas.clock import Clock
from preprocessor.runner.atlas.machine import AtlasMachine
from preprocessor.runner.atlas.prices import CURRENCY, Prices
from preprocessor.runner.errors import KEPT, TargetError


class Budget:
    """A cluster is counted from when it is asked for until it is gone, by time, at its price of an hour."""

    def __init__(self, prices: Prices, most: float, clock: Clock) -> None:
        self._prices = prices
        self._most = most
        self._clock = clock
        self._spent = 0.0
        self._per_hour = 0.0
        self._since: datetime = clock.now()

    @property
    def spent(self) -> float:
        """In dollars, until now."""
        hours = (self._clock.now() - self._since).total_seconds() / 3600
        return self._spent + hours * self._per_hour

    def begin(self, machine: AtlasMachine) -> None:
        """From now on this machine is paid for. Raises RunnerError where its price is not known, or all is spent."""
        per_hour = self._prices.of(machine)
        self.check()
        self._change(per_hour)

    def end(self) -> None:
        """From now on nothing is paid for."""
        self._change(0.0)

    def check(self) -> None:
        """Raise TargetError when no more may be spent."""
        if self.spent >= self._most:
            raise TargetError(
                f"the clusters of this run have cost about {self.spent:.2f} {CURRENCY}, "
                f"and --max-cost is {self._most:g}",
                f"{KEPT}, with what you allow then",
            )

    def _change(self, per_hour: float) -> None:
        self._spent, self._since, self._per_hour = self.spent, self._clock.now(), per_hour
