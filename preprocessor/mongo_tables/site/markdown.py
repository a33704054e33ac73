"""Markdown with tables and values in place of the comments (``in_place`` writes under them).

Strings in, strings out. The text outside the comments is unchanged, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mongo_tables.directives import comments
from mongo_tables.directives.comments import Comment
from mongo_tables.directives.keywords import place_of
from mongo_tables.directives.specs import Spec
from mongo_tables.render.formats import DEFAULT
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.markdown_figures import MarkdownContext
from mongo_tables.site.pages import AnswersByKey, Page, Tables

_CONTAINER_ONLY = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\[\^[^\]]+\]:\s*|:\s+)?\Z")
_NEWLINE = re.compile(r"\r\n|\r|\n")


class TableSpan(NamedTuple):
    """The place of a table: start and end offsets, and the prefix of its further lines in a container."""

    start: int
    end: int
    prefix: str


def newline_of(text: str) -> str:
    """Return the first line end of the text, or a line feed if it has none."""
    found = _NEWLINE.search(text)
    return found[0] if found else "\n"


def render_markdown(page: Page, answers: AnswersByKey, tables: Tables, form: str = DEFAULT) -> str:
    """Return the page with a table, a value or nothing (for a statement) in place of each comment.

    ``tables`` maps ids to the tables that values may quote, ``form`` is one of ``TABLE_FORMATS``. Generated
    regions under comments are removed too.
    """
    context = MarkdownContext(answers, tables, form)
    edits = [
        _edit(page, comment, spec, context) for comment, spec in zip(page.comments, page.specs, strict=True)
    ]
    places, replacements = [place for place, _ in edits], [text for _, text in edits]
    return comments.replace(page.text, places, replacements, with_regions=True)


def _edit(page: Page, comment: Comment, spec: Spec | None, context: MarkdownContext) -> tuple[Comment, str]:
    """Return the text to remove, the comment or slightly more, and its replacement."""
    lines = KINDS[type(spec)].markdown(spec, context.within(comment)) if spec else ()
    if spec is None or place_of(comment.keyword) != "block":
        return comment, "".join(lines)
    end = comment.region.end if comment.region else comment.end
    start, text = standing_alone(page.text, TableSpan(comment.start, end, comment.prefix), lines)
    return replace(comment, start=start), text


def prefix_lines(lines: Sequence[str], prefix: str, newline: str) -> str:
    """Join the lines. All but the first get the prefix of their container."""
    first, *rest = lines or [""]
    return newline.join([first, *((prefix + line).rstrip() for line in rest)])


def standing_alone(text: str, at: TableSpan, lines: Sequence[str]) -> tuple[int, str]:
    """Return a table with the blank lines that make it a separate block, where the text has none.

    The result is the start, which is before ``at`` if blanks must go as well, and the replacement up to the
    end of ``at``.
    """
    start = at.start
    before = [""] * _blank_lines_before(text, start)
    after = [""] * _blank_lines_after(text, at.end)
    if len(before) == 1:  # The comment's own line becomes the blank line: remove its trailing blanks.
        lead = _lead(text, start)
        before = [lead.rstrip()]
        start -= len(lead)
    return start, prefix_lines([*before, *lines, *after], at.prefix, newline_of(text))


def stands_alone(text: str, comment: Comment) -> bool:
    """Return whether the comment's lines contain nothing else but the marks of containers."""
    rest = text[comment.end : end_of_line(text, comment.end)]
    return leads_its_line(text, comment) and not rest.strip()


def leads_its_line(text: str, comment: Comment) -> bool:
    """Return whether only marks of containers precede the comment on its line."""
    return bool(_CONTAINER_ONLY.match(_lead(text, comment.start)))


def _lead(text: str, start: int) -> str:
    """Return the text before ``start`` on its line, without a byte order mark at the start of a file."""
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
    last = end_of_line(text, end)
    if text[end:last].strip():
        return 2
    below = last + (2 if text.startswith("\r\n", last) else 1)
    return 1 if text[below : end_of_line(text, below)].strip(" \t>") else 0


def _start_of_line(text: str, at: int) -> int:
    """Return the start of the line of ``at``. Avoids splitting the text: a page may have very many lines."""
    start = text.rfind("\n", 0, at) + 1
    return max(start, text.rfind("\r", start, at) + 1)


def end_of_line(text: str, at: int) -> int:
    """Return the end of the line of ``at``, before its line end."""
    found = _NEWLINE.search(text, at)
    return found.start() if found else len(text)
