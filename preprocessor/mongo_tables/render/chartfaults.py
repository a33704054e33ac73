"""Reports rows that a chart cannot draw, because a reader would not see that they are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from mongo_tables.aggregation.values import MISSING, is_date
from mongo_tables.render.chartdata import Data, Plot, Rows
from mongo_tables.render.chartseries import (
    data_of,
    drawable,
    panels_of,
    places_of,
    present_values,
    y_number,
)
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import contradiction_faults, list_conclusions
from mongo_tables.render.facetfaults import facet_faults
from mongo_tables.render.fault import Fault
from mongo_tables.render.stackfaults import area_faults, stack_faults

# A bar that is thinner than this part of the axis is about half a pixel wide.
_THINNEST: Final = 1 / 1200

# Of values that cannot be drawn, so many are told.
_SHOWN: Final = 3


def plot_faults(plot: Plot | None, rows: Rows) -> list[Fault]:
    """Faults for values that a plot would silently leave out, or draw where no reader could tell them apart."""
    if plot is None:
        return []
    drawn = [panel.data for panel in panels_of(plot, rows)] if plot.facets else [data_of(plot, rows)]
    data = drawn[0]
    return [
        *_find_unfit_settings(plot),
        *facet_faults(plot, len(drawn)),
        *area_faults(plot, drawn),
        *stack_faults(plot, rows, drawn),
        *_undrawn(plot, rows),
        *_find_unsound_comparisons(plot, rows),
        *_find_left_out(plot, rows),
        *_find_mixed_dates(plot, rows),
        *_find_unplaced(plot, rows, data),
        *_without_logarithm(plot, data),
        *_off_the_axis(plot, rows, data),
        *_find_repeated_places(plot, drawn),
        *_too_thin(plot, data),
        *_find_disordered(plot, rows, data),
    ]


def _find_unfit_settings(plot: Plot) -> Iterator[Fault]:
    if plot.horizontal and plot.mark in ("line", "area"):
        message = f"a horizontal chart has names beside its values, and no {plot.mark} goes through names"
        yield (*plot.place, "horizontal"), message, 'draw it with "mark": "dot", or "bar"'
    for one in plot.references:
        if one.low <= 0 and "y" in plot.log:
            message = f"a logarithmic axis has no place for a reference of {one.low:g}"
            yield (*plot.place, "reference"), message, "name one above 0, or draw that axis linear"


def _find_unsound_comparisons(plot: Plot, rows: Rows) -> Iterator[Fault]:
    for column in plot.y:
        concluded = list_conclusions(column, rows)
        yield from contradiction_faults((*plot.place, "y"), concluded, f"in `{column}`, ")


def _undrawn(plot: Plot, rows: Rows) -> Iterator[Fault]:
    for column in plot.y:
        present = present_values(rows, column)
        if any(y_number(value) is not None for value in present):
            continue
        message = f"the chart has nothing to draw: no row has a number in `{column}`"
        hint = "name a column of numbers"
        if present and all(map(is_date, present)):
            message = f"`{column}` has dates, which stand on the horizontal axis only"
            hint = 'name it as "x", or draw a number made of it, with $dateDiff for example'
        yield (*plot.place, "y"), message, hint


def _find_left_out(plot: Plot, rows: Rows) -> Iterator[Fault]:
    """Find values that an axis cannot show as numbers: the chart would silently leave them out."""
    for column in plot.y:
        present = present_values(rows, column)
        out = [value for value in present if y_number(value) is None]
        if not out or len(out) == len(present):
            continue
        texts = dict.fromkeys(plot.text(column, value) for value in out)
        shown = ", ".join(list(texts)[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")
        message = (
            f"{_so_many(len(out), len(rows))} no number in `{column}` that can be drawn, but {shown}: "
            "the chart would leave them out"
        )
        hint = "leave those rows out of the pipeline, or make the value null, which is a gap in the chart"
        yield (*plot.place, "y"), message, hint


def _so_many(some: int, all_of_them: int) -> str:
    return f"{some} of {all_of_them} rows have"


def _find_mixed_dates(plot: Plot, rows: Rows) -> Iterator[Fault]:
    present = present_values(rows, plot.x)
    dates = sum(map(is_date, present))
    if 0 < dates < len(present):
        other = next(value for value in present if not is_date(value))
        message = f"`{plot.x}` is a date in {dates} of {len(rows)} rows, and in others it is not, such as"
        hint = "make all of them dates, with $toDate for example"
        yield (*plot.place, "x"), f"{message} {plot.text(plot.x, other)}", hint


def _find_unplaced(plot: Plot, rows: Rows, data: Data) -> Iterator[Fault]:
    if data.kind == "category":
        return
    values = [column_value(row, plot.x) for row in rows]
    placed = places_of(data.kind, values, [""] * len(values))
    out = [value for value, at in zip(values, placed, strict=True) if at is None]
    absent = sum(value is MISSING or value is None for value in out)
    hint = "leave those rows out of the pipeline"
    if absent:
        message = f"{_so_many(absent, len(rows))} no `{plot.x}`, so they have no place in the chart"
        yield (*plot.place, "x"), message, hint
    if absent < len(out):
        other = next(value for value in out if value is not MISSING and value is not None)
        bounds = "a date in the years 1 to 9999" if data.kind == "time" else "a number that can be drawn"
        message = f"{_so_many(len(out) - absent, len(rows))} no `{plot.x}` that is {bounds}, but"
        yield (*plot.place, "x"), f"{message} {plot.text(plot.x, other)}", hint


def _without_logarithm(plot: Plot, data: Data) -> Iterator[Fault]:
    if "x" in plot.log and data.kind != "number":
        kind = "a time axis" if data.kind == "time" else "names"
        message = f"`{plot.x}` is drawn as {kind}, so its axis cannot be logarithmic"
        yield (*plot.place, "log"), message, "a line or dots over a column of numbers can have such an axis"


def _off_the_axis(plot: Plot, rows: Rows, data: Data) -> Iterator[Fault]:
    axes = [plot.x] if "x" in plot.log and data.kind == "number" else []
    for column in [*axes, *(plot.y if "y" in plot.log else ())]:
        numbers = (drawable(column_value(row, column)) for row in rows)
        if any(number is not None and number <= 0 for number in numbers):
            message = f"a logarithmic axis has no place for a `{column}` of 0 or less"
            yield (*plot.place, "log"), message, "draw that axis linear, or leave those rows out"


def _find_repeated_places(plot: Plot, drawn: Sequence[Data]) -> Iterator[Fault]:
    if plot.mark == "dot":
        return
    for series in (series for data in drawn for series in data.series if series.points):
        text, count = Counter(point.x_text for point in series.points).most_common(1)[0]
        if count > 1:
            message = f"{count} rows have the same place: `{plot.x}` is {text} in each of them"
            yield (
                (*plot.place, "x"),
                message,
                'name the column that tells them apart as "series", or draw dots',
            )
            return


def _find_disordered(plot: Plot, rows: Rows, data: Data) -> Iterator[Fault]:
    """Find lines over names whose series order the names differently: a line would fall where its rows rise."""
    parted = plot.series is not None or plot.facets is not None
    if plot.mark not in ("line", "area") or data.kind != "category" or not parted:
        return
    place = dict(zip(data.x_texts, data.x_values, strict=True))
    last: dict[str, str] = {}
    for row in rows:
        if all(y_number(column_value(row, column)) is None for column in plot.y):
            continue
        name = ", ".join(plot.text(key, column_value(row, key)) for key in (plot.facets, plot.series) if key)
        text = plot.x_text(column_value(row, plot.x))
        before = last.setdefault(name, text)
        if place[text] < place[before]:
            message = (
                f"the rows of {name} have {before} before {text}, and on the axis it stands behind: "
                "its line would not go the way of its rows"
            )
            hint = f"sort the rows by `{plot.x}`, or make it a date or a number, which have their place"
            yield (*plot.place, "x"), message, hint
            return
        last[name] = text


def _too_thin(plot: Plot, data: Data) -> Iterator[Fault]:
    """Bars on a time axis are as wide as their smallest distance lets them be."""
    if plot.mark != "bar" or data.kind != "time" or not data.gap:
        return
    whole = data.x_values[-1] - data.x_values[0] + data.gap
    if data.gap / whole / (1 if plot.stack else len(data.series)) >= _THINNEST:
        return
    closest = min(pairwise(data.x_values), key=lambda pair: pair[1] - pair[0])
    first, second = (data.x_texts[data.x_values.index(one)] for one in closest)
    message = (
        f"the bars at {first} and {second} stand so close, beside all the time on the axis, "
        "that they would be too thin to be seen"
    )
    yield (*plot.place, "mark"), message, "draw a line or dots, or group by a longer time, with $dateTrunc"
