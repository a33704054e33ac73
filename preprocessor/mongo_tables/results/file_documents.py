"""Conversion of files to documents, with every fault of a file at its position.

A document of a plain file keeps the ``_id`` in the file. If no document of the file has an ``_id``, each gets its
number in the file. A pipeline can keep the order of the documents by this number, but not by the random ``_id`` that a
server would assign. If a collection has several files, ``_id`` contains the name of the file: ``{"file": "0001.json",
"number": 1}``. Several runs of a benchmark tool have the same benchmarks, so the name of the file is added to their
``_id``: ``{"testname": …, "name": …, "metric": …, "file": "0001.json"}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, overload

import bson
import bson.errors
from bson.int64 import Int64

from mongo_tables.aggregation.join_index import IndexedCollection
from mongo_tables.files.folders import place_at, shorten_path
from mongo_tables.files.memo import digest_of
from mongo_tables.findings.finding import Complaint, Finding
from mongo_tables.jsontext.extended import INT32
from mongo_tables.jsontext.reader import parse
from mongo_tables.results.collection import Collection
from mongo_tables.results.extended_json import read_documents, write_value
from mongo_tables.results.file_listing import CollectionFiles, ResultsFile, list_results, refuse_unread
from mongo_tables.results.formats import FORMATS, Format, find_format
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.formats.raw_values import hold_digits, version_key
from mongo_tables.results.model import FAULTS_SHOWN, NoBenchmarks, ResultsError, combine_faults, file_fault
from mongo_tables.results.row_names import ORDER
from mongo_tables.results.rows import through_bson
from mongo_tables.results.source_text import SourcePart

Document = dict[str, Any]

LARGE: Final = 2**20
"""Files with this many bytes or more keep their documents as rows, which need a third of the memory."""
_SAME: Final = frozenset({str, float, bool, NoneType, Int64})
"""Types whose values BSON stores unchanged."""
_MOST_TEXTS: Final = 100_000
_APART: Final = "move it out of the folder, or give it a separate collection: NAME=FILE"
_ONCE: Final = "a server stores each _id once, so remove one of the two"


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of the files of a collection, in order, and a digest of their names and contents.

    ``fixtures`` is the fixture folder, or None for plain files. ``used`` has the same meaning as in ``read_contents``.
    """

    name: str
    files: Sequence[tuple[ResultsFile, bytes]]
    fixtures: Path | None
    digest: str
    used: Set[str] = frozenset()


def read_contents(collection: str, place: CollectionFiles, used: Set[str] = frozenset()) -> Contents:
    """Read the files of a collection. Raises ``ResultsError``. For fixture files, it has all faults of their folder.

    ``used`` are the collections that the build has already read. Their files are not searched for faults a second time.
    """
    files: Sequence[ResultsFile] = place.plain
    fixtures: Path | None = None
    if place.folder is not None:
        files, fixtures = place.files(), place.folder.parent
        refuse_unread(place.folder)
    elif place.places:
        raise ResultsError(
            f"the collection `{collection}` is in {' and in '.join(place.places)}",
            hint=f"give one of them another name, as in other={place.places[-1]}, or combine all of them with "
            f"{collection}=PATTERN",
        )
    read: list[tuple[ResultsFile, bytes]] = []
    parts: list[str | bytes] = [collection, str(fixtures is None)]
    try:
        for file in files:
            content = file.read()
            read.append((file, content))
            parts += (str(file.path), content)
    except ResultsError as error:
        found = _find_faults(Contents(collection, read, fixtures, "", used)) if fixtures else None
        raise found or error from None
    return Contents(collection, read, fixtures, digest_of(*parts), used)


