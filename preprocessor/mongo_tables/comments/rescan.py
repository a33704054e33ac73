"""The scan of a page once more, where nothing but the body of one of its comments was edited.

A comment is one token to all that reads Markdown line by line: as long as it stays one, closed at the same place, what
is written in it changes nothing around it. Where that is not certain, the page has to be scanned as a whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from mongo_tables.comments.frontmatter import front_matter_lines, may_have_front_matter
from mongo_tables.comments.htmlcomments import CLOSE, NEWLINE, Page
from mongo_tables.comments.keywords import opening_at
from mongo_tables.comments.model import Comment, Scan
from mongo_tables.comments.pagescan import closes_in_string, read_body, rest_of_line
from mongo_tables.files.difference import difference

_STRANGE: Final = ("<!--", "`", "~~~")
"""What may mean something to the text around a comment that it stands in."""


_BLANK: Final = re.compile(r"(?>\r\n|\r|\n)[> \t]*(?=[\r\n])")
_PARAGRAPH: Final = 2_000
"""Characters above a comment in which its paragraph is looked for."""


class _Edited(NamedTuple):
    """A comment: where the line that it begins in and its body begin, where it ended, and where it ends now."""

    comment: Comment
    line: int
    body: int
    end: int
    now: int


def rescan(text: str, before: str, scan: Scan) -> Scan | None:
    """What ``find`` gives for a text, where ``scan`` is that of the text before; None where only ``find`` can tell."""
    edited = _find_edited(text, before, scan) if scan.settled else None
    if edited is None or not _stays_alone(text, before, edited):
        return None
    start, by = edited.comment.start, edited.now - edited.end
    lines = _count_lines(text, edited.body, edited.now) - _count_lines(before, edited.body, edited.end)
    number = bisect_right(scan.comments, start, key=_start)
    return Scan(
        (
            *scan.comments[: number - 1],
            _read_anew(text, edited),
            *(one.moved(by, lines) for one in scan.comments[number:]),
        ),
        tuple(
            one._replace(line=one.line + lines) if one.line > edited.comment.line else one
            for one in scan.findings
        ),
        _move(scan.rejected, start, by),
        _move(scan.off, start, by),
        settled=True,
    )


def _start(comment: Comment) -> int:
    return comment.start


def _find_edited(text: str, before: str, scan: Scan) -> _Edited | None:
    """The comment in whose body the texts differ, and nowhere else; None where there is none such."""
    change = difference(before, text)
    number = bisect_right(scan.comments, change.start, key=_start)
    if not number:
        return None
    comment = scan.comments[number - 1]
    opening = opening_at(before, comment.start)
    if opening is None or not opening.body <= change.start <= change.end <= comment.end - len("-->"):
        return None
    line = max(before.rfind("\n", 0, comment.start), before.rfind("\r", 0, comment.start)) + 1
    now = comment.end + len(change.text) - (change.end - change.start)
    same = opening_at(text, comment.start) == opening
    return _Edited(comment, line, opening.body, comment.end, now) if same else None


def _stays_alone(text: str, before: str, edited: _Edited) -> bool:
    """Whether a comment is surely the same to the text around it with either body."""
    was, now = before[edited.body : edited.end], text[edited.body : edited.now]
    if any(one in was or one in now for one in _STRANGE):
        return False
    closed = CLOSE.search(text, edited.comment.start + len("<!--"))
    if closed is None or closed.end() != edited.now or not now.endswith("-->"):
        return False
    if closes_in_string(text, edited.body, edited.now):
        return False
    ahead = text[edited.line : edited.comment.start]
    if "-->" in ahead or ahead.startswith("\ufeff") or "<!--" in rest_of_line(text, edited.now):
        return False
    one_line = not NEWLINE.search(was + now)
    return (one_line or not _may_be_spanned(text, edited)) and _is_below_front_matter(text, edited)


def _may_be_spanned(text: str, edited: _Edited) -> bool:
    """Whether a span of code may begin above a comment in its paragraph, which ends at a blank line of its body."""
    first = max(edited.line - _PARAGRAPH, 0)
    above = text[first : edited.comment.start]
    begun = max((match.end() for match in _BLANK.finditer(above)), default=0)
    return "`" in above[begun:] or (first > 0 and begun == 0)


def _is_below_front_matter(text: str, edited: _Edited) -> bool:
    """Whether the front matter of a page, if it has any, surely ends above a comment."""
    if not may_have_front_matter(text):
        return True
    above = NEWLINE.split(text[: edited.line])
    return 0 < front_matter_lines(above) < len(above)


def _read_anew(text: str, edited: _Edited) -> Comment:
    """The comment with the body that it has now."""
    comment = edited.comment
    page = Page(text[edited.line : edited.now])
    read, places = read_body(
        page, comment.start - edited.line, edited.body - edited.line, len(page.text), comment.prefix
    )
    lines = tuple((line + comment.line - 1, column) for line, column in places)
    return comment._replace(body=read, body_lines=lines, end=edited.now)


def _count_lines(text: str, start: int, end: int) -> int:
    return sum(1 for _ in NEWLINE.finditer(text, start, end))


def _move(found: tuple[tuple[int, int], ...], start: int, by: int) -> tuple[tuple[int, int], ...]:
    """Extents, those behind an offset some characters further on."""
    return tuple((first + by, end + by) if first > start else (first, end) for first, end in found)
