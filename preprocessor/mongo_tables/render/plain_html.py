"""A table as plain HTML in Markdown, for renderers without pipe tables.

It has no blank line, which would end the HTML block in CommonMark (https://spec.commonmark.org/0.31.2/#html-blocks),
and aligns cells by ``align``, which GitHub keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.render.markup import NO_ROWS, lines_html, link_html, words_html
from mongo_tables.render.table_layout import TableLayout, lay_out

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.render.column import Column


def plain_html_table(
    spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = ()
) -> list[str]:
    """Return the lines of the table, without line ends and container prefix; parameters as for ``pipe_table``."""
    heading = (
        [f"<strong>{words_html(spec.pieces.get(('title',)), spec.title)}</strong>"] if spec.title else []
    )
    heading += [words_html(spec.pieces.get(("caption",)), spec.caption)] if spec.caption else []
    if not rows:
        return [f"<p>{' '.join([*heading, f'<em>{lines_html(spec.empty or NO_ROWS)}</em>'])}</p>"]
    layout = lay_out(spec, rows)
    spans = [f'<th colspan="{span}">{lines_html(text)}</th>' for text, span in layout.headings]
    return [
        "<table>",
        *([f"<caption>{' '.join(heading)}</caption>"] if heading else []),
        "<thead>",
        *([_row(spans)] if spans else []),
        _row(
            _cell(
                "th",
                words_html(column.pieces, column.header)
                + (f" ({lines_html(column.unit)})" if column.unit else ""),
                column,
            )
            for column in layout.columns
        ),
        "</thead>",
        *_bodies(layout),
        *_foot(layout),
        "</table>",
        *(f"<p><em>{lines_html(note)}</em></p>" for note in (*layout.notes, *below)),
    ]


def _bodies(layout: TableLayout) -> Iterator[str]:
    rows = list(zip(*map(_cells, layout.columns), strict=True))
    for group in layout.groups:
        yield "<tbody>"
        if group.heading is not None:
            yield _row([f'<th colspan="{len(layout.columns)}" align="left">{lines_html(group.heading)}</th>'])
        yield from map(_row, rows[group.rows.start : group.rows.stop])
        yield "</tbody>"


def _cells(column: Column) -> list[str]:
    shown = list(map(words_html, column.pieces_of_cells, column.texts))
    if column.links:
        shown = list(map(link_html, column.links, shown))
    return [_cell("td", text, column) for text in shown]


def _foot(layout: TableLayout) -> Iterator[str]:
    if not layout.totals:
        return
    label, *others = layout.columns
    yield "<tfoot>"
    for row in layout.totals:
        texts = (row.cells[one.name].text if one.name in row.cells else "" for one in others)
        totals = (_cell("th", lines_html(text), one) for text, one in zip(texts, others, strict=True))
        yield _row((_cell("th", lines_html(row.label), label), *totals))
    yield "</tfoot>"


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, html: str, column: Column) -> str:
    align = "" if column.align == "left" else f' align="{column.align}"'
    return f"<{tag}{align}>{html}</{tag}>"
