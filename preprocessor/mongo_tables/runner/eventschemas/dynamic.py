"""V6R0 to V6R4: a document for a key and a month or quarter, whose fields are named after days.

The name of a field says what ``_id`` leaves open: DD in a month (V6R0), MMDD in a quarter (V6R1, and V6R2 with
totals of the quarter beside). V6R3 repeats the year in the name, YYYYMMDD, and so can answer all five ranges with one
pipeline; V6R4 is V6R3 with another compression. Names compare as texts, as their days do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mongo_tables.runner.eventschemas import reports
from mongo_tables.runner.eventschemas.buckets import between, increased, kept_or, none_yet, summing, totals_of
from mongo_tables.runner.eventschemas.events import STATUSES, Event
from mongo_tables.runner.eventschemas.identifiers import month_id, quarter_id
from mongo_tables.runner.eventschemas.version import Pipeline, Statement, Version

_ITEMS = {"$objectToArray": "$items"}
ZSTD = {"storageEngine": {"wiredTiger": {"configString": "block_compressor=zstd"}}}


@dataclass(frozen=True, slots=True)
class _Naming:
    """How a bucket and the days in it are named."""

    identify: Callable[[int, datetime], bytes]
    day: str

    def statement(self, event: Event) -> Statement:
        """Count up the event's day."""
        return Statement({"_id": self.identify(event.key, event.day)}, {"$inc": self._day_counts(event)})

    def statement_with_totals(self, event: Event) -> Statement:
        """Count up the totals and the event's day."""
        counts = {**_counts("totals", event), **self._day_counts(event)}
        return Statement({"_id": self.identify(event.key, event.day)}, {"$inc": counts})

    def pipelines(self, key: int, date: datetime) -> list[Pipeline]:
        """Sum the days of each range."""
        return [
            summing(self.identify(key, start), self.identify(key, date), self._totalled(key, start, date))
            for start in reports.starts(date).values()
        ]

    def pipelines_with_totals(self, key: int, date: datetime) -> list[Pipeline]:
        """Sum the totals of buckets, and days only of those at the ends of a range."""
        pipelines = []
        for start in reports.starts(date).values():
            lower, upper = self.identify(key, start), self.identify(key, date)
            totals = kept_or(lower, upper, self._totalled(key, start, date))
            pipelines.append(summing(lower, upper, totals))
        return pipelines

    def _day_counts(self, event: Event) -> dict[str, int]:
        return _counts(f"items.{event.day:{self.day}}", event)

    def _totalled(self, key: int, start: datetime, end: datetime) -> dict[str, Any]:
        # Only the buckets at the ends hold days outside the range.
        inside = {
            "$switch": {
                "branches": [
                    {
                        "case": {"$eq": ["$_id", self.identify(key, start)]},
                        "then": {"$gte": ["$$this.k", f"{start:{self.day}}"]},
                    },
                    {
                        "case": {"$eq": ["$_id", self.identify(key, end)]},
                        "then": {"$lt": ["$$this.k", f"{end:{self.day}}"]},
                    },
                ],
                "default": True,
            }
        }
        return totals_of(_ITEMS, inside, "$$this.v")


def _counts(path: str, event: Event) -> dict[str, int]:
    return {f"{path}.{STATUSES[status]}": count for status, count in event.counts.items()}


def _all_at_once(key: int, date: datetime) -> list[Pipeline]:
    starts = reports.starts(date)
    totals = {
        "$reduce": {
            "input": _ITEMS,
            "initialValue": {name: none_yet() for name in starts},
            "in": {"$cond": [{"$lt": ["$$this.k", f"{date:%Y%m%d}"]}, _into_ranges(starts), "$$value"]},
        }
    }
    sums = {
        f"{name}_{status}": {"$sum": f"$within.{name}.{short}"}
        for name in starts
        for status, short in STATUSES.items()
    }
    shown = {name: {status: f"${name}_{status}" for status in STATUSES} for name in starts}
    return [
        [
            between(quarter_id(key, starts["tenYears"]), quarter_id(key, date)),
            {"$project": {"within": totals}},
            {"$group": {"_id": None, **sums}},
            {"$project": {"_id": 0, **shown}},
        ]
    ]


def _into_ranges(starts: dict[str, datetime]) -> dict[str, Any]:
    """An item goes into the shortest range that it is in, and so into all longer ones; one in none is left out."""
    names = list(starts)
    branches = [
        {
            "case": {"$gte": ["$$this.k", f"{start:%Y%m%d}"]},
            "then": {
                longer: increased(f"$$value.{longer}", "$$this.v")
                if names.index(longer) >= names.index(name)
                else f"$$value.{longer}"
                for longer in names
            },
        }
        for name, start in starts.items()
    ]
    return {"$switch": {"branches": branches, "default": "$$value"}}


_MONTH = _Naming(month_id, "%d")
_QUARTER = _Naming(quarter_id, "%m%d")
_WITH_YEAR = _Naming(quarter_id, "%Y%m%d")

VERSIONS = (
    Version("appV6R0", _MONTH.statement, _MONTH.pipelines),
    Version("appV6R1", _QUARTER.statement, _QUARTER.pipelines),
    Version("appV6R2", _QUARTER.statement_with_totals, _QUARTER.pipelines_with_totals),
    Version("appV6R3", _WITH_YEAR.statement, _all_at_once),
    Version("appV6R4", _WITH_YEAR.statement, _all_at_once, options=ZSTD),
)
