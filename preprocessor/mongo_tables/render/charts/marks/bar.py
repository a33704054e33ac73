"""Bars, side by side or stacked, with their values if there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from mongo_tables.render.charts.axes import Axes, Scale
from mongo_tables.render.charts.elements import (
    Box,
    colour_class,
    coordinate,
    draw_bar,
    draw_stripes,
    draw_text,
    dress_part,
    text_width,
    tip_html,
)
from mongo_tables.render.charts.marks.dot import draw_range, draw_range_beside
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import Data, Plot, PlotPoint
from mongo_tables.render.faults import SpecFault

_MOST_WITH_VALUES: Final = 10
"""The largest number of bars that show their values."""
_WIDEST: Final = 64
_SHARE: Final = 0.76
_LEAST_WIDTH: Final = 6
"""The parts of a bar have gaps between them only if the bar is at least this wide."""
_BETWEEN: Final = 8
"""The space between the sums of two stacks."""
_THINNEST: Final = 1 / 1200
"""The smallest width of a bar, as a share of the axis: about half a pixel."""
_THICKNESS: Final = 14
"""The thickness of a bar in a horizontal chart."""


# -- side by side --


class _BarPlace(NamedTuple):
    """The left side and the width of a bar, and the room for its value (0 if bars do not show values)."""

    left: float
    width: float
    room: float


def _draw_bars(axes: Axes) -> Iterator[str]:
    """Yield the bars of all series, with their values unless the chart has references."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{colour_class(index)}">'
        for point in series.drawn:
            place = _place(axes, index, point)
            beside = min(1, place.width / 8)  # A thin bar keeps most of its width.
            at, floor = axes.y.at(point.y or 0.0), axes.y.foot()
            box = Box(place.left + beside, min(at, floor), place.width - 2 * beside, abs(at - floor))
            yield draw_bar(box, tip_html(axes.plot, series, point) if axes.tips else "")
            yield from draw_range(axes, point, place.left + place.width / 2)
            if not axes.plot.references:
                yield from _draw_value(axes, point, place)
        yield "</g>"


def _draw_values(axes: Axes) -> Iterator[str]:
    """Yield the values of all bars of a chart with references, in front of their lines."""
    for index, series in enumerate(axes.data.series if axes.plot.references else ()):
        for point in series.drawn:
            yield from _draw_value(axes, point, _place(axes, index, point))


def _width_of_bars(axes: Axes, count: int) -> float:
    return min(axes.band * _SHARE / count, _WIDEST)


def _place(axes: Axes, index: int, point: PlotPoint) -> _BarPlace:
    count = max(len(axes.data.series), 1)
    width = _width_of_bars(axes, count)
    left = axes.x.at(point.x) + (index - count / 2) * width
    if count > 1:  # Next to bars of other series, a value must not be wider than its bar.
        room = width
    elif axes.data.kind == "time":
        room = axes.band - 4
    else:
        room = min(width + 20, axes.band)
    return _BarPlace(left, width, room if count * len(axes.data.x_values) <= _MOST_WITH_VALUES else 0)


def _draw_value(axes: Axes, point: PlotPoint, place: _BarPlace) -> Iterator[str]:
    at, floor = axes.y.at(point.y or 0.0), axes.y.foot()
    ends = [at, floor, *map(axes.y.at, point.ends or ())]
    above = min(ends) - 5 if at <= floor else max(ends) + 13
    # The names under the axis need the room below it.
    if text_width(point.y_text) <= place.room and above <= axes.y.start + 3:
        yield draw_text(point.y_text, place.left + place.width / 2, above, "mongo-chart__value", "middle")


# -- stacked --


def _draw_stacks(axes: Axes) -> Iterator[str]:
    width = _width_of_bars(axes, 1)
    beside = min(1, width / 8)
    with_values = len(axes.data.x_values) <= _MOST_WITH_VALUES
    look = " mongo-chart__parts" if width >= _LEAST_WIDTH else ""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{colour_class(index)}{look}">'
        for point in series.drawn:
            top, bottom = sorted((axes.y.at(point.top), axes.y.foot(point.base)))
            box = Box(axes.x.at(point.x) - width / 2 + beside, top, width - 2 * beside, bottom - top)
            yield draw_bar(box, tip_html(axes.plot, series, point) if axes.tips else "")
            yield from dress_part(index, point.y_text if with_values else "", box)
        yield "</g>"


def _draw_totals(axes: Axes) -> Iterator[str]:
    """Yield the known totals at the ends of their bars, or nothing if one does not fit."""
    ends: dict[float, PlotPoint] = {}
    for series in axes.data.series:
        ends |= {point.x: point for point in series.drawn if point.total}
    widest = max((text_width(point.total) for point in ends.values()), default=0)
    if len(axes.data.x_values) > _MOST_WITH_VALUES or widest > axes.band - _BETWEEN:
        return
    for point in ends.values():
        at = axes.y.at(point.top)
        above = at - 5 if point.top >= 0 else at + 13
        yield draw_text(point.total, axes.x.at(point.x), above, "mongo-chart__value", "middle")


# -- horizontal charts and keys --


def _draw_beside(
    index: int, point: PlotPoint, scale: Scale, middle: float, tip: str, *, part: bool = False
) -> Iterator[str]:
    if point.y is not None:
        left, right = sorted((scale.foot(point.base), scale.at(point.top)))
        box = Box(left, middle - _THICKNESS / 2, right - left, _THICKNESS)
        yield draw_bar(box, tip)
        if part:
            yield from dress_part(index, point.y_text, box)
    yield from draw_range_beside(point, scale, middle)


def _sign(index: int, x: float, y: float) -> str:
    look = f'class="{colour_class(index)} mongo-chart__area"'
    return f'<rect {look} x="{coordinate(x)}" y="{coordinate(y - 9)}" width="10" height="10"/>'


def _sign_of_part(index: int, x: float, y: float) -> str:
    return "".join((_sign(index, x, y), *draw_stripes(index, Box(x, y - 9, 10, 10))))


# -- faults --


def _find_faults(plot: Plot, drawn: Sequence[Data]) -> Iterator[SpecFault]:
    """Yield faults of stacks that show no sum, and of bars that are too thin to be visible on a time axis."""
    if plot.stack and "y" in plot.log:
        message = "on a logarithmic axis, equal lengths are not equal amounts, so a stack does not show a sum"
        yield (*plot.place, "log"), message, "use a linear axis, or remove `stack`"
    data = drawn[0]
    if data.kind != "time" or not data.gap:
        return
    whole = data.x_values[-1] - data.x_values[0] + data.gap
    if data.gap / whole / (1 if plot.stack else len(data.series)) >= _THINNEST:
        return
    closest = min(pairwise(data.x_values), key=lambda pair: pair[1] - pair[0])
    first, second = (data.x_texts[data.x_values.index(one)] for one in closest)
    message = f"{first} and {second} are so close on this time axis that their bars would be too thin to see"
    yield (*plot.place, "mark"), message, "draw a line or dots, or group by a longer time with $dateTrunc"


_BAR: Final = Mark(
    _draw_bars,
    _draw_values,
    _draw_beside,
    _sign,
    from_zero=True,
    banded=True,
    find_faults=_find_faults,
)
_STACKED: Final = replace(
    _BAR,
    draw=_draw_stacks,
    draw_in_front=_draw_totals,
    draw_beside=partial(_draw_beside, part=True),
    sign=_sign_of_part,
    has_ends=True,
)
MARK: Final = replace(_BAR, stacked=_STACKED)
