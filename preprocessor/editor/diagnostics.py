"""Findings as an editor marks them: with the piece of text that each is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from preprocessor.editor.positions import Lines, Span
from preprocessor.findings.finding import Finding

_MARKED: Final = re.compile(r'<!--[ \t]*\w*|"(?:[^"\\\r\n]|\\.)*"|[\w$][\w$.-]*|[^\s]')
"""A name of a comment, a text, a word, or a single sign."""


class Diagnostic(NamedTuple):
    """A finding, and where in its file what it is about stands."""

    finding: Finding
    span: Span
    start: int


def diagnose(found: Iterable[Finding], lines: Lines) -> list[Diagnostic]:
    """The findings about a file with the pieces of its text."""
    return [_mark(one, lines) for one in found]


def _mark(one: Finding, lines: Lines) -> Diagnostic:
    start = offset_of(one, lines)
    match = _MARKED.match(lines.text, start)
    end = match.end() if match and one.line else max(start, lines.end_of(lines.line_at(start)))
    return Diagnostic(one, lines.span(start, end), start)


def offset_of(one: Finding, lines: Lines) -> int:
    """The offset at which a finding stands; 0 where it is about the whole file."""
    if not one.line:
        return 0
    line = min(one.line, len(lines)) - 1
    mark = line == 0 and lines.text.startswith("\ufeff")
    return min(lines.start_of(line) + max(one.column, 1) - 1 + mark, len(lines.text))
