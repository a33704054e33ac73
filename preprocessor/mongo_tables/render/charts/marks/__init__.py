"""The marks of a chart (line, area, bar, dot): one module each, whose ``MARK`` describes the mark completely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mongo_tables.render.charts.marks import area, bar, dot, line
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import Plot

MARKS: Final[Mapping[str, Mark]] = {one.MARK.name: one.MARK for one in (line, dot, bar, area)}


def mark_of(plot: Plot) -> Mark:
    """Return the mark of a plot, in its stacked form if the plot stacks and the mark has one."""
    mark = MARKS[plot.mark]
    return mark.stacked or mark if plot.stack else mark
