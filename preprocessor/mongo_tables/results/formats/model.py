"""The shared parts of all format readers: the file, its text, names of fields, and faults."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

from mongo_tables.files.folders import bad_byte
from mongo_tables.findings.finding import Finding
from mongo_tables.results.model import ResultsError, combine_faults, file_fault

Document = Mapping[str, Any]
"""One document, with values that ``bson.encode`` accepts. Dates are naive and in UTC.

A document without an ``_id`` gets its number in the file.
"""

NUMBER: Final = "number"
DATE: Final = "date"
TEXT: Final = "text"
TYPES: Final = (NUMBER, DATE, TEXT)
"""The types of columns, in the order in which they are tried."""

PACKED: Final = ".gz"
MOST_UNPACKED: Final = 2**30
"""The maximum size of an unpacked file in bytes. A small packed file can unpack to more than the memory holds."""

_NO_UTF8: Final = "save it as UTF-8"
_SAVE_HINT: Final = f"{_NO_UTF8}; in PowerShell: COMMAND | Out-File -Encoding utf8 FILE"
_OTHER_ENCODINGS: Final = {
    b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16",
}  # fmt: skip
_JSON_BEGINS: Final = re.compile(rb'^[ \t]*(?:\{|\[(?=[\s\d"{\[\]-]))', re.MULTILINE)
"""The beginning of a line of JSON. A line that begins with ``[INFO]`` is a line of a log."""
_SAMPLE: Final = 512
_MOSTLY: Final = 0.4

BROKEN: Final = object()
"""The value of a file that is not one JSON text."""


def suffix_of(name: str) -> str:
    """Return the suffix of a file name, in lower case and without ``.gz``: ``.csv`` for ``Bench.CSV.gz``."""
    stem = name.lower().removesuffix(PACKED)
    return stem[stem.rfind(".") :] if "." in stem.lstrip(".") else ""


def stem_of(name: str) -> str:
    """Return the name without its suffix and without ``.gz``: ``Bench`` for ``Bench.CSV.gz``."""
    whole = name[: -len(PACKED)] if name.lower().endswith(PACKED) else name
    return whole[: len(whole) - len(suffix_of(name))]


@dataclass(frozen=True)
class SourceFile:
    """A file, which is unpacked by gzip if its name ends in ``.gz``.

    ``types`` has the types that the author states, by column: ``number``, ``date`` or ``text``. If a method raises
    ``OSError``, the caller adds the name of the file.
    """

    path: Path
    types: Mapping[str, str] = field(default_factory=dict)
    given: bytes | None = None
    """The bytes of the file if the caller has read it."""
    decimals: dict[str, int] = field(default_factory=dict)
    """The number of decimals of each field whose numbers all have equally many. The reader fills it in."""
    notes: list[Finding] = field(default_factory=list)
    """Notes about oddities that do not stop the reader, which fills them in."""

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file, unpacked."""
        given = self.path.read_bytes() if self.given is None else self.given
        if not self.path.name.lower().endswith(PACKED):
            return given
        content = _unpack(io.BytesIO(given), MOST_UNPACKED + 1)
        if len(content) > MOST_UNPACKED:
            raise OSError(0, f"it unpacks to more than {MOST_UNPACKED // 2**30} GiB")
        return content

    @property
    def suffix(self) -> str:
        """The suffix of the name, in lower case and without ``.gz``."""
        return suffix_of(self.path.name)

    def text(self) -> str:
        """Return the whole text, without a byte order mark. Raises ``ResultsError`` if it is not UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            bad = bad_byte(self.content)
            assert bad is not None, "the file could not be decoded"
            message = f"not UTF-8: there is a byte 0x{bad.value:02x} here"
            raise self.refuse(message, bad.line, bad.column, _NO_UTF8) from None

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file with their newlines. Raises ``ResultsError`` if the file is not UTF-8."""
        try:
            with io.TextIOWrapper(io.BytesIO(self.content), "utf-8-sig", newline="") as text:
                yield from text
        except UnicodeDecodeError:
            self.text()  # It raises the error with the position.
            raise

    @cached_property
    def seen(self) -> bytes:
        """The content as UTF-8 without a byte order mark, from any encoding. It is used to detect the format."""
        encoding = _find_other_encoding(self.content)
        if encoding:
            return self.content.decode(encoding, "ignore").lstrip("\ufeff").encode("utf-8", "ignore")
        return self.content.removeprefix(b"\xef\xbb\xbf")

    @cached_property
    def json_start(self) -> int:
        """The offset in ``seen`` of the JSON text, which lines of a log may precede."""
        found = _JSON_BEGINS.search(self.seen)
        return found.start() if found else len(self.seen)

    @cached_property
    def value(self) -> Any:
        """The value of a JSON file, or ``BROKEN`` if it is not one JSON text."""
        try:
            return json.loads(self.seen[self.json_start :])
        except (ValueError, RecursionError):
            return BROKEN

    def has_keys(self, needs: Collection[str], path: Iterable[str]) -> bool:
        """Return whether a JSON file has an object at this path with these keys.

        The path leads through keys, and into the first element of each list. Return True for a broken JSON text, which
        may have such an object.
        """
        if self.json_start == len(self.seen):
            return False
        value = self.value
        for key in (None, *path):
            value = value.get(key) if key is not None and isinstance(value, dict) else value
            value = next(iter(value), None) if isinstance(value, list) else value
        return self.value is BROKEN or (isinstance(value, dict) and {*needs} <= value.keys())

    def lacks_one_key(self, needs: Collection[str], path: Sequence[str]) -> bool:
        """Return whether a valid JSON file lacks exactly one of the keys that ``has_keys`` requires."""
        places = [(0, self.value)]
        for key in (*path, None):
            inside = [
                (lost, next(iter(value), None) if isinstance(value, list) else value)
                for lost, value in places
            ]
            places = [(lost, value) for lost, value in inside if lost < 2 and isinstance(value, dict)]
            if key is not None:
                places = [
                    (lost + (name != key), one) for lost, value in places for name, one in value.items()
                ]
        return any(lost + len({*needs} - value.keys()) == 1 for lost, value in places)

    def has_line(self, pattern: re.Pattern[bytes]) -> bool:
        """Return whether a line begins with a match of the pattern, which must begin with a literal."""
        # The search for a literal is fast. A "^" would be tried at every line.
        behind = re.compile(b"\n" + pattern.pattern)
        return pattern.match(self.seen) is not None or behind.search(self.seen) is not None

    def refuse_encoding(self) -> None:
        """Raise ``ResultsError`` for text in UTF-16 or UTF-32, which PowerShell and Excel write."""
        if encoding := _find_other_encoding(self.content):
            raise self.refuse(f"{encoding[:6].upper()}, not UTF-8", 1, 1, _SAVE_HINT)

    def refuse(self, message: str, line: int = 0, column: int = 0, hint: str = "") -> ResultsError:
        """Return an error: the file cannot be read because of a fault at this position. Line 0 means the whole file."""
        return combine_faults([file_fault(self.path, (line, column), message, hint)])


