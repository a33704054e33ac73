"""The HTML of valid comments: tables, charts and values, with the notes under a figure.

Drawings of a page on a code host: SVG files in the page's folder, one for each chart with rows.

A file is named ``PAGE.ID.svg``: the page's name without suffix, then the chart's anchor. If the page is a
link, its drawings are in the folder of the file that the link leads to, under that file's name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.directives.columns import has_link
from mongo_tables.directives.specs import PipelineSpec, TableSpec, may_be_drawn
from mongo_tables.findings.rules import finding
from mongo_tables.lint.column_help import column_meanings
from mongo_tables.render.charts.drawing import is_as_written, is_marked, with_plain_ends
from mongo_tables.render.columns import columns_of, with_few_digits
from mongo_tables.render.conclusions import interval_picture
from mongo_tables.render.downloads import csv_text, csvw_text, json_text
from mongo_tables.render.html import html_chart, html_table
from mongo_tables.render.markup import inline_html, link_html, text_html, with_minus_signs
from mongo_tables.render.provenance_html import (
    MOST_LINES,
    ProvenanceBlock,
    lines_of,
    list_runs,
    provenance_html,
)
from mongo_tables.render.values import is_number, raw_text
from mongo_tables.results.model import ResultsError
from mongo_tables.site.snapshot import WrittenFile
from mongo_tables.site.statements import shown_value, with_sentence

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec, ValueSpec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.render.charts.drawing import Drawing
    from mongo_tables.render.column import Column
    from mongo_tables.render.provenance_html import ListedRuns
    from mongo_tables.results.model import Rows
    from mongo_tables.results.provenance import Provenance
    from mongo_tables.site.pages import AnswersByKey, Page, Tables

Place = Callable[[str, str], str]
"""Publishes a file (name, text) for readers of the page; returns its address, or "" if it cannot."""

Find = Callable[[str, Any], str]
"""Returns the address of a result document by collection and ``_id``, or "" if readers cannot reach it."""


@dataclass(frozen=True, slots=True)
class _Told:
    """The first figure of a page for a source of rows: its anchor, and the runs that it lists, if any."""

    anchor: str
    runs: ListedRuns | None


@dataclass(frozen=True, slots=True)
class FigureContext:
    """The inputs of drawing a page's figures.

    ``described``: a description of each CSV is published beside it. ``told`` has the first figure for each source of
    rows.
    """

    answers: AnswersByKey
    tables: Tables
    provenance: Callable[[PipelineSpec], Provenance | None]
    place: Place
    find: Find
    described: bool = False
    told: dict[str, _Told] = field(default_factory=dict)

    def draw_table(self, spec: TableSpec) -> str:
        """Return the HTML of a table with its notes, or "" if its pipeline failed."""
        rows = self.answers[spec.query.key]
        if isinstance(rows, ResultsError):
            return ""
        spec = with_few_digits(spec, rows)
        source = self.provenance(spec) if rows else None
        of_results = column_meanings(spec) if source and source.results else {}
        meanings = {**of_results, **spec.meanings}
        columns = columns_of(spec, rows)
        notes = self._notes(spec, spec, rows, columns, meanings)
        behind = self._behind(spec, rows)
        return html_table(spec, rows, notes=notes, meanings=meanings, columns=columns, behind=behind)

    def draw_chart(self, spec: ChartSpec) -> str:
        """Return the HTML of a chart with its notes, or "" if its pipeline failed."""
        rows = self.answers[spec.query.key]
        if isinstance(rows, ResultsError):
            return ""
        from mongo_tables.render.charts.plot import as_table

        spec = with_few_digits(with_sentence(spec, self.tables, self.answers), rows)
        table = replace(as_table(spec), id=spec.id)
        return html_chart(
            spec, rows, notes=self._notes(spec, table, rows, columns_of(table, rows), spec.meanings)
        )

    def draw_value(self, spec: ValueSpec) -> str:
        """Return the HTML of a value within a sentence."""
        found = shown_value(spec, self.tables, self.answers)
        if found is None:
            kind, name = ("collection", spec.own.collection) if spec.own else ("table", spec.table)
            told = f"no value: {kind} <code>{text_html(name)}</code> has a fault"
            return f'<span class="mongo-table-fault" role="alert">{told}</span>'
        value, text, pieces, to, address, one = found
        raw = "" if value is None else f' data-v="{text_html(raw_text(value))}"'
        picture = interval_picture(one) if one and spec.draw else ""
        shown = with_minus_signs(text) if one or is_number(value) else text
        inner = inline_html(pieces) if pieces else text_html(shown)
        if address:
            inner = f'<img src="{text_html(address)}" alt="{inner}">'
        inner = inner if has_link(pieces) else link_html(to, inner)
        html = f'<span class="mongo-value"{raw}>{inner}</span>'
        return f'<span class="mongo-beside">{html}&nbsp;{picture}</span>' if picture else html

    def _notes(
        self,
        spec: PipelineSpec,
        table: TableSpec,
        rows: Rows,
        columns: Sequence[Column],
        meanings: Mapping[str, str],
    ) -> str:
        """Return the HTML of the notes under a figure, or "" if the author switched them off.

        ``table`` is the figure's rows as a table, ``meanings`` explains its columns by name.
        """
        if spec.provenance is False or not rows:
            return ""
        source = self.provenance(spec)
        name = spec.id or "rows"
        links = {
            "CSV": self.place(f"{name}.csv", csv_text(table, rows, columns)),
            "JSON": self.place(f"{name}.json", json_text(table, rows, source)),
        }
        if self.described:  # The name by which CSV on the Web finds it.
            url = links["CSV"].rpartition("/")[2]
            self.place(f"{name}.csv-metadata.json", csvw_text(table, rows, columns, meanings, url))
        given = {kind: to for kind, to in links.items() if to}
        first = self.told.get(spec.source_query.key)
        if first is None:
            first = self.told[spec.source_query.key] = _Told(name, self._list_runs(table, source))
            return provenance_html(table, ProvenanceBlock(source, given, first.runs))
        runs_at = first.anchor if first.runs else None
        return provenance_html(table, ProvenanceBlock(source, given, runs_at=runs_at))

    def _list_runs(self, table: TableSpec, source: Provenance | None) -> ListedRuns | None:
        lines = lines_of(source.runs) if source else []
        if not 0 < len(lines) <= MOST_LINES:
            return None
        return list_runs(table, lines, lambda key: self.find(table.collection, key))

    def _behind(self, spec: PipelineSpec, rows: Rows) -> list[str]:
        """Return for each row of a figure the anchor of the first run behind it, or "" if none is known."""
        told = None if spec.provenance is False or not rows else self.told.get(spec.source_query.key)
        return told.runs.behind(rows) if told and told.runs else []


_ENDING: Final = ".svg"


class DrawnFile(NamedTuple):
    """The drawing of a chart: its file's path and content, its text alternative, and the Markdown that shows it."""

    spec: PipelineSpec
    path: Path
    text: str
    words: str
    markdown: str


