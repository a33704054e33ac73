"""A table as HTML: complete without a script, readable aloud, and nothing in a cell is ever markup.

The ``<table>`` itself has no class, because Material for MkDocs (and Zensical) style ``table:not([class])``
only; what a style sheet or a script needs is on the figure around it and in ``data-`` attributes:

* ``data-v`` on a cell: the value as it came, to sort by or to copy, where a format shows it otherwise;
* ``data-t``: ``null`` or ``missing``, where there is no value.

A search engine reads every attribute of every cell at each build, hence no more of them than that.
Every cell but the first begins a line: search engines that drop tags would glue the numbers of a row into one word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from preprocessor.aggregation.values import MISSING
from preprocessor.render.anchors import row_anchors
from preprocessor.render.chart import chart_html
from preprocessor.render.chartdata import Plot, as_table, chart_plot, table_plot
from preprocessor.render.column import Align, Column
from preprocessor.render.columns import columns_of
from preprocessor.render.comparison import baseline_rows
from preprocessor.render.notes import notes_of
from preprocessor.render.text import NO_ROWS, text_html, with_minus_signs
from preprocessor.render.values import is_number

if TYPE_CHECKING:
    from preprocessor.specs.model import ChartSpec, PipelineSpec, TableSpec

_TO_THIS: Final = "Link to this figure"
_BEHIND: Final = "The runs behind this row"
_NO_MEANINGS: Final[Mapping[str, str]] = MappingProxyType({})


def html_table(
    spec: TableSpec,
    rows: Sequence[Mapping[str, object]],
    *,
    notes: str = "",
    meanings: Mapping[str, str] = _NO_MEANINGS,
    columns: Sequence[Column] | None = None,
    behind: Sequence[str] = (),
) -> str:
    """The figure that stands in the page for one table.

    ``notes`` is HTML to stand under the table, outside its scroll box. ``meanings`` are texts that explain
    columns, by their names; a header shows its own to who points at it or has it read out. ``columns`` are those
    of ``columns_of``, where they are known already. ``behind`` has for each row the anchor of what it was made of,
    "" where there is none. With no rows the author's ``empty`` text (or a plain statement) takes the place of the
    table. The same rows give the same text; lines end in ``\\n``.
    """
    chart = _draw(table_plot(spec), rows) if spec.chart and rows else ""
    body = table_html(spec, rows, meanings, columns, behind) if rows else _nothing(spec)
    return _figure(spec, chart, body, notes)


def html_chart(spec: ChartSpec, rows: Sequence[Mapping[str, object]], *, notes: str = "") -> str:
    """The figure that stands in the page for one chart: the drawing, its values to unfold, and ``notes`` as HTML."""
    if not rows:
        return _figure(spec, _nothing(spec))
    values = table_html(replace(as_table(spec), id=spec.id), rows)
    unfold = f'<details class="mongo-chart__values">\n<summary>Values</summary>\n{values}\n</details>'
    return _figure(spec, _draw(chart_plot(spec), rows), unfold, notes)


def _draw(plot: Plot | None, rows: Sequence[Mapping[str, object]]) -> str:
    return chart_html(plot, rows) if plot else ""


def _figure(spec: PipelineSpec, *parts: str) -> str:
    anchor = f' id="{text_html(spec.id)}"' if spec.id else ""
    lines = [f'<figure class="mongo-table"{anchor}>', _caption(spec), *parts, "</figure>"]
    return "\n".join(line for line in lines if line)


def _caption(spec: PipelineSpec) -> str:
    """Title and caption, outside the scroll box so that they do not scroll away with a wide table."""
    title = f"<strong>{_lines(spec.title)}</strong>" if spec.title else ""
    caption = f"<span>{_lines(spec.caption)}</span>" if spec.caption else ""
    if not (title or caption):
        return ""
    return f"<figcaption>{' '.join(filter(None, (title, _permalink(spec), caption)))}</figcaption>"


def _permalink(spec: PipelineSpec) -> str:
    """Its sign comes from the style sheet, so that search engines do not take it for a word."""
    if not spec.id:
        return ""
    to = f'href="#{text_html(spec.id)}" title="{_TO_THIS}" aria-label="{_TO_THIS}"'
    return f'<a class="mongo-table__link" {to}></a>'


def _nothing(spec: PipelineSpec) -> str:
    return f'<p class="mongo-table__empty">{_lines(spec.empty or NO_ROWS)}</p>'


def table_html(
    spec: TableSpec,
    rows: Sequence[Mapping[str, object]],
    meanings: Mapping[str, str] = _NO_MEANINGS,
    columns: Sequence[Column] | None = None,
    behind: Sequence[str] = (),
) -> str:
    """The table in a box that scrolls: a group with a name, which the keyboard can reach and move; notes below.

    It is no region: a landmark for each of ten tables would bury the page's own landmarks.
    """
    columns = columns or columns_of(spec, rows)
    name = spec.title or spec.caption or "Table: " + ", ".join(spec.headers)
    return "\n".join(
        (
            f'<div class="mongo-table__scroll" role="group" tabindex="0" aria-label="{text_html(name)}">',
            "<table>",
            "<thead>",
            "<tr>",
            *(_header(column, meanings.get(column.name, "")) for column in columns),
            "</tr>",
            "</thead>",
            "<tbody>",
            *_body(columns, spec.id, _find_marked_row(spec, rows), behind),
            "</tbody>",
            "</table>",
            "</div>",
            *(
                f'<p class="mongo-table__note">{_lines(note)}</p>'
                for note in notes_of(list(map(_typeset_notes, columns)))
            ),
        )
    )


_STYLE: Final[Mapping[Align, str]] = {
    # As Python-Markdown and GitHub write it, so that every theme and no theme aligns these cells too.
    "left": "",
    "right": ' style="text-align: right;"',
    "center": ' style="text-align: center;"',
}


def _header(column: Column, meaning: str) -> str:
    unit = f' <span class="mongo-table__unit">{_lines(column.unit)}</span>' if column.unit else ""
    name = _lines(column.header)
    # Themes mark an <abbr> as something to point at; a title on the <th> itself nobody would find.
    shown = f'<abbr title="{text_html(meaning)}">{name}</abbr>' if meaning else name
    return f'<th scope="col"{_STYLE[column.align]}>{shown}{unit}</th>'


def _find_marked_row(spec: TableSpec, rows: Sequence[Mapping[str, object]]) -> int:
    """The index of the baseline row, from 0; -1 without a baseline."""
    if spec.baseline is None:
        return -1
    return next(iter(baseline_rows(spec, rows)), -1)


def _body(columns: Sequence[Column], anchor: str | None, marked: int, behind: Sequence[str]) -> Iterator[str]:
    labels, *others = columns
    anchors = row_anchors(anchor, columns) if anchor else []
    named = labels._replace(links=tuple(f"#{each}" for each in anchors))
    cells = [_cells(named, "th", behind), *(_cells(column, "td") for column in others)]
    for number, row in enumerate(zip(*cells, strict=True)):
        mark = ' class="mongo-table__baseline"' if number == marked else ""
        own = f' id="{anchors[number]}"' if anchors else ""
        yield f"<tr{own}{mark}>" + "\n".join(row) + "</tr>"


def _cells(column: Column, tag: str, behind: Sequence[str] = ()) -> list[str]:
    """The cells of a column. The first column names its row, hence ``<th scope="row">``, and links to it.

    There, too, is the link to what is ``behind`` the row.
    """
    start = f'<{tag} scope="row"' if tag == "th" else f"<{tag}"
    start += _STYLE[column.align]
    texts = list(map(_typeset, column.values, column.texts))
    shown: Iterable[str] = map(_lines, texts)
    if column.sign_meanings:
        shown = map(_explain_sign, shown, map(with_minus_signs, column.sign_meanings))
    if column.links:
        shown = (_link(to, text) for to, text in zip(column.links, shown, strict=True))
    if any(behind):
        shown = (text + _link_behind(to) for to, text in zip(behind, shown, strict=True))
    return [
        f"{start}{_data(value, raw, text, column.reason)}>{cell}</{tag}>"
        for value, raw, text, cell in zip(column.values, column.raws, texts, shown, strict=True)
    ]


def _typeset_notes(column: Column) -> Column:
    """The column with minus signs in the notes that it brings; the author's own reasons stay as they are."""
    return column._replace(notes=tuple(map(with_minus_signs, column.notes)))


