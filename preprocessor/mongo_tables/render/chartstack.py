"""Series that stand on one another: where each value begins, and what all of a place come to.

Values above zero stand on one another upwards, those below zero downwards. An area has nothing to stand on where one
below it has no value, so there is a gap; bars stand on those that there are.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from mongo_tables.render.chartdata import Data, Plot, Point, Series


@dataclass(slots=True)
class _Pile:
    """What stands at one place so far: how far up and down it reaches, and its parts."""

    up: float = 0.0
    down: float = 0.0
    parts: list[float | None] = field(default_factory=list)

    def put(self, value: float) -> float:
        """Put a value on the pile; gives where it begins."""
        self.parts.append(value)
        base = self.down if value < 0 else self.up
        if value < 0:
            self.down += value
        else:
            self.up += value
        return base

    @property
    def total(self) -> float | None:
        """The sum as a reader of the texts would have it; None where a part is not known, or parts have both signs."""
        known = [part for part in self.parts if part is not None]
        if len(known) < len(self.parts) or (min(known, default=0) < 0 < max(known, default=0)):
            return None
        return float(sum(map(Decimal, map(repr, known))))


def stack_series(plot: Plot, data: Data) -> Data:
    """The data with each series on those before it, without ranges: that of a part is not that of a sum."""
    piles: dict[float, _Pile] = defaultdict(_Pile)
    joined = plot.mark == "area"
    placed = [
        series._replace(
            points=tuple(
                _put(piles[point.x], point, joined)
                for point in (_at_every_place(series, data) if joined else series.points)
            )
        )
        for series in data.series
    ]
    totals = {x: pile.total for x, pile in piles.items()}
    texts = {x: "" if total is None else plot.text(plot.y[0], total) for x, total in totals.items()}
    return data._replace(series=tuple(_with_totals(series, texts) for series in placed))


def _at_every_place(series: Series, data: Data) -> list[Point]:
    """The points of a series, with a gap at each place where it has none."""
    own = {point.x: point for point in series.points}
    places = zip(data.x_values, data.x_texts, strict=True)
    return [own.get(x) or Point(x, None, text, "", absent=True) for x, text in places]


def _put(pile: _Pile, point: Point, joined: bool) -> Point:
    if point.y is None or (joined and None in pile.parts):
        pile.parts.append(None)
        return point._replace(y=None, ends=None)
    return point._replace(base=pile.put(point.y), ends=None)


def _with_totals(series: Series, texts: dict[float, str]) -> Series:
    return series._replace(points=tuple(point._replace(total=texts[point.x]) for point in series.points))
