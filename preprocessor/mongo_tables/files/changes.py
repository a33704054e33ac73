"""What a new text would change in a file, as a diff that ``patch`` and people read."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

NOWHERE = "/dev/null"
"""How a diff calls a file that is not there."""


def changed_lines(before: str, after: str, old_name: str, new_name: str) -> Iterator[str]:
    """The lines of a unified diff, each with its end."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, old_name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
