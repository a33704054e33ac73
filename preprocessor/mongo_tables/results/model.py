"""What results sources share: the query, its rows or why there are none, and the protocol of a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from mongo_tables.files.digests import digest_of
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError

Rows = list[dict[str, Any]]
"""The rows of one query. Values are BSON types as ``bson.decode`` gives them: ``int`` is an int32,
``Int64`` an int64.
"""


class PlainRows(list[dict[str, Any]]):
    """Rows from plain files: other programs wrote them, with all the digits that a double has."""


@dataclass(frozen=True)
class Query:
    """One aggregation: the collection, its stages, and the variables that the stages may read as ``$$name``."""

    collection: str
    pipeline: tuple[Mapping[str, Any], ...]
    let: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """A digest of the content: equal for equal queries (field order counts), in every process."""
        import bson

        parts = {"collection": self.collection, "pipeline": list(self.pipeline), "let": dict(self.let)}
        try:
            return digest_of(bson.encode(parts))
        except (bson.errors.InvalidDocument, bson.errors.InvalidStringData, OverflowError):
            return digest_of(repr(parts))


class Fault(NamedTuple):
    """A fault at a place of a fixture file; line and column from 1, in characters, or 0 for all of the file."""

    file: Path
    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file}{place}: {self.message}"


class ResultsError(CommandError):
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
        super().__init__(message, hint)
        self.path = path
        self.environment = environment
        self.faults = faults
        self.more = more

    def as_findings(self, file: str = "fixtures") -> Sequence[Finding]:
        """The faults of fixture files; how many more there are is one of ``file``."""
        found = [
            finding("MT310", shorten_path(each.file), (each.line, each.column), each.message, each.hint)
            for each in self.faults
        ]
        if self.more:
            message = f"fixture files have {self.more} more faults"
            found.append(finding("MT310", file, (0, 0), message, "mend those that are told first"))
        return found


FAULTS_SHOWN: Final = 20


def combine_faults(faults: Sequence[Fault]) -> ResultsError:
    """One error for all faults: a line each for the first ones, and how many more there are."""
    lines = [str(fault) for fault in faults[:FAULTS_SHOWN]]
    if more := max(0, len(faults) - FAULTS_SHOWN):
        lines.append(f"and {more} more")
    hints = dict.fromkeys(fault.hint for fault in faults if fault.hint)
    first = tuple(faults[:FAULTS_SHOWN])
    return ResultsError(
        "\n".join(lines), hint=next(iter(hints), ""), environment=True, faults=first, more=more
    )


class PipelineRefused(ResultsError):
    """A pipeline that a server refuses as well, or fails on; ``code`` is the server's number, where it is known."""

    def __init__(
        self, message: str, *, hint: str, path: tuple[str | int, ...] | None, code: int | None
    ) -> None:
        super().__init__(message, hint=hint, path=path)
        self.code = code


class ResultsSource(Protocol):
    """What every source offers. Every method may raise ``ResultsError`` and nothing else on a user's mistake."""

    workers: int = 1
    """How many queries are worth asking at the same time."""

    @property
    def name(self) -> str:
        """The source as it may be shown: no user, no password, no options."""
        ...

    @property
    def local(self) -> Any:
        """The ``FileSource``, where documents are on this machine; None where only what a query gives can be had."""
        return None

    def reach(self) -> None:
        """Return when the source can be asked; raise ``ResultsError(environment=True)`` when it cannot."""
        ...

    def refresh(self) -> None:
        """Begin the next build: what the source holds may be other than before."""
        return

    def collections(self) -> tuple[str, ...]:
        """Names of the collections there are, sorted. A query on another gives no rows, as on a server."""
        ...

    def digest(self, collection: str) -> str | None:
        """A key of what a collection holds in this build; None where it is not known."""
        return None

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query, within the limits the source was opened with."""
        ...

    def raws(self, collection: str) -> Iterable[bytes]:
        """Every document of a collection as BSON; the order means nothing. None for an unknown collection."""
        ...

    def version(self) -> str:
        """The version of MongoDB that answers, such as ``8.0.4``; "" where none does."""
        return ""

    def writes(self) -> str:
        """A text that changes once something was written to the source; cheap enough to ask for every few seconds."""
        ...

    def close(self) -> None:
        """Give back connections; the source is not used afterwards."""
        return
