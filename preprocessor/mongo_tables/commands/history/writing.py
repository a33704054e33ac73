"""Series of speeds as lines of text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from mongo_tables.commands.compare.amounts import say_amount, say_number
from mongo_tables.commands.compare.writing import dump_plain
from mongo_tables.commands.history.known import Known, find_known
from mongo_tables.findings.reporters import format_count
from mongo_tables.results.comparison import PER_SECOND
from mongo_tables.results.history import Change, Point, Series
from mongo_tables.results.intervals import Interval


def format_text(
    series: Sequence[Series], known: Sequence[Known], *, points: bool, ratios: bool
) -> Iterator[str]:
    """Each row in a line, with its points where asked for, and each of its changes."""
    for one in series:
        first, last = one.points[0], one.points[-1]
        campaigns = format_count(len(one.points), "campaign")
        when = f"{first.start:%Y-%m-%d} to {last.start:%Y-%m-%d}"
        other = sum(bool(point.otherwise) for point in one.points)
        apart = f", {other} of them measured otherwise" if other else ""
        yield f"{one.name}: {_say_value(last, ratios)}, {campaigns} from {when}{apart}"
        yield from (f"  {_describe_point(point, ratios)}" for point in one.points if points)
        yield from (f"  {_describe_change(one, change, known)}" for change in one.changes)
    changes = sum(len(one.changes) for one in series)
    yield f"{format_count(changes, 'change')} in {format_count(len(series), 'row')}"


def _say_value(point: Point, ratios: bool) -> str:
    if not ratios and point.unit != PER_SECOND:
        return say_amount(point.value, point.unit)
    unit = "" if ratios else point.unit
    write = (lambda value: f"{value:.3f}") if ratios else say_number
    if point.low is None or point.high in (None, inf):
        return f"{write(point.value)}{unit}"
    return f"{write(point.value)}{unit} ({write(point.low)} to {write(point.high)})"


def _describe_point(point: Point, ratios: bool) -> str:
    versions = ", ".join(part for part in (point.program, point.server and f"server {point.server}") if part)
    other = f"  measured otherwise: {', '.join(point.otherwise)}" if point.otherwise else ""
    return f"{point.start:%Y-%m-%d %H:%M}  {_say_value(point, ratios)}  {versions}  {point.campaign}{other}"


def _describe_change(series: Series, change: Change, known: Sequence[Known]) -> str:
    why = find_known(series.name, change.point.campaign, known)
    reason = (
        "not known why" if why is None else f"known: {why.reason}{f' ({why.ticket})' if why.ticket else ''}"
    )
    since = f"from {change.point.start:%Y-%m-%d %H:%M} on {_say_ratio(change.ratio)}"
    return f"{since}; {reason}; campaign {change.point.campaign}"


def _say_ratio(found: Interval) -> str:
    """By how much another level is higher, with its interval."""
    ratio, low, high = (f"{100 * (end - 1):+.1f}" for end in found[:3])
    return f"{ratio} % ({low} to {high} %)" if found.high < inf else f"{ratio} %"


def format_json(series: Sequence[Series], known: Sequence[Known]) -> str:
    """Everything as one document; an end of an interval that is infinite is null."""
    content = [
        {**one._asdict(), "changes": [_as_document(one, change, known) for change in one.changes]}
        for one in series
    ]
    return dump_plain({"series": content})


def _as_document(series: Series, change: Change, known: Sequence[Known]) -> dict[str, Any]:
    why = find_known(series.name, change.point.campaign, known)
    return {
        "campaign": change.point.campaign,
        "start": change.point.start,
        **change.ratio._asdict(),
        "p": change.p,
        "known": why,
    }
