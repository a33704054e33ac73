"""Findings with the ranges of text that an editor marks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from mongo_tables.findings.finding import Finding
from mongo_tables.lsp.positions import Lines, Span

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
