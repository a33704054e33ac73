"""Which rows of a column a share or a factor compares: pairs of its values with a ratio that a figure stands for.

A sentence compares a row with the first, the one before, the least or the most; one that is named with any other, or
with those that it says to compare with.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import copysign, inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mongo_tables.pages.prose.numbers import Figure, Unit
    from mongo_tables.specs.model import PipelineSpec


class Span(NamedTuple):
    """Ratios from ``low`` to ``high``, which are on one side of 0; no pair has the ratio 1."""

    low: float
    high: float


def spans_of(figure: Figure, *, differs: bool = False) -> list[Span]:
    """The ratios that a share or a factor may be said of: as so many times, as a share, or as a difference in per cent.

    Whether the one or the other of two rows is compared, a sentence leaves open. ``differs``: a share of so much more
    or less is a difference, as `80 % faster` is.
    """
    low, high = figure.span()
    said = [(low, high)]
    if figure.kind != "times":
        low, high = low / 100, high / 100
        said = [(1 - high, 1 - low), (1 + low, 1 + high)]
        if not differs:
            said = [(low, high), *said]
    plain = [one for span in said for one in _split(*span)]
    return [*plain, *map(_turn, plain)]


def _split(low: float, high: float) -> Iterator[Span]:
    """What is below and above 0 of a span."""
    if low < 0:
        yield Span(low, min(high, -0.0))
    if high > 0:
        yield Span(max(low, 0.0), high)


def _turn(span: Span) -> Span:
    """The same ratios the other way round."""
    return Span(_part(1.0, span.high, span), _part(1.0, span.low, span))


def _part(value: float, end: float, span: Span) -> float:
    """A value by one end of a span, which may be 0."""
    side = span.high if span.high > 0 else span.low
    return value / end if end else copysign(inf, value * side)


@dataclass(frozen=True)
class Values:
    """The finite numbers of a column, each with its row, from top to bottom."""

    pairs: tuple[tuple[int, float], ...]

    @cached_property
    def sorted(self) -> Sequence[float]:
        """Those that can be compared, from the least to the most."""
        return sorted(value for _, value in self.pairs if value)

    @cached_property
    def by_row(self) -> dict[int, float]:
        """Those that can be compared, by their rows."""
        return {row: value for row, value in self.pairs if value}

    @cached_property
    def ends(self) -> Sequence[float]:
        """The first, the least and the greatest."""
        values = [value for _, value in self.pairs]
        return [one for one in dict.fromkeys((values[0], min(values), max(values))) if one]

    @cached_property
    def steps(self) -> Sequence[float]:
        """The ratio of each to the one before, from the least to the most."""
        both = pairwise(value for _, value in self.pairs)
        ratios = (value / before for before, value in both if before and value and before != value)
        return sorted(one for one in ratios if one and isfinite(one))

    def holds(self, low: float, high: float, but: float) -> bool:
        """Whether one of them is between two ends, which may come in any order, and is not ``but``."""
        low, high = min(low, high), max(low, high)
        first, last = bisect_left(self.sorted, low), bisect_right(self.sorted, high)
        same = bisect_right(self.sorted, but) - bisect_left(self.sorted, but) if low <= but <= high else 0
        return last - first > same


@dataclass(frozen=True)
class Compared:
    """A column whose values a sentence may compare, with their unit.

    ``of``: one of two compared rows is one of these, ``pairs``: they are one of those; empty where all may be.
    """

    spec: PipelineSpec
    name: str
    values: Values
    unit: Unit | None = None
    of: frozenset[int] = frozenset()
    pairs: frozenset[tuple[int, int]] = frozenset()

    @property
    def rows(self) -> Collection[int]:
        """The rows that can be compared."""
        return self.values.by_row.keys()

    def narrow(self, of: frozenset[int], pairs: frozenset[tuple[int, int]]) -> Compared:
        """The same for rows that are named."""
        return replace(self, of=of, pairs=pairs)

    def list_rows(self) -> list[tuple[int, int]]:
        """Those of the pairs of which both rows have a value."""
        return [pair for pair in sorted(self.pairs) if self.values.by_row.keys() >= {*pair}]

    def list_pairs(self) -> list[tuple[float, float]]:
        """Their values."""
        return [(self.values.by_row[one], self.values.by_row[other]) for one, other in self.list_rows()]

    def has(self, spans: Sequence[Span]) -> bool:
        """Whether two of its rows have a ratio within one of the spans."""
        if not self.of:
            return any(map(self._has_of_all, spans))
        found = self.values.by_row
        if self.pairs:
            ratios = [value / other for value, other in self.list_pairs() if value != other]
            return any(low <= ratio <= high for low, high in spans for ratio in ratios)
        named = [found[row] for row in self.of & found.keys()]
        return any(
            self.values.holds(_part(value, span.high, span), _part(value, span.low, span), value)
            for value in named
            for span in spans
        )

    def _has_of_all(self, span: Span) -> bool:
        values = self.values
        steps = bisect_right(values.steps, span.high) - bisect_left(values.steps, span.low)
        return steps > 0 or any(values.holds(one * span.low, one * span.high, one) for one in values.ends)


@dataclass(frozen=True)
class Concluded:
    """The ratios to its baseline that a table shows, and the ends of their intervals, each with its row."""

    spec: PipelineSpec
    name: str
    ratios: tuple[tuple[int, float], ...]
    of: frozenset[int] = frozenset()

    @cached_property
    def rows(self) -> Collection[int]:
        """The rows that have one."""
        return {row for row, _ in self.ratios}

    def narrow(self, of: frozenset[int], pairs: frozenset[tuple[int, int]]) -> Concluded:
        """The same for rows that are named; which of them is the baseline, the ratios do not say."""
        return replace(self, of=of.union(*pairs))

    def has(self, spans: Sequence[Span]) -> bool:
        """Whether a ratio is within one of the spans."""
        return any(
            low <= ratio <= high and ratio != 1
            for row, ratio in self.ratios
            if not self.of or row in self.of
            for low, high in spans
        )
