"""What a pipeline on files may cost: the one place of these limits and of their defaults."""

from __future__ import annotations

from typing import NamedTuple

from mongo_tables.aggregation.errors import NotOffline, Path


class Limits(NamedTuple):
    """The limits of each pipeline.

    ``seconds``: processor time, without that of reading the files. ``stage_bytes``: what one stage holds of
    documents, groups and arrays, as they lie in memory. ``document_bytes``: the BSON of one document, and of one
    value that an expression makes. ``regex_steps``: steps of one regular expression on one text, as PCRE2 counts
    them; MongoDB 6.0 has this default too.
    """

    seconds: float = 60
    stage_bytes: int = 2**30
    document_bytes: int = 16 * 2**20
    regex_steps: int = 200_000


class LimitReached(NotOffline):
    """A pipeline that would cost more than it may. ``limit`` is the name of a field of ``Limits``."""

    def __init__(
        self, message: str, *, limit: str = "", path: Path | None = None, code: int | None = None
    ) -> None:
        super().__init__(message, path, code)
        self.limit = limit


def spelt(size: int) -> str:
    """A number of bytes as people write it: ``1 GiB``, ``16 MiB``, ``100,000 bytes``."""
    for unit, bytes_of_one in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= bytes_of_one and size % bytes_of_one == 0:
            return f"{size // bytes_of_one:,} {unit}"
    return f"{size:,} bytes"
