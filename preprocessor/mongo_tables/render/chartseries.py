"""The series and points that rows have for a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from bson.datetime_ms import DatetimeMS

from mongo_tables.aggregation.values import MISSING, date_from_millis, is_date, millis
from mongo_tables.render.chartdata import AxisKind, Data, Panel, Plot, Point, Rows, Series
from mongo_tables.render.chartstack import stack_series
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import Conclusion, conclusion_of
from mongo_tables.render.conclusiontext import conclusion_in_words
from mongo_tables.render.text import range_text, with_minus_signs
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
    order = {series.name: number for number, series in enumerate(_gather(plot, kind, placed, placed).series)}
    groups: dict[str, list[_Placed]] = {}
    for one in placed:
        groups.setdefault(facet_text(plot, one.row), []).append(one)
    panels = []
    for name, own in groups.items():
        data = _gather(plot, kind, own if plot.horizontal else placed, own)
        found = {series.name: series._replace(panel=name) for series in data.series}
        series = tuple(found.get(each) or Series(each, (), name) for each in order)
        panels.append(Panel(name, data._replace(series=series)))
    return panels


def facet_text(plot: Plot, row: Mapping[str, object]) -> str:
    """The name of the panel in which a row stands."""
    return plot.text(plot.facets, column_value(row, plot.facets)) if plot.facets else ""


def _place_rows(plot: Plot, rows: Rows) -> tuple[AxisKind, list[_Placed]]:
    kind = _axis_kind(plot, rows)
    values = [column_value(row, plot.x) for row in rows]
    texts = [plot.x_text(value) for value in values]
    at = places_of(kind, values, texts)
    return kind, [_Placed(*one) for one in zip(rows, at, texts, strict=True)]


def _gather(plot: Plot, kind: AxisKind, shown: Sequence[_Placed], own: Sequence[_Placed]) -> Data:
    """The points of the rows ``own``, over the places of all that are ``shown``."""
    places = dict(sorted((one.x, one.text) for one in shown if one.x is not None))
    found: dict[str, list[Point]] = {}
    for row, x, text in own:
        for column in plot.y if x is not None else ():
            points = found.setdefault(_name(plot, row, column), [])
            points.append(_point(plot, row, column, x or 0.0, text))
    ordered = plot.mark in ("line", "area") or kind == "time"
    series = tuple(Series(name, _in_order(points, ordered)) for name, points in found.items())
    data = Data(kind, tuple(places), tuple(places.values()), series)
    return stack_series(plot, data) if plot.stack else data


def places_of(kind: AxisKind, values: Sequence[object], texts: Sequence[str]) -> list[float | None]:
    """Where each value stands on the horizontal axis; None where it has no place there."""
    if kind == "number":
        return [drawable(value) for value in values]
    if kind == "time":
        return [moment_of(value) for value in values]
    place = {text: float(index) for index, text in enumerate(dict.fromkeys(texts))}
    return [place[text] for text in texts]


def _axis_kind(plot: Plot, rows: Rows) -> AxisKind:
    """Numbers and dates have their distances; anything else, and numbers under bars, is a row of names."""
    if plot.horizontal:
        return "category"
    present = present_values(rows, plot.x)
    if present and all(map(is_date, present)):
        return "time"
    numbers = plot.mark != "bar" and all(map(is_number, present))
    return "number" if numbers and any(drawable(value) is not None for value in present) else "category"


def present_values(rows: Rows, column: str) -> list[Any]:
    """The values of a column that there are."""
    values = (column_value(row, column) for row in rows)
    return [value for value in values if value is not MISSING and value is not None]


def _point(plot: Plot, row: Mapping[str, object], column: str, x: float, x_text: str) -> Point:
    value = column_value(row, column)
    if (one := conclusion_of(value)) is not None:
        ratio = _on_axis(plot, None if one.ratio is None else float(one.ratio))
        words = with_minus_signs(conclusion_in_words(value)) or plot.text(column, None)
        interval = None if ratio is None else _known_interval(one)
        return Point(x, ratio, x_text, words, interval, counted=count_blocks(one.blocks, one.campaigns))
    number = _on_axis(plot, value)
    unit = "" if number is None else plot.unit_beside(column)
    point = Point(x, number, x_text, plot.text(column, value), unit=unit)
    if point.y is None or column not in plot.spread:
        return point
    low, high = (column_value(row, field) for field in plot.spread[column][:2])
    ends = (_on_axis(plot, low), _on_axis(plot, high))
    if ends[0] is None or ends[1] is None:
        return point
    form = plot.format.get(column)
    text = with_minus_signs(f"({range_text(cell_text(low, form), cell_text(high, form))})")
    counted = _count_repeats(row, plot.spread[column][2:])
    return point._replace(ends=(ends[0], ends[1]), ends_text=text, counted=counted)


def _count_repeats(row: Mapping[str, object], fields: Sequence[str]) -> str:
    """How many repeats are behind a range, where a field of the row says so."""
    number = finite_decimal(column_value(row, fields[0])) if fields else None
    if number is None:
        return ""
    return "1 repeat" if number == 1 else f"{number:f} repeats"


def _known_interval(one: Conclusion) -> tuple[float, float] | None:
    if one.ratio is None or one.interval is None:
        return None
    low, high = map(float, one.interval)
    return (low, high) if low > 0 and high < _LARGEST else None


def _on_axis(plot: Plot, value: object) -> float | None:
    """The value as a number that the vertical axis can show."""
    number = drawable(value)
    return number if number is None or number > 0 or "y" not in plot.log else None


def _in_order(points: list[Point], ordered: bool) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.x)) if ordered else tuple(points)


def _name(plot: Plot, row: Mapping[str, object], column: str) -> str:
    """What a series is called: the value that tells it apart, the column where there are several."""
    if plot.series is None:
        return plot.label(column)
    value = plot.text(plot.series, column_value(row, plot.series))
    return value if len(plot.y) == 1 else f"{value}, {plot.label(column)}"


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
    """The number that the vertical axis shows: of a comparison its ratio."""
    one = conclusion_of(value)
    return drawable(value) if one is None else None if one.ratio is None else float(one.ratio)


def moment_of(value: Any) -> float | None:
    """Milliseconds since 1970 of a date in the years 1 to 9999, those that a cell can show as a date."""
    if not is_date(value) or isinstance(date_from_millis(millis(value)), DatetimeMS):
        return None
    return float(millis(value))
