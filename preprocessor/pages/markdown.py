"""Markdown with tables and values: instead of the comments, or under them (``inplace``).

Strings in, strings out. What stands outside the comments comes out byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from preprocessor import comments
from preprocessor.comments.model import Comment
from preprocessor.pages.asking import source_answer
from preprocessor.pages.model import Answers, Page, Tables
from preprocessor.pages.statements import value_text
from preprocessor.render.chartdata import as_table
from preprocessor.render.pipetable import escape_cell, pipe_table
from preprocessor.render.provenance import provenance_parts
from preprocessor.results.model import ResultsError
from preprocessor.specs.model import ChartSpec, PipelineSpec, Spec, TableSpec, ValueSpec

_CONTAINER_ONLY = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\[\^[^\]]+\]:\s*|:\s+)?\Z")
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table goes, from offset to offset, and what its further lines begin with in the container there."""

    start: int
    end: int
    prefix: str


def newline_of(text: str) -> str:
    """The line end that the text uses first; a line feed when it has none."""
    found = _NEWLINE.search(text)
    return found[0] if found else "\n"


def render_markdown(page: Page, answers: Answers, tables: Tables) -> str:
    """The page with a pipe table, a value or nothing (a statement) in the place of each comment.

    ``tables`` are those that values may come from, by id. Generated regions under comments go as well.
    """
    edits = [
        _edit(page, comment, spec, answers, tables)
        for comment, spec in zip(page.comments, page.specs, strict=True)
    ]
    places, replacements = [place for place, _ in edits], [text for _, text in edits]
    return comments.replace(page.text, places, replacements, with_regions=True)


def _edit(
    page: Page, comment: Comment, spec: Spec | None, answers: Answers, tables: Tables
) -> tuple[Comment, str]:
    """What goes, the comment or a little more, and what comes instead."""
    if isinstance(spec, PipelineSpec):
        end = comment.region.end if comment.region else comment.end
        at = Place(comment.start, end, comment.prefix)
        start, text = standing_alone(page.text, at, table_lines(spec, answers))
        return replace(comment, start=start), text
    return comment, value_markdown(spec, answers, tables) if isinstance(spec, ValueSpec) else ""


def value_markdown(spec: ValueSpec, answers: Answers, tables: Tables) -> str:
    """A value as the Markdown of a sentence."""
    return escape_cell(value_text(spec, tables, answers))


def table_lines(spec: PipelineSpec, answers: Answers) -> list[str]:
    """The lines of a table, without a container's prefix; none when its pipeline failed.

    Markdown has no charts: a chart is the table of what it draws.
    """
    rows = answers[spec.query.key]
    if isinstance(rows, ResultsError):
        return []
    table = as_table(spec) if isinstance(spec, ChartSpec) else spec
    return pipe_table(table, rows, below=_line_below(spec, answers)) if isinstance(table, TableSpec) else []


def _line_below(spec: PipelineSpec, answers: Answers) -> list[str]:
    """Where the rows come from, in one line: in Markdown for those alone who ask for it."""
    source = source_answer(spec, answers) if spec.provenance else None
    if source is None:
        return []
    return [" · ".join(provenance_parts(source, source.due(spec.max_age)))]


def prefixed(lines: Sequence[str], prefix: str, newline: str) -> str:
    """The lines joined, every one but the first behind the prefix of the container that they stand in."""
    first, *rest = lines or [""]
    return newline.join([first, *((prefix + line).rstrip() for line in rest)])


def standing_alone(text: str, at: Place, lines: Sequence[str]) -> tuple[int, str]:
    """A table with the blank lines around it that make it a block of its own, where the text has none.

    Gives where it begins, which is before ``at`` where blanks must go as well, and what stands up to the end of ``at``.
    """
    start = at.start
    before = [""] * _blank_lines_before(text, start)
    after = [""] * _blank_lines_after(text, at.end)
    if len(before) == 1:  # The comment's own line becomes the blank one: without blanks at its end.
        lead = _lead(text, start)
        before = [lead.rstrip()]
        start -= len(lead)
    return start, prefixed([*before, *lines, *after], at.prefix, newline_of(text))


def stands_alone(text: str, comment: Comment) -> bool:
    """Whether nothing but the marks of containers stands on the comment's lines."""
    rest = text[comment.end : _end_of_line(text, comment.end)]
    return bool(_CONTAINER_ONLY.match(_lead(text, comment.start))) and not rest.strip()


def _lead(text: str, start: int) -> str:
    """What stands before ``start`` on its line; the mark of the encoding at the start of a file is no part of it."""
    line = _start_of_line(text, start)
    return text[line:start].removeprefix("\ufeff" if line == 0 else "")


def _blank_lines_before(text: str, start: int) -> int:
    lead = _lead(text, start)
    if not _CONTAINER_ONLY.match(lead):
        return 2
    line = start - len(lead)
    above = line - 2 if text.startswith("\r\n", line - 2) else line - 1
    last = text[_start_of_line(text, above) : above] if line > 0 else ""
    starts_item = lead.strip(" \t>") != ""
    return 0 if starts_item or not last.strip(" \t>\ufeff") else 1


def _blank_lines_after(text: str, end: int) -> int:
    end_of_line = _end_of_line(text, end)
    if text[end:end_of_line].strip():
        return 2
    below = end_of_line + (2 if text.startswith("\r\n", end_of_line) else 1)
    return 1 if text[below : _end_of_line(text, below)].strip(" \t>") else 0


def _start_of_line(text: str, at: int) -> int:
    """The offset behind the last line end before ``at``. Lines are looked at alone: a page may have very many."""
    start = text.rfind("\n", 0, at) + 1
    return max(start, text.rfind("\r", start, at) + 1)


def _end_of_line(text: str, at: int) -> int:
    found = _NEWLINE.search(text, at)
    return found.start() if found else len(text)