def decode(contents: Contents) -> Collection:
    """Return the documents of a collection. Raises ``ResultsError`` with all faults, also for a repeated ``_id``."""
    read: list[Sequence[Document]] = []
    paths: list[Path] = []
    may_repeat = contents.fixtures is not None
    empty: list[NoBenchmarks] = []
    decimals: list[Mapping[str, int]] = []
    apart: list[Finding] = []
    odd: list[Finding] = []
    of_tool: dict[Path, bool] = {}
    names = [file.name for file, _ in contents.files] if contents.fixtures is None else []
    are_numbered = sorted(names) != sorted(names, key=version_key)
    for file, content in contents.files:
        documents: Sequence[Document] = ()
        if contents.fixtures is None:
            source = SourceFile(file.path, file.types, content)
            try:
                documents, has_ids, of_tool[file.path] = read_plain(
                    source, file.name, version_key(file.name) if are_numbered else ""
                )
                may_repeat = may_repeat or has_ids
                decimals.append(source.decimals)
                odd += source.notes
            except NoBenchmarks as error:
                empty.append(error)
                apart += error.findings
        else:
            documents, faults = read_fixture(file.path, content)
            if faults:
                raise _find_faults(contents) or combine_faults(faults)
        read.append(documents)
        paths.append(file.path)
    if empty and not any(read):
        raise empty[0]
    if may_repeat and (repeated := list(islice(_find_repeated(contents, read), FAULTS_SHOWN + 1))):
        raise combine_faults(repeated if contents.fixtures else repeated[:1])
    one_file = len(read) == 1 and contents.fixtures is None
    whole = read[0] if one_file else IndexedCollection(chain.from_iterable(read))
    if any(of_tool.values()):
        message = "a benchmark tool wrote other files of this collection, but not this one"
        for path, is_of_tool in of_tool.items():
            if not is_of_tool:
                apart.append(file_fault(path, (0, 0), message, _APART))
    notes: list[Finding] = []
    for rule, some in (("MT313", apart), ("MT338", odd)):
        for one in some:
            notes.append(one._replace(rule=rule, severity="note"))
    common = decimals[0] if decimals else {}
    if len(decimals) > 1:
        common = {name: n for name, n in common.items() if all(one.get(name) == n for one in decimals)}
    plain = contents.fixtures is None
    return Collection(
        contents.name, whole, contents.digest, tuple(paths), plain, tuple(notes), decimals=common
    )


def _find_repeated(contents: Contents, read: Sequence[Sequence[Document]]) -> Iterator[Finding]:
    """Yield a fault for each document that repeats an earlier ``_id``. In fixture files, it has a position."""
    seen: dict[bytes, tuple[int, int]] = {}
    for number, documents in enumerate(read):
        for index, document in enumerate(documents):
            key = document["_id"]
            earlier, before = seen.setdefault(bson.encode({"": key}), (number, index))
            if (earlier, before) == (number, index):
                continue
            shown = write_value(key)
            (here, content), (there, other) = contents.files[number], contents.files[earlier]
            if contents.fixtures is None:
                having = "two documents have" if here == there else f"a document of {there.path} also has"
                yield file_fault(here.path, (0, 0), f"{having} the _id {shown}", _ONCE)
            else:
                above, _ = _place_of(there.path, other, before)
                message = f"the _id {shown} is also that of {shorten_path(there.path)}:{above}"
                yield file_fault(here.path, _place_of(here.path, content, index), message, _ONCE)


# -- fixture files --


def read_fixture(path: Path, content: bytes) -> tuple[list[Document], list[Finding]]:
    """Return the documents of a file, with ``_id`` first as a server stores it, and all faults, both in order.

    Faults are text that is not UTF-8, not JSON or not Extended JSON, a repeated key in an object, and a document
    without ``_id``, to which a server would assign a random one. If there are faults, some documents are missing.
    """
    file = SourceFile(path, given=content)
    try:
        file.refuse_encoding()
        text = file.text()
    except ResultsError as error:
        return [], list(error.findings)
    found: list[Document] = []
    faults: list[Finding] = []
    is_array = path.suffix == ".json"
    for line, part in [(1, text)] if is_array else _lines(text):
        for one in read_documents(part, is_array=is_array):
            if isinstance(one, Complaint):
                above, column = place_at(part, one.at)
                faults.append(file_fault(path, (line + above - 1, column), one.message, one.hint))
            else:
                found.append(one)
    return found, faults


def fixture_documents(path: Path, content: bytes) -> list[Document]:
    """Return the documents of a fixture file. Raises ``ResultsError`` with all faults."""
    found, faults = read_fixture(path, content)
    if faults:
        raise combine_faults(faults)
    return found


def _place_of(path: Path, content: bytes, index: int) -> tuple[int, int]:
    """Return the line and column at which a document begins, in a file without faults."""
    text = content.decode("utf-8-sig")
    if path.suffix == ".json":
        return place_at(text, parse(text).positions[(index,)])
    line, part = list(_lines(text))[index]
    return line, len(part) - len(part.lstrip()) + 1


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _find_faults(contents: Contents) -> ResultsError | None:
    """Return all faults of all files of the fixture folder as one error, or None if there are none."""
    faults: list[Finding] = []
    known = {file.path: content for file, content in contents.files}
    for name, place in list_results([SourcePart("", str(contents.fixtures), "")]).collections.items():
        is_used = name != contents.name and name in contents.used
        try:
            for file in place.files() if place.folder and not is_used else ():
                content = known[file.path] if file.path in known else file.read()
                faults += read_fixture(file.path, content)[1]
        except ResultsError as error:  # The file cannot be opened.
            faults += error.findings
    return combine_faults(faults) if faults else None


