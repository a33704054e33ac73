"""The text of a fixture file as BSON documents, with every fault in it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from mongo_tables.files.text import place_at
from mongo_tables.jsontext.parsing import parse
from mongo_tables.results import jsondocuments
from mongo_tables.results.jsondocuments import Form
from mongo_tables.results.model import Fault, combine_faults


def read(path: Path, content: bytes) -> tuple[list[bytes], list[Fault]]:
    """The file's documents as BSON, ``_id`` first as a server stores it, and all faults, both in order.

    Faults: text that is not UTF-8, not JSON or not Extended JSON, a key given twice in an object, a document
    without ``_id`` (a server would give it a random one). Where there are faults, documents are missing.
    """
    found: list[bytes] = []
    faults: list[Fault] = []
    for one in _parts(path, [content]):
        if isinstance(one, Fault):
            faults.append(one)
        else:
            found.append(one)
    return found, faults


def payload(path: Path, blocks: Iterable[bytes]) -> bytes:
    """The file's documents as BSON, end to end. ``blocks`` are its bytes, cut behind some ends of lines.

    Raises ``ResultsError`` that tells all faults, as ``read`` gives them.
    """
    written = io.BytesIO()
    faults: list[Fault] = []
    for one in _parts(path, blocks):
        if isinstance(one, Fault):
            faults.append(one)
        else:
            written.write(one)
    if faults:
        raise combine_faults(faults)
    return written.getvalue()


def _parts(path: Path, blocks: Iterable[bytes]) -> Iterator[bytes | Fault]:
    """The documents and the faults of a file, in order; behind bytes that are no text nothing is read."""
    if path.suffix == ".json":
        yield from _of_array(path, b"".join(blocks))
        return
    line, codec = 1, "utf-8-sig"
    for block in blocks:
        try:
            text = block.decode(codec)
        except UnicodeDecodeError as error:
            yield _no_text(path, line, block[: error.start])
            return
        for number, part in _lines(text, line):
            yield from _of_text(path, number, part, is_array=False)
        line, codec = line + text.count("\n"), "utf-8"


def _of_array(path: Path, content: bytes) -> Iterator[bytes | Fault]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield _no_text(path, 1, content[: error.start])
        return
    del content
    yield from _of_text(path, 1, text, is_array=True)


def _no_text(path: Path, line: int, before: bytes) -> Fault:
    text = before.decode("utf-8", "replace")
    above, column = place_at(text, len(text))
    return Fault(path, line + above - 1, column, "not UTF-8")


def _of_text(path: Path, line: int, text: str, *, is_array: bool) -> Iterator[bytes | Fault]:
    """The documents and the faults of a line, or of a whole array."""
    for one in jsondocuments.read(text, Form(is_array)):
        if isinstance(one, bytes):
            yield one
            continue
        above, column = place_at(text, one.offset)
        yield Fault(path, line + above - 1, column, one.message, one.hint)


def place_of(path: Path, content: bytes, index: int) -> tuple[int, int]:
    """Line and column where the document of this index begins, in a file without faults."""
    text = content.decode("utf-8-sig")
    if path.suffix == ".json":
        return place_at(text, parse(text).positions[(index,)])
    line, part = list(_lines(text))[index]
    return line, len(part) - len(part.lstrip()) + 1


def _lines(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, with its number; ``first`` is that of the first one."""
    return ((number, line) for number, line in enumerate(text.split("\n"), first) if line.strip())


def documents(path: Path, content: bytes) -> list[bytes]:
    """The file's documents as BSON. Raises ``ResultsError`` that tells all faults."""
    found, faults = read(path, content)
    if faults:
        raise combine_faults(faults)
    return found
