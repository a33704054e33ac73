"""Folders and those below them, also behind links."""

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
    """A folder and those below it, each with what is in it; ``failed`` is called for one that cannot be read.

    Folders behind links are among them if it ``follows`` links, as a build of MkDocs does, but not those that are
    around the link: these have no end. Those whose names ``leaves_out`` says are not.
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
    """Whether a folder is, or is around, one of those through which the way to it leads."""
    beginning = _with_separator(real)
    return any(_with_separator(place).startswith(beginning) for place in around)


def _with_separator(folder: str) -> str:
    """A folder as the paths below it begin; the root begins them by itself."""
    return os.path.join(folder, "")  # noqa: PTH118
