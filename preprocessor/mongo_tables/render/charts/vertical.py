"""Charts over a horizontal axis, with title, panels and axes, and with a key if names do not fit into the drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from mongo_tables.render.charts.axes import (
    MARGIN,
    WIDEST,
    Axes,
    Scale,
    names_below,
    within,
    x_axis,
    y_marks,
)
from mongo_tables.render.charts.elements import (
    LINE,
    WIDTH,
    as_axis,
    coordinate,
    draw_lines,
    draw_text,
    draw_title,
    text_width,
)
from mongo_tables.render.charts.legend import (
    Ends,
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
from mongo_tables.render.charts.plot import Data, Panel, Plot
from mongo_tables.render.charts.series import (
    BETWEEN,
    TITLE_HEIGHT,
    PanelGrid,
    axis_title,
    draw_panel_names,
    lay_out_panels,
    put_panels,
)
from mongo_tables.render.charts.time_marks import AxisMark
from mongo_tables.render.column import with_unit

_BELOW_TITLE: Final = 34
"""Where the key begins below a title of one line. Without a key, the panels begin there."""
_BOTTOM: Final = 258
"""The bottom of a single panel below a title of one line."""
_BOTTOM_OF_NARROW: Final = 228
_LEAST_HEIGHT: Final = 148
_HEIGHTS: Final = {1: 170, 2: 140}
"""The height of panels, by the number of panels side by side."""
_HEIGHT_OF_MANY: Final = 110
_MOST_MARKS: Final = 4
"""The number of marks on the vertical axis of several panels, which are less high than a single one."""


def names_fit(plot: Plot, panels: Sequence[Panel], width: int) -> bool:
    """Return whether the names under the axis fit there, each in a few lines. Numbers and dates always fit."""
    data, (_, _, grid) = panels[0].data, _lay_out(plot, panels, width)
    if data.kind != "category" or not data.x_texts:
        return True
    return bool(names_below(data.x_texts, grid.each / len(data.x_texts)))


def _lay_out(plot: Plot, panels: Sequence[Panel], width: int) -> tuple[Ends, tuple[AxisMark, ...], PanelGrid]:
    """Return the texts at the ends of lines, the marks of the axis of values, and the grid of the panels."""
    alone = not plot.facets
    ends = ends_of(plot, panels[0].data, width) if alone else Ends()
    values = [value for panel in panels for value in panel.data.y_values]
    marks = y_marks(plot, values, 5 if alone else _MOST_MARKS)
    left = max(text_width(text) for _, text in marks) + 16
    return ends, marks, lay_out_panels(plot, len(panels), width, left, ends.margin if alone else BETWEEN / 2)


def draw_vertically(plot: Plot, panels: Sequence[Panel], width: int) -> tuple[float, list[str]]:
    """Return the height and the elements of the drawing."""
    data, alone, is_wide = panels[0].data, not plot.facets, width == WIDTH
    ends, marks, grid = _lay_out(plot, panels, width)
    key = [] if ends.names else series_entries(plot, data.series)
    key += [] if ends.labels else reference_entries(plot.references)
    title = y_title(plot, width)
    above = LINE * (len(title) - 1)
    top = _BELOW_TITLE + above + (key_height(key, width) if key or alone else -LINE)
    start, names = draw_panel_names(panels, grid.each)
    if alone:
        # A single panel has no names, and its coordinates are those of the drawing.
        start, end = top, (_BOTTOM if is_wide else max(_BOTTOM_OF_NARROW, top + _LEAST_HEIGHT)) + above
        sides, span = (grid.left, grid.left + grid.each), (0.0, float(width))
    else:
        end = start + (_HEIGHTS.get(grid.columns, _HEIGHT_OF_MANY) if is_wide else _HEIGHT_OF_MANY)
        sides, span = (0.0, grid.each), (-BETWEEN / 2, grid.each + BETWEEN / 2)
    x, x_marks = x_axis(plot, data, sides, span)
    foot = LINE * (1 + max((text.count("\n") for _, text in x_marks), default=0))
    y = Scale(marks[0][0], marks[-1][0], end, start, "y" in plot.log)
    margin = 0 if data.kind == "category" else min(float(MARGIN), grid.each / 20)
    axes = Axes(plot, data, x, y, x_marks, marks, margin, span, tips=is_wide)
    drawn = []
    for number, (panel, name) in enumerate(zip(panels, names, strict=True)):
        own = replace(axes, data=panel.data)
        marked = (*draw_y_marks(own, texts=number % grid.columns == 0), *draw_x_marks(own))
        drawn.append((end + 8 + foot, [*name, *as_axis(marked), *draw_within(own)]))
    bottom, elements = drawn[0] if alone else put_panels(grid, drawn, top)
    x_lines = x_title(plot, data, x_marks, width)
    first = bottom + TITLE_HEIGHT - 8
    centred = axes.sides if alone else (grid.left, float(width))
    return first + LINE * (len(x_lines) - 1) + 8, [
        *as_axis(
            (
                *draw_lines(title, 0, 14, "mongo-chart__name"),
                *draw_title(x_lines, centred, width, first, WIDEST),
            )
        ),
        *draw_key(key, width, _BELOW_TITLE + above),
        *elements,
        *draw_ends(axes, ends),
    ]


def draw_within(axes: Axes) -> Iterator[str]:
    """Yield the elements between the axes. References are in front of marks that fill an area, and behind others."""
    mark = mark_of(axes.plot)
    references = list(draw_references(axes.plot, axes.y, axes.sides))
    yield from draw_bands(axes.plot, axes.y, axes.sides)
    yield from () if mark.from_zero else references
    yield from mark.draw(axes)
    yield from references if mark.from_zero else ()
    yield from mark.draw_in_front(axes)


def draw_y_marks(axes: Axes, *, texts: bool) -> Iterator[str]:
    """Yield the horizontal lines of the grid, with their texts at the left."""
    left, right = map(coordinate, axes.sides)
    for value, text in axes.y_marks:
        at = axes.y.at(value)
        yield f'<path d="M{left} {coordinate(at)}H{right}"/>'
        if texts:
            yield draw_text(text, float(left) - 8, at, anchor="end", middle=True)


def draw_x_marks(axes: Axes) -> Iterator[str]:
    """Yield the marks of the horizontal axis with their texts."""
    below = axes.y.start
    for value, text in axes.x_marks:
        at = axes.x.at(value)
        yield f'<path class="mongo-chart__tick" d="M{coordinate(at)} {coordinate(below)}v5"/>'
        for number, line in enumerate(text.split("\n")):
            middle = within(axes.span, at, line) if axes.data.kind == "time" else at
            yield draw_text(line, middle, below + 19 + number * LINE, anchor="middle")


def y_title(plot: Plot, width: float) -> list[str]:
    """Return the title of the vertical axis, in lines that fit the drawing.

    If several columns have the same unit, the title is only the unit, because lines or a key have the names.
    """
    unit = plot.common_unit
    several = unit or ", ".join(map(plot.label, plot.y))
    title = with_unit(plot.label(plot.y[0]), unit) if len(plot.y) == 1 else several
    return axis_title(plot, title, "y", width)


def x_title(plot: Plot, data: Data, marks: Sequence[AxisMark], width: float) -> list[str]:
    """Return the title of the horizontal axis, in lines. It includes UTC if the marks show times."""
    unit = plot.unit(plot.x)
    if data.kind == "time":
        unit = "UTC" if any(":" in text for _, text in marks) else ""
    return axis_title(plot, with_unit(plot.label(plot.x), unit), "x", width)
