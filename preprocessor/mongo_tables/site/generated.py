"""Detection of parts of a page that only the site's build generates, and of findings that depend on them.

A template (``{{ … }}``, ``{% … %}``) writes into a comment, a comment declares itself ``generated``, or
tables come in from other files. The page on disk is not enough to judge such a comment; the build judges it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.site.pages import ids_of

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.site.pages import Page


# The length is limited: a search for the end from every unclosed beginning would be quadratic.
_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{.{0,1000}?\}\}|\{%.{0,1000}?%\}", re.DOTALL)
_SAYS_SO: Final = re.compile(r'"generated"\s*:\s*true\b')
_TABLE: Final = r'"table"\s*:\s*"((?:[^"\\]|\\.)*)"'
_CODE_MARK: Final = r"(?m)^[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|(?P<span>`+)"
"""Marks that may begin or end code: a fence on its own line, or backticks within a line."""


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
    """Return whether a template writes into a page, outside of code."""
    if "{{" not in text and "{%" not in text:
        return False
    return bool(_TEMPLATE.search(text)) and bool(_TEMPLATE.search(without_code(text)))


def without_code(text: str) -> str:
    """Return the page without its code, because code on a page about templates contains no real templates."""
    kept, end = list[str](), 0
    marks = list(re.finditer(_CODE_MARK, text))
    for mark, close in zip(marks, _closing(marks), strict=True):
        if close is not None and mark.start() >= end:
            kept.append(text[end : mark.start()])
            end = close.end()
    return "".join([*kept, text[end:]])


def _closing(marks: Sequence[re.Match[str]]) -> list[re.Match[str] | None]:
    """Return for each mark the one that closes its code, or None.

    A fence closes at a fence of at least the same length, a span at the same number of backticks.
    """
    runs: dict[str, re.Match[str]] = {}
    fences: dict[str, list[re.Match[str]]] = {"`": [], "~": []}
    found: list[re.Match[str] | None] = []
    for mark in reversed(marks):
        run = mark["fence"] or mark["span"]
        close = runs.get(run)
        if mark["fence"]:
            later = fences[run[0]]
            while later and len(later[-1]["fence"]) < len(run):
                later.pop()  # For all earlier marks, this fence closes code sooner.
            close = later[-1] if later else close
            later.append(mark)
        runs[run] = mark
        found.append(close)
    return found[::-1]


def defer_findings(found: Sequence[Finding], pages: Sequence[Page], *, open_ended: bool) -> list[Finding]:
    """Replace findings that only the build can judge by one note for each comment.

    ``open_ended``: unknown tables may come in before the build; so may those of generated comments.
    """
    open_ended = open_ended or any(is_generated(comment) for page in pages for comment in page.comments)
    translated = _find_translated_ids(found, pages)
    if not (open_ended or translated):
        return list(found)
    comments = {page.file: page.comments for page in pages}
    kept: list[Finding] = []
    notes: dict[tuple[str, int, int], Finding] = {}
    for each in found:
        comment = _around(each, comments.get(each.file, ()))
        reason = _reason(each, comment, open_ended) if comment and each.severity != "note" else ""
        if comment and each in translated:
            reason = "a page in another language has the id as well; whether they meet is known at build only"
        if comment and reason:
            near = each.rule == "MT139" and each.hint.startswith("did you mean")
            hint = f"the build checks it; {each.hint}" if near else "the build checks it"
            note = finding("MT175", each.file, (each.line, each.column), reason, hint)
            notes.setdefault((each.file, comment.line, comment.column), note)
        else:
            kept.append(each)
    return sorted([*kept, *notes.values()])


def _find_translated_ids(found: Sequence[Finding], pages: Sequence[Page]) -> set[Finding]:
    """Return findings about ids that only translations of a page share: their builds may be separate."""
    taken = [each for each in found if each.rule == "MT138"]
    if not taken:
        return set()
    having: dict[str, list[str]] = {}
    ids: dict[Comment, list[str]] = {}
    for page in pages:
        for comment, spec in zip(page.comments, page.specs, strict=True):
            ids[comment] = ids_of(comment, spec)
            for name in ids[comment]:
                having.setdefault(name, []).append(page.file)
    comments = {page.file: page.comments for page in pages}
    owners = {each: _around(each, comments.get(each.file, ())) for each in taken}
    return {
        each
        for each, owner in owners.items()
        if owner and any(_apart(each.file, having[name]) for name in ids[owner])
    }


def _apart(page: str, others: Sequence[str]) -> bool:
    """Return whether ``page`` occurs once in ``others``, and all other entries are its translations."""
    return others.count(page) == 1 < len(others) and all(
        each == page or are_translations(page, each) for each in others
    )


def _around(one: Finding, comments: Sequence[Comment]) -> Comment | None:
    """Return the comment that contains a finding."""
    place = (one.line, one.column)
    index = bisect_right(comments, place, key=lambda each: (each.line, each.column)) - 1
    comment = comments[index] if index >= 0 else None
    return comment if comment and place <= comment.locate(len(comment.body)) else None


def _reason(one: Finding, comment: Comment, open_ended: bool) -> str:
    """Return why only the build can judge a finding about a comment, or "" if the finding is final."""
    if one.rule == "MT201":
        return ""  # Operators that write or run code are refused, whatever the build generates.
    if is_generated(comment):
        return "this comment is known at build only"
    from mongo_tables.directives.specs import DIRECTIVES, QuotingSpec

    quotes = issubclass(DIRECTIVES[comment.kind], QuotingSpec)
    table = re.search(_TABLE, comment.body) if quotes else None
    if table and open_ended and one.rule == "MT139":
        return f"no page has the table `{table[1]}`; what comes into pages is known at build only"
    return ""


_LANGUAGE: Final = r"[a-z]{2}(?:-[A-Za-z]{4})?(?:[-_][A-Z]{2})?"
_FOLDER: Final = re.compile(_LANGUAGE)
_SUFFIX: Final = rf"\.{_LANGUAGE}$"


def are_translations(one: str, other: str) -> bool:
    """Return whether paths differ only in language: ``index.md``, ``index.de.md``, or ``en/``, ``de/``.

    Example:
        >>> are_translations("en/speed.md", "de/speed.md")
        True
    """
    if one == other:
        return False
    first, second = PurePosixPath(one), PurePosixPath(other)
    if first.parent == second.parent:
        return (_without_language(first.stem), first.suffix) == (
            _without_language(second.stem),
            second.suffix,
        )
    pairs = zip(first.parts, second.parts, strict=False)
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    same_depth = len(first.parts) == len(second.parts)
    return same_depth and len(differing) == 1 and all(map(_FOLDER.fullmatch, differing[0]))


def _without_language(stem: str) -> str:
    return re.sub(_SUFFIX, "", stem)
