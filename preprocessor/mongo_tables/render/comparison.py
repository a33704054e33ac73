"""The columns that compare each row of a table with a baseline row, and faults of such comparisons."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.render.column import Column, Rows, column_value
from mongo_tables.render.conclusions import (
    Conclusion,
    conclusion_notes,
    find_contradiction,
    full_words_of,
    list_conclusions,
    ratio_with_interval,
)
from mongo_tables.render.faults import SpecFault
from mongo_tables.render.number_text import round_decimals, signed_decimals
from mongo_tables.render.values import brief_text, cell_text, finite_decimal, raw_or_nothing
from mongo_tables.results.row_names import find_naming_fields
from mongo_tables.results.verdicts import ITSELF

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec


_PLACE: Final = ("baseline", "comparison")
_BASELINE_TEXT: Final = "baseline"
_AS_SPEED: Final = "times as fast"
_NO_VERDICT: Final = (
    "No verdict: these rows were not measured in blocks together with the baseline, and ranges of repeats cannot "
    "separate a difference from chance."
)


class ComparedRows(NamedTuple):
    """The rows of a group (or of the whole table), and those among them that match its baseline. Rows are numbered
    from 0.

    Unless the table has a fault, exactly one row matches.
    """

    rows: Sequence[int]
    matches: Sequence[int]


def find_baselines(spec: TableSpec, rows: Rows) -> list[ComparedRows]:
    """Return, for each group of the table (or for the whole table), its rows and those that match its baseline."""
    row = spec.baseline["row"] if spec.baseline else 0
    groups: dict[object, list[int]] = {}
    for number, each in enumerate(rows):
        group = raw_or_nothing(column_value(each, spec.group_rows)) if spec.group_rows else None
        groups.setdefault(group, []).append(number)
    if isinstance(row, Mapping):
        named = [
            all(_same(column_value(each, column), value) for column, value in row.items()) for each in rows
        ]
        return [ComparedRows(one, [number for number in one if named[number]]) for one in groups.values()]
    return [ComparedRows(one, one[row - 1 : row]) for one in groups.values()]


def _same(left: object, right: object) -> bool:
    """Return whether MongoDB considers two values equal. It compares numbers by value, whatever their types."""
    one, other = finite_decimal(left), finite_decimal(right)
    if one is not None and other is not None:
        return one == other
    return type(left) is type(right) and left == right


def list_compared_columns(spec: TableSpec) -> tuple[str, ...]:
    """Return the names of the columns that are compared."""
    column = spec.baseline["column"] if spec.baseline else ()
    return (column,) if isinstance(column, str) else tuple(column)


def with_comparisons(spec: TableSpec, columns: Sequence[Column], rows: Rows) -> list[Column]:
    """Return the columns, each compared column followed by a column of comparisons. A faulty baseline adds no
    columns.

    Comparisons are conclusions if the table asks for them, or else plain ratios.
    """
    settings, groups = spec.baseline or {}, find_baselines(spec, rows)
    if not groups or any(len(group.matches) != 1 for group in groups):
        return list(columns)
    bases = {number: group.matches[0] for group in groups for number in group.rows}
    as_ratio = settings.get("as", "percent") != "percent"
    as_speed = settings.get("as") == _AS_SPEED and "comparison" not in settings
    label = next(column for column in columns if column.name != spec.group_rows)
    names = {label.texts[base] for base in bases.values()}
    against = names.pop() if len(names) == 1 else "the baseline of the group"
    if names and settings["row"] == 1:
        against = "the first of the group"
    conclusions = list_conclusions(settings["comparison"], rows) if settings.get("comparison") else None
    found: list[Column] = []
    for name, column in zip(spec.columns, columns, strict=True):
        found.append(column)
        if name not in list_compared_columns(spec):
            continue
        named = "Times as fast as" if as_speed else f"{column.header} against"
        header = settings.get("header") or f"{named} {against}"
        if conclusions is not None:
            compared = _concluded(header, conclusions, set(bases.values()), as_ratio)
        else:
            numbers = list(map(finite_decimal, column.values))
            pairs = [(one, numbers[bases[number]]) for number, one in enumerate(numbers)]
            if as_speed and _is_lower_better(spec, name, rows):
                pairs = [(base, one) for one, base in pairs]
            ratios = [None if one is None or not divisor else one / divisor for one, divisor in pairs]
            texts = [
                _BASELINE_TEXT if bases[number] == number else _ratio_text(ratio, as_ratio)
                for number, ratio in enumerate(ratios)
            ]
            compared = _column(header, ratios, as_ratio, texts)
            compared = compared._replace(notes=(_NO_VERDICT,) if name in spec.spread else ())
        found.append(compared._replace(heading=column.heading))
    return found


def _is_lower_better(spec: TableSpec, column: str, rows: Rows) -> bool | None:
    """Return whether lower numbers of a column are faster, or None if this is not known.

    Lower numbers are faster if the rows have ``better: lower``, or if the column has the format ``duration``.
    """
    said = {str(column_value(row, "better")) for row in rows}
    form = spec.form_of(column)
    return said == {"lower"} if said in ({"lower"}, {"higher"}) else True if form and form.duration else None


def _concluded(
    header: str, conclusions: Sequence[Conclusion | None], bases: Collection[int], as_ratio: bool
) -> Column:
    """Return a column of the ratios of rows measured in blocks, with their intervals."""
    others = [None if number in bases else one for number, one in enumerate(conclusions)]
    texts = [
        f"{ratio_with_interval(one, as_ratio)} {one.sign}".rstrip() if one else cell_text(None)
        for one in others
    ]
    ratios = [one.ratio if one else None for one in others]
    for base in bases:
        texts[base], ratios[base] = _BASELINE_TEXT, Decimal(1)
    return _column(header, ratios, as_ratio, texts)._replace(
        sign_meanings=tuple(full_words_of(one) if one and one.sign else "" for one in others),
        notes=tuple(conclusion_notes(conclusions, bases, as_ratio)),
        for_files=_list_columns_for_files(header, others, as_ratio),
    )


def with_ratios(column: Column, conclusions: Sequence[Conclusion | None]) -> Column:
    """Return the column with the ratios as raw values, by which it sorts, and with more columns for files.

    A column without conclusions is returned unchanged.
    """
    if not any(conclusions):
        return column
    ratios = [one.ratio if one else None for one in conclusions]
    raws = _column(column.header, ratios, as_ratio=True).raws
    return column._replace(
        raws=raws, for_files=_list_columns_for_files(column.header, conclusions, as_ratio=True)
    )


def _list_columns_for_files(
    header: str, conclusions: Sequence[Conclusion | None], as_ratio: bool
) -> tuple[Column, ...]:
    """Return the columns of both ends of the intervals and of the verdicts, which only files have."""
    ends = [one.interval or (None, None) if one else (None, None) for one in conclusions]
    verdicts = tuple(one.verdict if one else None for one in conclusions)
    return (
        _column(f"{header}, interval from", [low for low, _ in ends], as_ratio),
        _column(f"{header}, interval to", [high for _, high in ends], as_ratio),
        Column(f"{header}, verdict", "", "left", verdicts, (), tuple(map(raw_or_nothing, verdicts))),
    )


def _column(
    header: str, ratios: Sequence[Decimal | None], as_ratio: bool, texts: Sequence[str] = ()
) -> Column:
    """Return a column of ratios, or of the corresponding changes in per cent."""
    shown = (one if one is None or as_ratio else (one - 1) * 100 for one in ratios)
    values = tuple(None if one is None else float(one) for one in shown)
    raws = tuple(map(raw_or_nothing, values))
    return Column(header, "", "right", values, tuple(texts), raws, raw_unit="" if as_ratio else "%")


def _ratio_text(ratio: Decimal | None, as_ratio: bool) -> str:
    """Return the ratio, or the signed change in per cent. A change of 10 % or more has no decimals."""
    if ratio is None:
        return cell_text(None)
    if as_ratio:
        return format(round_decimals(ratio, 1 if abs(ratio) >= 10 else 2), "f")
    percent = (ratio - 1) * 100
    return f"{signed_decimals(percent, 0 if abs(percent) >= 10 else 1)} %"


# -- faults --


def baseline_faults(spec: TableSpec, rows: Rows) -> list[SpecFault]:
    """Return faults of the baseline: it is not exactly one row, or has no numbers to compare with."""
    found: list[SpecFault] = []
    for group, matches in find_baselines(spec, rows) if spec.baseline else ():
        by = spec.group_rows
        of = f" of the group {cell_text(column_value(rows[group[0]], by), spec.form_of(by))}" if by else ""
        if len(matches) != 1:
            each = " of each group" if by else ""
            many = f"{len(matches)} of the {len(group)} rows{of} match"
            found_rows = many if matches else f"none of the {len(group)} rows{of} matches"
            message = f"the baseline must be one row{each}, but {found_rows} it"
            several = [rows[number] for number in matches]
            hint = _hint_for_several(spec, several) if several else _hint_for_none(spec, rows)
            found.append((("baseline", "row"), message, hint))
            continue
        for column in list_compared_columns(spec):
            if not finite_decimal(column_value(rows[matches[0]], column)):
                lack = f"the baseline row{of} has no number other than 0 in `{column}`"
                message = f"{lack}, so rows cannot be compared with it"
                found.append((("baseline", "column"), message, "name another row, or another column"))
    for column in list_compared_columns(spec) if (spec.baseline or {}).get("as") == _AS_SPEED else ():
        if rows and _is_lower_better(spec, column, rows) is None:
            message = f"it is not known whether lower or higher numbers in `{column}` are faster"
            hint = "keep the field `better` in the rows, or give the column the format `duration`"
            found.append((("baseline", "as"), message, hint))
    return found


def _hint_for_none(spec: TableSpec, rows: Rows) -> str:
    """Return a hint for a baseline that matches no row, perhaps because it has a text in place of a number."""
    row = (spec.baseline or {})["row"]
    for name, value in row.items() if isinstance(row, Mapping) else ():
        for stored in (column_value(each, name) for each in rows):
            is_text, text = isinstance(stored, str), str(stored)
            known = (text, text.rstrip("0") if "." in text else text)  # 3.10 as a number is 3.1
            if is_text != isinstance(value, str) and str(value) in known:
                return (
                    f'write it as it is stored, "{text}"' if is_text else f"write it as it is stored, {text}"
                )
    return "name one row"


def _hint_for_several(spec: TableSpec, meant: Rows) -> str:
    """Return a hint on how to name one of the matching rows, or how to have a baseline in each group."""
    row = (spec.baseline or {})["row"]
    for name in find_naming_fields(meant, [*row])[:1]:
        also = f"name one row by `{name}`, too"
        return (
            also
            if spec.group_rows
            else f'{also}, or compare the rows of each `{name}`: "group_rows": "{name}"'
        )
    return "name one row"


def conclusion_faults(spec: TableSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield the faults of conclusions in a table whose baselines have no fault."""
    field = (spec.baseline or {}).get("comparison")
    if field is None:
        return
    compared = list_compared_columns(spec)
    if len(compared) > 1:
        message = f"`{field}` compares the speed, but {len(compared)} columns are compared"
        yield _PLACE, message, "compare only the column of the speed"
        return
    conclusions = list_conclusions(field, rows)
    yield from _find_missing(field, rows, conclusions)
    for group, matches in find_baselines(spec, rows):
        others = [conclusions[number] for number in group if number not in matches]
        yield from _find_other_baseline(conclusions[matches[0]], others)
    yield from contradiction_faults(_PLACE, conclusions)


