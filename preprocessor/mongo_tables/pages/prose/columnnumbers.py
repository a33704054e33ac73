"""The numbers of one column of a table in the order of their size: which of thousands a figure stands for, at once."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isclose
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.numbers import GROUPING, NUMBER, Figure, Unit, read_number

if TYPE_CHECKING:
    from mongo_tables.specs.model import PipelineSpec

_BYTE_STEPS: Final = (2**10, 10**3)
"""What a step from bytes to KB, or from KB to MB, may be."""
_ENOUGH_DIGITS: Final = 3
"""By chance no two measurements have as many in common."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a table has: ``unit`` where its column names one, ``column`` and ``row`` where it is shown.

    What belongs to no column has none, what belongs to no row the row -1.
    """

    value: float
    unit: Unit | None
    spec: PipelineSpec
    column: str = ""
    row: int = -1


class _Alike(NamedTuple):
    """Numbers of one unit, all of them whole or none, from the least to the most, with their values."""

    unit: Unit | None
    whole: bool
    values: Sequence[float]
    numbers: Sequence[Number]

    def between(self, figure: Figure) -> Iterator[Number]:
        """Those that a figure stands for; bytes may come twice."""
        low, high = figure.span(whole=self.whole or self.unit is None)
        for factor in factors_between(self.unit, figure.unit):
            first = bisect_left(self.values, low / factor)
            yield from self.numbers[first : bisect_right(self.values, high / factor, first)]

    def nearest(self, middle: float, unit: Unit | None) -> Iterator[tuple[float, Number]]:
        """The numbers on both sides of one in ``unit``, each with how far off it is."""
        for factor in factors_between(self.unit, unit):
            above = bisect_left(self.values, middle / factor)
            below = bisect_left(self.values, self.values[above - 1]) if above else 0
            for at in {below, above}:
                if at < len(self.values):
                    yield abs(self.values[at] * factor - middle), self.numbers[at]


@dataclass(frozen=True)
class ColumnNumbers:
    """The numbers of one column from top to bottom, or those of a table that stand in none: then ``name`` is empty."""

    spec: PipelineSpec
    name: str
    numbers: tuple[Number, ...]

    @cached_property
    def _alike(self) -> Sequence[_Alike]:
        groups: dict[tuple[Unit | None, bool], list[Number]] = {}
        for one in self.numbers:
            groups.setdefault((one.unit, one.value.is_integer()), []).append(one)
        for numbers in groups.values():
            numbers.sort(key=lambda one: one.value)
        return [_Alike(*key, [one.value for one in found], found) for key, found in groups.items()]

    @cached_property
    def units(self) -> Collection[Unit | None]:
        """The units of the numbers, each once."""
        return dict.fromkeys(one.unit for one in self._alike)

    def has_unit(self, unit: Unit) -> bool:
        """Whether one of the numbers is of the kind of a unit."""
        return any(own is not None and own.fits(unit) for own in self.units)

    @cached_property
    def _rows(self) -> dict[int, list[Number]]:
        found: dict[int, list[Number]] = {}
        for one in self.numbers:
            found.setdefault(one.row, []).append(one)
        return found

    @cached_property
    def _rows_by_value(self) -> dict[float, set[int]]:
        found: dict[float, set[int]] = {}
        for one in self.numbers:
            found.setdefault(one.value, set()).add(one.row)
        return found

    @cached_property
    def _parts(self) -> dict[frozenset[int], ColumnNumbers]:
        return {}

    def of_rows(self, rows: frozenset[int]) -> ColumnNumbers:
        """The same of some rows, and what belongs to no row."""
        if rows not in self._parts:
            kept = [one for row in (-1, *sorted(rows)) for one in self._rows.get(row, ())]
            self._parts[rows] = ColumnNumbers(self.spec, self.name, tuple(kept))
        return self._parts[rows]

    def rows_with(self, value: float) -> Collection[int]:
        """The rows that have a number."""
        return self._rows_by_value.get(value, ())

    def find(self, figure: Figure) -> list[Number]:
        """The numbers that a figure could be, from top to bottom."""
        found = {id(one): one for part in self._alike for one in part.between(figure)}
        return sorted(found.values(), key=lambda one: one.row)

    def has(self, figure: Figure, *, unitless: bool) -> bool:
        """Whether it has a number that a figure could be; ``unitless``: also one that has no unit but its noun."""
        return any(
            True
            for part in self._alike
            if unitless or (part.unit is not None and not part.unit.by_header)
            for _ in part.between(figure)
        )

    def nearest(self, figure: Figure) -> tuple[float, Number] | None:
        """The first of the numbers nearest to a figure, with how far off it is; None where it has none to compare."""
        middle = (figure.low + figure.high) / 2
        parts = (one for one in self._alike if _is_of(one.unit, figure.unit))
        found = (one for part in parts for one in part.nearest(middle, figure.unit))
        return min(found, key=lambda one: (one[0], one[1].row), default=None)

    def sizes(self, unit: Unit | None, *, whole: bool = False, same_factor: bool = False) -> Iterator[float]:
        """The least and the greatest number above 0 in a unit, of those that have one of its kind.

        ``whole``: of whole numbers alone; ``same_factor``: of those in that very unit.
        """
        for part in self._alike:
            first = bisect_right(part.values, 0)
            if first == len(part.values) or (whole and not part.whole) or not _is_of(part.unit, unit):
                continue
            if same_factor and part.unit and unit and part.unit.factor != unit.factor:
                continue
            for factor in factors_between(part.unit, unit):
                yield part.values[first] * factor
                yield part.values[-1] * factor


def _is_of(own: Unit | None, unit: Unit | None) -> bool:
    """Whether a number is of the kind of a unit, if any."""
    return unit is None or (own is not None and own.fits(unit))


@lru_cache(maxsize=512)
def factors_between(unit: Unit | None, other: Unit | None) -> Sequence[float]:
    """How many of another unit one is, in every way that it may be meant; none where they are of different kinds.

    Bytes are compared in steps of 1024 and of 1000, for prose and tables often differ in that: of those units of which
    it is not said, and not where both are the same.
    """
    if other is None or unit is None or (unit.by_header and not other.by_header):
        return (1.0,)
    if not unit.kind and other.by_header:
        return (1.0,)
    if not unit.fits(other):
        return ()
    factor = unit.factor / other.factor
    is_of_bytes = unit.kind.startswith("byte") and unit != other
    others = _byte_factors(unit, other) if is_of_bytes else ()
    return (factor, *(one for one in others if one != factor))


def _byte_factors(one: Unit, other: Unit) -> Iterator[float]:
    """How many of another unit of bytes one is, each written in steps of 1024 or of 1000."""
    for own in _BYTE_STEPS[: 1 if one.is_binary else None]:
        for others in _BYTE_STEPS[: 1 if other.is_binary else None]:
            yield own**one.steps / others**other.steps


def is_the_number(figure: Figure, cell: Number) -> bool:
    """Whether a figure has the very number of a cell, or three of its digits and more, rounded as they are written."""
    found = re.match(NUMBER, figure.written)
    if found is None:
        return False
    number, digits = read_number(found[0]), GROUPING.sub("", found[0])
    is_exact = len(digits.replace(".", "").lstrip("0")) >= _ENOUGH_DIGITS
    off = (0.5 + 1e-9) * 10.0 ** -len(digits.partition(".")[2]) if is_exact else 0.0
    return any(
        isclose(cell.value * one, number, abs_tol=off) for one in factors_between(cell.unit, figure.unit)
    )
