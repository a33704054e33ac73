"""A first comment for a collection, from its documents: which fields make a table, and the comment's text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from mongo_tables.aggregation.values import type_name
from mongo_tables.commands.new.benchmarks import PARAMETERS
from mongo_tables.directives.comments import keep_in_comment
from mongo_tables.directives.headers import column_headers
from mongo_tables.directives.schemas import load
from mongo_tables.render.values import raw_text

MOST_COLUMNS = 6
"""As many columns as a table has that nobody chose; more do not fit a page."""

_CROWD = 8
"""Fields of one sub-document that are too many to be meant for readers."""

_SCALARS = frozenset({"int", "long", "double", "decimal", "string", "bool", "date"})
_ORDERED = frozenset({"int", "long", "double", "decimal", "date", "null"})
"""What sorts as readers expect; in texts 10 stands before 9."""
_MEASURED = frozenset({"double", "decimal"})
"""What another run would hardly give again."""

_DAY = "%Y-%m-%d"
_MIDNIGHT = "T00:00:00Z"
"""How a day is written that has no time."""

_COLUMN = re.compile(r"[^-$.][^.]*(\.[^$.][^.]*)*")
"""What can be both a column and a field that rows are sorted by."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A field that can be a column: its path, the types of its values, one of them, and how many differ.

    ``everywhere``: whether all documents have it. ``values`` are those of the documents, as text, to compare.
    """

    path: str
    types: tuple[str, ...]
    example: Any
    everywhere: bool
    values: tuple[str, ...]

    @property
    def distinct(self) -> int:
        """How many different values the documents have."""
        return len(set(self.values))


class Column(NamedTuple):
    """A column of the draft: the field it shows, its header, and what it says of documents without the field.

    ``duration`` is the unit of values that are shown in the unit of time that fits them, ``date`` the pattern of dates.
    """

    path: str
    header: str
    missing: str = ""
    duration: str = ""
    date: str = ""


def find_candidates(documents: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """The fields of at most two levels that hold numbers, texts or dates, in the order of the documents."""
    found: dict[str, list[Any]] = {}
    for document in documents:
        for path, value in _leaves(document):
            found.setdefault(path, []).append(value)
    return [one for path, values in found.items() if (one := _candidate(path, values, len(documents)))]


def _leaves(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", below) for inner, below in value.items() if "." not in inner)
        elif "." not in name:
            yield name, value


def _candidate(path: str, values: list[Any], documents: int) -> Candidate | None:
    types = sorted({type_name(value) for value in values})
    present = [value for value in values if value is not None]
    if not present or not set(types) <= {*_SCALARS, "null"} or not _COLUMN.fullmatch(path):
        return None
    everywhere = len(present) == documents
    return Candidate(path, tuple(types), present[0], everywhere, tuple(map(raw_text, present)))


def suggest_columns(fields: Sequence[Candidate]) -> list[str]:
    """Paths for the columns of a table that nobody chose: what differs between the documents, nothing twice.

    What only some documents have is left out, and what stands among many others (the state of a server is no
    result). Without any difference, the first fields there are.
    """
    among = Counter(one.path.rpartition(".")[0] for one in fields if "." in one.path)
    near = [one for one in fields if among[one.path.rpartition(".")[0]] <= _CROWD] or list(fields)
    near = [one for one in near if not _is_counted(one)] or near
    usual = [one for one in near if one.everywhere] or near
    different = [one for one in usual if one.distinct > 1] or usual
    unlike: dict[tuple[str, ...], Candidate] = {}
    for one in different:
        unlike.setdefault(one.values, one)
    return [one.path for one in unlike.values()][:MOST_COLUMNS]


def _is_counted(one: Candidate) -> bool:
    """Whether it is the number that each document of a plain file is given."""
    pairs = pairwise(("0", *one.values))
    is_number = one.path in ("_id", "_id.number") and set(one.types) == {"int"}
    return is_number and all(value in ("1", str(int(before) + 1)) for before, value in pairs)


def explain_left_out(
    documents: Sequence[Mapping[str, Any]], fields: Sequence[Candidate], paths: Sequence[str]
) -> dict[str, list[str]]:
    """The fields of the documents that ``paths`` do not show, by the reason why."""
    found: dict[str, list[str]] = {}
    values = {one.path: one.values for one in fields}
    for one in fields:
        if one.path not in paths:
            twice = any(one.values == values.get(path) for path in paths)
            found.setdefault(_reason(one, twice), []).append(one.path)
    known = {one.path.partition(".")[0] for one in fields}
    other = dict.fromkeys(name for document in documents for name in document if name not in known)
    if other:
        found["no number, text or date in their first two levels"] = list(other)
    return found


def _reason(one: Candidate, twice: bool) -> str:
    if _is_counted(one):
        return "the number of each document"
    if not one.everywhere:
        return "only some documents have a value"
    if one.distinct == 1:
        return "the same in all documents"
    return "the same as what is shown" if twice else f"no room beside {MOST_COLUMNS} columns, or among many"


def propose_orders(
    paths: Sequence[str], fields: Sequence[Candidate], *, may_add: bool
) -> Iterator[tuple[list[str], list[str]]]:
    """Columns and what they are sorted by, from what readers like best to what tells all rows apart.

    What was measured comes last: by that, rows would change places whenever somebody measures again. ``may_add``:
    whether the ``_id`` may be shown beside, or instead of, the last of the columns ``paths``.
    """
    texts = {one.path for one in fields if not set(one.types) <= _ORDERED}
    measured = {one.path for one in fields if _MEASURED & set(one.types)}
    first = propose_sorting(paths)
    if measured.isdisjoint(first):
        yield list(paths), first
    if measured.intersection(paths):
        stable = [path for path in paths if path not in measured]
        yield from ((list(paths), sort) for sort in (stable, ["_id"]) if sort)
    yield list(paths), list(paths)
    numbers = [path for path in paths if path not in texts]
    if numbers:
        yield list(paths), numbers
    if may_add and "_id" not in paths:
        wider = [*paths[: MOST_COLUMNS - 1], "_id"]
        shown = [path for path in numbers if path in wider]
        yield wider, [*propose_sorting(wider[:-1]), "_id"]
        yield wider, ["_id"]
        yield wider, [*shown, "_id"]


def propose_sorting(paths: Sequence[str]) -> list[str]:
    """The paths to sort by: the first one, then those of the key, which tell rows apart."""
    return list(dict.fromkeys([*paths[:1], *(path for path in paths if path.startswith("_id."))]))


def name_columns(
    paths: Sequence[str], headers: Sequence[str], fields: Iterable[Candidate], durations: Mapping[str, str]
) -> list[Column]:
    """The columns that show ``paths``, some of ``fields``, under ``headers``; ``durations``: path → unit."""
    known = list(fields)
    gaps = {one.path for one in known if not one.everywhere}
    dates = {one.path: _DAY for one in known if _are_days(one)}
    return [
        Column(
            path,
            text,
            _describe_gap(path) if path in gaps else "",
            durations.get(path, ""),
            dates.get(path, ""),
        )
        for path, text in zip(paths, headers, strict=True)
    ]


def _are_days(one: Candidate) -> bool:
    """Whether all values are dates without a time of day."""
    return set(one.types) <= {"date", "null"} and all(text.endswith(_MIDNIGHT) for text in one.values)


def _describe_gap(path: str) -> str:
    """What stands where a document lacks a field: nobody measures a parameter, which some may simply not have."""
    return "–" if path.startswith(f"{PARAMETERS}.") else "not measured"


def propose_headers(paths: Sequence[str], documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """A header for each path: title and unit of the schema of result documents where ``documents`` are such, or else
    the field's name in words.
    """
    known = load("result")
    described = all(name in document for name in known.get("required", ()) for document in documents)
    return [
        (_describe_in_schema(path, known) if described else "") or words
        for path, words in zip(paths, column_headers(paths), strict=True)
    ]


def _describe_in_schema(path: str, schema: Mapping[str, Any]) -> str:
    """Title and unit that a schema gives the field at ``path``; "" when it says nothing."""
    place: Mapping[str, Any] = schema
    for part in path.split("."):
        place = place.get("properties", {}).get(part, {})
    unit = f" ({place['unit']})" if "unit" in place else ""
    return f"{place['title']}{unit}" if "title" in place else ""


def format_comment(
    keyword: str,
    collection: str,
    where: Mapping[str, Any],
    shown: Sequence[Column],
    sort: Sequence[str],
    ignore: Mapping[str, str] | None = None,
    *,
    title: str = "",
    name: str = "",
) -> str:
    """The text of a comment that shows the columns ``shown``, sorted by ``sort``, a path or ``-`` and a path each.

    ``where`` selects documents, path → value; values are Extended JSON. ``ignore``: rule id → why it is ignored.
    ``name`` is the id of the table.
    Headers are written where they say other words than the names of the columns.
    """
    columns = [column.path for column in shown]
    headers = [column.header for column in shown]
    body: dict[str, Any] = {"id": name} if name else {}
    body |= {"title": title} if title else {}
    body["collection"] = collection
    body |= {"where": dict(where)} if where else {}
    body["columns"] = columns
    body |= {"headers": headers} if tuple(headers) != column_headers(columns) else {}
    body["sort"] = sort[0] if len(sort) == 1 else list(sort)
    formats = {column.path: _format_column(column) for column in shown}
    formats = {path: written for path, written in formats.items() if written}
    body |= {"format": formats} if formats else {}
    body |= {"ignore": dict(ignore)} if ignore else {}
    return f"<!-- {keyword}: {_format_body(body)} -->"


def _format_column(column: Column) -> dict[str, str]:
    """What `format` says of a column."""
    written = {"missing": column.missing, "duration": column.duration, "date": column.date}
    return {key: text for key, text in written.items() if text}


def _format_body(body: Mapping[str, Any]) -> str:
    """JSON with a line for each key, without what would end the comment or begin another."""
    lines = [f"  {_json(key)}: {_json(value)}" for key, value in body.items()]
    return keep_in_comment("{\n" + ",\n".join(lines) + "\n}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
