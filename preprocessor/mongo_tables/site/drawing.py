"""The HTML of valid comments: tables, charts and values, with the notes under a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mongo_tables.directives.columns import has_link
from mongo_tables.lint.column_help import column_meanings
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
from mongo_tables.site.statements import shown_value, with_sentence

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec, ValueSpec
    from mongo_tables.render.column import Column
    from mongo_tables.render.provenance_html import ListedRuns
    from mongo_tables.results.model import Rows
    from mongo_tables.results.provenance import Provenance
    from mongo_tables.site.pages import AnswersByKey, Tables

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
        """Return for each row of a figure the address of its first listed run, else of its document, or ""."""
        if spec.provenance is False:
            return []
        told = self.told.get(spec.source_query.key) if rows else None
        anchors = told.runs.behind(rows) if told and told.runs else [""] * len(rows)
        keys = [row.get("_id") for row in rows]
        documents = (self.find(spec.collection, key) if isinstance(key, Mapping) else "" for key in keys)
        return [f"#{anchor}" if anchor else to for anchor, to in zip(anchors, documents, strict=True)]
