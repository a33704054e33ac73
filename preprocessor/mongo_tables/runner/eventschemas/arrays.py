"""V5R0 to V5R4: a document for a key and a month or quarter, with an array of events or of days.

V5R0 and V5R1 push an element for every event. From V5R2 on an element is a day, found or appended by an update that
is a pipeline. V5R3 sums the array of a document in an expression and does not unwind it; V5R4 keeps the totals of
the quarter beside, for the quarters that lie in a range as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from mongo_tables.runner.eventschemas import reports
from mongo_tables.runner.eventschemas.buckets import added, between, kept_or, summing, totals_of
from mongo_tables.runner.eventschemas.events import STATUSES, Event
from mongo_tables.runner.eventschemas.identifiers import month_id, quarter_id
from mongo_tables.runner.eventschemas.version import Pipeline, Statement, Version

_Identify = Callable[[int, datetime], bytes]


def _short(event: Event) -> dict[str, int]:
    return {STATUSES[status]: count for status, count in event.counts.items()}


def _pushing(identify: _Identify, event: Event) -> Statement:
    element = {"date": event.day, **_short(event)}
    return Statement({"_id": identify(event.key, event.day)}, {"$push": {"items": element}})


def _merging(event: Event) -> Statement:
    return Statement({"_id": quarter_id(event.key, event.day)}, [{"$set": {"items": _with_day(event)}}])


def _merging_with_totals(event: Event) -> Statement:
    totals = {f"totals.{name}": added(f"$totals.{name}", count) for name, count in _short(event).items()}
    return Statement(
        {"_id": quarter_id(event.key, event.day)}, [{"$set": {**totals, "items": _with_day(event)}}]
    )


def _with_day(event: Event) -> dict[str, Any]:
    """The items in which the event's day is counted up, or the items and the day as one more."""
    counts = {name: added(f"$$this.{name}", count) for name, count in _short(event).items()}
    here = {"$eq": ["$$this.date", event.day]}
    walked = {
        "$reduce": {
            "input": {"$ifNull": ["$items", []]},
            "initialValue": {"found": False, "items": []},
            "in": {
                "found": {"$or": ["$$value.found", here]},
                "items": {
                    "$concatArrays": [
                        "$$value.items",
                        [{"$cond": [here, {"$mergeObjects": ["$$this", counts]}, "$$this"]}],
                    ]
                },
            },
        }
    }
    appended = {"$concatArrays": ["$$walked.items", [{"date": event.day, **_short(event)}]]}
    return {
        "$let": {
            "vars": {"walked": walked},
            "in": {"$cond": ["$$walked.found", "$$walked.items", appended]},
        }
    }


def _unwinding(identify: _Identify, key: int, date: datetime) -> list[Pipeline]:
    return [
        [
            between(identify(key, start), identify(key, date)),
            {"$unwind": "$items"},
            {"$match": {"items.date": {"$gte": start, "$lt": date}}},
            *reports.summed("items.", STATUSES),
        ]
        for start in reports.starts(date).values()
    ]


def _totalled(start: datetime, end: datetime) -> dict[str, Any]:
    inside = {"$and": [{"$gte": ["$$this.date", start]}, {"$lt": ["$$this.date", end]}]}
    return totals_of("$items", inside, "$$this")


def _reducing(key: int, date: datetime) -> list[Pipeline]:
    return [
        summing(quarter_id(key, start), quarter_id(key, date), _totalled(start, date))
        for start in reports.starts(date).values()
    ]


def _reducing_the_ends(key: int, date: datetime) -> list[Pipeline]:
    pipelines = []
    for start in reports.starts(date).values():
        lower, upper = quarter_id(key, start), quarter_id(key, date)
        pipelines.append(summing(lower, upper, kept_or(lower, upper, _totalled(start, date))))
    return pipelines


VERSIONS = (
    Version("appV5R0", partial(_pushing, month_id), partial(_unwinding, month_id)),
    Version("appV5R1", partial(_pushing, quarter_id), partial(_unwinding, quarter_id)),
    Version("appV5R2", _merging, partial(_unwinding, quarter_id)),
    Version("appV5R3", _merging, _reducing),
    Version("appV5R4", _merging_with_totals, _reducing_the_ends),
)
