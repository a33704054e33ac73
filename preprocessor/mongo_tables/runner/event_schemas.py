"""Fourteen ways to store the same events and to report on them: from a document for each day to a field for each day.

All versions take the same ``Event`` and return the same report. They differ in the content of a document, in the
statement that stores an event, and in the pipelines of a report. "The Cost of Not Knowing MongoDB"
(ArturGC/the-cost-of-not-knowing-mongodb@c8cc690) publishes the versions and the distribution of the events: 60 events
per user and year, twenty workers whose clocks advance evenly, 60 % of the events from all users and the rest from a few
busy users.

* V1 to V4: a document for a key and a day, in which events of that day increment counters. From version to version,
key, names and ``_id`` become smaller. V1 has an ``_id`` document with the key as text and the date; V2 has both as
fields next to an ObjectId; V3 has the key as bytes and names of one letter; V4 has key and date as one binary ``_id``.
* V5R0 to V5R4: a document for a key and a month or quarter, with an array of events or of days. V5R0 and V5R1 push an
  element for every event. From V5R2 on, an element is a day, which an update with a pipeline finds or appends. V5R3
  sums the array of a document in an expression instead of unwinding it. V5R4 also stores the totals of the quarter,
  which a report uses for quarters that lie entirely in a range.
* V6R0 to V6R4: a document for a key and a month or quarter, with a field for each day. The name of a field is the part
of the date that ``_id`` omits: DD in a month (V6R0), MMDD in a quarter (V6R1, and V6R2 with totals of the quarter).
V6R3 repeats the year in the name, YYYYMMDD, so one pipeline can answer all five ranges. V6R4 is V6R3 with another
compression. As texts, the names sort in the order of their days.

A binary ``_id`` is a key of 32 bytes, followed by the digits of a day, a month or a quarter as hexadecimal digits. So
the bytes sort as the dates do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import ceil
from typing import Any, NamedTuple

STATUSES: Mapping[str, str] = {"approved": "a", "noFunds": "n", "pending": "p", "rejected": "r"}
"""The statuses: long and short names, in the order of documents and reports."""
RANGES: Mapping[str, int] = {"oneYear": 1, "threeYears": 3, "fiveYears": 5, "sevenYears": 7, "tenYears": 10}
"""The ranges of a report, in years before its date."""
YEARS = 10
FIRST_DAY = datetime(2010, 1, 1, tzinfo=UTC)
EVENTS_PER_USER_AND_YEAR = 60
CLOCKS = 20
"""The number of workers of the generator. The data depends on this number, not on the number of connections."""
ANY_USER = 0.6
"""The share of events with a uniformly chosen user. The users of the other events follow a half-normal distribution."""
DEVIATION = 0.015
"""The standard deviation of the normal distribution, as a share of the users."""
KEY_BYTES = 32
_SHARES = (("approved", 0.8), ("noFunds", 0.9), ("pending", 0.975), ("rejected", 1.0))
"""The range from 0 to 1 is divided among the statuses. Each status has the upper end of its part."""
_YEAR = timedelta(days=365)
_LONG = {name: name for name in STATUSES}
_ZSTD = {"storageEngine": {"wiredTiger": {"configString": "block_compressor=zstd"}}}

Pipeline = list[dict[str, Any]]
Identify = Callable[[int, datetime], bytes]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a key on a day (midnight UTC). ``counts`` has the increment of each status."""

    key: int
    day: datetime
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Population:
    """The number of users, and the time from one event of a clock to the next."""

    users: int
    step: timedelta


def population(events: int) -> Population:
    """Return the population that makes this many events in ten years.

    For example, 500 million events need 833,334 users and 12.6 seconds between two events of a clock.
    """
    yearly = events / YEARS
    return Population(max(1, ceil(yearly / EVENTS_PER_USER_AND_YEAR)), _YEAR * CLOCKS / yearly)


def stream(of: Population, seed: str, start: datetime, clock: int) -> Iterator[Event]:
    """Yield the events of one clock from ``start`` on, without end.

    Each clock is a fraction of a step behind the previous one, while the clocks of the published generator start
    together. This makes a difference only if a step is not much shorter than a day.
    """
    draw = random.Random(seed)
    now = start - of.step * (clock % CLOCKS) / CLOCKS
    while True:
        now += of.step
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        place = draw.random() if draw.random() < ANY_USER else abs(draw.gauss(0, DEVIATION))
        number = draw.random()
        status = next(name for name, end in _SHARES if number < end)
        yield Event(max(1, ceil(place * of.users)), day, {status: 1})


