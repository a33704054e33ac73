"""The comments and generated regions of a page, and functions that replace or compare them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from mongo_tables.directives.keywords import HTML, KINDS, Marks
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Parsed, parse


class Region(NamedTuple):
    """Generated text after a comment, between ``<!-- mongo-tables: begin DIGEST -->`` and ``… end -->``.

    In MDX the markers are ``{/* mongo-tables: begin DIGEST */}`` and ``… end */}``.

    Attributes:
        start: The offset of the first marker.
        end: The offset after the last marker.
        inner: The text between the markers without container prefixes: the lines of a block, joined by ``\\n``, or the
            words in a sentence, on one line.
        digest: The digest in the first marker.
        marks: The marks around the markers.
    """

    start: int
    end: int
    inner: str
    digest: str
    marks: Marks = HTML


class Comment(NamedTuple):
    """A live comment. It stores nothing that can be parsed from its text, because sites have many comments.

    Attributes:
        keyword: The keyword as written.
        body: The text after ``KEYWORD:`` without container prefixes, with ``\\n`` between lines.
        start: The offset of ``<!--``.
        end: The offset after ``-->``.
        line: The line of ``<!--``, from 1.
        column: The column of ``<!--`` in characters, from 1.
        body_line: The line on which ``body`` begins.
        begins: The columns in the file at which the first lines of ``body`` begin. All later lines begin at column 1.
        prefix: The prefix of further lines in the same container.
        inline: Whether there is text of the same paragraph on the comment's lines.
        region: The generated text after the comment.
        before: The text to write before the comment's HTML, so that Python-Markdown does not move it: Python-Markdown
            moves a block down the page if it follows another block or an end tag on the same line.
        after: The text to write after the comment's HTML, for the same reason.
        holder: The enclosing heading, table or link, or ``RAW_HTML``, or "".
        marks: The marks around the comment.
        settings: The JSON of the value, if the settings define it. ``body`` is then only the name of the value.
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
        """The kind of comment: ``table``, ``chart``, ``value`` or ``check``."""
        return KINDS[self.keyword]

    @property
    def parsed(self) -> Parsed:
        """The parsed JSON of the body or of the settings. Each access parses it again."""
        return parse(self.settings or self.body)

    @property
    def value(self) -> Any:
        """The value of the JSON, which must be valid. Each access parses it again."""
        return json.loads(self.settings or self.body)

    @property
    def matter(self) -> tuple[Any, ...]:
        """The parts of the comment that determine its result. The line of the comment has no effect, so it is not a
        part.
        """
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
        """Return the comment with a body from the settings. ``locate`` then returns the place of the name."""
        return self._replace(settings=json.dumps(body, ensure_ascii=False, default=str))

    def locate(self, body_offset: int) -> tuple[int, int]:
        """Return line and column in the file of an offset in ``body``. Offsets beyond the body mean its end."""
        if self.settings:  # at the name on the page
            body_offset = len(self.body) - len(self.body.lstrip())
        offset = min(max(body_offset, 0), len(self.body))
        index, start = self.body.count("\n", 0, offset), self.body.rfind("\n", 0, offset) + 1
        column = self.begins[index] if index < len(self.begins) else 1
        return self.body_line + index, column + offset - start


class Scan(NamedTuple):
    """The live comments of a page, in order, and findings about other comments.

    ``rejected`` has the start and end offsets of comments with an error. A preview must leave them out, because
    Python-Markdown prints the JSON of some of them.
    """

    comments: tuple[Comment, ...]
    findings: tuple[Finding, ...]
    rejected: tuple[tuple[int, int], ...] = ()


def replace(text: str, comments: Sequence[Comment], replacements: Sequence[str]) -> str:
    """Replace each ``comments[i]`` and its generated region by ``replacements[i]``.

    The comments are those of ``text``, or some of them, in order. Raises ValueError if the numbers of comments and
    replacements differ.
    """
    pieces: list[str] = []
    at = 0
    for comment, replacement in zip(comments, replacements, strict=True):
        pieces += (text[at : comment.start], replacement)
        at = (comment.region or comment).end
    return "".join([*pieces, text[at:]])


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text, with ``\\n`` as newlines."""

    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


RAW_HTML = "raw HTML"  # the holder without Markdown


def markers(inner: str, marks: Marks) -> tuple[str, str]:
    """Return the two markers of a region with this inner text."""
    begin = f"mongo-tables: begin {digest(read_generated(inner))}"
    return f"{marks.open} {begin} {marks.close}", f"{marks.open} mongo-tables: end {marks.close}"


def was_edited(region: Region) -> bool:
    """Return whether the region was edited. Changes by formatters of Markdown do not count."""
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
    """Return the paragraphs and the table rows of generated Markdown, without line breaks, indentation and padding."""
    blocks, rows = [_BLANKS.sub(" ", one).strip(" ") for one in _BLOCK_END.split(markdown.strip("\n"))], 0
    for at, block in enumerate(blocks):
        rows = rows + 1 if block[:1] == "|" and len(blocks) > 1 else 0
        if rows:
            row = _CELL_END.sub("|", block)
            blocks[at] = _DASHES.sub("-", row) if rows == 2 else row  # other rows may have cells of dashes
    return blocks


def read_words(markdown: str) -> str:
    """Return one line of generated Markdown without escapes, and with ``*`` for ``_``, for comparisons."""
    return read_signs(markdown).replace("_", "*").replace("<br /> ", "<br>").replace("<br> ", "<br>")


def read_signs(markdown: str) -> str:
    """Return one line of generated Markdown without escapes, for messages."""
    return _WRITTEN_SIGN.sub(_read_sign, markdown.replace("<wbr>", ""))


def _read_sign(found: re.Match[str]) -> str:
    sign, number, hexadecimal, name = found.groups()
    if sign or name:
        return sign or _NAMED[name]
    code = int(number) if number else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0x110000 else "\ufffd"


def read_generated(markdown: str) -> str:
    """Return generated Markdown in a normal form, which formatters of Markdown do not change.

    Example:
        >>> read_generated("*a caption*\\n\\n| a\\\\[1\\\\] |\\n| ----: |")
        '*a caption*\\n|a[1]|\\n|-:|'
    """
    return "\n".join(map(read_words, list_blocks(markdown)))


def keep_in_comment(text: str) -> str:
    """Return JSON with escapes for characters that would begin or end a comment in HTML or MDX."""
    # In JSON, <, > and / occur only in strings, where escapes are allowed.
    text = text.replace("*/", "*\\/")
    return text.replace("<", "\\u003c").replace(">", "\\u003e") if "--" in text else text
