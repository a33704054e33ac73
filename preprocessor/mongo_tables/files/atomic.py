"""Writing files so that a reader sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from errno import EACCES, EISDIR
from pathlib import Path
from typing import Final

_ANY_WRITES: Final = 0o222

Content = bytes | Iterable[bytes]
"""What a file is to hold; parts are written one behind the other."""


def write(path: Path, content: Content) -> None:
    """Put ``content`` at ``path``, replacing what is there at once; a file that is there keeps its mode.

    A full disk or an interrupt leaves the old file, and nothing else, behind; so does a file that nobody may write, as
    its mode says. Raises ``OSError``, which names ``path``.
    """
    write_all({path: content})


def write_all(contents: Mapping[Path, Content]) -> None:
    """Put the bytes at each path, as ``write`` does, all or none: nothing is replaced before everything is on disk.

    Raises ``OSError``, which names the path that cannot be written.
    """
    temporaries: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            _write_beside(path, content, temporaries)
        for path, temporary in temporaries.items():
            temporary.replace(path)
    except BaseException:
        for temporary in temporaries.values():
            with suppress(OSError):
                temporary.unlink()
        raise


def _write_beside(path: Path, content: Content, temporaries: dict[Path, Path]) -> None:
    """Write a file next to ``path``, ready to take its place; it is entered before anything can go wrong with it."""
    from tempfile import mkstemp  # most runs find what they need and write nothing

    try:
        if path.is_dir():  # Known before anything is replaced: a file cannot take the place of a folder.
            raise OSError(EISDIR, os.strerror(EISDIR))
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        if not mode & _ANY_WRITES:  # A folder that may be written would let it be replaced all the same.
            raise OSError(EACCES, os.strerror(EACCES))
        handle, name = mkstemp(dir=path.parent, prefix=".new-")
        temporaries[path] = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
        temporaries[path].chmod(mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
