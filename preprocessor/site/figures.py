"""The HTML of what a comment asks for, faults included: the same for every kind of site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from preprocessor.pages import query_of, row_findings
from preprocessor.site.faults import about, fault_box

if TYPE_CHECKING:
    from preprocessor.comments import Comment
    from preprocessor.findings import Finding
    from preprocessor.pages import Answers, Page
    from preprocessor.specs import Spec


def figures_of(page: Page, answers: Answers) -> list[str]:
    """One piece of HTML for each comment of the page: its figure, or a box with what is wrong."""
    return [
        _figure(comment, spec, page, answers) for comment, spec in zip(page.comments, page.specs, strict=True)
    ]


def loose_findings(page: Page) -> Sequence[Finding]:
    """Errors of reading the page that no comment's box shows, such as those of a shared pipeline's file."""
    boxed = {each for comment in page.comments for each in about(comment, _errors(page))}
    return [each for each in _errors(page) if each not in boxed]


def _errors(page: Page) -> list[Finding]:
    return [each for each in page.findings if each.severity == "error"]


def _figure(comment: Comment, spec: Spec | None, page: Page, answers: Answers) -> str:
    from preprocessor.specs import TableSpec

    if not isinstance(spec, TableSpec):
        return fault_box(about(comment, _errors(page)))
    rows = answers[query_of(spec).key]
    if isinstance(rows, Exception):
        return fault_box(row_findings(spec, answers))
    from preprocessor.render.html import html_table

    return html_table(spec, rows)
