"""Where rows come from: a MongoDB deployment or a folder of fixture files, behind one protocol.

Both sources answer the same ``Query`` with the same documents: values, BSON types, field order.
``open_source`` chooses by what it is given; nothing else in the program knows which of the two it talks to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from preprocessor.results.fixturetext import Fault

from preprocessor.aggregation.limits import Limits as FileLimits

Rows = list[dict[str, Any]]
"""The rows of one query. Values are BSON types as ``bson.decode`` gives them: ``int`` is an int32,
``Int64`` an int64.
"""

_URI_SCHEMES = ("mongodb://", "mongodb+srv://")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may cost: milliseconds on the server, rows, bytes of BSON, milliseconds to connect.

    ``files``: what it may cost where it runs on files. ``limitoptions`` says what they are called elsewhere.
    """

    time_ms: int = 10_000
    rows: int = 10_000
    bytes: int = 16 * 2**20
    connect_ms: int = 2_000
    files: FileLimits = field(default_factory=FileLimits)


@dataclass(frozen=True)
class Query:
    """One aggregation: the collection, its stages, and the variables that the stages may read as
    ``$$name``.
    """

    collection: str
    pipeline: tuple[Mapping[str, Any], ...]
    let: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """A key of the content alone: equal for equal queries (field order counts), in every process."""
        from hashlib import sha256

        import bson

        parts = {"collection": self.collection, "pipeline": list(self.pipeline), "let": dict(self.let)}
        try:
            content = bson.encode(parts)
        except (bson.errors.InvalidDocument, bson.errors.InvalidStringData, OverflowError):
            content = repr(parts).encode("utf-8", "surrogatepass")
        return sha256(content).hexdigest()


class ResultsError(Exception):
    """A query, or a whole source, that gives no rows; the message never holds a secret.

    It is one line; only the faults of fixture files are several, one a line.

    ``path`` leads from the pipeline to the culprit where that is known: ``(3, "$set", "x")``.
    ``environment`` is true when the source cannot be used at all (no server, no folder, unreadable files),
    so that asking it again for another query is useless. ``faults`` are those of fixture files, of many the first,
    and ``more`` how many others there are.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: tuple[str | int, ...] | None = None,
        environment: bool = False,
        faults: Sequence[Fault] = (),
        more: int = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.environment = environment
        self.faults = faults
        self.more = more


class ResultsSource(Protocol):
    """What both sources offer. Every method may raise ``ResultsError`` and nothing else on a user's
    mistake.
    """

    @property
    def name(self) -> str:
        """The source as it may be shown: no user, no password, no options."""
        ...

    @property
    def workers(self) -> int:
        """How many queries are worth asking at the same time."""
        ...

    def reach(self) -> None:
        """Return when the source can be asked; raise ``ResultsError(environment=True)`` when it cannot."""
        ...

    def collections(self) -> tuple[str, ...]:
        """Names of the collections there are, sorted. A query on another gives no rows, as on a server."""
        ...

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query, within the limits the source was opened with."""
        ...

    def raws(self, collection: str) -> Iterable[bytes]:
        """Every document of a collection as BSON; the order means nothing. None for an unknown collection."""
        ...

    def state(self) -> str | None:
        """A key of everything the source holds, equal only while nothing changed; None where that is
        unknowable.
        """
        ...

    def writes(self) -> str:
        """A sign that is another one once something was written to the source: to be asked for every few seconds."""
        ...

    def forget(self) -> None:
        """Drop what is kept only to answer the next query sooner, as decoded documents are."""
        ...

    def close(self) -> None:
        """Give back connections; the source is not used afterwards."""
        ...


def is_uri(where: str, folder: Path = Path()) -> bool:
    """Whether ``where`` is a URI, or was meant to be one, and so may hold a password; otherwise it is a path.

    A path is relative to ``folder``. What has an ``@``, or begins with ``mongodb``, is a path only as far as
    there is such a file or folder: ``mongodb:/user:password@host`` lacks a slash.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", where.strip()):
        return True
    path = folder / where.strip()
    there = next((place for place in (path, *path.parents) if lexists(place)), Path())
    absent = str(path.relative_to(there)) if path != there else ""
    return "@" in absent or absent.lower().startswith("mongodb")


def open_source(where: str, limits: Limits | None = None) -> ResultsSource:
    """The source that ``where`` names: a ``mongodb://`` or ``mongodb+srv://`` URI, otherwise a fixture
    folder.

    Nothing is connected or read yet. Raises ``ResultsError`` for a URI that cannot be one, and for a blank.
    """
    where, limits = where.strip(), limits or Limits()
    if not where:
        raise ResultsError(
            "an empty text names no results source",
            hint="give mongodb://HOST/DATABASE, or the path of a fixture folder (. for this one)",
            environment=True,
        )
    if where.lower().startswith(_URI_SCHEMES):
        from preprocessor.results.mongodb import MongoSource

        return MongoSource(where, limits)
    if is_uri(where):
        raise ResultsError(
            "the results source mongodb://*** is neither a MongoDB URI nor a folder that is there",
            hint="give mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE, or the path of a fixture folder",
            environment=True,
        )
    from preprocessor.results.fixtures import FixtureSource

    return FixtureSource(Path(where), limits)
