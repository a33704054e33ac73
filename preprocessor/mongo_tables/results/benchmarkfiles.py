"""Documents of benchmark tools out of any results source, and documents at hand as a source of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions

from mongo_tables.results.benchmarks import is_benchmark
from mongo_tables.results.collection import Collection, Contents
from mongo_tables.results.filesource import FileSource
from mongo_tables.results.limits import OPTIONS
from mongo_tables.results.model import Fault, ResultsError
from mongo_tables.results.opening import open_source

_OPTIONS: Final[CodecOptions[dict[str, Any]]] = CodecOptions(tz_aware=True)
_HINT: Final = "name a file that a benchmark tool wrote, or a folder that `mongo-tables import` wrote into"


def read_benchmarks(where: str, collection: str = "") -> list[dict[str, Any]]:
    """The documents of benchmarks in a source, of one collection or of all; dates have a zone.

    Raises ``ResultsError`` where there are none.
    """
    with closing(open_source(where)) as source:
        names = source.collections()
        if collection and collection not in names:
            raise ResultsError(
                f"{source.name} has no collection {collection!r}", hint=_HINT, environment=True
            )
        raws = (raw for name in ([collection] if collection else names) for raw in source.raws(name))
        found = [row for row in (bson.decode(raw, _OPTIONS) for raw in raws) if is_benchmark(row)]
        if not found:
            raise ResultsError(f"{source.name} has no benchmarks", hint=_HINT, environment=True)
    return found


def leave_samples_out(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without its samples and what is said of each of them; how many there were stays, ``count``.

    Without samples there is no interval between two runs (``results.benchmarks``).
    """
    of_samples = {
        "samples",
        "processes",
        *(["iterations"] if isinstance(document.get("iterations"), list) else []),
    }
    return {name: value for name, value in document.items() if name not in of_samples}


def open_documents(name: str, collection: str, documents: Iterable[Mapping[str, Any]]) -> FileSource:
    """Documents at hand as a results source with one collection."""
    return FileSource(name, [_Given(collection, documents)])


class _Given:
    """Documents at hand in place of those in files."""

    are_plain: Final = False

    def __init__(self, collection: str, documents: Iterable[Mapping[str, Any]]) -> None:
        self._collection = collection
        self._documents = [bson.decode(bson.encode(one), OPTIONS) for one in documents]

    def names(self) -> tuple[str, ...]:
        """The one collection."""
        return (self._collection,)

    def where(self, collection: str) -> str:
        """No file."""
        return collection

    def files(self, collection: str) -> Sequence[Path]:
        """None."""
        return ()

    def read(self, collection: str) -> Contents:
        """No bytes: the documents never change."""
        return Contents(collection, ())

    def decode(self, contents: Contents) -> Collection:
        """The documents."""
        return Collection(contents.name, self._documents, contents.digest)

    def lines(self, collection: str) -> None:
        """None: there is no file."""

    def broken(self, collection: str) -> Sequence[Fault]:
        """None: only files can be broken."""
        return ()

    def unread(self) -> Sequence[Path]:
        """None."""
        return ()