def draw_files(
    page: Page, file: Path, answers: AnswersByKey, tables: Tables, address_of: Callable[[Path], str]
) -> list[DrawnFile]:
    """Return the drawings of the valid charts with rows of the page at ``file``, in order."""
    from mongo_tables.render.charts.drawing import chart_file, draw_chart
    from mongo_tables.render.charts.plot import plot_of
    from mongo_tables.render.columns import with_few_digits
    from mongo_tables.render.markup import with_anchors  # not needed on pages without charts
    from mongo_tables.render.pipe_table import image
    from mongo_tables.site.statements import with_sentence

    found = []
    for spec, anchored in zip(page.specs, with_anchors(page.specs), strict=True):
        rows = answers.get(spec.query.key) if isinstance(spec, PipelineSpec) else None
        if not isinstance(spec, PipelineSpec) or not isinstance(anchored, PipelineSpec):
            continue
        if not isinstance(rows, list) or not rows:
            continue
        titled = with_sentence(spec, tables, answers)
        if (plot := plot_of(with_few_digits(titled, rows))) is None:
            continue
        path, drawing = file.with_name(f"{file.stem}.{anchored.id}{_ENDING}"), draw_chart(plot, rows)
        words = _say_in_words(titled, drawing)
        found.append(DrawnFile(spec, path, chart_file(drawing), words, image(words, address_of(path))))
    return found


