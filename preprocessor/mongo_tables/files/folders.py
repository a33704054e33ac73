"""Traversal of folders, positions in texts, and the forms of paths and texts in messages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from errno import ENAMETOOLONG
from pathlib import Path
from typing import NamedTuple


def walk(
    folder: Path, failed: Callable[[OSError], None] | None = None
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield ``folder`` and each folder below it, with the names of its files. Call ``failed`` for an unreadable folder.

    Links to folders are followed, as in a MkDocs build. A link to an enclosing folder is not followed, because the
    traversal would never end.
    """
    for place, folders, names in os.walk(folder, onerror=failed, followlinks=True):
        for name in tuple(folders):
            path = Path(place, name)
            if path.is_symlink():
                target = path.resolve()
                around = (above.resolve() for above in path.parents if above.is_relative_to(folder))
                if any(above.is_relative_to(target) for above in around):
                    folders.remove(name)
        yield place, names


_LONGEST = 80
"""The maximum number of characters that a message quotes from a file."""


class BadByte(NamedTuple):
    """The first byte that makes a file invalid UTF-8, with its line and column. Both count from 1, in characters."""

    value: int
    line: int
    column: int


def bad_byte(content: bytes) -> BadByte | None:
    """Return the first byte that makes ``content`` invalid UTF-8, or None if ``content`` is valid.

    Example:
        >>> bad_byte(b"ab\\xff")
        BadByte(value=255, line=1, column=3)
    """
    try:
        content.decode()
    except UnicodeDecodeError as error:
        above = re.split(r"\r\n|\r|\n", content[: error.start].decode())
        return BadByte(content[error.start], len(above), len(above[-1]) + 1)
    return None


def place_at(text: str, offset: int) -> tuple[int, int]:
    r"""Return the line and column of an offset. Lines and columns count from 1, offsets from 0, all in characters.

    Example:
        >>> place_at("ab\ncd", 4)
        (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def may_be_file(path: Path) -> bool:
    """Return whether ``path`` is a file, or cannot be inspected. In that case, reading it raises the error."""
    try:
        return path.is_file()
    except OSError as error:
        return error.errno != ENAMETOOLONG


def shorten_path(path: Path) -> str:
    """Return a path as findings show it: relative to the working folder if it is in this folder."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def shorten(text: str) -> str:
    """Return a text as a message quotes it: on one line, and cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"


def list_some(names: Sequence[str], most: int, mark: str = ", ") -> str:
    """Return the first ``most`` names, joined by ``mark``, and the number of the other names, for a message.

    Example:
        >>> list_some(["a", "b", "c"], 2)
        'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{mark.join(names[:most])}{more}"


def plain_path(path: Path) -> Path:
    """Return the absolute path without ``..``, and without following links."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - ``absolute`` keeps `..`


def leads_within(path: Path, folder: Path) -> bool:
    """Return whether ``path`` is in ``folder`` or in a folder below it when all links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
