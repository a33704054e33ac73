"""Lines and bands that values are held against: across a drawing, with their labels, and in words."""

from __future__ import annotations

from collections.abc import Iterator

from mongo_tables.directives.specs import Reference
from mongo_tables.render.charts.axes import Scale, Span, mark_texts
from mongo_tables.render.charts.elements import coordinate
from mongo_tables.render.charts.plot import Plot
from mongo_tables.render.markup import with_minus_signs


def draw_bands(plot: Plot, scale: Scale, sides: Span) -> Iterator[str]:
    """The bands on the axis of values, behind all else: from side to side, upright in a horizontal chart."""
    start, end = map(coordinate, sides)
    for one in plot.references:
        if one.is_band:
            low, high = coordinate(scale.nearest(one.low)), coordinate(scale.nearest(one.high))
            across = f"M{start} {low}H{end}V{high}H{start}z"
            path = f"M{low} {start}H{high}V{end}H{low}z" if plot.horizontal else across
            yield f'<path class="mongo-chart__span" d="{path}"/>'


def draw_references(plot: Plot, scale: Scale, sides: Span) -> Iterator[str]:
    """The lines on the axis of values, likewise."""
    start, end = map(coordinate, sides)
    for one in plot.references:
        if not one.is_band and scale.has(one.low):
            at = coordinate(scale.at(one.low))
            path = f"M{at} {start}V{end}" if plot.horizontal else f"M{start} {at}H{end}"
            yield f'<path class="mongo-chart__reference" d="{path}"/>'


def middle_of(scale: Scale, one: Reference) -> float:
    """Where the middle of a reference is."""
    return (scale.nearest(one.low) + scale.nearest(one.high)) / 2


def references_in_words(plot: Plot) -> Iterator[str]:
    """Each reference in words: ``a line at 1 (same speed)``, ``a band from 90 to 110 (target)``."""
    for one in plot.references:
        low, high = map(with_minus_signs, mark_texts(plot, plot.y[0], (one.low, one.high)))
        text = f"a band from {low} to {high}" if one.is_band else f"a line at {low}"
        yield f"{text} ({one.label})" if one.label else text


def note_on_references(plot: Plot) -> str:
    """The references where there is no drawing: ``For comparison: same speed, 1; target, 90 to 110 ms.``, or ""."""
    texts = []
    for one in plot.references:
        low, high = mark_texts(plot, plot.y[0], (one.low, one.high))
        value = f"{low} to {high}" if one.is_band else low
        texts.append(", ".join(filter(None, (one.label, f"{value} {plot.common_unit}".rstrip()))))
    return f"For comparison: {'; '.join(texts)}." if texts else ""
