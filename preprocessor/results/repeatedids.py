"""Finds documents of a collection that have the same ``_id``: a server holds each once."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice
from operator import eq

from preprocessor.results.rawdocuments import RawDocuments

HINT = "a server holds each _id once; drop one of the two"


def find_repeated_ids(documents: RawDocuments) -> Iterator[tuple[int, int]]:
    """The number of each document that repeats an earlier ``_id``, and the number of that one.

    Hashes show first whether any repeat: they take a tenth of the memory of the values.
    """
    hashes = sorted(array("q", map(hash, documents.first_values())))
    if not any(map(eq, hashes, islice(hashes, 1, None))):
        return
    seen: dict[bytes, int] = {}
    for number, value in enumerate(documents.first_values()):
        first = seen.setdefault(value, number)
        if first != number:
            yield number, first
