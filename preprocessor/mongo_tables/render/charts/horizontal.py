"""Horizontal charts: names at the left, then bars or dots with their ranges, and values at the right.

They suit rows that have names and no order, such as rows that are compared with a baseline: there is room for names,
and readers get values without an axis.

In a narrow drawing, names are above their bars, which take the whole width. Long values are above them, too. The lines
of the grid and of references are then only behind bars, so they cross no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from mongo_tables.render.charts.axes import (
    WIDEST,
    Scale,
    Span,
    fit,
    fit_names,
    letters_in,
    value_axis,
    within,
)
from mongo_tables.render.charts.elements import (
    LINE,
    WIDTH,
    as_axis,
    break_name,
    colour_class,
    draw_lines,
    draw_text,
    draw_title,
    text_width,
    tip_html,
)
from mongo_tables.render.charts.legend import (
    cross_axis,
    draw_bands,
    draw_key,
    draw_references,
    key_height,
    middle_of,
    reference_entries,
    series_entries,
)
from mongo_tables.render.charts.marks import mark_of
from mongo_tables.render.charts.plot import Data, Panel, Plot, PlotPoint, Series
from mongo_tables.render.charts.series import (
    TITLE_HEIGHT,
    axis_title,
    draw_panel_names,
    lay_out_panels,
    put_panels,
)
from mongo_tables.render.charts.time_marks import AxisMark
from mongo_tables.render.column import with_unit
from mongo_tables.render.markup import display_width

_ROW: Final = 22
"""The height of a bar or a dot with the space around it."""
_BETWEEN: Final = 10
"""The space between the rows of two names."""
_WIDEST_NAMES: Final = 210
_WIDEST_VALUES: Final = 240
_LETTER_OF_VALUES: Final = 1.02
_WIDER: Final = 1.12
_WIDER_CAPITAL: Final = 2.2
_LEAST_ROOM: Final = 150
"""The smallest width of the area between names and values."""
_SHORT_VALUES: Final = 0.3
"""The largest share of a narrow drawing's width that the values at the right of the bars may take."""
_AROUND_MARKS: Final = 12
"""The margin at both ends of an axis, into which the texts of its first and last mark extend."""
_KEY_AT: Final = 19
"""The base line of the first line of the key."""


class Bar(NamedTuple):
    """The contents of a row: its parts, and its text. A stacked bar has several parts.

    A part consists of the number of its series, the series and the point.
    """

    parts: tuple[tuple[int, Series, PlotPoint], ...]
    text: str


NamedBars = tuple[str, Sequence[Bar]]
"""A name with its bars."""


class Layout(NamedTuple):
    """The layout of a horizontal chart.

    Attributes:
        width: The width of a panel.
        left: Where bars begin.
        right: Where bars end.
        name_room: The least width for a name. If the value in the same line is short, the name gets more.
        above: Whether names are above their bars.
        values_above: Whether values are above their bars, too.
        share_line: Whether values are in the line of the name.
    """

    width: float
    left: float
    right: float
    name_room: float
    above: bool = False
    values_above: bool = False
    share_line: bool = False


