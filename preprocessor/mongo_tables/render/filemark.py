"""The mark in the first line of a file that we write beside a page: its digest tells whether somebody changed it."""

from __future__ import annotations

import re
from typing import Final

from mongo_tables.directives.comments import digest

_MARK: Final = r"<!-- mongo-tables: drawing ([0-9a-f]{16}) -->\n"


def with_mark(text: str) -> str:
    """The text of a file, whose lines end in ``\\n``, behind its mark: a comment of XML."""
    return f"<!-- mongo-tables: drawing {digest(text)} -->\n{text}"


def is_marked(text: str) -> bool:
    """Whether a file is one that we wrote, whatever has become of it since."""
    return re.match(_MARK, with_plain_ends(text)) is not None


def is_as_written(text: str) -> bool:
    """Whether a file is one that we wrote and nobody has changed, but for its line ends."""
    plain = with_plain_ends(text)
    mark = re.match(_MARK, plain)
    return mark is not None and digest(plain[mark.end() :]) == mark[1]


def with_plain_ends(text: str) -> str:
    """The text with the line ends that we write: Git may check files out with others."""
    return text.replace("\r\n", "\n")
