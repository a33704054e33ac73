"""MT508: figures with more digits than anybody reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, Final

from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rulecontext import RuleContext, quote
from mongo_tables.render.column import column_value
from mongo_tables.render.values import MOST_DIGITS, is_number, raw_text, significant_digits
from mongo_tables.results.model import PlainRows

Rows = Sequence[Mapping[str, Any]]

_MOST_AS_STORED: Final = 15
"""What a decimal text can say to a double and back: with more, binary arithmetic made the number."""
_MOST_DECIMALS: Final = 15  # of the schema


def find_many_digits(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT508: columns that nobody rounds show the noise of arithmetic, the pipeline's or that of whoever measured.

    Of a table it is said once, at the first of them. Columns of plain files that are shown with few digits are none.
    """
    spec = subject.spec
    if not isinstance(spec, TableSpec):
        return
    long = {name: found for name in spec.columns if (found := _list_unrounded(subject, name, rows))}
    if not long:
        return
    longest = max(chain.from_iterable(long.values()), key=significant_digits)
    shows = "shows" if len(long) == 1 else "show"
    message = f"{quote(long)} {shows} up to {significant_digits(longest)} digits, such as {raw_text(longest)}"
    forms = {name: {"decimals": _propose_decimals(found)} for name, found in long.items()}
    hint = f'round what readers see: "format": {json.dumps(forms, ensure_ascii=False)}'
    yield subject.finding(
        "MT508", spec.locate(("columns", spec.columns.index(next(iter(long))))), message, hint
    )


def _list_unrounded(subject: RuleContext, column: str, rows: Rows) -> list[object]:
    """The values of a column that shows more digits than anybody reads; none where it does not."""
    traits, form = subject.column(column).traits, _form_of(subject.spec, column, rows)
    if traits.digits is not None or (form and (form.rounds or form.few_digits)):
        return []
    values = [column_value(row, column) for row in rows]
    most = max(map(significant_digits, values), default=0)
    return values if most > (MOST_DIGITS if traits.path is None else _MOST_AS_STORED) else []


def _form_of(spec: PipelineSpec, column: str, rows: Rows) -> ColumnFormat | None:
    """How the column is shown."""
    form = spec.format.get(column)
    if not isinstance(rows, PlainRows):
        return form
    from mongo_tables.render.fewdigits import fit_format  # rows of fixtures and databases do not pay for it

    return fit_format(form, spec, column, rows)


def _propose_decimals(values: Sequence[object]) -> int:
    """Decimals that leave the largest figure four digits and the smallest two."""
    numbers = [Decimal(raw_text(value)) for value in values if is_number(value)]
    powers = [number.adjusted() for number in numbers if number.is_finite() and number]
    return min(max(3 - max(powers), 1 - min(powers), 0), _MOST_DECIMALS)
