"""Small multiples: a panel for each value of a column, side by side on shared axes under one key.

A chart without them is a single panel without a name. In a narrow drawing the panels are below one another. In a
horizontal bar chart each panel has its own names; otherwise all panels have the same horizontal axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mongo_tables.render.charts.elements import (
    BOLD,
    LINE,
    WIDTH,
    break_text,
    coordinate,
    draw_lines,
)
from mongo_tables.render.charts.names import break_name, fit_names, letters_in
from mongo_tables.render.charts.plot import Panel, Plot

BETWEEN: Final = 24
"""The space from the end of a panel to the next one, across and down."""
TITLE_HEIGHT: Final = 29
"""The height of one line of the title of the horizontal axis."""
_MOST_LINES: Final = 2


@dataclass(frozen=True, slots=True)
class PanelGrid:
    """The grid of panels: how many are in a row, how wide each is, and where the first one begins."""

    columns: int
    each: float
    left: float

    def x(self, number: int) -> float:
        """Return the left edge of the panel with this number."""
        return self.left + number % self.columns * (self.each + BETWEEN)


def lay_out_panels(plot: Plot, count: int, width: float, left: float, right: float) -> PanelGrid:
    """Return the grid of ``count`` panels between two margins of the drawing."""
    columns = min(plot.columns or {4: 2}.get(count, 3), count) if width == WIDTH else 1
    return PanelGrid(columns, (width - left - right - BETWEEN * (columns - 1)) / columns, left)


def draw_panel_names(panels: Sequence[Panel], width: float) -> tuple[float, list[list[str]]]:
    """Return the height and the texts of the names above the panels. Texts longer than two lines are cut."""
    if not any(panel.name for panel in panels):
        return 0, [[] for _ in panels]
    room = width / BOLD
    texts = fit_names([panel.name for panel in panels], _MOST_LINES * letters_in(room))
    names = [break_name(text, room) for text in texts]
    most = max(map(len, names))
    # Each name is just above its panel.
    drawn = [
        list(draw_lines(lines, 0, LINE * (most - len(lines) + 1), "mongo-chart__panel")) for lines in names
    ]
    return LINE * most + 10, drawn


def put_panels(
    grid: PanelGrid, drawn: Sequence[tuple[float, list[str]]], top: float
) -> tuple[float, list[str]]:
    """Return the bottom and the elements of the panels, each with its height, in rows from ``top`` down."""
    elements: list[str] = []
    for first in range(0, len(drawn), grid.columns):
        row = drawn[first : first + grid.columns]
        for number, (_, own) in enumerate(row):
            place = f"{coordinate(grid.x(number))} {coordinate(top)}"
            elements += [f'<g transform="translate({place})">', *own, "</g>"]
        top += max(height for height, _ in row) + BETWEEN
    return top - BETWEEN, elements


def axis_title(plot: Plot, title: str, axis: str, width: float) -> list[str]:
    """Return the lines of an axis title, including the kind of axis."""
    return break_text(f"{title}, log scale" if axis in plot.log else title, width / BOLD)