def draw_horizontally(plot: Plot, panels: Sequence[Panel], width: int) -> tuple[float, list[str]]:
    """Return the height and the elements of the drawing."""
    alone = not plot.facets
    grid = lay_out_panels(plot, len(panels), width, 0, 0)
    bars, span = [names_of(plot, panel.data) for panel in panels], (0.0, grid.each)
    layout = lay_out_names([name for each in bars for name in each], grid.each)
    values = [value for panel in panels for value in panel.data.y_values]
    mark = mark_of(plot)
    scale, marks = value_axis(plot, values, (layout.left, layout.right), span, from_zero=mark.from_zero)
    labels = _place_labels(plot, scale, span) if alone else []
    key = series_entries(plot, panels[0].data.series) + ([] if labels else reference_entries(plot.references))
    top = (key_height(key, width) + 17 if key else 4) + (LINE if labels else 0)
    start, names = draw_panel_names(panels, grid.each)
    drawn = []
    for own, name in zip(bars, names, strict=True):
        begin = top if alone else start
        bottom, texts, rows, beside = _draw_rows(plot, scale, own, layout, begin, told=width == WIDTH)
        ground = [*draw_bands(plot, scale, (begin, bottom)), *_draw_grid(scale, marks, beside, layout.width)]
        lines = list(draw_references(plot, scale, *beside))
        # Lines are in front of bars, which would hide them, and behind dots.
        own_parts = (ground, texts, rows, lines) if mark.from_zero else (ground, lines, texts, rows)
        drawn.append((bottom + LINE + 8, [*name, *chain.from_iterable(own_parts)]))
    bottom, elements = drawn[0] if alone else put_panels(grid, drawn, top)
    # If the key has the names of the columns, the title needs only their unit.
    unit, in_key = plot.common_unit, plot.stack and len(plot.y) > 1
    named = unit if in_key and unit else with_unit(", ".join(map(plot.label, plot.y)), unit)
    title, first = axis_title(plot, named, "y", width), bottom + TITLE_HEIGHT - 16
    centred = (scale.start, scale.end) if alone else (0.0, float(width))
    return first + LINE * (len(title) - 1) + 10, [
        *draw_key(key, width, _KEY_AT),
        *elements,
        *as_axis(draw_title(title, centred, width, first, 1)),
        *(
            draw_text(text, within(span, at, text), top - 5, "mongo-chart__aside", "middle")
            for at, text in labels
        ),
    ]


def names_of(plot: Plot, data: Data) -> list[NamedBars]:
    """Return the names with their bars: one bar for each series or, if stacked, one for all series."""
    names: list[NamedBars] = []
    for place, text in zip(data.x_values, shown_names(data.x_texts), strict=True):
        parts = [
            (index, series, point)
            for index, series in enumerate(data.series)
            for point in series.points
            if point.x == place
        ]
        # The title of the axis has a unit that all values share.
        texts = [point.y_text if plot.common_unit else point.in_words for *_, point in parts]
        if plot.stack:
            total = next((point.total for *_, point in parts if point.total), "")
            bars = [Bar(tuple(parts), total or (texts[0] if len(texts) == 1 else ""))]
        else:
            bars = [Bar((part,), own) for part, own in zip(parts, texts, strict=True)]
        names.append((text, bars))
    return names


def shown_names(texts: Sequence[str]) -> Sequence[str]:
    """Return the names to show. If any word is longer than two lines, long names are cut."""
    letters = 2 * letters_in(_WIDEST_NAMES)
    longest = max((display_width(word) for text in texts for word in text.split()), default=0)
    return fit_names(texts, letters) if longest > letters else texts


def lay_out_names(names: Sequence[NamedBars], width: float) -> Layout:
    """Return the layout: names, bars and values next to one another if there is room."""
    texts = [bar.text for _, bars in names for bar in bars]
    values = max(map(text_width, texts), default=0) * _LETTER_OF_VALUES
    if width < WIDTH:
        above = values > width * _SHORT_VALUES
        right = width - (_AROUND_MARKS if above else max(values + 12, _AROUND_MARKS))
        share_line = above and all(len(bars) < 2 for _, bars in names)
        room = (width / 3 if share_line else width) - _AROUND_MARKS
        return Layout(
            width, _AROUND_MARKS, right, room, above=True, values_above=above, share_line=share_line
        )
    lines = [line for name, _ in names for line in break_name(name, _WIDEST_NAMES)]
    # A name must not be cut off, and capitals are wider than most letters.
    widths = (text_width(line) * _WIDER + _WIDER_CAPITAL * sum(map(str.isupper, line)) for line in lines)
    left = max(widths, default=0) + 14
    right = width - min(values, _WIDEST_VALUES, width - left - _LEAST_ROOM) - 12
    return Layout(width, left, right, _WIDEST_NAMES)


