"""The report: for each of five ranges of years before a date, how many events had which status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from preprocessor.runner.eventschemas.events import STATUSES, Event
from preprocessor.runner.eventschemas.version import Pipeline

YEARS: Mapping[str, int] = {"oneYear": 1, "threeYears": 3, "fiveYears": 5, "sevenYears": 7, "tenYears": 10}
Counts = dict[str, int]
Report = dict[str, Counts]


def years_before(date: datetime, years: int) -> datetime:
    """The same day of the calendar years before; 29 February becomes 1 March where there is none."""
    try:
        return date.replace(year=date.year - years)
    except ValueError:
        return date.replace(year=date.year - years, month=3, day=1)


def starts(date: datetime) -> dict[str, datetime]:
    """The first day of each range; the date itself is the first day after all of them."""
    return {name: years_before(date, years) for name, years in YEARS.items()}


def counted(events: Sequence[Event], key: int, date: datetime) -> Report:
    """The report by counting, without a database: what every version has to give."""
    report: Report = {name: dict.fromkeys(STATUSES, 0) for name in YEARS}
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
        return {name: dict(row.get(name, none)) for name in YEARS}
    return {name: dict(rows[0] if rows else none) for name, rows in zip(YEARS, answers, strict=True)}


def summed(prefix: str, names: Mapping[str, str]) -> Pipeline:
    """The last stages of a pipeline for one range: sums over all documents of ``prefix`` and the name of a status."""
    sums = {status: {"$sum": f"${prefix}{name}"} for status, name in names.items()}
    return [{"$group": {"_id": None, **sums}}, {"$project": {"_id": 0}}]
