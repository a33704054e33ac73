"""The tables of pages as they are with one results source: labels, texts, raw values, how they were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.specs import ChartSpec
from mongo_tables.lint.rules_rows import find_naming_columns
from mongo_tables.render.charts.plot import as_table
from mongo_tables.render.columns import columns_of
from mongo_tables.render.fewdigits import with_few_digits
from mongo_tables.render.values import raw_text
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.provenance import choice
from mongo_tables.results.told import COMPARED

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec, TableSpec
    from mongo_tables.results.model import Rows
    from mongo_tables.site.checks import Source
    from mongo_tables.site.pages import Answers
    from mongo_tables.site.site import Site


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as readers see it and as it came: ``raw`` is its text with no format, None where there is no value."""

    text: str
    raw: str | None


Cells = tuple[Cell, ...]
"""A row."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page. ``line`` is 0 for a built page. ``failed`` says why it can have no rows, if so.

    ``naming``: the numbers of the columns that can name a row, all of which do where they are ``stated``.
    ``measured``: name → the values that its documents have, as texts, sorted.
    """

    page: str
    line: int
    name: str
    columns: tuple[str, ...]
    rows: tuple[Cells, ...]
    naming: tuple[int, ...] = (0,)
    stated: bool = False
    failed: str = ""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def tables_of(
    sites: Sequence[Site], source: Source, key: Sequence[str] = (), *, needs_results: bool = True
) -> list[Table]:
    """All tables of the pages of sites, and the values of their charts.

    Rows are named by the columns ``key`` where a table has all of them. Raises ``ResultsError`` when the source cannot
    be used at all; where that need not be (``needs_results``), the tables have failed instead.
    """
    specs = [spec for site in sites for page in site.named for spec in page.pipeline_specs]
    asking = [(spec, _build_measurement_query(spec)) for spec in specs]
    answers = source.answer([*(spec.query for spec in specs), *(query for _, query in asking)])
    if needs_results and answers.unreachable:
        raise answers.unreachable
    return [_table(spec, answers.by_key, query, key) for spec, query in asking]


def _table(spec: PipelineSpec, answers: Answers, measured: Query, key: Sequence[str]) -> Table:
    rows = answers[spec.query.key]
    table = as_table(spec if isinstance(rows, ResultsError) else with_few_digits(spec, rows))
    name = spec.id or spec.title or spec.caption or f"{spec.comment.keyword} in line {spec.comment.line}"
    place = (spec.file, spec.comment.line, name)
    if isinstance(rows, ResultsError):
        return Table(*place, table.headers, (), failed=rows.message)
    headers, cells = _cells(table, rows)
    stated = tuple(key) if key and set(key) <= set(table.columns) else _of_chart(spec)
    naming = [table.columns.index(name) for name in stated or find_naming_columns(table, rows)]
    return Table(
        *place,
        headers,
        cells,
        tuple(naming),
        bool(stated),
        measured=_list_measurements(answers[measured.key]),
    )


def _of_chart(spec: PipelineSpec) -> tuple[str, ...]:
    """What names a point of a chart: its panel, its place on the horizontal axis, and its series."""
    return spec.drawn.naming_columns if isinstance(spec, ChartSpec) else ()


def _cells(table: TableSpec, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[Cells, ...]]:
    columns = columns_of(table, rows)
    raws = [
        [None if value is None or value is MISSING else raw_text(value) for value in one.values]
        for one in columns
    ]
    cells = tuple(
        tuple(Cell(one.texts[row], raw[row]) for one, raw in zip(columns, raws, strict=True))
        for row in range(len(rows))
    )
    return tuple(one.shown_header for one in columns), cells


def _build_measurement_query(spec: PipelineSpec) -> Query:
    """How the documents were measured that a pipeline begins with; pipelines that begin alike ask the same."""
    grouped = {str(number): f"${path}" for number, path in enumerate(COMPARED.values())}
    return Query(spec.collection, (*choice(spec.pipeline), {"$group": {"_id": grouped}}), spec.let)


def _list_measurements(found: Rows | ResultsError) -> dict[str, tuple[str, ...]]:
    if isinstance(found, ResultsError):
        return {}  # What keeps the table from its rows is told there.
    values = {
        name: {text for one in found for text in _texts(one["_id"].get(str(number)))}
        for number, name in enumerate(COMPARED)
    }
    return {name: tuple(sorted(texts)) for name, texts in values.items() if texts}


def _texts(value: Any) -> list[str]:
    """The value as it is shown; of what each member of a deployment has, each value."""
    return [raw_text(one) for one in (value if isinstance(value, list) else [value]) if one is not None]
