"""The names of lines, areas and parts of bars at their ends, and of references at theirs: right of the drawing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from mongo_tables.render.chartaxes import Axes
from mongo_tables.render.chartdata import Data, Plot, Point
from mongo_tables.render.chartparts import LETTER, LINE, LONGEST, colour_class, coordinate, text_width
from mongo_tables.render.chartreference import middle_of
from mongo_tables.render.chartscale import apart
from mongo_tables.render.text import text_html

_SHARE: Final = 0.32
"""The part of the width that names at ends may take."""
_BESIDE: Final = 22
_MARGIN_WITHOUT_NAMES: Final = 20


class Ends(NamedTuple):
    """What stands right of a drawing: names of series, labels of references."""

    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, plot: Plot, data: Data, width: float) -> Ends:
        """What has room there; the rest goes into the key."""
        names = tuple(series.name for series in data.series) if _has_ends(plot, data) else ()
        labels = tuple(one.label for one in plot.references if one.label)
        return cls(*(texts if _fit(texts, width) else () for texts in (names, labels)))

    @property
    def margin(self) -> float:
        """How far the drawing ends before the right edge."""
        widest = max(map(text_width, (*self.names, *self.labels)), default=0)
        return widest + _BESIDE if widest else _MARGIN_WITHOUT_NAMES


def _fit(texts: tuple[str, ...], width: float) -> bool:
    """Whether all of them can be read in whole there."""
    return all(text_width(text) <= min(LONGEST * LETTER, width * _SHARE) for text in texts)


def _has_ends(plot: Plot, data: Data) -> bool:
    """Bars side by side and dots have no end to stand a name at."""
    ending = plot.mark in ("line", "area") or (plot.mark == "bar" and plot.stack)
    return ending and len(data.series) > 1


class _End(NamedTuple):
    text: str
    look: str
    x: float
    y: float


def draw_ends(axes: Axes, ends: Ends) -> Iterator[str]:
    """Each name beside its last value, none over another."""
    found = [*(_names(axes) if ends.names else ()), *(_labels(axes) if ends.labels else ())]
    placed = apart([one.y for one in found], LINE, axes.y.end, axes.y.start)
    for one, y in zip(found, placed, strict=True):
        place = f'x="{coordinate(one.x)}" y="{coordinate(y)}" dy=".32em"'
        yield f'<text class="{one.look}" {place}>{text_html(one.text)}</text>'


def _names(axes: Axes) -> Iterator[_End]:
    for index, series in enumerate(axes.data.series):
        if series.drawn:
            x, y = _place_of_name(axes, series.drawn[-1])
            yield _End(series.name, f"mongo-chart__label {colour_class(index)}", x, y)


def _place_of_name(axes: Axes, last: Point) -> tuple[float, float]:
    """Beside the last value; of what stands on others beside its middle."""
    height = axes.y.at(last.top)
    if axes.plot.stack:
        height = (height + axes.foot(last.base)) / 2
    return (axes.x.end + 8 if axes.plot.mark == "bar" else axes.x.at(last.x) + 10), height


def _labels(axes: Axes) -> Iterator[_End]:
    for one in axes.plot.references:
        if one.label:
            yield _End(one.label, "mongo-chart__aside", axes.sides[1] + 5, middle_of(axes.y, one))
