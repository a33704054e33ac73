"""The key ``rows``: the entries of lists and maps inside a document become rows.

A ``*`` in a path means each entry of a list or a map: ``result.by_class.*``, ``suites.*.results.*``. The field ``_key``
of a row has the key of the entry in the map, or its number in the list. Other fields of the document become fields of
each row, unless the entry has a field with the same name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

ROWS: Final = r"([^$.*]+\.|\*\.)*\*"
"""The pattern of the key ``rows``, which is the same in the schema."""
_EACH: Final = "*"
ENTRY: Final = "_row"
"""The temporary field with the entry that becomes the row."""
_TOP: Final = "_top"
"""The temporary field that contains the whole document if the path begins with ``*``."""
KEY: Final = "_key"
VALUE: Final = "_value"
"""The field with an entry that is not an object."""
_PERCENTILE: Final = re.compile(r"p\(?\d{2}[\d.]*\)?|\d{2}[\d.]*(?:th|%)")
_LATENCY: Final = re.compile(r"latenc|duration", re.IGNORECASE)
_NESTED: Final = ("object", "array")
_FEWEST: Final = 2
_DEEPEST: Final = 4

Stage = Mapping[str, Any]


def rows_stages(path: str) -> list[Stage]:
    """Return the stages that make a row of each entry, or [] if the text is not a path.

    Example:
        >>> [*map(next, map(iter, rows_stages("measurements.*")))]
        ['$set', '$unset', '$unwind', '$replaceWith', '$unset']
    """
    if not re.fullmatch(ROWS, path):
        return []
    stages: list[Stage] = []
    if path.startswith(_EACH):
        stages.append({"$replaceWith": {"_id": "$_id", _TOP: "$$ROOT"}})
        path = f"{_TOP}.{path}"
    place, *parts = path.split(".")
    for part, following in pairwise(parts):
        if part == _EACH:
            wrapped = following == _EACH  # the entries are lists or maps themselves
            stages += [{"$set": {place: _entries(f"${place}", wrapped=wrapped)}}, {"$unwind": f"${place}"}]
            place = f"{place}.{VALUE}" if wrapped else place
        else:
            place = f"{place}.{part}"
    return [
        *stages,
        {"$set": {ENTRY: _entries(f"${place}")}},
        {"$unset": place},
        {"$unwind": f"${ENTRY}"},
        {"$replaceWith": {"$mergeObjects": ["$$ROOT", f"${ENTRY}"]}},
        {"$unset": ENTRY},
    ]


def _entries(value: str, *, wrapped: bool = False) -> Mapping[str, Any]:
    """Return the expression for a list of the entries of a list or a map. For any other value the list is empty.

    In a map of objects, values that are no objects, such as a unit, become fields of each entry. Null is an entry
    without values. With ``wrapped``, objects stay in the field ``_value``, because their own entries become rows.
    """
    numbered = _entry({"$add": ["$$at", 1]}, {"$arrayElemAt": [value, "$$at"]}, wrapped)
    listed = {"$map": {"input": {"$range": [0, {"$size": value}]}, "as": "at", "in": numbered}}
    nested = {"$in": [{"$type": "$$one.v"}, [*_NESTED, "null"]]}
    keyed = _entry("$$one.k", "$$one.v", wrapped)
    mapped = {
        "$let": {
            "vars": {"each": _choose({"$objectToArray": value}, {"$ne": ["$$one.k", "_id"]})},
            "in": {
                "$let": {
                    "vars": {
                        "rows": _choose("$$each", nested),
                        "single": _choose("$$each", {"$not": [nested]}),
                    },
                    "in": {
                        "$cond": [
                            {"$eq": [_choose("$$rows", {"$ne": ["$$one.v", None]}), []]},
                            {"$map": {"input": "$$each", "as": "one", "in": keyed}},
                            {
                                "$map": {
                                    "input": "$$rows",
                                    "as": "one",
                                    "in": {"$mergeObjects": [{"$arrayToObject": "$$single"}, keyed]},
                                }
                            },
                        ]
                    },
                }
            },
        }
    }
    return {
        "$switch": {
            "branches": [
                {"case": {"$isArray": [value]}, "then": listed},
                {"case": {"$eq": [{"$type": value}, "object"]}, "then": mapped},
                # Null in place of a list or a map is a row without values.
                {
                    "case": {"$eq": [{"$type": value}, "null"]},
                    "then": [{VALUE: None}] if value.endswith(VALUE) else [],
                },
            ],
            "default": [],
        }
    }


def _choose(entries: Any, condition: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"$filter": {"input": entries, "as": "one", "cond": condition}}


def _entry(key: Any, value: Any, wrapped: bool) -> Mapping[str, Any]:
    alone = {VALUE: value}
    if not wrapped:
        alone = {"$cond": [{"$eq": [{"$type": value}, "object"]}, value, alone]}
    return {"$mergeObjects": [{KEY: key}, alone]}


def find_rows(document: Mapping[str, Any]) -> list[str]:
    """Return the values that ``rows`` may have for a document: paths of lists and maps of objects with numbers.

    The largest list or map is first. Numbers inside the objects' own fields count only if no object has numbers
    directly. A map counts only if several of its objects have a number with the same name. For a document with
    percentiles, return the paths of the percentiles.

    Example:
        >>> find_rows({"run": {"by_name": {"a": {"ms": 1}, "b": {"ms": 2}}}})
        ['run.by_name.*']
        >>> find_rows({"a": {"time": {"mean": 1}}, "b": {"time": {"mean": 2}}, "machine": {"cores": 4}})
        ['*']
    """
    if percentiles := _find_percentiles(document):
        return sorted(percentiles, key=lambda path: not _LATENCY.search(path))
    for deep in (False, True):
        found: dict[tuple[str, ...], int] = {}
        for path, amount in _find(document, (), deep):
            found[path] = found.get(path, 0) + amount
        kept: list[tuple[str, ...]] = []
        for path in sorted((path for path in found if found[path] >= _FEWEST), key=lambda path: -found[path]):
            if not any(_overlap(path, other) for other in kept):
                kept.append(path)
        if kept:
            return [".".join(path) for path in kept]
    return []


def _find_percentiles(value: Mapping[str, Any], path: str = "") -> list[str]:
    """Return the paths of maps with percentiles, such as the latencies in results of load tests."""
    numbers = [name for name, one in value.items() if isinstance(one, (int, float))]
    found = [f"{path}{_EACH}"] if sum(map(bool, map(_PERCENTILE.fullmatch, numbers))) >= _FEWEST else []
    for name, one in value.items():
        if isinstance(one, Mapping) and name and not {".", _EACH, "$"} & set(name):
            found += _find_percentiles(one, f"{path}{name}.")
    return found


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two paths can lead to the same entries."""
    return len(one) == len(other) and all(a == b or _EACH in (a, b) for a, b in zip(one, other, strict=True))


