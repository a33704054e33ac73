"""The series and points that rows have for a chart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from bson.datetime_ms import DatetimeMS

from mongo_tables.aggregation.values import MISSING, date_from_millis, is_date, millis
from mongo_tables.render.charts.marks import MARKS, mark_of
from mongo_tables.render.charts.plot import AxisKind, Data, Panel, Plot, Point, Rows, Series
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import conclusion_in_words, conclusion_of
from mongo_tables.render.markup import range_text, with_minus_signs
from mongo_tables.render.values import cell_text, finite_decimal, is_number
from mongo_tables.results.verdicts import count_blocks

# Beyond these no axis has a power of ten left to mark; no measure comes near.
_LARGEST: Final = 1e300
_SMALLEST: Final = 1e-300


class _Placed(NamedTuple):
    """A row with its place on the horizontal axis, None for none, and what is called there."""

    row: Mapping[str, object]
    x: float | None
    text: str


def data_of(plot: Plot, rows: Rows) -> Data:
    """The series of a plot, in the order in which the rows name them."""
    kind, placed = _place_rows(plot, rows)
    return _gather(plot, kind, placed, placed)


def panels_of(plot: Plot, rows: Rows) -> list[Panel]:
    """The panels of a plot with ``facets``, in the order in which the rows name them.

    They share the horizontal axis and the order of the series; names beside horizontal bars are those of the panel.
    """
    kind, placed = _place_rows(plot, rows)
    order = [series.name for series in _gather(plot, kind, placed, placed).series]
    groups: dict[str, list[_Placed]] = {}
    for one in placed:
        name = plot.text(plot.facets, column_value(one.row, plot.facets)) if plot.facets else ""
        groups.setdefault(name, []).append(one)
    panels = []
    for name, own in groups.items():
        data = _gather(plot, kind, own if plot.horizontal else placed, own)
        found = {series.name: series.points for series in data.series}
        series = tuple(Series(each, found.get(each, ()), name) for each in order)
        panels.append(Panel(name, data._replace(series=series)))
    return panels


def _place_rows(plot: Plot, rows: Rows) -> tuple[AxisKind, list[_Placed]]:
    """The rows in their places. Numbers and dates have their distances, all else, and numbers under bars, are names."""
    present = present_values(rows, plot.x)
    kind: AxisKind = "category"
    if present and not plot.horizontal:
        if all(map(is_date, present)):
            kind = "time"
        elif not mark_of(plot).banded and all(map(is_number, present)):
            kind = "number" if any(drawable(value) is not None for value in present) else "category"
    values = [column_value(row, plot.x) for row in rows]
    texts = [plot.x_text(value) for value in values]
    at = places_of(kind, values, texts)
    return kind, [_Placed(*one) for one in zip(rows, at, texts, strict=True)]


def _gather(plot: Plot, kind: AxisKind, shown: Sequence[_Placed], own: Sequence[_Placed]) -> Data:
    """The points of the rows ``own``, over the places of all that are ``shown``."""
    mark = mark_of(plot)
    places = dict(sorted((one.x, one.text) for one in shown if one.x is not None))
    found: dict[str, list[Point]] = {}
    for row, x, text in own:
        for column in plot.y if x is not None else ():
            name = plot.label(column)
            if plot.series is not None:
                value = plot.text(plot.series, column_value(row, plot.series))
                name = value if len(plot.y) == 1 else f"{value}, {name}"
            found.setdefault(name, []).append(_point(plot, row, column, x or 0.0, text))
    if mark.joined or kind == "time":
        for points in found.values():
            points.sort(key=lambda point: point.x)
    series = tuple(Series(name, tuple(points)) for name, points in found.items())
    data = Data(kind, tuple(places), tuple(places.values()), series, mark.banded)
    stacks = plot.stack and MARKS[plot.mark].stacked
    return _stack(plot, data, joined=mark.joined) if stacks else data


def places_of(kind: AxisKind, values: Sequence[object], texts: Sequence[str]) -> list[float | None]:
    """Where each value stands on the horizontal axis; None where it has no place there."""
    if kind == "number":
        return [drawable(value) for value in values]
    if kind == "time":
        return [moment_of(value) for value in values]
    place = {text: float(index) for index, text in enumerate(dict.fromkeys(texts))}
    return [place[text] for text in texts]


def present_values(rows: Rows, column: str) -> list[Any]:
    """The values of a column that there are."""
    values = (column_value(row, column) for row in rows)
    return [value for value in values if value is not MISSING and value is not None]


def _point(plot: Plot, row: Mapping[str, object], column: str, x: float, x_text: str) -> Point:
    value = column_value(row, column)
    if (one := conclusion_of(value)) is not None:
        ratio = _on_axis(plot, None if one.ratio is None else float(one.ratio))
        words = with_minus_signs(conclusion_in_words(value)) or plot.text(column, None)
        interval = None
        if ratio is not None and one.interval is not None and one.interval[1] < _LARGEST:
            interval = float(one.interval[0]), float(one.interval[1])
        return Point(x, ratio, x_text, words, interval, counted=count_blocks(one.blocks, one.campaigns))
    number = _on_axis(plot, value)
    unit = "" if number is None else plot.unit_beside(column)
    point = Point(x, number, x_text, plot.text(column, value), unit=unit)
    if number is None or column not in plot.spread:
        return point
    low, high, *counts = (column_value(row, field) for field in plot.spread[column])
    ends = (_on_axis(plot, low), _on_axis(plot, high))
    if ends[0] is None or ends[1] is None:
        return point
    form = plot.format.get(column)
    text = with_minus_signs(f"({range_text(cell_text(low, form), cell_text(high, form))})")
    repeats = finite_decimal(counts[0]) if counts else None
    counted = "" if repeats is None else "1 repeat" if repeats == 1 else f"{repeats:f} repeats"
    return point._replace(ends=(ends[0], ends[1]), ends_text=text, counted=counted)


def _on_axis(plot: Plot, value: object) -> float | None:
    """The value as a number that the axis of values can show."""
    number = drawable(value)
    return number if number is None or number > 0 or "y" not in plot.log else None


def drawable(value: object) -> float | None:
    """The value as a number that an axis can show; None where it is none: a text, NaN, an infinity."""
    if not is_number(value):
        return None
    try:
        number = float(str(value))
    except (ValueError, OverflowError):
        return None
    if abs(number) < _SMALLEST:
        return 0.0
    return number if abs(number) < _LARGEST else None


def y_number(value: object) -> float | None:
    """The number that the axis of values shows: of a comparison its ratio."""
    one = conclusion_of(value)
    return drawable(value) if one is None else None if one.ratio is None else float(one.ratio)


def moment_of(value: Any) -> float | None:
    """Milliseconds since 1970 of a date in the years 1 to 9999, those that a cell can show as a date."""
    if not is_date(value) or isinstance(date_from_millis(millis(value)), DatetimeMS):
        return None
    return float(millis(value))


def _stack(plot: Plot, data: Data, *, joined: bool) -> Data:
    """The data with each series on those before it, without ranges: that of a part is not that of a sum.

    Values above zero stand on one another upwards, those below zero downwards. What is joined, an area, has nothing to
    stand on where one below it has no value, so there is a gap; bars stand on those that there are.
    """
    piles: dict[float, list[float | None]] = defaultdict(list)
    stacked = []
    for series in data.series:
        points = []
        for point in _at_every_place(series, data) if joined else series.points:
            pile = piles[point.x]
            if point.y is None or (joined and None in pile):
                pile.append(None)
                points.append(point._replace(y=None, ends=None))
                continue
            below = [part for part in pile if part is not None and (part < 0) == (point.y < 0)]
            pile.append(point.y)
            points.append(point._replace(base=sum(below, 0.0), ends=None))
        stacked.append((series, points))
    totals = {x: _total_text(plot, pile) for x, pile in piles.items()}
    return data._replace(
        series=tuple(
            series._replace(points=tuple(point._replace(total=totals[point.x]) for point in points))
            for series, points in stacked
        )
    )


def _at_every_place(series: Series, data: Data) -> list[Point]:
    """The points of a series, with a gap at each place where it has none."""
    own = {point.x: point for point in series.points}
    places = zip(data.x_values, data.x_texts, strict=True)
    return [own.get(x) or Point(x, None, text, "", absent=True) for x, text in places]


def _total_text(plot: Plot, pile: Sequence[float | None]) -> str:
    """The sum as a reader of the texts would have it; "" where a part is not known, or parts have both signs."""
    known = [part for part in pile if part is not None]
    if len(known) < len(pile) or (min(known, default=0) < 0 < max(known, default=0)):
        return ""
    return plot.text(plot.y[0], float(sum(map(Decimal, map(repr, known)))))
