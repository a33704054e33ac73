"""Detection of parts of a page that only the site's build generates, and of findings that depend on them.

A template (``{{ … }}``, ``{% … %}``) writes into a comment, a comment declares itself ``generated``, or
tables come in from other files. The page on disk is not enough to judge such a comment; the build judges it.
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


# The length is limited: a search for the end from every unclosed beginning would be quadratic.
_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{.{0,1000}?\}\}|\{%.{0,1000}?%\}", re.DOTALL)
_SAYS_SO: Final = re.compile(r'"generated"\s*:\s*true\b')
_TABLE: Final = r'"table"\s*:\s*"((?:[^"\\]|\\.)*)"'
_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`).{0,1000}?(?<!`)\1(?!`)", re.DOTALL)
_LANGUAGE: Final = r"[a-z]{2}(?:-[A-Za-z]{4})?(?:[-_][A-Z]{2})?"
_FOLDER_OR_SUFFIX: Final = re.compile(rf"(?<![^/]){_LANGUAGE}/|\.{_LANGUAGE}(?=\.\w+$)")
"""The part of a path that names a language: ``de/index.md``, ``index.de.md``."""


def is_generated(comment: Comment) -> bool:
    """Return whether a template writes into a comment, or the comment declares itself generated."""
    if _TEMPLATE.search(comment.body):
        return True
    if not _SAYS_SO.search(comment.body):
        return False
    # The key of the comment itself, not of a document in its pipeline.
    parsed = comment.parsed
    return not parsed.readable or (isinstance(parsed.value, dict) and parsed.value.get("generated") is True)


def template_in(text: str) -> bool:
    """Return whether a page contains a template outside of its code."""
    if "{{" not in text and "{%" not in text:
        return False
    return bool(_TEMPLATE.search(text)) and bool(_TEMPLATE.search(without_code(text)))


def without_code(text: str) -> str:
    """Return the page without its code, because code on a page about templates contains no real templates."""
    lines = text.split("\n")
    for fence in closed_fences(lines):
        lines[fence.first : fence.last + 1] = [""] * (fence.last + 1 - fence.first)
    return _SPAN.sub("", "\n".join(lines))


def defer_findings(found: Sequence[Finding], pages: Sequence[Page], *, open_ended: bool) -> list[Finding]:
    """Replace findings that only the build can judge by one note for each comment.

    ``open_ended``: unknown tables may come in before the build; so may those of generated comments.
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
            reason = "a page in another language has the id as well; whether they meet is known at build only"
        if comment and reason:
            near = each.rule == "MT139" and each.hint.startswith("did you mean")
            hint = f"the build checks it; {each.hint}" if near else "the build checks it"
            note = finding("MT175", each.file, (each.line, each.column), reason, hint)
            notes.setdefault((each.file, comment.line, comment.column), note)
        else:
            kept.append(each)
    return sorted([*kept, *notes.values()])


def _find_translated(pages: Sequence[Page]) -> set[Comment]:
    """Return comments whose id occurs only in translations of one page, once in each translation.

    Each language may be a separate build, so these ids may not collide.
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
    """Return why only the build can judge a finding about a comment, or "" if the finding is final."""
    if one.rule == "MT201":
        return ""  # Operators that write or run code are refused, whatever the build generates.
    if is_generated(comment):
        return "this comment is known at build only"
    quotes = issubclass(DIRECTIVES[comment.kind], QuotingSpec)
    table = re.search(_TABLE, comment.body) if quotes else None
    if table and open_ended and one.rule == "MT139":
        return f"no page has the table `{table[1]}`; what comes into pages is known at build only"
    return ""