def loading(events: int, seed: str, batch: int, clocks: Sequence[int]) -> Iterator[list[Event]]:
    """Yield the events of the given ``clocks`` in batches. All clocks of the generator together have ``events`` events.

    The clocks take turns, so that days come in order.
    """
    of = population(events)
    streams = [stream(of, f"{seed}/{clock}", FIRST_DAY, clock) for clock in clocks]
    left = [events // CLOCKS + (clock < events % CLOCKS) for clock in clocks]
    while any(left):
        for place, one in enumerate(streams):
            size = min(batch, left[place])
            left[place] -= size
            if size:
                yield list(islice(one, size))


class Statement(NamedTuple):
    """An upsert of one document: its selector, and its operators or pipeline."""

    selector: Mapping[str, Any]
    update: Mapping[str, Any] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the schema. Subclasses define how the version stores an event and how it reports.

    ``unique`` are the fields of a unique index in addition to the index on ``_id``. ``options`` are the options of the
    collection.
    """

    name: str
    unique: tuple[str, ...] = field(default=(), kw_only=True)
    options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def statement(self, event: Event) -> Statement:
        """Return the statement that stores the event."""
        raise NotImplementedError

    def pipelines(self, key: int, date: datetime) -> list[Pipeline]:
        """Return the pipelines of a report on a key up to a date: one for each of the ``RANGES``, or one for all."""
        raise NotImplementedError


def key_text(key: int) -> str:
    """Return the key as 64 upper-case hexadecimal digits."""
    return f"{key:0{2 * KEY_BYTES}X}"


def _key_bytes(key: int) -> bytes:
    return key.to_bytes(KEY_BYTES, "big")


def day_id(key: int, day: datetime) -> bytes:
    """Return key and YYYYMMDD: 36 bytes."""
    return _key_bytes(key) + bytes.fromhex(f"{day:%Y%m%d}")


def month_id(key: int, day: datetime) -> bytes:
    """Return key and YYYYMM: 35 bytes."""
    return _key_bytes(key) + bytes.fromhex(f"{day:%Y%m}")


def quarter_id(key: int, day: datetime) -> bytes:
    """Return key, year and quarter, 01 to 04: 35 bytes."""
    return _key_bytes(key) + bytes.fromhex(f"{day.year:04}{(day.month + 2) // 3:02}")


def starts(date: datetime) -> dict[str, datetime]:
    """Return the first day of each range that ends before ``date``. 29 February becomes 1 March in other years."""

    def earlier(years: int) -> datetime:
        try:
            return date.replace(year=date.year - years)
        except ValueError:
            return date.replace(year=date.year - years, month=3, day=1)

    return {name: earlier(years) for name, years in RANGES.items()}


def _summed(prefix: str, names: Mapping[str, str]) -> Pipeline:
    """Return the last stages of a pipeline: they sum the field ``prefix`` + name of each status over all documents."""
    sums = {status: {"$sum": f"${prefix}{name}"} for status, name in names.items()}
    return [{"$group": {"_id": None, **sums}}, {"$project": {"_id": 0}}]


def _named(event: Event, names: Mapping[str, str], prefix: str = "") -> dict[str, int]:
    return {prefix + names[status]: count for status, count in event.counts.items()}


@dataclass(frozen=True, slots=True)
class Days(Version):
    """A version with a document per day. ``names`` maps the long name of each status to the name in documents.

    ``select`` returns the selector of the document of a key and a day. ``within`` returns the condition for the
    documents of a key between two days.
    """

    names: Mapping[str, str]
    select: Callable[[int, datetime], Mapping[str, Any]]
    within: Callable[[int, datetime, datetime], Mapping[str, Any]]

    def statement(self, event: Event) -> Statement:
        """Return the statement that increments the counters of the day."""
        return Statement(self.select(event.key, event.day), {"$inc": _named(event, self.names)})

    def pipelines(self, key: int, date: datetime) -> list[Pipeline]:
        """Return the pipelines that sum over the days of each range."""
        return [
            [{"$match": self.within(key, start, date)}, *_summed("", self.names)]
            for start in starts(date).values()
        ]


@dataclass(frozen=True, slots=True)
class Buckets(Version):
    """A version with a document per month or quarter. ``identify`` returns the ``_id`` of a document.

    ``items`` is the kind of the document's items: an array element for each event (``events``), an array element for
    each day (``days``), or a field for each day, named in the date format ``items``. ``report`` is the way to sum the
    items: by ``unwind``, in an expression (``reduce``), or in one expression for all ranges (``all``). With ``totals``,
    the document also stores its sums, which a report uses for documents that lie entirely in a range.
    """

    identify: Identify
    items: str
    report: str
    totals: bool = False

    def statement(self, event: Event) -> Statement:
        """Return the statement that adds the event to the items of its bucket."""
        selector, short = {"_id": self.identify(event.key, event.day)}, _named(event, STATUSES)
        if self.items == "events":
            return Statement(selector, {"$push": {"items": {"date": event.day, **short}}})
        if self.items == "days":
            return Statement(selector, [{"$set": _merged(event.day, short, self.totals)}])
        totals = _named(event, STATUSES, "totals.") if self.totals else {}
        return Statement(
            selector, {"$inc": {**totals, **_named(event, STATUSES, f"items.{event.day:{self.items}}.")}}
        )

    def pipelines(self, key: int, date: datetime) -> list[Pipeline]:
        """Return the pipelines that sum over the buckets of each range."""
        first = starts(date)
        if self.report == "all":
            between = _between(self.identify(key, first["tenYears"]), self.identify(key, date))
            return [[between, *_all_ranges(first, date)]]
        return [self._summed_from(start, key, date) for start in first.values()]

    def _summed_from(self, start: datetime, key: int, end: datetime) -> Pipeline:
        lower, upper = self.identify(key, start), self.identify(key, end)
        if self.report == "unwind":
            inside = {"$match": {"items.date": {"$gte": start, "$lt": end}}}
            return [_between(lower, upper), {"$unwind": "$items"}, inside, *_summed("items.", STATUSES)]
        if self.items == "days":
            days = {"$and": [{"$gte": ["$$this.date", start]}, {"$lt": ["$$this.date", end]}]}
            within = _totals("$items", days, "$$this")
        else:  # only buckets at the ends hold days outside the range
            ends = [
                {"case": {"$eq": ["$_id", lower]}, "then": {"$gte": ["$$this.k", f"{start:{self.items}}"]}},
                {"case": {"$eq": ["$_id", upper]}, "then": {"$lt": ["$$this.k", f"{end:{self.items}}"]}},
            ]
            within = _totals(_FIELDS, {"$switch": {"branches": ends, "default": True}}, "$$this.v")
        if self.totals:
            is_between = {"$and": [{"$gt": ["$_id", lower]}, {"$lt": ["$_id", upper]}]}
            within = {"$cond": [is_between, "$totals", within]}
        return [_between(lower, upper), {"$project": {"within": within}}, *_summed("within.", STATUSES)]


def _between(lower: bytes, upper: bytes) -> dict[str, Any]:
    return {"$match": {"_id": {"$gte": lower, "$lte": upper}}}


def _none_yet() -> dict[str, int]:
    return dict.fromkeys(STATUSES.values(), 0)


def _added(path: str, count: int) -> dict[str, Any]:
    """Return an expression that adds ``count`` to the number in a field. A missing field counts as 0."""
    return {"$add": [{"$ifNull": [path, 0]}, count]}


def _increased(totals: str, counts: str) -> dict[str, Any]:
    """Return expressions that add the counts at the path ``counts`` to the totals of the same names at ``totals``."""
    return {
        name: {"$add": [f"{totals}.{name}", {"$ifNull": [f"{counts}.{name}", 0]}]}
        for name in STATUSES.values()
    }


def _totals(items: Any, inside: Any, counts: str) -> dict[str, Any]:
    """Return an expression for the totals of ``counts`` over the items for which ``inside`` is true.

    ``inside`` and ``counts`` are expressions on ``$$this``.
    """
    summed = {"$cond": [inside, _increased("$$value", counts), "$$value"]}
    return {"$reduce": {"input": items, "initialValue": _none_yet(), "in": summed}}


def _merged(day: datetime, short: Mapping[str, int], keeps_totals: bool) -> dict[str, Any]:
    """Return the fields that an event changes: the day's item is incremented or, if the document lacks it, appended."""
    counts = {name: _added(f"$$this.{name}", count) for name, count in short.items()}
    here = {"$eq": ["$$this.date", day]}
    found = [{"$cond": [here, {"$mergeObjects": ["$$this", counts]}, "$$this"]}]
    walked = {
        "$reduce": {
            "input": {"$ifNull": ["$items", []]},
            "initialValue": {"found": False, "items": []},
            "in": {
                "found": {"$or": ["$$value.found", here]},
                "items": {"$concatArrays": ["$$value.items", found]},
            },
        }
    }
    appended = {"$concatArrays": ["$$walked.items", [{"date": day, **short}]]}
    items = {
        "$let": {
            "vars": {"walked": walked},
            "in": {"$cond": ["$$walked.found", "$$walked.items", appended]},
        }
    }
    totals = {f"totals.{name}": _added(f"$totals.{name}", count) for name, count in short.items()}
    return {**(totals if keeps_totals else {}), "items": items}


_FIELDS = {"$objectToArray": "$items"}


def _all_ranges(first: Mapping[str, datetime], date: datetime) -> Pipeline:
    """Return the stages that report on all ranges: a day counts in each range that contains it."""
    names = list(first)
    branches = [
        {
            "case": {"$gte": ["$$this.k", f"{start:%Y%m%d}"]},
            "then": {
                longer: _increased(f"$$value.{longer}", "$$this.v")
                if place >= number
                else f"$$value.{longer}"
                for place, longer in enumerate(names)
            },
        }
        for number, start in enumerate(first.values())
    ]
    into_ranges = {"$switch": {"branches": branches, "default": "$$value"}}
    totals = {
        "$reduce": {
            "input": _FIELDS,
            "initialValue": {name: _none_yet() for name in names},
            "in": {"$cond": [{"$lt": ["$$this.k", f"{date:%Y%m%d}"]}, into_ranges, "$$value"]},
        }
    }
    sums = {
        f"{name}_{status}": {"$sum": f"$within.{name}.{short}"}
        for name in names
        for status, short in STATUSES.items()
    }
    shown = {name: {status: f"${name}_{status}" for status in STATUSES} for name in names}
    return [
        {"$project": {"within": totals}},
        {"$group": {"_id": None, **sums}},
        {"$project": {"_id": 0, **shown}},
    ]


VERSIONS: Mapping[str, Version] = {
    version.name: version
    for version in (
        Days(
            "appV1",
            _LONG,
            lambda key, day: {"_id": {"date": day, "key": key_text(key)}},
            lambda key, start, end: {"_id.key": key_text(key), "_id.date": {"$gte": start, "$lt": end}},
            unique=("_id.key", "_id.date"),
        ),
        Days(
            "appV2",
            _LONG,
            lambda key, day: {"key": key_text(key), "date": day},
            lambda key, start, end: {"key": key_text(key), "date": {"$gte": start, "$lt": end}},
            unique=("key", "date"),
        ),
        Days(
            "appV3",
            STATUSES,
            lambda key, day: {"key": _key_bytes(key), "date": day},
            lambda key, start, end: {"key": _key_bytes(key), "date": {"$gte": start, "$lt": end}},
            unique=("key", "date"),
        ),
        Days(
            "appV4",
            STATUSES,
            lambda key, day: {"_id": day_id(key, day)},
            lambda key, start, end: {"_id": {"$gte": day_id(key, start), "$lt": day_id(key, end)}},
        ),
        Buckets("appV5R0", month_id, "events", "unwind"),
        Buckets("appV5R1", quarter_id, "events", "unwind"),
        Buckets("appV5R2", quarter_id, "days", "unwind"),
        Buckets("appV5R3", quarter_id, "days", "reduce"),
        Buckets("appV5R4", quarter_id, "days", "reduce", totals=True),
        Buckets("appV6R0", month_id, "%d", "reduce"),
        Buckets("appV6R1", quarter_id, "%m%d", "reduce"),
        Buckets("appV6R2", quarter_id, "%m%d", "reduce", totals=True),
        Buckets("appV6R3", quarter_id, "%Y%m%d", "all"),
        Buckets("appV6R4", quarter_id, "%Y%m%d", "all", options=_ZSTD),
    )
}
"""The versions by name, in the order of their publication."""
