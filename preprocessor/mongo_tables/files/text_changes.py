"""What a new text changes: as a diff that ``patch`` and people read, and as the one change that makes it of the old."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

NOWHERE = "/dev/null"
"""How a diff calls a file that is not there."""


def changed_lines(before: str, after: str, old_name: str, new_name: str) -> Iterator[str]:
    """The lines of a unified diff, each with its end."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, old_name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


class Change(NamedTuple):
    """A text for the place of what stands from ``start`` to ``end``, offsets in characters."""

    start: int
    end: int
    text: str


def difference(before: str, after: str) -> Change:
    """The change that makes one text of another: what differs between what both begin and what both end with."""
    start = _count_alike(before, after)
    left = min(len(before), len(after)) - start
    same = _count_alike_at_end(before, after, left)
    return Change(start, len(before) - same, after[start : len(after) - same])


def _count_alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike; slices are compared, as texts may have millions."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _count_alike_at_end(one: str, other: str, most: int) -> int:
    """How many characters two texts end with alike, at most so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
