"""Writing a file so that a reader sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path``, replacing what is there at once; a file that is there keeps its mode.

    A full disk or an interrupt leaves the old file, and nothing else, behind. Raises ``OSError``.
    """
    from tempfile import mkstemp  # most runs find what they need and write nothing

    handle, name = mkstemp(dir=path.parent, prefix=".new-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
