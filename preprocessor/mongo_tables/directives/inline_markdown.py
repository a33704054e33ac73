"""Inline Markdown in a table: emphasis, code, line breaks and links; all else is text, HTML and pictures too.

CommonMark (https://spec.commonmark.org/0.31.2/#inlines) with the strikethrough of GitHub. What is read is handed on as
pieces, never as the source: whoever writes them escapes each text where it lands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mongo_tables.directives.addresses import safe_address

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind = Literal["text", "code", "break", "strong", "em", "del", "link"]

_LONGEST: Final = 5000
"""A longer text is no cell that somebody writes: it stays text, and takes no time."""
_RULES: Final = ("escape", "backticks", "emphasis", "strikethrough", "link", "autolink", "entity", "newline")
_KINDS: Final[dict[str, Kind]] = {"strong": "strong", "em": "em", "s": "del", "a": "link"}


class Piece(NamedTuple):
    """A part of a text: ``text`` of a text or of code, else the pieces ``inside``; ``to``: where a link leads, safe."""

    kind: Kind
    text: str = ""
    inside: tuple[Piece, ...] = ()
    to: str = ""


@lru_cache(maxsize=4096)
def read_inline(text: str) -> tuple[Piece, ...]:
    """The pieces of a text. A link that leads to no safe address stays as it is written."""
    if len(text) > _LONGEST:
        return (Piece("text", text),)
    tokens = _parser().parseInline(text)[0].children or []
    return _merge_texts(_pieces(iter(tokens)))


def plain_text(pieces: Iterable[Piece]) -> str:
    """What of the pieces is read aloud: their texts alone."""
    return "".join("\n" if one.kind == "break" else one.text + plain_text(one.inside) for one in pieces)


def has_link(pieces: Iterable[Piece]) -> bool:
    """Whether a link is among the pieces."""
    return any(one.kind == "link" or has_link(one.inside) for one in pieces)


def _pieces(tokens: Iterator[Token]) -> Iterator[Piece]:
    """The pieces up to the end of the element that is open."""
    for token in tokens:
        if token.nesting < 0:
            return
        if token.nesting:
            to = safe_address(str(token.attrs.get("href", "")))
            yield Piece(_KINDS[token.tag], inside=_merge_texts(_pieces(tokens)), to=to)
        elif token.type == "code_inline":
            yield Piece("code", token.content)
        elif token.type in ("softbreak", "hardbreak"):
            yield Piece("break")
        else:
            yield Piece("text", token.content)


def _merge_texts(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces without empty texts, neighbouring texts as one."""
    merged: list[Piece] = []
    for one in pieces:
        if one.kind == "text" and merged and merged[-1].kind == "text":
            merged[-1] = Piece("text", merged[-1].text + one.text)
        elif one.kind != "text" or one.text:
            merged.append(one)
    return tuple(merged)


@cache
def _parser() -> MarkdownIt:
    """The parser with these rules alone; importing it costs more than a page without such texts should pay."""
    from markdown_it import MarkdownIt

    class Inline(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return bool(safe_address(url))

        def normalizeLink(self, url: str) -> str:
            return url

    return Inline("zero").enable(list(_RULES))
