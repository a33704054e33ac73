"""A table that stands in a page beside the same as it would be today: what it shows otherwise, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.aggregation.values import MISSING
from mongo_tables.render.column import column_value
from mongo_tables.render.fewdigits import with_few_digits
from mongo_tables.render.tablelayout import lay_out
from mongo_tables.render.values import is_number
from mongo_tables.site.writtentables import Cells, order_like

if TYPE_CHECKING:
    from mongo_tables.directives.column_format import ColumnFormat
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.lint.sortings import Stages
    from mongo_tables.render.tablelayout import TableLayout
    from mongo_tables.results.model import Rows


class BesideToday(NamedTuple):
    """A table in a page and as it would be today: its spec as it is shown, its rows, its layout, and all lines' cells.

    ``then`` are the lines ``written`` in the page in today's order.
    """

    shown: TableSpec
    rows: Rows
    layout: TableLayout
    written: Sequence[Cells]
    then: Sequence[Cells]
    now: Sequence[Cells]

    def groups(self) -> Iterator[list[tuple[int, int]]]:
        """The rows below each heading: their numbers, and their lines of today."""
        line = 0
        for group in self.layout.groups:
            line += group.heading is not None
            yield [(number, line + at) for at, number in enumerate(group.rows)]
            line += len(group.rows)


def lay_beside(standing: Sequence[Cells], today: Sequence[Cells], spec: TableSpec, rows: Rows) -> BesideToday:
    """The cells of a table that stands in a page beside those of today, which has as many lines."""
    shown = with_few_digits(spec, rows)
    layout = lay_out(shown, rows)
    then = _order_like_today(standing, today, spec, layout, rows)
    return BesideToday(shown, rows, layout, standing, then, today)


def _order_like_today(
    standing: Sequence[Cells], today: Sequence[Cells], spec: TableSpec, layout: TableLayout, rows: Rows
) -> list[Cells]:
    """The rows that stand in the page in today's order, those below each heading for themselves.

    Where it cannot be told which is which, as they stand.
    """
    from mongo_tables.lint.rules_rows import find_naming_columns  # and with it the linter

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
    """Whether rows stand in a page as their comment sorts them, by the numbers that stand there.

    Else the comment sorts otherwise than when they were written. What is sorted by a number that no column shows, or in
    a way that is not known, may stand in any order.
    """
    from mongo_tables.lint.sortings import last_sorting

    sorting = last_sorting(beside.shown.pipeline)
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
    """Whether a page tells by what it sorts: a column shows it, or it is the same as long as the rows are."""
    from mongo_tables.lint.sortings import is_kept

    is_shown = any(column.name == key for column in layout.columns)
    return is_kept(key, behind) and (is_shown or not any(is_number(column_value(row, key)) for row in rows))


def _sorted_by(keys: Iterable[str], number: int, line: int, beside: BesideToday) -> dict[str, object]:
    """What a row that stands in a page is sorted by, each key under its place."""
    row, found = beside.rows[number], {}
    for at, key in enumerate(keys):
        found[str(at)] = column_value(row, key)
        for column, old, new in zip(beside.layout.columns, beside.then[line], beside.now[line], strict=True):
            if column.name == key:
                read = dict(_read_cell(old, new, [key], row, beside.shown.form_of(key)))
                found[str(at)] = read.get(key, found[str(at)])
    return {name: value for name, value in found.items() if value is not MISSING}


def _is_sorted(documents: Sequence[dict[str, object]], directions: Sequence[Any]) -> bool:
    """Whether documents come in their order; also where a server alone can tell."""
    from mongo_tables.aggregation import AggregationError
    from mongo_tables.aggregation.sorting import parse

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
    """The value that a cell shows and the ends of its range, each with its field, as the row would have them."""
    from mongo_tables.render.shownnumbers import read_numbers

    numbers = read_numbers(standing, form).numbers
    for field, number in zip(fields, numbers, strict=False):
        scale = _find_scale(column_value(row, field), today, form)
        if scale is not None:
            exact = number * scale
            yield field, int(exact) if exact == exact.to_integral_value() else float(exact)


def _find_scale(value: object, today: str, form: ColumnFormat | None) -> Decimal | None:
    """What one in a cell is in its row: of per cent a hundredth, of a duration in ms for a column in s a thousandth.

    None where it cannot be told, as next to the border of two units.
    """
    from mongo_tables.render.amounts import fit_bytes, fit_duration
    from mongo_tables.render.values import finite_decimal

    number = finite_decimal(value)
    if number is None:
        return None
    if form is None or not (form.duration or form.bytes):
        return Decimal("0.01") if form and form.percent else Decimal(1)
    if form.duration:
        amount, sign = fit_duration(number, form.duration, lambda exact: exact)
    else:
        amount, sign = fit_bytes(number, form.bytes or "", lambda exact: exact)
    return number / amount if amount and today.endswith(f" {sign}") else None
