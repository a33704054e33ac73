"""The marks of a chart. Each has a module whose ``MARK`` describes it completely."""

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
"""The marks by their names in the schema of charts. The module of each mark has the same name."""


def mark_of(plot: Plot) -> Mark:
    """Return the mark of a plot, or its stacked form if the plot stacks series and the mark has one."""
    mark = MARKS[plot.mark]
    return mark.stacked or mark if plot.stack else mark
