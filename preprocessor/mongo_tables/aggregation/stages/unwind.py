"""`$unwind`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import Scope, Stage, stage
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, StageRecord, paths_in, split_path
from mongo_tables.aggregation.meter import spend, unwind_elements
from mongo_tables.aggregation.stages.elements import Unwound
from mongo_tables.aggregation.stages.nesting import get_nested, with_nested
from mongo_tables.aggregation.values import MISSING, Document, is_string

_OPTIONS = ("path", "includeArrayIndex", "preserveNullAndEmptyArrays")


@dataclass(frozen=True, slots=True)
class _Unwind:
    path: tuple[str, ...]
    index: tuple[str, ...]
    preserve: bool

    def output(self, document: Document) -> Iterator[Document]:
        """One document for each element of the array."""
        value = get_nested(document, self.path)
        if type(value) is not list:
            if self.preserve or not (value is None or value is MISSING):
                yield self._with_index(document, None)
        elif value and len(self.path) == 1 and not self.index and type(document) is dict:
            (name,) = self.path
            for item in unwind_elements(value):
                yield {**document, name: item}
        elif value:
            for place, item in enumerate(unwind_elements(value)):
                yield self._with_index(with_nested(document, self.path, item), Int64(place))
        elif self.preserve:
            yield self._with_index(with_nested(document, self.path, MISSING), None)

    def elements(self, document: Document) -> list[Any]:
        """The elements that become a document each; none where the document itself, or nothing, goes on."""
        value = get_nested(document, self.path)
        if type(value) is not list or self.index:
            return []
        spend(len(value))
        return value

    def _with_index(self, document: Document, place: Int64 | None) -> Document:
        return with_nested(document, self.index, place) if self.index else document


def _effect(argument: Any) -> Effect:
    spec = argument if isinstance(argument, Mapping) else {"path": argument}
    index = spec.get("includeArrayIndex")
    made = () if index is None else (Field(split_path(index), ("includeArrayIndex",), always=True),)
    return Effect(tuple(paths_in(spec["path"])), made)


@stage("$unwind", record=StageRecord(_effect, adds=True))
def unwind(argument: Any, scope: Scope, path: Path) -> Stage:
    """One document for each element of an array, with the element in the array's place."""
    spec = _parse(argument, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return Unwound(documents, spec)

    return run


def _parse(argument: Any, path: Path) -> _Unwind:
    if is_string(argument):
        return _Unwind(_field(argument, path), (), False)
    if not isinstance(argument, Mapping):
        raise AggregationError("$unwind takes '$field' or a document with path", path, 15981)
    refuse_unknown(argument, _OPTIONS, "$unwind has no option", path, 28811)
    if "path" not in argument:
        raise AggregationError("$unwind needs the option 'path'", path, 28812)
    preserve = argument.get("preserveNullAndEmptyArrays", False)
    if not isinstance(preserve, bool):
        where = (*path, "preserveNullAndEmptyArrays")
        raise AggregationError("preserveNullAndEmptyArrays is true or false", where, 28809)
    return _Unwind(_field(argument["path"], (*path, "path")), _index(argument, path), preserve)


def _field(value: Any, path: Path) -> tuple[str, ...]:
    if not is_string(value):
        raise AggregationError("the path of $unwind is a string", path, 28808)
    if not value.startswith("$"):
        raise AggregationError(f"the path of $unwind starts with '$': '${value}'", path, 28818)
    return _split(value[1:], path)


def _index(argument: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    if "includeArrayIndex" not in argument:
        return ()
    name, where = argument["includeArrayIndex"], (*path, "includeArrayIndex")
    if not is_string(name) or not name:
        raise AggregationError("includeArrayIndex is the name of a field", where, 28810)
    if name.startswith("$"):
        raise AggregationError("includeArrayIndex is a field name, without '$'", where, 28822)
    return _split(name, where)


def _split(dotted: str, path: Path) -> tuple[str, ...]:
    try:
        return paths.split(dotted)
    except AggregationError as error:
        raise error.at(path) from None
