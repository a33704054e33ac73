"""Inline Markdown in a table: emphasis, code, line breaks and links. Anything else is text, also HTML and pictures.

It is CommonMark (https://spec.commonmark.org/0.31.2/#inlines) with GitHub's strikethrough. The parser returns pieces,
never the source, and the writers escape each text for its place.
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
"""The length above which a text is not parsed: authors do not write such cells, and they would take time."""
_RULES: Final = ("escape", "backticks", "emphasis", "strikethrough", "link", "autolink", "entity", "newline")
_KINDS: Final[dict[str, Kind]] = {"strong": "strong", "em": "em", "s": "del", "a": "link"}


class Piece(NamedTuple):
    """A part of a text: ``text`` for text or code, else the pieces ``inside``. ``to`` is a link's safe address."""

    kind: Kind
    text: str = ""
    inside: tuple[Piece, ...] = ()
    to: str = ""


@lru_cache(maxsize=4096)
def read_inline(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text. A link without a safe address stays as written."""
    if len(text) > _LONGEST:
        return (Piece("text", text),)
    tokens = _parser().parseInline(text)[0].children or []
    return _merge_texts(_pieces(iter(tokens)))


def plain_text(pieces: Iterable[Piece]) -> str:
    """Return the plain text of the pieces, as it is read aloud."""
    return "".join("\n" if one.kind == "break" else one.text + plain_text(one.inside) for one in pieces)


def has_link(pieces: Iterable[Piece]) -> bool:
    """Return whether the pieces contain a link."""
    return any(one.kind == "link" or has_link(one.inside) for one in pieces)


def _pieces(tokens: Iterator[Token]) -> Iterator[Piece]:
    """Yield the pieces up to the end of the open element."""
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
    """Return the pieces without empty texts, and with neighbouring texts merged."""
    merged: list[Piece] = []
    for one in pieces:
        if one.kind == "text" and merged and merged[-1].kind == "text":
            merged[-1] = Piece("text", merged[-1].text + one.text)
        elif one.kind != "text" or one.text:
            merged.append(one)
    return tuple(merged)


@cache
def _parser() -> MarkdownIt:
    """Return the parser with only these rules. Imported late, because most pages do not need it."""
    from markdown_it import MarkdownIt

    class Inline(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return bool(safe_address(url))

        def normalizeLink(self, url: str) -> str:
            return url

    return Inline("zero").enable(list(_RULES))
