"""Statements in the text about a table: a value in a sentence (MONGO_VALUE), or a check (MONGO_CHECK).

``where`` and ``expect`` are in the query language of ``$match``, and apply to the rows of the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.fields import Condition, Place, conditions_in, paths_in
from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.addresses import is_picture
from mongo_tables.directives.columns import ColumnFormat, Piece, plain_text, read_inline
from mongo_tables.directives.sayings import Placeholder, fill, placeholders_in
from mongo_tables.directives.specs import (
    ChartSpec,
    CheckSpec,
    PipelineSpec,
    QuotingSpec,
    TableSpec,
    ValueSpec,
)
from mongo_tables.files.folders import shorten
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.rules import finding
from mongo_tables.lint.numeral_rules import (
    ConstantComparison,
    list_comparisons,
    names_types,
    say_other_type,
    say_wrong,
    type_hint,
)
from mongo_tables.lint.row_rules import find_naming_columns
from mongo_tables.render.column import address_in, column_value
from mongo_tables.render.columns import fit_format, with_few_digits
from mongo_tables.render.conclusions import (
    Conclusion,
    conclusion_of,
    figure_text,
    find_contradiction,
    mention_few_requests,
    scale,
    words_of,
)
from mongo_tables.render.faults import find_misfit
from mongo_tables.render.values import (
    brief_text,
    cell_text,
    finite_decimal,
    raw_or_nothing,
    raw_text,
    visible,
)
from mongo_tables.results.collection import Collection
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.model import Query, ResultsError, Rows
from mongo_tables.results.row_names import choose_telling, find_naming_fields, has_path
from mongo_tables.results.verdicts import ITSELF
from mongo_tables.site.pages import AnswersByKey, Tables
from mongo_tables.site.row_faults import row_findings

if TYPE_CHECKING:
    from datetime import date


_S = TypeVar("_S", bound=PipelineSpec)
_ROWS_SHOWN = 3
_NO_ROWS = frozenset({"MT303", "MT304"})
"""Rules about a table without rows. If a table ignores one of them, the values that quote it report the missing
rows.
"""


class ShownValue(NamedTuple):
    """A value and its text in the sentence.

    Attributes:
        pieces: The parts of the text, if the text is Markdown.
        to: The address that the text links to.
        picture: The address of an image of the value.
        conclusion: The comparison in the value.
    """

    value: Any
    text: str
    pieces: tuple[Piece, ...] = ()
    to: str = ""
    picture: str = ""
    conclusion: Conclusion | None = None


_LATEST: Final = '"sort": "-_id.file", "limit": 1'
"""The keys of a table that shows the latest of several runs."""


def shown_value(spec: ValueSpec, tables: Tables, answers: AnswersByKey) -> ShownValue | None:
    """Return the value of a sentence, or None if there is none or its table has a fault."""
    row = quoted_row(spec, tables, answers)
    if row is None:
        return None
    form = value_form(spec, tables, answers) or ColumnFormat()
    value = column_value(row, spec.column)
    to = address_in(form.link, row) if form.link else ""
    pieces: tuple[Piece, ...] = ()
    one = _conclusion_of(spec, row)
    if text := words_of(conclusion_of(value)):
        to = ""
        if spec.say and one:
            text = _say(spec, one, row, tables, answers)
    elif form.markdown and isinstance(value, str):
        pieces = read_inline(visible(value))
        text = plain_text(pieces)
    else:
        text = cell_text(value, form)
        text = f"{text} {form.unit}" if form.unit else text
    address = address_in(spec.url, row, text) if spec.url else ""
    if address and is_picture(spec.url or ""):
        return ShownValue(value, text, to=to, picture=address)
    return ShownValue(value, text, pieces, address or to, conclusion=one)


def with_sentence(spec: _S, tables: Tables, answers: AnswersByKey) -> _S:
    """Return a chart with the text of its value as title, and any other figure unchanged."""
    if not isinstance(spec, ChartSpec) or spec.sentence is None:
        return spec
    return replace(spec, title=value_text(spec.sentence, tables, answers) or None)


def _say(
    spec: ValueSpec, one: Conclusion, row: Mapping[str, Any], tables: Tables, answers: AnswersByKey
) -> str:
    """Return the author's sentence for the verdict of a comparison, with figures and fields of the row.

    The sentence ends in "(based on few requests)" if there were too few requests for a conclusion.
    """

    def text_of(placeholder: Placeholder) -> str:
        if placeholder.is_figure:
            return figure_text(one, placeholder)
        name = placeholder.name
        own = None if tables[spec.table].form_of(name) else spec.format
        form = value_form(replace(spec, column=name, format=own), tables, answers) or ColumnFormat()
        text = cell_text(column_value(row, name), form)
        return f"{text} {form.unit}" if form.unit else text

    sentence = fill(spec.say[one.verdict], text_of)
    return mention_few_requests(sentence) if one.few_requests else sentence


def _conclusion_of(spec: ValueSpec, row: Mapping[str, Any]) -> Conclusion | None:
    """Return the comparison in the column of a value, scaled by the field ``per``, or None."""
    one = conclusion_of(column_value(row, spec.column))
    number = finite_decimal(column_value(row, spec.per)) if spec.per else None
    return scale(one, number) if one and number and number > 0 else one


def quoted_row(spec: ValueSpec, tables: Tables, answers: AnswersByKey) -> Mapping[str, Any] | None:
    """Return the row of a value. Return None if several or no rows match, or if the table has a fault."""
    rows = _select_rows(spec, tables, answers).rows
    return rows[0] if rows is not None and len(rows) == 1 else None


def value_form(spec: ValueSpec, tables: Tables, answers: AnswersByKey) -> ColumnFormat | None:
    """Return the format of a value: that of its comment, or else of the table's column."""
    table, rows = tables[spec.table], _rows_of(spec, tables, answers) or []
    return fit_format(spec.format or table.form_of(spec.column), table, spec.column, rows)


