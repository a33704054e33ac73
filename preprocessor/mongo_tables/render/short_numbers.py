"""How numbers of plain files are shown whose author says nothing of digits.

A program writes a mean with all the digits that a double has, of which nobody reads more than a few. Where a column
has a fraction of more than ``MOST_DIGITS`` significant digits, all of its fractions are shown with ``FEW_DIGITS``: in
tables, charts, sentences and messages alike. Downloads have the values as they came. Fixture files and databases hold
what was chosen to be kept: their digits are all shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec
from mongo_tables.render.column import column_value
from mongo_tables.render.values import MOST_DIGITS, significant_digits
from mongo_tables.results.model import PlainRows

Rows = Sequence[Mapping[str, object]]
_S = TypeVar("_S", bound=PipelineSpec)


def with_few_digits(spec: _S, rows: Rows) -> _S:
    """A table or a chart with the formats by which its rows are shown; itself where its own are all."""
    if not isinstance(rows, PlainRows):
        return spec
    shown = {column for path, column in spec.shown_columns if path[0] not in ("spread", "baseline", "format")}
    forms = {column: fit_format(spec.format.get(column), spec, column, rows) for column in shown}
    changed = {column: form for column, form in forms.items() if form is not None and form.few_digits}
    return replace(spec, format={**spec.format, **changed}) if changed else spec


def fit_format(form: ColumnFormat | None, spec: PipelineSpec, column: str, rows: Rows) -> ColumnFormat | None:
    """How a column of plain files is written where its author wants it as ``form``."""
    if form is not None and form.rounds:
        return form
    # A value and both ends of its range are written alike. A decimal number (Decimal128) has the digits that it got.
    ranges = spec.spread if isinstance(spec, TableSpec | ChartSpec) else {}
    groups = ((shown, *fields[:2]) for shown, fields in ranges.items())
    together = next((group for group in groups if column in group), (column,))
    values = (column_value(row, name) for name in together for row in rows)
    if any(isinstance(value, float) and significant_digits(value) > MOST_DIGITS for value in values):
        return (form or ColumnFormat())._replace(few_digits=True)
    return form
