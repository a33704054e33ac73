"""A table as an aligned Markdown pipe table, for in-place mode: GitHub must render it, and people read its
source.

Whatever stands in a cell, GitHub-flavoured Markdown and Python-Markdown must both show exactly that text. A
backslash escapes what is special in both dialects; what only one of them lets a backslash escape is written
as a character reference, which both decode and neither interprets:

* GFM: https://github.github.com/gfm/#tables-extension- and #backslash-escapes
* Python-Markdown: ``Markdown.ESCAPED_CHARS`` (and ``|`` within tables)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from preprocessor.render.column import Align, Column
from preprocessor.render.columns import columns_of
from preprocessor.render.headers import with_unit
from preprocessor.render.notes import notes_of
from preprocessor.render.text import NO_ROWS, display_width
from preprocessor.render.values import visible

if TYPE_CHECKING:
    from preprocessor.specs.model import PipelineSpec, TableSpec

_SPECIAL: Final = re.compile(
    r"""
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
    """,
    re.VERBOSE,
)
_BACKSLASHED: Final = frozenset("\\`*[]{}|#_-!")
_SPACE: Final = re.compile(r"[ \t]+")
_MINIMUM: Final = 3


def pipe_table(
    spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = (), picture: str = ""
) -> list[str]:
    """The lines of the table, without line ends and without a container's prefix.

    Title and caption stand above it as a paragraph, and under them ``picture``, if any, in Markdown. With no rows the
    author's ``empty`` text (or a plain statement) takes the place of the table. Its notes, and ``below`` as plain text,
    stand under it.
    """
    if not rows:
        return [*_heading(spec), _emphasis(spec.empty or NO_ROWS)]
    columns = columns_of(spec, rows)
    drawn = [picture, ""] if picture else []
    table = _join_columns([_pad_column(column) for column in columns])
    return [*_heading(spec), *drawn, *table, *_notes([*notes_of(columns), *below])]


def pipe_picture(spec: PipelineSpec, picture: str, *, below: Sequence[str] = ()) -> list[str]:
    """The lines of a figure that is but a picture, as those of ``pipe_table``."""
    return [*_heading(spec), picture, *_notes(below)]


def image(name: str, address: str) -> str:
    """A picture in Markdown; ``name`` is for who cannot see it."""
    return f"![{escape_words(' '.join(name.split()))}]({address})"


def _notes(notes: Sequence[str]) -> list[str]:
    return [line for note in notes for line in ("", _emphasis(note))]


def _heading(spec: PipelineSpec) -> list[str]:
    parts = [f"**{escape_cell(spec.title)}**"] if spec.title else []
    parts += [_emphasis(spec.caption)] if spec.caption else []
    return [" ".join(parts), ""] if parts else []


def _emphasis(text: str) -> str:
    """A sentence in asterisks: whatever it begins with, it is no list item, heading or quote."""
    return f"*{escape_cell(text)}*"


def escape_cell(text: str) -> str:
    """Text as the Markdown of one cell: shown as it is, on one line, whatever it contains."""
    return _escape(text, _escape_character)


def _escape(text: str, escape: Callable[[re.Match[str]], str]) -> str:
    lines = visible(text).split("\n")
    return "<br>".join(_SPECIAL.sub(escape, _SPACE.sub(" ", line).strip(" ")) for line in lines)


def escape_words(text: str) -> str:
    """Text as a part of a sentence: as ``escape_cell``, and shown as it is within raw HTML, too.

    A README often has a sentence in a ``<p align="center">``, where a backslash is a backslash.
    """
    return _escape(text, lambda match: _refer_to(match[0]))


def _escape_character(match: re.Match[str]) -> str:
    character = match[0]
    return "\\" + character if character in _BACKSLASHED else _refer_to(character)


def _refer_to(character: str) -> str:
    return _NAMED.get(character) or f"&#{ord(character)};"


_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def _pad_column(column: Column) -> list[str]:
    """Header, delimiter and cells of a column, all of one width."""
    cells = [escape_cell(with_unit(column.header, column.unit)), *map(escape_cell, column.texts)]
    width = max(_MINIMUM, *map(display_width, cells))
    lines = [_pad(cell, width, column.align) for cell in cells]
    return [lines[0], _delimiter(width, column.align), *lines[1:]]


def _delimiter(width: int, align: Align) -> str:
    if align == "right":
        return "-" * (width - 1) + ":"
    return ":" + "-" * (width - 2) + ":" if align == "center" else "-" * width


def _pad(cell: str, width: int, align: Align) -> str:
    room = width - display_width(cell)
    before = {"left": 0, "right": room, "center": room // 2}[align]
    return " " * before + cell + " " * (room - before)


def _join_columns(columns: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in zip(*columns, strict=True)]
