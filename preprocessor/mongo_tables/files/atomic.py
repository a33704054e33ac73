"""Atomic writes of files: readers see the old bytes or the new ones, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from errno import EACCES, EISDIR
from pathlib import Path
from typing import Final

_ANY_WRITES: Final = 0o222


Content = bytes | Iterable[bytes]
"""The content of a file; parts are written one after the other."""


def write(path: Path, content: Content) -> None:
    """Write ``content`` to ``path``, atomically replacing an existing file, whose mode is kept.

    After a full disk or an interrupt the old file remains, without temporary files; a file without write permission is
    not replaced.

    Raises:
        OSError: With the name ``path``.
    """
    write_all({path: content})


def write_all(contents: Mapping[Path, Content]) -> None:
    """Write the bytes to each path, as ``write`` does, all or none: files are replaced once all are on disk.

    Raises:
        OSError: With the name of the path that cannot be written.
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
    """Write a temporary file next to ``path`` for replacing it. Record it before anything can fail."""
    from tempfile import mkstemp  # late import: most runs write nothing

    try:
        if path.is_dir():  # Checked before any replacement: a file cannot replace a folder.
            raise OSError(EISDIR, os.strerror(EISDIR))
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        if not mode & _ANY_WRITES:  # A writable folder would allow the replacement of a read-only file.
            raise OSError(EACCES, os.strerror(EACCES))
        handle, name = mkstemp(dir=path.parent, prefix=".new-")
        temporaries[path] = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
        temporaries[path].chmod(mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
