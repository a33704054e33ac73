"""The tables of one side of a comparison as plain data. A side is a results source, or a checkout."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import chdir, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from mongo_tables.aggregation.values import MISSING
from mongo_tables.build import Report, build
from mongo_tables.commands.pages import build_pages
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec
from mongo_tables.findings.usage import CommandError
from mongo_tables.lint.row_rules import find_naming_columns
from mongo_tables.render.charts.plot import as_table
from mongo_tables.render.columns import columns_of, with_few_digits
from mongo_tables.render.values import raw_text
from mongo_tables.results.answers import Answers
from mongo_tables.results.model import Query, ResultsError, Rows
from mongo_tables.results.provenance import COMPARED, choice
from mongo_tables.results.revisions import is_revision, names_commit, on_disk
from mongo_tables.site.disk import Request, page_folders, read_snapshots
from mongo_tables.site.pages import AnswersByKey
from mongo_tables.site.site_config import fill_in, has_site_file

Kind = Literal["results source", "checkout"]

_WHOLE: Final = ":."
"""The end of ``REVISION:.``, which names all files of a revision below the current folder."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell: the text that readers see, and the text without a format, or None if there is no value."""

    text: str
    raw: str | None


ShownCells = tuple[ShownCell, ...]
"""A row."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of a page.

    Attributes:
        naming: The numbers of the columns that can identify a row.
        stated: Whether all columns of ``naming`` together identify a row, as in a chart. Otherwise, some may suffice.
        failed: The reason why the table has no rows, or "".
        measured: The conditions of the measurement, each with its sorted values in the documents.
    """

    page: str
    line: int
    name: str
    columns: tuple[str, ...]
    rows: tuple[ShownCells, ...]
    naming: tuple[int, ...] = (0,)
    stated: bool = False
    failed: str = ""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_sides(arguments: Namespace) -> tuple[list[PageTable], list[PageTable]]:
    """Read the tables of OLD and of NEW. Raises CommandError and ResultsError if they cannot be compared."""
    if not (arguments.old.strip() and arguments.new.strip()):
        raise CommandError("OLD or NEW is empty: each names a results source or a checkout")
    before_named = _with_path(arguments.old, arguments.new)
    after_named = _with_path(arguments.new, arguments.old)
    with on_disk(before_named) as before, on_disk(after_named) as after:
        kind = _require_one_kind(arguments, (_kind(before), _kind(after)))
        if kind == "checkout":
            old = read_checkout(Path(before), arguments, needs_results=False)
            return old, read_checkout(Path(after), arguments)
        return _read_pages(before, arguments), _read_pages(after, arguments)


def _with_path(named: str, other: str) -> str:
    """Return ``REVISION:PATH`` for a revision without a path, and other texts unchanged.

    PATH is the path of the other side if it exists here. Otherwise, it is ``.`` if the working folder has the file of a
    site, and ``fixtures`` if not.
    """
    # A text with ~ or ^ may be a mistyped revision: Git then says what is wrong.
    if ":" in named or not (names_commit(named) or {"~", "^"} & set(named)):
        return named
    beside = other.partition(":")[2] if is_revision(other) else other
    here = "." if has_site_file(Path()) else "fixtures"
    return f"{named}:{beside if Path(beside).exists() else here}"


def _kind(named: str) -> Kind:
    if "://" in named:
        return "results source"
    # A results source never contains the file of a site.
    return "checkout" if has_site_file(Path(named)) else "results source"


def _require_one_kind(arguments: Namespace, kinds: tuple[Kind, Kind]) -> Kind:
    """Return the kind of both sides. A revision is a checkout even if it does not have the site's file yet."""
    if kinds[0] == kinds[1]:
        return kinds[0]
    if kinds[1] == "checkout" and arguments.old.endswith(_WHOLE):
        return "checkout"
    raise CommandError(
        "one side is a checkout, and the other is not", "give two checkouts, or two results sources"
    )


# -- pages with a results source --


def _read_pages(named: str, arguments: Namespace) -> list[PageTable]:
    paths = arguments.pages or page_folders(arguments.site)
    with closing(Answers(named, arguments.limits)) as source:
        source.source.reach()
        return _make_tables(build_pages(paths, arguments, source), source)


