"""The marks of a chart: one module each, whose ``MARK`` describes the mark completely."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from mongo_tables.directives.schemas import load
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import Plot

MARKS: Final[Mapping[str, Mark]] = {
    name: import_module(f"{__name__}.{name}").MARK for name in load("chart")["properties"]["mark"]["enum"]
}
"""The mark of each name in the schema of charts, from the module of this name."""


def mark_of(plot: Plot) -> Mark:
    """Return the mark of a plot, in its stacked form if the plot stacks and the mark has one."""
    mark = MARKS[plot.mark]
    return mark.stacked or mark if plot.stack else mark
