"""The report that every version has to give, by counting, and the one that its answers make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mongo_tables.runner.event_schemas import RANGES, STATUSES, Event, starts

Report = dict[str, dict[str, int]]


def counted(events: Sequence[Event], key: int, date: datetime) -> Report:
    """The report by counting, without a database: what every version has to give."""
    report: Report = {name: dict.fromkeys(STATUSES, 0) for name in RANGES}
    for event in events:
        for name, start in starts(date).items():
            if event.key == key and start <= event.day < date:
                for status, count in event.counts.items():
                    report[name][status] += count
    return report


def report_of(answers: Sequence[Sequence[Mapping[str, Any]]]) -> Report:
    """The report that the answers to a version's pipelines make; a range without a row has no events."""
    none: Mapping[str, int] = dict.fromkeys(STATUSES, 0)
    if len(answers) == 1:
        row = answers[0][0] if answers[0] else {}
        return {name: dict(row.get(name, none)) for name in RANGES}
    return {name: dict(rows[0] if rows else none) for name, rows in zip(RANGES, answers, strict=True)}
