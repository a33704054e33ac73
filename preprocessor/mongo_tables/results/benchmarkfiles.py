"""Documents of benchmark tools out of any results source, and documents at hand as a source of their own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions

from mongo_tables.results.benchmarks import is_benchmark
from mongo_tables.results.model import ResultsError
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
