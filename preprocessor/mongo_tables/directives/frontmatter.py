"""Front matter: the head of a page that MkDocs takes for its own and never shows.

MkDocs takes a ``---`` block at the very top only when it is a YAML mapping; anything else is text of the page
(https://www.mkdocs.org/user-guide/writing-your-docs/#meta-data). Without that block it takes leading ``Key:
value`` lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"---[ \t]*$")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*$")
# What a line of a YAML mapping can begin with at the margin; a value, or a list under a key, is indented or
# dashed.
_MAPPING_LINE = re.compile(r"(?:[ \t]|#|- |-$|$|[}\]]|[^\s#<>&*!|%@`\-][^:]*:(?:[ \t]|$)|\{)")
_KEY = re.compile(r" {0,3}[A-Za-z0-9_-]+:")
_BEGINNING = re.compile(rf"\ufeff?(?:---|{_KEY.pattern})")


def may_have_front_matter(text: str) -> bool:
    """Whether the first line of a page may be front matter: a quick look, before its lines are told apart."""
    return _BEGINNING.match(text) is not None


def front_matter_lines(lines: Sequence[str]) -> int:
    """Give how many lines at the top of a page are front matter; 0 when none are."""
    if not lines:
        return 0
    first = lines[0].removeprefix("\ufeff")
    if _FENCE.match(first):
        return _yaml_lines(lines)
    count = 0
    for line in [first, *lines[1:]]:
        more = count and line.strip() and re.match(r" {4}|\t", line)
        if not (_KEY.match(line) or more):
            break
        count += 1
    return count


def _yaml_lines(lines: Sequence[str]) -> int:
    """Give how many lines a YAML mapping between ``---`` lines takes; 0 when it is none, or never ends."""
    keys = False
    for index in range(1, len(lines)):
        line = lines[index]
        if _END.match(line):
            return index + 1 if keys else 0
        if not _MAPPING_LINE.match(line):
            return 0
        keys = keys or (bool(line.strip()) and line[0] not in " \t#-")
    return 0
