"""The marks of a chart: how values are drawn between axes. Each is a module whose ``MARK`` says all that is special."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mongo_tables.render.charts.marks import area, bar, dot, line
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import Plot

MARKS: Final[Mapping[str, Mark]] = {one.MARK.name: one.MARK for one in (line, dot, bar, area)}


def mark_of(plot: Plot) -> Mark:
    """The mark of a plot; where it cannot be stacked, as if that had not been asked for."""
    mark = MARKS[plot.mark]
    return mark.stacked or mark if plot.stack else mark
