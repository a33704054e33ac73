"""What is packed of the pages of a large site lies in a file until it is asked for: they do not fit into memory."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple


class HeldFile:
    """A file that is open as long as anybody holds a stretch of it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __del__(self) -> None:
        self._file.close()

    def read(self, start: int, length: int) -> bytes:
        """So many bytes from ``start``; fewer where the file has no more."""
        self._file.seek(start)
        return self._file.read(length)

    def write(self, start: int, content: bytes) -> None:
        """Write bytes at ``start``."""
        self._file.seek(start)
        self._file.write(content)
        self._file.flush()


class Stretch(NamedTuple):
    """So many bytes of a file, from ``start``."""

    file: HeldFile
    start: int
    length: int


Packed = bytes | Stretch
"""What was packed, in memory or in a file."""


def bytes_of(packed: Packed) -> bytes:
    """The bytes of what was packed. Raises ``OSError``."""
    return packed if isinstance(packed, bytes) else packed.file.read(packed.start, packed.length)


class Spool:
    """A file without a name, which goes with what is in it."""

    def __init__(self) -> None:
        self._file: HeldFile | None = None
        self._end = 0

    def put(self, packed: bytes) -> Packed:
        """Write bytes; they stay in memory where that cannot be done."""
        start = self._end
        try:
            self._file = self._file or HeldFile(TemporaryFile())  # noqa: SIM115 (closed by what holds it)
            self._file.write(start, packed)
        except OSError:
            return packed
        self._end += len(packed)
        return Stretch(self._file, start, len(packed))
