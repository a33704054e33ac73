"""What a fault looks like on the terminal of a build and, in a preview, in the page itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.rules import finding
from mongo_tables.render.text import text_html

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.model import Page
    from mongo_tables.site.placeholders import LeftOver


def line_of(fault: Finding) -> str:
    """One finding for the terminal: ``file:line:column: RULE message (hint)``, on one line."""
    hint = f" ({escape_control_chars(fault.hint)})" if fault.hint else ""
    return f"{_place(fault)}: {fault.rule} {escape_control_chars(fault.message)}{hint}"


def _place(fault: Finding) -> str:
    return escape_control_chars(fault.file) + (f":{fault.line}:{fault.column}" if fault.line else "")


def fault_box(findings: Iterable[Finding]) -> str:
    """The findings as a box for the page, in the place of what they are about; nothing without findings."""
    items = "\n".join(map(_item, findings))
    return f'<div class="mongo-table-fault" role="alert">\n{items}\n</div>' if items else ""


def _item(fault: Finding) -> str:
    return f"<p>{_words(fault)}</p>"


def _words(fault: Finding) -> str:
    hint = f" <em>{text_html(fault.hint)}</em>" if fault.hint else ""
    place = f"<code>{text_html(_place(fault))}</code>"
    return f"{place} <b>{text_html(fault.rule)}</b> {text_html(fault.message)}{hint}"


def fault_in_sentence(findings: Iterable[Finding]) -> str:
    """The findings as a box that may stand in a sentence, a heading or a cell; nothing without findings."""
    return "".join(
        f'<span class="mongo-table-fault" role="alert">{_words(fault)}</span>' for fault in findings
    )


def no_place(file: str, comment: Comment) -> Finding:
    """The fault of a comment whose figure the site has no place for."""
    hint = (
        "give the comment lines of its own, outside code and raw HTML; "
        "a link's title and the text of an abbreviation have no place for a figure either"
    )
    return finding(
        "MT118", file, (comment.line, comment.column), "the site has no place for this figure", hint
    )


def report_left_over(
    file: str, comments: Iterable[LeftOver], at: tuple[int, int] = (0, 0), hint: str = ""
) -> list[Finding]:
    """A fault for each kind of comment that came into a page after its comments had been read."""
    return [
        finding("MT119", file, at, f"a {keyword} comment came in while the page was converted", hint)
        for keyword in dict.fromkeys(each.keyword for each in comments)
    ]


def find_taken_anchors(page: Page, taken: Collection[str]) -> list[Finding]:
    """Tables with the id of a heading: a link to such a table would lead to the heading."""
    hint = "give the table another id, for links lead to the first of the two"
    return [
        finding("MT144", page.file, spec.locate(("id",)), f"the page has a `{spec.id}` already", hint)
        for spec in page.specs
        if isinstance(spec, PipelineSpec) and spec.id in taken
    ]
