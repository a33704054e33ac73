"""Reports panels that show nothing: too many to be compared, or one for each place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mongo_tables.render.chartdata import Plot
from mongo_tables.render.fault import Fault

_MOST_PANELS: Final = 24


def facet_faults(plot: Plot, panels: int) -> Iterator[Fault]:
    """Why a plot cannot have these panels."""
    if plot.facets is None:
        if plot.columns is not None:
            message = "`columns` says how many panels stand side by side, and there are none"
            yield (
                (*plot.place, "columns"),
                message,
                "name the column that has a panel for each value as `facets`",
            )
        return
    same = next((key for key in ("x", "series") if getattr(plot, key) == plot.facets), "")
    if same:
        message = f"`{plot.facets}` is `{same}` as well, so each panel would have one value of it"
        yield (*plot.place, "facets"), message, "name another column"
    if panels > _MOST_PANELS:
        message = f"`{plot.facets}` makes {panels} panels, and more than {_MOST_PANELS} cannot be compared"
        yield (
            (*plot.place, "facets"),
            message,
            "choose some of them in the pipeline, or draw them in one chart",
        )