# -- plain files --


def read_plain(file: SourceFile, name: str, order: str) -> tuple[Sequence[Document], bool, bool]:
    """Return the documents of a file, whether the file gives their ``_id``, and whether a benchmark tool wrote it.

    ``name`` distinguishes the file from the others of its collection, or is "" if there are no others. ``order`` is a
    sort key for the name, or "" if the names are in order as texts; ``run-10`` and ``run-2`` are not. Raises
    ``ResultsError``, also for an unknown format.
    """
    try:
        is_empty = not file.seen.strip()
    except OSError as error:
        raise file.refuse(f"cannot be read: {error.strerror or error}") from None
    if is_empty:
        raise file.refuse("the file is empty")
    if file.suffix != ".parquet":
        file.refuse_encoding()
    found = find_format(file)
    if found is None:
        known = ", ".join(one.name for one in FORMATS)
        raise file.refuse("the format is unknown", hint=f"the known formats are {known}")
    if file.types and not found.has_text:
        hint = "convert it in the pipeline, with $toString, $toDouble or $toDate"
        raise file.refuse(
            f"types of columns are for CSV and TSV only: {found.name} has its own types", hint=hint
        )
    decoded = _decode(file, found)
    first = next(decoded, None)
    if first is None:
        return IndexedCollection(()), False, bool(found.marks)
    has_ids = "_id" in first
    documents = _number(file, name, chain([first], decoded), has_ids)
    if found.marks and name:  # Other files may have the same benchmarks.
        documents = ({**one, "_id": {**one["_id"], "file": name}} for one in documents)
        if order:
            documents = ({**one, ORDER: {**one.get(ORDER, {}), "_id": {"file": order}}} for one in documents)
    held = IndexedCollection(documents) if len(file.content) < LARGE else RowTable(documents)
    return held, has_ids, bool(found.marks)


def _number(file: SourceFile, name: str, documents: Iterable[Document], has_ids: bool) -> Iterator[Document]:
    """Yield the documents with ``_id`` first. Raises ``ResultsError`` if only some of them have an ``_id``."""
    for number, document in enumerate(documents, 1):
        if ("_id" in document) != has_ids:
            said = "no" if has_ids else "an"
            raise file.refuse(f"document {number} has {said} _id, unlike the documents before it")
        if not has_ids:
            yield {"_id": {"file": name, "number": number} if name else number, **document}
        else:
            yield document if next(iter(document)) == "_id" else {"_id": document["_id"], **document}


def _decode(file: SourceFile, found: Format) -> Iterator[Document]:
    """Yield the documents of a file, with the values of BSON."""
    number = 0
    try:
        for document in found.read(file):
            number += 1
            for value in document.values():
                kind = type(value)
                if kind not in _SAME and not (
                    (kind is int and value in INT32)
                    or (kind is datetime and not value.microsecond % 1000 and value.tzinfo is None)
                ):
                    break
            else:  # BSON stores all of its values unchanged.
                if "\0" not in "".join(document):
                    yield dict(document)
                    continue
            try:
                yield through_bson(document)
            except OverflowError:  # Parquet has unsigned numbers of 64 bits.
                yield through_bson(hold_digits(document))
    except OSError as error:
        raise file.refuse(f"cannot be read: {error.strerror or error}") from None
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError) as error:
        raise file.refuse(f"document {number} is not a BSON document: {error}") from None


class RowTable(Sequence[Document]):
    """Documents that are held as rows of values and created on access.

    Documents with the same fields share the names. Equal strings and dates are one object.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._names: list[tuple[str, ...]] = []
        known: dict[Any, Any] = {}
        layouts: dict[tuple[str, ...], tuple[str, ...]] = {}
        for document in documents:
            if len(known) > _MOST_TEXTS:
                known.clear()
            names = tuple(document)
            self._names.append(layouts.setdefault(names, names))
            self._rows.append(
                tuple(
                    known.setdefault(value, value) if type(value) in (str, datetime) else value
                    for value in document.values()
                )
            )

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Document]:
        for names, row in zip(self._names, self._rows, strict=True):
            yield dict(zip(names, row, strict=True))

    @overload
    def __getitem__(self, number: int) -> Document: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Document]: ...

    def __getitem__(self, number: int | slice) -> Document | Sequence[Document]:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        return dict(zip(self._names[number], self._rows[number], strict=True))
