"""The columns that compare each row of a table with one of them, its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from mongo_tables.render.column import Column, column_value
from mongo_tables.render.conclusions import (
    Conclusion,
    conclusion_notes,
    conclusion_of,
    conclusion_text,
    list_conclusions,
    sign_in_words,
)
from mongo_tables.render.faults import Fault
from mongo_tables.render.rounding import round_decimals, signed_decimals
from mongo_tables.render.values import cell_text, finite_decimal, raw_or_nothing

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

Rows = Sequence[Mapping[str, object]]

BASELINE_TEXT: Final = "baseline"
NO_VERDICT: Final = (
    "No verdict: these rows were not measured in blocks together with the baseline, and ranges of repeats alone do "
    "not tell a difference from chance."
)


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
    one, other = finite_decimal(left), finite_decimal(right)
    if one is not None and other is not None:
        return one == other
    return type(left) is type(right) and left == right


def list_compared_columns(spec: TableSpec) -> tuple[str, ...]:
    """The columns that are compared."""
    column = spec.baseline["column"] if spec.baseline else ()
    return (column,) if isinstance(column, str) else tuple(column)


def with_comparisons(spec: TableSpec, columns: Sequence[Column], rows: Rows) -> list[Column]:
    """The columns, each that is compared followed by its comparison; unchanged where the baseline has a fault."""
    numbers = baseline_rows(spec, rows)
    if spec.baseline is None or len(numbers) != 1:
        return list(columns)
    field = spec.baseline.get("comparison")
    conclusions = list_conclusions(field, rows) if field else None
    found: list[Column] = []
    for name, column in zip(spec.columns, columns, strict=True):
        found.append(column)
        if name in list_compared_columns(spec):
            compared = _comparison(spec, column, columns[0], numbers[0], conclusions)
            found.append(compared._replace(heading=column.heading))
    return found


def _comparison(
    spec: TableSpec,
    column: Column,
    names: Column,
    base: int,
    conclusions: Sequence[Conclusion | None] | None,
) -> Column:
    """The column beside one that is compared: what the rows conclude where that is asked for, else bare ratios."""
    settings = spec.baseline or {}
    header = settings.get("header") or f"{column.header} against {names.texts[base]}"
    as_ratio = settings.get("as") == "ratio"
    if conclusions is not None:
        return _concluded(header, conclusions, base, as_ratio)
    ratios = [_ratio(value, column.values[base]) for value in column.values]
    texts = [_ratio_text(ratio) if as_ratio else _percent_text(ratio) for ratio in ratios]
    texts[base] = BASELINE_TEXT
    made = _column(header, ratios, as_ratio, tuple(texts))
    return made._replace(notes=(NO_VERDICT,) if column.name in spec.spread else ())


def _concluded(header: str, conclusions: Sequence[Conclusion | None], base: int, as_ratio: bool) -> Column:
    """The ratios that rows measured in blocks have, with intervals; the baseline's own is told in a note."""
    others = [None if number == base else one for number, one in enumerate(conclusions)]
    texts = [cell_text(None) if one is None else conclusion_text(one, as_ratio) for one in others]
    texts[base] = BASELINE_TEXT
    ratios = [one.ratio if one else None for one in others]
    ratios[base] = Decimal(1)
    return _column(header, ratios, as_ratio, tuple(texts))._replace(
        sign_meanings=tuple(sign_in_words(one) if one else "" for one in others),
        notes=tuple(conclusion_notes(conclusions, base, as_ratio)),
        for_files=_list_columns_for_files(header, others, as_ratio),
    )


def with_ratios(column: Column) -> Column:
    """A column of comparisons that sorts by their ratios, and whose files have these, the intervals and the verdicts.

    Any other column stays as it is.
    """
    conclusions = list(map(conclusion_of, column.values))
    if not any(conclusions):
        return column
    ratios = [float(one.ratio) if one and one.ratio is not None else None for one in conclusions]
    files = _list_columns_for_files(column.header, conclusions, as_ratio=True)
    return column._replace(raws=tuple(map(raw_or_nothing, ratios)), for_files=files)


def _list_columns_for_files(
    header: str, conclusions: Sequence[Conclusion | None], as_ratio: bool
) -> tuple[Column, ...]:
    """The columns that files have behind one of ratios: both ends of the interval, and the verdict."""
    unit = "" if as_ratio else "%"
    low, high = (
        [one.interval[end] if one and one.interval else None for one in conclusions] for end in (0, 1)
    )
    verdicts = tuple(one.verdict if one else None for one in conclusions)
    return (
        _column(f"{header}, interval from", low, as_ratio)._replace(unit=unit),
        _column(f"{header}, interval to", high, as_ratio)._replace(unit=unit),
        Column(f"{header}, verdict", "", "left", verdicts, (), tuple(map(raw_or_nothing, verdicts))),
    )


def _column(
    header: str, ratios: Sequence[Decimal | None], as_ratio: bool, texts: tuple[str, ...] = ()
) -> Column:
    """A column of ratios as numbers: as they are, or as changes in per cent."""
    values = tuple(
        None if ratio is None else float(ratio if as_ratio else (ratio - 1) * 100) for ratio in ratios
    )
    return Column(header, "", "right", values, texts, tuple(map(raw_or_nothing, values)))


def _ratio(value: object, base: object) -> Decimal | None:
    number, divisor = finite_decimal(value), finite_decimal(base)
    return None if number is None or not divisor else number / divisor


def _percent_text(ratio: Decimal | None) -> str:
    """The change in per cent with its sign; whole from 10 % on, for no measurement is exact to more."""
    if ratio is None:
        return cell_text(None)
    percent = (ratio - 1) * 100
    return f"{signed_decimals(percent, 0 if abs(percent) >= 10 else 1)} %"


def _ratio_text(ratio: Decimal | None) -> str:
    if ratio is None:
        return cell_text(None)
    return format(round_decimals(ratio, 1 if abs(ratio) >= 10 else 2), "f")


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
        if not finite_decimal(column_value(rows[numbers[0]], column))
    ]