def _typeset(value: object, text: str) -> str:
    """A number, or what a comparison concludes, with minus signs; a text as it came."""
    return with_minus_signs(text) if is_number(value) or isinstance(value, Mapping) else text


def _explain_sign(text: str, meaning: str) -> str:
    """The sign at the end of a text as an image with a name: read out in words, and explained to who points at it."""
    if not meaning:
        return text
    named = f'aria-label="{text_html(meaning)}" title="{text_html(meaning)}"'
    return f'{text[:-1]}<span role="img" {named}>{text[-1]}</span>'


def _link(to: str, text: str) -> str:
    """A text without a visible sign would be a link without a name."""
    return f'<a href="{text_html(to)}">{text}</a>' if to and text.strip() else text


def _link_behind(anchor: str) -> str:
    """Its sign comes from the style sheet, as that of a figure's link does."""
    told = f'title="{_BEHIND}" aria-label="{_BEHIND}"'
    return f'<a class="mongo-table__runs" href="#{text_html(anchor)}" {told}></a>' if anchor else ""


def _data(value: object, raw: str, text: str, reason: str) -> str:
    if value is MISSING:
        why = reason or "missing: the row has no such field"
        return f' data-t="missing" title="{text_html(why)}"'
    if value is None:
        return f' data-t="null" title="{text_html(reason or "null")}"'
    return "" if raw == text else f' data-v="{text_html(raw)}"'


def _lines(text: str) -> str:
    shown = text_html(text)
    return shown.replace("\n", "<br>") if "\n" in shown else shown
