"""A JSON text that stands in a file, and complaints about it at their line and column.

Comments in Markdown and the files of shared pipelines are read alike; only the way from an offset in the
JSON text to a line and column of the file differs, and is a function.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

from mongo_tables.findings import rules
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.extended import decode
from mongo_tables.jsontext.reader import Parsed, Path

_RULE_OF_KIND = {"syntax": "MT120", "duplicate": "MT121", "repeated": "MT122"}


class Document(NamedTuple):
    """A parsed text, its file and ``place``: offset in the text → (line, column) of the file."""

    file: str
    parsed: Parsed
    place: Callable[[int], tuple[int, int]]

    def at(self, path: Path) -> tuple[int, int]:
        """Give where the value at ``path`` begins, or the nearest value above it that exists."""
        return self.place(nearest(self.parsed.positions, path))

    def at_key(self, path: Path) -> tuple[int, int]:
        """Give where the key of the value at ``path`` begins; an element of a list has none: then its own."""
        offset = self.parsed.key_positions.get(path)
        return self.at(path) if offset is None else self.place(offset)

    def finding(self, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False) -> Finding:
        """Give a finding about the value at ``path``, or about its key."""
        return rules.finding(rule, self.file, self.at_key(path) if key else self.at(path), message, hint)


def nearest(positions: dict[Path, int], path: Path) -> int:
    """Give the offset of ``path`` or of its nearest ancestor that has one; 0 without any."""
    for depth in range(len(path), -1, -1):
        if (offset := positions.get(path[:depth])) is not None:
            return offset
    return 0


def syntax_findings(document: Document) -> list[Finding]:
    """Give a finding for every problem that the JSON reader met."""
    return [
        rules.finding(
            _RULE_OF_KIND[problem.kind],
            document.file,
            document.place(problem.offset),
            problem.message,
            problem.hint,
        )
        for problem in document.parsed.problems
    ]


def decode_at(document: Document, base: Path, value: Any) -> tuple[Any, list[Finding]]:
    """Decode the Extended JSON at ``base``; give the BSON value and a finding for each malformed wrapper."""
    result, malformed = decode(value)
    found = [
        document.finding("MT123", (*base, *fault.path), fault.message, fault.hint, key=True)
        for fault in malformed
    ]
    return result, found


def places(text: str) -> Callable[[int], tuple[int, int]]:
    """Give the function from an offset in ``text`` to its line and column, both from 1 and in characters."""
    starts = [0]
    starts += [index + 1 for index, char in enumerate(text) if char == "\n"]

    def place(offset: int) -> tuple[int, int]:
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    return place
