"""What comments ask for, as plain data: the specs of tables, charts, values and statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from preprocessor.comments.model import Comment
from preprocessor.jsontext.document import nearest
from preprocessor.jsontext.model import Path
from preprocessor.jsontext.parsing import parse
from preprocessor.results.model import Query
from preprocessor.results.provenance import source_query
from preprocessor.specs.sharedpipelines import Stage

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    pass


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
        return Query(self.collection, tuple(self.pipeline), self.let)

    @cached_property
    def source_query(self) -> Query:
        """What it asks about the documents that it starts from."""
        return source_query(self.collection, self.pipeline, self.let)

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


@lru_cache(maxsize=32)
def _positions(body: str) -> tuple[dict[Path, int], dict[Path, int]]:
    parsed = parse(body)
    return parsed.positions, parsed.key_positions


def _locate(comment: Comment, path: Path, key: bool) -> tuple[int, int]:
    values, keys = _positions(comment.body)
    offset = keys.get(path) if key else None
    return comment.locate(nearest(values, path) if offset is None else offset)


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
