"""Small multiples: a panel for each value of a column, side by side on shared axes under one key.

In a narrow drawing the panels are below one another. In a horizontal bar chart each panel has its own names; otherwise
all panels have the same horizontal axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from mongo_tables.render.charts.axes import MARGIN, y_marks
from mongo_tables.render.charts.elements import (
    BOLD,
    LINE,
    WIDTH,
    as_axis,
    coordinate,
    cut,
    draw_lines,
    draw_title,
    wrap_text,
)
from mongo_tables.render.charts.horizontal import (
    draw_ground,
    draw_names,
    draw_rows,
    lay_out_names,
    names_of,
    place_rows,
    scale_of,
    title_of,
)
from mongo_tables.render.charts.legend import draw_key, key_height, reference_entries, series_entries
from mongo_tables.render.charts.plot import Panel, Plot
from mongo_tables.render.charts.vertical import (
    TITLES_END,
    Frame,
    draw_within,
    draw_x_marks,
    draw_x_title,
    draw_y_marks,
    draw_y_title,
    place_axes,
    x_title,
    y_room,
    y_title,
)

_BETWEEN: Final = 24
"""The space from the end of a panel to the next one, across and down."""
_HEIGHTS: Final = {1: 170, 2: 140}
_LEAST_HEIGHT: Final = 110
_MOST_LINES: Final = 2
_MOST_MARKS: Final = 4
_TITLE: Final = 26
"""The height of the title of the horizontal axis."""


class _Room(NamedTuple):
    """The grid of panels: how many are in a row, how wide each is, and where the first one begins."""

    columns: int
    each: float
    left: float

    def x(self, number: int) -> float:
        """Return the left edge of the panel with this number."""
        return self.left + number % self.columns * (self.each + _BETWEEN)


def draw_panels(plot: Plot, panels: Sequence[Panel], width: int) -> tuple[float, list[str]]:
    """Return the height of the drawing, and its elements."""
    key = series_entries(plot, panels[0].data.series) + reference_entries(plot.references)
    title = [] if plot.horizontal else y_title(plot, width)
    key_at = TITLES_END + LINE * (len(title) - 1)
    top = key_at + (key_height(key, width) if key else -LINE)
    draw = _draw_horizontal if plot.horizontal else _draw_vertical
    height, elements = draw(plot, panels, width, top)
    return height, [*as_axis(draw_y_title(title)), *draw_key(key, width, key_at), *elements]


def _room_for(plot: Plot, count: int, width: float, left: float, right: float) -> _Room:
    columns = min(plot.columns or {4: 2}.get(count, 3), count) if width == WIDTH else 1
    return _Room(columns, (width - left - right - _BETWEEN * (columns - 1)) / columns, left)


def _put(room: _Room, drawn: Sequence[tuple[float, list[str]]], top: float) -> tuple[float, list[str]]:
    """Return the bottom and the elements of the panels, each with its height, in rows from ``top`` down."""
    elements: list[str] = []
    for first in range(0, len(drawn), room.columns):
        row = drawn[first : first + room.columns]
        for number, (_, own) in enumerate(row):
            place = f"{coordinate(room.x(number))} {coordinate(top)}"
            elements += [f'<g transform="translate({place})">', *own, "</g>"]
        top += max(height for height, _ in row) + _BETWEEN
    return top - _BETWEEN, elements


def _draw_panel_names(panels: Sequence[Panel], width: float) -> tuple[float, list[list[str]]]:
    """Return the height and the texts of the names above the panels; texts longer than two lines are cut."""
    names = []
    for panel in panels:
        broken = wrap_text(panel.name, width / BOLD)
        shown = [*broken[: _MOST_LINES - 1], " ".join(broken[_MOST_LINES - 1 :])]
        names.append([cut(line, width / BOLD) for line in shown if line])
    most = max(map(len, names))
    # Each name is just above its panel.
    drawn = [
        list(draw_lines(lines, 0, LINE * (most - len(lines) + 1), "mongo-chart__panel")) for lines in names
    ]
    return LINE * most + 10, drawn


def _draw_vertical(plot: Plot, panels: Sequence[Panel], width: int, top: float) -> tuple[float, list[str]]:
    marks = y_marks(plot, [value for panel in panels for value in panel.data.y_values], _MOST_MARKS)
    left = y_room(marks)
    room = _room_for(plot, len(panels), width, left, _BETWEEN / 2)
    top_of_axes, names = _draw_panel_names(panels, room.each)
    high = _HEIGHTS.get(room.columns, _LEAST_HEIGHT) if width == WIDTH else _LEAST_HEIGHT
    frame = Frame(
        (0, room.each),
        (-_BETWEEN / 2, room.each + _BETWEEN / 2),
        (top_of_axes, top_of_axes + high),
        min(float(MARGIN), room.each / 20),
    )
    axes, foot = place_axes(plot, panels[0].data, marks, frame, told=width == WIDTH)
    drawn = []
    for number, (panel, name) in enumerate(zip(panels, names, strict=True)):
        own = replace(axes, data=panel.data)
        if axes.turn:
            own = replace(own, span=(-room.x(number), width - room.x(number)))
        # Slanted names take much room, so only panels with none below show them.
        texts = not axes.turn or room.columns == 1 or number + room.columns >= len(panels)
        marked = as_axis(
            (*draw_y_marks(own, texts=number % room.columns == 0), *draw_x_marks(own, texts=texts))
        )
        drawn.append((axes.y.start + 8 + (LINE + foot if texts else 0), [*name, *marked, *draw_within(own)]))
    bottom, elements = _put(room, drawn, top)
    lines = x_title(plot, axes.data, axes.x_marks, width)
    height = bottom + _TITLE + LINE * (len(lines) - 1)
    return height, [*elements, *as_axis(draw_x_title(lines, (left, width), width, height))]


def _draw_horizontal(plot: Plot, panels: Sequence[Panel], width: int, top: float) -> tuple[float, list[str]]:
    room = _room_for(plot, len(panels), width, 0, 0)
    bars = [names_of(plot, panel.data) for panel in panels]
    layout = lay_out_names([name for each in bars for name in each], room.each)
    values = [value for panel in panels for value in panel.data.y_values]
    scale, marks = scale_of(plot, values, layout, (0, room.each))
    height_of_names, names = _draw_panel_names(panels, room.each)
    drawn = []
    for own, name in zip(bars, names, strict=True):
        rows = place_rows(own, layout, height_of_names)
        elements = [
            *name,
            *draw_ground(plot, scale, marks, rows, layout),
            *draw_names(rows, layout),
            *draw_rows(plot, scale, rows, layout, told=width == WIDTH),
        ]
        drawn.append((rows.bottom + LINE + 8, elements))
    bottom, elements = _put(room, drawn, top)
    title = title_of(plot, width)
    shown = as_axis(draw_title(title, (0, width), width, bottom - LINE - 8 + 36, 1))
    return bottom + _TITLE + LINE * (len(title) - 1), [*elements, *shown]
