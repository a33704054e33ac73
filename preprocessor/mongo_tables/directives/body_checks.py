"""Checks of comments that a JSON Schema cannot express, such as settings that name a column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.directives.addresses import template_fault
from mongo_tables.directives.columns import EXCLUDING, NEEDED
from mongo_tables.directives.row_keys import STAGES, selection_operand
from mongo_tables.directives.sayings import find_faults
from mongo_tables.directives.schemas import load
from mongo_tables.findings.finding import Complaint, Finding, did_you_mean, nearest_word
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.rules import RULES
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.reader import Document, value_at

_CONTRADICTION: Final = "MT145"
_IMPOSSIBLE: Final = "MT133"
_DOES_NOT_FIT: Final = "MT146"

_SETTINGS: Final[Sequence[Path]] = (
    *(("format",), ("labels",), ("spread",), ("totals",), ("group_rows",), ("baseline", "column")),
    *(("chart", "x"), ("chart", "y"), ("chart", "series"), ("chart", "facets")),
)
"""The paths at which a comment names columns that it must show."""
SETTINGS: Final = frozenset(
    {"format", "labels", "spread", "totals", "group_rows", "baseline", "chart", "header_groups"}
)
"""The keys whose settings name columns: the first key of each path in ``_SETTINGS``, and ``header_groups``."""
_AXES: Final = ("x", "y", "series", "facets")
_OF_QUERY: Final = ("rows", "pipeline", "compute", *STAGES)

_Body = Mapping[str, Any]
_Complaints = Iterator[Complaint[Path]]


def body_findings(document: Document, kind: str, subject: str) -> Iterator[Finding]:
    """Yield the faults of a comment's body. Values of the wrong type are skipped, because the schema reports them."""
    body = document.parsed.value
    for check, keys in _CHECKS.items():
        if not keys.isdisjoint(body):
            yield from map(document.locate, check(body))
    if kind == "value":
        yield from map(document.locate, _check_value(body, subject))


_OF_TABLE: Final = ("table", "column")
_OF_COLLECTION: Final = ("collection", "field", "rows", "pipeline", "compute", "sort", "limit")
"""The keys of a value that has no table."""


def _check_value(body: _Body, subject: str) -> _Complaints:
    """Find keys that a value needs and lacks, and keys that do not fit: a value names either a table or a
    collection.
    """
    has_table = "table" in body or not {"collection", "field"} & body.keys()
    needed, others = (_OF_TABLE, _OF_COLLECTION) if has_table else (("collection", "field"), _OF_TABLE)
    known = load("value")["properties"]
    meant = {nearest_word(key, known) for key in body if key not in known}
    for key in needed:
        if key not in body and key not in meant:
            example = json.dumps(known[key]["examples"][0])
            hint = f'for example: "{key}": {example}'
            hint += '; a value without a table has "collection" and "field"' if key == "table" else ""
            yield Complaint(f"{subject} needs the key `{key}`", hint, (), "MT131")
    for key in others:
        if key in body:
            hint = "a value comes from a `table` and its `column`, or from a `collection` and its `field`"
            yield Complaint(
                f"`{key}` has no effect together with `{needed[0]}`", hint, (key,), "MT130", on_key=True
            )


def _check_ignored_rules(body: _Body) -> _Complaints:
    ignore = body.get("ignore")
    for rule in ignore if isinstance(ignore, dict) else ():
        if re.fullmatch("MT[0-9]{3}", rule) and rule not in RULES:
            hint = "each finding shows the id of its rule after the word error, warning or note"
            yield Complaint(f"there is no rule `{rule}`", hint, ("ignore", rule), "MT143", on_key=True)


# -- columns --


def shown_columns(body: _Body) -> list[str]:
    """Return the columns that a comment shows. Values of the wrong type are skipped."""
    written = body.get("columns")
    if isinstance(written, list):
        shown: dict[str, None] = {}
        for one in written:
            if isinstance(one, str):
                shown[one] = None
        return list(shown)
    if isinstance(body.get("field"), str):
        return [body["field"]]
    return [column for _, column in _settings(body, [(key,) for key in _AXES])]


