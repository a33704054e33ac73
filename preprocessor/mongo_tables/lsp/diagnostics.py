"""Findings with the ranges of text that an editor marks.

Positions in a text as editors count them: lines and columns from 0, columns in UTF-16 code units.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocuments
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from mongo_tables.findings.finding import Finding

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


_MARKED: Final = re.compile(r'(?:<!--|\{/\*)[ \t]*\w*|"(?:[^"\\\r\n]|\\[^\r\n])*"|[\w$][\w$.-]*|[^\s]')
"""A name of a comment, a text, a word, or a single character."""


class Related(NamedTuple):
    """A place in another file that a finding refers to."""

    file: str
    span: Span


class Diagnostic(NamedTuple):
    """A finding with its range in the file, and related places in other files."""

    finding: Finding
    span: Span
    related: tuple[Related, ...] = ()


def diagnose(
    found: Mapping[str, Sequence[Finding]], lines: Mapping[str, Lines]
) -> dict[str, list[Diagnostic]]:
    """Return the findings of files with their ranges, and with their related places in others of these files."""
    return {file: [_diagnose(one, lines[file], lines) for one in each] for file, each in found.items()}


def _diagnose(one: Finding, own: Lines, lines: Mapping[str, Lines]) -> Diagnostic:
    places = [one._replace(**place._asdict()) for place in one.related if place.file in lines]
    related = (Related(each.file, _mark(each, lines[each.file])) for each in places)
    return Diagnostic(one, _mark(one, own), tuple(related))


def _line_of(one: Finding, lines: Lines) -> int:
    """Return the line, from 0, of a finding, or the first one if it is about the whole file."""
    return min(max(one.line, 1), len(lines)) - 1


def _mark(one: Finding, lines: Lines) -> Span:
    start = offset_of(one, lines)
    match = _MARKED.match(lines.text, start)
    end = match.end() if match and one.line else max(start, lines.end_of(lines.line_at(start)))
    return lines.span(start, end)


def offset_of(one: Finding, lines: Lines) -> int:
    """Return the offset of a finding, or 0 if it is about the whole file."""
    if not one.line:
        return 0
    line = _line_of(one, lines)
    mark = line == 0 and lines.text.startswith("\ufeff")
    return min(lines.start_of(line) + max(one.column, 1) - 1 + mark, len(lines.text))
