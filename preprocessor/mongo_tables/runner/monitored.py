"""What others than the run saw of the servers' machine in a window: series like its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

Series = Sequence[dict[str, Any]]
INSIDE: Final = "inside the window"
"""That each point tells of the window alone."""


class Monitored(NamedTuple):
    """Series of process and disk; ``facts`` says how fine and how late they are, and where their points lie."""

    source: str
    process_series: Series
    disk_series: Series
    facts: Mapping[str, Any]

    @property
    def is_inside(self) -> bool:
        """Whether the points tell of the window alone."""
        return bool(self.facts["points"] == INSIDE)


def merged(own: Series, others: Series, *, prefer_others: bool) -> list[dict[str, Any]]:
    """One series of each name: of two the preferred one, unless it has no value and the other has."""
    first, second = (others, own) if prefer_others else (own, others)
    chosen: dict[str, dict[str, Any]] = {}
    for one in (*first, *second):
        there = chosen.get(one["name"])
        if there is None or (not has_value(there) and has_value(one)):
            chosen[one["name"]] = one
    return list(chosen.values())


def has_value(series: Mapping[str, Any]) -> bool:
    """Whether any of its points has one."""
    return any(point["value"] is not None for point in series["dataPoints"])
