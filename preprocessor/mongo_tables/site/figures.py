"""The figures of a page as HTML: tables, charts and values with their notes, or a box with faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import has_link
from mongo_tables.directives.keywords import place_of
from mongo_tables.directives.references import unknown_tables
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec, ValueSpec
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.rules import finding
from mongo_tables.lint.column_help import column_meanings
from mongo_tables.lint.linter import without_silenced
from mongo_tables.render.charts.plot import as_table
from mongo_tables.render.columns import columns_of, with_few_digits
from mongo_tables.render.conclusions import interval_picture
from mongo_tables.render.downloads import csv_text, csvw_text, json_text
from mongo_tables.render.html import figure_html
from mongo_tables.render.markup import inline_html, link_html, text_html, typeset, with_anchors
from mongo_tables.render.provenance_html import ListedRuns, lines_of, list_runs, provenance_html
from mongo_tables.render.values import raw_text
from mongo_tables.results.model import ResultsError, Rows
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.pages import AnswersByKey, Page, Tables, by_comment, list_written_ids
from mongo_tables.site.statements import shown_value, with_sentence

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.findings.finding import Finding
    from mongo_tables.render.column import Column
    from mongo_tables.results.provenance import Provenance
    from mongo_tables.site.checks import Judge

Place = Callable[[str, str], str]
"""Publishes a file (name, text) for readers of the page. Returns its address, or "" if it cannot."""

Find = Callable[[str, Any], str]
"""Returns the address of a result document by collection and ``_id``, or "" if readers cannot reach it."""


@dataclass(frozen=True, slots=True)
class FigureContext:
    """The inputs of a page's figures.

    ``described`` is true if a description of each CSV is published, too. ``told`` has the runs that a figure of the
    page has already listed, by ``source_key``, because only the first figure of the same rows lists them.
    """

    answers: AnswersByKey
    tables: Tables
    provenance: Callable[[PipelineSpec], Provenance | None]
    place: Place
    find: Find
    described: bool = False
    told: dict[str, ListedRuns] = field(default_factory=dict)

    def draw(self, spec: TableSpec | ChartSpec) -> str:
        """Return the HTML of a table or a chart with its notes, or "" if its pipeline failed."""
        rows = self.answers[spec.key]
        if isinstance(rows, ResultsError):
            return ""
        if isinstance(spec, TableSpec):
            spec = table = with_few_digits(spec, rows)
        else:
            spec = with_few_digits(with_sentence(spec, self.tables, self.answers), rows)
            table = as_table(spec)
        columns = columns_of(table, rows)
        source = self.provenance(spec) if rows else None
        of_results = column_meanings(table) if source and source.results else {}
        meanings = {**of_results, **spec.meanings}
        notes = self._notes(spec, table, rows, columns, meanings)
        behind: list[str] = []
        if table is spec and spec.provenance is not False:
            # Each row links to its first listed run, or else to its document.
            told = self.told.get(spec.source_key) if rows else None
            anchors = told.behind(rows) if told else [""] * len(rows)
            for row, anchor in zip(rows, anchors, strict=True):
                key = row.get("_id")
                document = self.find(spec.collection, key) if isinstance(key, Mapping) and not anchor else ""
                behind.append(f"#{anchor}" if anchor else document)
        return figure_html(spec, rows, notes=notes, meanings=meanings, columns=columns, behind=behind)

    def draw_value(self, spec: ValueSpec) -> str:
        """Return the HTML of a value in a sentence."""
        found = shown_value(spec, self.tables, self.answers)
        if found is None:
            kind, name = ("collection", spec.own.collection) if spec.own else ("table", spec.table)
            told = f"no value: {kind} <code>{text_html(name)}</code> has a fault"
            return f'<span class="mongo-table-fault" role="alert">{told}</span>'
        value, text, pieces, to, address, one = found
        raw = "" if value is None else f' data-v="{text_html(raw_text(value))}"'
        picture = interval_picture(one) if one and spec.draw else ""
        shown = typeset(text) if one or is_number(value) else text
        inner = inline_html(pieces) if pieces else text_html(shown)
        if address:
            inner = f'<img src="{text_html(address)}" alt="{inner}">'
        inner = inner if has_link(pieces) else link_html(to, inner)
        if picture and not to:  # The last word and the picture stay on one line.
            before, blank, last = inner.rpartition(" ")
            inner = f'{before}{blank}<span class="mongo-beside">{last}\u00a0{picture}</span>'
            picture = ""
        html = f'<span class="mongo-value"{raw}>{inner}</span>'
        return f"{html}\u00a0{picture}" if picture else html

    def _notes(
        self,
        spec: PipelineSpec,
        table: TableSpec,
        rows: Rows,
        columns: Sequence[Column],
        meanings: Mapping[str, str],
    ) -> str:
        """Return the HTML of the notes under a figure, or "" if the author has switched them off.

        ``table`` is the figure as a table. ``meanings`` explains its columns, by name.
        """
        if spec.provenance is False or not rows:
            return ""
        source = self.provenance(spec)
        name = spec.id or "rows"
        csv = self.place(f"{name}.csv", csv_text(columns))
        json = self.place(f"{name}.json", json_text(table, rows, source))
        if self.described:  # CSV on the Web expects this name.
            url = csv.rpartition("/")[2]
            self.place(f"{name}.csv-metadata.json", csvw_text(columns, table.title, meanings, url))
        links: dict[str, str] = {}
        if csv:
            links["CSV"] = csv
        if json:
            links["JSON"] = json
        runs = None
        # The provenance of this figure may have no runs, although that of another figure has some.
        if source and source.runs:
            runs = self.told.get(spec.source_key)
            if runs is None:
                found = list_runs(table, lines_of(source.runs), lambda key: self.find(table.collection, key))
                runs = self.told[spec.source_key] = found
        return provenance_html(table, source, links, runs)


def figures_of(
    page: Page,
    judge: Judge,
    place: Place,
    find: Find = lambda collection, key: "",
    described: bool = False,
) -> list[str]:
    """Return the HTML for each comment of the page: its figure, or a box with its faults.

    ``place`` publishes the rows of the figures as files, with a description of each CSV if ``described``. ``find``
    returns the address of a result document.
    """
    here = judge.within(page)
    context = FigureContext(here.answers, here.tables, here.provenance, place, find, described)
    errors = _errors_by_comment(page) if None in page.specs else []
    figures = []
    found: Sequence[Finding]
    for number, (spec, anchored) in enumerate(zip(page.specs, with_anchors(page.specs), strict=True)):
        if spec is None:
            found = errors[number]
        else:
            found = here.judge(spec)
            if found:
                found = _errors(found)
            for one in spec.quotes:
                if one.table not in here.tables:
                    known = [name for each in (page, *here.site.judged) for name in list_written_ids(each)]
                    found = [*unknown_tables([spec], known), *found]
                    break
            if found and spec.ignore:
                found = without_silenced(found, [spec])
        is_block = place_of(page.comments[number].keyword) == "block"
        html = ""
        if found:
            html = fault_box(found) if is_block else fault_in_sentence(found)
        if spec and anchored and (is_block or not html):  # A sentence shows either the faults or the figure.
            html = "\n".join(filter(None, (html, KINDS[type(spec)].html(anchored, context))))
        figures.append(html)
    return figures


def loose_findings(page: Page) -> Sequence[Finding]:
    """Return the errors of the page that are in no comment's box, such as an error of a shared pipeline."""
    errors = _errors(page.findings) if page.findings else []
    if not errors:
        return []
    boxed = {each for found in _errors_by_comment(page) for each in found}
    return [each for each in errors if each not in boxed]


