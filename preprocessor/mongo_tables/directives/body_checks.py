"""What a JSON Schema cannot say of a comment: settings that name a column, formats, totals, headings, sort keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.directives.addresses import template_fault
from mongo_tables.directives.column_format import convention_of
from mongo_tables.directives.pipelines import STAGES, selection_operand
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.nearest import did_you_mean, nearest_word
from mongo_tables.findings.rules import RULES
from mongo_tables.jsontext.document import Document
from mongo_tables.jsontext.reader import Path

_CONTRADICTION: Final = "MT145"
_IMPOSSIBLE: Final = "MT133"
_OF_NUMBERS: Final = (
    *("decimals", "significant", "unit", "thousands"),
    *("percent", "currency", "duration", "bytes", "bar", "scale"),
)
_EXCLUDING: Final[Sequence[tuple[Sequence[str], Sequence[str], str]]] = (
    (("percent",), ("currency", "duration", "bytes"), "a value is one of them"),
    (("currency",), ("duration", "bytes"), "a value is one of them"),
    (("duration",), ("bytes",), "a value is one of them"),
    (("unit",), ("percent", "currency", "duration", "bytes"), "the other one names the unit of each cell already"),
    (("decimals",), ("significant",), "round in one way"),
    (("date",), (*_OF_NUMBERS, "currency_place"), "dates have none: leave one of them out"),
    (("markdown",), (*_OF_NUMBERS, "date"), "Markdown is read in texts alone: leave one of them out"),
    (("markdown",), ("link",), "write the link into the text, or leave the Markdown out"),
    (("bar",), ("scale",), "one of the two shows the size of a number"),
)  # fmt: skip
_NEEDED: Final = {"timezone": "date", "currency_place": "currency"}


def body_findings(document: Document, has_pipeline: bool) -> Iterator[Finding]:
    """Complain of what a schema cannot say of the body of a comment, as far as shapes allow."""
    yield from _check_ignored_rules(document)
    yield from _column_findings(document)
    if has_pipeline:
        yield from _selection_findings(document)
    yield from _zone_findings(document)
    yield from _reference_findings(document)
    yield from _format_findings(document)
    yield from _layout_findings(document)


def _format_findings(document: Document) -> Iterator[Finding]:
    """Complain of what a schema cannot say of the formats in a comment, as far as shapes allow."""
    for path, form in _formats(document.parsed.value):
        yield from _contradictions(document, path, form)
        yield from _separator_findings(document, path, form)
        yield from _pattern_findings(document, path, form)
        yield from _link_findings(document, path, form)


def _formats(body: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Each format with its path; a value has one, all others have one for a column."""
    written = body.get("format")
    if not isinstance(written, dict):
        return
    if "column" in body:
        yield ("format",), written
        return
    for column, form in written.items():
        if isinstance(form, dict):
            yield ("format", column), form


