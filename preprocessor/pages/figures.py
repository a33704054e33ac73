"""The HTML of what a comment asks for, faults included: the same for every kind of site."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from preprocessor.lint.columnhelp import column_meanings
from preprocessor.lint.suppressions import without_silenced
from preprocessor.pages.faultboxes import by_comment, fault_box, fault_in_sentence
from preprocessor.pages.ids import written_ids
from preprocessor.pages.statements import value_and_text
from preprocessor.render.anchors import with_anchors
from preprocessor.render.chartdata import as_table
from preprocessor.render.columns import columns_of
from preprocessor.render.downloads import csv_text, json_text
from preprocessor.render.html import html_chart, html_table
from preprocessor.render.provenanceblock import ProvenanceBlock, provenance_html
from preprocessor.render.runs import MOST_RUNS, listed_runs
from preprocessor.render.text import text_html
from preprocessor.render.values import raw_text
from preprocessor.specs.model import ChartSpec, CheckSpec, PipelineSpec, TableSpec, ValueSpec
from preprocessor.specs.together import unknown_tables

if TYPE_CHECKING:
    from preprocessor.comments.model import Comment
    from preprocessor.findings.finding import Finding
    from preprocessor.pages.build import Build
    from preprocessor.pages.model import Page
    from preprocessor.render.column import Column
    from preprocessor.render.runs import ListedRuns
    from preprocessor.results.model import Rows
    from preprocessor.results.provenance import Provenance
    from preprocessor.specs.model import Spec

Place = Callable[[str, str], str]
"""Puts a file (its name, its text) where readers of the page reach it; gives the address, "" where it cannot."""

Find = Callable[[str, Any], str]
"""Where readers of the page reach a result document, by its collection and its ``_id``; "" where they cannot."""


def figures_of(page: Page, build: Build, place: Place, find: Find = lambda collection, key: "") -> list[str]:
    """One piece of HTML for each comment of the page: what it asks for, or a box with what is wrong.

    The rows of its figures go to ``place`` as files; ``find`` tells where the documents behind them are.
    """
    here = build.within(page)
    below = _Below(here, place, find, {})
    errors = _errors_by_comment(page)
    made = zip(page.comments, page.specs, with_anchors(page.specs), errors, strict=True)
    return [
        _figure(comment, spec, anchored, below)
        if spec is not None and isinstance(anchored, PipelineSpec)
        else _spoken(comment, spec, page, here, found)
        for comment, spec, anchored, found in made
    ]


def spoken_figures(page: Page, build: Build, about: Container[str]) -> dict[int, str]:
    """The HTML of the values and statements ``about`` some tables, by the index of their comments."""
    here = build.within(page)
    return {
        index: _spoken(comment, spec, page, here, [])
        for index, (comment, spec) in enumerate(zip(page.comments, page.specs, strict=True))
        if isinstance(spec, ValueSpec | CheckSpec) and spec.table in about
    }


@dataclass(frozen=True, slots=True)
class _Told:
    """The first figure of a page for a source of rows: its anchor, and the runs that it lists, if it does."""

    anchor: str
    runs: ListedRuns | None


@dataclass(frozen=True, slots=True)
class _Below:
    """What stands under the figures of a page; ``told`` has the first figure for each source of rows."""

    build: Build
    place: Place
    find: Find
    told: dict[str, _Told]

    def html(self, spec: PipelineSpec, table: TableSpec, rows: Rows, columns: Sequence[Column]) -> str:
        """The HTML under one figure, whose rows as a table are ``table``; none where the author wants none."""
        if spec.provenance is False or not rows:
            return ""
        source = self.build.provenance(spec)
        name = spec.id or "rows"
        links = {
            "CSV": self.place(f"{name}.csv", csv_text(table, rows, columns)),
            "JSON": self.place(f"{name}.json", json_text(table, rows, source)),
        }
        given = {kind: to for kind, to in links.items() if to}
        if (first := self.told.get(spec.source_query.key)) is not None:
            return provenance_html(table, ProvenanceBlock(source, given, runs_at=first.anchor))
        runs = self._listed(table, source)
        self.told[spec.source_query.key] = _Told(name, runs)
        return provenance_html(table, ProvenanceBlock(source, given, runs))

    def _listed(self, table: TableSpec, source: Provenance | None) -> ListedRuns | None:
        if source is None or not 0 < len(source.runs) <= MOST_RUNS:
            return None
        return listed_runs(table, source.runs, lambda key: self.find(table.collection, key))

    def behind(self, spec: PipelineSpec, rows: Rows) -> list[str]:
        """For each row of a figure whose HTML is made the anchor of the first run behind it, "" where none is known."""
        told = None if spec.provenance is False or not rows else self.told.get(spec.source_query.key)
        return told.runs.behind(rows) if told and told.runs else []


def loose_findings(page: Page) -> Sequence[Finding]:
    """Errors of reading the page that no comment's box shows, such as those of a shared pipeline's file."""
    errors = _errors(page.findings)
    boxed = {each for found in _errors_by_comment(page) for each in found} if errors else set()
    return [each for each in errors if each not in boxed]


def _errors_by_comment(page: Page) -> list[list[Finding]]:
    if page.owned:
        return [_errors(found) for found in page.owned]
    return by_comment(page.comments, _errors(page.findings))


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity == "error"]


def _figure(comment: Comment, spec: Spec, anchored: PipelineSpec, below: _Below) -> str:
    faults = _box_for(comment)(_faults(spec, below.build))
    return "\n".join(part for part in (faults, _drawing(anchored, below)) if part)


def _spoken(comment: Comment, spec: Spec | None, page: Page, build: Build, errors: Sequence[Finding]) -> str:
    found = errors if spec is None else _faults(spec, build, _unknown_table(spec, page, build))
    return _box_for(comment)(found) or (_value(spec, build) if isinstance(spec, ValueSpec) else "")


def _box_for(comment: Comment) -> Callable[[Iterable[Finding]], str]:
    return fault_in_sentence if comment.keyword in ("MONGO_VALUE", "MONGO_CHECK") else fault_box


def _faults(spec: Spec, build: Build, others: Iterable[Finding] = ()) -> list[Finding]:
    """The errors of a sound comment that its rows bring to light, and others, without those that it ignores."""
    found = _errors([*others, *build.judge(spec)])
    if not (found and spec.ignore):
        return found
    return without_silenced(found, [spec])


def _unknown_table(spec: Spec, page: Page, build: Build) -> list[Finding]:
    if not isinstance(spec, ValueSpec | CheckSpec) or spec.table in build.tables:
        return []
    return unknown_tables([spec], [name for each in (page, *build.pages) for name in written_ids(each)])


def _drawing(spec: PipelineSpec, below: _Below) -> str:
    rows = below.build.answers[spec.query.key]
    if isinstance(rows, Exception):
        return ""
    if isinstance(spec, ChartSpec):
        table = replace(as_table(spec), id=spec.id)
        return html_chart(spec, rows, notes=below.html(spec, table, rows, columns_of(table, rows)))
    if not isinstance(spec, TableSpec):
        return ""
    source = below.build.provenance(spec) if rows else None
    meanings = column_meanings(spec) if source and source.results else {}
    columns = columns_of(spec, rows)
    notes = below.html(spec, spec, rows, columns)
    behind = below.behind(spec, rows)
    return html_table(spec, rows, notes=notes, meanings=meanings, columns=columns, behind=behind)


def _value(spec: ValueSpec, build: Build) -> str:
    found = value_and_text(spec, build.tables, build.answers)
    if found is None:
        name = f"<code>{text_html(spec.table)}</code>"
        return f'<span class="mongo-table-fault" role="alert">no value: table {name} has a fault</span>'
    value, text = found
    raw = "" if value is None else f' data-v="{text_html(raw_text(value))}"'
    return f'<span class="mongo-value"{raw}>{text_html(text)}</span>'