def _say_in_words(spec: PipelineSpec, drawing: Drawing) -> str:
    """Return the alternative text of a drawing: its name, and its content if no table under it shows that."""
    if isinstance(spec, TableSpec):
        return drawing.name
    titled = spec.title or spec.caption
    return f"{drawing.name.rstrip('.')}. {drawing.description}" if titled else drawing.description


Files = Mapping[Path, WrittenFile]
"""The files on disk in the folders of pages, by path."""


def judge_file(one: DrawnFile, file: str, files: Files) -> Finding | None:
    """Return the finding about the file of a drawing, or None if the file is up to date.

    MT168 and MT164 report another file, or a hand-edited one, in the drawing's place; MT166 reports a missing
    or outdated drawing. ``file`` is the page that findings name.
    """
    name, at = one.path.name, (one.spec.comment.line, one.spec.comment.column)
    found = files.get(one.path, WrittenFile(None))
    if found.obstacle:
        message = f"`{name}`, where the drawing of this chart belongs, {found.obstacle}"
        return finding("MT168", file, at, message, "move it away, or give the chart another `id`")
    if found.text is not None and not is_as_written(found.text):
        message = f"the drawing of this chart, `{name}`, was edited by hand"
        return finding("MT164", file, at, message, "undo the edit; --force overwrites the drawing")
    if found.text != one.text:
        is_what = "is not there" if found.text is None else "is not what its pipeline gives now"
        message = f"the drawing of this chart, `{name}`, {is_what}"
        return finding("MT166", file, at, message, f"run `mongo-tables render --in-place {file}`")
    return None


def orphan_findings(page: Page, path: Path, files: Files) -> list[Finding]:
    """Return MT169 for drawings named after a page that none of its charts uses any more.

    The comments decide: a chart without a drawing today, as its results cannot be read, keeps the one it has.
    """
    from mongo_tables.render.markup import with_anchors  # not needed on pages without drawings

    named = [
        each
        for each, found in files.items()
        if found.text is not None and each.parent == path.parent and is_called_after(each.name, path)
    ]
    if not named or None in page.specs:  # A faulty comment may be the one of the chart.
        return []
    charts = [spec for spec in with_anchors(page.specs) if may_be_drawn(spec)]
    own = {f"{path.stem}.{spec.id}{_ENDING}" for spec in charts if isinstance(spec, PipelineSpec)}
    message = "no chart of this page is drawn into `{}` any more"
    orphans = sorted(each.name for each in named if each.name not in own)
    return [finding("MT169", page.file, (0, 0), message.format(name), "remove it") for name in orphans]


def is_called_after(name: str, page: Path) -> bool:
    """Return whether a file in the folder of a page has a name that a drawing of this page would have."""
    start = f"{page.stem}."
    inner = name[len(start) : -len(_ENDING)]
    return name.startswith(start) and name.endswith(_ENDING) and "." not in inner


def read_drawings(page: Path) -> dict[Path, WrittenFile]:
    """Read the files in a page's folder that are named like its drawings."""
    try:
        names = sorted(entry.name for entry in os.scandir(page.parent))
    except OSError:
        return {}  # Reading the page reports the error.
    return {
        page.with_name(name): _read(page.with_name(name)) for name in names if is_called_after(name, page)
    }


def _read(path: Path) -> WrittenFile:
    """Return our drawing at a path, or the reason why the file is not ours."""
    try:
        if path.is_symlink():
            return WrittenFile(None, "is a link")
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return WrittenFile(None, f"cannot be read: {error.strerror}")
    return WrittenFile(with_plain_ends(text)) if is_marked(text) else WrittenFile(None, "is another file")
