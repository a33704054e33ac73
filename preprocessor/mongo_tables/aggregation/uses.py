"""Stages and operators of a pipeline with their places, by MongoDB's nesting rules, even server-only ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import OperatorKind
from mongo_tables.aggregation.errors import Path


class Use(NamedTuple):
    """A use of a stage or an operator: ``path`` leads to its name, ``argument`` is its argument."""

    kind: OperatorKind
    name: str
    path: Path
    argument: Any


Uses = Iterator[Use]
_Reader = Callable[[Any, Path], Uses]


def list_uses(pipeline: Any, path: Path = ()) -> Uses:
    """Yield every stage and operator of a pipeline, in reading order. Malformed parts are skipped.

    The position of a name decides its kind, whether such an operator exists or not.
    """
    for number, stage in _items(pipeline):
        for name, argument in _members(stage):
            where = (*path, number, name)
            yield Use("stage", name, where, argument)
            reader = _READERS.get(name, _expression)
            if callable(reader):
                yield from reader(argument, where)
                continue
            for key, inner in _members(argument):
                yield from reader.get(key, _expression)(inner, (*where, key))


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    return iter(value.items() if isinstance(value, Mapping) else ())


def _items(value: Any) -> Iterator[tuple[int, Any]]:
    return enumerate(value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else ())


def _expression(value: Any, path: Path) -> Uses:
    for number, item in _items(value):
        yield from _expression(item, (*path, number))
    for name, inner in _members(value):
        where = (*path, name)
        if name.startswith("$"):
            yield Use("expression", name, where, inner)
        if name not in ("$literal", "$const"):
            yield from _expression(inner, where)


def _accumulators(value: Any, path: Path, kind: OperatorKind = "accumulator") -> Uses:
    """Yield the uses in fields with an accumulator or a window function each."""
    for field, written in _members(value):
        for name, argument in _members(written):
            if name != "window":
                where = (*path, field, name)
                yield Use(kind, name, where, argument)
                yield from _expression(argument, where)


def _group(value: Any, path: Path) -> Uses:
    fields = dict(_members(value))
    yield from _expression(fields.pop("_id", None), (*path, "_id"))
    yield from _accumulators(fields, path)


def _pipelines(value: Any, path: Path) -> Uses:
    """Yield the uses in a document of names and pipelines."""
    for name, pipeline in _members(value):
        yield from list_uses(pipeline, (*path, name))


def _inputs(value: Any, path: Path) -> Uses:
    for name, inner in _members(value):
        yield from (_pipelines if name == "pipelines" else _expression)(inner, (*path, name))


def _query(value: Any, path: Path) -> Uses:
    for name, inner in _members(value):
        where = (*path, name)
        if not name.startswith("$"):
            yield from _conditions(inner, where)
        else:
            yield Use("query", name, where, inner)
            if name == "$expr":
                yield from _expression(inner, where)
            elif name in ("$and", "$or", "$nor"):
                for number, item in _items(inner):
                    yield from _query(item, (*where, number))


def _conditions(value: Any, path: Path) -> Uses:
    """Yield the operators of one field, unless it has a document to equal."""
    if not next((name for name, _ in _members(value)), "").startswith("$"):
        return
    for name, inner in _members(value):
        where = (*path, name)
        yield Use("query", name, where, inner)
        if name == "$elemMatch":
            yield from _element(inner, where)
        elif name == "$all":
            for number, item in _items(inner):
                yield from _conditions(item, (*where, number))
        elif name == "$not" or name.startswith(("$geo", "$near", "$within")):
            yield from _conditions(inner, where)


def _element(value: Any, path: Path) -> Uses:
    """Yield the operators of an element itself, or of a query on its fields."""
    first = next((name for name, _ in _members(value)), "")
    is_query = not first.startswith("$") or first in ("$and", "$or", "$nor", "$expr")
    yield from (_query if is_query else _conditions)(value, path)


_READERS: Final[Mapping[str, _Reader | Mapping[str, _Reader]]] = {
    "$bucket": {"output": _accumulators},
    "$bucketAuto": {"output": _accumulators},
    "$facet": _pipelines,
    "$geoNear": {"query": _query, "near": lambda value, path: iter(())},
    "$graphLookup": {"restrictSearchWithMatch": _query},
    "$group": _group,
    "$lookup": {"pipeline": list_uses},
    "$match": _query,
    "$merge": {"whenMatched": list_uses},
    "$rankFusion": {"input": _inputs},
    "$scoreFusion": {"input": _inputs},
    "$search": lambda value, path: iter(()),
    "$searchMeta": lambda value, path: iter(()),
    "$setWindowFields": {"output": partial(_accumulators, kind="window")},
    "$unionWith": {"pipeline": list_uses},
    "$vectorSearch": {"filter": _query},
}
"""Readers of the argument of a stage, or of its keys, that are more than expressions."""
