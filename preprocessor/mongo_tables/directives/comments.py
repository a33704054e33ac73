"""The result of a page scan: comments and generated regions, and functions that replace them with text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mongo_tables.directives.keywords import HTML, KINDS, Marks
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Parsed, parse


class Region(NamedTuple):
    """Generated text after a comment, between ``<!-- mongo-tables: begin DIGEST -->`` and ``… end -->``.

    In MDX the markers are ``{/* mongo-tables: begin DIGEST */}`` and ``… end */}``.

    ``start`` and ``end`` are offsets of the whole region, including both markers. ``inner`` is the text between the
    markers, without the prefix of the container: for a block its lines, joined by ``\\n``; in a sentence its words on
    one line, however they are wrapped. ``digest`` is the digest in the marker, ``marks`` are those around it.
    """

    start: int
    end: int
    inner: str
    digest: str
    marks: Marks = HTML


class Comment(NamedTuple):
    """A live comment. Sites have many comments, so a comment stores nothing that can be parsed from its text.

    ``keyword`` is as written, ``kind`` its meaning. ``body`` is the text after ``KEYWORD:`` without the prefixes of
    containers, lines joined by ``\\n``; ``begins`` has the columns in the file at which its lines begin, without the
    last ones at column 1, and ``body_line`` the line of the first. ``start`` and ``end`` are offsets of ``<!--`` and
    after ``-->``; ``line`` and ``column`` (from 1, in characters) are those of ``<!--``. ``prefix`` begins every
    further line of a block in the same container. ``inline``: the comment's lines also have text of the same
    paragraph. ``before`` and ``after`` make Python-Markdown keep one line of HTML in its place: of several on a
    line at the margin, or after an end tag, it moves the second down the page unless a line break separates them.
    ``holder`` is the enclosing heading, table or link, or ``RAW_HTML``. ``marks`` are those around it.
    ``settings`` is the JSON of a value that the settings name; then the body is its name.
    """

    keyword: str
    body: str
    start: int
    end: int
    line: int
    column: int
    body_line: int
    begins: tuple[int, ...]
    prefix: str
    inline: bool
    region: Region | None = None
    before: str = ""
    after: str = ""
    holder: str = ""
    marks: Marks = HTML
    settings: str = ""

    @property
    def kind(self) -> str:
        """The kind of comment, for any spelling of its keyword: ``table``, ``chart``, ``value`` or ``check``."""
        return KINDS[self.keyword]

    @property
    def parsed(self) -> Parsed:
        """The JSON of the body, or that in the settings, parsed with each access."""
        return parse(self.settings or self.body)

    @property
    def value(self) -> Any:
        """The value of sound JSON, read with each access."""
        return json.loads(self.settings or self.body)

    @property
    def matter(self) -> tuple[Any, ...]:
        """The parts of the comment that determine its result. They do not depend on its place on the page."""
        lines = self.body_line - self.line
        return (
            self.keyword,
            self.body,
            lines,
            self.begins,
            self.column,
            self.inline,
            self.prefix,
            self.holder,
        )

    def named(self, body: Any) -> Comment:
        """Return the comment with a body from the settings. Every part of it has the place of the name on the page."""
        return self._replace(settings=json.dumps(body, ensure_ascii=False, default=str))

    def locate(self, body_offset: int) -> tuple[int, int]:
        """Return line and column in the file of an offset in ``body``. An offset out of range is clamped."""
        if self.settings:  # at the name on the page
            body_offset = len(self.body) - len(self.body.lstrip())
        offset = min(max(body_offset, 0), len(self.body))
        index, start = self.body.count("\n", 0, offset), self.body.rfind("\n", 0, offset) + 1
        column = self.begins[index] if index < len(self.begins) else 1
        return self.body_line + index, column + offset - start


class Scan(NamedTuple):
    """The contents of a page: its live comments, in order, and the complaints about others.

    ``rejected`` has the start and end offsets of comments with an error. Publishers of such a page (a preview while it
    is being written) must leave them out, because Python-Markdown prints the JSON of some of them.
    """

    comments: tuple[Comment, ...]
    findings: tuple[Finding, ...]
    rejected: tuple[tuple[int, int], ...] = ()


def replace(text: str, comments: Sequence[Comment], replacements: Sequence[str]) -> str:
    """Replace each ``comments[i]``, with its generated region, by ``replacements[i]``. All other bytes stay the same.

    The comments are those that `find` returned for this ``text``, or some of them, in order. Raises ValueError if the
    numbers of comments and replacements differ.
    """
    pieces: list[str] = []
    at = 0
    for comment, replacement in zip(comments, replacements, strict=True):
        pieces += (text[at : comment.start], replacement)
        at = (comment.region or comment).end
    return "".join([*pieces, text[at:]])


def digest(text: str) -> str:
    """Return the digest of a text: 16 hex digits of its SHA-256, with ``\\n`` newlines."""
    from hashlib import sha256  # and with it OpenSSL; few pages have regions

    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


RAW_HTML = "raw HTML"  # the holder without Markdown


def markers(inner: str, marks: Marks) -> tuple[str, str]:
    """Return the markers that begin and end a region with this inner text."""
    begin = f"mongo-tables: begin {digest(read_generated(inner))}"
    return f"{marks.open} {begin} {marks.close}", f"{marks.open} mongo-tables: end {marks.close}"


def was_edited(region: Region) -> bool:
    """Return whether a person edited the region. What formatters of Markdown rewrite is not an edit."""
    # Earlier versions wrote the digest of the bytes.
    return region.digest != digest(read_generated(region.inner)) and region.digest != digest(region.inner)


_BLOCK_END = re.compile(r"\n(?:[ \t]*\n)+|\n(?=[ \t]*\|)")
_BLANKS = re.compile(r"[ \t\n]+")
_CELL_END = re.compile(r" ?(?<!\\)\| ?")
_DASHES = re.compile(r"-{2,}(?=:?(?:\||$))")
_WRITTEN_SIGN = re.compile(
    r"\\([!-/:-@\[-`{-~])|&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|nbsp));"
)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "nbsp": "\u00a0"}


def list_blocks(markdown: str) -> list[str]:
    """Return the paragraphs and the table rows of generated Markdown, without wraps, indentation and padding."""
    blocks, rows = [_BLANKS.sub(" ", one).strip(" ") for one in _BLOCK_END.split(markdown.strip("\n"))], 0
    for at, block in enumerate(blocks):
        rows = rows + 1 if block[:1] == "|" and len(blocks) > 1 else 0
        if rows:
            row = _CELL_END.sub("|", block)
            blocks[at] = _DASHES.sub("-", row) if rows == 2 else row  # other rows may have cells of dashes
    return blocks


def read_words(markdown: str) -> str:
    """Return generated Markdown of one line without escapes, and with one sign for emphasis, to compare it."""
    return read_signs(markdown).replace("_", "*").replace("<br /> ", "<br>").replace("<br> ", "<br>")


def read_signs(markdown: str) -> str:
    """Return generated Markdown of one line without escapes, as messages quote it."""
    return _WRITTEN_SIGN.sub(_read_sign, markdown.replace("<wbr>", ""))


def _read_sign(found: re.Match[str]) -> str:
    sign, number, hexadecimal, name = found.groups()
    if sign or name:
        return sign or _NAMED[name]
    code = int(number) if number else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0x110000 else "\ufffd"


def read_generated(markdown: str) -> str:
    """Return what generated Markdown says, which is the same before and after a formatter of Markdown.

    Example:
        >>> read_generated("*a caption*\\n\\n| a\\\\[1\\\\] |\\n| ----: |")
        '*a caption*\\n|a[1]|\\n|-:|'
    """
    return "\n".join(map(read_words, list_blocks(markdown)))


def keep_in_comment(text: str) -> str:
    """Return JSON with escapes for characters that would end or begin a comment, in HTML and in MDX."""
    # In JSON, <, > and / occur only in strings, where their escapes mean the same.
    text = text.replace("*/", "*\\/")
    return text.replace("<", "\\u003c").replace(">", "\\u003e") if "--" in text else text
