"""Events, and the generator that makes them: which user, which day, which status.

The distribution is that of ArturGC/the-cost-of-not-knowing-mongodb@c8cc690: 60 events a user a year, twenty workers
whose clocks go on evenly, six of ten events from any user and the rest from a few busy ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import ceil

STATUSES: Mapping[str, str] = {"approved": "a", "noFunds": "n", "pending": "p", "rejected": "r"}
"""Long and short names, in the order in which documents and reports have them."""
YEARS = 10
FIRST_DAY = datetime(2010, 1, 1, tzinfo=UTC)
EVENTS_PER_USER_AND_YEAR = 60
CLOCKS = 20
"""Workers of the generator, whatever the number of connections: the data depends on them."""
_SHARES = (("approved", 0.8), ("noFunds", 0.9), ("pending", 0.975), ("rejected", 1.0))
"""Upper ends of the statuses among random numbers from 0 to 1."""
ANY_USER = 0.6
"""Of the events; the others are of users that a half of a normal distribution chooses."""
DEVIATION = 0.015
"""Of that normal distribution, as a share of the users."""
_YEAR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a key on a day (midnight UTC); ``counts`` has the statuses that it concerns."""

    key: int
    day: datetime
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Population:
    """How many users there are and how far a clock goes on from an event to its next."""

    users: int
    step: timedelta


def population(events: int) -> Population:
    """The population that makes so many events in ten years: 500 million are 833,334 users and 12.6 seconds."""
    yearly = events / YEARS
    return Population(max(1, ceil(yearly / EVENTS_PER_USER_AND_YEAR)), _YEAR * CLOCKS / yearly)


def stream(of: Population, seed: str, start: datetime, clock: int) -> Iterator[Event]:
    """The events of one clock from ``start`` on, without end.

    Each clock is a part of a step behind the one before. Those of the published generator begin together, which is
    the same as long as a step is much shorter than a day, and not where few events are spread over ten years.
    """
    draw = random.Random(seed)
    now = start - of.step * (clock % CLOCKS) / CLOCKS
    while True:
        now += of.step
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        yield Event(user(draw, of.users), day, {_status(draw.random()): 1})


def loading(events: int, seed: str, batch: int, clocks: Sequence[int]) -> Iterator[list[Event]]:
    """What these of the clocks make of ``events`` in batches, taken in turn so that all days come at their time."""
    of = population(events)
    streams = [stream(of, f"{seed}/{clock}", FIRST_DAY, clock) for clock in clocks]
    left = [events // CLOCKS + (clock < events % CLOCKS) for clock in clocks]
    while any(left):
        for place, one in enumerate(streams):
            size = min(batch, left[place])
            left[place] -= size
            if size:
                yield list(islice(one, size))


def user(draw: random.Random, users: int) -> int:
    """A user, from 1."""
    place = draw.random() if draw.random() < ANY_USER else abs(draw.gauss(0, DEVIATION))
    return max(1, ceil(place * users))


def _status(number: float) -> str:
    return next(name for name, end in _SHARES if number < end)
