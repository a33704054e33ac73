"""Detection of comments that depend on the build of the site, and of findings about them.

A template (``{{ … }}``, ``{% … %}``) may write a part of a comment, a comment may declare itself ``generated``, and
tables may come from files that only the build knows. Such a comment cannot be checked in the page on disk, so the build
checks it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.html_comments import closed_fences
from mongo_tables.directives.specs import DIRECTIVES, QuotingSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.site.pages import Page, find_comment, ids_of

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment


# The length is limited, because a search for the end of many unclosed templates would take quadratic time.
_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{.{0,1000}?\}\}|\{%.{0,1000}?%\}", re.DOTALL)
_SAYS_SO: Final = re.compile(r'"generated"\s*:\s*true\b')
_TABLE: Final = r'"table"\s*:\s*"((?:[^"\\]|\\.)*)"'
_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`).{0,1000}?(?<!`)\1(?!`)", re.DOTALL)
_LANGUAGE: Final = r"[a-z]{2}(?:-[A-Za-z]{4})?(?:[-_][A-Z]{2})?"
_FOLDER_OR_SUFFIX: Final = re.compile(rf"(?<![^/]){_LANGUAGE}/|\.{_LANGUAGE}(?=\.\w+$)")
"""The part of a path that names a language: ``de/index.md``, ``index.de.md``."""


def is_generated(comment: Comment) -> bool:
    """Return whether a template writes a part of a comment, or the comment declares itself generated."""
    if _TEMPLATE.search(comment.body):
        return True
    if not _SAYS_SO.search(comment.body):
        return False
    # It must be a key of the comment, and not of a document in its pipeline.
    parsed = comment.parsed
    return not parsed.readable or (isinstance(parsed.value, dict) and parsed.value.get("generated") is True)


def template_in(text: str) -> bool:
    """Return whether a page has a template outside of its code."""
    if "{{" not in text and "{%" not in text:
        return False
    return bool(_TEMPLATE.search(text)) and bool(_TEMPLATE.search(without_code(text)))


def without_code(text: str) -> str:
    """Return the page without its code. Templates in code are examples."""
    lines = text.split("\n")
    for fence in closed_fences(lines):
        lines[fence.first : fence.last + 1] = [""] * (fence.last + 1 - fence.first)
    return _SPAN.sub("", "\n".join(lines))


def defer_findings(found: Sequence[Finding], pages: Sequence[Page], *, open_ended: bool) -> list[Finding]:
    """Replace the findings that depend on the build by one note for each comment.

    ``open_ended`` is true if the build may add tables to pages.
    """
    open_ended = open_ended or any(is_generated(comment) for page in pages for comment in page.comments)
    translated = _find_translated(pages) if any(each.rule == "MT138" for each in found) else set()
    if not (open_ended or translated):
        return list(found)
    comments = {page.file: page.comments for page in pages}
    kept: list[Finding] = []
    notes: dict[tuple[str, int, int], Finding] = {}
    for each in found:
        own = comments.get(each.file, ())
        index = find_comment(own, each)
        comment = None if index is None else own[index]
        reason = _reason(each, comment, open_ended) if comment and each.severity != "note" else ""
        if comment and each.rule == "MT138" and comment in translated:
            reason = (
                "a comment on the page in another language has the same id as this comment; "
                "only the build knows whether both are in one site"
            )
        if comment and reason:
            near = each.rule == "MT139" and each.hint.startswith("did you mean")
            hint = f"the build checks it; {each.hint}" if near else "the build checks it"
            note = finding("MT175", each.file, (each.line, each.column), reason, hint)
            notes.setdefault((each.file, comment.line, comment.column), note)
        else:
            kept.append(each)
    return sorted([*kept, *notes.values()])


def _find_translated(pages: Sequence[Page]) -> set[Comment]:
    """Return the comments whose id is used only in translations of one page, and once in each of them.

    Each language may be a separate build, in which the ids do not collide.
    """
    having: dict[str, list[tuple[str, Comment]]] = {}
    for page in pages:
        for comment, spec in zip(page.comments, page.specs, strict=True):
            for name in ids_of(comment, spec):
                having.setdefault(name, []).append((page.file, comment))
    return {
        comment
        for some in having.values()
        if len({file for file, _ in some}) == len(some) > 1
        and len({_FOLDER_OR_SUFFIX.sub("", file) for file, _ in some}) == 1
        for _, comment in some
    }


def _reason(one: Finding, comment: Comment, open_ended: bool) -> str:
    """Return why a finding about a comment depends on the build, or "" if it does not."""
    if one.rule == "MT201":
        return ""  # Operators that write or run code are refused in every build.
    if is_generated(comment):
        return "the build generates a part of this comment"
    quotes = issubclass(DIRECTIVES[comment.kind], QuotingSpec)
    table = re.search(_TABLE, comment.body) if quotes else None
    if table and open_ended and one.rule == "MT139":
        return f"no page has the table `{table[1]}`, but the build may add tables to pages"
    return ""
