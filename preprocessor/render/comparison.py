"""The columns that compare each row of a table with one of them, its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from preprocessor.render.column import Align, Column, column_value
from preprocessor.render.values import cell_text, is_number, raw_or_nothing, raw_text
from preprocessor.results import noise

if TYPE_CHECKING:
    from preprocessor.specs.model import TableSpec

Rows = Sequence[Mapping[str, object]]

BASELINE_TEXT: Final = "baseline"
NOISE_SIGN: Final = "≈"
FEW_SIGN: Final = "?"
_SIGNS: Final[Mapping[noise.Verdict, str]] = {"noise": NOISE_SIGN, "too few repeats": FEW_SIGN}
_RIGHT: Final[Align] = "right"
_ROUNDING: Final = Decimal("1e-9")
"""How far a value may be from its range, as a part of it: two ways to compute one double differ in the last digit."""


def baseline_rows(spec: TableSpec, rows: Rows) -> list[int]:
    """The numbers, from 0, of the rows that the table's baseline means: one, unless there is a fault."""
    row = spec.baseline["row"] if spec.baseline else 0
    if isinstance(row, Mapping):
        return [number for number, each in enumerate(rows) if _has(each, row)]
    return [int(row) - 1] if 1 <= row <= len(rows) else []


def _has(row: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    return all(_same(column_value(row, column), value) for column, value in wanted.items())


def _same(left: object, right: object) -> bool:
    """Equal as MongoDB has it: numbers of whatever type by their value, and a boolean is no number."""
    one, other = _decimal(left), _decimal(right)
    if one is not None and other is not None:
        return one == other
    return type(left) is type(right) and left == right


def _decimal(value: object) -> Decimal | None:
    number = Decimal(raw_text(value)) if is_number(value) else None
    return number if number is not None and number.is_finite() else None


def list_compared_columns(spec: TableSpec) -> tuple[str, ...]:
    """The columns that are compared."""
    column = spec.baseline["column"] if spec.baseline else ()
    return (column,) if isinstance(column, str) else tuple(column)


def with_comparisons(spec: TableSpec, columns: Sequence[Column], rows: Rows) -> list[Column]:
    """The columns, each that is compared followed by its comparison; unchanged where the baseline has a fault."""
    numbers = baseline_rows(spec, rows)
    if spec.baseline is None or len(numbers) != 1:
        return list(columns)
    found: list[Column] = []
    for name, column in zip(spec.columns, columns, strict=True):
        found.append(column)
        if name in list_compared_columns(spec):
            signs = noise_signs(spec, name, rows, numbers[0])
            found.append(_comparison(spec, column, columns[0], numbers[0], signs))
    return found


def noise_signs(spec: TableSpec, name: str, rows: Rows, base: int) -> list[str]:
    """A sign for each row that cannot be told from the baseline by its repeats; else, or without ranges, none."""
    fields = spec.spread.get(name)
    ranges = [_range(row, fields) if fields else None for row in rows]
    against = ranges[base]
    return [
        _SIGNS.get(noise.verdict(against, one), "") if against and one and number != base else ""
        for number, one in enumerate(ranges)
    ]


def _range(row: Mapping[str, object], fields: Sequence[str]) -> noise.Range | None:
    low, high, *count = (_decimal(column_value(row, name)) for name in fields)
    if low is None or high is None or count == [None]:
        return None
    return noise.Range(low, high, int(count[0]) if count and count[0] is not None else None)


def _comparison(spec: TableSpec, column: Column, names: Column, base: int, signs: Sequence[str]) -> Column:
    settings = spec.baseline or {}
    against = f"{column.header} against {names.texts[base]}"
    ratios = [_ratio(value, column.values[base]) for value in column.values]
    ratio_wanted = settings.get("as") == "ratio"
    texts = [_ratio_text(ratio) if ratio_wanted else _percent_text(ratio) for ratio in ratios]
    texts = [f"{text} {sign}" if sign else text for text, sign in zip(texts, signs, strict=True)]
    texts[base] = BASELINE_TEXT
    values = [
        None if ratio is None else float(ratio if ratio_wanted else (ratio - 1) * 100) for ratio in ratios
    ]
    raws = tuple(map(raw_or_nothing, values))
    return Column(settings.get("header") or against, "", _RIGHT, tuple(values), tuple(texts), raws)


def _ratio(value: object, base: object) -> Decimal | None:
    number, divisor = _decimal(value), _decimal(base)
    return None if number is None or not divisor else number / divisor


def _percent_text(ratio: Decimal | None) -> str:
    """The change in per cent with its sign; whole from 10 % on, as the noise of a measurement is not far below."""
    if ratio is None:
        return cell_text(None)
    percent = (ratio - 1) * 100
    text = f"{percent:+.0f}" if abs(percent) >= 10 else f"{percent:+.1f}"
    return f"{'0.0' if text in ('+0.0', '-0.0') else text} %"


def _ratio_text(ratio: Decimal | None) -> str:
    if ratio is None:
        return cell_text(None)
    return f"{ratio:.1f}" if abs(ratio) >= 10 else f"{ratio:.2f}"


Fault = tuple[tuple[str | int, ...], str, str]
"""Path of the setting in the comment, message and hint."""


def range_faults(spec: TableSpec, rows: Rows) -> list[Fault]:
    """Values that lie outside the range that is shown with them: the first of each column."""
    found: list[Fault] = []
    for name, fields in spec.spread.items():
        for number, row in enumerate(rows, 1):
            value, one = _decimal(column_value(row, name)), _range(row, fields[:2])
            if value is not None and one is not None and not _within(value, one):
                message = (
                    f"row {number} has {value} in `{name}`, outside its range from {one.low} to {one.high}"
                )
                hint = (
                    "name the fields of the lowest and the highest value of the same measure, in this order"
                )
                found.append((("spread", name), message, hint))
                break
    return found


def _within(value: Decimal, range_: noise.Range) -> bool:
    off = abs(value) * _ROUNDING
    return bool(range_.low - off <= value <= range_.high + off)


def baseline_faults(spec: TableSpec, rows: Rows) -> list[Fault]:
    """Why rows cannot be compared: the baseline is no row or several, or has nothing to compare with."""
    if spec.baseline is None:
        return []
    numbers = baseline_rows(spec, rows)
    if len(numbers) != 1:
        found = (
            f"{len(numbers)} of the {len(rows)} rows are" if numbers else f"none of the {len(rows)} rows is"
        )
        return [(("baseline", "row"), f"the baseline must be one row, but {found} meant", "name one row")]
    return [
        (
            ("baseline", "column"),
            f"the baseline row has no number other than 0 in `{column}`, so nothing can be compared with it",
            "name another row, or another column",
        )
        for column in list_compared_columns(spec)
        if not _decimal(column_value(rows[numbers[0]], column))
    ]
