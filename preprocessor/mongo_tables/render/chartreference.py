"""Lines and bands that values are held against: across a drawing, with their labels, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mongo_tables.directives.specs import Reference
from mongo_tables.render.chartaxes import Span
from mongo_tables.render.chartdata import Plot
from mongo_tables.render.chartparts import coordinate, mark_texts, plain_mark_texts
from mongo_tables.render.chartscale import Scale


def draw_bands(references: Sequence[Reference], scale: Scale, sides: Span, *, upright: bool) -> Iterator[str]:
    """The bands on an axis, which stand behind all else: from side to side, ``upright`` across a horizontal chart."""
    start, end = map(coordinate, sides)
    for one in references:
        if one.is_band:
            low, high = coordinate(place_on(scale, one.low)), coordinate(place_on(scale, one.high))
            across = f"M{start} {low}H{end}V{high}H{start}z"
            path = f"M{low} {start}H{high}V{end}H{low}z" if upright else across
            yield f'<path class="mongo-chart__span" d="{path}"/>'


def draw_lines(references: Sequence[Reference], scale: Scale, sides: Span, *, upright: bool) -> Iterator[str]:
    """The lines on an axis, likewise."""
    start, end = map(coordinate, sides)
    for one in references:
        if not one.is_band and has_place(scale, one.low):
            at = coordinate(scale.at(one.low))
            path = f"M{at} {start}V{end}" if upright else f"M{start} {at}H{end}"
            yield f'<path class="mongo-chart__reference" d="{path}"/>'


def middle_of(scale: Scale, one: Reference) -> float:
    """Where the middle of a reference is."""
    return (place_on(scale, one.low) + place_on(scale, one.high)) / 2


def has_place(scale: Scale, value: float) -> bool:
    """Whether an axis has a place for a value: one that is logarithmic has none for 0 or less."""
    return value > 0 or not scale.log


def place_on(scale: Scale, value: float) -> float:
    """Where a value stands, at the lower end of the axis where that has no place for it."""
    return scale.at(value) if has_place(scale, value) else scale.start


def references_in_words(plot: Plot) -> list[str]:
    """Each reference in words: ``a line at 1 (same speed)``, ``a band from 90 to 110 (target)``."""
    return [_in_words(plot, one) for one in plot.references]


def note_on_references(plot: Plot) -> str:
    """The references where there is no drawing: ``For comparison: same speed, 1; target, 90 to 110 ms.``, or ""."""
    texts = []
    for one in plot.references:
        low, high = plain_mark_texts(plot, plot.y[0], (one.low, one.high))
        value = f"{low} to {high}" if one.is_band else low
        texts.append(", ".join(filter(None, (one.label, f"{value} {plot.common_unit}".rstrip()))))
    return f"For comparison: {'; '.join(texts)}." if texts else ""


def _in_words(plot: Plot, one: Reference) -> str:
    low, high = mark_texts(plot, plot.y[0], (one.low, one.high))
    text = f"a band from {low} to {high}" if one.is_band else f"a line at {low}"
    return f"{text} ({one.label})" if one.label else text
