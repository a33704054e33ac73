"""Whether a table has a number of a sentence: in a cell, or as the ratio of two cells of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isfinite
from typing import TYPE_CHECKING, Final

from mongo_tables.site.numbers.tokens import kind_of, normalized

if TYPE_CHECKING:
    from mongo_tables.site.numbers.tables import Cell, Table
    from mongo_tables.site.numbers.tokens import Number, Precision

_TELLING: Final = 3
"""A number of so many digits is found without a name in its sentence: by chance few cells have it."""
_EXACT: Final = 1e-9
"""What doubles lose in a conversion."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables that a number may come from: those ``near`` it, and ``others`` that its page shows or names.

    ``expected`` are numbers that statements of its paragraph hold rows to.
    """

    near: Sequence[Table]
    others: Sequence[Table] = ()
    expected: Sequence[float] = ()

    def __bool__(self) -> bool:
        return bool(self.near or self.others or self.expected)


def is_found(number: Number, sentence: str, tables: Tables) -> bool:
    """Whether a number is that of a cell, of two cells, or expected; ``sentence`` is the one around it."""
    words = f" {normalized(sentence)} "
    exact = number.precisions[0]
    factors = (1.0, *(1.0 / unit.factor for unit in number.units if number.is_ratio))
    if any(_is_within(number, exact, value * one) for value in tables.expected for one in factors):
        return True
    if any(_in_cell(number, words, table) for table in (*tables.near, *tables.others)):
        return True
    return number.is_ratio and any(_is_ratio(number, words, table) for table in tables.near)


def _in_cell(number: Number, words: str, table: Table) -> bool:
    cells = [
        (cell, precision)
        for cells in table.alike
        for factor in _factors(number, cells[0], table)
        for cell in cells
        for precision in number.precisions
        if _is_within(number, precision, cell.number.value * factor)
    ]
    if any(precision.digits >= _TELLING for _, precision in cells):
        return True
    if not cells:
        return False
    if (rows := table.named_rows(words)) or number.noun:
        return any(cell.row in rows for cell, _ in cells)
    columns = table.named_columns(words)
    return any(cell.column in columns for cell, _ in cells)


def _factors(number: Number, cell: Cell, table: Table) -> tuple[float, ...]:
    """By what the number of a cell, and of all that are alike, becomes one in a unit of the text."""
    nouns = table.headings[cell.column].nouns
    if number.noun:
        return (1.0,) if number.noun == cell.number.noun or number.noun in nouns else ()
    if not cell.units:
        # A table that does not say its unit may be in that of the text, but a count is no share.
        return () if cell.number.noun or (number.is_ratio and nouns) else (1.0,)
    pairs = ((one, own) for own in number.units for one in cell.units)
    return tuple(one.factor / own.factor for one, own in pairs if kind_of(one) == kind_of(own))


def _is_ratio(number: Number, words: str, table: Table) -> bool:
    """Whether a number is the ratio of two cells of a column whose rows are named.

    The column is one that is named, or the first with a unit. A share may be a difference: 150 ms are 50 % more than
    100 ms.
    """
    named = table.named_rows(words)
    cells = [cell for cell in table.cells if cell.row in named and cell.is_measure]
    first = min(
        ((not cell.units, cell.column) for cell in cells if cell.column >= table.naming), default=None
    )
    columns = table.named_columns(words) | ({first[1]} if first else set())
    cells = [cell for cell in cells if cell.column in columns]
    scale = number.units[0].factor
    for one, two in permutations(cells, 2):
        if one.column != two.column or one.row == two.row:
            continue
        ratio = _base_value(one) / _base_value(two)
        # Cells are rounded, and so is what follows from them.
        loss = ratio * sum(cell.number.precisions[0].half / cell.number.value for cell in (one, two))
        for value in (ratio, abs(1 - ratio)) if scale != 1 else (ratio,):
            if any(_is_within(number, each, value / scale, loss / scale) for each in number.precisions):
                return True
    return False


def _base_value(cell: Cell) -> float:
    return cell.number.value * (cell.units[0].factor if cell.units else 1.0)


def _is_within(number: Number, precision: Precision, value: float, loss: float = 0.0) -> bool:
    return isfinite(value) and abs(value - number.value) <= precision.half + loss + _EXACT * abs(value)
