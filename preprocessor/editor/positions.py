"""Places of a text as editors name them: lines and columns from 0, columns in UTF-16 code units.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocuments
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


class Position(NamedTuple):
    """A place between two characters."""

    line: int
    column: int


class Span(NamedTuple):
    """What stands between two places."""

    start: Position
    end: Position


class Edit(NamedTuple):
    """A text for the place of what stands at ``span``; without a span, for the place of all."""

    span: Span | None
    text: str


class Lines:
    """A text by its lines, which end as editors have it: at CR LF, LF or CR."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self._narrow = text.isascii() or max(text, default="") <= "\uffff"

    def __len__(self) -> int:
        return len(self._starts)

    def line_at(self, offset: int) -> int:
        """The line, from 0, in which an offset is."""
        return bisect_right(self._starts, offset) - 1

    def start_of(self, line: int) -> int:
        """The offset at which a line begins; that of the end for lines beyond it."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def end_of(self, line: int) -> int:
        """The offset at which a line ends, its line break left out."""
        end = self.start_of(line + 1)
        while end > self.start_of(line) and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def position(self, offset: int) -> Position:
        """The place of an offset in characters."""
        offset = min(max(offset, 0), len(self.text))
        line = self.line_at(offset)
        start = self._starts[line]
        return Position(line, offset - start if self._narrow else _units(self.text[start:offset]))

    def offset(self, at: Position) -> int:
        """The offset in characters of a place; what is out of range is moved to the nearest end."""
        if at.line < 0:
            return 0
        start, end = self.start_of(at.line), self.end_of(at.line)
        if self._narrow:
            return min(start + max(at.column, 0), end)
        left = max(at.column, 0)
        while left > 0 and start < end:
            left -= 2 if self.text[start] > "\uffff" else 1
            start += 1
        return start

    def span(self, start: int, end: int) -> Span:
        """What stands between two offsets."""
        return Span(self.position(start), self.position(end))


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after changes that follow one another, as an editor tells them."""
    for edit in edits:
        if edit.span is None:
            text = edit.text
            continue
        lines = Lines(text)
        start, end = sorted((lines.offset(edit.span.start), lines.offset(edit.span.end)))
        text = text[:start] + edit.text + text[end:]
    return text
