"""What a fault looks like on the terminal of a build and, in a preview, in the page itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from preprocessor.render.html import text_html
from preprocessor.reporters import harmless

if TYPE_CHECKING:
    from preprocessor.comments import Comment
    from preprocessor.findings import Finding


def line_of(finding: Finding) -> str:
    """One finding for the terminal: ``file:line:column: RULE message (hint)``, on one line."""
    hint = f" ({harmless(finding.hint)})" if finding.hint else ""
    return f"{_place(finding)}: {finding.rule} {harmless(finding.message)}{hint}"


def _place(finding: Finding) -> str:
    return harmless(finding.file) + (f":{finding.line}:{finding.column}" if finding.line else "")


def fault_box(findings: Iterable[Finding]) -> str:
    """The findings as a box for the page, in the place of what they are about; nothing without findings."""
    items = "\n".join(_item(finding) for finding in findings)
    return f'<div class="mongo-table-fault" role="alert">\n{items}\n</div>' if items else ""


def _item(finding: Finding) -> str:
    return f"<p>{_words(finding)}</p>"


def _words(finding: Finding) -> str:
    hint = f" <em>{text_html(finding.hint)}</em>" if finding.hint else ""
    place = f"<code>{text_html(_place(finding))}</code>"
    return f"{place} <b>{text_html(finding.rule)}</b> {text_html(finding.message)}{hint}"


def fault_in_sentence(findings: Iterable[Finding]) -> str:
    """The findings as a box that may stand in a sentence, a heading or a cell; nothing without findings."""
    return "".join(
        f'<span class="mongo-table-fault" role="alert">{_words(finding)}</span>' for finding in findings
    )


def about(comment: Comment, findings: Iterable[Finding]) -> list[Finding]:
    """Those of the page's findings that stand within the comment."""
    first = (comment.line, comment.column)
    last = comment.locate(len(comment.body))
    return [each for each in findings if first <= (each.line, each.column) <= last]
