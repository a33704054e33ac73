"""Rules about the returned rows and their headers: equal rows, failed benchmarks, too many digits, wrong units."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any, Final

from mongo_tables.aggregation.fields import Gives, Order, record_of
from mongo_tables.aggregation.values import MISSING, is_number, type_name
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.lint.row_order import By, Sorting, is_kept, write_sorting
from mongo_tables.lint.rule_context import (
    FAILED,
    FRACTIONS,
    Documents,
    Row,
    Rows,
    RuleContext,
    differing_columns,
    find_made,
    leading_match,
    quote,
    rule,
)
from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import column_shape
from mongo_tables.render.column import column_value, find_added_unit
from mongo_tables.render.columns import fit_format
from mongo_tables.render.number_text import rounds
from mongo_tables.render.values import MOST_AS_STORED, MOST_DIGITS, raw_text, significant_digits
from mongo_tables.results.row_names import FIGURES, find_naming_fields, is_benchmark


def key_columns(spec: TableSpec) -> tuple[str, ...]:
    """Return the columns by which readers find a row: the columns in the sort or, if there are none, the first
    column.
    """
    for stage in reversed(spec.pipeline):
        if "$sort" in stage:
            sorted_by = [column for column in spec.columns if column in stage["$sort"]]
            if sorted_by:
                return tuple(sorted_by)
    return spec.columns[:1]


def find_naming_columns(spec: TableSpec, rows: Rows) -> tuple[str, ...]:
    """Return the columns that identify a row.

    These are sort keys, the first column, parts of ``_id``, elements of an unwound set, and columns that are not
    numbers. Other numbers are measurements, which readers do not know before they find the row.
    """
    sorted_by = key_columns(spec)
    figures = _find_figures(spec, sorted_by, rows)
    keys = {*sorted_by, spec.columns[0]}.difference(figures)
    return tuple(
        name
        for name in spec.columns
        if name in keys
        or _is_of_id(spec, name)
        or _is_of_set(spec, name)
        or _has_names(name, rows)
        # If measurements are among the sort keys, whole numbers such as threads identify rows.
        or (figures and name not in FIGURES and not _has_fractions(name, rows))
    )


def _find_figures(spec: TableSpec, sorted_by: Sequence[str], rows: Rows) -> set[str]:
    """Return the sort keys that are measurements: the figures of benchmarks or, for other rows, the only column
    with fractions.
    """
    if all(is_benchmark(row) for row in rows):
        return {name for name in sorted_by if name in FIGURES}
    measured = {name for name in spec.columns[1:] if _has_fractions(name, rows)}
    return measured if len(measured) == 1 and measured <= {*sorted_by} else set()


def _has_fractions(column: str, rows: Rows) -> bool:
    return any(type_name(column_value(row, column)) in ("double", "decimal") for row in rows)


def _is_of_id(spec: TableSpec, column: str) -> bool:
    """Return whether a column shows the ``_id``, or a part of it, unchanged."""
    for stage in reversed(spec.pipeline):
        made = find_made(stage, column) if _is_by_document(stage) else None
        if made is not None and made.becomes != "kept":
            written = made.expression
            return isinstance(written, str) and (written == "$_id" or written.startswith("$_id."))
    return column.partition(".")[0] == "_id"


def _is_of_set(spec: TableSpec, column: str) -> bool:
    """Return whether a column shows the elements of an ``$addToSet``, each in its own row."""
    field, unwound = column, False
    for stage in reversed(spec.pipeline):
        ((operator, argument),) = stage.items()
        if operator == "$group":
            value = argument.get(field)
            return unwound and isinstance(value, Mapping) and "$addToSet" in value
        if operator == "$unwind":
            path = argument["path"] if isinstance(argument, Mapping) else argument
            unwound = unwound or path == f"${field}"
        made = find_made(stage, field) if _is_by_document(stage) else None
        if made is not None and made.becomes != "kept":
            if not isinstance(made.expression, str) or not made.expression.startswith("$"):
                return False
            field = made.expression[1:]
    return False


def _is_by_document(stage: Mapping[str, Any]) -> bool:
    record = record_of(next(iter(stage)))
    return record is not None and record.gives is Gives.EACH


def _has_names(column: str, rows: Rows) -> bool:
    """Return whether a column has a text, a date or another value that is not a number, list or document."""
    values = (column_value(row, column) for row in rows)
    return any(
        value is not MISSING
        and value is not None
        and not is_number(value)
        and not isinstance(value, (Mapping, list))
        for value in values
    )


@rule("MT411", "MT418", "MT424", of="rows")
def find_alike_rows(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT411, MT418, MT424: readers cannot distinguish two rows, or chance decides the order of two rows."""
    named = isinstance(subject.spec, TableSpec) and [*_find_repeated_keys(subject.spec, rows)]
    yield from named or _find_tied_rows(subject, rows)


