"""Differences between two texts: as a diff for ``patch`` and readers, and as one change from old to new."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

NOWHERE = "/dev/null"
"""The name of a missing file in a diff."""


def changed_lines(before: str, after: str, old_name: str, new_name: str) -> Iterator[str]:
    """Yield the lines of a unified diff, each with its line end."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, old_name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


class TextChange(NamedTuple):
    """A text that replaces the one from ``start`` to ``end``, offsets in characters."""

    start: int
    end: int
    text: str


def difference(before: str, after: str) -> TextChange:
    """Return the change from one text to another: everything between their common beginning and end.

    Example:
        >>> difference("abcd", "abXd")
        TextChange(start=2, end=3, text='X')
    """
    start = _count_alike(before, after)
    left = min(len(before), len(after)) - start
    same = _count_alike_at_end(before, after, left)
    return TextChange(start, len(before) - same, after[start : len(after) - same])


def _count_alike(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts. It compares slices, because texts may be large."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _count_alike_at_end(one: str, other: str, most: int) -> int:
    """Return the length of the common end of two texts, at most ``most``."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
