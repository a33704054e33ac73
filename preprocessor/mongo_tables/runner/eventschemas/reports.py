"""The report: for each of five ranges of years before a date, how many events had which status."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from mongo_tables.runner.eventschemas.version import Pipeline

YEARS: Mapping[str, int] = {"oneYear": 1, "threeYears": 3, "fiveYears": 5, "sevenYears": 7, "tenYears": 10}


def years_before(date: datetime, years: int) -> datetime:
    """The same day of the calendar years before; 29 February becomes 1 March where there is none."""
    try:
        return date.replace(year=date.year - years)
    except ValueError:
        return date.replace(year=date.year - years, month=3, day=1)


def starts(date: datetime) -> dict[str, datetime]:
    """The first day of each range; the date itself is the first day after all of them."""
    return {name: years_before(date, years) for name, years in YEARS.items()}


def summed(prefix: str, names: Mapping[str, str]) -> Pipeline:
    """The last stages of a pipeline for one range: sums over all documents of ``prefix`` and the name of a status."""
    sums = {status: {"$sum": f"${prefix}{name}"} for status, name in names.items()}
    return [{"$group": {"_id": None, **sums}}, {"$project": {"_id": 0}}]
