"""The rows that a page says where a table within its tolerance stays in it: today's, with the numbers that stand there.

Whoever reads the page sees these, and its sentences are written beside them. What is shown alike is today's value with
all of its digits, and so is what no column shows. The ratios of comparisons are today's as well.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from preprocessor.render.column import column_value
from preprocessor.specs.model import TableSpec

if TYPE_CHECKING:
    from preprocessor.pages.model import Answers, Page, Tables
    from preprocessor.results.model import Rows
    from preprocessor.specs.columnformat import ColumnFormat


def standing_answers(page: Page, tables: Tables, answers: Answers) -> Answers:
    """The answers as the tables of a page show them: of those that stay what stands there, and all others as given."""
    regions = {
        id(spec): comment.region.inner
        for comment, spec in zip(page.comments, page.specs, strict=True)
        if comment.region and isinstance(spec, TableSpec) and spec.tolerance is not None
    }
    if not regions:
        return answers
    from preprocessor.pages.inplace import compose_in_place  # few tables have a tolerance

    found: dict[str, Rows] = {}
    for part in compose_in_place(page, answers, tables).parts:
        if not isinstance(part.spec, TableSpec) or part.state != "near" or part.is_due:
            continue
        key = part.spec.query.key
        rows = answers[key]
        if isinstance(rows, list):
            changed = _read_changed(regions[id(part.spec)], part.shown, part.spec, rows)
            found[key] = _put_in(found.get(key, rows), changed)
    return ChainMap(found, answers) if found else answers  # type: ignore[arg-type]


def _put_in(rows: Rows, changed: Mapping[int, Mapping[str, object]]) -> Rows:
    """The same kind of rows with some fields of some of them anew: a name with dots is looked up as it is, too."""
    found = copy(rows)
    for number, fields in changed.items():
        found[number] = {**found[number], **fields}
    return found


def _read_changed(standing: str, today: str, spec: TableSpec, rows: Rows) -> dict[int, dict[str, object]]:
    """By the number of its row, what a table that stands in a page shows otherwise than it would show today."""
    from preprocessor.pages.drift import order_like_today
    from preprocessor.pages.writtentables import WrittenTable
    from preprocessor.render.fewdigits import with_few_digits
    from preprocessor.render.tablelayout import lay_out

    shown = with_few_digits(spec, rows)
    layout = lay_out(shown, rows)
    written, now = (WrittenTable.of(text.strip("\n").split("\n")).texts for text in (standing, today))
    then, line = order_like_today(written, now, spec, layout, rows), 0
    changed: dict[int, dict[str, object]] = {}
    for group in layout.groups:
        line += group.heading is not None
        for number in group.rows:
            for column, old, new in zip(layout.columns, then[line], now[line], strict=True):
                if column.name and old != new:
                    fields = [column.name, *spec.spread.get(column.name, ())[:2]]
                    read = _read_cell(old, new, fields, rows[number], shown.form_of(column.name))
                    changed.setdefault(number, {}).update(read)
            line += 1
    return changed


def _read_cell(
    standing: str, today: str, fields: Sequence[str], row: Mapping[str, Any], form: ColumnFormat | None
) -> Iterator[tuple[str, object]]:
    """The value that a cell shows and the ends of its range, each with its field, as the row would have them."""
    from preprocessor.render.shownnumbers import read_numbers

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
    from preprocessor.render.amounts import fit_bytes, fit_duration
    from preprocessor.render.values import finite_decimal

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