def _contradictions(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    said = [key for key, value in form.items() if value is not None and value is not False]
    for ones, others, hint in _EXCLUDING:
        if (one := _first(ones, said)) and (other := _first(others, said)):
            message = f"{_named(path)} has both `{one}` and `{other}`"
            yield document.finding(_CONTRADICTION, (*path, other), message, hint, key=True)
    for key, needed in _NEEDED.items():
        if key in said and needed not in said:
            message = f"{_named(path)} has `{key}`, which means nothing without `{needed}`"
            yield document.finding(
                _CONTRADICTION, (*path, key), message, f"add `{needed}`, or take it out", key=True
            )


def _first(keys: Iterable[str], said: Sequence[str]) -> str:
    return next((key for key in keys if key in said), "")


def _named(path: Path) -> str:
    return f"the format of `{path[1]}`" if len(path) > 1 else "the format"


def _separator_findings(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    """A sign that groups digits and begins a fraction as well."""
    separator, locale = form.get("thousands"), form.get("locale", document.parsed.value.get("locale"))
    if not isinstance(separator, str) or not (locale is None or isinstance(locale, str)):
        return
    if not locale and not form.get("decimals"):
        return
    try:
        decimal = convention_of(locale).decimal
    except KeyError:
        return  # The schema names those that there are.
    if separator == decimal:
        message = (
            f"`{separator}` groups digits and begins the fraction as well: 1{separator}234 may be either"
        )
        hint = '"thousands": true takes what the `locale` groups digits by'
        yield document.finding(_CONTRADICTION, (*path, "thousands"), message, hint)


def _pattern_findings(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    pattern = form.get("date")
    if not isinstance(pattern, str) or not pattern:
        return
    from mongo_tables.aggregation.date_formats import check_format  # and with it `zoneinfo`, which costs
    from mongo_tables.aggregation.errors import AggregationError

    try:
        check_format(pattern)
    except AggregationError as error:
        message = f"`{pattern}` is not possible as a pattern for dates: {error.message}"
        hint = "specifiers are %Y %m %d %H %M %S %L %b %B %j %u %V %G %U %w %z %Z, and %% for a percent sign"
        yield document.finding(_IMPOSSIBLE, (*path, "date"), message, hint)
        return
    if "%" not in pattern.replace("%%", ""):
        message = f"`{pattern}` is the same for every date: it has no specifier"
        yield document.finding(_IMPOSSIBLE, (*path, "date"), message, 'for example: "%d %b %Y"')


def _link_findings(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    template = form.get("link")
    if not isinstance(template, str) or not template:
        return
    if fault := template_fault(template):
        hint = _written_as_path(template) or "for example `{url}`, or `https://example.com/commit/{commit}`"
        yield document.finding(_IMPOSSIBLE, (*path, "link"), f"the link `{template}` {fault}", hint)


def _written_as_path(template: str) -> str:
    """A hint for who writes a field as pipelines do."""
    return f"did you mean `{{{template[1:]}}}`?" if template.startswith("$") and "{" not in template else ""


def _zone_findings(document: Document) -> Iterator[Finding]:
    """Complain of a time zone that does not exist."""
    formats = ((*path, "timezone") for path, _ in _formats(document.parsed.value))
    for path in (("timezone",), ("chart", "timezone"), *formats):
        named = _at(document.parsed.value, path)
        if not isinstance(named, str) or not named:
            continue
        from mongo_tables.aggregation.dates import is_zone, zone_names  # and with it `zoneinfo`, which costs

        if not is_zone(named):
            hint = did_you_mean(named, zone_names()) or (
                "a zone is named by its place, such as Europe/Berlin, or by its distance from UTC: +05:30"
            )
            yield document.finding(_IMPOSSIBLE, path, f"there is no time zone `{named}`", hint)


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


_DOES_NOT_FIT: Final = "MT146"


def _layout_findings(document: Document) -> Iterator[Finding]:
    """Complain of what a table cannot have in this place, as far as shapes allow."""
    body = document.parsed.value
    columns = body.get("columns")
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        return
    grouped = body.get("group_rows")
    shown = [one for one in columns if one != grouped]
    if not shown:
        message = "the table has no column but the one that its rows are grouped by"
        yield document.finding(_DOES_NOT_FIT, ("group_rows",), message, "show another column")
        return
    yield from _totals_findings(document, body.get("totals"), shown, grouped)
    yield from _heading_findings(document, body.get("header_groups"), shown, grouped)


def _totals_findings(
    document: Document, totals: Any, shown: Sequence[str], grouped: Any
) -> Iterator[Finding]:
    for column in totals if isinstance(totals, dict) else ():
        path = ("totals", column)
        if column == grouped:
            message = f"`{column}` is no column that is shown: its values stand above the rows of each group"
            yield document.finding(_DOES_NOT_FIT, path, message, "take it out of the totals", key=True)
        elif column == shown[0]:
            message = (
                f"`{column}` is the first column: there stands what the total is, such as “Sum of 12 rows”"
            )
            yield document.finding(_DOES_NOT_FIT, path, message, "show another column before it", key=True)


def _heading_findings(
    document: Document, groups: Any, shown: Sequence[str], grouped: Any
) -> Iterator[Finding]:
    taken: dict[str, str] = {}
    for heading, columns in groups.items() if isinstance(groups, dict) else ():
        if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
            continue
        for index, column in enumerate(columns):
            if fault := _column_fault(column, taken, grouped):
                path = ("header_groups", heading, index)
                yield document.finding(_DOES_NOT_FIT, path, *fault)
            taken.setdefault(column, heading)
        yield from _order_findings(document, heading, columns, shown)


def _column_fault(column: str, taken: Mapping[str, str], grouped: Any) -> tuple[str, str] | None:
    if column in taken:
        return f"`{column}` stands below the heading “{taken[column]}” already", "a column has one heading"
    if column == grouped:
        return f"`{column}` is no column that is shown: rows are grouped by it", "take it out of the heading"
    return None


def _order_findings(
    document: Document, heading: str, columns: Sequence[str], shown: Sequence[str]
) -> Iterator[Finding]:
    if not columns or len(set(columns)) < len(columns) or not set(columns) <= set(shown):
        return  # That is told by itself.
    first = shown.index(columns[0])
    if list(columns) != list(shown[first : first + len(columns)]):
        in_order = [one for one in shown if one in columns]
        message = f"the columns below “{heading}” do not stand beside each other in this order"
        hint = (
            f"in `columns` they stand as {', '.join(f'`{one}`' for one in in_order)}; put them side by side"
        )
        yield document.finding(_DOES_NOT_FIT, ("header_groups", heading), message, hint)


def _check_ignored_rules(document: Document) -> Iterator[Finding]:
    ignore = document.parsed.value.get("ignore")
    for rule in ignore if isinstance(ignore, dict) else ():
        if re.fullmatch("MT[0-9]{3}", rule) and rule not in RULES:
            hint = "a finding says the id of its rule after its severity"
            yield document.finding("MT143", ("ignore", rule), f"there is no rule `{rule}`", hint, key=True)


def _column_findings(document: Document) -> Iterator[Finding]:
    """Complain of columns, headers and settings that do not fit each other, as far as shapes allow."""
    body = document.parsed.value
    columns, headers = body.get("columns"), body.get("headers")
    if isinstance(columns, list):
        yield from _check_repeated_columns(document, columns)
        if isinstance(headers, list) and len(headers) != len(columns):
            yield _header_count(document, len(columns), len(headers))
    shown = shown_columns(body)
    if not shown:
        return
    settings = list(_settings(body, *_SETTINGS, *_below_headings(body)))
    meant = _find_mistyped(body, shown, [(path[0], column) for path, column in settings])
    for index, column in enumerate(columns if isinstance(columns, list) else ()):
        if isinstance(column, str) and column in meant:
            message = f"nothing else in this comment names `{column}`"
            yield document.finding("MT136", ("columns", index), message, f"did you mean `{meant[column]}`?")
    for path, column in settings:
        if column not in shown and column not in meant.values():
            yield _unknown_column(document, path, column, shown)


def _unknown_column(document: Document, path: Path, column: str, shown: list[str]) -> Finding:
    message = not_shown(column)
    hint = did_you_mean(column, shown) or f"shown are {', '.join(f'`{each}`' for each in shown)}"
    if path[0] == "labels" and column in ("x", "y", "series", "facets"):
        hint = f"labels go by the names of columns: {', '.join(f'`{each}`' for each in shown)}"
    return document.finding(
        "MT136", path, message, hint, key=path[0] in ("format", "labels", "spread", "totals")
    )


def not_shown(column: str) -> str:
    """What is said of a setting of a column that a comment does not show."""
    return f"`{column}` is not a column that is shown here"


def _find_mistyped(
    body: Mapping[str, Any], shown: list[str], settings: list[tuple[str | int, str]]
) -> dict[str, str]:
    """The columns that are named nowhere else where a name much like it is: in two places beside ``columns``."""
    if not isinstance(body.get("columns"), list) or all(column in shown for _, column in settings):
        return {}
    queried = {name for key in ("pipeline", "sort", "where") for name in _names_in(body.get(key))}
    named = [*((key, name) for key, name in settings), *(("query", name) for name in queried)]
    places = {name: {key for key, each in named if each == name} for _, name in named}
    likely = [name for name, keys in places.items() if name not in shown and len(keys) > 1]
    mistyped = {nearest_word(name, shown): name for name in likely}
    return {column: name for column, name in mistyped.items() if column and column not in places}


def _names_in(written: Any) -> Iterator[str]:
    """All that may be the name of a field in a query or a pipeline: keys, and texts without the signs before them."""
    if isinstance(written, dict):
        yield from written
        written = list(written.values())
    if isinstance(written, list):
        for part in written:
            yield from _names_in(part)
    elif isinstance(written, str):
        yield written.lstrip("$-+")


def _below_headings(body: Mapping[str, Any]) -> list[Path]:
    """The places of the columns below each heading over several columns."""
    groups = body.get("header_groups")
    return [("header_groups", heading) for heading in groups] if isinstance(groups, dict) else []


def shown_columns(body: Mapping[str, Any]) -> list[str]:
    """The columns that are shown, as far as shapes allow."""
    written = body.get("columns")
    if isinstance(written, list):
        return list(dict.fromkeys(one for one in written if isinstance(one, str)))
    return [column for _, column in _settings(body, ("x",), ("y",), ("series",), ("facets",))]


#: Where a comment names columns that it must show.
_SETTINGS: tuple[Path, ...] = (
    ("format",),
    ("labels",),
    ("spread",),
    ("totals",),
    ("group_rows",),
    ("baseline", "column"),
    ("chart", "x"),
    ("chart", "y"),
    ("chart", "series"),
    ("chart", "facets"),
)


def _settings(body: Any, *paths: Path) -> Iterator[tuple[Path, str]]:
    """Give each column named at ``paths`` (a string, strings of a list, keys of an object), with its path."""
    for path in paths:
        value = body
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            yield from (((*path, key), key) for key in value)
        elif isinstance(value, list):
            yield from (((*path, index), each) for index, each in enumerate(value) if isinstance(each, str))


def _check_repeated_columns(document: Document, columns: list[Any]) -> Iterator[Finding]:
    for index, column in enumerate(columns):
        if isinstance(column, str) and column in columns[:index]:
            message = f"the column `{column}` is shown twice"
            yield document.finding("MT137", ("columns", index), message, "remove one, and its header")


def _header_count(document: Document, columns: int, headers: int) -> Finding:
    extra: Path = ("headers", columns) if headers > columns else ("columns", headers)
    verb = "is" if headers == 1 else "are"
    message = f"there {verb} {_count(headers, 'header')} for {_count(columns, 'column')}"
    return document.finding(
        "MT135", extra, message, f"the first without a partner is `{extra[0]}[{extra[1]}]`"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _reference_findings(document: Document) -> Iterator[Finding]:
    """Complain of references that are neither a line nor a band; as far as shapes allow."""
    body = document.parsed.value
    chart = body.get("chart")
    for place, settings in (((), body), (("chart",), chart)):
        written = settings.get("reference") if isinstance(settings, dict) else None
        for index, one in enumerate(written if isinstance(written, list) else ()):
            if isinstance(one, dict):
                yield from _one_reference(document, (*place, "reference", index), one)


def _one_reference(document: Document, path: Path, one: Mapping[str, Any]) -> Iterator[Finding]:
    ends = [one[key] for key in ("from", "to") if key in one]
    if ("value" in one) == bool(ends) or len(ends) == 1:
        message = "a reference is a line at one value, or a band between two"
        hint = (
            'for example: {"value": 1, "label": "same speed"}, or {"from": 90, "to": 110, "label": "target"}'
        )
        yield document.finding("MT133", path, message, hint)
    elif ends and all(isinstance(end, int | float) for end in ends) and not ends[0] < ends[1]:
        message = f"the band ends at {ends[1]:g}, which is not above {ends[0]:g}, where it begins"
        yield document.finding("MT133", (*path, "to"), message, "name the lower end as `from`")


def _selection_findings(document: Document) -> Iterator[Finding]:
    """Complain of a key that selects rows beside a pipeline, and of a field that is sorted by twice."""
    body = document.parsed.value
    for key, operator in STAGES.items():
        if key in body and "pipeline" in body:
            message = f"`{key}` means nothing beside a `pipeline`: nobody can tell which of them comes first"
            operand = json.dumps(selection_operand(key, body[key]), ensure_ascii=False)
            hint = f'say it in the pipeline, as a stage: {{"{operator}": {operand}}}'
            yield document.finding("MT130", (key,), message, hint, key=True)
    yield from _repeated_fields(document, body.get("sort"))


def _repeated_fields(document: Document, named: Any) -> Iterator[Finding]:
    fields: list[str] = []
    for index, one in enumerate(named if isinstance(named, list) else ()):
        field = one.removeprefix("-") if isinstance(one, str) else ""
        if field and field in fields:
            message = f"rows are sorted by `{field}` twice: the second time changes nothing"
            yield document.finding("MT133", ("sort", index), message, "remove one of the two")
        fields.append(field)
