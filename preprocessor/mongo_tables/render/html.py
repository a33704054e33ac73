"""The figures of a page as HTML: a table or a chart with what stands above and below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mongo_tables.render.charts.drawing import chart_html
from mongo_tables.render.charts.plot import as_table, plot_of
from mongo_tables.render.column import Column
from mongo_tables.render.markup import NO_ROWS, lines_html, text_html, words_html
from mongo_tables.render.table_html import NO_MEANINGS, table_html

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec

_TO_THIS: Final = "Link to this figure"


def html_table(
    spec: TableSpec,
    rows: Sequence[Mapping[str, object]],
    *,
    notes: str = "",
    meanings: Mapping[str, str] = NO_MEANINGS,
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
    chart = _draw(spec, rows) if spec.chart and rows else ""
    body = table_html(spec, rows, meanings, columns, behind) if rows else _nothing(spec)
    return _figure(spec, chart, body, notes)


def html_chart(spec: ChartSpec, rows: Sequence[Mapping[str, object]], *, notes: str = "") -> str:
    """The figure that stands in the page for one chart: the drawing, its values to unfold, and ``notes`` as HTML.

    What shared lists say of its fields explains the columns of the values.
    """
    if not rows:
        return _figure(spec, _nothing(spec))
    values = table_html(replace(as_table(spec), id=spec.id), rows, meanings=spec.meanings)
    unfold = f'<details class="mongo-chart__values">\n<summary>Values</summary>\n{values}\n</details>'
    return _figure(spec, _draw(spec, rows), unfold, notes)


def _draw(spec: PipelineSpec, rows: Sequence[Mapping[str, object]]) -> str:
    plot = plot_of(spec)
    return chart_html(plot, rows) if plot else ""


def _figure(spec: PipelineSpec, *parts: str) -> str:
    anchor = f' id="{text_html(spec.id)}"' if spec.id else ""
    lines = [f'<figure class="mongo-table"{anchor}>', _caption(spec), *parts, "</figure>"]
    return "\n".join(line for line in lines if line)


def _caption(spec: PipelineSpec) -> str:
    """Title and caption, outside the scroll box so that they do not scroll away with a wide table."""
    parts = []
    if spec.title:
        parts.append(f"<strong>{words_html(spec.pieces.get(('title',)), spec.title)}</strong>")
    if spec.id and (spec.title or spec.caption):
        # Its sign comes from the style sheet, so that search engines do not take it for a word.
        to = f'href="#{text_html(spec.id)}" title="{_TO_THIS}" aria-label="{_TO_THIS}"'
        parts.append(f'<a class="mongo-table__link" {to}></a>')
    if spec.caption:
        parts.append(f"<span>{words_html(spec.pieces.get(('caption',)), spec.caption)}</span>")
    return f"<figcaption>{' '.join(parts)}</figcaption>" if parts else ""


def _nothing(spec: PipelineSpec) -> str:
    return f'<p class="mongo-table__empty">{lines_html(spec.empty or NO_ROWS)}</p>'
