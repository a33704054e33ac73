"""What a mark says of itself: how it is drawn, and what charts with it have and cannot have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mongo_tables.render.charts.axes import Axes, Scale
from mongo_tables.render.charts.elements import colour_class, marker_path
from mongo_tables.render.charts.plot import Data, Plot, Point
from mongo_tables.render.faults import Fault

Draw: TypeAlias = Callable[[Axes], Iterable[str]]
DrawBeside: TypeAlias = Callable[[int, Point, Scale, float, str], Iterable[str]]
"""Of a series with this number a value, along a horizontal axis, in a row with this middle, with this tip."""


def marker_sign(index: int, x: float, y: float) -> str:
    """The sign of a series in a key: its marker."""
    look = f'class="{colour_class(index)} mongo-chart__area"'
    return f'<path {look} d="{marker_path(index, x + 5, y - 4)}"/>'


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark: ``draw`` gives the elements of all series, those of a series in one ``<g>`` with its class.

    Attributes:
        name: As the key ``mark`` has it.
        draw: Everything over a horizontal axis; what can be pointed at has the class ``mongo-chart__area`` and a tip.
        draw_in_front: What stands in front of the lines of references.
        draw_beside: A value beside its name in a horizontal chart; None for what cannot be drawn there.
        sign: The sign of a series in a key.
        from_zero: What is drawn is as long, or as high, as the value; lines of references stand in front of it.
        joined: It goes from value to value, in their order on the axis.
        banded: It is wide: numbers under it are names, moments have half of its width on both sides.
        repeats: Several values may have the same place.
        has_ends: The names of series have a place at the ends of what is drawn.
        stacked: The mark where series stand on one another; None for what cannot.
        find_faults: Why these data, one for each panel, cannot be drawn with it.
    """

    name: str
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
    find_faults: Callable[[Plot, Sequence[Data]], Iterable[Fault]] = lambda plot, drawn: ()