def read_checkout(folder: Path, asked: Namespace, *, needs_results: bool = True) -> list[PageTable]:
    """Read the tables of the pages in ``folder``, with the folder's own results and shared pipelines.

    ``asked`` has the options of ``diff``: ``pages`` and ``config_file``, relative to the folder, and ``limit``. Missing
    pages are skipped. Raises CommandError for an absolute ``config_file`` and, unless ``needs_results`` is false,
    ResultsError for an unusable results source.
    """
    if asked.config_file and Path(asked.config_file).is_absolute():
        raise CommandError(
            f"{asked.config_file} is an absolute path, which can be in only one of the checkouts",
            "write the path relative to the root of a checkout",
        )
    with chdir(folder):
        if asked.config_file and not Path(asked.config_file).is_file():
            return []
        site = Namespace(config_file=asked.config_file, pipelines=None, limit=asked.limit, results=None)
        fill_in(site)
        there = [path for path in asked.pages or page_folders(site.site) if Path(path).exists()]
        read = read_snapshots(there, Request(site.site, site.pipelines, site.results, site.limits))
        with closing(Answers(site.results, site.limits)) as source:
            reports = [build(snapshot, source) for snapshot in read.snapshots]
            return _make_tables(reports, source, needs_results=needs_results)


def _make_tables(
    reports: Sequence[Report], source: Answers, *, needs_results: bool = True
) -> list[PageTable]:
    """Return the tables of the pages, and the values of their charts as tables."""
    specs = [spec for report in reports for page in report.site.named for spec in page.pipeline_specs]
    # Pipelines that choose the same documents share this query for the conditions of the measurement.
    grouped = {"$group": {"_id": {str(number): f"${path}" for number, path in enumerate(COMPARED.values())}}}
    measured = [Query(spec.collection, (*choice(spec.pipeline), grouped), spec.let) for spec in specs]
    answers = source.answer({spec.key: spec.query for spec in specs} | {one.key: one for one in measured})
    if needs_results and answers.unreachable:
        raise answers.unreachable
    return [_make_table(spec, answers.by_key, query) for spec, query in zip(specs, measured, strict=True)]


def _make_table(spec: PipelineSpec, answers: AnswersByKey, measured: Query) -> PageTable:
    rows = answers[spec.key]
    table = as_table(spec if isinstance(rows, ResultsError) else with_few_digits(spec, rows))
    name = spec.id or spec.title or spec.caption or f"{spec.comment.keyword} in line {spec.comment.line}"
    place = (spec.file, spec.comment.line, name)
    if isinstance(rows, ResultsError):
        return PageTable(*place, table.headers, (), failed=rows.message)
    # A point of a chart is identified by its panel, its horizontal position and its series.
    stated = spec.drawn.naming_columns if isinstance(spec, ChartSpec) else ()
    naming = [table.columns.index(name) for name in stated or find_naming_columns(table, rows)]
    headers, cells = _format_cells(table, rows)
    groups = answers[measured.key]
    found = {} if isinstance(groups, ResultsError) else _list_measurements(groups)
    return PageTable(*place, headers, cells, tuple(naming), bool(stated), measured=found)


def _format_cells(
    table: TableSpec, rows: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, ...], tuple[ShownCells, ...]]:
    columns = columns_of(table, rows)
    by_column = [
        [
            ShownCell(text, None if value is None or value is MISSING else raw_text(value))
            for text, value in zip(one.texts, one.values, strict=True)
        ]
        for one in columns
    ]
    return tuple(one.shown_header for one in columns), tuple(zip(*by_column, strict=True))


def _list_measurements(groups: Rows) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for number, name in enumerate(COMPARED):
        values = [one["_id"].get(str(number)) for one in groups]
        # Each member of a deployment may have a different value.
        single = [one for value in values for one in (value if isinstance(value, list) else [value])]
        if texts := {raw_text(one) for one in single if one is not None}:
            found[name] = tuple(sorted(texts))
    return found
