"""Positions in a text as editors count them: lines and columns from 0, columns in UTF-16 code units.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocuments
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


class Position(NamedTuple):
    """A position between two characters."""

    line: int
    column: int


class Span(NamedTuple):
    """The range between two positions."""

    start: Position
    end: Position

    def touches(self, other: Span) -> bool:
        """Return whether two ranges share a position, including their ends."""
        return self.start <= other.end and other.start <= self.end


class Edit(NamedTuple):
    """A text that replaces ``span``; without a span, the whole text."""

    span: Span | None
    text: str


class Lines:
    """A text split into lines at CR LF, LF or CR, as editors do."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def edited(self, edits: Iterable[Edit]) -> Lines:
        """Return the text after consecutive changes, as an editor sends them."""
        lines = self
        for edit in edits:
            start, end = sorted(map(lines.offset, edit.span)) if edit.span else (0, len(lines.text))
            lines = Lines(f"{lines.text[:start]}{edit.text}{lines.text[end:]}")
        return lines

    def __len__(self) -> int:
        return len(self._starts)

    def line_at(self, offset: int) -> int:
        """Return the line, from 0, of an offset."""
        return bisect_right(self._starts, offset) - 1

    def start_of(self, line: int) -> int:
        """Return the offset at which a line begins, or the end of the text for lines beyond it."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def end_of(self, line: int) -> int:
        """Return the offset at which a line ends, before its line break."""
        end = self.start_of(line + 1)
        while end > self.start_of(line) and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def position(self, offset: int) -> Position:
        """Return the position of an offset in characters.

        Example:
            >>> Lines("a😀b").position(2)
            Position(line=0, column=3)
        """
        offset = min(max(offset, 0), len(self.text))
        line = self.line_at(offset)
        start = self._starts[line]
        beyond = sum(one > "\uffff" for one in self.text[start:offset])
        return Position(line, offset - start + beyond)

    def offset(self, at: Position) -> int:
        """Return the offset, in characters, of a position. A position out of range is clamped."""
        if at.line < 0:
            return 0
        start, end = self.start_of(at.line), self.end_of(at.line)
        left = max(at.column, 0)
        while left > 0 and start < end:
            left -= 2 if self.text[start] > "\uffff" else 1
            start += 1
        return start

    def span(self, start: int, end: int) -> Span:
        """Return the range between two offsets."""
        return Span(self.position(start), self.position(end))
