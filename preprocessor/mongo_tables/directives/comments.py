"""What a scan of a page gives, comments and generated regions, and how to put text in their place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Any

from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Parsed, parse


@dataclass(frozen=True, slots=True)
class Region:
    """Generated text behind a comment, between ``<!-- mongo-tables: begin DIGEST -->`` and ``… end -->``.

    ``start`` and ``end`` are offsets of the whole, both markers included. ``inner`` is what stands between the
    markers, without the prefix of the container: under a block its lines, joined by ``\\n``, in a sentence its
    words on one line, wherever somebody has wrapped them. ``digest`` is what the marker says it was when generated.
    """

    start: int
    end: int
    inner: str
    digest: str


@dataclass(frozen=True)
class Comment:
    """A live comment.

    ``keyword`` is as written, ``kind`` what it stands for. ``body`` is the text after ``KEYWORD:`` without the
    prefixes of containers, lines joined by ``\\n``; ``columns`` says for each of its lines where it begins in the
    file, the first of them in ``body_line``.
    ``start`` and ``end`` are offsets of ``<!--`` and after ``-->``; ``line`` and ``column`` (from 1, in
    characters) are those of ``<!--``. ``prefix`` is what every further line of a block in the same container begins
    with. ``inline``: text of the same paragraph stands before or after it on its lines. ``before`` and ``after`` are
    for `stand_in`. ``holder`` names a heading, a table, a link or ``RAW_HTML`` around it.
    """

    keyword: str
    body: str
    start: int
    end: int
    line: int
    column: int
    body_line: int
    columns: tuple[int, ...]
    prefix: str
    inline: bool
    region: Region | None = None
    before: str = ""
    after: str = ""
    holder: str = ""

    @property
    def kind(self) -> str:
        """What the comment asks for, whichever keyword it has: ``table``, ``chart``, ``value`` or ``check``."""
        return KEYWORDS[self.keyword]

    @cached_property
    def parsed(self) -> Parsed:
        """The JSON of its body."""
        return parse(self.body)

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        return tuple(accumulate((len(line) + 1 for line in self.body.split("\n")), initial=0))[:-1]

    @cached_property
    def matter(self) -> tuple[Any, ...]:
        """All that matters of it, wherever on its page it stands."""
        lines = self.body_line - self.line
        return (
            self.keyword,
            self.body,
            lines,
            self.columns,
            self.column,
            self.inline,
            self.prefix,
            self.holder,
        )

    def release(self) -> None:
        """Let go what was worked out from the text; it is worked out again where it is asked for."""
        for name in ("parsed", "_line_starts", "matter"):
            vars(self).pop(name, None)

    def locate(self, body_offset: int) -> tuple[int, int]:
        """Give line and column in the file of an offset in ``body``; what is out of range is moved to the
        nearest end.
        """
        offset = min(max(body_offset, 0), len(self.body))
        index = bisect_right(self._line_starts, offset) - 1
        return self.body_line + index, self.columns[index] + offset - self._line_starts[index]

    def covers(self, line: int, column: int) -> bool:
        """Whether a place in the file is within the comment."""
        return (self.line, self.column) <= (line, column) <= self.locate(len(self.body))

    def stand_in(self, token: str) -> str:
        """Give the replacement that makes Python-Markdown keep ``token``, a one-line HTML comment, in this
        place.

        That is the token itself, except where more than one comment stands on a line at the margin or
        behind an end tag: Python-Markdown 3 moves such a comment down the page, unless a line break stands
        in between.
        """
        return self.before + token + self.after


@dataclass(frozen=True, slots=True)
class Scan:
    """What a page holds: its live comments, in order, and the complaints about others.

    ``rejected`` gives the offsets, from and to, of comments with an error. Whoever publishes a page all the
    same (a preview while it is being written) must leave them out, since Python-Markdown prints the JSON of
    some of them. ``off`` gives those of comments that are text without being a fault and stand in the site's
    HTML all the same: within another comment, in raw HTML that hides them.
    """

    comments: tuple[Comment, ...]
    findings: tuple[Finding, ...]
    rejected: tuple[tuple[int, int], ...] = ()
    off: tuple[tuple[int, int], ...] = ()


def replace(
    text: str, comments: Sequence[Comment], replacements: Sequence[str], *, with_regions: bool
) -> str:
    """Put ``replacements[i]`` where ``comments[i]`` stands; all else stays byte for byte.

    The comments are those that `find` gave for this ``text``, or some of them, in their order.
    ``with_regions``: the generated region under a comment, and what is between, is replaced together with
    it. Raises ValueError when there are more comments than replacements, or fewer.
    """
    pieces: list[str] = []
    at = 0
    for comment, replacement in zip(comments, replacements, strict=True):
        pieces += (text[at : comment.start], replacement)
        at = comment.region.end if with_regions and comment.region is not None else comment.end
    return "".join([*pieces, text[at:]])


def digest(inner: str) -> str:
    """Give the digest of a region's inner text: 16 hex digits of the SHA-256 of it with ``\\n`` newlines."""
    plain = inner.replace("\r\n", "\n").replace("\r", "\n")
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


RAW_HTML = "raw HTML"  # the holder in which nothing is Markdown

END_MARKER = "<!-- mongo-tables: end -->"


def begin_marker(inner: str) -> str:
    """Give what begins a region with this inner text; `END_MARKER` is what ends it."""
    return f"<!-- mongo-tables: begin {digest(inner)} -->"


def keep_in_comment(text: str) -> str:
    """JSON with escapes for what would end the comment that it stands in, or begin another."""
    # In JSON, < and > stand in strings only, where their escapes mean the same.
    return text.replace("<", "\\u003c").replace(">", "\\u003e") if "--" in text else text
