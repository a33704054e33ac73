"""The fields that tell documents or rows apart, for ``init``, ``diff``, and the hints of findings.

Such a field has texts, dates, flags or whole numbers, or is a parameter. Other numbers are measurements, which differ
from run to run.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Final, TypeVar
from urllib.parse import quote

from mongo_tables.aggregation.query.conditions import values_at
from mongo_tables.aggregation.values import MISSING

_Name = TypeVar("_Name", bound=Hashable)

ORDER: Final = "_sort"
"""The field with the sort keys of versions, under the names of their fields. It is not shown as a column."""
FIGURES: Final = frozenset({
    "value", "statistic", "mean", "median", "min", "max", "stddev", "q1", "q3", "low", "high", "interval", "count",
    "processes", "iterations", "failed",
})  # fmt: skip
"""The fields of a benchmark document that are measurements, even if they are whole numbers."""
_KEY_FIELDS: Final = ("_id.testname", "_id.file", "name", "parameters.", "metric", "extra.")
"""The fields of benchmarks that name rows, the best for readers first."""
_WHOLE_KEY: Final = "_id.name"
COLUMN: Final = re.compile(r"[^-$.][^.]*(\.[^$.][^.]*)*")
"""Paths that can be both a column and a sort key."""


def is_benchmark(row: Mapping[str, Any]) -> bool:
    """Return whether a document comes from a benchmark tool: its ``_id`` names a measure, and it has a unit."""
    key = row.get("_id")
    return isinstance(key, Mapping) and "metric" in key and isinstance(row.get("unit"), str)


def leaves(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield path and value of the fields in the first two levels. Names with a dot are skipped."""
    for name, value in document.items():
        if name == ORDER:
            continue
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", below) for inner, below in value.items() if "." not in inner)
        elif "." not in name:
            yield name, value


def has_path(document: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Return whether a path leads to a value, which may be null. The path may lead through arrays, also by index."""
    return any(value is not MISSING for value in values_at(document, tuple(path)))


def order_of(path: str, documents: Sequence[Mapping[str, Any]]) -> str:
    """Return the field by which a column is sorted: the sort key in ``_sort`` if it has versions, or the column."""
    step, _, below = path.partition(".")

    def holds(document: Mapping[str, Any]) -> bool:
        found = document.get(ORDER, {})
        inner = found.get(step) if isinstance(found, Mapping) else None
        return below in inner if below and isinstance(inner, Mapping) else bool(inner)

    return f"{ORDER}.{path}" if any(map(holds, documents)) else path


def version_hint(column: str, documents: Sequence[Mapping[str, Any]]) -> str:
    """Return a hint for a column that was read as versions and should be numbers, or ""."""
    if "." in column or order_of(column, documents) == column:
        return ""
    read = f"the values of `{column}` look like versions, such as 3.9 and 3.10, so they are read as text"
    return f"{read}; append ?{quote(column, safe=' ')}=number to the file's name to read numbers"


def find_naming_fields(documents: Sequence[Mapping[str, Any]], shown: Sequence[str] = ()) -> list[str]:
    """Return the fields that distinguish the documents, in addition to the fields that are ``shown``.

    Example:
        >>> find_naming_fields([{"name": "run", "suite": "a"}, {"name": "run", "suite": "b"}], ["name"])
        ['suite']
    """
    rows = [dict(leaves(document)) for document in documents]
    return choose_telling(rows, _list_names(rows, all(map(is_benchmark, documents))), shown)


def choose_telling(
    rows: Sequence[Mapping[Any, Any]], names: Sequence[_Name], shown: Sequence[Hashable] = ()
) -> list[_Name]:
    """Return the ``names`` that distinguish the rows, in addition to the ``shown`` names.

    A greedy search adds the name that distinguishes the most rows, or the first of equally good names. It ends when no
    name helps.

    Example:
        >>> choose_telling([{"a": 1, "b": 1, "c": 3}, {"a": 1, "b": 2, "c": 4}], ["a", "b", "c"])
        ['b']
    """

    keys: list[Any] = [repr([row.get(name) for name in shown]) for row in rows]

    def keys_with(name: _Name) -> list[Any]:
        return [(key, repr(row.get(name))) for key, row in zip(keys, rows, strict=True)]

    chosen = set[_Name]()
    while (distinct := len(set(keys))) < len(rows):
        counts = {name: len(set(keys_with(name))) for name in names}
        best = max(names, key=lambda name: counts[name], default=None)
        if best is None or counts[best] == distinct:
            break
        chosen.add(best)
        keys = keys_with(best)
    return [name for name in names if name in chosen]


def are_apart(rows: Sequence[Mapping[Any, Any]], names: Sequence[Hashable]) -> bool:
    """Return whether no two rows have the same values under these names."""
    return len({repr([row.get(name) for name in names]) for row in rows}) == len(rows)


def _list_names(rows: Sequence[Mapping[str, Any]], of_benchmarks: bool) -> list[str]:
    """Return the fields that name rows, the most readable first. ``_id`` comes last."""
    paths = dict.fromkeys(path for row in rows for path in row if COLUMN.fullmatch(path))
    found = [
        path for path in paths if _is_name(path, (row[path] for row in rows if path in row), of_benchmarks)
    ]
    known = [path for key in _KEY_FIELDS for path in found if path.startswith(key)] if of_benchmarks else []
    last = [path for path in found if path in ("_id", _WHOLE_KEY)]
    return list(dict.fromkeys(chain(known, (path for path in found if path not in last), last)))


def _is_name(path: str, values: Iterator[Any], of_benchmarks: bool) -> bool:
    if path.startswith("parameters."):
        return all(isinstance(value, str | int | float | datetime | None) for value in values)
    if of_benchmarks and path in FIGURES:
        return False
    return all(isinstance(value, str | int | datetime | None) for value in values)
