"""A table as an aligned Markdown pipe table, which GitHub renders and people read as source.

GitHub-flavoured Markdown and Python-Markdown both show exactly the text of each cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.render.column import Align, Column, Rows
from mongo_tables.render.markup import (
    NO_ROWS,
    alternative_text,
    display_width,
    escape_cell,
    inline_markdown,
    link_markdown,
    words_markdown,
)
from mongo_tables.render.table_layout import TableLayout, lay_out

_MINIMUM: Final = 3


def pipe_table(spec: PipelineSpec, rows: Rows, *, below: Sequence[str] = (), picture: str = "") -> list[str]:
    """Return the lines of a table or a chart, without line ends.

    The lines are: title and caption, the ``picture`` (as Markdown), the table, its notes, and the notes ``below`` (as
    plain text). A chart has no table. Without rows, the author's ``empty`` text or a default replaces the table.
    """
    if not isinstance(spec, TableSpec):
        return [*_heading(spec), picture, *_notes(below)]
    if not rows:
        return [*_heading(spec), _emphasis(spec.empty or NO_ROWS)]
    layout = lay_out(spec, rows)
    drawn = [picture, ""] if picture else []
    columns = [_pad_column(cells, column.align) for column, cells in _columns(layout)]
    table = [f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True)]
    return [*_heading(spec), *drawn, *table, *_notes([*layout.notes, *below])]


def image(name: str, address: str) -> str:
    """Return a picture in Markdown. ``name`` is its text alternative."""
    return f"![{alternative_text(name)}]({address})"


def _notes(notes: Sequence[str]) -> list[str]:
    return [line for note in notes for line in ("", _emphasis(note))]


def _heading(spec: PipelineSpec) -> list[str]:
    title, caption = spec.pieces.get(("title",)), spec.pieces.get(("caption",))
    parts = []
    if spec.title:
        parts.append(f"<strong>{inline_markdown(title)}</strong>" if title else _strong(spec.title))
    if spec.caption:
        parts.append(f"<em>{inline_markdown(caption)}</em>" if caption else _emphasis(spec.caption))
    return [" ".join(parts), ""] if parts else []


def _emphasis(text: str) -> str:
    """Return an emphasised sentence. Markdown cannot mistake its beginning for a list item, heading or quote."""
    return f"_{escape_cell(text)}_"  # Formatters of Markdown write this sign, too.


def _strong(text: str) -> str:
    return f"**{escape_cell(text)}**"


def _columns(layout: TableLayout) -> Iterator[tuple[Column, list[str]]]:
    """Yield each column with its cells from top to bottom: header, group headings and values, totals.

    A heading over several columns begins each of their headers, because Markdown has no cells that span columns.
    """
    for number, column in enumerate(layout.columns):
        before = f"{escape_cell(column.heading)}: " if column.heading else ""
        unit = f" ({escape_cell(column.unit)})" if column.unit else ""
        values = list(map(words_markdown, column.pieces_of_cells, column.texts))
        if column.links:
            values = list(map(link_markdown, column.links, values))
        cells = [f"{before}{words_markdown(column.pieces, column.header)}{unit}"]
        for group in layout.groups:
            if group.heading is not None:
                cells.append(_strong(group.heading) if not number and group.heading.strip() else "")
            cells += values[group.rows.start : group.rows.stop]
        for row in layout.totals:
            total = row.cells.get(column.name)
            text = (total.text if total else "") if number else row.label
            cells.append(_strong(text) if text.strip() else "")
        yield column, cells


def _pad_column(cells: Sequence[str], align: Align) -> list[str]:
    """Return the header, the delimiter and the cells of a column, padded to the same width."""
    width = max(_MINIMUM, *map(display_width, cells))
    padded = []
    for cell in cells:
        room = width - display_width(cell)
        before = {"left": 0, "right": room, "center": room // 2}[align]
        padded.append(" " * before + cell + " " * (room - before))
    header, *others = padded
    begin, end = ":" if align == "center" else "", "" if align == "left" else ":"
    return [header, begin + "-" * (width - len(begin) - len(end)) + end, *others]
