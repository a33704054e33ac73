"""The figures of a page as HTML: the content of each comment, or a box with its faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from mongo_tables.directives.keywords import place_of
from mongo_tables.directives.references import unknown_tables
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.rules import finding
from mongo_tables.lint.linter import without_silenced
from mongo_tables.render.markup import text_html, with_anchors
from mongo_tables.site.drawing import FigureContext, Find, Place
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.pages import by_comment, list_written_ids

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import Spec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.checks import Judge
    from mongo_tables.site.pages import Page
    from mongo_tables.site.placeholders import LeftOver


def figures_of(
    page: Page,
    judge: Judge,
    place: Place,
    find: Find = lambda collection, key: "",
    described: bool = False,
) -> list[str]:
    """Return the HTML for each comment of the page: its figure, or a box with its faults.

    ``place`` publishes the rows of the figures as files; ``find`` returns the addresses of the documents
    behind them. ``described``: ``place`` gets a description of each CSV too.
    """
    here = judge.within(page)
    context = FigureContext(here.answers, here.tables, here.provenance, place, find, described)
    made = zip(page.comments, page.specs, with_anchors(page.specs), _errors_by_comment(page), strict=True)
    return [
        _figure(spec, anchored, page, here, context) if spec and anchored else _box_for(comment)(errors)
        for comment, spec, anchored, errors in made
    ]


def loose_findings(page: Page) -> Sequence[Finding]:
    """Return the errors of reading the page that no comment's box shows, such as a shared pipeline's."""
    errors = _errors(page.findings)
    boxed = {each for found in _errors_by_comment(page) for each in found} if errors else set()
    return [each for each in errors if each not in boxed]


def _errors_by_comment(page: Page) -> list[list[Finding]]:
    if page.owned:
        return [_errors(found) for found in page.owned]
    return by_comment(page.comments, _errors(page.findings))


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity == "error"]


def _figure(spec: Spec, anchored: Spec, page: Page, judge: Judge, context: FigureContext) -> str:
    """Return the box of faults and the figure. A sentence has room for one of them only."""
    faults = _box_for(spec.comment)(_faults(spec, judge, _unknown_table(spec, page, judge)))
    if faults and place_of(spec.comment.keyword) != "block":
        return faults
    return "\n".join(part for part in (faults, KINDS[type(spec)].html(anchored, context)) if part)


def _box_for(comment: Comment) -> Callable[[Iterable[Finding]], str]:
    return fault_box if place_of(comment.keyword) == "block" else fault_in_sentence


def _faults(spec: Spec, judge: Judge, others: Iterable[Finding] = ()) -> list[Finding]:
    """Return the errors that rows show of a valid comment, and ``others``, except those that it ignores."""
    found = _errors([*others, *judge.judge(spec)])
    if not (found and spec.ignore):
        return found
    return without_silenced(found, [spec])


def _unknown_table(spec: Spec, page: Page, judge: Judge) -> list[Finding]:
    if all(one.table in judge.tables for one in spec.quotes):
        return []
    return unknown_tables([spec], [name for each in (page, *judge.pages) for name in list_written_ids(each)])


def line_of(fault: Finding) -> str:
    """Return a finding on one line for the terminal: ``file:line:column: RULE message (hint)``."""
    hint = f" ({escape_control_chars(fault.hint)})" if fault.hint else ""
    return f"{_place(fault)}: {fault.rule} {escape_control_chars(fault.message)}{hint}"


def _place(fault: Finding) -> str:
    return escape_control_chars(fault.file) + (f":{fault.line}:{fault.column}" if fault.line else "")


def fault_box(findings: Iterable[Finding]) -> str:
    """Return the findings as an HTML box that replaces the figure, or "" without findings."""
    items = "\n".join(f"<p>{_words(fault)}</p>" for fault in findings)
    return f'<div class="mongo-table-fault" role="alert">\n{items}\n</div>' if items else ""


def _words(fault: Finding) -> str:
    hint = f" <em>{_with_code(fault.hint)}</em>" if fault.hint else ""
    place = f"<code>{text_html(_place(fault))}</code>"
    return f"{place} <b>{text_html(fault.rule)}</b> {_with_code(fault.message)}{hint}"


def _with_code(text: str) -> str:
    """Return a message as HTML, with names in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text_html(text))


def fault_in_sentence(findings: Iterable[Finding]) -> str:
    """Return the findings as HTML that fits in a sentence, a heading or a cell, or "" without findings."""
    return "".join(
        f'<span class="mongo-table-fault" role="alert">{_words(fault)}</span>' for fault in findings
    )


def no_place(file: str, comment: Comment) -> Finding:
    """Return the fault of a comment whose figure has no place on the site."""
    hint = (
        "put the comment on separate lines, outside code and raw HTML; "
        "a figure cannot be in a link's title or the text of an abbreviation"
    )
    return finding(
        "MT118", file, (comment.line, comment.column), "the site has no place for this figure", hint
    )


def report_left_over(
    file: str, comments: Iterable[LeftOver], at: tuple[int, int] = (0, 0), hint: str = ""
) -> list[Finding]:
    """Return a fault for each kind of comment that entered a page after its comments were read."""
    return [
        finding("MT119", file, at, f"a {keyword} comment was added while the page was converted", hint)
        for keyword in dict.fromkeys(each.keyword for each in comments)
    ]


def find_taken_anchors(page: Page, taken: Collection[str]) -> list[Finding]:
    """Return faults for tables with the id of a heading: a link to such a table would lead to the heading."""
    hint = "give the table another id, because links lead to the first of the two"
    return [
        finding("MT144", page.file, spec.locate(("id",)), f"the page has a `{spec.id}` already", hint)
        for spec in page.specs
        if isinstance(spec, PipelineSpec) and spec.id in taken
    ]
