"""List the stages and operators of a pipeline with their paths, by MongoDB's nesting rules, including server-only
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


_Reader = Callable[[Any, Path, list[Use]], None]
"""A function ``(value, path, found)`` that appends the uses in the value at a path to the list ``found``."""


def list_uses(pipeline: Any) -> list[Use]:
    """Return every stage and operator of a pipeline, in reading order. Malformed parts are skipped.

    The position of a name decides its kind, even if no such operator exists.
    """
    found: list[Use] = []
    _pipeline(pipeline, (), found)
    return found


def list_uses_in_stage(name: str, argument: Any, path: Path) -> list[Use]:
    """Return a stage, whose name is at ``path``, and every operator in it."""
    found: list[Use] = []
    _stage(name, argument, path, found)
    return found


def _pipeline(value: Any, path: Path, found: list[Use]) -> None:
    for number, stage in _items(value):
        for name, argument in _members(stage):
            _stage(name, argument, (*path, number, name), found)


def _stage(name: str, argument: Any, path: Path, found: list[Use]) -> None:
    found.append(Use("stage", name, path, argument))
    reader = _READERS.get(name, _expression)
    if callable(reader):
        reader(argument, path, found)
        return
    for key, inner in _members(argument):
        reader.get(key, _expression)(inner, (*path, key), found)


def _members(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, dict) else ()


def _items(value: Any) -> Iterable[tuple[int, Any]]:
    return enumerate(value) if isinstance(value, _LISTS) else ()


_LISTS: Final = (list, tuple)
_HOLDING: Final = (dict, list, tuple)
"""The types of values that may contain operators."""


def _expression(value: Any, path: Path, found: list[Use]) -> None:
    for number, item in _items(value):
        if isinstance(item, _HOLDING):
            _expression(item, (*path, number), found)
    for name, inner in _members(value):
        if name.startswith("$"):
            found.append(Use("expression", name, (*path, name), inner))
        if isinstance(inner, _HOLDING) and name not in ("$literal", "$const"):
            _expression(inner, (*path, name), found)


def _accumulators(value: Any, path: Path, found: list[Use], kind: OperatorKind = "accumulator") -> None:
    """Append the uses in a document of fields, each computed by an accumulator or a window function."""
    for field, written in _members(value):
        for name, argument in _members(written):
            if name != "window":
                where = (*path, field, name)
                found.append(Use(kind, name, where, argument))
                _expression(argument, where, found)


def _group(value: Any, path: Path, found: list[Use]) -> None:
    fields = dict(_members(value))
    _expression(fields.pop("_id", None), (*path, "_id"), found)
    _accumulators(fields, path, found)


def _pipelines(value: Any, path: Path, found: list[Use]) -> None:
    """Append the uses in a document whose values are pipelines."""
    for name, pipeline in _members(value):
        _pipeline(pipeline, (*path, name), found)


def _inputs(value: Any, path: Path, found: list[Use]) -> None:
    for name, inner in _members(value):
        (_pipelines if name == "pipelines" else _expression)(inner, (*path, name), found)


def _query(value: Any, path: Path, found: list[Use]) -> None:
    for name, inner in _members(value):
        where = (*path, name)
        if not name.startswith("$"):
            _conditions(inner, where, found)
        else:
            found.append(Use("query", name, where, inner))
            if name == "$expr":
                _expression(inner, where, found)
            elif name in ("$and", "$or", "$nor"):
                for number, item in _items(inner):
                    _query(item, (*where, number), found)


def _conditions(value: Any, path: Path, found: list[Use]) -> None:
    """Append the operators of a field's condition. A condition that is a value to compare with has none."""
    if not _first_name(value).startswith("$"):
        return
    for name, inner in _members(value):
        where = (*path, name)
        found.append(Use("query", name, where, inner))
        if name == "$elemMatch":
            _element(inner, where, found)
        elif name == "$all":
            for number, item in _items(inner):
                _conditions(item, (*where, number), found)
        elif name == "$not" or name.startswith(("$geo", "$near", "$within")):
            _conditions(inner, where, found)


def _element(value: Any, path: Path, found: list[Use]) -> None:
    """Append the operators of ``$elemMatch``, which apply to the array element itself or to its fields."""
    first = _first_name(value)
    is_query = not first.startswith("$") or first in ("$and", "$or", "$nor", "$expr")
    (_query if is_query else _conditions)(value, path, found)


def _first_name(value: Any) -> str:
    return next(iter(value), "") if isinstance(value, dict) else ""


def _nothing(value: Any, path: Path, found: list[Use]) -> None:
    """Append nothing: the value has no operators of pipelines."""


_READERS: Final[Mapping[str, _Reader | Mapping[str, _Reader]]] = {
    "$bucket": {"output": _accumulators},
    "$bucketAuto": {"output": _accumulators},
    "$facet": _pipelines,
    "$geoNear": {"query": _query, "near": _nothing},
    "$graphLookup": {"restrictSearchWithMatch": _query},
    "$group": _group,
    "$lookup": {"pipeline": _pipeline},
    "$match": _query,
    "$merge": {"whenMatched": _pipeline},
    "$rankFusion": {"input": _inputs},
    "$scoreFusion": {"input": _inputs},
    "$search": _nothing,
    "$searchMeta": _nothing,
    "$setWindowFields": {"output": partial(_accumulators, kind="window")},
    "$unionWith": {"pipeline": _pipeline},
    "$vectorSearch": {"filter": _query},
}
"""For each stage whose argument is not simply an expression, the reader of the argument or the readers of its keys."""
