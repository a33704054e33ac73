"""Conversion of rows into the panels, series and points of a chart, and the layout of panels.

A chart with ``facets`` has a panel for each value of a column. The panels have the same axes and one key, except that
in a horizontal chart each panel has its own names. A wide drawing has panels side by side, a narrow one below one
another. A chart without ``facets`` has a single panel without a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from bson.datetime_ms import DatetimeMS

from mongo_tables.aggregation.values import MISSING, date_from_millis, is_date, is_number, millis
from mongo_tables.render.charts.axes import fit_names, letters_in
from mongo_tables.render.charts.elements import (
    BOLD,
    LINE,
    WIDTH,
    break_name,
    break_text,
    coordinate,
    draw_lines,
)
from mongo_tables.render.charts.marks import MARKS, mark_of
from mongo_tables.render.charts.plot import AxisKind, Data, Panel, Plot, PlotPoint, Series
from mongo_tables.render.column import Rows, column_value
from mongo_tables.render.conclusions import conclusion_of, words_of
from mongo_tables.render.markup import range_text, typeset
from mongo_tables.render.values import LARGEST, cell_text, drawable, finite_decimal
from mongo_tables.results.verdicts import count_blocks

BETWEEN: Final = 24
"""The space between two panels, in both directions."""
TITLE_HEIGHT: Final = 29
"""The height of one line of the title of the horizontal axis."""
_MOST_LINES: Final = 2


@dataclass(frozen=True, slots=True)
class PanelGrid:
    """The grid of panels: the panels in a row, the width of each, and the left edge of the first."""

    columns: int
    each: float
    left: float

    def x(self, number: int) -> float:
        """Return the left edge of the panel with this number."""
        return self.left + number % self.columns * (self.each + BETWEEN)


def lay_out_panels(plot: Plot, count: int, width: float, left: float, right: float) -> PanelGrid:
    """Return the grid of ``count`` panels between the margins ``left`` and ``right`` of the drawing."""
    columns = min({4: 2}.get(count, 3), count) if width == WIDTH else 1
    return PanelGrid(columns, (width - left - right - BETWEEN * (columns - 1)) / columns, left)


def draw_panel_names(panels: Sequence[Panel], width: float) -> tuple[float, list[list[str]]]:
    """Return the height of the names above the panels, and their elements. Names longer than two lines are cut."""
    if not any(panel.name for panel in panels):
        return 0, [[] for _ in panels]
    room = width / BOLD
    letters = letters_in(room)
    texts = fit_names([panel.name for panel in panels], _MOST_LINES * letters, roomy=letters)
    names = [break_name(text, room) for text in texts]
    most = max(map(len, names))
    # Short names are next to their panel, not at the top.
    drawn = [
        list(draw_lines(lines, 0, LINE * (most - len(lines) + 1), "mongo-chart__panel")) for lines in names
    ]
    return LINE * most + 10, drawn


def put_panels(
    grid: PanelGrid, drawn: Sequence[tuple[float, list[str]]], top: float
) -> tuple[float, list[str]]:
    """Return the bottom of the rows of panels, which begin at ``top``, and their elements.

    ``drawn`` has the height and the elements of each panel.
    """
    elements: list[str] = []
    for first in range(0, len(drawn), grid.columns):
        row = drawn[first : first + grid.columns]
        for number, (_, own) in enumerate(row):
            place = f"{coordinate(grid.x(number))} {coordinate(top)}"
            elements += [f'<g transform="translate({place})">', *own, "</g>"]
        top += max(height for height, _ in row) + BETWEEN
    return top - BETWEEN, elements


def axis_title(plot: Plot, title: str, axis: str, width: float) -> list[str]:
    """Return the lines of an axis title, which says whether the axis is logarithmic."""
    return break_text(f"{title}, log scale" if axis in plot.log else title, width / BOLD)


class _Placed(NamedTuple):
    """A row with its place on the horizontal axis (None if it has none) and the text of the place."""

    row: Mapping[str, object]
    x: float | None
    text: str


def panels_of(plot: Plot, rows: Rows) -> list[Panel]:
    """Return the panels of a plot, in the order of the rows.

    All panels have the same series. They have the same places on the horizontal axis, except that in a horizontal chart
    each panel has its own.
    """
    kind, placed = _place_rows(plot, rows)
    whole = _gather(plot, kind, placed, placed)
    if plot.facets is None:
        return [Panel("", whole)]
    groups: dict[str, list[_Placed]] = {}
    for one in placed:
        groups.setdefault(plot.text(plot.facets, column_value(one.row, plot.facets)), []).append(one)
    panels = []
    for name, own in groups.items():
        data = _gather(plot, kind, own if plot.horizontal else placed, own)
        found = {series.name: series.points for series in data.series}
        series = tuple(Series(each, found.get(each, ()), name) for each in [one.name for one in whole.series])
        panels.append(Panel(name, data._replace(series=series)))
    return panels


def _place_rows(plot: Plot, rows: Rows) -> tuple[AxisKind, list[_Placed]]:
    """Return the kind of the horizontal axis, and the rows with their places.

    Numbers and dates have places to scale. All other values, and numbers under bars, are names.
    """
    present = present_values(rows, plot.x)
    kind: AxisKind = "category"
    if present and not plot.horizontal:
        if all(map(is_date, present)):
            kind = "time"
        elif not mark_of(plot).banded and all(map(is_number, present)):
            kind = "number" if any(drawable(value) is not None for value in present) else "category"
    values = [column_value(row, plot.x) for row in rows]
    texts = [plot.text(plot.x, value) for value in values]
    at = places_of(kind, values, texts)
    return kind, [_Placed(*one) for one in zip(rows, at, texts, strict=True)]


def _gather(plot: Plot, kind: AxisKind, shown: Sequence[_Placed], own: Sequence[_Placed]) -> Data:
    """Return the points of the rows ``own``, on an axis with the places of the rows ``shown``."""
    mark = mark_of(plot)
    found_places = [(one.x, one.text) for one in shown if one.x is not None]
    # Names are in the order of rows.
    places = dict(found_places if kind == "category" else sorted(found_places))
    found: dict[str, list[PlotPoint]] = {}
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
    """Return the place of each value on the horizontal axis, or None for a value without a place."""
    if kind == "number":
        return [drawable(value) for value in values]
    if kind == "time":
        return [moment_of(value) for value in values]
    place = {text: float(index) for index, text in enumerate(dict.fromkeys(texts))}
    return [place[text] for text in texts]


def present_values(rows: Rows, column: str) -> list[Any]:
    """Return the values of a column that are neither null nor missing."""
    values = (column_value(row, column) for row in rows)
    return [value for value in values if value is not MISSING and value is not None]


def _point(plot: Plot, row: Mapping[str, object], column: str, x: float, x_text: str) -> PlotPoint:
    value = column_value(row, column)
    if (one := conclusion_of(value)) is not None:
        ratio = _on_axis(plot, None if one.ratio is None else float(one.ratio))
        words = typeset(words_of(one)) or plot.text(column, None)
        interval = None
        if ratio is not None and one.interval is not None and one.interval[1] < LARGEST:
            interval = float(one.interval[0]), float(one.interval[1])
        counted = count_blocks(one.blocks, one.campaigns)
        apart = filter(None, (_on_axis(plot, float(each)) for each in one.apart))
        return PlotPoint(x, ratio, x_text, words, interval, counted=counted, apart=tuple(apart))
    number = _on_axis(plot, value)
    unit = "" if number is None else plot.unit_beside(column)
    point = PlotPoint(x, number, x_text, plot.text(column, value), unit=unit)
    if number is None or column not in plot.spread:
        return point
    low, high, *counts = (column_value(row, field) for field in plot.spread[column])
    ends = (_on_axis(plot, low), _on_axis(plot, high))
    if ends[0] is None or ends[1] is None:
        return point
    form = plot.format.get(column)
    text = typeset(f"({range_text(cell_text(low, form), cell_text(high, form))})")
    repeats = finite_decimal(counts[0]) if counts else None
    counted = "" if repeats is None else "1 repeat" if repeats == 1 else f"{repeats:f} repeats"
    return point._replace(ends=(ends[0], ends[1]), ends_text=text, counted=counted)


def _on_axis(plot: Plot, value: object) -> float | None:
    """Return the value if it is a number that the value axis can show, else None."""
    number = drawable(value)
    return number if number is None or number > 0 or "y" not in plot.log else None


def y_number(value: object) -> float | None:
    """Return the number that the value axis shows for a value, or None. For a comparison, it is the ratio."""
    one = conclusion_of(value)
    return drawable(value) if one is None else None if one.ratio is None else float(one.ratio)


def moment_of(value: Any) -> float | None:
    """Return the milliseconds from 1970 to a date, or None if the value is not a date in the years 1 to 9999."""
    if not is_date(value) or isinstance(date_from_millis(millis(value)), DatetimeMS):
        return None
    return float(millis(value))


def _stack(plot: Plot, data: Data, *, joined: bool) -> Data:
    """Return the data with each series stacked on the series before it. Ranges are dropped, because they do not add
    up.

    Values above zero are stacked upwards, and values below zero downwards. Areas (``joined``) have a gap wherever a
    series below them has no value. Bars are stacked on the values that exist.
    """
    piles: dict[float, list[float | None]] = defaultdict(list)
    stacked = []
    for series in data.series:
        points: list[PlotPoint] = []
        every: Sequence[PlotPoint] = series.points
        if joined:  # An area has a gap at each place where its series has no point.
            own = {point.x: point for point in series.points}
            places = zip(data.x_values, data.x_texts, strict=True)
            every = [own.get(x) or PlotPoint(x, None, text, "", absent=True) for x, text in places]
        for point in every:
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


def _total_text(plot: Plot, pile: Sequence[float | None]) -> str:
    """Return the text of the decimal sum of the parts, or "" if a part is unknown or their signs differ."""
    known = [part for part in pile if part is not None]
    if len(known) < len(pile) or (min(known, default=0) < 0 < max(known, default=0)):
        return ""
    return plot.text(plot.y[0], float(sum(map(Decimal, map(repr, known)))))
