"""Pieces of inline Markdown on their way to a page: as HTML, and as Markdown for GitHub and Python-Markdown.

Neither hands on the source that an author or a database wrote: each text is escaped where it lands, each address has
been judged (``specs.addresses``), and no other element comes about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mongo_tables.directives.inline_markdown import Piece
from mongo_tables.render.markdownescape import escape_line
from mongo_tables.render.text import lines_html, text_html
from mongo_tables.render.values import visible

_TAGS: Final = {"strong": "strong", "em": "em", "del": "del"}
_SIGNS: Final = {"strong": "**", "em": "*"}
_PLAIN_CODE: Final = re.compile(r"[A-Za-z0-9_.,:/=+()-](?:[A-Za-z0-9_.,:/=+() -]*[A-Za-z0-9_.,:/=+()-])?")
_IN_DESTINATION: Final = {"&": "&amp;"} | {sign: f"%{ord(sign):02X}" for sign in "()*$'[]!"}
"""Signs that one of the dialects, or an extension of it, takes for more than a part of an address."""


def inline_html(pieces: Sequence[Piece]) -> str:
    """The pieces as HTML."""
    return "".join(map(_html, pieces))


def _html(one: Piece) -> str:
    if one.kind == "text":
        return lines_html(one.text)
    if one.kind == "code":
        return f"<code>{text_html(one.text)}</code>"
    if one.kind == "break":
        return "<br>"
    inner = inline_html(one.inside)
    if one.kind == "link":
        return link_html(one.to, inner)
    return f"<{_TAGS[one.kind]}>{inner}</{_TAGS[one.kind]}>"


def link_html(to: str, inner: str) -> str:
    """A link round HTML; what has no visible sign stays as it is, for it would be a link without a name."""
    return f'<a href="{text_html(to)}">{inner}</a>' if to and inner.strip() else inner


def inline_markdown(pieces: Sequence[Piece]) -> str:
    """The pieces as Markdown on one line, which shows the same on GitHub and with Python-Markdown."""
    return _markdown(pieces).strip(" ")


def _markdown(pieces: Sequence[Piece]) -> str:
    texts = []
    for at, one in enumerate(pieces):
        before, after = _end_of(pieces[at - 1 : at] if at else (), -1), _end_of(pieces[at + 1 : at + 2], 0)
        text = _marked(one, stands_free=_FREE.issuperset((before, after)))
        # Right before a link it would make a picture of it, which readers' browsers would fetch.
        if text.endswith("!") and at + 1 < len(pieces) and pieces[at + 1].kind == "link":
            text = f"{text[:-1]}&#33;"
        texts.append(text)
    return "".join(texts)


_FREE: Final = frozenset(("", " ", ",", ".", ";", "(", ")"))
"""What may stand beside a sign of emphasis so that both dialects take it as one."""


def _end_of(beside: Sequence[Piece], end: int) -> str:
    """The character of a neighbour that stands beside; another sign beside is none that signs go with."""
    if not beside:
        return ""
    return beside[0].text[end] if beside[0].kind == "text" else "\n"


def _marked(one: Piece, *, stands_free: bool) -> str:
    if one.kind == "text":
        return _escape_lines(one.text)
    if one.kind == "code":
        return (
            f"`{one.text}`" if _PLAIN_CODE.fullmatch(one.text) else f"<code>{_escape_lines(one.text)}</code>"
        )
    if one.kind == "break":
        return "<br>"
    inner = _markdown(one.inside)
    if one.kind == "link":
        return link_markdown(one.to, inner)
    sign = _SIGNS.get(one.kind, "")
    if sign and stands_free and _is_word(one.inside):
        return f"{sign}{inner}{sign}"
    return f"<{_TAGS[one.kind]}>{inner}</{_TAGS[one.kind]}>"


def _escape_lines(text: str) -> str:
    """A text with the blanks at its ends, which stand between it and what is beside it."""
    return "<br>".join(map(escape_line, visible(text).split("\n")))


def _is_word(inside: Sequence[Piece]) -> bool:
    """Whether it is one text that begins and ends with a letter or a digit, beside which any sign is one."""
    (one, *others) = inside or (Piece("text"),)
    return not others and one.kind == "text" and one.text[:1].isalnum() and one.text[-1:].isalnum()


def link_markdown(to: str, inner: str) -> str:
    """A link round Markdown; what has no visible sign stays as it is."""
    if not to or not inner.strip():
        return inner
    return f"[{inner}]({''.join(_IN_DESTINATION.get(sign, sign) for sign in to)})"
