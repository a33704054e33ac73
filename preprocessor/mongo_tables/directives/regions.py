"""Generated regions: text between two markers, under a comment on its own line or after a comment in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from mongo_tables.directives.comments import Comment, Region
from mongo_tables.directives.containers import without_prefix
from mongo_tables.directives.html_comments import NEWLINE, Folded, HtmlComment, PageLines
from mongo_tables.directives.keywords import OPEN, marks_at, place_of
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding

_MARKER = rf"{OPEN}\s*mongo-tables:\s*(?P<which>begin|end)\b[ \t]*(?P<digest>[^\n]*?)\s*(?:-->|\*/\s*\}})$"
_DIGEST = re.compile(r"[0-9a-f]{16}$")
_BETWEEN = re.compile(r"[>\s]*$")
_ALONE = re.compile(r"([> \t]*)(<!--\ue000(\d+)-->)[ \t]*")
_NO_DIGEST: Final = "MT163"
_FAULTS: Final = {
    "MT160": (
        "a generated region begins here and never ends",
        "remove the region with both markers, and generate it again",
    ),
    "MT161": (
        "this end of a generated region has no beginning",
        "remove this line, or restore the line that begins the region",
    ),
    "MT162": (
        "a generated region does not follow a comment",
        "remove it, or move it directly behind the comment that it comes from",
    ),
    _NO_DIGEST: (
        "the marker of a generated region has no digest of 16 hexadecimal digits",
        "generate the region again: without the digest, manual edits cannot be detected",
    ),
}


class Marker(NamedTuple):
    """A marker of a region. ``digest`` is None for an end marker."""

    start: int
    end: int
    digest: str | None
    prefix: str = ""


def marker_at(text: str, html: HtmlComment) -> Marker | None:
    """Parse a comment as a marker. Return None if it is not one."""
    match = re.match(_MARKER, text[html.start : html.end]) if html.end - html.start < 200 else None
    if match is None:
        return None
    return Marker(html.start, html.end, match["digest"] if match["which"] == "begin" else None)


def level_regions(folded: Folded, marked: Mapping[int, Marker | None]) -> Folded:
    """Empty each region under a block, and move its end marker to the line after its begin marker.

    Formatters of Markdown may indent the text and the markers differently, which would end a list item on the site.
    A region that contains a comment is not changed.
    """
    lines, begin, prefix = list(folded.lines), -1, ""
    for index in [at for at, line in enumerate(lines) if "\ue000" in line]:
        alone = _ALONE.fullmatch(lines[index])
        marker = marked.get(int(alone[3])) if alone else None
        if alone and marker and marker.digest is None and begin >= 0:
            lines[begin + 1 : index + 1] = [""] * (index - begin - 1) + [prefix + alone[2]]
        begin, prefix = (index, alone[1]) if alone and marker and marker.digest is not None else (-1, "")
    return folded._replace(lines=lines)


def attach_regions(
    page: PageLines, file: str, live: Sequence[Comment], marked: Sequence[Marker]
) -> tuple[list[Comment], list[Finding]]:
    """Return the comments that are not inside a region, each with the region after it, and findings about wrong
    markers.

    ``live`` are the live comments of the page, ``marked`` its markers.
    """
    items: list[Comment | Marker] = [*live, *marked]
    items.sort(key=lambda one: one.start)
    comments: list[Comment] = []
    findings: list[Finding] = []
    markers = [index for index, item in enumerate(items) if isinstance(item, Marker)]
    following = dict(pairwise(markers))
    index = -1
    while (index := index + 1) < len(items):
        item = items[index]
        if isinstance(item, Comment):
            comments.append(item)
            continue
        end = following.get(index) if item.digest is not None else None
        closing = items[end] if end is not None else None
        if isinstance(closing, Marker) and closing.digest is not None:
            closing = None  # Another region begins first.
        rule = _fault_of(page, item, closing is not None, comments)
        if rule:
            findings.append(finding(rule, file, page.position(item.start), *_FAULTS[rule]))
        if end is None or closing is None:
            continue
        if rule in ("", _NO_DIGEST):
            comments[-1] = comments[-1]._replace(region=_region(page, item, closing, comments[-1]))
        index = end
    return comments, findings


def _fault_of(page: PageLines, marker: Marker, closed: bool, comments: Sequence[Comment]) -> str:
    """Return the rule that a marker violates, or ""."""
    if marker.digest is None:
        return "MT161"
    if not closed:
        return "MT160"
    above = comments[-1] if comments else None
    if above is None or above.region is not None:
        return "MT162"
    between = page.text[above.end : marker.start]
    if between if _is_in_sentence(above) else not _BETWEEN.match(between):
        return "MT162"
    return "" if _DIGEST.match(marker.digest) else _NO_DIGEST


def _is_in_sentence(comment: Comment) -> bool:
    return place_of(comment.keyword) == "sentence"


def _region(page: PageLines, begin: Marker, end: Comment | Marker, above: Comment) -> Region:
    if _is_in_sentence(above):
        first, *others = NEWLINE.split(page.text[begin.end : end.start])
        words = " ".join([first, *(without_prefix(line, begin.prefix) for line in others)])
        inner = re.sub(r"[ \t]+", " ", words).strip(" ")
    else:
        lines = page.lines[page.line_index(begin.end) + 1 : page.line_index(end.start)]
        inner = "\n".join(without_prefix(line, begin.prefix) for line in lines)
    return Region(begin.start, end.end, inner, begin.digest or "", marks_at(page.text, begin.start))
