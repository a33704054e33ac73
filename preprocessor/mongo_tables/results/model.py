"""The parts that all results sources share: the query, its rows or its error, and the protocol of a source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple, Protocol

from mongo_tables.files.folders import shorten_path
from mongo_tables.files.memo import digest_of
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError

Rows = list[dict[str, Any]]
"""The rows of one query, with values as ``bson.decode`` returns them: ``int`` is int32, ``Int64`` is int64."""


class PlainRows(list[dict[str, Any]]):
    """Rows from plain files of other programs, whose numbers may have all digits of a double.

    ``decimals`` has the number of decimals of each field whose numbers all have equally many decimals in the files.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], decimals: Mapping[str, int] | None = None) -> None:
        super().__init__(rows)
        self.decimals: Final = decimals or {}


@dataclass(frozen=True)
class Query:
    """One aggregation: the collection, its stages, and the variables, which stages read as ``$$name``."""

    collection: str
    pipeline: tuple[Mapping[str, Any], ...]
    let: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """A digest that is equal for equal queries, in every process. The order of fields counts."""
        import bson

        parts = {"collection": self.collection, "pipeline": list(self.pipeline), "let": dict(self.let)}
        try:
            return digest_of(bson.encode(parts))
        except (bson.errors.BSONError, ValueError, OverflowError):
            return digest_of(repr(parts))

    @property
    def expressions(self) -> tuple[Any, ...]:
        """The parts of the query that authors write."""
        return self.pipeline, self.let

    @cached_property
    def used(self) -> Used:
        """The names and types that occur in the pipeline and the variables."""
        return used_in(self.expressions)

    def arguments_of(self, names: Collection[str]) -> list[tuple[str, Any]]:
        """Return each use of these operators with its argument, in the order of the stages."""
        return [use for use in self.used.uses if use[0] in names]


class Used(NamedTuple):
    """The names and types that occur in expressions, at any depth.

    Attributes:
        uses: The keys that begin with ``$``, also in data, with their values. Outer documents come first.
        operators: The names in ``uses``.
        variables: The names of variables: texts that begin with ``$$``, without these signs and without a path after a
            dot.
        others: The classes of values that are not plain, such as the class of JavaScript code.
    """

    uses: Sequence[tuple[str, Any]]
    operators: frozenset[str]
    variables: frozenset[str]
    others: frozenset[type]


_PLAIN: Final = frozenset({int, float, bool, NoneType})


def used_in(expressions: Any) -> Used:
    """Return the names and types that occur in a value."""
    uses, variables, others = list[tuple[str, Any]](), set[str](), set[type]()
    _add_used((expressions,), uses, variables, others)
    return Used(uses, frozenset(dict(uses)), frozenset(variables), frozenset(others))


def _add_used(
    values: Iterable[Any], uses: list[tuple[str, Any]], variables: set[str], others: set[type]
) -> None:
    for value in values:
        kind = type(value)
        if kind is str:
            if value[:2] == "$$":
                variables.add(value[2:].partition(".")[0])
        elif kind in _PLAIN:
            continue
        elif isinstance(value, (list, tuple)):
            _add_used(value, uses, variables, others)
        elif kind is dict or isinstance(value, Mapping):
            for name, inner in value.items():
                if isinstance(name, str) and name[:1] == "$":
                    uses.append((name, inner))
            _add_used(value.values(), uses, variables, others)
        else:
            others.add(kind)  # JavaScript code is a text of another class


class ResultsError(CommandError):
    """The error of a query, or of a whole source. It contains no secret.

    The message is one line, or one line for each fault of fixture files.

    Attributes:
        path: The path to the fault in the pipeline, if it is known: ``(3, "$set", "x")``.
        environment: Whether the whole source is unusable, so that other queries would fail, too.
        findings: The faults of files of results.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: tuple[str | int, ...] | None = None,
        environment: bool = False,
        findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__(message, hint, findings=findings)
        self.path = path
        self.environment = environment


def unusable(message: str, hint: str = "") -> ResultsError:
    """Return the error of a source that cannot be used at all."""
    return ResultsError(message, hint=hint, environment=True)


class FilesChanged(ResultsError):
    """The files of a collection changed after the build had read them."""


class NoBenchmarks(ResultsError):
    """A file of a benchmark tool has no results. If its collection has other files, this is only a note."""


def file_fault(path: Path, at: tuple[int, int], message: str, hint: str = "") -> Finding:
    """Return the fault of a file of results at a line and column, or at (0, 0) for the whole file."""
    return finding("MT310", shorten_path(path), at, message, hint)


FAULTS_SHOWN: Final = 20


def combine_faults(faults: Sequence[Finding]) -> ResultsError:
    """Return one error for all faults. It has a line for each of the first faults, and the number of the others."""
    shown = list(faults[:FAULTS_SHOWN])
    places = (f"{one.file}:{one.line}:{one.column}" if one.line else one.file for one in shown)
    lines = [f"{place}: {one.message}" for place, one in zip(places, shown, strict=True)]
    hint = next((one.hint for one in shown if one.hint), "")
    if more := len(faults) - len(shown):
        lines.append(f"and {more} more")
        message = f"fixture files have {more} more faults"
        first = faults[FAULTS_SHOWN]._replace(line=0, column=0)
        shown.append(first._replace(message=message, hint="correct the first faults"))
    return ResultsError("\n".join(lines), hint=hint, environment=True, findings=shown)


class ResultsSource(Protocol):
    """The protocol of a results source. If the user made a mistake, every method raises ``ResultsError``."""

    workers: int = 1
    """The number of queries that can usefully run at the same time."""

    @property
    def name(self) -> str:
        """The source as messages show it, without user, password and options."""
        ...

    @property
    def local(self) -> Any:
        """The ``FileSource`` if the documents are on this machine, or None."""
        return None

    def reach(self) -> None:
        """Check that the source can be used. Raises ``ResultsError(environment=True)`` if it cannot."""
        ...

    def refresh(self) -> None:
        """Start the next build, in which the content of the source may have changed."""
        return

    def collections(self) -> tuple[str, ...]:
        """Return the names of the collections, sorted."""
        ...

    def digest(self, collection: str) -> str | None:
        """Return a digest of the content of a collection in this build, or None if it is unknown."""
        return None

    def aggregate(self, query: Query) -> Rows:
        """Return the rows of a query, within the limits of the source. An unknown collection has no documents."""
        ...

    def raws(self, collection: str) -> Iterable[bytes]:
        """Yield every document of a collection as BSON, in any order. An unknown collection has none."""
        ...

    def version(self) -> str:
        """Return the MongoDB version of the source, such as ``8.0.4``, or "" if it is not a server."""
        return ""

    def writes(self) -> str:
        """Return a text that changes with every write to the source. It is called every few seconds."""
        ...

    def close(self) -> None:
        """Close the connections. The source is not used afterwards."""
        return
