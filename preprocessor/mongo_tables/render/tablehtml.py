"""A table as HTML: complete without a script, readable aloud, and no cell brings markup of its own.

The ``<table>`` itself has no class, because Material for MkDocs (and Zensical) style ``table:not([class])``
only; what a style sheet or a script needs is on the figure around it and in ``data-`` attributes:

* ``data-v`` on a cell: the value as it came, to sort by or to copy, where a format shows it otherwise;
* ``data-t``: ``null`` or ``missing``, where there is no value.

A search engine reads every attribute of every cell at each build, hence no more of them than that.
Every cell but the first begins a line: search engines that drop tags would glue the numbers of a row into one word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mongo_tables.render.anchors import row_anchors
from mongo_tables.render.cellhtml import STYLE, label_cells, value_cells
from mongo_tables.render.cellpictures import shade_note
from mongo_tables.render.column import Column
from mongo_tables.render.columns import columns_of
from mongo_tables.render.comparison import baseline_rows
from mongo_tables.render.inlinetext import inline_html
from mongo_tables.render.tablelayout import TableLayout, lay_out
from mongo_tables.render.text import lines_html, text_html, with_minus_signs
from mongo_tables.render.totals import Total, TotalRow

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

NO_MEANINGS: Final[Mapping[str, str]] = MappingProxyType({})
_COMPARED: Final = "By how much the column before it differs from that of the baseline."


def table_html(
    spec: TableSpec,
    rows: Sequence[Mapping[str, object]],
    meanings: Mapping[str, str] = NO_MEANINGS,
    columns: Sequence[Column] | None = None,
    behind: Sequence[str] = (),
) -> str:
    """The table in a box that scrolls: a group with a name, which the keyboard can reach and move; notes below.

    It is no region: a landmark for each of ten tables would bury the page's own landmarks.
    """
    layout = lay_out(spec, rows, list(map(_typeset_notes, columns or columns_of(spec, rows))))
    name = spec.title or spec.caption or "Table: " + ", ".join(spec.headers)
    paged = f' data-page-size="{spec.page_size}"' if spec.page_size else ""
    marked = _find_marked_row(spec, rows)
    return "\n".join(
        (
            f'<div class="mongo-table__scroll" role="group" tabindex="0" aria-label="{text_html(name)}"{paged}>',
            "<table>",
            *_head(spec, layout, meanings),
            *_bodies(layout, spec.id, marked, behind),
            *_foot(layout),
            "</table>",
            "</div>",
            *(f'<p class="mongo-table__note">{lines_html(note)}</p>' for note in _notes(layout)),
        )
    )


def _typeset_notes(column: Column) -> Column:
    """The column with minus signs in the notes that it brings; the author's own reasons stay as they are."""
    return column._replace(notes=tuple(map(with_minus_signs, column.notes)))


def _notes(layout: TableLayout) -> Iterator[str]:
    """The notes of the table, and those on shades, which only HTML has."""
    yield from layout.notes
    yield from filter(None, map(shade_note, layout.columns))


def _head(spec: TableSpec, layout: TableLayout, meanings: Mapping[str, str]) -> Iterator[str]:
    yield from _column_groups(layout)
    yield "<thead>"
    yield from _heading_row(spec, layout)
    yield "<tr>"
    # A column that compares has no name of its own.
    texts = (meanings.get(column.name, "") if column.name else _COMPARED for column in layout.columns)
    yield from map(_header, layout.columns, texts)
    yield "</tr>"
    yield "</thead>"


def _column_groups(layout: TableLayout) -> Iterator[str]:
    """What a heading over several columns is the heading of: https://html.spec.whatwg.org/#attr-th-scope-colgroup."""
    yield from (f'<colgroup span="{span}"></colgroup>' for _, span in layout.headings)


def _heading_row(spec: TableSpec, layout: TableLayout) -> Iterator[str]:
    if not layout.headings:
        return
    pieces = {one.text: one.pieces for one in spec.header_groups}
    yield "<tr>"
    for text, span in layout.headings:
        shown = inline_html(pieces[text]) if pieces.get(text) else lines_html(text)
        yield f'<th scope="colgroup" colspan="{span}">{shown}</th>' if text else f'<td colspan="{span}"></td>'
    yield "</tr>"


def _header(column: Column, meaning: str) -> str:
    unit = f' <span class="mongo-table__unit">{lines_html(column.unit)}</span>' if column.unit else ""
    name = inline_html(column.pieces) if column.pieces else lines_html(column.header)
    # Themes mark an <abbr> as something to point at; a title on the <th> itself nobody would find.
    shown = f'<abbr title="{text_html(meaning)}">{name}</abbr>' if meaning else name
    return f'<th scope="col"{STYLE[column.align]}>{shown}{unit}</th>'


def _find_marked_row(spec: TableSpec, rows: Sequence[Mapping[str, object]]) -> int:
    """The index of the baseline row, from 0; -1 without a baseline."""
    if spec.baseline is None:
        return -1
    return next(iter(baseline_rows(spec, rows)), -1)


def _bodies(layout: TableLayout, anchor: str | None, marked: int, behind: Sequence[str]) -> Iterator[str]:
    """A body for each group of rows, below its heading."""
    labels, *others = layout.columns
    anchors = row_anchors(anchor, layout.all_columns) if anchor else []
    cells = [label_cells(labels, anchors, behind), *map(value_cells, others)]
    lines = ["\n".join(row) for row in zip(*cells, strict=True)]
    for group in layout.groups:
        yield "<tbody>"
        if group.heading is not None:
            span = len(layout.columns)
            yield f'<tr><th scope="rowgroup" colspan="{span}"><span>{lines_html(group.heading)}</span></th></tr>'
        for number in group.rows:
            mark = ' class="mongo-table__baseline"' if number == marked else ""
            own = f' id="{anchors[number]}"' if anchors else ""
            yield f"<tr{own}{mark}>{lines[number]}</tr>"
        yield "</tbody>"


def _foot(layout: TableLayout) -> Iterator[str]:
    """The rows of totals, which stay at the end however a reader sorts the others."""
    if not layout.totals:
        return
    yield "<tfoot>"
    for row in layout.totals:
        yield f"<tr>{_total_row(layout, row)}</tr>"
    yield "</tfoot>"


def _total_row(layout: TableLayout, row: TotalRow) -> str:
    label, *others = layout.columns
    first = f'<th scope="row"{STYLE[label.align]}>{lines_html(row.label)}</th>'
    return "\n".join((first, *(_total_cell(column, row.cells.get(column.name)) for column in others)))


def _total_cell(column: Column, total: Total | None) -> str:
    if total is None:
        return "<td></td>"
    text = with_minus_signs(total.text)
    raw = f' data-v="{text_html(total.raw)}"' if total.raw != text else ""
    return f"<td{STYLE[column.align]}{raw}>{lines_html(text)}</td>"
