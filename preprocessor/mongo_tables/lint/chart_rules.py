"""Rules about the horizontal axis of charts: texts that are dates, and a time zone without effect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from mongo_tables.aggregation.values import is_date
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import RuleContext, rule
from mongo_tables.render.charts.marks import MARKS
from mongo_tables.render.charts.plot import plot_of
from mongo_tables.render.charts.series import present_values

Rows = Sequence[Mapping[str, Any]]

_DATE: Final = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d(:\d\d){0,2}(\.\d+)?Z?)?)?")


@rule("MT425", of="rows")
def find_zone_without_dates(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT425: the chart names a time zone, but its axis has no dates, so the zone has no effect."""
    spec = subject.spec
    plot = plot_of(spec)
    if plot and plot.timezone and not any(map(is_date, present_values(rows, plot.x))):
        message = f"`timezone` has no effect here: no row has a date in `{plot.x}`"
        hint = "leave dates as dates in the pipeline; $dateToString and $dateTrunc have a `timezone` of their own"
        yield subject.finding("MT425", spec.locate((*plot.place, "timezone"), key=True), message, hint)


@rule("MT426", of="rows")
def find_dates_as_names(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT426: texts that are dates appear in the order of the rows, which is not the order of time."""
    spec = subject.spec
    plot = plot_of(spec)
    if plot is None:
        return
    names = _dates_as_text(rows, plot.x)
    wrong = _out_of_order(names)
    if wrong is not None:
        message = f"`{plot.x}` has strings, which keep the order of the rows: {wrong[0]} before {wrong[1]}"
        hint = "keep dates as dates in the pipeline: a time axis shows them to scale"
        yield subject.finding("MT426", spec.locate((*plot.place, "x")), message, hint)


def _dates_as_text(rows: Rows, column: str) -> list[str]:
    """Return the distinct texts of a column, or nothing if one of its values is not a date as text."""
    names = list(dict.fromkeys(present_values(rows, column)))
    return names if all(isinstance(one, str) and _DATE.fullmatch(one) for one in names) else []


def _out_of_order(names: list[str]) -> tuple[str, str] | None:
    """Return the first two names that contradict the order of time, or None if time runs in one direction."""
    if names == sorted(names, reverse=True):
        return None
    return next(((one, other) for one, other in pairwise(names) if one > other), None)


@rule("MT429", of="rows")
def find_dates_not_to_scale(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT429: a line or an area connects texts that are dates, at equal distances for unequal periods of time."""
    spec = subject.spec
    plot = plot_of(spec)
    if plot is None or not MARKS[plot.mark].joined:
        return
    names = _dates_as_text(rows, plot.x)
    if len(names) < 3 or _out_of_order(names) or _evenly_spaced(names):
        return
    message = (
        f"`{plot.x}` has strings, which are drawn at equal distances: {names[0]}, {names[1]} and {names[2]} too, "
        "whatever time lies between them"
    )
    dates = f'{{"$set": {{"{plot.x}": {{"$toDate": "${plot.x}"}}}}}}'
    hint = f"convert them to dates, which a time axis shows to scale: {dates}"
    yield subject.finding("MT429", spec.locate((*plot.place, "x")), message, hint)


def _evenly_spaced(names: list[str]) -> bool:
    """Return whether the periods between consecutive dates are equal, in calendar months or in seconds."""
    try:
        moments = [datetime.fromisoformat(_whole(name)) for name in names]
    except ValueError:
        return True  # Not a day of the calendar: nothing is known.
    months = {12 * (b.year - a.year) + b.month - a.month for a, b in pairwise(moments)}
    same_day = len({(one.day, one.time()) for one in moments}) == 1
    return (same_day and len(months) == 1) or len({b - a for a, b in pairwise(moments)}) == 1


def _whole(name: str) -> str:
    """Return the date, completed with the day and the time."""
    day, _, time = name.removesuffix("Z").replace("T", " ").partition(" ")
    time, _, part = time.partition(".")
    return f"{day}{'-01' if len(day) == 7 else ''} {time + '00:00:00'[len(time) :]}.{(part + '000000')[:6]}"
