"""Files that ought to hold text: whether one is there, where it leads, and where its bytes are none."""

import os
import re
from collections.abc import Sequence
from errno import ENAMETOOLONG
from pathlib import Path
from typing import NamedTuple

_LONGEST = 80
"""Characters of a text that stands in a message."""


class BadByte(NamedTuple):
    """The first byte of a file that is not UTF-8, and its place: both from 1, columns in characters."""

    value: int
    line: int
    column: int


def bad_byte(content: bytes) -> BadByte | None:
    """Where ``content`` stops being UTF-8; None when all of it is."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        above = re.split(r"\r\n|\r|\n", content[: error.start].decode())
        return BadByte(content[error.start], len(above), len(above[-1]) + 1)
    return None


def place_at(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1 and in characters, of what stands at ``offset`` from 0."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def may_be_file(path: Path) -> bool:
    """Whether ``path`` is a file, or cannot be looked at: whoever reads it then learns why."""
    try:
        return path.is_file()
    except OSError as error:
        return error.errno != ENAMETOOLONG


def shorten_path(path: Path) -> str:
    """A path as findings show it: relative to the working folder where it is below it."""
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.as_posix()


def shorten(text: str) -> str:
    """A text from a file as it may stand in a message: in one line, and of a long one the beginning."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"


def list_some(names: Sequence[str], most: int, mark: str = ", ") -> str:
    """Names as they may stand in a message, with a mark between: the first ones, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{mark.join(names[:most])}{more}"


def leads_within(path: Path, folder: Path) -> bool:
    """Whether ``path``, which stands below ``folder``, is still within it when all links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
