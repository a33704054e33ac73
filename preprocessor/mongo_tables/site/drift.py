"""Drift of written figures from today's rows: whether a table or a value stays within its tolerance.

The comparison uses the rounded numbers that readers see, the written one and today's. A cell stays if both
texts are equal, or if both are numbers of one format in the same words and the number moved no farther than
the tolerance: by a share of the written number, or out of the interval of today's row. Of a value with its
range, ``120 (110–130)``, the value counts. Comparisons with the baseline and totals follow from other cells:
their words and their sign count, not their number. A table stays if it has the same number of rows, the same
words everywhere, and every cell stays. Rows may have changed places within their group, as long as they
follow the comment's sort by the written numbers (``is_in_order``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.values import MISSING
from mongo_tables.render.column import column_value
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.number_text import NumbersInText, is_written_by, read_numbers
from mongo_tables.render.table_layout import lay_out
from mongo_tables.render.values import cell_text, finite_decimal, is_number
from mongo_tables.site.statements import quoted_row, value_form
from mongo_tables.site.written_tables import Cells, WrittenTable, order_like, read_cell

if TYPE_CHECKING:
    from mongo_tables.directives.columns import ColumnFormat
    from mongo_tables.directives.specs import TableSpec, Tolerance, ValueSpec
    from mongo_tables.lint.row_order import Stages
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
    beside = lay_beside(then.texts, now.texts, spec, rows)
    cells = _cells_of(beside.shown, beside.layout, rows)
    stays = all(
        _row_stays(row, today_row, kinds, spec.tolerance)
        for row, today_row, kinds in zip(beside.then, beside.now, cells, strict=True)
    )
    return stays and is_in_order(beside)


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


class BesideToday(NamedTuple):
    """A written table and its state today: the spec as shown, the rows, the layout, the cells of all lines.

    ``then`` are the ``written`` lines in today's order.
    """

    shown: TableSpec
    rows: Rows
    layout: TableLayout
    written: Sequence[Cells]
    then: Sequence[Cells]
    now: Sequence[Cells]

    def groups(self) -> Iterator[list[tuple[int, int]]]:
        """Yield for each heading the rows below it, as pairs of row number and line number of today."""
        line = 0
        for group in self.layout.groups:
            line += group.heading is not None
            yield [(number, line + at) for at, number in enumerate(group.rows)]
            line += len(group.rows)


def lay_beside(standing: Sequence[Cells], today: Sequence[Cells], spec: TableSpec, rows: Rows) -> BesideToday:
    """Align the cells of a written table with those of today, which has the same number of lines."""
    shown = with_few_digits(spec, rows)
    layout = lay_out(shown, rows)
    then = _order_like_today(standing, today, spec, layout, rows)
    return BesideToday(shown, rows, layout, standing, then, today)


def _order_like_today(
    standing: Sequence[Cells], today: Sequence[Cells], spec: TableSpec, layout: TableLayout, rows: Rows
) -> list[Cells]:
    """Return the written rows in today's order, separately for each heading.

    If the rows cannot be matched, they keep their order.
    """
    from mongo_tables.lint.row_rules import find_naming_columns  # also imports the linter

    naming = find_naming_columns(spec, rows)
    names = [at for at, column in enumerate(layout.columns) if column.name in naming]
    ordered, line = list(standing), 0
    for group in layout.groups:
        start = line + (group.heading is not None)
        line = start + len(group.rows)
        found = order_like(standing[start:line], today[start:line], names)
        ordered[start:line] = found or standing[start:line]
    return ordered


def is_in_order(beside: BesideToday) -> bool:
    """Return whether the written rows follow their comment's sort, judged by the written numbers.

    If not, the sort changed after the rows were written. Rows may have any order if the sort uses a number
    that no column shows, or if the sort is unknown.
    """
    from mongo_tables.lint.row_order import last_sorting, orders

    sorting = last_sorting(beside.shown.pipeline, orders(beside.shown.pipeline))
    if sorting is None:
        return True
    told = partial(_is_told, layout=beside.layout, rows=beside.rows, behind=sorting.behind)
    keys = {key: sorting.keys[key] for key in takewhile(told, sorting.keys)}
    places = {id(cells): place for place, cells in enumerate(beside.written)}
    for group in beside.groups():
        found = sorted(group, key=lambda one: places[id(beside.then[one[1]])])
        documents = [_sorted_by(keys, number, line, beside) for number, line in found]
        if not _is_sorted(documents, [*keys.values()]):
            return False
    return True


def _is_told(key: str, layout: TableLayout, rows: Rows, behind: Stages) -> bool:
    """Return whether a page shows a sort key: a column shows it, or it only changes when the rows do."""
    from mongo_tables.lint.row_order import is_kept

    is_shown = any(column.name == key for column in layout.columns)
    return is_kept(key, behind) and (is_shown or not any(is_number(column_value(row, key)) for row in rows))


def _sorted_by(keys: Iterable[str], number: int, line: int, beside: BesideToday) -> dict[str, object]:
    """Return the sort keys of a written row, each under its position."""
    row, found = beside.rows[number], {}
    for at, key in enumerate(keys):
        found[str(at)] = column_value(row, key)
        for column, old, new in zip(beside.layout.columns, beside.then[line], beside.now[line], strict=True):
            if column.name == key:
                read = dict(_read_cell(old, new, [key], row, beside.shown.form_of(key)))
                found[str(at)] = read.get(key, found[str(at)])
    return {name: value for name, value in found.items() if value is not MISSING}


def _is_sorted(documents: Sequence[dict[str, object]], directions: Sequence[Any]) -> bool:
    """Return whether documents are sorted. Also true if only a server can tell."""
    from mongo_tables.aggregation import AggregationError
    from mongo_tables.aggregation.value_order import parse

    if not directions:
        return True
    try:
        found = parse({str(at): one for at, one in enumerate(directions)}, ()).sort(documents)
    except AggregationError:
        return True
    return all(one is other for one, other in zip(found, documents, strict=True))


def _read_cell(
    standing: str, today: str, fields: Sequence[str], row: Mapping[str, Any], form: ColumnFormat | None
) -> Iterator[tuple[str, object]]:
    """Yield a cell's written value and the ends of its range, each with its field, in the row's scale."""
    from mongo_tables.render.number_text import read_numbers

    numbers = read_numbers(standing, form).numbers
    for field, number in zip(fields, numbers, strict=False):
        scale = _find_scale(column_value(row, field), today, form)
        if scale is not None:
            exact = number * scale
            yield field, int(exact) if exact == exact.to_integral_value() else float(exact)


def _find_scale(value: object, today: str, form: ColumnFormat | None) -> Decimal | None:
    """Return the factor from a cell's numbers to the row's value, or None if it is unknown."""
    from mongo_tables.render.number_text import find_factor

    number = finite_decimal(value)
    return None if number is None else find_factor(number, form, today)
