"""The settings of comments as plain data: a class for each kind of comment, in ``DIRECTIVES``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from sys import intern
from typing import Any, Final, NamedTuple, Self, TypeVar

from mongo_tables.directives.addresses import fields_of
from mongo_tables.directives.columns import (
    ColumnFormat,
    HeaderGroup,
    Piece,
    column_headers,
    formats_of,
    header_groups_of,
    plain_text,
    read_marked,
    with_reasons,
)
from mongo_tables.directives.comments import Comment
from mongo_tables.directives.pipelines import Expanded, Origin, Stage
from mongo_tables.findings.finding import StandIn
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.reader import Document, offset_in_string
from mongo_tables.results.guards import is_lasting
from mongo_tables.results.model import Query
from mongo_tables.results.provenance import choice, joined_queries, source_query

_Kind = TypeVar("_Kind", bound="Spec")


class Reference(NamedTuple):
    """A reference in a chart: a line at one value, or a band between two."""

    low: float
    high: float
    label: str = ""

    @property
    def is_band(self) -> bool:
        """Whether the reference is a band."""
        return self.low < self.high

    @classmethod
    def of(cls, written: Any) -> Self:
        """Return the reference for a number, ``{"value": …}`` or ``{"from": …, "to": …}``."""
        if not isinstance(written, Mapping):
            return cls(float(written), float(written))
        low, high = (written["value"],) * 2 if "value" in written else (written["from"], written["to"])
        return cls(float(low), float(high), written.get("label", ""))


@dataclass(frozen=True)
class ChartSettings:
    """The axes and series of a chart, and how they are drawn.

    ``log`` names the logarithmic axes: "", "x", "y" or "xy". With ``horizontal``, names are at the left. ``facets`` is
    the column with a panel for each of its values. ``zero`` says whether the axis of values includes 0.
    """

    x: str
    y: tuple[str, ...]
    mark: str = "line"
    series: str | None = None
    log: str = ""
    horizontal: bool = False
    stack: bool = False
    references: tuple[Reference, ...] = ()
    facets: str | None = None
    zero: bool = True

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Return the settings of a valid comment, or of its key ``chart``."""
        reference = written.get("reference", [])
        several = reference if isinstance(reference, list) else [reference]
        same = ("mark", "x", "series", "log", "horizontal", "stack", "facets", "zero")
        return cls(
            **{key: written[key] for key in same if key in written},
            y=(written["y"],) if isinstance(written["y"], str) else tuple(written["y"]),
            references=tuple(map(Reference.of, several)),
        )

    @property
    def naming_columns(self) -> tuple[str, ...]:
        """The columns that identify a drawn value."""
        return tuple(filter(None, (self.facets, self.x, self.series)))


_INTERVAL: Final = "interval"


class Tolerance(NamedTuple):
    """The tolerance of a number on a page: the share by which the number may differ, or None if the current interval
    must contain it.
    """

    share: Decimal | None = None

    @classmethod
    def of(cls, written: str) -> Tolerance:
        """Return the tolerance that is written as ``interval`` or as a percentage such as ``5 %``."""
        return cls() if written == _INTERVAL else cls(Decimal(written.rstrip(" %")) / 100)


class MeasuredOf(NamedTuple):
    """The version that a figure must be measured on.

    Attributes:
        file: The file that contains the version, or ``tag`` for the last tag of Git.
        field: The field in which a document holds the version that it was measured on.
        within: The part up to which both versions must agree: ``minor``, ``major``, or "" for the whole version.
    """

    file: str
    field: str = "version"
    within: str = ""


_NOTHING: Final[Mapping[Any, Any]] = {}


def _nothing() -> Mapping[Any, Any]:
    """Return one shared empty mapping, which saves memory: most comments lack most keys."""
    return _NOTHING


