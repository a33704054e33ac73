"""Rules about the horizontal axis of charts: dates that are none, and a zone that nothing is shown in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from preprocessor.aggregation.values import is_date
from preprocessor.findings.finding import Finding
from preprocessor.findings.rules import finding
from preprocessor.render.chartdata import plot_of, present_values
from preprocessor.specs.model import PipelineSpec

Rows = Sequence[Mapping[str, Any]]

_DATE: Final = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d(:\d\d){0,2}(\.\d+)?Z?)?)?")


def zone_without_dates(spec: PipelineSpec, rows: Rows) -> Iterator[Finding]:
    """MT425: a time zone is named for an axis that has no dates, so it changes nothing."""
    plot = plot_of(spec)
    if plot and plot.timezone and not any(map(is_date, present_values(rows, plot.x))):
        message = f"`timezone` changes nothing here: no row has a date in `{plot.x}`."
        hint = "Leave dates as dates in the pipeline; $dateToString and $dateTrunc have a `timezone` of their own."
        yield finding("MT425", spec.file, spec.locate((*plot.place, "timezone"), key=True), message, hint)


def dates_as_names(spec: PipelineSpec, rows: Rows) -> Iterator[Finding]:
    """MT426: texts that are dates stand in the order in which rows name them, which is not that of time."""
    plot = plot_of(spec)
    if plot is None:
        return
    names = list(dict.fromkeys(present_values(rows, plot.x)))
    if not names or not all(isinstance(one, str) and _DATE.fullmatch(one) for one in names):
        return
    wrong = next(((one, other) for one, other in pairwise(names) if one > other), None)
    if wrong is not None and names != sorted(names, reverse=True):
        message = f"`{plot.x}` has texts, which stand in the order of the rows: {wrong[0]} before {wrong[1]}."
        hint = "Leave dates as dates in the pipeline: they stand on a time axis, to scale."
        yield finding("MT426", spec.file, spec.locate((*plot.place, "x")), message, hint)


RULES: Final = (zone_without_dates, dates_as_names)