def _find_other_encoding(content: bytes) -> str:
    """Return the encoding by the byte order mark, or by NULs at every second byte, or "" for UTF-8."""
    for mark, name in _OTHER_ENCODINGS.items():
        if content.startswith(mark):
            return name
    even, odd = content[:_SAMPLE:2], content[1:_SAMPLE:2]
    for one, other, name in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if len(one) > 1 and b"\0" not in other and one.count(0) > _MOSTLY * len(one):
            return name
    return ""


def _unpack(file: IO[bytes], most: int) -> bytes:
    """Return the first ``most`` bytes of the content. Raises ``OSError`` if the file is not packed by gzip."""
    import gzip  # few files are packed

    try:
        return gzip.GzipFile(fileobj=file).read(most)
    except EOFError:
        raise OSError(0, "the packed data is cut off") from None
    except zlib.error as error:
        raise OSError(0, f"it is not packed by gzip: {error}") from None


def field_names(columns: Sequence[str]) -> list[str]:
    """Return a field name for each column. A dot becomes ``_``, because a dot would address a nested document.

    A column without a name is named by its position: ``column_1``.

    Example:
        >>> field_names(["version", "p99.ms", ""])
        ['version', 'p99_ms', 'column_3']
    """
    return [name.strip().replace(".", "_") or f"column_{number}" for number, name in enumerate(columns, 1)]


def find_repeated(names: Sequence[str]) -> int | None:
    """Return the index of the first name that repeats an earlier one, or None."""
    seen: dict[str, int] = {}
    return next((index for index, name in enumerate(names) if seen.setdefault(name, index) != index), None)