def value_text(spec: ValueSpec, tables: Tables, answers: AnswersByKey) -> str:
    """Return the text of the value in its sentence, or "" if ``value_findings`` reports why there is none."""
    found = shown_value(spec, tables, answers)
    return found.text if found else ""


def value_findings(
    spec: ValueSpec, tables: Tables, answers: AnswersByKey, collections: Sequence[str], today: date
) -> list[Finding]:
    """Return the faults of a value: not exactly one row matches, no such column, or a value that cannot be shown."""
    if spec.own and (found := row_findings(spec.own, tables, answers, collections, today)):
        return found
    selection = _select_rows(spec, tables, answers)
    if (rows := selection.rows) is None:
        return list(selection.findings)
    if unknown := _unknown_fields(spec, _rows_of(spec, tables, answers)):
        return unknown
    if numerals := [*_numerals(spec, "where", _rows_of(spec, tables, answers) or [])]:
        return numerals
    if len(rows) != 1:
        message = f"a value comes from one row, but {format_count(len(rows), 'row')} of {spec.source} match"
        telling = ", ".join(f"`{name}`" for name in find_naming_fields(rows, list(spec.where)))
        hint = f"let `where` select exactly one row{f', also by {telling}' if telling else ''}"
        # A condition on the name of the file would still select this run after the next one.
        if telling == "`_id.file`":
            table = spec.own or tables[spec.table]
            field = f'"collection": "{table.collection}", "field": "{spec.column}", '
            written = table.comment.parsed.value.get("format", {})
            if spec.column in written and not (spec.own or spec.format):
                field += f'"format": {json.dumps(written[spec.column], ensure_ascii=False)}, '
            where = f"put `{field}{_LATEST}` in place of `table` and `column`"
            if (
                spec.own
                or table.has_own_pipeline
                or spec.column in table.comment.parsed.value.get("compute", ())
            ):
                where = f"add `{_LATEST}`" if spec.own else f"quote a table with `{_LATEST}`"
            hint = f"{where}: this is the latest run by {telling}"
        every = _rows_of(spec, tables, answers) or []
        return [_none_selected("MT320", spec, [] if rows else every, message, hint)]
    value = column_value(rows[0], spec.column)
    if value is MISSING:
        hint = did_you_mean(spec.column, rows[0]) or f"the row has {', '.join(rows[0])}"
        message = f"the row of {spec.source} has no `{spec.column}`"
        return [finding("MT302", spec.file, spec.locate(("column",)), message, hint)]
    if spec.url and (unsafe := _find_unsafe(spec, tables, answers)):
        return unsafe
    table = tables[spec.table]
    return _unreadable(spec, table, value) or (_unsayable(spec, rows[0]) if spec.say else [])


