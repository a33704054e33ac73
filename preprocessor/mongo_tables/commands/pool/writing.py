"""What campaigns conclude together, and where they are kept, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from mongo_tables.commands.compare.writing import format_text
from mongo_tables.results.comparison import Comparison, Difference
from mongo_tables.results.overcampaigns import Pooled
from mongo_tables.results.withincampaign import compare_within

_APART: Final = timedelta(hours=1)
"""Campaigns that began nearer to each other may share what that hour did to the machine."""


def format_kept(kept: Mapping[Path, int]) -> Iterator[str]:
    """Where each campaign is kept, and with how many rows."""
    for place, rows in kept.items():
        yield f"kept: {place}: {rows} {'row' if rows == 1 else 'rows'}"


def format_pooled(pooled: Pooled) -> Iterator[str]:
    """What is concluded of each row, which rows are left out, and campaigns that are of one hour."""
    rows = tuple(one for one in compare_within(pooled.rows).rows if one.campaigns)
    yield from format_text(Difference(rows))
    yield from (f"not pooled: {one.name}: {one.reason}" for one in pooled.left_out)
    yield from dict.fromkeys(line for row in rows for line in _list_of_one_hour(row))


def _list_of_one_hour(row: Comparison) -> Iterator[str]:
    for one, other in pairwise(row.campaigns):
        if other.start - one.start < _APART:
            minutes = (other.start - one.start) // timedelta(minutes=1)
            yield (
                f"campaigns {one.id} and {other.id} began {minutes} minutes apart: "
                "what that hour did to the machine may be in both"
            )
