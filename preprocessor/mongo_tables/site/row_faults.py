"""The faults of a table or a chart that only its rows show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.catalogue import collection_arguments
from mongo_tables.aggregation.fields import Gives, effect_of, record_of
from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.computed_columns import compile_expression
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, Spec, TableSpec, ValueSpec
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.rules import finding
from mongo_tables.jsontext.reader import offset_in_string
from mongo_tables.lint.walk import suggest_path
from mongo_tables.render.column import column_value, index_hint
from mongo_tables.render.comparison import baseline_faults, cell_faults, conclusion_faults
from mongo_tables.render.faults import (
    SpecFault,
    format_faults,
    group_faults,
    link_faults,
    range_faults,
    total_faults,
)
from mongo_tables.results.model import ResultsError, Rows
from mongo_tables.results.row_names import has_path, version_hint
from mongo_tables.site.pages import AnswersByKey, Tables, provenance_in

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource


def row_findings(
    spec: PipelineSpec, tables: Tables, answers: AnswersByKey, collections: Sequence[str], today: date
) -> list[Finding]:
    """Return the faults of a table or a chart that only its rows show.

    These are a failed pipeline, no rows, a column that no row has, and values that cannot be drawn or compared.
    ``collections`` names the collections of the results source.
    """
    rows = answers[spec.key]
    if isinstance(rows, ResultsError):
        from mongo_tables.lint.failures import failure_hint  # few pipelines fail

        at = spec.locate(("pipeline", *(rows.path or ())), key=True)
        return [finding("MT301", spec.file, at, rows.message, rows.hint or failure_hint(spec, rows))]
    joined = _mistyped_collections(spec, collections)
    if not rows:
        return joined or ([] if spec.empty is not None else [_no_rows(spec, collections)])
    found = _empty_columns(spec, rows) or _undrawable(spec, rows)
    if any(one.path[0] == "compute" for one in spec.origins):
        found = [*found, *_not_computed(spec, rows)]
    too_old = [] if spec.max_age is None else _too_old(spec, spec.max_age, answers, today)
    return [*joined, *found, *too_old]


def _mistyped_collections(spec: PipelineSpec, collections: Sequence[str]) -> list[Finding]:
    """Return findings about missing collections that stages read, if the source has one with a similar name.

    Such a stage finds nothing, without an error.
    """
    found = []
    for number, stage in enumerate(spec.pipeline if collections else ()):
        ((name, argument),) = stage.items()
        key = collection_arguments().get(name, "")
        named, path = (
            (argument.get(key), (name, key)) if isinstance(argument, Mapping) else (argument, (name,))
        )
        if not key or not isinstance(named, str) or named in collections:
            continue
        if hint := did_you_mean(named, collections):
            message = f"the results source has no collection '{named}'"
            at = spec.locate(("pipeline", number, *path))
            found.append(finding("MT304", spec.file, at, message, hint))
    return found


def _too_old(spec: PipelineSpec, days: int, answers: AnswersByKey, today: date) -> list[Finding]:
    source = provenance_in(spec, answers)
    newest = source.last if source else None
    if newest is None:
        message = "`max_age` needs the age of the results, but none of them has a `start_time`"
    elif source and (due := source.due(days)) and today > due:
        age = (today - newest.date()).days
        message = f"the newest result is of {newest.date()}: {age} days old, and `max_age` is {days}"
    else:
        return []
    return [
        finding("MT333", spec.file, spec.locate(("max_age",)), message, "measure again, or raise `max_age`")
    ]


def _no_rows(spec: PipelineSpec, collections: Sequence[str]) -> Finding:
    if collections and spec.collection not in collections:
        hint = did_you_mean(spec.collection, collections) or f"there are {', '.join(collections)}"
        message = f"the results source has no collection '{spec.collection}'"
        return finding("MT304", spec.file, spec.locate(("collection",)), message, hint)
    keys = ("pipeline",) if spec.has_own_pipeline else ("where", "rows", "collection")
    where = next(key for key in keys if key in spec.comment.parsed.value)
    message = f"`{where}` selects no rows of collection '{spec.collection}'"
    hint = 'see `mongo-tables explain`, or set "empty" to the text to show instead'
    return finding("MT303", spec.file, spec.locate((where,)), message, hint)


def explain_no_rows(one: Finding, spec: Spec, local: FileSource) -> Finding:
    """Return the finding with the cause: the condition that excludes all documents, or the stage that drops them."""
    table = spec.own if isinstance(spec, ValueSpec) else spec
    if not isinstance(table, PipelineSpec):
        return one
    from mongo_tables.lint.causes import why_no_rows  # few figures have no rows

    with suppress(ResultsError):  # Without a cause, the finding is returned unchanged.
        local.documents(table.collection)  # It fails if the files have changed since the query for the rows.
        if (cause := why_no_rows(local, table.query)) is not None:
            message = f"{one.message}: {cause.reason}" if cause.reason else one.message
            at = table.locate(("pipeline", *cause.path))
            return finding("MT303", one.file, at, message, cause.hint or one.hint)
        message = f"collection '{table.collection}' has no documents"
        return finding(
            "MT303",
            one.file,
            table.locate(("collection",)),
            message,
            'set "empty" to the text to show instead',
        )
    return one


def _empty_columns(spec: PipelineSpec, rows: Rows) -> list[Finding]:
    empty = []
    for path, column in spec.shown_columns:
        in_array = False
        for row in rows:  # Usually the first value decides.
            value = column_value(row, column)
            if value == [] and index_hint(column):
                in_array = True
            elif value is not MISSING:
                break
        else:
            empty.append((path, column, in_array))
    if not empty:
        return []
    known = sorted({name for row in rows for name in row})
    found = (
        _misread(spec, column, rows)
        or finding(
            "MT302",
            spec.file,
            spec.locate(path),
            f"no row has the column '{column}'",
            index_hint(column, rows)
            if in_array
            else suggest_path(column, rows)
            or _suggest_rows(spec, column, rows)
            or f"the rows have {', '.join(known)}",
        )
        for path, column, in_array in empty
    )
    return list(dict.fromkeys(found))


def _misread(spec: PipelineSpec, column: str, rows: Rows) -> Finding | None:
    """Return a finding if one of the last stages computes the column from a path that no row has, or else None."""
    wanted, body = tuple(column.split(".")), spec.comment.body
    for number, stage in reversed([*enumerate(spec.pipeline)]):
        ((name, argument),) = stage.items()
        record, effect = record_of(name), effect_of(name, argument)
        if record is None or record.gives is Gives.OTHERS or effect.only:
            break
        for field in effect.fields:
            is_meant = field.becomes == "made" and field.parts == wanted[: len(field.parts)]
            for parts in filter(None, field.reads if is_meant else ()):
                if parts[0] == wanted[0] or any(has_path(row, parts) for row in rows):
                    continue
                made, read = ".".join(field.parts), ".".join(parts)
                at = body.find(f'"${read}"')
                place = spec.comment.locate(at) if at >= 0 else spec.locate(("pipeline", number, name))
                message = (
                    f"no row has the column '{column}': `{made}` is computed from `${read}`, which no row has"
                )
                hint = suggest_path(read, rows) or f"the rows have {', '.join(sorted({*rows[0]} - {made}))}"
                return finding("MT302", spec.file, place, message, hint)
    return None


def _suggest_rows(spec: PipelineSpec, column: str, rows: Rows) -> str:
    """Return a hint if a list inside the documents has entries with the column, or else ""."""
    if "rows" in spec.comment.parsed.value:
        return ""
    for path in find_rows(rows[0]):
        entries: Rows = []
        with suppress(AggregationError):  # Database references cannot be expanded.
            entries = aggregate(rows[:1], rows_stages(path))
        if any(column_value(entry, column) is not MISSING for entry in entries):
            return f'the entries of `{path}` have it: write "rows": "{path}" to get a row for each entry'
    return ""


def _not_computed(spec: PipelineSpec, rows: Rows) -> Iterator[Finding]:
    """Yield a finding for each computed column without a value in some rows."""
    for origin in spec.origins:
        if origin.path[0] != "compute":
            continue
        name = str(origin.path[1])
        lacking = [row for row in rows if row.get(name) is None]
        form = spec.format.get(name)
        if not lacking or (form and form.missing):
            continue
        computed = compile_expression(spec.comment.parsed.value["compute"][name])
        reasons = Counter(_why_not_computed(row, computed.columns) for row in lacking)
        (column, first), amount = reasons.most_common(1)[0]
        at = computed.columns[column] if column else computed.divisors[0]
        told = (
            first if amount == len(lacking) else ", ".join(f"{why} in {n}" for (_, why), n in reasons.items())
        )
        place = spec.comment.locate(offset_in_string(spec.comment.parsed, origin.path, at))
        message = f"`{name}` has no value in {len(lacking)} of {format_count(len(rows), 'row')}: {told}"
        if column and amount == len(rows):
            near = index_hint(column, rows) or suggest_path(column, rows)
            hint = near or version_hint(column, rows) or "use columns of numbers"
        else:
            shown = f'"format": {{"{name}": {{"missing": "–"}}}}'
            hint = f"exclude these rows with `where`, or set the text of their cells: {shown}"
        yield finding("MT337", spec.file, place, message, hint)


def _why_not_computed(row: Mapping[str, Any], columns: Iterable[str]) -> tuple[str, str]:
    """Return why an expression has no value: the first column without a number, or "", and the reason in words."""
    for column in columns:
        value = column_value(row, column)
        if not is_number(value):
            return (
                column,
                f"`{column}` is {'missing' if value is MISSING or value is None else 'not a number'}",
            )
    return "", "a divisor is 0"


def _undrawable(spec: PipelineSpec, rows: Rows) -> list[Finding]:
    """Return faults for values that a chart or a comparison would leave out without a message."""
    found: list[tuple[str, Iterable[SpecFault]]] = []
    if not isinstance(spec, TableSpec) or spec.chart:
        from mongo_tables.render.charts.faults import plot_faults  # Few pages have charts.
        from mongo_tables.render.charts.plot import plot_of

        plot = plot_of(spec)
        found.append(("MT330", plot_faults(plot, rows) if plot else ()))
    if spec.format:
        found.append(("MT335", format_faults(spec, rows)))
    if isinstance(spec, TableSpec):
        if dict in map(type, rows[0].values()):  # A conclusion is a document.
            found.append(("MT334", cell_faults(spec, rows)))
        if spec.totals:
            found.append(("MT335", total_faults(spec, rows)))
        if spec.format:
            found.append(("MT430", link_faults(spec, rows)))
        if spec.group_rows:
            found.append(("MT431", group_faults(spec, spec.group_rows, rows)))
        if spec.baseline:
            found.append(("MT331", faults := baseline_faults(spec, rows)))
            if all(path[-1] != "row" for path, *_ in faults):
                found.append(("MT334", conclusion_faults(spec, rows)))
    if isinstance(spec, (TableSpec, ChartSpec)) and spec.spread:
        found.append(("MT332", range_faults(spec, rows)))
    if not found:
        return []
    return [
        finding(rule, spec.file, spec.locate(path), message, hint)
        for rule, faults in found
        for path, message, hint in faults
    ]
