"""Markdown with tables and values: instead of the comments, or under them (``inplace``).

Strings in, strings out. What stands outside the comments comes out byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from preprocessor import comments
from preprocessor.comments import Comment
from preprocessor.pages import Answers, Page, query_of, source_answer
from preprocessor.render.chartdata import as_table
from preprocessor.render.pipetable import escape_cell, pipe_table
from preprocessor.results import ResultsError
from preprocessor.specs import ChartSpec, PipelineSpec, Spec, TableSpec, ValueSpec
from preprocessor.statements import Tables, value_text

_CONTAINER_ONLY = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\[\^[^\]]+\]:\s*|:\s+)?\Z")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def newline_of(text: str) -> str:
    """The line end that the text uses first; a line feed when it has none."""
    found = _NEWLINE.search(text)
    return found[0] if found else "\n"


def replaced(page: Page, answers: Answers, tables: Tables) -> str:
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
        return _standing_alone(page.text, comment, table_lines(spec, answers))
    return comment, escape_cell(value_text(spec, tables, answers)) if isinstance(spec, ValueSpec) else ""


def table_lines(spec: PipelineSpec, answers: Answers) -> list[str]:
    """The lines of a table, without a container's prefix; none when its pipeline failed.

    Markdown has no charts: a chart is the table of what it draws.
    """
    rows = answers[query_of(spec).key]
    if isinstance(rows, ResultsError):
        return []
    table = as_table(spec) if isinstance(spec, ChartSpec) else spec
    return pipe_table(table, rows, below=_line_below(spec, answers)) if isinstance(table, TableSpec) else []


def _line_below(spec: PipelineSpec, answers: Answers) -> list[str]:
    """Where the rows come from, in one line: in Markdown for those alone who ask for it."""
    source = source_answer(spec, answers) if spec.provenance else None
    if source is None:
        return []
    from preprocessor.render.provenance import provenance_parts

    return [" · ".join(provenance_parts(source, source.due(spec.max_age)))]


def prefixed(lines: Sequence[str], comment: Comment, newline: str) -> str:
    """The lines joined, every one but the first behind the prefix of the container that the comment stands in."""
    first, *rest = lines or [""]
    return newline.join([first, *((comment.prefix + line).rstrip() for line in rest)])


def _standing_alone(text: str, comment: Comment, lines: list[str]) -> tuple[Comment, str]:
    """A table with the blank lines around it that make it a block of its own, where the page has none."""
    end = comment.region.end if comment.region else comment.end
    before = [""] * _blank_lines_before(text, comment)
    after = [""] * _blank_lines_after(text, end)
    if len(before) == 1:  # The comment's own line becomes the blank one: without blanks at its end.
        lead = _lead(text, comment)
        before = [lead.rstrip()]
        comment = replace(comment, start=comment.start - len(lead))
    return comment, prefixed([*before, *lines, *after], comment, newline_of(text))


def stands_alone(text: str, comment: Comment) -> bool:
    """Whether nothing but the marks of containers stands on the comment's lines."""
    return (
        bool(_CONTAINER_ONLY.match(_lead(text, comment))) and not _partition(text[comment.end :])[0].strip()
    )


def _lead(text: str, comment: Comment) -> str:
    """What stands before the comment on its line; the mark of the encoding at the start of a file is no part of it."""
    start = max(text.rfind("\n", 0, comment.start), text.rfind("\r", 0, comment.start)) + 1
    return text[start : comment.start].removeprefix("\ufeff" if start == 0 else "")


def _blank_lines_before(text: str, comment: Comment) -> int:
    lead = _lead(text, comment)
    if not _CONTAINER_ONLY.match(lead):
        return 2
    lead_start = comment.start - len(lead)
    above = text[:lead_start].removesuffix("\n").removesuffix("\r")
    last = above[max(above.rfind("\n"), above.rfind("\r")) + 1 :]
    starts_item = lead.strip(" \t>") != ""
    return 0 if starts_item or not last.strip(" \t>\ufeff") else 1


def _blank_lines_after(text: str, end: int) -> int:
    rest_of_line, _, below = _partition(text[end:])
    if rest_of_line.strip():
        return 2
    return 1 if _partition(below)[0].strip(" \t>") else 0


def _partition(text: str) -> tuple[str, str, str]:
    found = _NEWLINE.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")
