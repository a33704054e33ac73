"""References, and the names of series and references: in a key above the drawing, or at the ends of lines.

A reference is a line or a band across the chart, with which readers compare values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from mongo_tables.directives.specs import Reference
from mongo_tables.render.charts.axes import Axes, Scale, Span, apart, fit_names, letters_in, mark_texts
from mongo_tables.render.charts.elements import (
    BOLD,
    LETTER,
    LINE,
    LONGEST,
    colour_class,
    coordinate,
    draw_text,
    text_width,
)
from mongo_tables.render.charts.marks import mark_of
from mongo_tables.render.charts.plot import Data, Plot, Series
from mongo_tables.render.markup import typeset

_BESIDE_SIGN: Final = 15
_APART: Final = 34
_SHARE: Final = 0.32
"""The largest share of the drawing's width that the names at the ends of lines may take."""
_BESIDE: Final = 22
_MARGIN_WITHOUT_NAMES: Final = 20


# -- references --


def draw_bands(plot: Plot, scale: Scale, sides: Span) -> Iterator[str]:
    """Yield the bands of references across the axis of values, from side to side of the chart."""
    start, end = map(coordinate, sides)
    for one in plot.references:
        if one.is_band:
            low, high = coordinate(scale.nearest(one.low)), coordinate(scale.nearest(one.high))
            across = f"M{start} {low}H{end}V{high}H{start}z"
            path = f"M{low} {start}H{high}V{end}H{low}z" if plot.horizontal else across
            yield f'<path class="mongo-chart__span" d="{path}"/>'


def draw_references(plot: Plot, scale: Scale, *sides: Span) -> Iterator[str]:
    """Yield the lines of references across the axis of values: from side to side of the chart, or in several parts."""
    for one in plot.references:
        if not one.is_band and scale.has(one.low):
            path = cross_axis(scale.at(one.low), sides, vertical=plot.horizontal)
            yield f'<path class="mongo-chart__reference" d="{path}"/>'


def cross_axis(at: float, sides: Sequence[Span], *, vertical: bool) -> str:
    """Return the path of a line across an axis at a coordinate, with a part for each of the ``sides``."""
    place, parts = coordinate(at), [tuple(map(coordinate, side)) for side in sides]
    if vertical:
        return "".join(f"M{place} {start}V{end}" for start, end in parts)
    return "".join(f"M{start} {place}H{end}" for start, end in parts)


def middle_of(scale: Scale, one: Reference) -> float:
    """Return the coordinate of the middle of a reference."""
    return (scale.nearest(one.low) + scale.nearest(one.high)) / 2


def references_in_words(plot: Plot) -> Iterator[str]:
    """Yield each reference in words: ``a line at 1 (same speed)``, ``a band from 90 to 110 (target)``."""
    for one in plot.references:
        low, high = map(typeset, mark_texts(plot, plot.y[0], (one.low, one.high)))
        text = f"a band from {low} to {high}" if one.is_band else f"a line at {low}"
        yield f"{text} ({one.label})" if one.label else text


def note_on_references(plot: Plot) -> str:
    """Return a note on the references for output without a drawing, or "" if there are none.

    Example: ``For comparison: same speed, 1; target, 90 to 110 ms.``
    """
    texts = []
    for one in plot.references:
        low, high = mark_texts(plot, plot.y[0], (one.low, one.high))
        value = f"{low} to {high}" if one.is_band else low
        texts.append(", ".join(filter(None, (one.label, f"{value} {plot.common_unit}".rstrip()))))
    return f"For comparison: {'; '.join(texts)}." if texts else ""


# -- keys and ends --


class KeyEntry(NamedTuple):
    """A name, and a function that draws its sign at the left edge ``x`` and on the base line ``y``."""

    name: str
    sign: Callable[[float, float], str]


