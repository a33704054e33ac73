"""Text as the Markdown of one cell or sentence: GitHub-flavoured Markdown and Python-Markdown show exactly this text.

A backslash escapes what is special in both dialects; what only one of them lets a backslash escape is written as a
character reference, which both decode and neither interprets:

* GFM: https://github.github.com/gfm/#tables-extension- and #backslash-escapes
* Python-Markdown: ``Markdown.ESCAPED_CHARS`` (and ``|`` within tables)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mongo_tables.render.values import visible

_SPECIAL: Final = r"""
      [\\`*\[\]{}|\#]                      # a backslash escapes these in both dialects
    | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9]) # an underscore inside a word is no emphasis
    | (?<=-)- | -(?=-)                     # smart dashes
    | !(?=\[)
    | [&<>~$^@]                            # markup, strikethrough, mathematics, superscript, mentions
    | (?<==)= | =(?==)                     # highlighting
    | (?<=\+)\+ | \+(?=\+)                 # insertion
    | :(?=//)                              # bare addresses
    | (?<=[wW]{3})\.
    | [^\S\ \t\n]                          # no-break and other wide blanks: stripped at the ends of a cell
    | :(?=(?:[+-]1|100|1234|[a-z0-9_+-]*[a-z_][a-z0-9_+-]*):)   # emoji
    """
_BACKSLASHED: Final = frozenset("\\`*[]{}|#_-!")
_SPACE: Final = re.compile(r"[ \t]+")
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ()/,;%.")
"""What texts of numbers and names are made of: all of it is shown as it is."""


def escape_cell(text: str) -> str:
    """Text as the Markdown of one cell: shown as it is, on one line, whatever it contains."""
    return "<br>".join(escape_line(line.strip(" \t")) for line in visible(text).split("\n"))


def escape_words(text: str) -> str:
    """Text as a part of a sentence: as ``escape_cell``, and shown as it is within raw HTML, too.

    A README often has a sentence in a ``<p align="center">``, where a backslash is a backslash.
    """
    lines = (_SPACE.sub(" ", line).strip(" ") for line in visible(text).split("\n"))
    return "<br>".join(_escape(line, lambda found: _refer_to(found[0])) for line in lines)


def escape_line(text: str) -> str:
    """Text without a line end as a part of a line; blanks at its ends stay."""
    return _escape(_SPACE.sub(" ", text), _escape_character)


def _escape(text: str, write: Callable[[re.Match[str]], str]) -> str:
    if _PLAIN.issuperset(text) and "www." not in text.lower():
        return text
    return re.sub(_SPECIAL, write, text, flags=re.VERBOSE)


def _escape_character(match: re.Match[str]) -> str:
    character = match[0]
    return "\\" + character if character in _BACKSLASHED else _refer_to(character)


def _refer_to(character: str) -> str:
    return _NAMED.get(character) or f"&#{ord(character)};"


_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
