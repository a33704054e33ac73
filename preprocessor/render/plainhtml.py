"""A table as plain HTML in Markdown, for readers whose Markdown has no pipe tables.

It has no blank line, at which the HTML would end for CommonMark (https://spec.commonmark.org/0.31.2/#html-blocks), and
says by ``align``, which GitHub keeps, where cells stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from preprocessor.render.columns import columns_of
from preprocessor.render.headers import with_unit
from preprocessor.render.notes import notes_of
from preprocessor.render.text import NO_ROWS, text_html

if TYPE_CHECKING:
    from preprocessor.render.column import Column
    from preprocessor.specs.model import TableSpec


def plain_html_table(
    spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = ()
) -> list[str]:
    """The lines of the table, without line ends and without a container's prefix; parameters as of ``pipe_table``."""
    heading = [f"<strong>{_show_lines(spec.title)}</strong>"] if spec.title else []
    heading += [_show_lines(spec.caption)] if spec.caption else []
    if not rows:
        return [f"<p>{' '.join([*heading, f'<em>{_show_lines(spec.empty or NO_ROWS)}</em>'])}</p>"]
    columns = columns_of(spec, rows)
    cells = [[_cell("td", text, column) for text in column.texts] for column in columns]
    return [
        "<table>",
        *([f"<caption>{' '.join(heading)}</caption>"] if heading else []),
        "<thead>",
        _row([_cell("th", with_unit(column.header, column.unit), column) for column in columns]),
        "</thead>",
        "<tbody>",
        *map(_row, zip(*cells, strict=True)),
        "</tbody>",
        "</table>",
        *(f"<p><em>{_show_lines(note)}</em></p>" for note in (*notes_of(columns), *below)),
    ]


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, text: str, column: Column) -> str:
    align = "" if column.align == "left" else f' align="{column.align}"'
    return f"<{tag}{align}>{_show_lines(text)}</{tag}>"


def _show_lines(text: str) -> str:
    return text_html(text).replace("\n", "<br>")
