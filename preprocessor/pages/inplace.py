"""Tables written into the page itself, under their comments, between two markers.

GitHub shows such a page as a reader expects it. The first marker carries a digest of what stands between the two,
so that a table edited by hand is noticed before it is overwritten. Writing twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from preprocessor.comments.keywords import place_of
from preprocessor.comments.model import END_MARKER, Comment, begin_marker, digest
from preprocessor.findings.finding import Finding
from preprocessor.findings.rules import finding
from preprocessor.pages.kinds import KINDS
from preprocessor.pages.markdown import newline_of, prefix_lines, stands_alone
from preprocessor.pages.markdowntext import MarkdownContext
from preprocessor.pages.model import Answers, Page, Tables
from preprocessor.specs.model import PipelineSpec, Spec

Edit = tuple[int, int, str]


def render_in_place(page: Page, answers: Answers, tables: Tables) -> str:
    """The page with every table under its comment; idempotent, and nothing else of the page is touched.

    A comment that shares its lines with text is left alone: ``region_findings`` complains of it.
    """
    text, done = "", 0
    for start, end, replacement in _edits(page, MarkdownContext(answers, tables)):
        text += page.text[done:start] + replacement
        done = end
    return text + page.text[done:]


def _edits(page: Page, context: MarkdownContext) -> Iterator[Edit]:
    for comment, spec in zip(page.comments, page.specs, strict=True):
        if spec is None or place_of(comment.keyword) != "block" or not stands_alone(page.text, comment):
            continue
        region = _region(page, spec, context)
        if comment.region:
            yield comment.region.start, comment.region.end, region
        else:
            end = _end_of_line(page.text, comment.end)
            yield end, end, newline_of(page.text) + comment.prefix + region


def _region(page: Page, spec: Spec, context: MarkdownContext) -> str:
    """The generated region under a comment, from marker to marker."""
    # Blank lines inside the markers: Python-Markdown takes no table that touches the line above it.
    inner = ["", *KINDS[type(spec)].markdown(spec, context), ""]
    lines = [begin_marker("\n".join(inner)), *inner, END_MARKER]
    return prefix_lines(lines, spec.comment.prefix, newline_of(page.text))


def _end_of_line(text: str, start: int) -> int:
    ends = [end for end in (text.find("\n", start), text.find("\r", start)) if end >= 0]
    return min(ends, default=len(text))


def region_findings(page: Page) -> list[Finding]:
    """Comments that cannot have a table under them, and regions that somebody edited by hand."""
    found = [_finding(page, comment) for comment in page.comments]
    return [one for one in found if one is not None]


def stale_findings(page: Page, answers: Answers, tables: Tables) -> list[Finding]:
    """MT166: the tables in the page that differ from ``answers``; one edited by hand gets its own message."""
    context, found = MarkdownContext(answers, tables), []
    for comment, spec in zip(page.comments, page.specs, strict=True):
        if comment.region is None or spec is None or place_of(comment.keyword) != "block":
            continue
        if not _has_rows(spec, answers) or not stands_alone(page.text, comment):
            continue
        edited = _finding(page, comment)
        expected = _region(page, spec, context)
        if edited is not None:
            found.append(edited)
        elif page.text[comment.region.start : comment.region.end] != expected:
            message = "the table under this comment is not what its pipeline gives now"
            hint = f"run `mongo-tables render --in-place {page.file}`"
            found.append(finding("MT166", page.file, (comment.line, comment.column), message, hint))
    return found


def _has_rows(spec: Spec, answers: Answers) -> bool:
    return not isinstance(spec, PipelineSpec) or isinstance(answers.get(spec.query.key), list)


def _finding(page: Page, comment: Comment) -> Finding | None:
    at = (comment.line, comment.column)
    if place_of(comment.keyword) == "block" and not stands_alone(page.text, comment):
        return finding(
            "MT165",
            page.file,
            at,
            "a comment within a line of text has no place for a table under it",
            "give the comment lines of its own",
        )
    if comment.region and comment.region.digest != digest(comment.region.inner):
        return finding(
            "MT164",
            page.file,
            at,
            "the table under this comment was edited by hand",
            "undo the edit or change the pipeline; --force overwrites the table",
        )
    return None
