"""The search for a number in tables: for the cells with the number, and for the cell that its sentence names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations
from math import isfinite, isqrt
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from mongo_tables.site.numbers.text import COUNTS, RATIO, RATIOS, Number, Precision, kind_of, normalized

if TYPE_CHECKING:
    from mongo_tables.site.numbers.tables import Cell, Table

_MOST_NAMED: Final = 20
"""The maximum number of rows that a sentence can compare."""
_EXACT: Final = 1e-9
"""The relative error of a conversion between units."""
_FAR: Final = 3.0
"""The largest factor between an old and a new number, unless the sentence names the column and its unit."""
_FARTHEST: Final = 10.0
"""The largest factor if the sentence names both. Ratios have no limit.

With a larger factor, the number is probably a difference, as in `fell by 12 ms`.
"""
_LONGEST: Final = 8


@dataclass(frozen=True, slots=True)
class NearTables:
    """The tables that a number may come from.

    ``near`` are the tables of its section, ``others`` the other tables that its page shows or quotes. ``expected`` has
    the numbers in statements of the same paragraph.
    """

    near: Sequence[Table]
    others: Sequence[Table] = ()
    expected: Sequence[float] = ()

    @property
    def all(self) -> tuple[Table, ...]:
        """Return all tables."""
        return (*self.near, *self.others)

    def __bool__(self) -> bool:
        return bool(self.all or self.expected)


def is_within(number: Number, precision: Precision, value: float, loss: float = 0.0) -> bool:
    """Return whether a number may be the rounded ``value``, which itself may be inexact by ``loss``."""
    return isfinite(value) and abs(value - number.value) <= precision.half + loss + _EXACT * abs(value)


def find_place(number: Number, sentence: str, tables: NearTables) -> str | None:
    """Return a description of the cell that has a number, or None if the number is not found.

    Return "" if the number is a ratio of cells, or expected by a statement.
    """
    words = normalized(sentence)
    factors = (1.0, *(1.0 / unit.factor for unit in number.units if number.is_ratio))
    expected = (value * one / number.scale for value in tables.expected for one in factors)
    if any(is_within(number, number.precisions[0], value) for value in expected):
        return ""
    for table in tables.all:
        if cell := _find_cell(number, words, table):
            return f"{table.title}: row {cell.row + 1}, column `{table.headings[cell.column].label}`".lstrip(
                ": "
            )
    compared = (tables.near or tables.others) if number.is_ratio else ()
    return "" if any(_is_ratio(number, words, table) for table in compared) else None


def _find_cell(number: Number, words: str, table: Table) -> Cell | None:
    """Return the cell whose value a number rounds, or None.

    If the number is short, its sentence must name the cell's row or column.
    """
    cells = list(_cells_within(number, table))
    if not cells or (number.noun and table.size == 1):
        return cells[0][0] if cells else None
    rows, columns = table.rows.find_any(words), table.columns.find_any(words)
    # If the sentence names a column of the same unit, only that column counts.
    named = columns & {
        own[0].column for own in table.alike if own[0].units and unit_factors(number, own[0], table)
    }
    for cell, _ in cells:
        if (cell.row in rows and cell.column in (named or {cell.column})) or (
            not (rows or number.noun) and cell.column in columns
        ):
            return cell
    return next((cell for cell, digits in cells if digits >= table.telling), None)


def _cells_within(number: Number, table: Table) -> Iterator[tuple[Cell, int]]:
    """Yield the cells whose value a number rounds, each with the count of the number's significant digits."""
    for cells in table.alike:
        for factor in unit_factors(number, cells[0], table):
            for precision in number.precisions:
                reach = 2 * (precision.half + _EXACT * number.value)
                first = bisect_left(cells, (number.value - reach) / factor, key=attrgetter("value"))
                for cell in islice(cells, first, None):
                    if cell.value * factor > number.value + reach:
                        break
                    if is_within(number, precision, cell.value * factor):
                        yield cell, precision.digits


def unit_factors(number: Number, cell: Cell, table: Table) -> tuple[float, ...]:
    """Return the factors that convert a value in the unit of a cell to the possible units of a number."""
    heading, same = table.headings[cell.column], (1.0 / number.scale,)
    nouns = heading.nouns
    if not number.has_unit:
        return same
    if number.noun:
        counts_any = not (nouns or cell.units) and heading.label.rpartition(".")[2].lower() in COUNTS
        return same if counts_any or number.noun == cell.number.noun or number.noun in nouns else ()
    if not cell.units:
        # The unit of the text may be that of a column without unit, but a count is not a share.
        if cell.number.noun or (number.is_ratio and nouns):
            return ()
        is_share = number.is_ratio and cell.column in table.shares
        return (1.0 / number.units[0].factor,) if is_share else same
    pairs = ((one, own) for own in number.units for one in cell.units)
    return tuple(one.factor / own.factor / number.scale for one, own in pairs if kind_of(one) == kind_of(own))