def _errors_by_comment(page: Page) -> list[list[Finding]]:
    if page.owned:
        return [_errors(found) for found in page.owned]
    return by_comment(page.comments, _errors(page.findings))


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity == "error"]


def line_of(fault: Finding) -> str:
    """Return a finding on one line for the terminal: ``file:line:column: RULE message (hint)``."""
    hint = f" ({escape_control_chars(fault.hint)})" if fault.hint else ""
    return f"{_place(fault)}: {fault.rule} {escape_control_chars(fault.message)}{hint}"


def _place(fault: Finding) -> str:
    return escape_control_chars(fault.file) + (f":{fault.line}:{fault.column}" if fault.line else "")


def fault_box(findings: Iterable[Finding]) -> str:
    """Return the findings as an HTML box in place of the figure, or "" without findings."""
    items = "\n".join(f"<p>{_words(fault)}</p>" for fault in findings)
    return f'<div class="mongo-table-fault" role="alert">\n{items}\n</div>' if items else ""


def _words(fault: Finding) -> str:
    hint = f" <em>{_with_code(fault.hint)}</em>" if fault.hint else ""
    place = f"<code>{text_html(_place(fault))}</code>"
    return f"{place} <b>{text_html(fault.rule)}</b> {_with_code(fault.message)}{hint}"


def _with_code(text: str) -> str:
    """Return a message as HTML. Names in backticks become code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text_html(text))


def fault_in_sentence(findings: Iterable[Finding]) -> str:
    """Return the findings as HTML for a sentence, a heading or a cell, or "" without findings."""
    return "".join(
        f'<span class="mongo-table-fault" role="alert">{_words(fault)}</span>' for fault in findings
    )


_NOT_HERE: Final = (
    "put the comment on separate lines, outside of code and raw HTML; "
    "a figure cannot be in the title of a link or the text of an abbreviation"
)


def no_place(file: str, comment: Comment, hint: str = _NOT_HERE) -> Finding:
    """Return the fault of a comment whose figure has no place on the site."""
    return finding(
        "MT118", file, (comment.line, comment.column), "the site has no place for this figure", hint
    )


def report_left_over(
    file: str, keywords: Iterable[str], at: tuple[int, int] = (0, 0), hint: str = ""
) -> list[Finding]:
    """Return a fault for each kind of comment that was added to a page after the comments of the page were read."""
    return [
        finding(
            "MT119", file, at, f"a {keyword} comment was added to the page after its comments were read", hint
        )
        for keyword in dict.fromkeys(keywords)
    ]
