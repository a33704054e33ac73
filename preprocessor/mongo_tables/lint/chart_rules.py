"""Rules about charts: texts that are dates, and lines that join nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import RuleContext, rule
from mongo_tables.render.charts.marks import MARKS
from mongo_tables.render.charts.plot import plot_of
from mongo_tables.render.charts.series import panels_of, present_values

Rows = Sequence[Mapping[str, Any]]

_DATE: Final = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d(:\d\d){0,2}(\.\d+)?Z?)?)?")


@rule("MT426", of="rows")
def find_dates_as_strings(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT426: strings that are dates are drawn in the order of the rows, and at equal distances."""
    spec = subject.spec
    plot = plot_of(spec)
    values = present_values(rows, plot.x) if plot else []
    # Values of other types, such as ``Code``, may not be hashable.
    if plot is None or not all(type(one) is str and _DATE.fullmatch(one) for one in values):
        return
    names = list(dict.fromkeys(values))
    wrong = next(((one, other) for one, other in pairwise(names) if one > other), None)
    if wrong and names != sorted(names, reverse=True):
        how = f"which are drawn in the order of the rows: {wrong[0]} before {wrong[1]}"
    elif len(names) > 2 and MARKS[plot.mark].joined and not _evenly_spaced(names):
        how = (
            f"which are drawn at equal distances, although the times between {names[0]}, {names[1]} and {names[2]} "
            "are not equal"
        )
    else:
        return
    dates = f'{{"$set": {{"{plot.x}": {{"$toDate": "${plot.x}"}}}}}}'
    hint = f"keep them as dates, which a time axis shows to scale: {dates}"
    yield subject.finding("MT426", spec.locate((*plot.place, "x")), f"`{plot.x}` has strings, {how}", hint)


@rule("MT461", of="rows")
def find_lines_without_a_line(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT461: no series has two values that a line or an area could join."""
    plot = plot_of(subject.spec)
    key = "series" if plot and plot.series else "facets"
    if plot is None or not getattr(plot, key) or not MARKS[plot.mark].joined:
        return
    drawn = [panel.data for panel in panels_of(plot, rows)]
    most = max((len(series.drawn) for data in drawn for series in data.series), default=0)
    if most == 1 and len(drawn[0].x_values) > 1:
        message = f"no series has two values, so the {plot.mark} connects nothing"
        hint = f'choose a column for "{key}" whose values several rows share, or draw "mark": "dot"'
        yield subject.finding("MT461", subject.spec.locate((*plot.place, key)), message, hint)


def _evenly_spaced(names: Sequence[str]) -> bool:
    """Return whether the periods between consecutive dates are equal, in calendar months or in seconds."""
    try:
        moments = [
            datetime.fromisoformat(f"{one}-01" if len(one) == 7 else one.removesuffix("Z")) for one in names
        ]
    except ValueError:
        return True  # The date does not exist.
    months = {12 * (b.year - a.year) + b.month - a.month for a, b in pairwise(moments)}
    same_day = len({(one.day, one.time()) for one in moments}) == 1
    return (same_day and len(months) == 1) or len({b - a for a, b in pairwise(moments)}) == 1
