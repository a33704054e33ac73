"""Comments → specs: what a table, chart, value or check asks for, as validated plain data.

``read`` checks a comment's body against ``schemas/`` and against what a schema cannot say (as many headers as
columns, settings that name a column, shared stage lists), and gives every fault at its line and column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from preprocessor.comments import Comment
from preprocessor.findings import Finding
from preprocessor.jsondocument import Document, decoded, nearest, schema_findings, syntax_findings
from preprocessor.jsontext import Path, parse
from preprocessor.rules import RULES, finding
from preprocessor.schemacheck import did_you_mean
from preprocessor.sharedpipelines import Expanded, Lookup, Stage, expand

if TYPE_CHECKING:
    from preprocessor.results import Query


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """How values are written. ``thousands``: the separator, True for a comma, False or None for none.

    ``missing`` is the text of a cell without a value, ``reason`` why there is none, told under the table.
    """

    decimals: int | None = None
    unit: str | None = None
    align: str | None = None
    thousands: bool | str | None = None
    missing: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What all four kinds have. ``ignore``: rule id → why the rule shall not complain about this comment."""

    comment: Comment
    file: str
    ignore: Mapping[str, str] = field(default_factory=dict)

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Give line and column, in the Markdown file, of the value at ``path``, or with ``key`` of its key.

        Paths begin at the comment's top-level keys: ``("pipeline", 3, "$set", "x")``. What has no place of
        its own is located at the nearest value above it.
        """
        return _locate(self.comment, path, key)


@dataclass(frozen=True, kw_only=True)
class PipelineSpec(Spec):
    """What has a pipeline of its own: Extended JSON decoded to BSON types, shared stage lists expanded.

    ``origins`` has for each stage the index where it is written, or ``~index`` of the name of a shared list
    that it came from; empty means that all stages stand as written. ``provenance``: as written, None where it is
    not. ``max_age``: days.
    """

    collection: str
    pipeline: tuple[Stage, ...]
    let: Mapping[str, Any] = field(default_factory=dict)
    format: Mapping[str, ColumnFormat] = field(default_factory=dict)
    id: str | None = None
    title: str | None = None
    caption: str | None = None
    empty: str | None = None
    provenance: bool | None = None
    max_age: int | None = None
    origins: tuple[int, ...] = ()

    @cached_property
    def query(self) -> Query:
        """What it asks of the results source for its rows."""
        from preprocessor.results import Query

        return Query(self.collection, tuple(self.pipeline), self.let)

    @cached_property
    def source_query(self) -> Query:
        """What it asks about the documents that it starts from."""
        from preprocessor.provenance import source_query

        return source_query(self)

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """As ``Spec.locate``; a stage of a shared list is located at the string that names the list."""
        if self.origins and len(path) > 1 and path[0] == "pipeline" and isinstance(path[1], int):
            origin = self.origins[path[1]] if 0 <= path[1] < len(self.origins) else None
            if origin is None:
                path = ("pipeline",)
            else:
                path = ("pipeline", ~origin) if origin < 0 else ("pipeline", origin, *path[2:])
        return _locate(self.comment, path, key)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec(PipelineSpec):
    """A MONGO_TABLE. ``baseline`` and ``chart`` are as written, valid against the schema.

    ``spread``: column → fields of its lowest value, its highest and, where given, its number of repeats.
    """

    columns: tuple[str, ...]
    headers: tuple[str, ...]
    spread: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    baseline: Mapping[str, Any] | None = None
    chart: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpec(PipelineSpec):
    """A MONGO_CHART. ``labels``: column → text for an axis or a series; ``log``: "x", "y", "xy" or None.

    ``timezone``: the zone of an axis of dates; None is UTC.
    """

    mark: str
    x: str
    y: tuple[str, ...]
    series: str | None = None
    log: str | None = None
    timezone: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSpec(Spec):
    """A MONGO_VALUE: ``column`` of the one row of ``table`` that the query ``where`` selects."""

    table: str
    column: str
    where: Mapping[str, Any] = field(default_factory=dict)
    format: ColumnFormat | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec(Spec):
    """A MONGO_CHECK: all rows of ``table`` that ``where`` selects, at least one, must match ``expect``."""

    table: str
    expect: Mapping[str, Any]
    where: Mapping[str, Any] = field(default_factory=dict)
    message: str | None = None


Reading = tuple[TableSpec | ChartSpec | ValueSpec | CheckSpec | None, list[Finding]]


_ID = re.compile(r"""\bid["']?\s*:\s*("(?:[^"\\\n]|\\.)*")""")


@lru_cache(maxsize=32)
def _positions(body: str) -> tuple[dict[Path, int], dict[Path, int]]:
    parsed = parse(body)
    return parsed.positions, parsed.key_positions


def _locate(comment: Comment, path: Path, key: bool) -> tuple[int, int]:
    values, keys = _positions(comment.body)
    offset = keys.get(path) if key else None
    return comment.locate(nearest(values, path) if offset is None else offset)


Judge = Callable[[PipelineSpec], list[Finding]]


def read(comment: Comment, file: str, shared: Lookup, judge: Judge | None = None) -> Reading:
    """Read one comment of ``file``: its spec, or None when it has an error, and every finding about it.

    ``shared`` gives the shared stage list of a name, or None. ``judge`` says what is wrong with a pipeline; it
    is asked whenever the pipeline can be read, also when another key of the comment is faulty. Never raises for
    what an author wrote.
    """
    kind, build = _KINDS[comment.keyword]
    document = Document(file, parse(comment.body), comment.locate)
    found = syntax_findings(document)
    if not document.parsed.readable:
        return None, found
    found += schema_findings(document, kind, f"A {comment.keyword} comment")
    if not isinstance(document.parsed.value, dict):
        return None, found
    found += _ignored_rules(document)
    found += _column_findings(document)
    found += _zone_findings(document)
    body, expanded, malformed = _decoded_body(document, shared)
    found += malformed
    if judge is not None and not malformed and _is_pipeline(expanded):
        found += judge(_only_pipeline(comment, file, body, expanded))
    if any(one.severity == "error" for one in found):
        return None, found
    return build(comment, file, body, expanded), found


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


def _decoded_body(document: Document, shared: Lookup) -> tuple[dict[str, Any], Expanded, list[Finding]]:
    """Give the body with its Extended JSON decoded and its pipeline expanded, as far as shapes allow."""
    body, found = dict(document.parsed.value), list[Finding]()
    for key in ("let", "where", "expect", "baseline"):
        if key in body:
            body[key], malformed = decoded(document, (key,), body[key])
            found += malformed
    written = body.get("pipeline")
    stages = written if isinstance(written, list) else []
    guessed = document.parsed.is_guess(("pipeline",))
    expanded = expand(document, ("pipeline",), [] if guessed else stages, shared)
    return body, expanded, [*found, *expanded.findings]


# -- what a schema cannot say
# ------------------------------------------------------------------------------------


def _ignored_rules(document: Document) -> Iterator[Finding]:
    ignore = document.parsed.value.get("ignore")
    for rule in ignore if isinstance(ignore, dict) else ():
        if re.fullmatch("MT[0-9]{3}", rule) and rule not in RULES:
            hint = "A finding says the id of its rule after its severity."
            yield document.finding("MT143", ("ignore", rule), f"There is no rule `{rule}`.", hint, key=True)


def _column_findings(document: Document) -> Iterator[Finding]:
    """Complain of columns, headers and settings that do not fit each other, as far as shapes allow."""
    body = document.parsed.value
    if "columns" in body:
        columns, headers = body["columns"], body.get("headers")
        if not isinstance(columns, list):
            return
        shown = list(dict.fromkeys(column for column in columns if isinstance(column, str)))
        yield from _repeated_columns(document, columns)
        if isinstance(headers, list) and len(headers) != len(columns):
            yield _header_count(document, len(columns), len(headers))
    else:
        shown = [column for _, column in _settings(body, ("x",), ("y",), ("series",))]
    if not shown:
        return
    for path, column in _settings(body, *_SETTINGS):
        if column not in shown:
            message = f"`{column}` is not a column that is shown here."
            hint = (
                did_you_mean(column, shown) or "Shown are " + ", ".join(f"`{each}`" for each in shown) + "."
            )
            yield document.finding(
                "MT136", path, message, hint, key=path[0] in ("format", "labels", "spread")
            )


def _zone_findings(document: Document) -> Iterator[Finding]:
    """Complain of a time zone that does not exist."""
    body = document.parsed.value
    for path in (("timezone",), ("chart", "timezone")):
        for at, named in _settings(body, path):
            from preprocessor.aggregation.dates import is_zone, zone_names

            if at == path and named and not is_zone(named):
                hint = did_you_mean(named, zone_names()) or (
                    "A zone is named by its place, such as Europe/Berlin, or by its distance from UTC: +05:30."
                )
                yield document.finding("MT133", path, f"There is no time zone `{named}`.", hint)


#: Where a comment names columns that it must show.
_SETTINGS: tuple[Path, ...] = (
    ("format",),
    ("labels",),
    ("spread",),
    ("baseline", "column"),
    ("chart", "x"),
    ("chart", "y"),
    ("chart", "series"),
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


def _repeated_columns(document: Document, columns: list[Any]) -> Iterator[Finding]:
    for index, column in enumerate(columns):
        if isinstance(column, str) and column in columns[:index]:
            message = f"The column `{column}` is shown twice."
            yield document.finding("MT137", ("columns", index), message, "Remove one, and its header.")


def _header_count(document: Document, columns: int, headers: int) -> Finding:
    extra: Path = ("headers", columns) if headers > columns else ("columns", headers)
    verb = "is" if headers == 1 else "are"
    message = f"There {verb} {_count(headers, 'header')} for {_count(columns, 'column')}."
    return document.finding(
        "MT135", extra, message, f"The first without a partner is `{extra[0]}[{extra[1]}]`."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


# -- building
# ----------------------------------------------------------------------------------------------------


def _format(settings: Mapping[str, Any]) -> ColumnFormat:
    decimals = settings.get("decimals")
    return ColumnFormat(**{**settings, "decimals": None if decimals is None else int(decimals)})


def _common(comment: Comment, file: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"comment": comment, "file": file, "ignore": body.get("ignore", {})}


def _with_pipeline(comment: Comment, file: str, body: dict[str, Any], expanded: Expanded) -> dict[str, Any]:
    kept = ("collection", "let", "id", "title", "caption", "empty", "provenance")
    return {
        **_common(comment, file, body),
        **{key: body[key] for key in kept if key in body},
        "format": {column: _format(settings) for column, settings in body.get("format", {}).items()},
        "max_age": int(body["max_age"]) if "max_age" in body else None,
        "pipeline": expanded.stages,
        "origins": expanded.origins,
    }


def _table(comment: Comment, file: str, body: dict[str, Any], expanded: Expanded) -> TableSpec:
    return TableSpec(
        **_with_pipeline(comment, file, body, expanded),
        columns=tuple(body["columns"]),
        headers=tuple(body["headers"]),
        spread={column: tuple(fields) for column, fields in body.get("spread", {}).items()},
        baseline=body.get("baseline"),
        chart=body.get("chart"),
    )


def _chart(comment: Comment, file: str, body: dict[str, Any], expanded: Expanded) -> ChartSpec:
    y = body["y"]
    return ChartSpec(
        **_with_pipeline(comment, file, body, expanded),
        mark=body.get("mark", "line"),
        x=body["x"],
        y=(y,) if isinstance(y, str) else tuple(y),
        series=body.get("series"),
        log=body.get("log"),
        timezone=body.get("timezone"),
        labels=body.get("labels", {}),
    )


def _value(comment: Comment, file: str, body: dict[str, Any], expanded: Expanded) -> ValueSpec:
    return ValueSpec(
        **_common(comment, file, body),
        table=body["table"],
        column=body["column"],
        where=body.get("where", {}),
        format=_format(body["format"]) if "format" in body else None,
    )


def _check(comment: Comment, file: str, body: dict[str, Any], expanded: Expanded) -> CheckSpec:
    return CheckSpec(
        **_common(comment, file, body),
        table=body["table"],
        expect=body["expect"],
        where=body.get("where", {}),
        message=body.get("message"),
    )


_Build = Callable[[Comment, str, dict[str, Any], Expanded], TableSpec | ChartSpec | ValueSpec | CheckSpec]

#: Keyword → (schema, builder).
_KINDS: dict[str, tuple[str, _Build]] = {
    "MONGO_TABLE": ("table", _table),
    "MONGO_CHART": ("chart", _chart),
    "MONGO_VALUE": ("value", _value),
    "MONGO_CHECK": ("check", _check),
}


def shown_columns(spec: PipelineSpec) -> list[tuple[Path, str]]:
    """Give the columns that a table or a chart shows, each with its place in the comment."""
    if isinstance(spec, TableSpec):
        own = [(("columns", index), column) for index, column in enumerate(spec.columns)]
        return [*own, *_ranges(spec)]
    if isinstance(spec, ChartSpec):
        y = [(("y", index), column) for index, column in enumerate(spec.y)]
        return [(("x",), spec.x), *y, *([(("series",), spec.series)] if spec.series else [])]
    return []


def _ranges(spec: TableSpec) -> Iterator[tuple[Path, str]]:
    """The fields of ranges that are no columns of their own."""
    for column, fields in spec.spread.items():
        for index, name in enumerate(fields):
            if name not in spec.columns:
                yield ("spread", column, index), name


# -- specs held against each other
# -------------------------------------------------------------------------------


def duplicate_ids(pages: Iterable[tuple[str, Iterable[Spec | None]]]) -> list[Finding]:
    """Give a finding for every table or chart whose written id an earlier one has, on whatever page.

    ``pages`` are paths and what their comments ask for. The same comment on another page, where an included file
    brings it, is the same table.
    """
    first: dict[str, tuple[str, PipelineSpec]] = {}
    found = []
    for page, specs in pages:
        here: dict[str, PipelineSpec] = {}
        for spec in specs:
            if not isinstance(spec, PipelineSpec) or spec.id is None:
                continue
            where, elsewhere = first.setdefault(spec.id, (page, spec))
            if spec.id in here:
                found.append(_taken(spec, here[spec.id], page))
            elif where != page and not _same_comment(spec, elsewhere):
                found.append(_taken(spec, elsewhere, page))
            here.setdefault(spec.id, spec)
    return found


def _taken(spec: PipelineSpec, earlier: PipelineSpec, page: str) -> Finding:
    place = f"{earlier.file}, line {earlier.locate(('id',))[0]}"
    message, hint = f"The id `{spec.id}` is taken already: {place}.", "Give one of them another id."
    if spec is earlier:
        message, hint = f"The id `{spec.id}` is on {page} twice.", f"Take {spec.file} into a page once."
    return finding("MT138", spec.file, spec.locate(("id",)), message, hint)


def _same_comment(spec: Spec, other: Spec) -> bool:
    return (spec.comment.keyword, spec.comment.body) == (other.comment.keyword, other.comment.body)


_GUESSED = 100
"""As many unknown ids as are held against all that there are, which takes its time."""


def unknown_tables(specs: Iterable[Spec], known: Iterable[str]) -> list[Finding]:
    """Give a finding for every value or check whose table is not among the ids ``known``.

    ``known`` should hold the ids of faulty tables as well (``written_ids``), lest one fault be told twice.
    """
    ids = frozenset(known)
    found: list[Finding] = []
    for spec in specs:
        if isinstance(spec, (ValueSpec, CheckSpec)) and spec.table not in ids:
            message = f"There is no table with the id `{spec.table}`."
            near = did_you_mean(spec.table, ids) if len(found) < _GUESSED else ""
            hint = near or 'A table gets its id by the key "id".'
            found.append(finding("MT139", spec.file, spec.locate(("table",)), message, hint))
    return found


def written_ids(text: str) -> list[str]:
    """Give the ids that a comment with this text may have, faulty or not: several only where it cannot be read."""
    parsed = parse(text)
    if not parsed.readable:
        return [json.loads(found) for found in _ID.findall(text) if parse(found).problems == ()]
    written = parsed.value.get("id") if isinstance(parsed.value, dict) else None
    return [written] if isinstance(written, str) else []
