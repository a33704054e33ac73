"""The figures of a Sphinx page as docutils nodes, which every builder of Sphinx writes.

Cells are text nodes: neither Markdown, reStructuredText nor smart quotes can change them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from docutils import nodes

from mongo_tables.directives.columns import Piece, has_link
from mongo_tables.directives.specs import PipelineSpec, TableSpec, ValueSpec
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.markup import NO_ROWS, display_width, with_anchors, with_minus_signs
from mongo_tables.render.provenance import provenance_parts
from mongo_tables.render.table_layout import lay_out
from mongo_tables.render.values import is_number, visible
from mongo_tables.results.model import ResultsError
from mongo_tables.site.drawing_files import draw_files
from mongo_tables.site.figures import line_of
from mongo_tables.site.pages import by_comment
from mongo_tables.site.statements import shown_value, with_sentence

if TYPE_CHECKING:
    from mongo_tables.build import Report
    from mongo_tables.render.column import Column
    from mongo_tables.render.table_layout import TableLayout
    from mongo_tables.site.drawing_files import DrawnFile
    from mongo_tables.site.pages import Page
    from mongo_tables.site.statements import ShownValue

_NARROWEST: Final = 8
_MARKS: Final = {"strong": nodes.strong, "em": nodes.emphasis, "del": nodes.inline}


@dataclass(frozen=True)
class PageFigures:
    """The figures of one page. Drawings become files next to the path ``drawings``, which has the page's name."""

    page: Page
    report: Report
    drawings: Path

    def block(self, number: int, folder: Path) -> list[nodes.Element]:
        """Return a table or a chart with its notes, or its faults; a statement has neither.

        Addresses of drawings are relative to ``folder``.
        """
        written, spec = self.page.specs[number], with_anchors(self.page.specs)[number]
        if faults := self._faults[number]:
            return [nodes.error("", *(_paragraph(nodes.Text(fault)) for fault in faults))]
        if not isinstance(written, PipelineSpec) or not isinstance(spec, PipelineSpec):
            return []
        judge = self.report.figures.judge.within(self.page)
        rows = judge.answers[spec.query.key]
        if isinstance(rows, ResultsError):
            return [nodes.error("", _paragraph(nodes.Text(f"{self.page.file}: {rows.message}")))]
        spec = with_few_digits(with_sentence(spec, judge.tables, judge.answers), rows)
        drawn = self._drawn.get(id(written))
        made = [_figure(spec, drawn, folder)] if drawn else []
        notes: list[str] = []
        if isinstance(spec, TableSpec) and rows:
            layout = lay_out(spec, rows)
            made.append(_table(spec, layout, titled=not drawn))
            notes += layout.notes
        elif not drawn:
            made.append(_paragraph(*_heading(spec), nodes.emphasis("", spec.empty or NO_ROWS)))
        source = judge.provenance(spec) if rows and spec.provenance is not False else None
        if source:
            notes.append(" · ".join(provenance_parts(source, source.due(spec.max_age))))
        # Sphinx makes the anchor: a heading may have this one.
        made[-1]["names"] += [written.id] if written.id else []
        return [*made, *(_paragraph(nodes.emphasis("", visible(note))) for note in notes if note)]

    def sentence(self, number: int) -> list[nodes.Node]:
        """Return a value of a sentence, or its faults."""
        found = self._value(number)
        if found is None:
            said = self._faults[number] or [f"{self.page.file}: this value has no row"]
            return [nodes.problematic("", text) for text in said]
        text = with_minus_signs(found.text) if found.conclusion or is_number(found.value) else found.text
        shown = _words(found.pieces, text)
        if found.picture:
            shown = [nodes.image(uri=found.picture, alt=found.text)]
        linked = (
            nodes.reference("", "", *shown, refuri=found.to) if found.to else nodes.inline("", "", *shown)
        )
        return [nodes.inline("", "", linked, classes=["mongo-value"], support_smartquotes=False)]

    def text(self, number: int) -> str:
        """Return a value as plain text, "" if it has a fault."""
        found = self._value(number)
        return found.text if found else ""

    def _value(self, number: int) -> ShownValue | None:
        spec, judge = self.page.specs[number], self.report.figures.judge.within(self.page)
        if not isinstance(spec, ValueSpec) or self._faults[number]:
            return None
        return shown_value(spec, judge.tables, judge.answers)

    @cached_property
    def _faults(self) -> list[list[str]]:
        errors = [one for one in self.report.faults if (one.file, one.severity) == (self.page.file, "error")]
        return [list(map(line_of, found)) for found in by_comment(self.page.comments, errors)]

    @cached_property
    def _drawn(self) -> dict[int, DrawnFile]:
        """Return the drawings of the page by the ``id`` of their comment, and write changed ones."""
        judge = self.report.figures.judge.within(self.page)
        drawn = draw_files(self.page, self.drawings, judge.answers, judge.tables, lambda path: path.name)
        for one in drawn:
            one.path.parent.mkdir(parents=True, exist_ok=True)
            if not one.path.is_file() or one.path.read_text("utf-8") != one.text:
                one.path.write_text(one.text, "utf-8")
        return {id(one.spec): one for one in drawn}