def _is_ratio(number: Number, words: str, table: Table) -> bool:
    """Return whether a number is the ratio of two cells of one column, in rows that the sentence names.

    The column is one that the sentence names or, if it names none, the first column with a unit. A share may also be a
    difference: 150 ms are 50 % more than 100 ms.
    """
    named = table.rows.find_compared(words)
    # Of many pairs, one has a ratio of few digits by chance.
    most = min(_MOST_NAMED, max(2, isqrt(10 ** number.precisions[-1].digits // 2)))
    if not named or len(named) > most:
        return False
    cells = [
        cell
        for cell in table.cells
        if cell.row in named and cell.is_figure and cell.value and all(unit.powers for unit in cell.units)
    ]
    first = min(((not cell.units, cell.column) for cell in cells), default=(True, 0))[1]
    columns = table.columns.find_any(words) & {cell.column for cell in cells} or {first}
    scale = number.units[0].factor
    for one, two in permutations((cell for cell in cells if cell.column in columns), 2):
        if one.column != two.column or one.row == two.row:
            continue
        factors = [cell.units[0].factor if cell.units else 1.0 for cell in (one, two)]
        ratio = one.value * factors[0] / (two.value * factors[1])
        # Cells are rounded, so their ratio is inexact, too.
        loss = ratio * sum(cell.number.precisions[0].half / cell.number.value for cell in (one, two)) / scale
        for value in (ratio, abs(1 - ratio)) if scale != 1 else (ratio,):
            if any(is_within(number, each, value / scale, loss) for each in number.precisions):
                return True
    return False


@dataclass(frozen=True, slots=True)
class NamedCell:
    """The cell that a sentence names: its row and column for messages, and its number.

    ``value`` is in the unit of the sentence. ``is_sure`` is true if the sentence names the column and its unit.
    """

    row: str
    column: str
    written: str
    value: float = field(compare=False)
    is_sure: bool = field(compare=False)


def find_target(number: Number, sentence: str, tables: NearTables) -> NamedCell | None:
    """Return the only cell whose row and column, or row and unit, the sentence names, or None."""
    words = normalized(sentence)
    is_factor = any(unit == RATIO for unit in number.units)
    found = {target for table in tables.all for target in _targets_in(table, number, words)} or {
        target for table in tables.all if is_factor for target in _ratios_in(table, number, words)
    }
    if len(found) != 1:
        return None
    (target,) = found
    if target.is_sure and number.is_ratio:
        return target
    return target if _is_near(number, target.value, _FARTHEST if target.is_sure else _FAR) else None


def _is_near(number: Number, value: float, far: float = _FAR) -> bool:
    return number.value / far <= value <= number.value * far


def _targets_in(table: Table, number: Number, words: str) -> Iterator[NamedCell]:
    rows, said = table.rows.find_common(words), table.rows.said_in(words)
    if not said and table.size == 1:
        rows = frozenset({0})  # The only row needs no name.
    cells = [
        (cell, factor)
        for cell in table.cells
        if cell.row in rows and cell.is_figure
        for factor in unit_factors(number, cell, table)[:1]
    ]
    named = table.columns.find_any(words)
    is_measured = any(unit.powers for unit in number.units)
    own = [
        (cell, factor)
        for cell, factor in cells
        if cell.column in named
        # A column without a unit may have another quantity.
        and (
            cell.units
            or not is_measured
            or (not table.headings[cell.column].nouns and _is_near(number, cell.value * factor))
        )
        and (cell.units or not number.is_ratio or cell.column in table.shares)
    ]
    if len({cell.column for cell, _ in own}) > 1:
        common = table.columns.find_common(words)
        own = [one for one in own if one[0].column in common] or own
    if not own and (said or number.noun):
        known = [one for one in cells if number.noun or (one[0].units and number.has_unit)]
        own = [one for one in known if table.meant is None or one[0].column in table.meant]
    for cell, factor in own:
        written = cell.number.written if len(cell.number.written) <= _LONGEST else f"{cell.value:.6g}"
        is_sure = cell.column in named and bool(cell.units or number.noun)
        yield NamedCell(
            ", ".join(said), table.headings[cell.column].label, written, cell.value * factor, is_sure
        )


def _ratios_in(table: Table, number: Number, words: str) -> Iterator[NamedCell]:
    """Yield the ratio of the two rows that a sentence compares, from a column of ratios or from two figures.

    A ratio of 1 in a column is skipped, because its row is the baseline of the comparison.
    """
    said, pair = table.rows.said_in(words), table.rows.find_compared(words)
    if len(pair) != len(("one", "other")):
        return
    columns = table.columns.find_any(words)
    cells = [
        cell for cell in table.cells if cell.row in pair and cell.is_figure and cell.value and cell.units
    ]
    given = [cell for cell in cells if cell.units == (RATIO,) and cell.column in columns and cell.value != 1]
    figures = [cell for cell in cells if all(unit.powers for unit in cell.units)]
    figures = [cell for cell in figures if cell.column in columns] or figures
    row, is_sure = ", ".join(said), not RATIOS.isdisjoint(words.split())
    if len(given) == 1:
        (cell,) = given
        yield NamedCell(row, table.headings[cell.column].label, cell.number.written, cell.value, is_sure=True)
    elif not given and len(figures) == len(pair) and figures[0].column == figures[1].column:
        low, high = sorted(cell.value * cell.units[0].factor for cell in figures)
        ratio = high / low if number.value >= 1 else low / high
        yield NamedCell(row, table.headings[figures[0].column].label, f"{ratio:.3g}×", ratio, is_sure)
