"""Traversal of folders, including links."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

Entries = Sequence[os.DirEntry[str]]


def walk(
    folder: str,
    failed: Callable[[OSError], None] | None = None,
    *,
    follows: bool = True,
    leaves_out: Callable[[str], bool] | None = None,
) -> Iterator[tuple[str, Entries]]:
    """Yield a folder and those below it, each with its entries. Call ``failed`` for an unreadable folder.

    ``follows`` includes folders behind links, as a MkDocs build does, except links to an enclosing folder, which would
    never end. Folders whose name satisfies ``leaves_out`` are skipped.
    """
    waiting: list[tuple[str, tuple[str, ...]]] = [(folder, (os.path.realpath(folder),))]
    while waiting:
        place, around = waiting.pop()
        try:
            entries = list(os.scandir(place))
        except OSError as error:
            if failed is not None:
                failed(error)
            continue
        yield place, entries
        for entry in entries:
            if not _is_folder(entry, follows=follows) or (leaves_out and leaves_out(entry.name)):
                continue
            if not entry.is_symlink():
                waiting.append((entry.path, (*around[:-1], f"{around[-1]}{os.sep}{entry.name}")))
            elif not _leads_around(real := os.path.realpath(entry.path), around):
                waiting.append((entry.path, (*around, real)))


def _is_folder(entry: os.DirEntry[str], *, follows: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follows)
    except OSError:  # Such as a link to itself.
        return False


def _leads_around(real: str, around: Sequence[str]) -> bool:
    """Return whether a folder is, or contains, one of the folders on the path to it."""
    beginning = _with_separator(real)
    return any(_with_separator(place).startswith(beginning) for place in around)


def _with_separator(folder: str) -> str:
    """Return a folder as the prefix of the paths below it. The root already ends with a separator."""
    return os.path.join(folder, "")  # noqa: PTH118
