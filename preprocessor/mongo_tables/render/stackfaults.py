"""Reports areas and stacks that would mislead: what hides something, and what does not add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mongo_tables.render.chartdata import Data, Plot, Rows, Series
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.fault import Fault

_MOST_PARTS: Final = 12
"""Of so many series no two have the same colour and the same pattern or dash."""


def area_faults(plot: Plot, drawn: Sequence[Data]) -> Iterator[Fault]:
    """Areas that hide one another, or that cannot begin at zero; ``drawn`` is the data of each panel."""
    if plot.mark != "area":
        return
    several = any(sum(bool(series.drawn) for series in data.series) > 1 for data in drawn)
    if several and not plot.stack:
        message = "areas of several series would hide one another"
        yield (*plot.place, "mark"), message, 'add "stack": true where they add up, or draw lines'
    if "y" in plot.log:
        message = "an area begins at zero, and a logarithmic axis has none"
        yield (*plot.place, "log"), message, "draw a line, or draw that axis linear"


def stack_faults(plot: Plot, rows: Rows, drawn: Sequence[Data]) -> Iterator[Fault]:
    """Why values cannot stand on one another; ``drawn`` is the data of each panel."""
    if not plot.stack:
        return
    place = (*plot.place, "stack")
    if plot.mark not in ("bar", "area"):
        yield (
            place,
            f"a {plot.mark} stands on nothing, so nothing can be stacked",
            'draw "mark": "bar", or "area"',
        )
        return
    if "y" in plot.log and plot.mark == "bar":
        message = "on a logarithmic axis equal lengths are no equal amounts, so a stack on it shows no sum"
        yield (*plot.place, "log"), message, "draw that axis linear, or leave out `stack`"
    yield from _find_what_does_not_add_up(plot, rows, place)
    parts = max((len(data.series) for data in drawn), default=0)
    if parts > _MOST_PARTS:
        message = f"a stack of {parts} series has some that look alike: more than {_MOST_PARTS} cannot be told apart"
        yield place, message, "add up the small ones in the pipeline"
    if plot.mark == "area":
        yield from _find_holes(plot, drawn)


def _find_what_does_not_add_up(plot: Plot, rows: Rows, place: tuple[str, ...]) -> Iterator[Fault]:
    units = list(dict.fromkeys(filter(None, map(plot.unit, plot.y))))
    if len(units) > 1:
        message = f"{' and '.join(units)} do not add up"
        yield place, message, "stack columns of one unit, or leave out `stack`"
    for column in plot.y:
        if any(conclusion_of(column_value(row, column)) for row in rows):
            message = f"`{column}` has comparisons, and ratios do not add up"
            yield place, message, 'leave out `stack`, or draw "mark": "dot"'


def _find_holes(plot: Plot, drawn: Sequence[Data]) -> Iterator[Fault]:
    """Find places where an area has nothing to stand on: a series has no row there, or another sign."""
    for data in drawn:
        if any(point.y and point.y < 0 for series in data.series for point in series.drawn) and any(
            point.y and point.y > 0 for series in data.series for point in series.drawn
        ):
            message = "values above and below zero cannot stand on one another as areas"
            yield (*plot.place, "mark"), message, 'draw "mark": "bar", which stands on both sides of zero'
        for series in data.series:
            place = _first_hole(series)
            if place:
                message = f"{_called(series)} has no row at {place}, so what stands on it has no place there"
                hint = "let the pipeline give it a row, with 0 or null: $densify and $fill do"
                yield (*plot.place, "stack"), message, hint
                return


def _first_hole(series: Series) -> str:
    return next((point.x_text for point in series.points if point.absent), "")


def _called(series: Series) -> str:
    return f"{series.name} of {series.panel}" if series.panel else series.name
