"""The frame of a drawing over a horizontal axis: its grid, the texts of its marks, and the titles of its axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mongo_tables.render.chartaxes import WIDEST, Axes, Span, within
from mongo_tables.render.chartdata import Data, Plot
from mongo_tables.render.chartparts import (
    BOLD,
    LETTER,
    LINE,
    axis_title,
    break_text,
    coordinate,
    shorten,
    text_width,
    wrap_text,
)
from mongo_tables.render.text import text_html
from mongo_tables.render.timeaxis import Mark, has_clock_times

TITLES_END = 34
"""How far down the key or, without one, the drawing begins under a title of one line."""


def draw_y_marks(axes: Axes, *, texts: bool = True) -> Iterator[str]:
    """The lines of the grid, and at their left what they stand for."""
    left, right = map(coordinate, axes.sides)
    for value, text in axes.y_marks:
        at = coordinate(axes.y.at(value))
        yield f'<path d="M{left} {at}H{right}"/>'
        if texts:
            place = f'x="{coordinate(float(left) - 8)}" y="{at}" dy=".32em" text-anchor="end"'
            yield f"<text {place}>{text_html(text)}</text>"


def draw_x_marks(axes: Axes, *, texts: bool = True) -> Iterator[str]:
    """The marks of the horizontal axis with their texts, which are names, numbers or dates."""
    for value, text in axes.x_marks[:: axes.every]:
        at, below = coordinate(axes.x.at(value)), axes.y.start
        if axes.turn and texts:
            yield _draw_turned(axes, value, text)
        else:
            yield f'<path class="mongo-chart__tick" d="M{at} {coordinate(below)}v5"/>'
            yield from _draw_lines(axes, value, text) if texts else ()


def _draw_turned(axes: Axes, value: float, text: str) -> str:
    at, below = coordinate(axes.x.at(value)), coordinate(axes.y.start + 14)
    degrees, _, cosine = axes.turn or (0, 0, 1)
    # Letters may be a little wider than most.
    room = int((axes.x.at(value) - axes.span[0]) / cosine / LETTER) - 1
    turned = f'text-anchor="end" transform="rotate(-{degrees} {at} {below})"'
    return f'<text x="{at}" y="{below}" {turned}>{text_html(shorten(text, room))}</text>'


def _draw_lines(axes: Axes, value: float, text: str) -> Iterator[str]:
    lines = wrap_text(text, axes.band - 6) if axes.data.kind == "category" else text.split("\n")
    for number, line in enumerate(lines):
        middle = axes.x.at(value)
        if axes.data.kind == "time":
            middle = within(axes.span, middle, line)
        place = f'x="{coordinate(middle)}" y="{coordinate(axes.y.start + 19 + number * LINE)}"'
        yield f'<text {place} text-anchor="middle">{text_html(line)}</text>'


def y_title(plot: Plot, width: float) -> list[str]:
    """The title of the vertical axis, in lines that fit the drawing.

    For several columns it is their common unit, if any, as lines carry the names.
    """
    unit = plot.common_unit
    if len(plot.y) == 1:
        title = axis_title(plot, plot.label(plot.y[0]), unit, "y")
    else:
        title = axis_title(plot, unit or ", ".join(map(plot.label, plot.y)), "", "y")
    return break_text(title, width / BOLD)


def x_title(plot: Plot, data: Data, marks: Sequence[Mark], width: float) -> list[str]:
    """The title of the horizontal axis, likewise; of dates with their zone, where it is named or times are shown."""
    unit = plot.unit(plot.x)
    if data.kind == "time":
        unit = plot.timezone or ("UTC" if has_clock_times(marks) else "")
    return break_text(axis_title(plot, plot.label(plot.x), unit, "x"), width / BOLD)


def draw_y_title(lines: Sequence[str]) -> Iterator[str]:
    """The title of the vertical axis, above the drawing."""
    for number, line in enumerate(lines):
        yield f'<text class="mongo-chart__name" x="0" y="{14 + LINE * number}">{text_html(line)}</text>'


def draw_x_title(lines: Sequence[str], sides: Span, width: float, height: float) -> Iterator[str]:
    """The title of the horizontal axis at the bottom, in the middle between the sides, or as near as it is not cut."""
    widest = max(map(text_width, lines)) * WIDEST / 2
    middle = max(min(sum(sides) / 2, width - widest), widest)
    for number, line in enumerate(lines, 1 - len(lines)):
        place = f'x="{coordinate(middle)}" y="{coordinate(height - 8 + LINE * number)}"'
        yield f'<text class="mongo-chart__name" {place} text-anchor="middle">{text_html(line)}</text>'
