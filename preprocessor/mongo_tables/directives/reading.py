"""Comments → specs: what a table, chart, value or check asks for, as validated plain data.

``read`` checks a comment's body against ``schemas/`` and against what a schema cannot say (as many headers as
columns, settings that name a column, shared stage lists), and gives every fault at its line and column.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mongo_tables.directives.charts import reference_findings
from mongo_tables.directives.comment import Comment
from mongo_tables.directives.formatchecks import format_findings, zone_findings
from mongo_tables.directives.layoutchecks import layout_findings
from mongo_tables.directives.schemas.validation import schema_findings
from mongo_tables.directives.selection import expand_selection, selection_findings
from mongo_tables.directives.sharedpipelines import Expanded, Lookup, expand
from mongo_tables.directives.specs import DIRECTIVES, PipelineSpec, Spec, ValidComment
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.nearest import did_you_mean, nearest_word
from mongo_tables.findings.rules import RULES
from mongo_tables.jsontext.document import Document, decode_at, syntax_findings
from mongo_tables.jsontext.model import Path


class Reading(NamedTuple):
    """What a comment says: its spec, or None when it has an error, and every finding about it.

    ``pipeline`` is what of it can be run and ``columns`` what it shows, also where another key is faulty.
    """

    spec: Spec | None
    findings: list[Finding]
    pipeline: PipelineSpec | None = None
    columns: tuple[str, ...] = ()


def read(comment: Comment, file: str, shared: Lookup) -> Reading:
    """Read one comment of ``file``; never raises for what an author wrote.

    ``shared`` gives the shared stage list of a name, or None.
    """
    directive = DIRECTIVES[comment.kind]
    document = Document(file, comment.parsed, comment.locate)
    found = syntax_findings(document)
    if not document.parsed.readable:
        return Reading(None, found)
    found += schema_findings(document, directive.kind, f"a {comment.keyword} comment")
    if not isinstance(document.parsed.value, dict):
        return Reading(None, found)
    found += _check_ignored_rules(document)
    found += _column_findings(document)
    found += selection_findings(document) if directive.has_pipeline else ()
    found += zone_findings(document)
    found += reference_findings(document)
    found += format_findings(document)
    found += layout_findings(document)
    body, expanded, malformed = _decode_body(document, shared)
    found += malformed
    # The ``where`` of a value or a statement is a query on rows, and no pipeline.
    runnable = directive.has_pipeline and not malformed and _is_pipeline(expanded)
    pipeline = _only_pipeline(comment, file, body, expanded) if runnable else None
    faulty = any(one.severity == "error" for one in found)
    spec = None if faulty else directive.spec.of(ValidComment(comment, file, body, expanded))
    return Reading(spec, found, pipeline, tuple(_columns_in(body)))


def _is_pipeline(expanded: Expanded) -> bool:
    return bool(expanded.stages) and all(
        isinstance(stage, Mapping) and len(stage) == 1 and next(iter(stage)).startswith("$")
        for stage in expanded.stages
    )


def _only_pipeline(comment: Comment, file: str, body: dict[str, Any], expanded: Expanded) -> PipelineSpec:
    let = body.get("let")
    return PipelineSpec(
        comment=comment,
        file=file,
        collection=str(body.get("collection", "")),
        pipeline=expanded.stages,
        let=let if isinstance(let, Mapping) else {},
        origins=expanded.origins,
    )


def _decode_body(document: Document, shared: Lookup) -> tuple[dict[str, Any], Expanded, list[Finding]]:
    """Give the body with its Extended JSON decoded and its pipeline expanded, as far as shapes allow."""
    body, found = dict(document.parsed.value), list[Finding]()
    for key in ("let", "where", "expect", "baseline"):
        if key in body:
            body[key], malformed = decode_at(document, (key,), body[key])
            found += malformed
    if "pipeline" not in body:
        return body, expand_selection(document, body), found
    written = body["pipeline"]
    stages = written if isinstance(written, list) else []
    guessed = document.parsed.is_guess(("pipeline",))
    expanded = expand(document, ("pipeline",), [] if guessed else stages, shared)
    return body, expanded, [*found, *expanded.findings]


# -- what a schema cannot say
# ------------------------------------------------------------------------------------


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
    shown = _columns_in(body)
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


def _columns_in(body: Mapping[str, Any]) -> list[str]:
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
