"""Copies of what single pipelines read of a large collection, kept in the cache beside the copy of all its documents.

A table reads some fields of the documents of one experiment. Of a collection of hundreds of megabytes that is a small
part, and whoever finds it in the cache reads nothing else. An entry's name is a digest of the content of all files of
the collection and of what is read, so that a stale one is not found, and ``bsoncache`` drops what is not used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.results import bsoncache
from mongo_tables.results.readpaths import Reads

_FORMAT: Final = 1


class KeptParts(NamedTuple):
    """The copies of one collection; ``content`` tells its files from all others.

    ``are_read``: whether what was read of them has that content: a file may be another one by then.
    """

    folder: Path
    content: str
    are_read: Callable[[], bool]

    def get(self, reads: Reads) -> bytes | None:
        """The documents as they were kept, end to end; None where they are not."""
        return bsoncache.get(self.folder, self._key(reads))

    def put(self, reads: Reads, documents: bytes) -> None:
        """Keep documents; a failure to write is ignored."""
        if self.are_read():
            bsoncache.put(self.folder, {self._key(reads): documents})

    def _key(self, reads: Reads) -> str:
        text = f"{_FORMAT}\n{self.content}\n{reads.text}"
        return bsoncache.key_of_digest(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