def _find_missing(field: str, rows: Rows, conclusions: Sequence[Conclusion | None]) -> Iterator[SpecFault]:
    """Yield a fault for rows whose field is not a conclusion. Null is valid: some rows have no conclusion."""
    values = [column_value(row, field) for row in rows]
    pairs = enumerate(zip(values, conclusions, strict=True))
    lacking = [number for number, (value, one) in pairs if one is None and value is not None]
    if lacking:
        first = lacking[0]
        message = (
            f"{len(lacking)} of {len(rows)} rows have no comparison in `{field}`: row {first + 1} has "
            f"{brief_text(values[first])}"
        )
        hint = (
            "choose a field with comparisons: `comparison`, which `mongo-tables run` writes into rows measured in "
            "blocks, or `campaigns`, which `mongo-tables compare --pool` writes; null leaves a row out"
        )
        yield _PLACE, message, hint


def _find_other_baseline(own: Conclusion | None, others: Sequence[Conclusion | None]) -> Iterator[SpecFault]:
    """Yield a fault if the other rows were compared with another row than the baseline. ``own``: the baseline's
    conclusion.
    """
    if own is None or own.against != ITSELF:
        found = "has no comparison" if own is None else f"was compared with {own.against}"
        message = f"the baseline row {found}, so the other rows were not compared with it"
        yield ("baseline", "row"), message, "name the row that was measured twice in each block"
        return
    names = list(dict.fromkeys(one.against for one in others if one is not None))
    if ITSELF in names or len(names) > 1:
        message = f"the rows were not all compared with the baseline row, but with {', '.join(names)}"
        yield _PLACE, message, "in the pipeline, choose rows that were measured in the same blocks"


def cell_faults(spec: TableSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield the faults of conclusions that are the values of a column."""
    for number, column in enumerate(spec.columns):
        if rows and isinstance(column_value(rows[0], column), Mapping):
            concluded = list_conclusions(column, rows)
            yield from contradiction_faults(("columns", number), concluded, f"in `{column}`, ")


def contradiction_faults(
    place: tuple[str | int, ...], conclusions: Sequence[Conclusion | None], where: str = ""
) -> Iterator[SpecFault]:
    """Yield a fault for the first row whose verdict contradicts its interval, as in results edited by hand."""
    for number, one in enumerate(conclusions, 1):
        if one is not None and (fault := find_contradiction(one)):
            hint = "measure the row again, or restore the document as it was measured"
            yield place, f"{where}row {number} {fault}", hint
            return
