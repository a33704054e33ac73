"""The tables of pages as they are with one results source: labels, texts, raw values, how they were measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from preprocessor.pages import Answers, Page
    from preprocessor.results import Query, ResultsSource
    from preprocessor.specs import PipelineSpec, TableSpec

MEASURED_ON = {
    "test": "experiment.name",
    "experiment digest": "experiment.digest",
    "scale": "experiment.scale",
    "server": "versions.server",
    "driver": "versions.driver",
    "harness": "versions.harness",
    "processor": "hardware.cpu",
    "processors": "hardware.cores",
    "memory (GiB)": "hardware.memory_gib",
    "kernel": "hardware.kernel",
    "members": "topology.members",
    "cache (GiB)": "topology.cache_gb",
    "place": "topology.place",
    "instance": "bench_config.atlasInstanceType",
    "write concern": "write_concern.w",
}
"""What of a result document says how it was measured: name → path, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as readers see it and as it came: ``raw`` is its text with no format, None where there is no value."""

    text: str
    raw: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """``label`` names the row; ``number`` tells rows of one label apart, from 1."""

    label: str
    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page. ``line`` is 0 for a built page. ``failed`` says why it can have no rows, if so.

    ``measured``: name → the values that its documents have, as texts, sorted.
    """

    page: str
    line: int
    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    failed: str = ""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def tables_of(pages: Sequence[Page], source: ResultsSource, key: Sequence[str] = ()) -> list[Table]:
    """All tables of the pages, and the values of their charts, with the rows of ``source``.

    Rows are named by the columns ``key`` where a table has all of them, otherwise by its first column. Raises
    ``ResultsError`` when the source cannot be used at all.
    """
    from preprocessor.pages import answer

    answers = answer(pages, source)
    asking = [spec for page in pages for spec in page.asking]
    told = {query.key: query for query in map(_measured_query, asking)}
    measured = {key: _measured(query, source) for key, query in told.items()}
    return [_table(spec, answers, measured[_measured_query(spec).key], key) for spec in asking]


def labelled(keys: Sequence[str], cells: Sequence[tuple[Cell, ...]]) -> tuple[Row, ...]:
    """Rows with their labels, those of equal labels numbered in their order."""
    met: Counter[str] = Counter()
    rows = []
    for label, own in zip(keys, cells, strict=True):
        met[label] += 1
        rows.append(Row(label, met[label], own))
    return tuple(rows)


def _table(
    spec: PipelineSpec, answers: Answers, measured: Mapping[str, tuple[str, ...]], key: Sequence[str]
) -> Table:
    from preprocessor.pages import query_of
    from preprocessor.render.chartdata import as_table
    from preprocessor.results import ResultsError
    from preprocessor.specs import ChartSpec, TableSpec

    table = as_table(spec) if isinstance(spec, ChartSpec) else spec
    assert isinstance(table, TableSpec)
    name = spec.id or spec.title or spec.caption or f"{spec.comment.keyword} in line {spec.comment.line}"
    place = (spec.file, spec.comment.line, name)
    rows = answers[query_of(spec).key]
    if isinstance(rows, ResultsError):
        return Table(*place, table.headers, (), failed=rows.message)
    headers, cells, keys = _cells(table, rows, key)
    return Table(*place, headers, labelled(keys, cells), measured=measured)


def _cells(
    table: TableSpec, rows: Sequence[Mapping[str, Any]], key: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]], list[str]]:
    from preprocessor.aggregation.values import MISSING
    from preprocessor.render.columns import columns_of
    from preprocessor.render.headers import with_unit
    from preprocessor.render.values import raw_text

    columns = columns_of(table, rows)
    raws = [
        [None if value is None or value is MISSING else raw_text(value) for value in one.values]
        for one in columns
    ]
    cells = [
        tuple(Cell(one.texts[row], raw[row]) for one, raw in zip(columns, raws, strict=True))
        for row in range(len(rows))
    ]
    at = [table.columns.index(name) for name in key] if set(key) <= set(table.columns) else []
    keys = [", ".join(row[number].text for number in at or [0]) for row in cells]
    return tuple(with_unit(one.header, one.unit) for one in columns), cells, keys


def _measured_query(spec: PipelineSpec) -> Query:
    """How the documents were measured that a pipeline begins with; pipelines that begin alike ask the same."""
    from preprocessor.provenance import choice
    from preprocessor.results import Query

    grouped = {str(number): f"${path}" for number, path in enumerate(MEASURED_ON.values())}
    return Query(spec.collection, (*choice(spec.pipeline), {"$group": {"_id": grouped}}), spec.let)


def _measured(query: Query, source: ResultsSource) -> dict[str, tuple[str, ...]]:
    from preprocessor.render.values import raw_text
    from preprocessor.results import ResultsError

    try:
        found = source.aggregate(query)
    except ResultsError:
        return {}  # What keeps the table from its rows is told there.
    values = {
        name: {raw_text(one["_id"][str(number)]) for one in found if one["_id"].get(str(number)) is not None}
        for number, name in enumerate(MEASURED_ON)
    }
    return {name: tuple(sorted(texts)) for name, texts in values.items() if texts}
