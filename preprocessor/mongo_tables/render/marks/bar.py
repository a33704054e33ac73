"""Bars side by side: those of all series at each place, with their values where there is room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from mongo_tables.render.chartaxes import Axes
from mongo_tables.render.chartdata import Point, Series
from mongo_tables.render.chartparts import bar_html, colour_class, text_width, tip_html, value_html
from mongo_tables.render.marks.dot import draw_range

MOST_WITH_VALUES: Final = 10
"""Of more bars than these readers take the values from the axis."""
_WIDEST: Final = 64
_SHARE: Final = 0.76


class _Place(NamedTuple):
    """The left side and the width of a bar, and the room for its value: 0 where none has one."""

    left: float
    width: float
    room: float


def width_of_bars(axes: Axes, count: int) -> float:
    """How wide each of so many bars is that stand side by side at one place."""
    return min(axes.band * _SHARE / count, _WIDEST)


def draw_bars(axes: Axes) -> Iterator[str]:
    """The bars of all series; their values with them, where no line of a reference goes across."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{colour_class(index)}">'
        for point in series.drawn:
            place = _place(axes, index, point)
            yield from _draw_bar(axes, series, point, place)
            if not axes.plot.references:
                yield from _draw_value(axes, point, place)
        yield "</g>"


def draw_values(axes: Axes) -> Iterator[str]:
    """The values of all bars in front of the lines of references."""
    for index, series in enumerate(axes.data.series if axes.plot.references else ()):
        for point in series.drawn:
            yield from _draw_value(axes, point, _place(axes, index, point))


def _place(axes: Axes, index: int, point: Point) -> _Place:
    count = max(len(axes.data.series), 1)
    width = width_of_bars(axes, count)
    left = axes.x.at(point.x) + (index - count / 2) * width
    room = axes.band / count - 4 if axes.data.kind == "time" else min(width + 20, axes.band / count)
    return _Place(left, width, room if count * len(axes.data.x_values) <= MOST_WITH_VALUES else 0)


def _draw_bar(axes: Axes, series: Series, point: Point, place: _Place) -> Iterator[str]:
    at = axes.y.at(point.y or 0.0)
    beside = min(1, place.width / 8)  # A thin bar keeps most of its width.
    tip = tip_html(axes.plot, series, point) if axes.told else ""
    sides = place.left + beside, min(at, axes.floor), place.width - 2 * beside, abs(at - axes.floor)
    yield bar_html(*sides, tip)
    yield from draw_range(axes, point, place.left + place.width / 2)


def _draw_value(axes: Axes, point: Point, place: _Place) -> Iterator[str]:
    at, floor = axes.y.at(point.y or 0.0), axes.floor
    ends = [at, floor, *map(axes.y.at, point.ends or ())]
    above = min(ends) - 5 if at <= floor else max(ends) + 13
    # Below stand the names of the axis.
    if text_width(point.y_text) <= place.room and above <= axes.y.start + 3:
        yield value_html(point.y_text, place.left + place.width / 2, above)
