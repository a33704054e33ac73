"""Where the comments of a page stand on disk, when a page comes as other plugins changed it."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import Spec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.model import Page


class _Known(NamedTuple):
    """A comment in a file: what it asks for there, and what is wrong with it."""

    spec: Spec | None
    findings: list[Finding]


def place_findings(given: Page, on_disk: Page | None, included: Iterable[Page]) -> Page:
    """The page as given; comments that also stand in a file get that file's specs and findings.

    A file may come in several times, and each comment of the page on disk once.
    """
    own = _by_text([on_disk] if on_disk else [])
    others = _by_text(included)
    within = by_comment(given.comments, given.findings)
    specs, owned = [], []
    for comment, spec, found in zip(given.comments, given.specs, within, strict=True):
        text = (comment.keyword, comment.body)
        known = own[text].popleft() if own.get(text) else others[text][0] if text in others else None
        specs.append(known.spec if known else spec)
        owned.append(tuple(known.findings) if known else tuple(map(_elsewhere, found)))
    theirs = {each for found in within for each in found}
    loose = [_elsewhere(each) for each in given.findings if each not in theirs]
    findings = (*loose, *(each for found in owned for each in found))
    return given._replace(specs=tuple(specs), findings=findings, owned=tuple(owned))


def _by_text(pages: Iterable[Page]) -> dict[tuple[str, str], deque[_Known]]:
    """The comments of pages by keyword and body, in order."""
    found: dict[tuple[str, str], deque[_Known]] = {}
    for page in pages:
        theirs = by_comment(page.comments, page.findings)
        for comment, spec, findings in zip(page.comments, page.specs, theirs, strict=True):
            found.setdefault((comment.keyword, comment.body), deque()).append(_Known(spec, findings))
    return found


def _elsewhere(finding: Finding) -> Finding:
    return finding._replace(message=f"{finding.message} (place in the page as other plugins changed it)")


def by_comment(comments: Sequence[Comment], findings: Iterable[Finding]) -> list[list[Finding]]:
    """For each comment of a page, in order, those of the page's findings that stand within it."""
    found: list[list[Finding]] = [[] for _ in comments]
    starts = [(comment.line, comment.column) for comment in comments]
    for each in findings:
        index = bisect_right(starts, (each.line, each.column)) - 1
        if index >= 0 and (each.line, each.column) <= comments[index].locate(len(comments[index].body)):
            found[index].append(each)
    return found
