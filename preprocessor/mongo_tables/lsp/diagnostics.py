"""Findings with the ranges of text that an editor marks.

Positions and ranges are those of the protocol: lines and columns from 0, columns in UTF-16 code units
(https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocuments).

Code actions for findings: rewrites of ``check --fix``, or ignoring the rule in the comment with a reason.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from lsprotocol.types import Position, Range

from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.tokens import Token, read_tokens
from mongo_tables.lint.linter import is_silenced
from mongo_tables.lsp.typed_json import PIPELINE, Body
from mongo_tables.site.rewrites import Rewrite, TextChange, rewrites_of

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


def touch(one: Range, other: Range) -> bool:
    """Return whether two ranges share a position, including their ends."""
    return one.start <= other.end and other.start <= one.end


class Lines:
    """A text split into lines at CR LF, LF or CR, as editors do."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

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
            >>> print(Lines("a😀b").position(2))
            0:3
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
        left = max(at.character, 0)
        while left > 0 and start < end:
            left -= 2 if self.text[start] > "\uffff" else 1
            start += 1
        return start

    def span(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))


_MARKED: Final = re.compile(r'(?:<!--|\{\s*/\*)[ \t]*\w*|"(?:[^"\\\r\n]|\\[^\r\n])*"|[\w$][\w$.-]*|[^\s]')
"""A name of a comment, a text, a word, or a single character."""


class Related(NamedTuple):
    """A place in another file that a finding refers to."""

    file: str
    span: Range


class Diagnostic(NamedTuple):
    """A finding with its range in the file, and related places in other files."""

    finding: Finding
    span: Range
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


def _mark(one: Finding, lines: Lines) -> Range:
    start = offset_of(one, lines)
    match = _MARKED.match(lines.text, start)
    end = match.end() if match and one.line else max(start, lines.end_of(lines.line_at(start)))
    return lines.span(start, end)


def offset_of(one: Finding, lines: Lines) -> int:
    """Return the offset of a finding, or 0 if it is about the whole file."""
    if not one.line:
        return 0
    line = min(one.line, len(lines)) - 1
    mark = line == 0 and lines.text.startswith("\ufeff")
    return min(lines.start_of(line) + max(one.column, 1) - 1 + mark, len(lines.text))


REASON: Final = "say why"
"""A placeholder that the author replaces by the reason."""


class Action(NamedTuple):
    """An edit with its title, and the finding that it resolves."""

    rewrite: Rewrite
    about: Diagnostic


def list_actions(found: Sequence[Diagnostic], lines: Lines, body: Body | None) -> Iterator[Action]:
    """Yield the actions for findings of a text. ``body`` is the JSON that contains them, None outside JSON."""
    in_comment = body is not None and body.kind != PIPELINE
    for diagnostic in found:
        # The mistake may be in the list, not in its name here.
        names_list = in_comment and diagnostic.finding.related
        for rewrite in () if names_list else rewrites_of(diagnostic.finding, lines.text):
            yield Action(rewrite, diagnostic)
    tokens = read_tokens(lines.text, body.start, body.end).found if body and in_comment else ()
    for diagnostic in found:
        if ignored := _ignore(diagnostic.finding, lines.text, tokens):
            yield Action(ignored, diagnostic)


def _ignore(one: Finding, text: str, tokens: Sequence[Token]) -> Rewrite | None:
    """Return the edit that ignores the finding in the comment, or None if no comment can do that."""
    if not is_silenced(one, {one.rule: REASON}) or one.rule == "MT507":
        return None
    if any(token.kind == "key" and token.path[:-1] == ("ignore",) for token in tokens):
        edit = _add_member(text, tokens, ("ignore",), one.rule, json.dumps(REASON))
    else:
        edit = _add_member(text, tokens, (), "ignore", json.dumps({one.rule: REASON}))
    return Rewrite(f"Ignore {one.rule} here, with a reason", (edit,), preferred=False) if edit else None


def _add_member(text: str, tokens: Sequence[Token], path: Path, key: str, value: str) -> TextChange | None:
    """Return an edit that adds a last member to an object, or None if the object is empty or has this member."""
    keys = [one for one in tokens if one.kind == "key" and one.path[:-1] == path]
    if not keys or any(one.path[-1] == key for one in keys):
        return None
    end = _end_of(tokens, keys[-1].path)
    return TextChange(end, end, f",{_gap_before(text, keys[-1].start)}{json.dumps(key)}: {value}")


def _end_of(tokens: Sequence[Token], path: Path) -> int:
    """Return the end of the value at a path."""
    return max(one.end for one in tokens if one.path[: len(path)] == path)


def _gap_before(text: str, at: int) -> str:
    """Return the gap before an element: a line break with blanks if it begins its line, else a blank."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    lead = text[start:at]
    if not start or lead.strip("> \t"):
        return " "
    return ("\r\n" if text[max(start - 2, 0) : start] == "\r\n" else text[start - 1]) + lead