def series_entries(plot: Plot, series: Sequence[Series]) -> list[KeyEntry]:
    """Return the entries of the series, or none for a single series."""
    sign = mark_of(plot).sign
    return (
        [KeyEntry(one.name, partial(sign, index)) for index, one in enumerate(series)]
        if len(series) > 1
        else []
    )


def reference_entries(references: Sequence[Reference]) -> list[KeyEntry]:
    """Return the entries of the references that have a label."""
    return [KeyEntry(one.label, _band_sign if one.is_band else _line_sign) for one in references if one.label]


def _line_sign(x: float, y: float) -> str:
    return f'<path class="mongo-chart__reference" d="M{coordinate(x)} {coordinate(y - 4)}h11"/>'


def _band_sign(x: float, y: float) -> str:
    return f'<path class="mongo-chart__span" d="M{coordinate(x)} {coordinate(y - 9)}h11v10h-11z"/>'


def draw_key(entries: Sequence[KeyEntry], width: float, top: float) -> Iterator[str]:
    """Yield the elements of the key. ``top`` is the base line of its first row."""
    for one, (name, at, row) in zip(entries, _places(entries, width), strict=True):
        below = top + row * (LINE + 4)
        yield one.sign(at, below)
        yield draw_text(name, at + _BESIDE_SIGN, below, "mongo-chart__label")


def key_height(entries: Sequence[KeyEntry], width: float) -> float:
    """Return the height of the key, or 0 without entries."""
    return (LINE + 4) * (_places(entries, width)[-1][2] + 1) if entries else 0


def _places(entries: Sequence[KeyEntry], width: float) -> list[tuple[str, float, int]]:
    """Return the shown name, the left edge and the row (from 0) of each entry, in rows of this width."""
    places: list[tuple[str, float, int]] = []
    at, row = 0.0, 0
    for name in fit_names([one.name for one in entries], letters_in(width - _BESIDE_SIGN)):
        room = text_width(name) * BOLD + _APART
        if at and at + room > width:
            at, row = 0.0, row + 1
        places.append((name, at, row))
        at += room
    return places


class Ends(NamedTuple):
    """The texts at the right of a drawing: names of series and labels of references, if they are not in the key."""

    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def margin(self) -> float:
        """The width of the margin at the right of the drawing, which the texts need."""
        widest = max(map(text_width, (*self.names, *self.labels)), default=0)
        return widest + _BESIDE if widest else _MARGIN_WITHOUT_NAMES


def ends_of(plot: Plot, data: Data, width: float) -> Ends:
    """Return the names if all fit at the right of the drawing, and the labels if all fit there."""
    named = mark_of(plot).has_ends and len(data.series) > 1
    names = tuple(series.name for series in data.series) if named else ()
    labels = tuple(one.label for one in plot.references if one.label)
    room = min(LONGEST * LETTER, width * _SHARE)
    return Ends(
        *(texts if all(text_width(text) <= room for text in texts) else () for texts in (names, labels))
    )


def draw_ends(axes: Axes, ends: Ends) -> Iterator[str]:
    """Yield each name at its last value (in a stack at the middle of its part), and each label at its reference."""
    found: list[tuple[str, str, float, float]] = []
    for index, series in enumerate(axes.data.series if ends.names else ()):
        if series.drawn:
            last = series.drawn[-1]
            height = axes.y.at(last.top)
            if axes.plot.stack:
                height = (height + axes.y.foot(last.base)) / 2
            x = axes.x.end + 8 if axes.data.banded else axes.x.at(last.x) + 10
            found.append((series.name, f"mongo-chart__label {colour_class(index)}", x, height))
    for one in axes.plot.references if ends.labels else ():
        if one.label:
            found.append((one.label, "mongo-chart__aside", axes.sides[1] + 5, middle_of(axes.y, one)))
    placed = apart([at for *_, at in found], LINE, axes.y.end, axes.y.start)
    for (text, look, x, _), y in zip(found, placed, strict=True):
        yield draw_text(text, x, y, look, middle=True)
