"""Findings with the ranges of text that an editor marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from mongo_tables.files.text_changes import difference
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


class Diagnoses(NamedTuple):
    """The findings of a file with their ranges. Unchanged lines keep their ranges without a new search."""

    lines: Lines
    found: list[Diagnostic]

    def after(self, found: Iterable[Finding], lines: Lines) -> Diagnoses:
        """Return the diagnoses of the next text, given its findings."""
        change = difference(self.lines.text, lines.text)
        first, last = self.lines.line_at(change.start), self.lines.line_at(change.end)
        as_many = len(lines) == len(self.lines)
        stayed = {
            one.finding: one
            for one in self.found
            if (line := _line_of(one.finding, self.lines)) < first or (as_many and line > last)
        }
        return Diagnoses(lines, [stayed.get(one) or _mark(one, lines) for one in found])


def _line_of(one: Finding, lines: Lines) -> int:
    """Return the line, from 0, of a finding, or the first one if it is about the whole file."""
    return min(max(one.line, 1), len(lines)) - 1


def _mark(one: Finding, lines: Lines) -> Diagnostic:
    start = offset_of(one, lines)
    match = _MARKED.match(lines.text, start)
    end = match.end() if match and one.line else max(start, lines.end_of(lines.line_at(start)))
    return Diagnostic(one, lines.span(start, end))


def relate(known: Mapping[str, Diagnoses]) -> dict[str, Diagnoses]:
    """Return the findings of files with their related places in others of these files."""
    return {
        file: one._replace(found=[_relate(each, known) for each in one.found]) for file, one in known.items()
    }


def _relate(one: Diagnostic, known: Mapping[str, Diagnoses]) -> Diagnostic:
    if not one.finding.related:
        return one
    places = [one.finding._replace(**place._asdict()) for place in one.finding.related if place.file in known]
    return one._replace(
        related=tuple(Related(each.file, _mark(each, known[each.file].lines).span) for each in places)
    )


def offset_of(one: Finding, lines: Lines) -> int:
    """Return the offset of a finding, or 0 if it is about the whole file."""
    if not one.line:
        return 0
    line = _line_of(one, lines)
    mark = line == 0 and lines.text.startswith("\ufeff")
    return min(lines.start_of(line) + max(one.column, 1) - 1 + mark, len(lines.text))
