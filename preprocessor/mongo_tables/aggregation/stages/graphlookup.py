"""`$graphLookup`: what is reached from a value by following references, breadth first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bson.int64 import Int64
from bson.objectid import ObjectId

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import Scope, Stage, compile_expression, stage
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, Gives, StageRecord, paths_in, split_path
from mongo_tables.aggregation.meter import count_array, each
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.ordering import Key, key
from mongo_tables.aggregation.query.parser import compile_query
from mongo_tables.aggregation.query.walking import Predicate
from mongo_tables.aggregation.stages.joining import JoinIndex, path_values
from mongo_tables.aggregation.stages.nesting import with_nested
from mongo_tables.aggregation.values import INT64_MAX, MISSING, Document, is_number, is_string

_PLAIN = frozenset({int, str, ObjectId})
_REQUIRED = ("from", "as", "startWith", "connectFromField", "connectToField")
_OPTIONS = (*_REQUIRED, "maxDepth", "depthField", "restrictSearchWithMatch")
_NAMES = ("from", "as", "connectFromField", "connectToField", "depthField")


@dataclass(frozen=True, slots=True)
class _Search:
    index: JoinIndex
    onward: tuple[str, ...]
    deepest: int
    depth_field: tuple[str, ...]
    admits: Predicate

    def search(self, start: list[Any]) -> list[Document]:
        """The documents reached, nearest first."""
        visited: dict[Key, Document] = {}
        asked: set[Any] = set()
        values, depth = _not_asked(start, asked), 0
        while values and depth <= self.deepest:
            onward: list[Any] = []
            for document in each(self.index.find(values, missing=False)):
                name = key(document.get("_id"))
                if name not in visited and self.admits(document):
                    visited[name] = self._mark_depth(document, depth)
                    onward.extend(path_values(document, self.onward))
            count_array(len(onward))
            values, depth = _not_asked(onward, asked), depth + 1
        return list(visited.values())

    def _mark_depth(self, document: Document, depth: int) -> Document:
        return with_nested(document, self.depth_field, Int64(depth)) if self.depth_field else document


def _not_asked(values: list[Any], asked: set[Any]) -> list[Any]:
    """The values that nothing was looked up by yet, each once; all of them where one is of no plain type.

    A graph leads to the same values again and again.
    """
    kinds = set(map(type, values))
    if not kinds <= _PLAIN:
        return values
    fresh = set(values) - asked
    asked |= fresh
    return list(fresh)  # in any order: what is found comes in that of the collection


def _effect(argument: Any) -> Effect:
    reads = tuple(paths_in(argument.get("startWith")))
    return Effect(fields=(Field(split_path(argument["as"]), ("as",), takes=reads),))


@stage("$graphLookup", record=StageRecord(_effect, Gives.EACH))
def graph_lookup(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents, each with the list of those of a collection that it reaches."""
    _check(argument, path)
    fields = {
        name: _split(argument[name], (*path, name)) for name in _NAMES if name in argument and name != "from"
    }
    evaluate = compile_expression(argument["startWith"], scope, (*path, "startWith")).run
    source = scope.context.collections.get(argument["from"], ())
    restrict = argument.get("restrictSearchWithMatch", {})
    search = _Search(
        JoinIndex(source, fields["connectToField"]),
        fields["connectFromField"],
        _deepest(argument, path),
        fields.get("depthField", ()),
        compile_query(restrict, scope, (*path, "restrictSearchWithMatch")),
    )

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        for document in documents:
            value = evaluate(document)
            start = value if type(value) is list else [] if value is MISSING else [value]
            try:
                found = search.search(start)
            except AggregationError as error:
                raise error.at(path) from None
            yield with_nested(document, fields["as"], found)

    return run


def _check(argument: Any, path: Path) -> None:
    if not isinstance(argument, Mapping):
        raise AggregationError("$graphLookup takes a document", path, 40327)
    refuse_unknown(argument, _OPTIONS, "$graphLookup has no option", path, 40104)
    for name in _REQUIRED:
        if name not in argument:
            raise AggregationError(f"$graphLookup needs the option '{name}'", path, 40105)
    for name in _NAMES:
        if name in argument and not is_string(argument[name]):
            raise AggregationError(f"'{name}' of $graphLookup is a string", (*path, name), 40103)
    if not isinstance(argument.get("restrictSearchWithMatch", {}), Mapping):
        where = (*path, "restrictSearchWithMatch")
        raise AggregationError("restrictSearchWithMatch is a query, which is a document", where, 40185)


def _deepest(argument: Mapping[str, Any], path: Path) -> int:
    if "maxDepth" not in argument:
        return INT64_MAX
    value, where = argument["maxDepth"], (*path, "maxDepth")
    if not is_number(value):
        raise AggregationError("maxDepth of $graphLookup is a number", where, 40100)
    number = integral(value)
    if number is None or number > INT64_MAX:
        raise AggregationError("maxDepth of $graphLookup is a whole number", where, 40102)
    if number < 0:
        raise AggregationError("maxDepth of $graphLookup must not be negative", where, 40101)
    return number


def _split(dotted: str, path: Path) -> tuple[str, ...]:
    try:
        return paths.split(dotted)
    except AggregationError as error:
        raise error.at(path) from None
