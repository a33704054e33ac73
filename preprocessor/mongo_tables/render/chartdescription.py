"""A chart in words, for who cannot see it: what is on the axes, and what each series does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mongo_tables.render.chartdata import Data, Panel, Plot, Series
from mongo_tables.render.chartparts import summarise_axes
from mongo_tables.render.chartreference import references_in_words
from mongo_tables.render.marks import mark_of

_LOG_AXES = {
    "x": ", horizontal axis logarithmic",
    "y": ", vertical axis logarithmic",
    "xy": ", logarithmic axes",
}


def describe(plot: Plot, data: Data) -> str:
    """The drawing in words: what is on the axes, and from where to where each series goes."""
    return _sentences([_introduction(plot, [data]), *_contents(plot, data)])


def describe_panels(plot: Plot, panels: Sequence[Panel]) -> str:
    """The same of several panels, each by its name."""
    count = f"{len(panels)} panels by {plot.label(plot.facets or '')}"
    told = (": ".join((panel.name, "; ".join(_contents(plot, panel.data)))) for panel in panels)
    return _sentences([f"{_introduction(plot, [panel.data for panel in panels])}, {count}", *told])


def _sentences(parts: Iterable[str]) -> str:
    return ". ".join(parts) + "."


def _introduction(plot: Plot, data: Sequence[Data]) -> str:
    """What is drawn, on which axes, with what beside it."""
    references = "".join(f", with {one}" for one in references_in_words(plot))
    if plot.horizontal:
        scale = ", logarithmic" if "y" in plot.log else ""
        kind = f"Horizontal {'stacked ' if plot.stack else ''}{plot.mark} chart"
        return f"{kind} of {summarise_axes(plot)}{scale}{references}"
    points = (point for one in data for series in one.series for point in series.drawn)
    ranges = ", with ranges" if any(point.ends for point in points) else ""
    in_zone = any(one.kind == "time" for one in data) and plot.timezone
    zone = f", dates in {plot.timezone}" if in_zone else ""
    axes = _LOG_AXES.get(plot.log, "")
    return f"{mark_of(plot).called} of {summarise_axes(plot)}{ranges}{axes}{zone}{references}"


def _contents(plot: Plot, data: Data) -> Iterator[str]:
    """What each series shows: the value of each name or, along an axis, the first and the last."""
    if not plot.horizontal:
        yield from (_course(series) for series in data.series if series.drawn)
        return
    several = len(data.series) > 1
    for series in data.series:
        for point in series.points:
            yield f"{point.x_text}{f', {series.name}' if several else ''}: {point.in_words}"


def _course(series: Series) -> str:
    first, last = series.drawn[0], series.drawn[-1]
    begins, ends = (f"{point.in_words} at {point.x_text}" for point in (first, last))
    return f"{series.name}: {begins}" if first is last else f"{series.name}: from {begins} to {ends}"
