"""The description of a mark: how to draw it, and which settings it supports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mongo_tables.render.charts.axes import Axes, Scale
from mongo_tables.render.charts.elements import colour_class, marker_path
from mongo_tables.render.charts.plot import Data, Plot, PlotPoint
from mongo_tables.render.faults import SpecFault

Draw: TypeAlias = Callable[[Axes], Iterable[str]]
DrawBeside: TypeAlias = Callable[[int, PlotPoint, Scale, float, str], Iterable[str]]
"""Draws a point along a horizontal axis.

The arguments are the number of the series, the point, the axis, the middle of the row and the tooltip.
"""


def marker_sign(index: int, x: float, y: float) -> str:
    """Return the marker of a series, as the sign for it in a key."""
    look = f'class="{colour_class(index)} mongo-chart__area"'
    return f'<path {look} d="{marker_path(index, x + 5, y - 4)}"/>'


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark.

    Attributes:
        draw: Draws all series over a horizontal axis. Each series is a ``<g>`` with the classes of its look. Elements
            with a tooltip have the class ``mongo-chart__area``.
        draw_in_front: Draws parts of the mark in front of the lines of references.
        draw_beside: Draws one value in a horizontal chart. None if such charts cannot have this mark.
        sign: Returns the sign that represents a series in a key.
        from_zero: Whether the length or the height of the mark shows the value. References are drawn in front of such
            marks.
        joined: Whether the mark connects values in their order on the axis.
        banded: Whether the mark is wide. Numbers below wide marks are names, and a time axis has room for half of a
            mark at both ends.
        repeats: Whether several values of a series may share a place.
        has_ends: Whether the names of series may be at the ends of the mark.
        stacked: The mark for stacked series. None if the mark cannot be stacked.
        find_faults: Yields reasons why the data of the panels cannot be drawn with the mark.
    """

    draw: Draw
    draw_in_front: Draw = lambda _: ()
    draw_beside: DrawBeside | None = None
    sign: Callable[[int, float, float], str] = marker_sign
    from_zero: bool = False
    joined: bool = False
    banded: bool = False
    repeats: bool = False
    has_ends: bool = False
    stacked: Mark | None = None
    find_faults: Callable[[Plot, Sequence[Data]], Iterable[SpecFault]] = lambda plot, drawn: ()
