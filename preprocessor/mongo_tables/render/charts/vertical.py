"""A chart over a horizontal axis: title, key (if names do not fit in the drawing), drawing and axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.render.charts.axes import (
    MARGIN,
    WIDEST,
    Axes,
    Scale,
    Span,
    turn_of,
    within,
    x_axis,
    y_marks,
)
from mongo_tables.render.charts.elements import (
    BOLD,
    LETTER,
    LINE,
    WIDTH,
    as_axis,
    break_text,
    coordinate,
    draw_lines,
    draw_text,
    draw_title,
    shorten,
    text_width,
    wrap_text,
)
from mongo_tables.render.charts.legend import (
    draw_bands,
    draw_ends,
    draw_key,
    draw_references,
    ends_of,
    key_height,
    reference_entries,
    series_entries,
)
from mongo_tables.render.charts.marks import mark_of
from mongo_tables.render.charts.plot import Data, Plot
from mongo_tables.render.charts.time_marks import AxisMark, has_clock_times
from mongo_tables.render.column import with_unit

TITLES_END: Final = 34
"""The top of the key or, without one, of the drawing, under a title of one line."""
_HEIGHT: Final = 310
_HEIGHT_OF_NARROW: Final = 280
_LEAST_HEIGHT: Final = 200
_BELOW: Final = 52
"""The height of one line of names and the title of the horizontal axis."""


def draw_vertically(plot: Plot, data: Data, width: int) -> tuple[float, list[str]]:
    """Return the height of the drawing, and its elements."""
    ends = ends_of(plot, data, width)
    key = [] if ends.names else series_entries(plot, data.series)
    key += [] if ends.labels else reference_entries(plot.references)
    title = y_title(plot, width)
    above = LINE * (len(title) - 1)
    top = TITLES_END + above + key_height(key, width)
    bottom = (_HEIGHT if width == WIDTH else max(_HEIGHT_OF_NARROW, top + _LEAST_HEIGHT)) + above
    marks = y_marks(plot, data.y_values)
    frame = Frame((y_room(marks), width - ends.margin), (0.0, float(width)), (top, bottom - _BELOW), MARGIN)
    axes, foot = place_axes(plot, data, marks, frame, told=width == WIDTH)
    x_lines = x_title(plot, data, axes.x_marks, width)
    height = bottom + foot + LINE * (len(x_lines) - 1)
    own = (*draw_y_marks(axes), *draw_x_marks(axes), *draw_y_title(title))
    return height, [
        *as_axis((*own, *draw_x_title(x_lines, axes.sides, width, height))),
        *draw_key(key, width, TITLES_END + above),
        *draw_within(axes),
        *draw_ends(axes, ends),
    ]


class Frame(NamedTuple):
    """The area of the axes: between two sides and two heights, with their texts within ``span``.

    A frame of numbers or dates extends ``margin`` beyond the first and the last of them.
    """

    sides: Span
    span: Span
    heights: Span
    margin: float


def y_room(marks: Sequence[AxisMark]) -> float:
    """Return the width of the texts of a vertical axis at its left."""
    return max(text_width(text) for _, text in marks) + 16


def place_axes(
    plot: Plot, data: Data, marks: tuple[AxisMark, ...], frame: Frame, *, told: bool
) -> tuple[Axes, float]:
    """Return the axes, with these vertical marks, and the height that the texts below take beyond one line."""
    x, x_marks = x_axis(plot, data, frame.sides, frame.span)
    turn, foot = turn_of(data, x_marks, (x.end - x.start) / max(len(data.x_values), 1))
    y = Scale(marks[0][0], marks[-1][0], frame.heights[1], frame.heights[0], "y" in plot.log)
    margin = 0 if data.kind == "category" else frame.margin
    return Axes(plot, data, x, y, x_marks, marks, margin, frame.span, turn, told), foot


def draw_within(axes: Axes) -> Iterator[str]:
    """Yield what is between the axes; lines are in front of marks that fill the area, and behind others."""
    mark = mark_of(axes.plot)
    references = list(draw_references(axes.plot, axes.y, axes.sides))
    yield from draw_bands(axes.plot, axes.y, axes.sides)
    yield from () if mark.from_zero else references
    yield from mark.draw(axes)
    yield from references if mark.from_zero else ()
    yield from mark.draw_in_front(axes)


def draw_y_marks(axes: Axes, *, texts: bool = True) -> Iterator[str]:
    """Yield the lines of the grid with their texts at the left."""
    left, right = map(coordinate, axes.sides)
    for value, text in axes.y_marks:
        at = axes.y.at(value)
        yield f'<path d="M{left} {coordinate(at)}H{right}"/>'
        if texts:
            yield draw_text(text, float(left) - 8, at, anchor="end", middle=True)


def draw_x_marks(axes: Axes, *, texts: bool = True) -> Iterator[str]:
    """Yield the marks of the horizontal axis with their texts, which are names, numbers or dates."""
    below = axes.y.start
    for value, text in axes.x_marks[:: axes.every]:
        at = axes.x.at(value)
        if axes.turn and texts:
            # Letters may be a little wider than estimated.
            room = int((at - axes.span[0]) / axes.turn.cosine / LETTER) - 1
            turned = f' transform="rotate(-{axes.turn.degrees} {coordinate(at)} {coordinate(below + 14)})"'
            yield draw_text(shorten(text, room), at, below + 14, anchor="end", more=turned)
            continue
        yield f'<path class="mongo-chart__tick" d="M{coordinate(at)} {coordinate(below)}v5"/>'
        if texts:
            lines = wrap_text(text, axes.band - 6) if axes.data.kind == "category" else text.split("\n")
            for number, line in enumerate(lines):
                middle = within(axes.span, at, line) if axes.data.kind == "time" else at
                yield draw_text(line, middle, below + 19 + number * LINE, anchor="middle")


def y_title(plot: Plot, width: float) -> list[str]:
    """Return the title of the vertical axis, in lines that fit the drawing.

    For several columns it is their common unit, if any, as the lines carry the names.
    """
    unit = plot.common_unit
    several = unit or ", ".join(map(plot.label, plot.y))
    title = with_unit(plot.label(plot.y[0]), unit) if len(plot.y) == 1 else several
    return axis_title(plot, title, "y", width)


def x_title(plot: Plot, data: Data, marks: Sequence[AxisMark], width: float) -> list[str]:
    """Return the title of the horizontal axis in lines; for dates with the zone, if it is named or times are shown."""
    unit = plot.unit(plot.x)
    if data.kind == "time":
        unit = plot.timezone or ("UTC" if has_clock_times(marks) else "")
    return axis_title(plot, with_unit(plot.label(plot.x), unit), "x", width)


def axis_title(plot: Plot, title: str, axis: str, width: float) -> list[str]:
    """Return the lines of an axis title, including the kind of axis."""
    return break_text(f"{title}, log scale" if axis in plot.log else title, width / BOLD)


def draw_y_title(lines: Sequence[str]) -> Iterator[str]:
    """Yield the title of the vertical axis, above the drawing."""
    return draw_lines(lines, 0, 14, "mongo-chart__name")


def draw_x_title(lines: Sequence[str], sides: tuple[float, float], width: float, height: float) -> list[str]:
    """Return the title of the horizontal axis, at the bottom."""
    return draw_title(lines, sides, width, height - 8 - LINE * (len(lines) - 1), WIDEST)
