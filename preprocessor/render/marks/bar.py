"""Bars side by side: those of all series at each place, with their values where there is room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from preprocessor.render.chartaxes import Axes
from preprocessor.render.chartdata import Point, Series
from preprocessor.render.chartparts import bar_html, colour_class, text_width, tip_html, value_html
from preprocessor.render.marks.dot import draw_range

MOST_WITH_VALUES: Final = 10
"""Of more bars than these readers take the values from the axis."""
_WIDEST: Final = 64
_SHARE: Final = 0.76


def width_of_bars(axes: Axes, count: int) -> float:
    """How wide each of so many bars is that stand side by side at one place."""
    return min(axes.band * _SHARE / count, _WIDEST)


def draw_bars(axes: Axes) -> Iterator[str]:
    """The bars of all series."""
    count = max(len(axes.data.series), 1)
    width = width_of_bars(axes, count)
    with_values = count * len(axes.data.x_values) <= MOST_WITH_VALUES
    room = axes.band / count - 4 if axes.data.kind == "time" else min(width + 20, axes.band / count)
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{colour_class(index)}">'
        for point in series.drawn:
            left = axes.x.at(point.x) + (index - count / 2) * width
            with_value = with_values and text_width(point.y_text) <= room
            yield from _draw_bar(axes, series, point, left, width, with_value)
        yield "</g>"


def _draw_bar(
    axes: Axes, series: Series, point: Point, left: float, width: float, with_value: bool
) -> Iterator[str]:
    at, floor = axes.y.at(point.y or 0.0), axes.floor
    top, height = min(at, floor), abs(at - floor)
    beside = min(1, width / 8)  # A thin bar keeps most of its width.
    tip = tip_html(axes.plot, series, point) if axes.told else ""
    yield bar_html(left + beside, top, width - 2 * beside, height, tip)
    middle = left + width / 2
    yield from draw_range(axes, point, middle)
    tops = [top, *map(axes.y.at, point.ends or ())]
    above = min(tops) - 5 if at <= floor else max(top + height, *tops) + 13
    if with_value and above <= axes.y.start + 3:  # Below stand the names of the axis.
        yield value_html(point.y_text, middle, above)
