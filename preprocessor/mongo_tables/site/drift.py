"""Drift of written figures from today's rows: whether a table or a value stays within its tolerance.

The comparison uses the rounded numbers that readers see, the written one and today's. A cell stays if both
texts are equal, or if both are numbers of one format in the same words and the number moved no farther than
the tolerance: by a share of the written number, or out of the interval of today's row. Of a value with its
range, ``120 (110–130)``, the value counts. Comparisons with the baseline and totals follow from other cells:
their words and their sign count, not their number. A table stays if it has the same number of rows, the same
words everywhere, and every cell stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.render.column import column_value
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.number_text import NumbersInText, is_written_by, read_numbers
from mongo_tables.render.table_layout import lay_out
from mongo_tables.render.values import cell_text, finite_decimal, is_number
from mongo_tables.site.statements import quoted_row, value_form
from mongo_tables.site.written_tables import WrittenTable, read_cell

if TYPE_CHECKING:
    from mongo_tables.directives.columns import ColumnFormat
    from mongo_tables.directives.specs import TableSpec, Tolerance, ValueSpec
    from mongo_tables.render.column import Column
    from mongo_tables.render.table_layout import TableLayout
    from mongo_tables.results.model import Rows
    from mongo_tables.site.markdown_figures import MarkdownContext


_VALUE_WITH_RANGE: Final = 3
"""Count of numbers in a cell with its range, and in a comparison with its interval."""


class CurrentCell(NamedTuple):
    """A cell of today: its value, its text, unescaped, and its interval if known.

    ``follows``: the cell is computed from other cells. ``ends`` are both ends of the interval, as they are
    shown.
    """

    value: object
    text: str
    form: ColumnFormat | None = None
    ends: tuple[str, str] | None = None
    follows: bool = False


def cell_of(
    table: TableSpec, row: Mapping[str, Any], column: str, text: str, form: ColumnFormat | None
) -> CurrentCell:
    """Return the cell that shows a column of a row as ``text``, formatted by ``form``."""
    ends = [column_value(row, field) for field in table.spread.get(column, ())[:2]]
    known = len(ends) == 2 and all(finite_decimal(end) is not None for end in ends)
    shown = (cell_text(ends[0], form), cell_text(ends[1], form)) if known else None
    return CurrentCell(column_value(row, column), text, form, shown)


def cell_stays(standing: str, today: CurrentCell, tolerance: Tolerance) -> bool:
    """Return whether the written text, unescaped, may stay in place of ``today``."""
    if standing == today.text:
        return True
    if not is_number(today.value) and conclusion_of(today.value) is None:
        return False
    then, now = read_numbers(standing, today.form), read_numbers(today.text, today.form)
    if then.words != now.words or not then.numbers:
        return False
    # A text in another format than the column has now must be written again.
    if not (today.follows or not is_number(today.value) or is_written_by(then.written[0], today.form)):
        return False
    if today.follows:
        return (then.numbers[0] < 0) == (now.numbers[0] < 0)
    if tolerance.share is None:
        return _within(then.numbers[0], _ends(today, now))
    pairs = list(zip(then.numbers, now.numbers, strict=True))
    counting = pairs[:1] if len(pairs) == _VALUE_WITH_RANGE else pairs
    return all(abs(new - old) <= tolerance.share * abs(old) for old, new in counting)


def _ends(today: CurrentCell, shown: NumbersInText) -> Sequence[Decimal]:
    """Return the interval of today's row: from the table's range, else from the text of a comparison."""
    if today.ends:
        return [number for end in today.ends for number in read_numbers(end, today.form).numbers]
    return shown.numbers[1:] if len(shown.numbers) == _VALUE_WITH_RANGE else ()


def _within(number: Decimal, ends: Sequence[Decimal]) -> bool:
    return len(ends) == 2 and min(ends) <= number <= max(ends)


def is_near_table(standing: str, today: Sequence[str], spec: TableSpec, rows: Rows) -> bool:
    """Return whether the written lines of a table may stay.

    ``today`` are the current lines without the provenance of the rows, which belongs to the written rows.
    """
    if spec.tolerance is None:
        return False
    then, now = WrittenTable.of(standing.strip("\n").split("\n")), WrittenTable.of(today)
    if (then.above, then.headers, then.alignments) != (now.above, now.headers, now.alignments):
        return False
    notes, more = then.below[: len(now.below)], then.below[len(now.below) :]
    if len(then.rows) != len(now.rows) or notes != now.below or (more and not spec.provenance) or not rows:
        return False
    shown = with_few_digits(spec, rows)
    cells = _cells_of(shown, lay_out(shown, rows), rows)
    return all(
        _row_stays(row, today_row, kinds, spec.tolerance)
        for row, today_row, kinds in zip(then.texts, now.texts, cells, strict=True)
    )


def is_near_value(standing: str, today: str, spec: ValueSpec, context: MarkdownContext) -> bool:
    """Return whether the written Markdown of a value may stay in place of ``today``."""
    table, row = context.tables[spec.table], quoted_row(spec, context.tables, context.answers)
    tolerance = spec.tolerance or table.tolerance
    if tolerance is None or row is None:
        return False
    form = value_form(spec, context.tables, context.answers)
    cell = cell_of(table, row, spec.column, read_cell(today), form)
    return cell_stays(read_cell(standing), cell, tolerance)


def _row_stays(
    standing: Sequence[str], texts: Sequence[str], kinds: Sequence[CurrentCell], tolerance: Tolerance
) -> bool:
    return len(standing) == len(texts) and all(
        cell_stays(cell, kind._replace(text=text), tolerance)
        for cell, text, kind in zip(standing, texts, kinds, strict=True)
    )


def _cells_of(spec: TableSpec, layout: TableLayout, rows: Rows) -> Iterator[list[CurrentCell]]:
    """Yield the cells of each line of a table without their texts: rows below their headings, then totals."""
    words = CurrentCell("", "")
    for group in layout.groups:
        if group.heading is not None:
            yield [words for _ in layout.columns]
        for number in range(group.rows.start, group.rows.stop):
            yield [_cell_in(spec, rows[number], column, number) for column in layout.columns]
    for total in layout.totals:
        found = [(total.cells.get(column.name), spec.form_of(column.name)) for column in layout.columns]
        yield [CurrentCell(one.value, "", form, follows=True) if one else words for one, form in found]


def _cell_in(spec: TableSpec, row: Mapping[str, Any], column: Column, number: int) -> CurrentCell:
    """Return a cell of a row. A column that compares has no name."""
    if not column.name:
        return CurrentCell(column.values[number], "", follows=True)
    return cell_of(spec, row, column.name, "", spec.form_of(column.name))