def _find_unsafe(spec: ValueSpec, tables: Tables, answers: AnswersByKey) -> list[Finding]:
    """Return the fault of a value with which its address would not be safe."""
    found = shown_value(spec, tables, answers)
    if found is None or found.picture or found.to:
        return []
    message = f"`{spec.url}` is not a safe address with the value {shorten(found.text)}"
    hint = "in the address, `{value}` is the value, and other names in braces are fields of its row"
    return [finding("MT430", spec.file, spec.locate(("url",)), message, hint)]


def _none_selected(rule: str, spec: QuotingSpec, rows: Rows, message: str, hint: str) -> Finding:
    """Return a finding at the condition in `where` that no row meets."""
    from mongo_tables.lint.causes import why_no_rows  # few values have no row

    source = FileSource("rows", read=lambda: [Collection("rows", rows)])
    with suppress(ResultsError):  # The cause is unknown then.
        if (cause := why_no_rows(source, Query("rows", ({"$match": spec.where},)))) is not None:
            at = spec.locate(("where", *cause.path[2:]))
            return finding(rule, spec.file, at, f"{message}: {cause.reason}", cause.hint or hint)
    return finding(rule, spec.file, spec.locate(("where",)), message, hint)


def _unreadable(spec: ValueSpec, table: TableSpec, value: Any) -> list[Finding]:
    """Return the fault of a value that a sentence cannot show, such as an empty text or an array."""
    form = spec.format or table.form_of(spec.column)
    if value is None and not (form and form.missing is not None):
        what = "null, which leaves the sentence without a value"
    elif isinstance(value, str) and not value.strip():
        what = "an empty string, which leaves a gap in the sentence"
    elif (one := conclusion_of(value)) and (fault := find_contradiction(one)):
        message = f"the comparison in `{spec.column}` of {spec.source} {fault}"
        hint = "measure it again, or use the document as it was measured"
        return [finding("MT334", spec.file, spec.locate(("column",)), message, hint)]
    elif spec.format and not spec.say and (misfit := find_misfit(value, spec.format)):
        key, said, hint = misfit
        message = f"`{spec.column}` of {spec.source} is {said}"
        return [finding("MT335", spec.file, spec.locate(("format", key)), message, hint)]
    elif spec.draw and not words_of(conclusion_of(value)):
        what = "not a comparison, so there is no interval to draw"
    elif isinstance(value, Mapping | list) and not words_of(conclusion_of(value)):
        what = f"a whole {'array' if isinstance(value, list) else 'document'}, but a sentence shows a single value"
    else:
        return []
    message = f"`{spec.column}` of {spec.source} is {what}"
    hint = "select another row, or compute one value in the pipeline, for example with $ifNull"
    return [finding("MT325", spec.file, spec.locate(("column",)), message, hint)]


def _unsayable(spec: ValueSpec, row: Mapping[str, Any]) -> list[Finding]:
    """Return the fault of a row without a usable verdict: no comparison, or a missing figure or field."""
    for name in spec.quoted_columns[1:]:
        if column_value(row, name) is MISSING:
            named = (key for key, text in spec.say.items() if f"{{{name}}}" in text)
            at = ("per",) if name == spec.per else ("say", *named)[:2]
            hint = did_you_mean(name, row) or f"the row has {', '.join(row)}"
            message = f"the row of {spec.source} has no `{name}`, which the sentence names"
            return [finding("MT302", spec.file, spec.locate(at), message, hint)]
    one = _conclusion_of(spec, row)
    at, hint = (
        ("column",),
        "`say` needs a column of comparisons, because it has a sentence for each verdict",
    )
    if one is None:
        what = f"`{spec.column}` of {spec.source} is not a comparison here, so it has no verdict"
    elif one.against == ITSELF:
        what = f"`{spec.column}` of {spec.source} compares the reference with itself here"
        hint = "select a row that is compared with another one"
    elif spec.per and (finite_decimal(column_value(row, spec.per)) or 0) <= 0:
        at, what = ("per",), f"`{spec.per}` of {spec.source} is not a number above 0 here"
        hint = "name a field that says how much more work a request of the row does than one of the reference"
    elif lacking := _find_lacking(spec.say[one.verdict], one, row):
        at, what = ("say", one.verdict), f"the row of {spec.source} has no text for `{{{lacking}}}`"
        hint = "figures need an interval, so measure more blocks, or compute the value in the pipeline"
    else:
        return []
    return [finding("MT325", spec.file, spec.locate(at), what, hint)]


