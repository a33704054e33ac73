"""Generated regions of in-place mode: text between two markers, under a block or behind a comment in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mongo_tables.directives.comments import Comment, Region
from mongo_tables.directives.containers import without_prefix
from mongo_tables.directives.keywords import place_of
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding

if TYPE_CHECKING:
    from mongo_tables.directives.html_comments import HtmlComment, Page

_MARKER = r"<!--\s*mongo-tables:\s*(?P<which>begin|end)\b[ \t]*(?P<digest>[^\n]*?)\s*-->$"
_DIGEST = re.compile(r"[0-9a-f]{16}$")
_BETWEEN = re.compile(r"[>\s]*$")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker of a region: ``digest`` is None for its end. ``start`` and ``end`` are offsets of the HTML
    comment.
    """

    start: int
    end: int
    digest: str | None
    prefix: str = ""


def marker_at(text: str, html: HtmlComment) -> Marker | None:
    """Read an HTML comment as a marker; None when it is none."""
    match = re.match(_MARKER, text[html.start : html.end]) if html.end - html.start < 200 else None
    if match is None:
        return None
    return Marker(html.start, html.end, match["digest"] if match["which"] == "begin" else None)


def attach_regions(
    page: Page, file: str, items: Sequence[Comment | Marker]
) -> tuple[list[Comment], list[Finding]]:
    """Give the comments with their regions, without those inside a region, and complaints about stray
    markers.

    ``items`` are the live comments and markers of the page, in order.
    """
    comments: list[Comment] = []
    findings: list[Finding] = []
    last_end = max((i for i, item in enumerate(items) if _is_end(item)), default=-1)
    index = 0
    while index < len(items):
        item = items[index]
        index += 1
        if isinstance(item, Comment):
            comments.append(item)
            continue
        end = _matching_end(items, index) if item.digest is not None and index <= last_end else None
        problem = _problem(page, item, end is not None, comments)
        if problem is not None:
            findings.append(finding(problem[0], file, page.position(item.start), *problem[1:]))
        if end is None:
            continue
        closing = items[end]
        if problem is None or problem[0] == "MT163":
            region = _region_in_sentence if _in_sentence(comments[-1]) else _region
            comments[-1] = replace(comments[-1], region=region(page, item, closing))
        index = end + 1
    return comments, findings


def _is_end(item: Comment | Marker) -> bool:
    return isinstance(item, Marker) and item.digest is None


def _matching_end(items: Sequence[Comment | Marker], index: int) -> int | None:
    """Give the index of the end marker for the begin before ``index``; None if another begin comes first."""
    for number in range(index, len(items)):
        item = items[number]
        if isinstance(item, Marker):
            return number if item.digest is None else None
    return None


def _problem(
    page: Page, marker: Marker, closed: bool, comments: Sequence[Comment]
) -> tuple[str, str, str] | None:
    """Say what is wrong with a marker: rule, message, hint."""
    if marker.digest is None:
        return (
            "MT161",
            "a generated region ends here that never began",
            "remove this line, or restore the line that begins the region",
        )
    if not closed:
        return (
            "MT160",
            "a generated region begins here and never ends",
            "remove the region, both markers too, and write it anew",
        )
    above = comments[-1] if comments else None
    if above is None or above.region is not None or not _follows(page, marker, above):
        return (
            "MT162",
            "a generated region stands under no comment",
            "remove it, or move it directly behind the comment that it comes from",
        )
    if not _DIGEST.match(marker.digest):
        return (
            "MT163",
            "the marker of a generated region has no digest of 16 hexadecimal digits",
            "write the region anew; until then nobody can tell whether it was edited by hand",
        )
    return None


def _in_sentence(comment: Comment) -> bool:
    return place_of(comment.keyword) == "sentence"


def _follows(page: Page, marker: Marker, above: Comment) -> bool:
    """Whether a region that begins here belongs to the comment above; one in a sentence has it right behind it."""
    between = page.text[above.end : marker.start]
    return not between if _in_sentence(above) else bool(_BETWEEN.match(between))


def _region_in_sentence(page: Page, begin: Marker, end: Comment | Marker) -> Region:
    first, *others = _NEWLINE.split(page.text[begin.end : end.start])
    inner = " ".join([first, *(without_prefix(line, begin.prefix) for line in others)])
    return Region(begin.start, end.end, _BLANKS.sub(" ", inner).strip(" "), begin.digest or "")


def _region(page: Page, begin: Marker, end: Comment | Marker) -> Region:
    first, last = page.line_index(begin.end) + 1, page.line_index(end.start)
    inner = [without_prefix(page.lines[index], begin.prefix) for index in range(first, last)]
    return Region(begin.start, end.end, "\n".join(inner), begin.digest or "")
