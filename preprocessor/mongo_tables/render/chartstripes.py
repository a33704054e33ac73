"""The parts of a stacked bar: told apart by stripes beside their colour, with their values in them.

Stripes are dashes across a line that is as wide as the part: a pattern would need an id, which a page may have once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from mongo_tables.render.chartparts import coordinate, text_width
from mongo_tables.render.text import text_html

_LEAST_SIDE: Final = 6
"""A part that is thinner has no room for stripes."""
_LEAST_HEIGHT: Final = 13
"""Of a part that has its value in it."""


class Box(NamedTuple):
    """A part: its upper left corner and its sides."""

    x: float
    y: float
    width: float
    height: float


def dress_part(index: int, value: str, box: Box) -> Iterator[str]:
    """The stripes of the series with this number and, where there is room, the value."""
    yield from stripes(index, box)
    if box.height >= _LEAST_HEIGHT and text_width(value) <= box.width - 6:
        place = f'x="{coordinate(box.x + box.width / 2)}" y="{coordinate(box.y + box.height / 2)}"'
        look = 'class="mongo-chart__inside" dy=".32em" text-anchor="middle"'
        yield f"<text {look} {place}>{text_html(value)}</text>"


def stripes(index: int, box: Box) -> Iterator[str]:
    """None for the first of four series, across for the second, along for the third, both ways for the fourth."""
    if min(box.width, box.height) < _LEAST_SIDE:
        return
    left, top = coordinate(box.x), coordinate(box.y)
    if index % 4 in (1, 3):
        path = f"M{coordinate(box.x + box.width / 2)} {top}v{coordinate(box.height)}"
        yield _path(path, box.width)
    if index % 4 in (2, 3):
        path = f"M{left} {coordinate(box.y + box.height / 2)}h{coordinate(box.width)}"
        yield _path(path, box.height)


def _path(path: str, width: float) -> str:
    return f'<path class="mongo-chart__stripes" d="{path}" stroke-width="{coordinate(width)}"/>'