class _Memory:
    """A base class with a ``__dict__``, which ``cached_property`` needs in classes with slots.

    Slots reduce the memory of fields to a quarter.
    """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spec(_Memory):
    """The common part of all kinds. ``ignore`` has the ids of ignored rules, each with the author's reason."""

    comment: Comment
    file: str
    ignore: Mapping[str, str] = field(default_factory=_nothing)

    @classmethod
    def of(cls, comment: Comment, file: str, body: Mapping[str, Any], expanded: Expanded) -> Self:
        """Return the spec of a valid comment.

        Args:
            comment: The comment.
            file: The name of the comment's page in findings.
            body: The comment's body with Extended JSON decoded. ``_convert`` turns its keys into fields of the same
                names.
            expanded: The comment's pipeline, with shared lists expanded.
        """
        return _spec_of(cls, comment, file, body, expanded)

    @property
    def quotes(self) -> tuple[QuotingSpec, ...]:
        """The parts of the comment that quote tables."""
        return ()

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return line and column, in the file, of the value at ``path`` or, with ``key``, of its key.

        Paths begin with a top-level key of the comment: ``("pipeline", 3, "$set", "x")``. If the comment has no value
        at ``path``, the place is that of the nearest ancestor.
        """
        document = Document(self.file, self.comment.parsed, self.comment.locate)
        return document.at_key(path) if key else document.at(path)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PipelineSpec(Spec):
    """A comment with a pipeline of its own. Title, caption and headers are plain text.

    Attributes:
        pipeline: The stages, with Extended JSON decoded and shared lists expanded.
        provenance: The value of the key ``provenance``, or None if the comment lacks the key.
        max_age: The maximum age of the newest document in days.
        origins: The place of each stage. It is empty if all stages are in the comment's own pipeline.
        meanings: The meanings of fields that shared lists create.
        pieces: The inline Markdown of title, caption and headers, by path in the comment.
    """

    collection: str
    pipeline: tuple[Stage, ...]
    let: Mapping[str, Any] = field(default_factory=_nothing)
    format: Mapping[str, ColumnFormat] = field(default_factory=_nothing)
    id: str | None = None
    title: str | None = None
    caption: str | None = None
    empty: str | None = None
    provenance: bool | None = None
    max_age: int | None = None
    measured_of: MeasuredOf | None = None
    origins: tuple[Origin, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=_nothing)
    pieces: Mapping[Path, tuple[Piece, ...]] = field(default_factory=_nothing)

    @property
    def has_own_pipeline(self) -> bool:
        """Whether the comment has the key ``pipeline``, instead of keys that become stages (``row_keys``)."""
        if not self.origins:
            return bool(self.pipeline) or "pipeline" in self.comment.parsed.value
        return any(one.path[0] == "pipeline" for one in self.origins)

    def name_stage(self, number: int) -> str:
        """Return the name of a stage in messages: its operator, such as ``$sort``, or its key, such as ``sort``."""
        origin = self.origins[number] if self.origins else None
        return str(origin.path[0] if origin and origin.form == "key" else next(iter(self.pipeline[number])))

    @property
    def shown_columns(self) -> list[tuple[Path, str]]:
        """Return the shown columns, each with its path in the comment."""
        return []

    @property
    def headings(self) -> list[tuple[Path, str, str]]:
        """Return the visible headings of columns: the path in the comment, the column and the text of each."""
        return []

    @property
    def query(self) -> Query:
        """The query for the rows."""
        return Query(self.collection, tuple(self.pipeline), self.let)

    @property
    def source_query(self) -> Query:
        """The query for the source documents of the rows."""
        return source_query(self.collection, self.pipeline, self.let)

    @property
    def dated_query(self) -> Query:
        """The query for the dates of the source documents."""
        return source_query(self.collection, self.pipeline, self.let, dates=True)

    @cached_property
    def key(self) -> str:
        """The key of ``query`` in answers. Storing it takes less memory than storing the ``Query``."""
        return self.query.key

    @cached_property
    def source_key(self) -> str:
        """The key of ``source_query``."""
        return self.source_query.key

    @cached_property
    def joined(self) -> Mapping[str, Query]:
        """The queries for the provenance of documents that ``$lookup`` stages add, by key."""
        return joined_queries(self.collection, self.pipeline, self.let)

    @cached_property
    def is_lasting(self) -> bool:
        """Whether ``query`` returns the same rows as long as no document changes."""
        return is_lasting(self.query)

    def version_query(self, measured: MeasuredOf) -> Query:
        """Return the query for the versions that the source documents were measured on."""
        group = {"$group": {"_id": f"${measured.field}"}}
        return Query(self.collection, (*choice(self.pipeline), group), self.let)

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the place as ``Spec.locate`` does.

        The place of a stage from a key is that of the key. The place of a stage from a shared list is that of the
        list's name, as a ``StandIn`` for the place in the list's file.
        """
        if path[:1] != ("pipeline",):
            return Spec.locate(self, path, key=key)
        at = Spec.locate(self, self._find_written(path), key=key)
        number = path[1] if len(path) > 1 else None
        if not isinstance(number, int) or not 0 <= number < len(self.origins):
            return at
        origin = self.origins[number]
        if (offset := origin.offset(path[2:])) is not None:
            return self.comment.locate(offset_in_string(self.comment.parsed, origin.path, offset))
        written = origin.written
        return StandIn.of(at, written.locate(path[2:], key=key)) if written else at

    def _find_written(self, path: Path) -> Path:
        number = path[1] if len(path) > 1 else None
        if self.origins and isinstance(number, int):
            return self.origins[number].find(path[2:]) if 0 <= number < len(self.origins) else ("pipeline",)
        if self.has_own_pipeline:
            return path
        return self.origins[0].path if self.origins else ("collection",)


