"""Findings with the ranges of text that an editor marks, and the code actions that resolve them.

Positions and ranges are those of the protocol: lines and columns from 0, columns in UTF-16 code units
(https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocuments).

A code action is a rewrite of ``check --fix``, or adds an ``ignore`` with a reason to the comment.
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
    """A text with lines that end in CR LF, LF or CR, as in editors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def __len__(self) -> int:
        return len(self._starts)

    def line_at(self, offset: int) -> int:
        """Return the number of the line, from 0, that contains an offset."""
        return bisect_right(self._starts, offset) - 1

    def start_of(self, line: int) -> int:
        """Return the offset at which a line begins, or the end of the text if there is no such line."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def end_of(self, line: int) -> int:
        """Return the offset at which a line ends, before its line break."""
        end = self.start_of(line + 1)
        while end > self.start_of(line) and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def position(self, offset: int) -> Position:
        """Return the position of an offset, which is in characters.

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
        """Return the offset, in characters, of a position. A position outside of its line counts as the line's end."""
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
"""The range of a finding: the start of a comment, a quoted text, a word, or a single character."""


class Related(NamedTuple):
    """A place in another file that a finding refers to."""

    file: str
    span: Range


class Diagnostic(NamedTuple):
    """A finding with its range in its file, and with related places."""

    finding: Finding
    span: Range
    related: tuple[Related, ...] = ()


def diagnose(
    found: Mapping[str, Sequence[Finding]], lines: Mapping[str, Lines]
) -> dict[str, list[Diagnostic]]:
    """Return the findings of each file with their ranges. Related places in files without ``lines`` are omitted."""
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
    """Return the offset of a finding, which is 0 if the finding is about the whole file."""
    if not one.line:
        return 0
    line = min(one.line, len(lines)) - 1
    mark = line == 0 and lines.text.startswith("\ufeff")
    return min(lines.start_of(line) + max(one.column, 1) - 1 + mark, len(lines.text))


REASON: Final = "say why"
"""The placeholder that an author replaces by the reason for ignoring a finding."""


class Action(NamedTuple):
    """A rewrite, and the finding that it resolves."""

    rewrite: Rewrite
    about: Diagnostic


def list_actions(found: Sequence[Diagnostic], lines: Lines, body: Body | None) -> Iterator[Action]:
    """Yield the actions for findings of a text. ``body`` is the JSON that contains the findings, or None."""
    in_comment = body is not None and body.kind != PIPELINE
    for diagnostic in found:
        # The fault may be in a shared pipeline that the comment names, so rewrites do not apply here.
        names_list = in_comment and diagnostic.finding.related
        for rewrite in () if names_list else rewrites_of(diagnostic.finding, lines.text):
            yield Action(rewrite, diagnostic)
    tokens = read_tokens(lines.text, body.start, body.end).found if body and in_comment else ()
    for diagnostic in found:
        if ignored := _ignore(diagnostic.finding, lines.text, tokens):
            yield Action(ignored, diagnostic)


def _ignore(one: Finding, text: str, tokens: Sequence[Token]) -> Rewrite | None:
    """Return the edit that makes the comment ignore a finding, or None if a comment cannot ignore it."""
    if not is_silenced(one, {one.rule: REASON}) or one.rule == "MT507":
        return None
    if any(token.kind == "key" and token.path[:-1] == ("ignore",) for token in tokens):
        edit = _add_member(text, tokens, ("ignore",), one.rule, json.dumps(REASON))
    else:
        edit = _add_member(text, tokens, (), "ignore", json.dumps({one.rule: REASON}))
    return Rewrite(f"Ignore {one.rule} here, with a reason", (edit,), preferred=False) if edit else None


def _add_member(text: str, tokens: Sequence[Token], path: Path, key: str, value: str) -> TextChange | None:
    """Return the edit that adds a member at the end of an object, or None if the object is empty or has the member."""
    keys = [one for one in tokens if one.kind == "key" and one.path[:-1] == path]
    if not keys or any(one.path[-1] == key for one in keys):
        return None
    end = _end_of(tokens, keys[-1].path)
    return TextChange(end, end, f",{_gap_before(text, keys[-1].start)}{json.dumps(key)}: {value}")


def _end_of(tokens: Sequence[Token], path: Path) -> int:
    return max(one.end for one in tokens if one.path[: len(path)] == path)


def _gap_before(text: str, at: int) -> str:
    """Return the text before the element at an offset: a line break with blanks, or a blank."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    lead = text[start:at]
    if not start or lead.strip("> \t"):
        return " "
    return ("\r\n" if text[max(start - 2, 0) : start] == "\r\n" else text[start - 1]) + lead
