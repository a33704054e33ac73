"""What the readers of all formats share: the file that is read, its text, names of fields, and its faults."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

from mongo_tables.files.text import bad_byte
from mongo_tables.results.model import Fault, ResultsError, combine_faults

Document = Mapping[str, Any]
"""One document: values as ``bson.encode`` takes them (dates as naive ``datetime`` in UTC).

It needs no ``_id``; one that has none is given its number in the file.
"""

NUMBER: Final = "number"
DATE: Final = "date"
TEXT: Final = "text"
TYPES: Final = (NUMBER, DATE, TEXT)
"""The types of columns of text, in the order in which they are tried."""

PACKED: Final = ".gz"
MOST_UNPACKED: Final = 2**30
"""A packed file may hold so many bytes: a small one can unpack to more than any memory has."""

_NO_UTF8: Final = "save it as UTF-8"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def suffix_of(name: str) -> str:
    """How the name of a file ends, in small letters and without ``.gz``: ``.csv`` of ``Bench.CSV.gz``."""
    stem = name.lower().removesuffix(PACKED)
    return stem[stem.rfind(".") :] if "." in stem.lstrip(".") else ""


def is_packed(name: str) -> bool:
    """Whether a file of this name is packed by gzip."""
    return name.lower().endswith(PACKED)


def stem_of(name: str) -> str:
    """The name without what ``suffix_of`` gives, and without ``.gz``."""
    whole = name[: -len(PACKED)] if is_packed(name) else name
    return whole[: len(whole) - len(suffix_of(name))]


@dataclass(frozen=True)
class SourceFile:
    """A file that is read, packed by gzip where its name ends in ``.gz``.

    ``types`` are those that its author states for columns, by their names: ``number``, ``date`` or ``text``.

    An ``OSError`` may leave a reader, of packed bytes as well: whoever calls it tells the file.
    """

    path: Path
    types: Mapping[str, str] = field(default_factory=dict)
    given: bytes | None = None
    """The bytes of the file, where they were read before."""

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file, read once."""
        return self.path.read_bytes() if self.given is None else self.given

    @property
    def suffix(self) -> str:
        """How its name ends, as ``suffix_of`` gives it."""
        return suffix_of(self.path.name)

    def open(self) -> IO[bytes]:
        """The unpacked bytes, from the first one on."""
        return _unpack(self.path.name, io.BytesIO(self.content))

    def text(self) -> str:
        """All of the file as text, without a byte order mark. Raises ``ResultsError`` where that is not UTF-8."""
        with self.open() as opened:
            content = opened.read()
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise self._no_text(content) from None

    def lines(self) -> Iterator[str]:
        """The lines of the file, each with its end as it is written. Raises ``ResultsError`` as ``text`` does."""
        try:
            with self.open() as opened, io.TextIOWrapper(opened, "utf-8-sig", newline="") as text:
                yield from text
        except UnicodeDecodeError:
            self.text()  # It knows the place.
            raise

    def head(self, size: int) -> str:
        """The first bytes of the file as text, without a byte order mark; what is no UTF-8 in them is replaced."""
        known = self.given is not None or "content" in self.__dict__
        with self.open() if known else _unpack(self.path.name, self.path.open("rb")) as opened:
            return opened.read(size).decode("utf-8-sig", "replace")

    def refuse(self, message: str, line: int = 0, column: int = 0, hint: str = "") -> ResultsError:
        """The error that the file cannot be read as it is, at a place of it; 0 where that is all of the file."""
        return combine_faults([Fault(self.path, line, column, message, hint)])

    def _no_text(self, content: bytes) -> ResultsError:
        if content.startswith(_UTF16):
            return self.refuse("UTF-16, not UTF-8", 1, 1, _NO_UTF8)
        bad = bad_byte(content)
        assert bad is not None, "the text could not be decoded"
        return self.refuse(f"not UTF-8: byte 0x{bad.value:02x} stands here", bad.line, bad.column, _NO_UTF8)


def _unpack(name: str, content: IO[bytes]) -> IO[bytes]:
    if not is_packed(name):
        return content
    import gzip

    return io.BufferedReader(_Limited(gzip.GzipFile(fileobj=content)))


class _Limited(io.RawIOBase):
    """The bytes of a packed file. Raises ``OSError`` for what is not packed so, and for more than ``MOST_UNPACKED``."""

    def __init__(self, unpacked: io.BufferedIOBase) -> None:
        self._unpacked = unpacked
        self._left = MOST_UNPACKED

    def readable(self) -> bool:
        """It can be read, as ``BufferedReader`` asks."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack the next bytes."""
        import zlib

        try:
            content = self._unpacked.read(len(buffer))
        except EOFError:
            raise OSError(0, "cut off: what is packed has no end") from None
        except zlib.error as error:
            raise OSError(0, f"not packed as gzip does it: {error}") from None
        buffer[: len(content)] = content
        self._left -= len(content)
        if self._left < 0:
            raise OSError(0, f"unpacks to more than {MOST_UNPACKED // 2**30} GiB")
        return len(content)

    def close(self) -> None:
        """Close the packed file, too."""
        self._unpacked.close()
        super().close()


def field_names(columns: Sequence[str]) -> list[str]:
    """A field for each column: a dot, which would lead into a document within the document, becomes ``_``.

    A column without a name is called by its place: ``column_1``.
    """
    return [name.strip().replace(".", "_") or f"column_{number}" for number, name in enumerate(columns, 1)]


def find_repeated(names: Sequence[str]) -> int | None:
    """The index of the first name that an earlier one has already."""
    seen: dict[str, int] = {}
    return next((index for index, name in enumerate(names) if seen.setdefault(name, index) != index), None)