def _find_lacking(sentence: str, one: Conclusion, row: Mapping[str, Any]) -> str:
    """Return the first placeholder of a sentence for which a row has no text, or ""."""
    texts = (
        (
            each.name,
            figure_text(one, each) if each.is_figure else raw_or_nothing(column_value(row, each.name)),
        )
        for each in placeholders_in(sentence)
    )
    return next((name for name, text in texts if not text.strip()), "")


def check_findings(
    spec: CheckSpec, tables: Tables, answers: AnswersByKey, collections: Sequence[str], today: date
) -> list[Finding]:
    """Return why a statement does not hold: an unknown field, no selected row, or rows that do not match."""
    selection = _select_rows(spec, tables, answers)
    if (rows := selection.rows) is None:
        return list(selection.findings)
    every = _rows_of(spec, tables, answers)
    if unknown := _unknown_fields(spec, every):
        return unknown
    if numerals := [*_numerals(spec, "where", every or []), *_numerals(spec, "expect", rows)]:
        return numerals
    if mistyped := [*_other_types(spec, "where", every or []), *_other_types(spec, "expect", rows)]:
        return mistyped
    if not rows:
        message = f"`where` selects no row of table `{spec.table}`, so the statement says nothing"
        hint = "correct `where`, or remove the statement"
        return [_none_selected("MT321", spec, every or [], message, hint)]
    outcome = _matching(spec, "expect", rows, {"$nor": [spec.expect]}, ("$nor", 0))
    if not (failing := outcome.rows):
        return list(outcome.findings)
    said = f": “{spec.message}”" if spec.message else ""
    shown = _show_rows(failing, rows, spec, with_few_digits(tables[spec.table], every or ()))
    message = (
        f"the statement{said} does not hold for {format_count(len(failing), 'row')} of {len(rows)}: {shown}"
    )
    hint = "correct the sentence, or check what changed in the results"
    return [finding("MT322", spec.file, (spec.comment.line, spec.comment.column), message, hint)]


class _Selection(NamedTuple):
    """The rows that a query selects.

    They are None if the query has a fault, which is in ``findings``, or if there are no rows to select from.
    """

    rows: Rows | None
    findings: tuple[Finding, ...] = ()


def _select_rows(spec: QuotingSpec, tables: Tables, answers: AnswersByKey) -> _Selection:
    """Select the rows that match ``where``. A fault of the table gives no rows and no finding."""
    rows = _rows_of(spec, tables, answers)
    return _Selection(None) if rows is None else _matching(spec, "where", rows, spec.where)


def _rows_of(spec: QuotingSpec, tables: Tables, answers: AnswersByKey) -> Rows | None:
    """Return all rows of the table, or None if it has a fault. No rows are a fault, unless the author accepts that."""
    table = tables.get(spec.table)
    rows = answers.get(table.key) if table else None
    if table is None or not isinstance(rows, list):
        return None
    return rows if rows or table.empty is not None or not _NO_ROWS.isdisjoint(table.ignore) else None


def _unknown_fields(spec: QuotingSpec, rows: Rows | None) -> list[Finding]:
    """Return findings about fields that queries name, but that no row has."""
    if not rows:
        return []
    known = list(dict.fromkeys(name for row in rows for name in row))
    found = []
    for key, query in spec.queries.items():
        asked = [*_list_asked(query, ())]
        settled = {
            one.key
            for one in asked
            if isinstance(one.value, Mapping) and one.value.get("$exists", True) in (False, 0)
        }
        for name, path in {one.key: one.place for one in reversed(asked) if one.key not in settled}.items():
            if any(has_path(row, name.split(".")) for row in rows):
                continue
            message = f"no row of table `{spec.table}` has the field `{name}` of `{key}`"
            near = did_you_mean(name, known) or f"the rows have {', '.join(known)}"
            hint = f'{near}; to require that a field is missing, write {{"$exists": false}}'
            found.append(finding("MT302", spec.file, spec.locate((key, *path), key=True), message, hint))
    return found


