"""The guard of queries, which may only read, and the limits of their cost.

The catalogue of operators is the list of allowed names; some of its operators are marked as refused. Other names never
reach a server, because a server may have an operator with this name that does anything. The check needs no database, so
every command can use it. Sources: the stage and operator lists of the MongoDB manual,
https://www.mongodb.com/docs/manual/reference/operator/aggregation-pipeline/ and
https://www.mongodb.com/docs/manual/core/server-side-javascript/.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

from mongo_tables.aggregation.catalogue import (
    collection_arguments,
    forbidden_operators,
    names_with,
    operators,
)
from mongo_tables.aggregation.limits import PipelineLimits, time_outs
from mongo_tables.files.memo import Memo
from mongo_tables.findings.finding import Complaint, did_you_mean
from mongo_tables.results.model import Query, ResultsError, used_in

Path = tuple[str | int, ...]
_T = TypeVar("_T")

_FORBIDDEN: Final = {
    "writes": "writes to the database; a page only reads",
    "code": "runs code on the server; use aggregation operators instead",
    "state": "reads the state of the server, which differs from run to run",
}
"""The end of the message about a refused operator, by the effect that ``catalogue.forbidden_operators`` states."""
_INTERNAL = "is internal to the server and not documented"
_ELSEWHERE = "reads a database other than the results source"

_INTERNAL_PREFIX: Final = "$_internal"
# Names with "$" that are not operators: in database references, in `$text` and in `$geoWithin`.
_PARTS = frozenset(
    {"$ref", "$id", "$db", "$language", "$caseSensitive", "$diacriticSensitive", "$uniqueDocs"}
)

_REFUSED: Final = "MT201"
_NOT_KNOWN: Final = "MT202"
"""The rules for refused operators and for unknown names."""


def guard(query: Query) -> None:
    """Raise ``ResultsError`` for a query that writes, runs code or reads the state of the server.

    Every source calls this function for every query, before it sends anything.
    """
    for part, refusal in refused_parts(query):
        hint = refusal.hint or "nothing was sent to the results source"
        raise ResultsError(refusal.message, hint=hint, path=refusal.at if part == "pipeline" else None)


def refused_parts(query: Query) -> Iterator[tuple[str, Complaint[Path]]]:
    """Yield everything in a query that must not reach a server, with its part: ``pipeline`` or ``let``."""
    used = query.used
    # Few queries have any of these, and only those are walked for the places.
    if (
        any(kind.__name__ == "Code" for kind in used.others)
        or not _allowed_names().issuperset(used.operators)
        or any(any(_elsewhere(join, (name,))) for name, join in query.arguments_of(collection_arguments()))
    ):
        for part, value in (("pipeline", query.pipeline), ("let", query.let)):
            for refusal in refusals(value):
                yield part, refusal


def refusals(value: Any, path: Path = (), is_literal: bool = False) -> list[Complaint[Path]]:
    """Return everything in a value that must not reach a server, in reading order.

    Names are refused at any depth, because ``$lookup``, ``$facet``, ``$unionWith`` and stages of future servers contain
    pipelines. ``is_literal`` is true within ``$literal``, where names are data. ``path`` leads to the value.
    """
    found: list[Complaint[Path]] = []
    if isinstance(value, Mapping):
        for key, inner in value.items():
            at, data = (*path, key), is_literal
            if not is_literal and str(key).startswith("$"):
                if key not in _allowed_names():
                    found.append(_refusal(str(key), at))
                    continue
                if key in collection_arguments():
                    found += _elsewhere(inner, at)
                if key in ("$literal", "$const"):
                    # A query has no such operator, except in ``$expr``.
                    data = "$match" not in at or "$expr" in at[at.index("$match") :]
            found += refusals(inner, at, data)
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            found += refusals(inner, (*path, number), is_literal)
    elif isinstance(value, str) and type(value).__name__ == "Code":
        found.append(Complaint(f"JavaScript code as a value {_FORBIDDEN['code']}", "", path, _REFUSED))
    return found


@cache
def _allowed_names() -> frozenset[str]:
    """Return the names with "$" of all operators that only read, on files or on a server."""
    names = set(_PARTS)
    for one in operators():
        names.add(one.name)
    return frozenset(names - forbidden_operators().keys())


def _refusal(key: str, path: Path) -> Complaint[Path]:
    if key in forbidden_operators():
        return Complaint(f"{key} {_FORBIDDEN[forbidden_operators()[key]]}", "", path, _REFUSED)
    if key.startswith(_INTERNAL_PREFIX):
        return Complaint(f"{key} {_INTERNAL}", "", path, _REFUSED)
    message = f"{key} is not a known operator that only reads"
    return Complaint(message, did_you_mean(key, _allowed_names()), path, _NOT_KNOWN)


def _elsewhere(join: Any, path: Path) -> Iterator[Complaint[Path]]:
    """Yield a complaint for each place at which a join names another database."""
    if isinstance(join, Mapping):
        for key in ("db", "from", "coll"):
            if key in join and (key == "db" or isinstance(join[key], Mapping)):
                yield Complaint(f"{path[-1]} {_ELSEWHERE}", "", (*path, key), _REFUSED)


# -- what a query reads --


def is_lasting(asked: Query | Sequence[Any]) -> bool:
    """Return whether a query, or several expressions, give the same result at any time and on each run."""
    used = asked.used if isinstance(asked, Query) else used_in(asked)
    is_timeless = "NOW" not in used.variables and "CLUSTER_TIME" not in used.variables
    return is_timeless and names_with("random").isdisjoint(used.operators)


def remember(memo: Memo, key: Hashable, make: Callable[[], _T]) -> _T:
    """Return the cached result for ``key``, or compute it with ``make``.

    A new result is cached, unless a pipeline ran out of time.
    """
    known = memo.find(key)
    if known is not None:
        return known  # type: ignore[return-value]  # the result of this key's ``make``
    before = time_outs()
    made = make()
    if time_outs() == before:
        memo.keep(key, made)
    return made


def collections_read(query: Query) -> tuple[str, ...]:
    """Return the collections that a query reads: its own collection first, then collections that its stages look up."""
    joins = collection_arguments()
    found = {query.collection: None}
    for name, join in query.arguments_of(joins):
        named = join.get(joins[name]) if isinstance(join, Mapping) else join
        if isinstance(named, str):
            found[named] = None
    return tuple(found)


# -- limits --


class Limits(NamedTuple):
    """The limits of one query.

    Attributes:
        time_ms: Milliseconds on the server.
        rows: Rows of the result.
        bytes: Bytes of BSON of the result.
        connect_ms: Milliseconds to connect.
        files: The limits of a query on files.
    """

    time_ms: int = 10_000
    rows: int = 10_000
    bytes: int = 16 * 2**20
    connect_ms: int = 2_000
    files: PipelineLimits = PipelineLimits()


class LimitOption(NamedTuple):
    """An option: the field that it sets, of ``Limits`` or of ``Limits.files``, and the size of its unit."""

    field: str
    unit: int
    of_files: bool
    help: str


OPTIONS: Final[Mapping[str, LimitOption]] = {
    "time_limit": LimitOption("time_ms", 1000, False, "maximum seconds of a pipeline on a server"),
    "connect_limit": LimitOption("connect_ms", 1000, False, "maximum seconds to find a server"),
    "row_limit": LimitOption("rows", 1, False, "maximum number of rows that a pipeline may return"),
    "processor_limit": LimitOption(
        "seconds", 1, True, "for results in files: maximum seconds of processor time of a pipeline"
    ),
    "memory_limit": LimitOption(
        "stage_bytes", 2**20, True, "for results in files: maximum MiB that one stage may hold in memory"
    ),
    "document_limit": LimitOption(
        "document_bytes",
        2**20,
        True,
        "for results in files: maximum MiB of one document, or of one string that a pipeline creates",
    ),
    "step_limit": LimitOption(
        "regex_steps", 1, True, "for results in files: maximum steps of a regular expression on one text"
    ),
}
"""All options by name. ``processor_limit: 60`` in a file is ``--limit processor=60`` on the command line."""


def limits_of(options: Mapping[str, Any], base: Limits | None = None) -> Limits:
    """Return ``base`` with the limits that ``options`` sets. Other options are ignored.

    Raises ValueError with the name of the option if its value is not a number above 0.
    """
    limits = base or Limits()
    of_query: dict[str, Any] = {}
    of_files: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        given = options.get(name)
        if given is None or given == "":
            continue
        try:
            number = math.nan if isinstance(given, bool) else float(given)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number < math.inf:
            raise ValueError(f"{name} must be a number above 0, not {given}")
        amount = number * option.unit
        (of_files if option.of_files else of_query)[option.field] = (
            amount if option.field == "seconds" else max(1, round(amount))
        )
    return limits._replace(**of_query, files=limits.files._replace(**of_files))


def parse_limits(limits: Iterable[str]) -> dict[str, str]:
    """Parse ``NAME=NUMBER`` texts of the command line into options. Raises ValueError for an unknown name.

    Example:
        >>> parse_limits(["processor=60"])
        {'processor_limit': '60'}
    """
    found: dict[str, str] = {}
    for text in limits:
        name, _, number = text.partition("=")
        option = f"{name.strip()}_limit"
        if option not in OPTIONS:
            known = ", ".join(each.removesuffix("_limit") for each in OPTIONS)
            raise ValueError(f"unknown limit '{name}': write one of {known}")
        found[option] = number.strip() or "nothing"
    return found
