"""Changes of a text: a diff of two texts for ``patch`` and readers, and one replacement."""

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
