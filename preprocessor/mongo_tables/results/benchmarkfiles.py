"""Documents of benchmark tools out of any results source, and documents at hand as a source of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions

from mongo_tables.results.benchmarks import is_benchmark
from mongo_tables.results.local import LocalSource
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import open_source
from mongo_tables.results.rawdocuments import RawDocuments

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


class GivenDocuments(LocalSource):
    """Documents at hand as a results source with one collection."""

    def __init__(self, name: str, collection: str, documents: Iterable[Mapping[str, Any]]) -> None:
        super().__init__()
        self._name = name
        self._collection = collection
        self._raws = [bson.encode(one) for one in documents]

    @property
    def name(self) -> str:
        """What the documents are called."""
        return self._name

    def collections(self) -> tuple[str, ...]:
        """The one collection."""
        return (self._collection,)

    def state(self) -> str:
        """A digest of the documents, which never change."""
        return sha256(b"".join(self._raws)).hexdigest()

    def _read(self, collection: str) -> RawDocuments:
        given: Sequence[bytes] = self._raws if collection == self._collection else ()
        return RawDocuments.of(given)
