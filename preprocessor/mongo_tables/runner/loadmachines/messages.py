"""Messages between the runner and a load machine: plain data, encrypted on the network.

An order contains the connection string of the target with its password. It is not an argument of a task, so it is in
no task graph and on no dashboard; and its ``repr`` hides it.

The offset of another machine's clock comes from the shortest of several pings: the machine answered at some moment
between question and answer (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989), and
half of that time bounds the error. The clocks are not adjusted, so the bound grows with each second since the ping.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mongo_tables.runner.alternation import Alternation
from mongo_tables.runner.outcome import Network
from mongo_tables.runner.worker import Assignment, Scheduling

DRIFT = 1e-4
"""The largest difference in speed between two quartz clocks."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One ping, in nanoseconds: sent and answered on our clock, and the other clock's reading in between."""

    sent: int
    answered: int
    there: int

    @property
    def ahead(self) -> int:
        """Return how far the other clock is ahead of ours."""
        return self.there - (self.sent + self.answered) // 2

    def bound(self, now: int) -> int:
        """Return the error bound of the offset at this time."""
        return (self.answered - self.sent) // 2 + round(DRIFT * (now - self.answered))


class RemoteClock:
    """The readings of another machine's clock."""

    MOST = 32
    """The number of readings kept."""

    def __init__(self) -> None:
        self._readings: Sequence[ClockReading] = ()

    def add(self, reading: ClockReading) -> None:
        """Add a ping."""
        self._readings = (*self._readings[-self.MOST :], reading)

    def best(self, now: int) -> ClockReading:
        """Return the reading with the smallest error bound; there must be one."""
        return min(self._readings, key=lambda one: one.bound(now))


OPERATION = "mongo_tables_load"
"""The name under which a Dask worker handles our messages."""


class Greeting(NamedTuple):
    """The first message of a machine: the version of the program, and the machine's description."""

    harness: str
    hardware: Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Work:
    """The connections of a machine in a window, and its part of work by amount: numbers from ``first`` on."""

    assignment: Assignment | Alternation
    first: int


class Go(NamedTuple):
    """When to begin, on the machine's clock."""

    at: float


class Dismiss(NamedTuple):
    """The order to end the current work."""


class End(NamedTuple):
    """The order to end the current work and the task."""


@dataclass(frozen=True, slots=True, repr=False)
class Sent:
    """A message to a machine: orders, and the edges of the window on its clock."""

    orders: Sequence[Work | Go | Dismiss | End] = ()
    edges: Sequence[int] | None = None


class Ready(NamedTuple):
    """The report that everything is prepared."""


class Failed(NamedTuple):
    """The report that the work was given up."""

    reason: str


class LoadResults(NamedTuple):
    """The results of each process, for two loads that took turns of each, and the machine's network traffic.

    ``network`` is that of the window, ``whole_network`` that of all work.
    """

    tallies: Sequence[Any]
    scheduling: Scheduling
    network: Network
    whole_network: Network


@dataclass(frozen=True, slots=True)
class Told:
    """A message from a machine: its clock, a report, its counters, and when its window closed.

    ``first_answers`` are on its clock; 0 means none yet.
    """

    clock: int
    said: Sequence[Greeting | Ready | Failed | LoadResults]
    counters: Sequence[int] = ()
    first_answers: Sequence[int] = ()
    closes: int | None = None


def pack(message: Sent | Told) -> bytes:
    """Return the message as bytes."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Any:
    """Return the message in these bytes."""
    return pickle.loads(packed)
