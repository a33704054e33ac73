"""V1 to V4: a document for a key and a day, which events of that day count up.

From version to version key, names and ``_id`` become smaller: V1 has key and date as text and date in an ``_id``
document, V2 beside an ObjectId, V3 the key as bytes and names of one letter, V4 key and date as one binary ``_id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mongo_tables.runner.eventschemas import identifiers, reports
from mongo_tables.runner.eventschemas.events import STATUSES, Event
from mongo_tables.runner.eventschemas.version import Pipeline, Statement, Version

_LONG = {name: name for name in STATUSES}


def _counting(selector: Mapping[str, Any], event: Event, names: Mapping[str, str]) -> Statement:
    return Statement(selector, {"$inc": {names[status]: count for status, count in event.counts.items()}})


def _ranges(date: datetime) -> list[tuple[datetime, datetime]]:
    return [(start, date) for start in reports.starts(date).values()]


def _v1_statement(event: Event) -> Statement:
    return _counting({"_id": {"date": event.day, "key": identifiers.key_text(event.key)}}, event, _LONG)


def _v1_pipelines(key: int, date: datetime) -> list[Pipeline]:
    text = identifiers.key_text(key)
    return [
        [
            {"$match": {"_id.key": text, "_id.date": {"$gte": start, "$lt": end}}},
            *reports.summed("", _LONG),
        ]
        for start, end in _ranges(date)
    ]


def _v2_statement(event: Event) -> Statement:
    return _counting({"key": identifiers.key_text(event.key), "date": event.day}, event, _LONG)


def _v2_pipelines(key: int, date: datetime) -> list[Pipeline]:
    return _by_key_and_date(identifiers.key_text(key), date, _LONG)


def _v3_statement(event: Event) -> Statement:
    return _counting({"key": identifiers.key_bytes(event.key), "date": event.day}, event, STATUSES)


def _v3_pipelines(key: int, date: datetime) -> list[Pipeline]:
    return _by_key_and_date(identifiers.key_bytes(key), date, STATUSES)


def _by_key_and_date(key: str | bytes, date: datetime, names: Mapping[str, str]) -> list[Pipeline]:
    return [
        [{"$match": {"key": key, "date": {"$gte": start, "$lt": end}}}, *reports.summed("", names)]
        for start, end in _ranges(date)
    ]


def _v4_statement(event: Event) -> Statement:
    return _counting({"_id": identifiers.day_id(event.key, event.day)}, event, STATUSES)


def _v4_pipelines(key: int, date: datetime) -> list[Pipeline]:
    return [
        [
            {
                "$match": {
                    "_id": {"$gte": identifiers.day_id(key, start), "$lt": identifiers.day_id(key, end)}
                }
            },
            *reports.summed("", STATUSES),
        ]
        for start, end in _ranges(date)
    ]


VERSIONS = (
    Version("appV1", _v1_statement, _v1_pipelines, unique=("_id.key", "_id.date")),
    Version("appV2", _v2_statement, _v2_pipelines, unique=("key", "date")),
    Version("appV3", _v3_statement, _v3_pipelines, unique=("key", "date")),
    Version("appV4", _v4_statement, _v4_pipelines),
)
