"""Prefixes of containers: the quote marks and indentation before each line of a block."""

from __future__ import annotations

import re
from functools import lru_cache


def without_prefix(line: str, prefix: str) -> str:
    """Give ``line`` without what it has of ``prefix``."""
    return line[prefix_length(line, prefix) :]


def prefix_length(line: str, prefix: str) -> int:
    """Give how many characters of ``line`` are ``prefix``, or as much of it as is there.

    A line that goes on lazily has fewer quote marks, or none. A tab reaches to the next column divisible by
    four.
    """
    if not prefix:
        return 0
    quotes, _, indent = prefix.rpartition(">")
    match = _quotes(quotes.count(">") + 1 if quotes or prefix.startswith(">") else 0).match(line)
    end = match.end() if match is not None else 0
    if end and indent.startswith(" ") and line[end - 1 : end] == " ":
        indent = indent[1:]  # the blank after a quote mark belongs to the mark
    column = len(line[:end].expandtabs(4))
    limit = column + len(indent)
    while end < len(line) and line[end] in " \t" and column < limit:
        column += 4 - column % 4 if line[end] == "\t" else 1
        end += 1
    return end


@lru_cache(maxsize=64)
def _quotes(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?:[ \t]*>){{0,{count}}}(?<=>) ?" if count else "")
