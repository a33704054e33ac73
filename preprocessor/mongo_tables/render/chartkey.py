"""The key above a drawing: the names of series and of references, each behind a sign with its look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from mongo_tables.directives.specs import Reference
from mongo_tables.render.chartdata import Plot, Series
from mongo_tables.render.chartparts import LINE, colour_class, coordinate, cut, marker_path, text_width
from mongo_tables.render.chartstripes import Box, stripes
from mongo_tables.render.text import text_html

_BESIDE_SIGN = 15
_APART = 34


class KeyEntry(NamedTuple):
    """A name, and what draws its sign: to the right of a place, on the line of a text at this height."""

    name: str
    sign: Callable[[float, float], str]


def series_entries(plot: Plot, series: Sequence[Series]) -> list[KeyEntry]:
    """The entries of the series, in their order."""
    draw = {"bar": _part_sign if plot.stack else _block_sign, "area": _area_sign}.get(plot.mark, _marker_sign)
    return [KeyEntry(one.name, partial(draw, index)) for index, one in enumerate(series)]


def reference_entries(references: Sequence[Reference]) -> list[KeyEntry]:
    """The entries of the references that have a label."""
    return [KeyEntry(one.label, _band_sign if one.is_band else _line_sign) for one in references if one.label]


def key_html(entries: Sequence[KeyEntry], width: float, top: float) -> Iterator[str]:
    """The entries, the first line ``top`` down."""
    for one, (at, row) in zip(entries, _places(entries, width), strict=True):
        below = top + row * (LINE + 4)
        yield one.sign(at, below)
        place = f'x="{coordinate(at + _BESIDE_SIGN)}" y="{coordinate(below)}"'
        yield f'<text class="mongo-chart__label" {place}>{text_html(_shown(one, width))}</text>'


def key_height(entries: Sequence[KeyEntry], width: float) -> float:
    """The height of the key; 0 without entries."""
    return (LINE + 4) * (_places(entries, width)[-1][1] + 1) if entries else 0


def _shown(entry: KeyEntry, width: float) -> str:
    return cut(entry.name, width - _BESIDE_SIGN)


def _places(entries: Sequence[KeyEntry], width: float) -> list[tuple[float, int]]:
    """Where each entry begins, and in which row of the key, from 0: a row is as wide as the drawing."""
    places: list[tuple[float, int]] = []
    at, row = 0.0, 0
    for one in entries:
        room = text_width(_shown(one, width)) + _APART
        if at and at + room > width:
            at, row = 0.0, row + 1
        places.append((at, row))
        at += room
    return places


# -- signs
# -------------------------------------------------------------------------------------------------


def _block_sign(index: int, x: float, y: float) -> str:
    look = f'class="{colour_class(index)} mongo-chart__area"'
    return f'<rect {look} x="{coordinate(x)}" y="{coordinate(y - 9)}" width="10" height="10"/>'


def _part_sign(index: int, x: float, y: float) -> str:
    return "".join((_block_sign(index, x, y), *stripes(index, Box(x, y - 9, 10, 10))))


def _marker_sign(index: int, x: float, y: float) -> str:
    look = f'class="{colour_class(index)} mongo-chart__area"'
    return f'<path {look} d="{marker_path(index, x + 5, y - 4)}"/>'


def _area_sign(index: int, x: float, y: float) -> str:
    left, top = coordinate(x), coordinate(y - 9)
    fill = f'<path class="mongo-chart__fill" d="M{left} {top}h11v10h-11z"/>'
    line = f'<path class="mongo-chart__line" d="M{left} {top}h11"/>'
    return f'<g class="{colour_class(index)} mongo-chart__d{index % 4}">{fill}{line}</g>'


def _line_sign(x: float, y: float) -> str:
    return f'<path class="mongo-chart__reference" d="M{coordinate(x)} {coordinate(y - 4)}h11"/>'


def _band_sign(x: float, y: float) -> str:
    return f'<path class="mongo-chart__span" d="M{coordinate(x)} {coordinate(y - 9)}h11v10h-11z"/>'