def _range_fields(spread: Mapping[str, Sequence[str]], columns: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield the fields of ranges (the key ``spread``) that are no columns, each with its path in the comment."""
    for column, names in spread.items():
        for index, name in enumerate(names):
            if name not in columns:
                yield ("spread", column, index), name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableSpec(PipelineSpec):
    """A ``MONGO_TABLE``.

    Attributes:
        spread: For columns with a range, the fields of the lowest value, the highest value and, optionally, the number
            of repeats.
        totals: For each column with a total, the kind of the total: sum, avg, min, max or count.
        group_rows: The column by which rows are grouped.
        baseline: The value of the key ``baseline``.
    """

    columns: tuple[str, ...]
    headers: tuple[str, ...]
    spread: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    totals: Mapping[str, str] = field(default_factory=_nothing)
    group_rows: str | None = None
    header_groups: tuple[HeaderGroup, ...] = ()
    baseline: Mapping[str, Any] | None = None
    chart: ChartSettings | None = None
    tolerance: Tolerance | None = None

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the place as ``PipelineSpec.locate`` does. The place of a default header is that of its column."""
        if path[:1] == ("headers",) and "headers" not in self.comment.parsed.value:
            path = ("columns", *path[1:])
        if path[:1] == ("columns",) and "field" in self.comment.parsed.value:  # the table of a value
            path = ("field",)
        return PipelineSpec.locate(self, path, key=key)

    @property
    def shown_columns(self) -> list[tuple[Path, str]]:
        """Return the columns, and the fields of ranges, comparisons and links that are no columns."""
        found: list[tuple[Path, str]] = []
        for index, column in enumerate(self.columns):
            found.append((("columns", index), column))
        if self.spread:
            found += _range_fields(self.spread, self.columns)
        if field := (self.baseline or {}).get("comparison"):
            found.append((("baseline", "comparison"), field))
        for column, form in self.format.items():
            for name in fields_of(form.link) if form.link else ():
                if name not in self.columns:
                    found.append((("format", column, "link"), name))
        return found

    def form_of(self, column: str) -> ColumnFormat | None:
        """Return the format of a column. The end of a range has the format of the column with the range."""
        ranged = (self.format.get(shown) for shown, ends in self.spread.items() if column in ends[:2])
        return self.format.get(column) or next(ranged, None)

    @property
    def headings(self) -> list[tuple[Path, str, str]]:
        """Return the headers."""
        named = zip(self.columns, self.headers, strict=True)
        return [(("headers", index), column, header) for index, (column, header) in enumerate(named)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChartSpec(PipelineSpec):
    """A ``MONGO_CHART``.

    Attributes:
        labels: For each column, the label of its axis or its series.
        spread: As in ``TableSpec``.
        sentence: The value whose sentence is the title.
    """

    drawn: ChartSettings
    labels: Mapping[str, str] = field(default_factory=_nothing)
    spread: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    sentence: ValueSpec | None = None

    @classmethod
    def of(cls, comment: Comment, file: str, body: Mapping[str, Any], expanded: Expanded) -> Self:
        """Return the spec as ``Spec.of`` does. If the title is a value, ``sentence`` is its spec."""
        title, drawn = body.get("title"), ChartSettings.of(body)
        made = _spec_of(cls, comment, file, {**body, "drawn": drawn}, expanded)
        if not isinstance(title, Mapping):
            return made
        sentence = ValueSpec.of(comment, file, title, expanded)
        return replace(made, sentence=replace(sentence, within=("title",)))

    @property
    def quotes(self) -> tuple[QuotingSpec, ...]:
        """The value whose sentence is the title."""
        return (self.sentence,) if self.sentence else ()

    @property
    def shown_columns(self) -> list[tuple[Path, str]]:
        """Return the columns of panels, horizontal axis, series, vertical axis and ranges."""
        named = {"facets": self.drawn.facets, "x": self.drawn.x, "series": self.drawn.series}
        naming: list[tuple[Path, str]] = [((key,), column) for key, column in named.items() if column]
        y: list[tuple[Path, str]] = [(("y", index), column) for index, column in enumerate(self.drawn.y)]
        drawn = [*naming, *y]
        return [*drawn, *_range_fields(self.spread, [column for _, column in drawn])]

    @property
    def headings(self) -> list[tuple[Path, str, str]]:
        """Return the labels."""
        return [(("labels", column), column, label) for column, label in self.labels.items()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuotingSpec(Spec):
    """A comment without a pipeline. It quotes the rows of ``table`` that the query ``where`` selects."""

    table: str
    where: Mapping[str, Any] = field(default_factory=_nothing)

    @property
    def quotes(self) -> tuple[QuotingSpec, ...]:
        """The comment itself."""
        return (self,)

    @property
    def queries(self) -> dict[str, Mapping[str, Any]]:
        """Return the queries on the table's rows, by their keys in the comment."""
        return {"where": self.where}

    @property
    def quoted_columns(self) -> tuple[str, ...]:
        """The columns whose values the sentence shows."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueSpec(QuotingSpec):
    """A ``MONGO_VALUE``: the value of ``column`` in the single row of ``table`` that the query ``where`` selects.

    Attributes:
        draw: Whether the interval of a comparison is drawn next to its words.
        tolerance: The tolerance, or None if the tolerance of the table applies.
        url: The template of the address of a link or a picture.
        own: For a value from a collection, a table whose only cell is this value. No page shows this table.
        say: The sentence about a comparison for each verdict.
        per: The field with the amount of data that a request carries, relative to a request of the reference.
        within: The path of the value in its comment: ``("title",)`` for a title, else empty.
    """

    column: str
    format: ColumnFormat | None = None
    draw: bool = False
    tolerance: Tolerance | None = None
    url: str | None = None
    own: TableSpec | None = None
    say: Mapping[str, str] = field(default_factory=_nothing)
    per: str | None = None
    within: Path = ()

    @classmethod
    def of(cls, comment: Comment, file: str, body: Mapping[str, Any], expanded: Expanded) -> Self:
        """Return the spec as ``Spec.of`` does. For a value from a collection, ``own`` is a table with this value."""
        if "field" not in body:
            return _spec_of(cls, comment, file, body, expanded)
        column, collection = body["field"], body["collection"]
        written = {key: body[key] for key in ("collection", "let", "ignore") if key in body}
        formats = {column: body["format"]} if "format" in body else {}
        shown = {**written, "columns": [column], "format": formats}
        own = TableSpec.of(comment, file, shown, expanded)
        # No id in a comment can have a colon.
        own = replace(own, id=f"{collection}:{column}:{own.key}")
        value = {**body, "table": own.id, "column": column}
        return replace(_spec_of(cls, comment, file, {**value, "where": {}}, expanded), own=own)

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the place as ``Spec.locate`` does. For a value from a collection, ``column`` means its ``field``."""
        here = ("field",) if self.own and path == ("column",) else path
        return Spec.locate(self, (*self.within, *here), key=key)

    @property
    def source(self) -> str:
        """The name of the table or the collection in messages."""
        return f"collection `{self.own.collection}`" if self.own else f"table `{self.table}`"

    @property
    def quoted_columns(self) -> tuple[str, ...]:
        """The column of the value, and the fields that its sentences name."""
        if not self.say:
            return (self.column,)
        from mongo_tables.directives.sayings import fields_in  # for few values

        return (self.column, *filter(None, [self.per]), *fields_in(self.say))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckSpec(QuotingSpec):
    """A ``MONGO_CHECK``: ``where`` must select rows of ``table``, and all of these rows must match ``expect``."""

    expect: Mapping[str, Any]
    message: str | None = None

    @property
    def queries(self) -> dict[str, Mapping[str, Any]]:
        """Return the query that selects the rows, and the query that these rows must match."""
        return {"where": self.where, "expect": self.expect}


def may_be_drawn(spec: Spec | None) -> bool:
    """Return whether a comment may have a drawing: whether it is a chart, or a table with the key ``chart``."""
    return isinstance(spec, PipelineSpec) and (not isinstance(spec, TableSpec) or spec.chart is not None)


def _spec_of(
    kind: type[_Kind], comment: Comment, file: str, body: Mapping[str, Any], expanded: Expanded
) -> _Kind:
    """Return the spec as ``Spec.of`` does.

    This is a function, because methods of classes with slots cannot use ``super()``.
    """
    given = {**_convert(body), "comment": comment, "file": file, "meanings": expanded.fields}
    given |= {"pipeline": expanded.stages, "origins": expanded.origins}
    if "headers" in given and expanded.reasons:
        given["format"] = with_reasons(given.get("format", {}), given["columns"], expanded.reasons)
    return kind(**{key: value for key, value in given.items() if key in kind.__dataclass_fields__})


def _convert(body: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(body)
    pieces = found["pieces"] = read_marked(body) if body.get("markdown") else _NOTHING
    for key in ("title", "caption"):
        marked, written = pieces.get((key,)), body.get(key)
        plain = written if isinstance(written, str) else None  # A title of a chart may be a value.
        found[key] = plain if marked is None else plain_text(marked)
    if "column" not in body and ("format" in body or "locale" in body):
        found["format"] = formats_of(body)
    elif "format" in body:
        found["format"] = ColumnFormat.of(body["format"])
    found |= {"max_age": int(body["max_age"])} if "max_age" in body else {}
    if isinstance(body.get("columns"), list):  # In a chart, `columns` is the number of panels.
        # Interning saves memory, because comments of a site share the names of columns.
        found["columns"] = tuple(map(intern, body["columns"]))
        headers = body["headers"] if "headers" in body else column_headers(body["columns"])
        found["headers"] = tuple(map(intern, headers))
        if pieces and "headers" in body:
            texts = enumerate(body["headers"])
            found["headers"] = tuple(plain_text(pieces["headers", at]) or text for at, text in texts)
        if "header_groups" in body:
            found["header_groups"] = header_groups_of(body)
    if "spread" in body:
        found["spread"] = {column: tuple(names) for column, names in body["spread"].items()}
    if "chart" in body:
        found["chart"] = ChartSettings.of(body["chart"])
    if "measured_of" in body:
        written = body["measured_of"]
        found["measured_of"] = MeasuredOf(**(written if isinstance(written, Mapping) else {"file": written}))
    if "tolerance" in body:
        found["tolerance"] = Tolerance.of(body["tolerance"])
    return found


DIRECTIVES: Final[Mapping[str, type[Spec]]] = {
    "table": TableSpec,
    "value": ValueSpec,
    "check": CheckSpec,
    "chart": ChartSpec,
}
"""The specs of every kind of comment, by the name of its JSON Schema."""
