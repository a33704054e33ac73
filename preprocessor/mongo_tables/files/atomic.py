"""Atomic writes of files: readers see the old content or the new one, never a part of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from errno import EACCES, EISDIR
from pathlib import Path
from typing import Final

_ANY_WRITES: Final = 0o222


Content = bytes | Iterable[bytes]
"""The content of a file, as bytes or as parts that are written one after the other."""


def write(path: Path, content: Content) -> None:
    """Write ``content`` to ``path``. An existing file is replaced atomically and keeps its mode.

    If the disk is full or the program is interrupted, the old file remains, and the temporary file is removed. A file
    without write permission is not replaced.

    Raises:
        OSError: Its ``filename`` is ``path``.
    """
    write_all({path: content})


def write_all(contents: Mapping[Path, Content]) -> None:
    """Write the content of each path, as ``write`` does. No file is replaced before all new contents are on disk.

    Raises:
        OSError: Its ``filename`` is the path that cannot be written.
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
    """Write a temporary file next to ``path``, and record it in ``temporaries`` so that the caller can remove it."""
    try:
        if path.is_dir():  # Before any file is replaced: a file cannot replace a folder.
            raise OSError(EISDIR, os.strerror(EISDIR))
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        if not mode & _ANY_WRITES:  # The system would replace a read-only file in a writable folder.
            raise OSError(EACCES, os.strerror(EACCES))
        temporaries[path] = temporary = path.with_name(f".new-{os.urandom(8).hex()}")
        temporary.touch(0o600, exist_ok=False)
        with temporary.open("wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
        temporary.chmod(mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write all files or none, and create the folders that they need.

    If a file is a symbolic link, its target is written.
    """
    contents = {file.resolve(): text.encode("utf-8") for file, text in texts.items()}
    for file in contents:
        file.parent.mkdir(parents=True, exist_ok=True)
    write_all(contents)