def _settings(body: _Body, paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the columns that the values at ``paths`` name, each with its path.

    A value is a string, a list of strings, or an object whose keys are columns.
    """
    for path in paths:
        value = value_at(body, path)
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            yield from (((*path, key), key) for key in value)
        elif isinstance(value, list):
            yield from (((*path, index), each) for index, each in enumerate(value) if isinstance(each, str))


def _check_columns(body: _Body) -> _Complaints:
    """Find columns that are shown twice, and a number of headers that differs from the number of columns."""
    columns, headers = body.get("columns"), body.get("headers")
    if not isinstance(columns, list):
        return
    for index, column in enumerate(columns):
        if isinstance(column, str) and column in columns[:index]:
            message = f"the column `{column}` is shown twice"
            yield Complaint(message, "remove one, and its header", ("columns", index), "MT137")
    if isinstance(headers, list) and len(headers) != len(columns):
        number = min(len(headers), len(columns))
        longer = "headers" if len(headers) > len(columns) else "columns"
        verb = "is" if len(headers) == 1 else "are"
        counts = f"{format_count(len(headers), 'header')} for {format_count(len(columns), 'column')}"
        hint = f"the first without a partner is `{longer}[{number}]`"
        yield Complaint(f"there {verb} {counts}", hint, (longer, number), "MT135")


def _check_settings(body: _Body) -> _Complaints:
    shown, groups = shown_columns(body), body.get("header_groups")
    if not shown or "field" in body:
        return
    below = [("header_groups", heading) for heading in groups] if isinstance(groups, dict) else []
    names = ", ".join(f"`{each}`" for each in shown)
    for path, column in _settings(body, [*_SETTINGS, *below]):
        if column in shown:
            continue
        # If the query has this name, the typing error may be in `columns` instead of the setting.
        query = json.dumps([body.get(key) for key in _OF_QUERY], ensure_ascii=False)
        in_query = re.search(rf'"[$+-]*{re.escape(column)}"', query)
        meant = "" if in_query else did_you_mean(column, shown)
        hint = meant or f"shown are {names}"
        if path[0] == "labels" and column in _AXES:
            hint = f"the keys of `labels` are names of columns: {names}"
        on_key = path[0] in ("format", "labels", "spread", "totals")
        yield Complaint(f"`{column}` is not a column that is shown here", hint, path, "MT136", on_key)


# -- rows --


def _check_selection(body: _Body) -> _Complaints:
    """Find keys that select rows in a comment with a pipeline."""
    for key, operator in STAGES.items() if "pipeline" in body else ():
        if key in body:
            message = f"`{key}` must not be used with a `pipeline`: their order would be ambiguous"
            operand = json.dumps(selection_operand(key, body[key]), ensure_ascii=False)
            hint = f'write it as a stage of the pipeline: {{"{operator}": {operand}}}'
            yield Complaint(message, hint, (key,), "MT130", on_key=True)


# -- charts --


def _check_references(body: _Body) -> _Complaints:
    for above in ((), ("chart",)):
        path: Path = (*above, "reference")
        written = value_at(body, path)
        for index, one in enumerate(written if isinstance(written, list) else ()):
            ends = [one[key] for key in ("from", "to") if key in one] if isinstance(one, dict) else []
            if isinstance(one, dict) and (("value" in one) == bool(ends) or len(ends) == 1):
                message = "a reference is a line at one value, or a band between two"
                hint = 'for example: {"value": 1, "label": "same speed"}, or {"from": 90, "to": 110, "label": "target"}'
                yield Complaint(message, hint, (*path, index), _IMPOSSIBLE)
            elif ends and all(isinstance(end, int | float) for end in ends) and not ends[0] < ends[1]:
                message = f"the band ends at {ends[1]:g}, which is not above its beginning {ends[0]:g}"
                yield Complaint(message, "`from` must be the lower end", (*path, index, "to"), _IMPOSSIBLE)


# -- formats --


def _formats(body: _Body) -> Iterator[tuple[Path, _Body]]:
    """Yield each format with its path. A value has one format, other comments have one for each column."""
    written = body.get("format")
    if not isinstance(written, dict):
        return
    if "column" in body or "field" in body:
        yield ("format",), written
        return
    yield from ((("format", column), form) for column, form in written.items() if isinstance(form, dict))


def _check_formats(body: _Body) -> _Complaints:
    for path, form in _formats(body):
        yield from _check_contradictions(path, form)
        yield from _check_pattern(path, form.get("date"))
        yield from _check_link(path, form.get("link"))


def _check_contradictions(path: Path, form: _Body) -> _Complaints:
    named = f"the format of `{path[1]}`" if len(path) > 1 else "the format"
    said = {key for key, value in form.items() if value is not None and value is not False}
    for ones, others, hint in EXCLUDING:
        if said.isdisjoint(ones) or said.isdisjoint(others):
            continue
        one, other = (next(key for key in keys if key in said) for keys in (ones, others))
        message = f"{named} has both `{one}` and `{other}`"
        yield Complaint(message, hint, (*path, other), _CONTRADICTION, on_key=True)
    for key, needed in NEEDED.items():
        if key in said and needed not in said:
            message = f"{named} has `{key}`, which has no effect without `{needed}`"
            yield Complaint(
                message, f"add `{needed}`, or remove it", (*path, key), _CONTRADICTION, on_key=True
            )


def _check_pattern(path: Path, pattern: Any) -> _Complaints:
    if not isinstance(pattern, str) or not pattern:
        return
    from mongo_tables.aggregation.date_formats import check_format  # loads ``zoneinfo``

    message, hint = f"the pattern `{pattern}` for dates has no specifier", 'for example: "%d %b %Y"'
    try:
        check_format(pattern)
    except AggregationError as error:
        message = f"`{pattern}` is not a pattern for dates: {error.message}"
        hint = "specifiers are %Y %m %d %H %M %S %L %b %B %j %u %V %G %U %w %z %Z, and %% for a percent sign"
    else:
        if "%" in pattern.replace("%%", ""):
            return
    yield Complaint(message, hint, (*path, "date"), _IMPOSSIBLE)


def _check_url(body: _Body) -> _Complaints:
    if isinstance(template := body.get("url"), str) and template and (fault := template_fault(template)):
        hint = "for example `https://img.shields.io/badge/speed-{value}-green`"
        yield Complaint(f"the address `{template}` {fault}", hint, ("url",), _IMPOSSIBLE)


def _check_sayings(body: _Body) -> _Complaints:
    """Find placeholders that no row can fill, in the sentences of a value or of a chart's title."""
    for path in (("say",), ("title", "say")):
        if isinstance(say := value_at(body, path), dict):
            yield from find_faults(say, path)
    if "per" in body and "say" not in body:
        hint = "`per` is for the figures in the sentences of `say`"
        yield Complaint("`per` has no effect without `say`", hint, ("per",), _CONTRADICTION, on_key=True)


def _check_link(path: Path, template: Any) -> _Complaints:
    if isinstance(template, str) and template and (fault := template_fault(template)):
        hint = "for example `{url}`, or `https://example.com/commit/{commit}`"
        if template.startswith("$") and "{" not in template:  # as pipelines write a field
            hint = f"did you mean `{{{template[1:]}}}`?"
        yield Complaint(f"the link `{template}` {fault}", hint, (*path, "link"), _IMPOSSIBLE)


def _check_zones(body: _Body) -> _Complaints:
    for path in ((*path, "timezone") for path, _ in _formats(body)):
        named = value_at(body, path)
        if not isinstance(named, str) or not named:
            continue
        from mongo_tables.aggregation.dates import is_zone, zone_names  # loads ``zoneinfo``

        if not is_zone(named):
            hint = "write a name such as Europe/Berlin, or an offset from UTC such as +05:30"
            hint = did_you_mean(named, zone_names()) or hint
            yield Complaint(f"unknown time zone `{named}`", hint, path, _IMPOSSIBLE)


# -- totals, groups of rows --


def _check_layout(body: _Body) -> _Complaints:
    columns = body.get("columns")
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        return
    grouped, totals = body.get("group_rows"), body.get("totals")
    shown = [one for one in columns if one != grouped]
    if not shown:
        message = "the only column of the table is the column in `group_rows`, which is not shown"
        yield Complaint(message, "add another column", ("group_rows",), _DOES_NOT_FIT)
        return
    for column in totals if isinstance(totals, dict) else ():
        if column in (grouped, shown[0]):
            message = (
                f"`{column}` cannot have a total, because the first column shows the label of the totals"
            )
            if column == grouped:
                message = (
                    f"`{column}` cannot have a total: it is no column, but the heading of each group of rows"
                )
            hint = "remove it from `totals`, or show another column before it"
            yield Complaint(message, hint, ("totals", column), _DOES_NOT_FIT, on_key=True)


_CHECKS: Final[Mapping[Callable[[_Body], _Complaints], frozenset[str]]] = {
    _check_ignored_rules: frozenset({"ignore"}),
    _check_columns: frozenset({"columns"}),
    _check_settings: SETTINGS,
    _check_selection: frozenset(STAGES),
    _check_zones: frozenset({"format"}),
    _check_url: frozenset({"url"}),
    _check_references: frozenset({"reference", "chart"}),
    _check_formats: frozenset({"format"}),
    _check_layout: frozenset({"group_rows", "totals"}),
    _check_sayings: frozenset({"say", "title", "per"}),
}
"""The checks. A check runs if the comment has at least one of its keys."""
