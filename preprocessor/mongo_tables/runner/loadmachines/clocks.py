"""How far the clock of another machine is ahead of ours, by the shortest of several pings.

The answer was given at some moment between question and answer (F. Cristian, "Probabilistic clock synchronization",
Distributed Computing 3, 1989): half of that time is the bound of what is wrong, whichever way took longer. The clocks
are those that nobody adjusts, so that with each second between them and a ping the bound grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DRIFT = 1e-4
"""By which two quartz clocks differ in speed, at most."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One ping, in nanoseconds: when it was sent and answered on our clock, and what the other clock was meanwhile."""

    sent: int
    answered: int
    there: int

    @property
    def ahead(self) -> int:
        """How far the other clock is ahead of ours."""
        return self.there - (self.sent + self.answered) // 2

    def bound(self, now: int) -> int:
        """How wrong that may be by now."""
        return (self.answered - self.sent) // 2 + round(DRIFT * (now - self.answered))


class Clock:
    """What is known of the clock of another machine."""

    MOST = 32
    """Readings that are kept."""

    def __init__(self) -> None:
        self._readings: Sequence[Reading] = ()

    def add(self, reading: Reading) -> None:
        """Know one more ping."""
        self._readings = (*self._readings[-self.MOST :], reading)

    def best(self, now: int) -> Reading:
        """The ping by which it is known best; there has been one."""
        return min(self._readings, key=lambda one: one.bound(now))