def _figure(spec: PipelineSpec, drawn: DrawnFile, folder: Path) -> nodes.Element:
    image = nodes.image(uri=Path(os.path.relpath(drawn.path, folder)).as_posix(), alt=drawn.words)
    heading = _heading(spec)
    caption = [nodes.caption("", "", *heading, translatable=False)] if heading else []
    return nodes.figure("", image, *caption)


def _table(spec: TableSpec, layout: TableLayout, *, titled: bool) -> nodes.Element:
    heading = _heading(spec) if titled else []
    title = [nodes.title("", "", *heading, translatable=False)] if heading else []
    # Builders of plain text wrap cells at these widths.
    widths = [max(map(display_width, (column.shown_header, *column.texts))) for column in layout.columns]
    columns = [nodes.colspec(colwidth=max(width, _NARROWEST)) for width in widths]
    spans = [_entry([nodes.Text(visible(text))], span=span) for text, span in layout.headings]
    headers = [_entry(_header(column), column.align) for column in layout.columns]
    head = nodes.thead("", *([nodes.row("", *spans)] if spans else []), nodes.row("", *headers))
    body = nodes.tbody("", *_rows(layout))
    group = nodes.tgroup("", *columns, head, body, cols=len(columns))
    return nodes.table("", *title, group, classes=["colwidths-auto"], support_smartquotes=False)


def _rows(layout: TableLayout) -> Iterator[nodes.Element]:
    """Yield the rows of a table: headings of groups, rows, totals."""
    cells = list(zip(*map(_cells, layout.columns), strict=True))
    for group in layout.groups:
        if group.heading is not None:
            yield nodes.row("", _entry([nodes.strong("", visible(group.heading))], span=len(layout.columns)))
        yield from (nodes.row("", *cells[number]) for number in group.rows)
    for total in layout.totals:
        known = [total.cells.get(column.name) for column in layout.columns]
        texts = [total.label, *(one.text if one else "" for one in known[1:])]
        shown = [[nodes.strong("", with_minus_signs(text))] if text else [] for text in texts]
        aligns = [column.align for column in layout.columns]
        yield nodes.row("", *map(_entry, shown, aligns))


def _header(column: Column) -> list[nodes.Node]:
    unit = [nodes.Text(f" ({visible(column.unit)})")] if column.unit else []
    return [*_words(column.pieces, column.header), *unit]


def _cells(column: Column) -> Iterator[nodes.Element]:
    links = column.links or ("",) * len(column.texts)
    for value, text, pieces, to in zip(
        column.values, column.texts, column.pieces_of_cells, links, strict=True
    ):
        # As on other sites, numbers and comparisons get minus signs, and texts stay.
        signed = with_minus_signs(text) if is_number(value) or isinstance(value, Mapping) else text
        shown = _words(pieces, signed)
        linked = [nodes.reference("", "", *shown, refuri=to)] if to and not has_link(pieces) else shown
        yield _entry(linked, column.align)


def _entry(shown: Sequence[nodes.Node], align: str = "left", span: int = 1) -> nodes.Element:
    """Return a cell, aligned by the classes of docutils and of MyST."""
    classes = [f"text-{align}", f"align-{align}"] if align != "left" else []
    more = {"morecols": span - 1} if span > 1 else {}
    return nodes.entry("", *([_paragraph(*shown)] if shown else []), classes=classes, **more)


def _heading(spec: PipelineSpec) -> list[nodes.Node]:
    parts: list[nodes.Node] = []
    if spec.title:
        parts.append(nodes.strong("", "", *_words(spec.pieces.get(("title",), ()), spec.title)))
    if spec.caption:
        parts += [
            *([nodes.Text(" ")] if parts else []),
            *_words(spec.pieces.get(("caption",), ()), spec.caption),
        ]
    return parts


def _paragraph(*shown: nodes.Node) -> nodes.Element:
    """Return a paragraph that translators of the page do not get."""
    return nodes.paragraph("", "", *shown, translatable=False, support_smartquotes=False)


def _words(pieces: Sequence[Piece], text: str) -> list[nodes.Node]:
    """Return a text as nodes, from its inline Markdown ``pieces`` if there are any."""
    return [node for one in pieces or (Piece("text", text),) for node in _piece(one)]


def _piece(one: Piece) -> Iterator[nodes.Node]:
    if one.kind == "code":
        yield nodes.literal("", visible(one.text))
    elif one.kind == "link":
        yield nodes.reference("", "", *_words(one.inside, ""), refuri=one.to)
    elif one.kind in _MARKS:
        yield _MARKS[one.kind]("", "", *_words(one.inside, ""))
    else:
        first, *others = visible(one.text if one.kind == "text" else "\n").split("\n")
        yield nodes.Text(first)
        for line in others:
            yield from (nodes.raw("", "<br>", format="html"), nodes.Text(f" {line}"))
