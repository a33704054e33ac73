"""A table as plain HTML in Markdown, for readers whose Markdown has no pipe tables.

It has no blank line, at which the HTML would end for CommonMark (https://spec.commonmark.org/0.31.2/#html-blocks), and
says by ``align``, which GitHub keeps, where cells stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.render.inlinetext import inline_html, link_html
from mongo_tables.render.tablelayout import TableLayout, lay_out
from mongo_tables.render.text import NO_ROWS, lines_html

if TYPE_CHECKING:
    from mongo_tables.directives.inline_markdown import Piece
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.render.column import Column
    from mongo_tables.render.totals import TotalRow


def plain_html_table(
    spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = ()
) -> list[str]:
    """The lines of the table, without line ends and without a container's prefix; parameters as of ``pipe_table``."""
    heading = [f"<strong>{_words(spec.pieces.get(('title',)), spec.title)}</strong>"] if spec.title else []
    heading += [_words(spec.pieces.get(("caption",)), spec.caption)] if spec.caption else []
    if not rows:
        return [f"<p>{' '.join([*heading, f'<em>{lines_html(spec.empty or NO_ROWS)}</em>'])}</p>"]
    layout = lay_out(spec, rows)
    return [
        "<table>",
        *([f"<caption>{' '.join(heading)}</caption>"] if heading else []),
        "<thead>",
        *_heading_row(layout),
        _row(_cell("th", _header(column), column) for column in layout.columns),
        "</thead>",
        *_bodies(layout),
        *_foot(layout),
        "</table>",
        *(f"<p><em>{lines_html(note)}</em></p>" for note in (*layout.notes, *below)),
    ]


def _words(pieces: Sequence[Piece] | None, text: str) -> str:
    return inline_html(pieces) if pieces else lines_html(text)


def _heading_row(layout: TableLayout) -> Iterator[str]:
    spans = [f'<th colspan="{span}">{lines_html(text)}</th>' for text, span in layout.headings]
    if spans:
        yield _row(spans)


def _header(column: Column) -> str:
    header = _words(column.pieces, column.header)
    return f"{header} ({lines_html(column.unit)})" if column.unit else header


def _bodies(layout: TableLayout) -> Iterator[str]:
    rows = list(zip(*map(_cells, layout.columns), strict=True))
    for group in layout.groups:
        yield "<tbody>"
        if group.heading is not None:
            yield _row([f'<th colspan="{len(layout.columns)}" align="left">{lines_html(group.heading)}</th>'])
        yield from map(_row, rows[group.rows.start : group.rows.stop])
        yield "</tbody>"


def _cells(column: Column) -> list[str]:
    marked = column.marked or ((),) * len(column.texts)
    shown = [_words(pieces, text) for pieces, text in zip(marked, column.texts, strict=True)]
    if column.links:
        shown = list(map(link_html, column.links, shown))
    return [_cell("td", text, column) for text in shown]


def _foot(layout: TableLayout) -> Iterator[str]:
    if layout.totals:
        yield from ("<tfoot>", *(_total_row(layout, row) for row in layout.totals), "</tfoot>")


def _total_row(layout: TableLayout, row: TotalRow) -> str:
    label, *others = layout.columns
    texts = (row.cells[one.name].text if one.name in row.cells else "" for one in others)
    totals = (_cell("th", lines_html(text), one) for text, one in zip(texts, others, strict=True))
    return _row((_cell("th", lines_html(row.label), label), *totals))


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, html: str, column: Column) -> str:
    align = "" if column.align == "left" else f' align="{column.align}"'
    return f"<{tag}{align}>{html}</{tag}>"
