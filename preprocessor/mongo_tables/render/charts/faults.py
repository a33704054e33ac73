"""Faults of rows and settings that a chart cannot draw. Readers would not notice what is missing in the drawing.

Faults of a single mark are in the module of the mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from mongo_tables.aggregation.values import is_date
from mongo_tables.render.charts.axes import are_apart, fit_names
from mongo_tables.render.charts.elements import LONGEST
from mongo_tables.render.charts.horizontal import shown_names
from mongo_tables.render.charts.marks import MARKS, mark_of
from mongo_tables.render.charts.plot import Data, Plot
from mongo_tables.render.charts.series import (
    panels_of,
    places_of,
    present_values,
    y_number,
)
from mongo_tables.render.column import Rows, column_value
from mongo_tables.render.comparison import contradiction_faults
from mongo_tables.render.conclusions import conclusion_of, list_conclusions
from mongo_tables.render.faults import SpecFault
from mongo_tables.render.values import drawable
from mongo_tables.results.row_names import find_naming_fields, version_hint

_SHOWN: Final = 3
"""The number of values that a message lists."""
_MOST_PANELS: Final = 24
_MOST_PARTS: Final = 12
"""With at most this many series, any two differ in their colour, pattern or dash."""


def plot_faults(plot: Plot | None, rows: Rows) -> list[SpecFault]:
    """Return faults of values that a chart would omit, or draw so that readers cannot distinguish them."""
    if plot is None:
        return []
    drawn = [panel.data for panel in panels_of(plot, rows)]
    data = drawn[0]
    return [
        *_find_unfit_settings(plot),
        *_find_unfit_panels(plot, len(drawn)),
        *_find_unfit_stacks(plot, rows, drawn),
        *mark_of(plot).find_faults(plot, drawn),
        *_find_undrawn(plot, rows),
        *_find_unplaced(plot, rows, data),
        *_find_unfit_logarithms(plot, rows, data),
        *_find_repeated_places(plot, rows, drawn),
        *_find_disordered(plot, rows, data),
        *_find_alike(plot, drawn),
    ]


def _find_unfit_settings(plot: Plot) -> Iterator[SpecFault]:
    if plot.horizontal and mark_of(plot).draw_beside is None:
        message = f"a horizontal chart has names on one axis, but a {plot.mark} cannot connect names"
        yield (*plot.place, "horizontal"), message, 'draw it with "mark": "dot", or "bar"'
    if not plot.zero and mark_of(plot).from_zero:
        message = f"the length of a {plot.mark} is its value, so its axis includes 0"
        yield (*plot.place, "zero"), message, 'remove `zero`, or draw "mark": "dot" or "line"'
    for one in plot.references:
        if one.low <= 0 and "y" in plot.log:
            message = f"a logarithmic axis cannot show a reference of {one.low:g}"
            yield (*plot.place, "reference"), message, "choose a reference above 0, or use a linear axis"


def _find_unfit_panels(plot: Plot, panels: int) -> Iterator[SpecFault]:
    """Yield faults of panels: there are too many to compare, or each has one place or one series only."""
    place = (*plot.place, "facets")
    if plot.facets is None:
        return
    same = next((key for key in ("x", "series") if getattr(plot, key) == plot.facets), "")
    if same:
        message = f"`{plot.facets}` is also `{same}`, so each panel would have a single value of it"
        yield place, message, "name another column"
    if panels > _MOST_PANELS:
        message = f"`{plot.facets}` makes {panels} panels, but readers can compare at most {_MOST_PANELS}"
        yield place, message, "choose some of them in the pipeline, or draw all series in one panel"


def _find_unfit_stacks(plot: Plot, rows: Rows, drawn: Sequence[Data]) -> Iterator[SpecFault]:
    if not plot.stack:
        return
    place = (*plot.place, "stack")
    if MARKS[plot.mark].stacked is None:
        message = f"a {plot.mark} does not start at the axis, so it cannot be stacked"
        yield place, message, 'draw "mark": "bar", or "area"'
        return
    units = list(dict.fromkeys(filter(None, map(plot.unit, plot.y))))
    if len(units) > 1:
        message = f"{' and '.join(units)} do not add up"
        yield place, message, "stack columns of one unit, or remove `stack`"
    for column in plot.y:
        if any(conclusion_of(column_value(row, column)) for row in rows):
            message = f"`{column}` has comparisons, but ratios do not add up"
            yield place, message, 'remove `stack`, or draw "mark": "dot"'
    parts = max((len(data.series) for data in drawn), default=0)
    if parts > _MOST_PARTS:
        message = f"a stack has {parts} series, but readers can distinguish at most {_MOST_PARTS}"
        yield place, message, "add up the small ones in the pipeline"


def _find_undrawn(plot: Plot, rows: Rows) -> Iterator[SpecFault]:
    """Yield faults of values that are not numbers and that the chart would omit without a message."""
    place = (*plot.place, "y")
    for column in plot.y:
        yield from contradiction_faults(place, list_conclusions(column, rows), f"in `{column}`, ")
        present = present_values(rows, column)
        out = [value for value in present if y_number(value) is None]
        if len(out) == len(present):
            message = f"the chart is empty: no row has a number in `{column}`"
            hint = version_hint(column, rows) or "name a column of numbers"
            if present and all(map(is_date, present)):
                message = f"`{column}` has dates, which can only be on the horizontal axis"
                hint = 'name it as "x", or convert it to a number, for example with $dateDiff'
            yield place, message, hint
        elif out:
            texts = dict.fromkeys(plot.text(column, value) for value in out)
            shown = ", ".join(list(texts)[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")
            message = (
                f"{len(out)} of {len(rows)} rows have {shown} in `{column}`, which cannot be drawn, so the chart would "
                "omit them"
            )
            hint = "exclude those rows in the pipeline, or make the value null, which is a gap in the chart"
            yield place, message, hint


def _find_unplaced(plot: Plot, rows: Rows, data: Data) -> Iterator[SpecFault]:
    """Yield faults of rows without a place on the horizontal axis, or with places of different types."""
    place = (*plot.place, "x")
    present = present_values(rows, plot.x)
    dates = sum(map(is_date, present))
    if 0 < dates < len(present):
        other = next(value for value in present if not is_date(value))
        message = f"`{plot.x}` is a date in {dates} of {len(rows)} rows, but not in all: another value is"
        hint = "convert all of them to dates, for example with $toDate"
        yield place, f"{message} {plot.text(plot.x, other)}", hint
    if data.kind == "category":
        return
    hint = "exclude those rows in the pipeline"
    absent = len(rows) - len(present)
    if absent:
        message = f"{absent} of {len(rows)} rows have no `{plot.x}`, so they have no place in the chart"
        yield place, message, hint
    placed = places_of(data.kind, present, [""] * len(present))
    out = [value for value, at in zip(present, placed, strict=True) if at is None]
    if out:
        bounds = "a date in the years 1 to 9999" if data.kind == "time" else "a number that can be drawn"
        message = f"in {len(out)} of {len(rows)} rows `{plot.x}` is not {bounds}, but"
        yield place, f"{message} {plot.text(plot.x, out[0])}", hint


def _find_unfit_logarithms(plot: Plot, rows: Rows, data: Data) -> Iterator[SpecFault]:
    """Yield faults of logarithmic axes over names or dates, or with values that have no logarithm."""
    place = (*plot.place, "log")
    if "x" in plot.log and data.kind != "number":
        kind = "a time axis" if data.kind == "time" else "names"
        message = f"`{plot.x}` is drawn as {kind}, so its axis cannot be logarithmic"
        yield place, message, "draw a line or dots over a column of numbers, or use a linear axis"
    axes = [plot.x] if "x" in plot.log and data.kind == "number" else []
    for column in [*axes, *(plot.y if "y" in plot.log else ())]:
        numbers = (drawable(column_value(row, column)) for row in rows)
        if any(number is not None and number <= 0 for number in numbers):
            message = f"a logarithmic axis cannot show a `{column}` of 0 or less"
            yield place, message, "use a linear axis, or exclude those rows in the pipeline"


def _find_repeated_places(plot: Plot, rows: Rows, drawn: Sequence[Data]) -> Iterator[SpecFault]:
    if mark_of(plot).repeats:
        return
    for series in (series for data in drawn for series in data.series if series.points):
        text, count = Counter(point.x_text for point in series.points).most_common(1)[0]
        if count > 1:
            message = f"{count} rows have the same place: `{plot.x}` is {text} in each of them"
            shown = [column for column in (plot.x, plot.series, plot.facets) if column]
            telling = "".join(f", such as `{name}`" for name in find_naming_fields(rows, shown)[:1])
            key = '"series"' if plot.facets else '"series" or "facets"'
            hint = f"name the column in which they differ as {key}{telling}, or draw dots"
            yield (*plot.place, "x"), message, hint
            return


def _find_alike(plot: Plot, drawn: Sequence[Data]) -> Iterator[SpecFault]:
    """Yield a fault for names that look the same on the axis, because long names are cut."""
    for names in (data.x_texts for data in drawn if data.kind == "category"):
        at_left = plot.horizontal or mark_of(plot).draw_beside
        shown = shown_names(names) if at_left else fit_names(names, LONGEST)
        if not are_apart(names, shown):
            text, count = Counter(shown).most_common(1)[0]
            message = f"{count} names are so long that they look the same: each is cut to {text}"
            hint = f"shorten `{plot.x}` in the pipeline, for example with $split or $replaceAll"
            yield (*plot.place, "x"), message, hint
            return


def _find_disordered(plot: Plot, rows: Rows, data: Data) -> Iterator[SpecFault]:
    """Yield a fault for lines over names, if the rows of a series have the names in another order than the axis."""
    parted = plot.series is not None or plot.facets is not None
    if not mark_of(plot).joined or data.kind != "category" or not parted:
        return
    place = dict(zip(data.x_texts, data.x_values, strict=True))
    last: dict[str, str] = {}
    for row in rows:
        if all(y_number(column_value(row, column)) is None for column in plot.y):
            continue
        name = ", ".join(plot.text(key, column_value(row, key)) for key in (plot.facets, plot.series) if key)
        text = plot.text(plot.x, column_value(row, plot.x))
        before = last.setdefault(name, text)
        if place[text] < place[before]:
            message = (
                f"the rows of {name} have {before} before {text}, but the axis has them in the other order, so the "
                f"line would not follow its rows"
            )
            hint = f"sort the rows by `{plot.x}`, or convert it to a date or a number"
            yield (*plot.place, "x"), message, hint
            return
        last[name] = text
