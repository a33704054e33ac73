"""The figures of a page as HTML: a table or a chart with its caption and notes.

A table needs no scripts, and screen readers can read it. The ``<table>`` itself has no class, because Material for
MkDocs (and Zensical) only style ``table:not([class])``. Style sheets and scripts use the class of the enclosing figure
and attributes of cells:

* ``data-v``: the raw value, for sorting and copying, if the cell shows another text;
* ``data-t``: ``null`` or ``missing``, if there is no value.

Cells have no more attributes, because search engines read all of them at each build. Each cell after the first begins
a new line, because search engines that drop tags would join the numbers of a row into one word.

Bars and shades show how large a number is, in addition to its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.columns import has_link
from mongo_tables.directives.specs import TableSpec
from mongo_tables.render.charts.plot import as_table, plot_of
from mongo_tables.render.column import Align, Column, Rows
from mongo_tables.render.comparison import find_baselines
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.markup import (
    NO_ROWS,
    link_html,
    row_anchors,
    text_html,
    typeset,
    words_html,
)
from mongo_tables.render.table_layout import TableLayout, lay_out
from mongo_tables.render.values import drawable
from mongo_tables.results.verdicts import ITSELF

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, PipelineSpec

_TO_THIS: Final = "Link to this figure"
_COMPARED: Final = "The difference between the column before it and the baseline row."
_BEHIND: Final = "The runs behind this row"
_STYLE: Final[Mapping[Align, str]] = {
    # Written as Python-Markdown and GitHub write it, so that cells are aligned with every theme or none.
    "left": "",
    "right": ' style="text-align: right;"',
    "center": ' style="text-align: center;"',
}
_STRONGEST: Final = 5


def figure_html(
    spec: TableSpec | ChartSpec,
    rows: Rows,
    *,
    notes: str = "",
    meanings: Mapping[str, str] = {},
    columns: Sequence[Column] | None = None,
    behind: Sequence[str] = (),
) -> str:
    """Return the HTML figure of a table, or of a chart with a folded table of its values.

    Args:
        spec: The table or the chart.
        rows: Its rows. Without rows, the author's ``empty`` text or a default replaces the figure.
        notes: HTML to print under the figure.
        meanings: Explanations of columns by name, which headers have as tooltips.
        columns: The result of ``columns_of``, if it is known already.
        behind: For each row, the address of its run or of its document, "" for none.
    """
    if not rows:
        return _figure(spec, f'<p class="mongo-table__empty">{words_html(spec.empty or NO_ROWS)}</p>', notes)
    if isinstance(spec, TableSpec) and not spec.chart:
        return _figure(spec, table_html(spec, rows, meanings, columns, behind), notes)
    from mongo_tables.render.charts.drawing import chart_html  # Many sites have no chart.

    plot = plot_of(spec)
    values = table_html(as_table(spec), rows, meanings, columns, behind)
    if not isinstance(spec, TableSpec):
        values = f'<details class="mongo-chart__values">\n<summary>Values</summary>\n{values}\n</details>'
    return _figure(spec, chart_html(plot, rows) if plot else "", values, notes)


def _figure(spec: PipelineSpec, *parts: str) -> str:
    anchor = f' id="{text_html(spec.id)}"' if spec.id else ""
    lines = [f'<figure class="mongo-table"{anchor}>']
    # Title and caption are outside of the scroll box, because they should not scroll with a wide table.
    caption = (
        [f"<strong>{words_html(spec.title, spec.pieces.get(('title',)))}</strong>"] if spec.title else []
    )
    if spec.id and (spec.title or spec.caption):
        # The style sheet adds the sign of the link, because search engines would index it as a word.
        to = f'href="#{text_html(spec.id)}" title="{_TO_THIS}" aria-label="{_TO_THIS}"'
        caption.append(f'<a class="mongo-table__link" {to}></a>')
    if spec.caption:
        caption.append(f"<span>{words_html(spec.caption, spec.pieces.get(('caption',)))}</span>")
    if caption:
        lines.append(f"<figcaption>{' '.join(caption)}</figcaption>")
    return "\n".join(filter(None, (*lines, *parts, "</figure>")))


# -- tables --


def table_html(
    spec: TableSpec,
    rows: Rows,
    meanings: Mapping[str, str],
    columns: Sequence[Column] | None,
    behind: Sequence[str] = (),
) -> str:
    """Return the table in a scroll box that is reachable by keyboard, and the notes below it.

    The box is a named group and not a region, because ten tables would be ten landmarks of the page.
    """
    layout = lay_out(spec, rows, columns)
    name = spec.title or spec.caption or "Table: " + ", ".join(spec.headers)
    lines = [
        f'<div class="mongo-table__scroll" role="group" tabindex="0" aria-label="{text_html(name)}">',
        "<table>",
        *_head(spec, layout, meanings),
        *_bodies(spec, rows, layout, behind),
        *(_foot(layout) if layout.totals else ()),
        "</table>",
        "</div>",
    ]
    for note in layout.notes:
        # Only the notes of columns get minus signs. The author's reasons are printed unchanged.
        of_column = any(note in column.notes for column in layout.columns)
        lines.append(_note_html(typeset(note) if of_column else note))
    for column in layout.columns:
        if column.scale and (shades := _shade_note(column)):
            lines.append(_note_html(shades))
    return "\n".join(lines)


def _note_html(note: str) -> str:
    return f'<p class="mongo-table__note">{words_html(note)}</p>'


def _head(spec: TableSpec, layout: TableLayout, meanings: Mapping[str, str]) -> list[str]:
    # The scope of a heading over columns: https://html.spec.whatwg.org/#attr-th-scope-colgroup.
    lines = [f'<colgroup span="{span}"></colgroup>' for _, span in layout.headings] if layout.headings else []
    lines.append("<thead>")
    if layout.headings:
        pieces = {one.text: one.pieces for one in spec.header_groups}
        lines.append("<tr>")
        for text, span in layout.headings:
            shown = words_html(text, pieces.get(text))
            lines.append(
                f'<th scope="colgroup" colspan="{span}">{shown}</th>'
                if text
                else f'<td colspan="{span}"></td>'
            )
        lines.append("</tr>")
    lines.append("<tr>")
    for column in layout.columns:
        # Only columns of comparisons have no name.
        meaning = meanings.get(column.name, "") if column.name else _COMPARED
        shown = words_html(column.header, column.pieces)
        # Themes mark an <abbr> as having a tooltip; readers would not find a title on the <th> itself.
        shown = f'<abbr title="{text_html(meaning)}">{shown}</abbr>' if meaning else shown
        unit = f' <span class="mongo-table__unit">{words_html(column.unit)}</span>' if column.unit else ""
        lines.append(f'<th scope="col"{_STYLE[column.align]}>{shown}{unit}</th>')
    return [*lines, "</tr>", "</thead>"]


def _bodies(spec: TableSpec, rows: Rows, layout: TableLayout, behind: Sequence[str]) -> list[str]:
    """Return the rows in a table body for each group, which begins with the heading of the group."""
    labels, *others = layout.columns
    links: Sequence[str] = labels.links
    anchors = row_anchors(spec.id, layout.all_columns) if spec.id else []
    if anchors:
        # The first cell of a row links to the row itself, unless it has another link.
        pairs = zip(labels.links or [""] * len(anchors), anchors, strict=True)
        links = [link or f"#{anchor}" for link, anchor in pairs]
    cells = [_cells(labels, "th", links, behind)]
    for column in others:
        cells.append(_cells(column, "td", column.links))
    # The numbers, from 0, of the rows that others are compared with.
    marked: set[int] = set()
    for one in find_baselines(spec, rows) if spec.baseline else ():
        marked.update(one.matches[:1])
    for column in layout.columns:
        if column.for_files and not spec.baseline:
            against = [one.against if one else "" for one in map(conclusion_of, column.values)]
            if {*against} - {"", ITSELF}:
                marked.update(number for number, name in enumerate(against) if name == ITSELF)
    row_cells = list(map("\n".join, zip(*cells, strict=True)))
    lines = []
    for group in layout.groups:
        lines.append("<tbody>")
        if group.heading is not None:
            span, heading = len(layout.columns), words_html(group.heading)
            lines.append(f'<tr><th scope="rowgroup" colspan="{span}"><span>{heading}</span></th></tr>')
        for number in group.rows:
            mark = ' class="mongo-table__baseline"' if number in marked else ""
            own_id = f' id="{anchors[number]}"' if anchors else ""
            lines.append(f"<tr{own_id}{mark}>{row_cells[number]}</tr>")
        lines.append("</tbody>")
    return lines


def _foot(layout: TableLayout) -> Iterator[str]:
    """Yield the rows of totals, in a footer that stays below the rows when a reader sorts them."""
    label, *others = layout.columns
    yield "<tfoot>"
    for row in layout.totals:
        cells = [f'<th scope="row"{_STYLE[label.align]}>{words_html(row.label)}</th>']
        for column in others:
            total = row.cells.get(column.name)
            if total is None:
                cells.append("<td></td>")
                continue
            text = typeset(total.text)
            raw = f' data-v="{text_html(total.raw)}"' if total.raw != text else ""
            cells.append(f"<td{_STYLE[column.align]}{raw}>{words_html(text)}</td>")
        yield "<tr>" + "\n".join(cells) + "</tr>"
    yield "</tfoot>"


# -- cells: text, link, raw value, bar or shade --


def _cells(column: Column, tag: str, links: Sequence[str], behind: Sequence[str] = ()) -> list[str]:
    """Return the cells of a column. Cells with the tag ``th`` name their rows, and also link to ``behind``."""
    start = ('<th scope="row"' if tag == "th" else "<td") + _STYLE[column.align]
    lengths = _bar_lengths(column.values) if column.bar else []
    strengths = _shades(column.values, column.scale) if column.scale else []
    cells = []
    rows = zip(column.values, column.raws, column.texts, column.pieces_of_cells, strict=True)
    for number, (value, raw, text, own) in enumerate(rows):
        # Numbers and conclusions are typeset, but no other texts.
        if ("-" in text or "%" in text) and (is_number(value) or isinstance(value, Mapping)):
            text = typeset(text)
        shown = words_html(text, own)
        if column.fitted and not own:
            shown = _part_unit(value, shown)
        if column.ranged and not own and is_number(value):
            # The range after a number may wrap to a second line.
            shown = shown.replace(" (", " <wbr>(")
        if column.sign_meanings and not own:
            shown = _explain_sign(shown, typeset(column.sign_meanings[number]))
        if links and not (own and has_link(own)):
            shown = link_html(links[number], shown)
        if behind and behind[number]:
            # The style sheet adds the sign of the link, as for the link of a figure.
            told = f'title="{_BEHIND}" aria-label="{_BEHIND}"'
            shown += f'<a class="mongo-table__runs" href="{text_html(behind[number])}" {told}></a>'
        if lengths:
            shown += f'<span class="mongo-table__bar" style="width: {lengths[number]:.4g}%;"></span>'
        attributes = ""
        if strengths and (strength := strengths[number]):
            attributes = f' class="mongo-table__{"below" if strength < 0 else "shade"}{abs(strength)}"'
        if value is MISSING:
            why = column.reason or "missing: the row has no such field"
            attributes += f' data-t="missing" title="{text_html(why)}"'
        elif value is None:
            attributes += f' data-t="null" title="{text_html(column.reason or "null")}"'
        elif raw != text and not own:  # Markdown cells sort by their text.
            attributes += f' data-v="{text_html(raw)}"'
        cells.append(f"{start}{attributes}>{shown}</{tag}>")
    return cells


def _part_unit(value: object, text: str) -> str:
    """Return the text with its unit in an element of fixed width, so that the digits of a column line up."""
    number, blank, unit = text.rpartition(" ")
    if not blank or "(" in text or not is_number(value):
        return text
    return f'{number} <span class="mongo-table__fitted">{unit}</span>'


def _explain_sign(text: str, meaning: str) -> str:
    """Return the text with its final sign as an image that has a name for screen readers and a tooltip."""
    if not meaning:
        return text
    named = f'aria-label="{text_html(meaning)}" title="{text_html(meaning)}"'
    return f'{text[:-1]}<span role="img" {named}>{text[-1]}</span>'


def _bar_lengths(values: Sequence[object]) -> list[float]:
    """Return the length of each value's bar, in per cent of the longest."""
    numbers = [max(one or 0.0, 0.0) for one in map(drawable, values)]
    largest = max(numbers, default=0.0) or 1.0
    return [one / largest * 100 for one in numbers]


