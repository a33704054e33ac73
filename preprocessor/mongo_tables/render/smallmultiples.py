"""Small multiples: a panel for each value of a column, side by side on the same axes, under one key.

In a narrow drawing they stand below one another. Names beside horizontal bars are those of the panel; else all panels
have the same horizontal axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from mongo_tables.render.chartaxes import MARGIN, Axes, turn_of, x_axis, y_marks
from mongo_tables.render.chartdata import Data, Panel, Plot
from mongo_tables.render.chartframe import (
    TITLES_END,
    draw_x_marks,
    draw_x_title,
    draw_y_marks,
    draw_y_title,
    x_title,
    y_title,
)
from mongo_tables.render.chartkey import key_height, key_html, reference_entries, series_entries
from mongo_tables.render.chartparts import BOLD, LINE, WIDTH, coordinate, cut, text_width, wrap_text
from mongo_tables.render.chartscale import Scale
from mongo_tables.render.horizontalchart import (
    draw_ground,
    draw_names,
    draw_rows,
    draw_title,
    title_of,
    value_axis,
)
from mongo_tables.render.horizontallayout import Layout, names_of, place_rows
from mongo_tables.render.text import text_html
from mongo_tables.render.timeaxis import Mark
from mongo_tables.render.verticalchart import draw_within

_BETWEEN: Final = 24
"""From the end of a panel to the beginning of the next one, across and down."""
_HEIGHTS: Final = {1: 170, 2: 140}
_LEAST_HEIGHT: Final = 110
_MOST_LINES: Final = 2
_MOST_MARKS: Final = 4
_TITLE: Final = 26
"""What the title of the horizontal axis takes."""


class _Drawn(NamedTuple):
    """A panel that was drawn, from 0 down."""

    height: float
    elements: list[str]


class _Room(NamedTuple):
    """How panels stand: so many side by side, each so wide, the first one so far from the left edge of so much."""

    columns: int
    each: float
    left: float
    width: float

    @classmethod
    def of(cls, plot: Plot, count: int, width: float, left: float, right: float) -> _Room:
        suiting = {4: 2}.get(count, 3)
        columns = min(plot.columns or suiting, count) if width == WIDTH else 1
        each = (width - left - right - _BETWEEN * (columns - 1)) / columns
        return cls(columns, each, left, width)

    @property
    def is_wide(self) -> bool:
        """Whether it is that of a wide drawing, whose points have tips."""
        return self.width == WIDTH

    def x(self, number: int) -> float:
        """Where the panel with this number begins."""
        return self.left + number % self.columns * (self.each + _BETWEEN)


def draw_panels(plot: Plot, panels: Sequence[Panel], width: int) -> tuple[float, list[str]]:
    """The height of the drawing, and its elements."""
    series = panels[0].data.series
    key = series_entries(plot, series) if len(series) > 1 else []
    key += reference_entries(plot.references)
    title = [] if plot.horizontal else y_title(plot, width)
    key_at = TITLES_END + LINE * (len(title) - 1)
    top = key_at + (key_height(key, width) if key else -LINE)
    draw = _draw_horizontal if plot.horizontal else _draw_vertical
    height, elements = draw(plot, panels, width, top)
    return height, [*_as_axis(draw_y_title(title)), *key_html(key, width, key_at), *elements]


def _as_axis(elements: Iterable[str]) -> list[str]:
    return ['<g class="mongo-chart__axis">', *elements, "</g>"]


def _put(room: _Room, drawn: Sequence[_Drawn], top: float) -> tuple[float, list[str]]:
    """The panels in rows, from ``top`` down; gives where they end, and their elements."""
    elements: list[str] = []
    for first in range(0, len(drawn), room.columns):
        row = drawn[first : first + room.columns]
        for number, one in enumerate(row):
            elements += [
                f'<g transform="translate({coordinate(room.x(number))} {coordinate(top)})">',
                *one.elements,
                "</g>",
            ]
        top += max(one.height for one in row) + _BETWEEN
    return top - _BETWEEN, elements


def _name_lines(panels: Sequence[Panel], width: float) -> list[list[str]]:
    """The names of the panels in lines; what does not fit into two of them is cut."""
    lines = []
    for panel in panels:
        broken = wrap_text(panel.name, width / BOLD)
        shown = [*broken[: _MOST_LINES - 1], " ".join(broken[_MOST_LINES - 1 :])]
        lines.append([cut(line, width / BOLD) for line in shown if line])
    return lines


def _height_of(names: Sequence[Sequence[str]]) -> float:
    """What the names above the panels take."""
    return LINE * _most_lines(names) + 10


def _most_lines(names: Sequence[Sequence[str]]) -> int:
    return max(map(len, names))


def _draw_name(lines: Sequence[str], most: int) -> Iterator[str]:
    """A name just above its panel, where the longest one has so many lines."""
    for number, line in enumerate(lines, most - len(lines) + 1):
        yield f'<text class="mongo-chart__panel" x="0" y="{LINE * number}">{text_html(line)}</text>'


def _draw_vertical(plot: Plot, panels: Sequence[Panel], width: int, top: float) -> tuple[float, list[str]]:
    marks = y_marks(plot, [value for panel in panels for value in panel.data.y_values], _MOST_MARKS)
    left = max(text_width(text) for _, text in marks) + 16
    room = _Room.of(plot, len(panels), width, left, _BETWEEN / 2)
    names = _name_lines(panels, room.each)
    axes, foot = _share_axes(plot, panels[0].data, marks, room, _height_of(names))
    drawn = []
    for number, (panel, lines) in enumerate(zip(panels, names, strict=True)):
        own = replace(axes, data=panel.data)
        if axes.turn:
            own = replace(own, span=(-room.x(number), width - room.x(number)))
        # Slanted names take much room: they stand where no panel is below.
        texts = not axes.turn or room.columns == 1 or number + room.columns >= len(panels)
        elements = [
            *_draw_name(lines, _most_lines(names)),
            *_draw_panel(own, y_texts=number % room.columns == 0, x_texts=texts),
        ]
        drawn.append(_Drawn(axes.y.start + 8 + (LINE + foot if texts else 0), elements))
    bottom, elements = _put(room, drawn, top)
    lines = x_title(plot, axes.data, axes.x_marks, width)
    height = bottom + _TITLE + LINE * (len(lines) - 1)
    return height, [*elements, *_as_axis(draw_x_title(lines, (left, width), width, height))]


def _share_axes(
    plot: Plot, data: Data, marks: tuple[Mark, ...], room: _Room, top: float
) -> tuple[Axes, float]:
    """The axes of each panel, below ``top``, and the height that texts below take beyond one line."""
    span = (-_BETWEEN / 2, room.each + _BETWEEN / 2)
    x, x_marks = x_axis(plot, data, (0, room.each), span)
    turn, foot = turn_of(data, x_marks, room.each / max(len(data.x_values), 1))
    high = _HEIGHTS.get(room.columns, _LEAST_HEIGHT) if room.is_wide else _LEAST_HEIGHT
    y = Scale(marks[0][0], marks[-1][0], top + high, top, "y" in plot.log)
    margin = 0 if data.kind == "category" else min(float(MARGIN), room.each / 20)
    return Axes(plot, data, x, y, x_marks, marks, margin, span, turn, told=room.is_wide), foot


def _draw_panel(axes: Axes, *, y_texts: bool, x_texts: bool) -> list[str]:
    marks = [*draw_y_marks(axes, texts=y_texts), *draw_x_marks(axes, texts=x_texts)]
    return [*_as_axis(marks), *draw_within(axes)]


def _draw_horizontal(plot: Plot, panels: Sequence[Panel], width: int, top: float) -> tuple[float, list[str]]:
    room = _Room.of(plot, len(panels), width, 0, 0)
    bars = [names_of(plot, panel.data) for panel in panels]
    layout = Layout.of([name for each in bars for name in each], room.each)
    values = [value for panel in panels for value in panel.data.y_values]
    scale, marks = value_axis(plot, values, (layout.left, layout.right), (0, room.each))
    names = _name_lines(panels, room.each)
    drawn = []
    for own, lines in zip(bars, names, strict=True):
        rows = place_rows(own, layout, _height_of(names))
        elements = [
            *_draw_name(lines, _most_lines(names)),
            *draw_ground(plot, scale, marks, rows, layout),
            *draw_names(rows, layout),
            *draw_rows(plot, scale, rows, layout, told=room.is_wide),
        ]
        drawn.append(_Drawn(rows.bottom + LINE + 8, elements))
    bottom, elements = _put(room, drawn, top)
    title = title_of(plot, width)
    shown = draw_title(title, (0, width), width, bottom - LINE - 8)
    return bottom + _TITLE + LINE * (len(title) - 1), [*elements, *shown]
