"""Fenced code: which lines a MkDocs site takes as code between ``` or ~~~ marks.

MkDocs sites use ``pymdownx.superfences``, which differs from CommonMark: the closing mark has exactly the
length of the opening one, no line between may be indented less than the marks, a header that it does not
understand is no header, and a fence that is never closed is no fence
(https://facelessuser.github.io/pymdown-extensions/extensions/superfences/).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_PREFIX = re.compile(r"[> \t]*")
# The header after the mark: a language, then {attributes} or options.
_OPENING = re.compile(
    r"(?P<mark>~{3,}|`{3,})(?:[ \t]*\.?[\w#.+-]+(?=[\t ]|$))?"
    r"(?:[ \t]*\{[^\n]*\}"
    r"|(?P<options>(?:[ \t]*[a-zA-Z][a-zA-Z0-9_]*(?:=(?:\"[^\"]*\"|'[^']*'))?(?=[\t ]|$))+))?[ \t]*$"
)
_MARK = re.compile(r"`{3,}[^`]*$|~{3,}")
_MARKS = ("```", "~~~")
_OPTION = re.compile(r"([a-zA-Z][a-zA-Z0-9_]*)(=)?(?:\"[^\"]*\"|'[^']*')?")
_KNOWN_OPTIONS = frozenset({"hl_lines", "linenums", "title", "title_mode"})


class Fence(NamedTuple):
    """A line that opens a fence, or looks like it, and what becomes of it.

    ``last`` is the index of its closing line. When ``closed`` is false, the site takes it as text, and
    ``last`` is the last line that was searched for a closing one: between the two nothing else can open a
    fence.
    """

    first: int
    last: int
    closed: bool


def fence_at(lines: Sequence[str], index: int) -> Fence | None:
    """Give the fence that the line at ``index`` opens, or None when it opens none."""
    match = _PREFIX.match(lines[index])
    assert match is not None  # the pattern matches the empty string
    opening = _OPENING.match(lines[index], match.end())
    if opening is None or not _knows_all_options(opening["options"]):
        mark = _MARK.match(lines[index], match.end())
        return Fence(index, index, closed=False) if mark else None
    before = match[0].expandtabs(4)
    quotes = before.count(">")
    closing = re.compile(re.escape(opening["mark"]) + r"[ \t]*$")
    blank_seen = False
    for number in range(index + 1, len(lines)):
        prefix, content = _split(lines[number], len(before))
        depth = prefix.count(">")
        blank = not content.strip() and (quotes > 0 or not prefix.strip())
        if depth > quotes or (not blank and _is_outdented(prefix, before, quotes, blank_seen)):
            return Fence(index, number, closed=False)
        if closing.match(content):
            return Fence(index, number, closed=True)
        blank_seen = blank or (blank_seen and not content)
    return Fence(index, len(lines) - 1, closed=False)


def is_fenced(text: str, offset: int) -> bool:
    """Whether a place of a page is between the marks of fenced code."""
    if not any(mark in text[:offset] for mark in _MARKS):
        return False
    lines = text.split("\n")
    place = text.count("\n", 0, offset)
    number = 0
    while number < place:
        fence = fence_at(lines, number) if any(mark in lines[number] for mark in _MARKS) else None
        if fence is not None and fence.closed and fence.first < place < fence.last:
            return True
        number = fence.last + 1 if fence is not None else number + 1
    return False


def _knows_all_options(options: str | None) -> bool:
    """Whether all options of a header are known; with any other the line is ordinary text."""
    return all(
        name in _KNOWN_OPTIONS and value for name, value in _OPTION.findall(options or "") if name or value
    )


def _split(line: str, width: int) -> tuple[str, str]:
    """Split a line into its prefix, at most ``width`` columns of blanks and quote marks, and the rest."""
    columns, end = 0, 0
    for char in line:
        if columns >= width or char not in "> \t":
            break
        columns += 4 - columns % 4 if char == "\t" else 1
        end += 1
    return line[:end].expandtabs(4), line[end:]


def _is_outdented(prefix: str, before: str, quotes: int, blank_seen: bool) -> bool:
    """Whether a line with ``prefix`` stands outside the container in which the fence was opened."""
    if quotes:
        return len(prefix) < len(before) or (blank_seen and prefix.count(">") < quotes)
    return len(prefix) != len(before)