def _list_asked(query: Any, place: Place) -> Iterator[Condition]:
    """Yield the conditions on fields, also on fields of array elements and in ``$expr``."""
    for name, condition, at in conditions_in(query, place):
        if name == "$expr":
            yield from (Condition(".".join(parts), None, at) for parts in paths_in(condition) if parts)
        elif not name.startswith("$"):
            yield Condition(name, condition, at)
            while isinstance(condition, Mapping) and "$not" in condition:
                condition, at = condition["$not"], (*at, "$not")
            if isinstance(condition, Mapping) and "$elemMatch" in condition:
                for one in _list_asked(condition["$elemMatch"], (*at, "$elemMatch")):
                    yield one._replace(key=f"{name}.{one.key}")


def _numerals(spec: QuotingSpec, key: str, rows: Rows) -> Iterator[Finding]:
    """Yield findings about numbers that a query compares with strings. Queries on types are skipped.

    An equality in ``where`` is skipped, too. It selects rows with the number, so strings in other rows do not matter.
    """
    for one in _comparisons(spec, key):
        if key == "where" and one.operator == "$eq":
            continue
        said, hint = say_wrong(one.field, one.operator, one.constants, _values_of(one, rows))
        if said:
            message = f"`{one.field}` of table `{spec.table}` {said}"
            hint = (
                hint
                or "convert the strings to numbers in the file of results, or in the pipeline of the table"
            )
            yield finding("MT433", spec.file, spec.locate((key, *one.path), key=True), message, hint)


def _other_types(spec: QuotingSpec, key: str, rows: Rows) -> Iterator[Finding]:
    """Yield findings about conditions that always or never hold, because no row has a value of their type."""
    for one in _comparisons(spec, key):
        # An expression orders values of different types.
        if "$expr" in one.path or "$not" in one.path:
            continue
        values = _values_of(one, rows)
        if why := say_other_type(one.operator, one.constants, values):
            message = f"`{one.field}` of table `{spec.table}` {why}"
            yield finding(
                "MT329",
                spec.file,
                spec.locate((key, *one.path)),
                message,
                type_hint(values[0], one.constants[0]),
            )


def _comparisons(spec: QuotingSpec, key: str) -> Iterator[ConstantComparison]:
    query = spec.queries[key]
    return iter(()) if names_types(query) else list_comparisons(query)


def _values_of(one: ConstantComparison, rows: Rows) -> list[Any]:
    return [value for row in rows if (value := column_value(row, one.field)) not in (None, MISSING)]


def _matching(
    spec: QuotingSpec,
    key: str,
    rows: Rows,
    query: Mapping[str, Any],
    around: tuple[str | int, ...] = (),
) -> _Selection:
    """Return the rows that match ``query``, which is at the path ``(key, *around)`` of the comment."""
    try:
        return _Selection(aggregate(rows, [{"$match": query}]))
    except AggregationError as error:
        written = (error.path or ())[len((0, "$match", *around)) :]
        at = spec.locate((key, *written), key=True)
        return _Selection(
            None, (finding("MT323", spec.file, at, error.message, did_you_mean(error.unknown, error.known)),)
        )


def _show_rows(failing: Rows, rows: Rows, spec: CheckSpec, table: TableSpec) -> str:
    """Describe the first failing rows by the columns that tell them apart, and by the fields of the statement."""
    columns = find_naming_columns(table, rows) if len(rows) > 1 else ()
    named = [{name: column_value(row, name) for name in columns} for row in rows]
    naming = [*columns[:1], *choose_telling(named, columns[1:], columns[:1])]
    asked = (one.key for query in (spec.where, spec.expect) for one in conditions_in(query))
    fields = list(dict.fromkeys([*naming, *(name for name in asked if not name.startswith("$"))]))
    bounds = list(find_numbers(spec.expect))  # Figures get enough digits to differ from these.
    texts = [
        ", ".join(
            f"{name} is {brief_text(column_value(row, name), table.form_of(name), bounds)}"
            for name in fields or row
        )
        for row in failing[:_ROWS_SHOWN]
    ]
    return "; ".join(texts) + ("; …" if len(failing) > _ROWS_SHOWN else "")


def find_numbers(written: Any) -> Iterator[Decimal]:
    """Yield all finite numbers in a query."""
    if isinstance(written, Mapping):
        written = list(written.values())
    if isinstance(written, list):
        for part in written:
            yield from find_numbers(part)
    elif is_number(written) and (number := Decimal(raw_text(written))).is_finite():
        yield number
