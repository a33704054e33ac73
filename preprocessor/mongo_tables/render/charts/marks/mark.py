"""The description of a mark: how it is drawn, and what charts with it can have."""

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
"""Draw a value of a series along a horizontal axis: the series number, the point, the row's middle, and the tooltip."""


def marker_sign(index: int, x: float, y: float) -> str:
    """Return the sign of a series in a key: its marker."""
    look = f'class="{colour_class(index)} mongo-chart__area"'
    return f'<path {look} d="{marker_path(index, x + 5, y - 4)}"/>'


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark. ``draw`` yields the elements of all series, those of each series in one ``<g>`` with its class.

    Attributes:
        draw: Draws everything over a horizontal axis; elements with a tooltip have the class ``mongo-chart__area``.
        draw_in_front: Draws what goes in front of the lines of references.
        draw_beside: Draws a value next to its name in a horizontal chart; None if the mark cannot be drawn there.
        sign: The sign of a series in a key.
        from_zero: The length or height shows the value; lines of references are drawn in front.
        joined: The mark connects values in their order on the axis.
        banded: The mark is wide: numbers under it are names, and dates have half of its width on both sides.
        repeats: Several values may share a place.
        has_ends: The names of series fit at the ends of the mark.
        stacked: The mark to use for stacked series; None if it cannot be stacked.
        find_faults: Finds reasons why the data, one per panel, cannot be drawn with the mark.
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