def _draw_rows(
    plot: Plot, scale: Scale, names: Sequence[NamedBars], layout: Layout, top: float, *, told: bool
) -> tuple[float, list[str], list[str], list[Span]]:
    """Return the bottom of the rows, the elements of names, the elements of bars, and the vertical spans with bars.

    Names and values above bars are outside of the spans.
    """
    texts, rows, bottom = ['<g class="mongo-chart__names">'], list[str](), top
    beside: list[Span] = []
    name_at, anchor = (layout.left, "") if layout.above else (layout.left - 10, "end")
    for name, bars in names:
        values = sum(text_width(bar.text) for bar in bars) * _LETTER_OF_VALUES
        beside_value = layout.width - values - 16 - _AROUND_MARKS if layout.share_line else 0
        lines = break_name(name, max(layout.name_room, beside_value))
        at, step = bottom, _ROW
        if layout.above:
            first = at + LINE / 2
            at += LINE * len(lines)
            step += LINE if layout.values_above and not layout.share_line else 0
            bottom = at + step * len(bars) + _BETWEEN
        else:
            height = max(_ROW * len(bars), LINE * len(lines)) + _BETWEEN
            first = at + height / 2 - LINE * (len(lines) - 1) / 2
            bottom = at + height
            at += (height - _ROW * len(bars)) / 2
        texts += draw_lines(lines, name_at, first, "", anchor, middle=True)
        for number, bar in enumerate(bars, 1):
            middle = at + step * number - _ROW / 2
            above = first if layout.share_line else middle - _ROW / 2 - LINE / 2
            rows += _draw_bar(plot, scale, bar, middle, layout, above, told=told)
            beside.append((middle - _ROW / 2, middle + _ROW / 2))
    # Without texts between bars, lines have one part. The last one ends at the marks of the axis.
    beside = [*beside[:-1], (beside[-1][0], bottom)] if layout.above and beside else [(top, bottom)]
    return bottom, [*texts, "</g>"], rows, beside


def _draw_bar(
    plot: Plot, scale: Scale, bar: Bar, middle: float, layout: Layout, above: float, *, told: bool
) -> Iterator[str]:
    """Yield the parts of a bar. The last part also has the bar's value.

    ``above`` is the middle of the value's height, if the layout has values above bars.
    """
    mark, look = mark_of(plot), " mongo-chart__parts" if plot.stack else ""
    for left, (index, series, point) in enumerate(bar.parts, 1 - len(bar.parts)):
        yield f'<g class="{colour_class(index)}{look}">'
        if mark.draw_beside:
            tip = tip_html(plot, series, point) if told else ""
            yield from mark.draw_beside(index, point, scale, middle, tip)
        if not left and layout.values_above:
            yield draw_text(bar.text, layout.width, above, "mongo-chart__value", "end", middle=True)
        elif not left:
            yield draw_text(bar.text, layout.right + 8, middle, "mongo-chart__value", middle=True)
        yield "</g>"


def _draw_grid(scale: Scale, marks: Sequence[AxisMark], beside: Sequence[Span], width: float) -> list[str]:
    """Return the vertical lines of the grid, drawn only in the spans ``beside``, and their texts below the last
    span.
    """
    grid = []
    for value, text in marks:
        at = scale.at(value)
        grid.append(f'<path d="{cross_axis(at, beside, vertical=True)}"/>')
        grid.append(draw_text(text, within((0.0, width), at, text), beside[-1][1] + 16, anchor="middle"))
    return as_axis(grid)


def _place_labels(plot: Plot, scale: Scale, span: Span) -> list[AxisMark]:
    """Return the labels of references with their places above the lines, or none if they would touch."""
    found = [
        (middle_of(scale, one), one.label)
        for one in sorted(plot.references)
        if one.label and scale.has(one.high)
    ]
    too_wide = any(text_width(text) * WIDEST > span[1] - span[0] for _, text in found)
    return [] if too_wide or not fit(found, Scale(*span, *span), span) else found