def _find_repeated_keys(spec: TableSpec, rows: Rows) -> Iterator[Finding]:
    """MT411: two rows have the same name, so readers cannot distinguish them."""
    shown = key_columns(spec)
    keys, names = {spec.columns[0]}, set[str]()
    for name in shown:
        if name not in keys and name not in FIGURES and not _has_fractions(name, rows):
            keys.add(name)
    for row in rows:
        names.add(repr([column_value(row, key) for key in keys]))
    if len(names) == len(rows):
        return  # the columns that identify a row include these
    columns = find_naming_columns(spec, rows)
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        first = seen.setdefault(repr([column_value(row, column) for column in columns]), number)
        if first != number:
            shown_values = [column_value(row, column) for column in shown]
            values = ", ".join("no value" if one is MISSING else str(one) for one in shown_values)
            fields = find_naming_fields([rows[first - 1], row], columns)
            telling = (
                f"{quote(fields)}, which differs between them" if fields else "what differs between them"
            )
            message = f"rows {first} and {number} are both {values} in {quote(shown)}: readers cannot distinguish them"
            hint = f"show {telling}, drop the stale document, or group them"
            yield finding(
                "MT411", spec.file, spec.locate(("columns", spec.columns.index(shown[0]))), message, hint
            )
            return


@rule("MT411", of="rows", needs=("$group",))
def find_similar_groups(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT411: the texts that name two groups differ only in case or in blanks."""
    spec, seen = subject.spec, dict[str, tuple[int, Any]]()
    for number, row in enumerate(rows if isinstance(spec, TableSpec) else (), 1):
        text = column_value(row, subject.columns[0])
        plain = " ".join(text.casefold().split()) if isinstance(text, str) else ""
        first, other = seen.setdefault(plain, (number, text))
        if other != text and len(plain) > 1:
            message = f'rows {first} and {number} are "{other}" and "{text}", which differ only in case or white space'
            hint = 'to make one group of them, group by {"$toLower": {"$trim": {"input": …}}}'
            yield subject.finding("MT411", spec.locate(("columns", 0)), message, hint)
            return


def _find_tied_rows(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT418, MT424: two rows have equal sort keys, so their order is chance.

    The finding is more serious (MT424) if the order before the sort may differ between sources.
    """
    spec, sorting = subject.spec, subject.seen_sorting
    if sorting is None:
        return
    for number, (one, other) in enumerate(pairwise(sorting.keys_of(rows)), 1):
        first, second = rows[number - 1], rows[number]
        if one == other and differing_columns(spec, first, second):
            if any(all(column_value(row, key) is MISSING for row in rows) for key in sorting.keys):
                return  # MT305 reports a key that no row has.
            message = (
                f"rows {number} and {number + 1} are equal in {quote(sorting.keys)}, and nothing else sorts them: "
                "which comes first depends on chance"
            )
            hint = _with_more_keys(spec, sorting, first, second)
            rule_id = "MT424" if _comes_by_chance(subject, sorting) else "MT418"
            yield subject.in_pipeline(rule_id, (sorting.place, sorting.name), message, hint, key=True)
            return


def _comes_by_chance(subject: RuleContext, sorting: Sorting) -> bool:
    """Return whether a set or a second collection makes the input of the sort unordered. A group does not count."""
    before = subject.orders[: sorting.place]
    if not before or before[-1].by is not By.CHANCE:
        return False
    if before[-1].cause[1:] != ("$group",):
        return True
    for stage, order in zip(subject.spec.pipeline[1 : sorting.place], before, strict=False):
        unwind = stage.get("$unwind", "")
        path = unwind["path"] if isinstance(unwind, Mapping) else unwind
        made = order.arrays.get(str(path)[1:])
        if made is not None and made.by is By.CHANCE:
            return True
    return False


def _with_more_keys(spec: PipelineSpec, sorting: Sorting, one: Row, other: Row) -> str:
    telling = [name for name in differing_columns(spec, one, other) if is_kept(name, sorting.behind)]
    key = next((name for name in telling if name not in sorting.keys), "_id")
    return f"sort also by a field that distinguishes them, for example {write_sorting(spec, {**sorting.keys, key: 1})}"


@rule("MT432", of="documents", needs=("failed",))
def find_failed_benchmarks(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT432: figures come from failed benchmarks, and no column shows the failure.

    A later stage that selects documents may drop them, so the rule skips such pipelines.
    """
    spec = subject.spec
    if _may_leave_out(subject):
        return
    failed = [one for one in documents.of(spec).documents if FAILED in one and is_benchmark(one)]
    if failed:
        others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        message = f"a benchmark failed, and its figures are shown: {failed[0].get('name')}: {failed[0][FAILED]}{others}"
        hint = (
            'leave them out with {"failed": {"$exists": false}} in `where`, or in the first `$match`; or show '
            "`failed` in a column"
        )
        yield subject.finding("MT432", spec.locate(("collection",)), message, hint)


def _may_leave_out(subject: RuleContext) -> bool:
    """Return whether readers see which benchmarks failed, or a stage after the first ``$match`` may drop them."""
    for stage in subject.spec.pipeline[len(leading_match(subject.spec.pipeline)) :]:
        record = record_of(next(iter(stage)))
        if record is None:
            return True
        if record.gives in (Gives.CHOSEN, Gives.BY_PLACE) and record.order is not Order.SORTED:
            return True
    return any(FAILED in column_shape(subject.flow.rows, name).traits.sources for name in subject.columns)


_VALUE: Final = "value"
_MOST_DECIMALS: Final = 15  # of the schema


@rule("MT508", of="rows", needs=("fractions",))
def find_many_digits(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT508: unrounded columns show meaningless digits.

    Each table gets one finding, at the first such column. Columns whose format rounds the values are exempt.
    """
    spec = subject.spec
    if not isinstance(spec, TableSpec):
        return
    long: dict[str, list[object]] = {}
    for name in spec.columns:
        shape = column_shape(subject.flow.rows, name)
        if subject.known and shape.kinds.isdisjoint(FRACTIONS):
            continue
        traits = shape.traits
        most = MOST_DIGITS if traits.path is None else MOST_AS_STORED
        for row in () if traits.rounded else rows:
            # ``repr`` is quick, and rules out most values.
            if len(repr(value := column_value(row, name))) > most and significant_digits(value) > most:
                form = fit_format(spec.format.get(name), spec, name, rows)
                if not (form and rounds(form)):
                    long[name] = [column_value(row, name) for row in rows]
                break
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


def _propose_decimals(values: Sequence[object]) -> int:
    """Return the number of decimals that shows four digits of the largest figure and two of the smallest."""
    numbers = [Decimal(raw_text(value)) for value in values if is_number(value)]
    powers = [number.adjusted() for number in numbers if number.is_finite() and number]
    return min(max(3 - max(powers), 1 - min(powers), 0), _MOST_DECIMALS)


@rule("MT510", of="rows", needs=(f"shows {_VALUE}",))
def find_missing_unit(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT510: the values of benchmarks have one unit, but no format, header or column shows it."""
    spec, shown = subject.spec, {name for _, name in subject.shown_columns}
    form = spec.format.get(_VALUE)
    if _VALUE not in shown or "unit" in shown or (form and form.raw_unit):
        return
    units = {row["unit"] if is_benchmark(row) else "" for row in rows}
    unit = units.pop() if len(units) == 1 else ""
    if not unit or any(
        column == _VALUE and (read_unit(text) or unit in text.split()) for _, column, text in spec.headings
    ):
        return
    wanted = {"duration": unit} if unit == "s" else {"unit": unit}
    message = f"`{_VALUE}` is in {unit}, but readers do not see the unit"
    hint = f'"format": {json.dumps({_VALUE: wanted}, ensure_ascii=False)}'
    yield subject.finding(
        "MT510", spec.locate(next(path for path, name in spec.shown_columns if name == _VALUE)), message, hint
    )


_BRACKETED = re.compile(r"\(([^()]*)\)")
_TIMES = ("milliseconds", "seconds", "minutes", "hours")
_LOOSE = re.compile(r"(?:[KkMGT]i?B|bytes|docs)/s\b")


def read_unit(header: str) -> str:
    """Return the unit that a header names, or "".

    The unit is the text in the last brackets, a word such as ``KB/s``, or the whole header, such as ``Minutes``.

    Example:
        >>> read_unit("Speed (KB/s)")
        'KB/s'
    """
    bracketed = _BRACKETED.findall(header)
    if bracketed:
        return bracketed[-1].strip()  # type: ignore[no-any-return]
    if (word := header.strip().lower()) in _TIMES:
        return word
    loose = _LOOSE.search(header)
    return loose[0] if loose else ""


@rule("MT404", needs=("unit",))
def find_wrong_units(subject: RuleContext) -> Iterator[Finding]:
    """MT404: the header names one unit, the pipeline computes another."""
    for index, (column, header) in enumerate(zip(subject.columns, subject.headers, strict=False)):
        text = read_unit(header)
        readings, computed = units.readings(text), column_shape(subject.flow.rows, column).traits.unit
        if not readings or computed is None:
            continue
        powers = units.select_measured(computed)
        fitting = [one for one in readings if units.select_measured(one) == powers]
        if any(units.same_size(one, computed) for one in fitting):
            continue
        at = subject.spec.locate(("headers", index))
        if fitting:
            ratios = [computed.factor / one.factor for one in fitting]
            sizes = f"{ratios[0]:.3g} {text}"
            if len(ratios) > 1:
                sizes = f"{ratios[0]:.4g} {text} in steps of 1000, {ratios[1]:.4g} in steps of 1024"
            message = f"the header says {text}, but 1 in `{column}` is {sizes}: readers see wrong values"
            factor = fitting[0].factor / computed.factor
            rescale = f"divide by {factor:.6g}" if factor > 1 else f"multiply by {1 / factor:.6g}"
            hint = _FIX_SIZE if computed.is_data else f"{rescale} in the pipeline"
            yield subject.finding("MT404", at, message, hint)
        elif computed.is_data or any(one.is_data for one in readings):
            over = " × ".join(f"{base}s" for base, power in computed.powers if power > 0)
            under = "".join(f" a {base}" for base, power in computed.powers if power < 0)
            message = f"the header says {text}, but `{column}` counts {over}{under}: another quantity"
            yield subject.finding("MT404", at, message, "name what is counted in the header")


_FIX_SIZE = "convert in the pipeline: B/ms divided by 1000 is MB/s, KiB/ms times 1000/1024 is MiB/s"


@rule("MT427", needs=("format",))
def find_two_units(subject: RuleContext) -> Iterator[Finding]:
    """MT427: the header names one unit, the column's format another."""
    spec = subject.spec
    for path, column, header in subject.spec.headings:
        form, written = spec.format.get(column), read_unit(header)
        says = [one for one in units.readings(written) if units.select_measured(one) or one.factor != 1]
        if not form or not says:  # a single word in brackets may be anything
            continue
        if form.cell_unit_key:
            adds, hint = "each cell has its own unit", "remove it from the header"
        elif form.unit and find_added_unit(header, form.unit) and not _is_one_of(says, form.unit):
            adds, hint = (
                f"`format` adds {form.unit}",
                "remove the wrong unit; a unit in the header is enough",
            )
        else:
            continue
        message = (
            f"the header of `{column}` says {written}, and {adds}: readers cannot know which unit is right"
        )
        yield subject.finding("MT427", spec.locate(path, key=path[0] == "labels"), message, hint)


def _is_one_of(says: Sequence[Unit], unit: str) -> bool:
    """Return whether a unit equals one of ``says``, the units that a text can mean."""
    readings = units.readings(unit)
    return any(
        one.powers == other.powers and units.same_size(one, other) for one in says for other in readings
    )
