"""How far what stands in a page is from today's rows: whether a table or a value stays within its tolerance.

What is compared is what readers see, the number that stands there with the number that would stand there, both as
rounded. A cell stays where it shows the same, or where both are numbers of one format in the same words, and the number
has moved no farther than the tolerance says: by a share of the one that stands, or out of the interval of today's row.
Of a value with its range, ``120 (110–130)``, the value counts. What compares a row with the baseline, and a total,
follow from other cells: their words count and their sign, not their number. A table stays where it has as many rows,
the same words everywhere, and every cell of it stays. Rows may have changed places within their group, if they stand as
the comment sorts them by the numbers that stand (``besidetoday``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.shownnumbers import Shown, is_written_by, read_numbers
from mongo_tables.render.values import cell_text, finite_decimal, is_number
from mongo_tables.site.besidetoday import is_in_order, lay_beside
from mongo_tables.site.statements import quoted_row, value_form
from mongo_tables.site.writtentables import WrittenTable, read_cell

if TYPE_CHECKING:
    from decimal import Decimal

    from mongo_tables.directives.column_format import ColumnFormat
    from mongo_tables.directives.specs import TableSpec, Tolerance, ValueSpec
    from mongo_tables.render.column import Column
    from mongo_tables.render.tablelayout import TableLayout
    from mongo_tables.results.model import Rows
    from mongo_tables.site.markdowntext import MarkdownContext

_VALUE_WITH_RANGE: Final = 3
"""Numbers of a cell with its range, and of a comparison with its interval."""


class Cell(NamedTuple):
    """A cell of today: its value, the text for it, unescaped, and what is known of its interval.

    ``follows``: it is worked out from other cells. ``ends`` are both ends of the interval, as they are shown.
    """

    value: object
    text: str
    form: ColumnFormat | None = None
    ends: tuple[str, str] | None = None
    follows: bool = False


def cell_of(
    table: TableSpec, row: Mapping[str, Any], column: str, text: str, form: ColumnFormat | None
) -> Cell:
    """The cell that shows a column of a row as ``text``, by ``form``."""
    ends = [column_value(row, field) for field in table.spread.get(column, ())[:2]]
    known = len(ends) == 2 and all(finite_decimal(end) is not None for end in ends)
    shown = (cell_text(ends[0], form), cell_text(ends[1], form)) if known else None
    return Cell(column_value(row, column), text, form, shown)


def cell_stays(standing: str, today: Cell, tolerance: Tolerance) -> bool:
    """Whether what stands in a page, unescaped, may stay where ``today`` would stand."""
    if standing == today.text:
        return True
    if not is_number(today.value) and conclusion_of(today.value) is None:
        return False
    then, now = read_numbers(standing, today.form), read_numbers(today.text, today.form)
    if then.words != now.words or not then.numbers or not _is_of_same_format(then, today):
        return False
    if today.follows:
        return (then.numbers[0] < 0) == (now.numbers[0] < 0)
    if tolerance.share is None:
        return _within(then.numbers[0], _ends(today, now))
    pairs = list(zip(then.numbers, now.numbers, strict=True))
    counting = pairs[:1] if len(pairs) == _VALUE_WITH_RANGE else pairs
    return all(abs(new - old) <= tolerance.share * abs(old) for old, new in counting)


def _is_of_same_format(standing: Shown, today: Cell) -> bool:
    """Whether what stands there was written as the column is written now: else its author wants to see it anew."""
    return today.follows or not is_number(today.value) or is_written_by(standing.written[0], today.form)


def _ends(today: Cell, shown: Shown) -> Sequence[Decimal]:
    """The interval of today's row: that of the table's range, else the one that stands in the words of a comparison."""
    if today.ends:
        return [number for end in today.ends for number in read_numbers(end, today.form).numbers]
    return shown.numbers[1:] if len(shown.numbers) == _VALUE_WITH_RANGE else ()


def _within(number: Decimal, ends: Sequence[Decimal]) -> bool:
    return len(ends) == 2 and min(ends) <= number <= max(ends)


def is_near_table(standing: str, today: Sequence[str], spec: TableSpec, rows: Rows) -> bool:
    """Whether the lines of a table that stand in a page may stay.

    ``today`` are those that would stand there, without what tells where the rows come from: that belongs to the rows
    that stand.
    """
    if spec.tolerance is None:
        return False
    then, now = WrittenTable.of(standing.strip("\n").split("\n")), WrittenTable.of(today)
    if (then.above, then.headers, then.alignments) != (now.above, now.headers, now.alignments):
        return False
    notes, more = then.below[: len(now.below)], then.below[len(now.below) :]
    if len(then.rows) != len(now.rows) or notes != now.below or (more and not spec.provenance) or not rows:
        return False
    beside = lay_beside(then.texts, now.texts, spec, rows)
    cells = _cells_of(beside.shown, beside.layout, rows)
    stays = all(
        _row_stays(row, today_row, kinds, spec.tolerance)
        for row, today_row, kinds in zip(beside.then, beside.now, cells, strict=True)
    )
    return stays and is_in_order(beside)


def is_near_value(standing: str, today: str, spec: ValueSpec, context: MarkdownContext) -> bool:
    """Whether the Markdown of a value that stands in a page may stay where ``today`` would stand."""
    table, row = context.tables[spec.table], quoted_row(spec, context.tables, context.answers)
    tolerance = spec.tolerance or table.tolerance
    if tolerance is None or row is None:
        return False
    form = value_form(spec, context.tables, context.answers)
    cell = cell_of(table, row, spec.column, read_cell(today), form)
    return cell_stays(read_cell(standing), cell, tolerance)


def _row_stays(
    standing: Sequence[str], texts: Sequence[str], kinds: Sequence[Cell], tolerance: Tolerance
) -> bool:
    return len(standing) == len(texts) and all(
        cell_stays(cell, kind._replace(text=text), tolerance)
        for cell, text, kind in zip(standing, texts, kinds, strict=True)
    )


def _cells_of(spec: TableSpec, layout: TableLayout, rows: Rows) -> Iterator[list[Cell]]:
    """What the cells of each line of a table are, without their texts: rows below their headings, then totals."""
    words = Cell("", "")
    for group in layout.groups:
        if group.heading is not None:
            yield [words for _ in layout.columns]
        for number in range(group.rows.start, group.rows.stop):
            yield [_cell_in(spec, rows[number], column, number) for column in layout.columns]
    for total in layout.totals:
        found = [(total.cells.get(column.name), spec.form_of(column.name)) for column in layout.columns]
        yield [Cell(one.value, "", form, follows=True) if one else words for one, form in found]


def _cell_in(spec: TableSpec, row: Mapping[str, Any], column: Column, number: int) -> Cell:
    """A column that compares has no name."""
    if not column.name:
        return Cell(column.values[number], "", follows=True)
    return cell_of(spec, row, column.name, "", spec.form_of(column.name))
