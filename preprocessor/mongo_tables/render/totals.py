"""The rows at the end of a table: sums, means, least and most values, and how many values there are.

What they are is MongoDB's: sums of mixed types, the order of values and what is left out are those of ``$sum``,
``$avg``, ``$min`` and ``$max`` over the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.render.column import Column
from mongo_tables.render.values import cell_text, is_number, raw_text

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

_LABELS: Final = {"sum": "Sum", "avg": "Mean", "min": "Minimum", "max": "Maximum", "count": "Count"}
_MOST_DECIMALS: Final = 15


class Total(NamedTuple):
    """A cell of a row of totals: the value, as cells of its column show it, and as it came."""

    value: Any
    text: str
    raw: str


class TotalRow(NamedTuple):
    """A row of totals: what they are, and over how many rows; its cells by the names of their columns."""

    label: str
    cells: Mapping[str, Total]


def total_rows(spec: TableSpec, columns: Sequence[Column]) -> list[TotalRow]:
    """A row for each kind of total that the table asks for."""
    found = []
    named = [column for column in columns if column.name in spec.totals]
    for kind, label in _LABELS.items():
        cells = {
            column.name: _total(kind, column, spec.format.get(column.name))
            for column in named
            if spec.totals[column.name] == kind
        }
        if cells:
            count = len(columns[0].values)
            found.append(TotalRow(f"{label} of {count} row{'' if count == 1 else 's'}", cells))
    return found


def totals_note(spec: TableSpec, columns: Sequence[Column]) -> str:
    """What is left out of totals; "" where nothing is."""
    lacking = [
        column.header
        for column in columns
        if spec.totals.get(column.name, "count") != "count"
        and len(_present(column.values)) < len(column.values)
    ]
    return f"Rows without a value are left out of the totals under {', '.join(lacking)}." if lacking else ""


def _present(values: Sequence[object]) -> list[Any]:
    return [value for value in values if value is not None and value is not MISSING]


def _total(kind: str, column: Column, form: ColumnFormat | None) -> Total:
    present = _present(column.values)
    if kind == "count":
        form = ColumnFormat(thousands=form.thousands, locale=form.locale) if form else None
        return _shown(len(present), form)
    if not present:
        return Total(None, cell_text(None, form), "")
    value = _accumulate(f"${kind}", present)
    return _shown(value, _with_decimals(form, present, kind) if kind in ("sum", "avg") else form)


def _shown(value: Any, form: ColumnFormat | None) -> Total:
    return Total(value, cell_text(value, form), raw_text(value))


def _accumulate(operator: str, values: Sequence[Any]) -> Any:
    from mongo_tables.aggregation import aggregate  # few tables have totals

    group = {"$group": {"_id": None, "total": {operator: "$value"}}}
    (row,) = aggregate([{"value": value} for value in values], [group])
    return row["total"]


def _with_decimals(form: ColumnFormat | None, values: Sequence[Any], kind: str) -> ColumnFormat | None:
    """The format of a sum, with the decimals that its values have, or of a mean, with one more.

    What is behind them is the noise of binary fractions; a format that rounds says itself what is shown.
    """
    form = form or ColumnFormat()
    if form.rounds or form.few_digits:
        return form
    decimals = max(map(_decimals, values), default=0) + (kind == "avg") - (2 if form.percent else 0)
    least = 2 if form.currency else 0
    return form if decimals > _MOST_DECIMALS else form._replace(decimals=max(decimals, least))


def _decimals(value: object) -> int:
    number = Decimal(raw_text(value)) if is_number(value) else Decimal(0)
    exponent = number.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0