def _find(value: Any, path: tuple[str, ...], deep: bool) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the path of each list or map of objects with numbers, and the number of its objects.

    In a map, only objects with a number of the same name count.
    """
    if len(path) > _DEEPEST:
        return
    is_list = isinstance(value, list)
    entries = value if is_list else [one for name, one in value.items() if name != "_id"]
    objects = [one for one in entries if isinstance(one, Mapping)]
    is_map = not is_list and len(objects) >= _FEWEST
    if is_list or is_map:
        named = Counter(name for one in objects for name in _name_numbers(one, deep))
        alike = max(named.values(), default=0)
        if alike >= (1 if is_list else _FEWEST):
            yield (*path, _EACH), len(objects) if is_list else alike
    for name, one in () if is_list else value.items():
        if isinstance(one, (Mapping, list)) and name and not {".", _EACH, "$"} & set(name):
            yield from _find(one, (*path, name), deep)
    for one in objects if is_list or is_map else ():
        yield from _find(one, (*path, _EACH), deep)


def _name_numbers(one: Mapping[str, Any], deep: bool) -> Iterator[str]:
    """Yield the names of the numbers in an object or, with ``deep``, also dotted names in its inner objects."""
    for name, value in one.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name
        elif deep and isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in _name_numbers(value, deep))
