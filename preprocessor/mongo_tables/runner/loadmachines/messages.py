"""What goes between who measures and a load machine: plain data, which crosses the network encrypted.

An order holds the connection string of the target with its password. It is no argument of a task, so it is in no graph
of tasks and on no dashboard; and where somebody prints a message, there is nothing to see.

How far the clock of another machine is ahead of ours is known by the shortest of several pings: the answer was given at
some moment between question and answer (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3,
1989), and half of that time bounds the error. Nobody adjusts these clocks, so the bound grows with each second since a
ping.
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


OPERATION = "mongo_tables_load"
"""Under which name a Dask worker knows a message of ours."""


class Greeting(NamedTuple):
    """What a machine says of itself: the version of the program, and what it is."""

    harness: str
    hardware: Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Work:
    """The connections of a machine in a window, and its part of work given by amount: numbers from ``first`` on."""

    assignment: Assignment | Alternation
    first: int


class Go(NamedTuple):
    """When to begin, on the machine's clock."""

    at: float


class Dismiss(NamedTuple):
    """End the work, whatever it is."""


class End(NamedTuple):
    """End the work, and the task with it."""


@dataclass(frozen=True, slots=True, repr=False)
class Sent:
    """To a machine: orders, and the edges of the window on its clock."""

    orders: Sequence[Work | Go | Dismiss | End] = ()
    edges: Sequence[int] | None = None


class Ready(NamedTuple):
    """Everything is prepared."""


class Failed(NamedTuple):
    """The work was given up."""

    reason: str


class Done(NamedTuple):
    """What was done: of each process, of two loads that took turns by each; the network of the machine meanwhile.

    ``network`` is that of the window, ``whole_network`` of all work.
    """

    tallies: Sequence[Any]
    scheduling: Scheduling
    network: Network
    whole_network: Network


@dataclass(frozen=True, slots=True)
class Told:
    """From a machine: its clock by now, what it says, what its connections have done, and when its window closed.

    ``first_answers`` are on its clock; 0 for none yet.
    """

    clock: int
    said: Sequence[Greeting | Ready | Failed | Done]
    counters: Sequence[int] = ()
    first_answers: Sequence[int] = ()
    closes: int | None = None


def pack(message: Sent | Told) -> bytes:
    """As bytes, which is what crosses the network."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Any:
    """The message."""
    return pickle.loads(packed)
