"""Figures as Markdown: the lines of a table or a chart, the text of a value, and pages with figures for comments.

The text outside of comments stays the same, byte for byte. ``in_place`` writes figures under their comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mongo_tables.directives import comments
from mongo_tables.directives.comments import Comment
from mongo_tables.directives.keywords import MDX, place_of
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec, ValueSpec
from mongo_tables.render.charts.plot import as_table, plot_of
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.markup import (
    escape_words,
    inline_markdown,
    link_markdown,
    markdown_as_mdx,
    picture_markdown,
)
from mongo_tables.render.pipe_table import pipe_table
from mongo_tables.results.model import ResultsError
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.pages import AnswersByKey, Page, Tables, provenance_in
from mongo_tables.site.statements import shown_value, with_sentence

_CONTAINER_ONLY = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\[\^[^\]]+\]:\s*|:\s+)?\Z")
_NEWLINE = re.compile(r"\r\n|\r|\n")


class MarkdownContext(NamedTuple):
    """The inputs of the figures of a page: rows, and quotable tables by id.

    ``picture`` returns the Markdown of a drawing in the folder of the page, or "". It is None if the page has no
    drawings. ``mdx`` is true if the figures are for MDX.
    """

    answers: AnswersByKey
    tables: Tables
    picture: Callable[[PipelineSpec], str] | None = None
    mdx: bool = False

    def within(self, comment: Comment) -> MarkdownContext:
        """Return the context for the figure of a comment."""
        return self._replace(mdx=comment.marks == MDX)

    def table_lines(self, spec: PipelineSpec, *, told: bool = True) -> list[str]:
        """Return the lines of a table, or nothing if its pipeline failed.

        Without a picture, a chart becomes the table of its data, with its reference values in a note. ``told`` adds the
        provenance of the rows if the comment asks for it.
        """
        lines = self._list_lines(spec, told)
        return list(map(markdown_as_mdx, lines)) if self.mdx else lines

    def _list_lines(self, spec: PipelineSpec, told: bool) -> list[str]:
        rows = self.answers[spec.key]
        if isinstance(rows, ResultsError):
            return []
        below = self._line_below(spec) if told else []
        picture = self.picture(spec) if self.picture else ""
        spec = with_few_digits(with_sentence(spec, self.tables, self.answers), rows)
        if picture or isinstance(spec, TableSpec):
            return pipe_table(spec, rows, below=below, picture=picture)
        from mongo_tables.render.charts.legend import note_on_references  # few pages have charts

        plot = plot_of(spec)
        note = note_on_references(plot) if plot and rows else ""
        return pipe_table(as_table(spec), rows, below=[*([note] if note else []), *below])

    def _line_below(self, spec: PipelineSpec) -> list[str]:
        """Return the provenance in one line, if the comment asks for it. In Markdown, it cannot be collapsed."""
        source = provenance_in(spec, self.answers) if spec.provenance else None
        if source is None:
            return []
        from mongo_tables.render.provenance import provenance_details, provenance_parts  # rarely used

        details = (f"{name}: {text}" for name, text in provenance_details(source))
        return [" · ".join([*provenance_parts(source, source.due(spec.max_age)), *details])]

    def value_text(self, spec: ValueSpec) -> str:
        """Return a value as Markdown for a sentence."""
        found = shown_value(spec, self.tables, self.answers)
        if found is None:
            return ""
        text = inline_markdown(found.pieces) if found.pieces else escape_words(found.text)
        text = link_markdown(found.to, picture_markdown(found.picture, text))
        return markdown_as_mdx(text) if self.mdx else text


def newline_of(text: str) -> str:
    """Return the first newline of the text, or a line feed if the text has none."""
    found = _NEWLINE.search(text)
    return found[0] if found else "\n"


def render_markdown(page: Page, answers: AnswersByKey, tables: Tables) -> str:
    """Return the page with a table or a value in place of each comment, and nothing in place of a statement.

    ``tables`` are the tables that values may quote, by id. Generated regions under comments are removed.
    """
    context = MarkdownContext(answers, tables)
    edits = [
        _edit(page, comment, spec, context) for comment, spec in zip(page.comments, page.specs, strict=True)
    ]
    places, replacements = [place for place, _ in edits], [text for _, text in edits]
    return comments.replace(page.text, places, replacements)


def _edit(page: Page, comment: Comment, spec: Spec | None, context: MarkdownContext) -> tuple[Comment, str]:
    """Return the part of the page to remove, and the text in its place."""
    lines = KINDS[type(spec)].markdown(spec, context.within(comment)) if spec else ()
    if spec is None or place_of(comment.keyword) != "block":
        return comment, "".join(lines)
    end = comment.region.end if comment.region else comment.end
    start, text = standing_alone(page.text, comment.start, end, comment.prefix, lines)
    return comment._replace(start=start), text


def prefix_lines(lines: Sequence[str], prefix: str, newline: str) -> str:
    """Join the lines. All but the first get the prefix of their container, such as a quotation."""
    first, *rest = lines or [""]
    return newline.join([first, *((prefix + line).rstrip() for line in rest)])


def standing_alone(text: str, start: int, end: int, prefix: str, lines: Sequence[str]) -> tuple[int, str]:
    """Return a table as a separate block in place of a part of the text, with blank lines around it where needed.

    The result is the start of the replaced part and the new text. The start is earlier than ``start`` if blanks before
    it must be removed. ``prefix`` begins the further lines of a container, such as a quotation.
    """
    before = [""] * _blank_lines_before(text, start)
    after = [""] * _blank_lines_after(text, end)
    if len(before) == 1:  # The line of the comment becomes the blank line, without its trailing blanks.
        lead = _lead(text, start)
        before = [lead.rstrip()]
        start -= len(lead)
    return start, prefix_lines([*before, *lines, *after], prefix, newline_of(text))


def stands_alone(text: str, comment: Comment) -> bool:
    """Return whether the comment's lines contain nothing else, except the marks of containers such as a quotation."""
    rest = text[comment.end : end_of_line(text, comment.end)]
    return leads_its_line(text, comment) and not rest.strip()


def leads_its_line(text: str, comment: Comment) -> bool:
    """Return whether only marks of containers precede the comment on its line."""
    return bool(_CONTAINER_ONLY.match(_lead(text, comment.start)))


def _lead(text: str, start: int) -> str:
    """Return the text before ``start`` on its line, without a byte order mark."""
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
    """Return the start of the line of ``at``, without splitting the text, which may have very many lines."""
    start = text.rfind("\n", 0, at) + 1
    return max(start, text.rfind("\r", start, at) + 1)


def end_of_line(text: str, at: int) -> int:
    """Return the end of the line of ``at``, before its newline."""
    found = _NEWLINE.search(text, at)
    return found.start() if found else len(text)