def _shades(values: Sequence[object], scale: str) -> list[int]:
    """Return the strength of each value's shade, 0 for none.

    A sequential scale goes from 1 for the lowest value to 5 for the highest. A diverging scale is proportional to
    the value: 0 for zero, and 5 or -5 for the value farthest from zero.
    """
    numbers = list(map(drawable, values))
    known = [number for number in numbers if number is not None]
    if scale == "diverging":
        farthest = max(map(abs, known), default=0.0)
        return [round(number / farthest * _STRONGEST) if number and farthest else 0 for number in numbers]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        return [0] * len(numbers)
    steps = (_STRONGEST - 1) / (high - low)
    return [0 if number is None else 1 + round((number - low) * steps) for number in numbers]


def _shade_note(column: Column) -> str:
    """Return a note on the meaning of a column's shades, or "" if it has none."""
    if not any(_shades(column.values, column.scale)):
        return ""
    if column.scale == "diverging":
        return f"Shades in “{column.full_header}” are blue below 0, orange above 0, and stronger far from 0."
    numbers = list(map(drawable, column.values))
    known = [number for number in numbers if number is not None]
    low, high = (typeset(column.texts[numbers.index(end)]) for end in (min(known), max(known)))
    return f"Shades in “{column.full_header}” go from faint ({low}) to strong ({high})."
