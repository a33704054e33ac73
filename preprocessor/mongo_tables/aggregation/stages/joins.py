"""Stages that read other documents: `$lookup`, `$graphLookup`, `$unionWith`, `$documents`; and `$facet`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import Scope, VariableSlot, check_user_variable, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path, check_names, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, Gives, Order, StageRecord, paths_in, split_path
from mongo_tables.aggregation.join_index import JoinIndex, path_values
from mongo_tables.aggregation.limits import (
    admit_documents,
    check_size,
    count_array,
    each,
    gather_within_limits,
    spend,
)
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.paths import with_nested, with_nested_last
from mongo_tables.aggregation.pipelines import Stage, compile_pipeline, content_key, say_no_stage, stage
from mongo_tables.aggregation.query.conditions import Predicate
from mongo_tables.aggregation.query.parser import compile_query
from mongo_tables.aggregation.value_order import Key, key
from mongo_tables.aggregation.values import INT64_MAX, MISSING, Document, is_number, is_string

_NOT_IN_FACET = frozenset({
    "$changeStream", "$collStats", "$currentOp", "$documents", "$facet", "$geoNear", "$indexStats",
    "$listLocalSessions", "$listSessions", "$merge", "$out", "$planCacheStats", "$search", "$searchMeta",
    "$vectorSearch",
})  # fmt: skip


def _effect_of_facet(argument: Any) -> Effect:
    made = (Field((name,), (name,), branch=pipeline) for name, pipeline in argument.items())
    return Effect(fields=tuple(made), only=True)


@stage("$facet", record=StageRecord(_effect_of_facet, single=lambda _: True, watched=True))
def facet(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return one document with the result of each named pipeline on the same input."""
    if not isinstance(argument, Mapping) or not argument:
        raise AggregationError("$facet requires a document of at least one pipeline", path, 40169)
    pipelines = {name: _facet(name, item, scope, (*path, name)) for name, item in argument.items()}

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        rows = gather_within_limits(documents, path)
        found = {
            name: gather_within_limits(pipeline(admit_documents(rows)), (*path, name))
            for name, pipeline in pipelines.items()
        }
        return iter([found])

    return run


def _facet(name: str, pipeline: Any, scope: Scope, path: Path) -> Stage:
    if not name or name.startswith("$") or "." in name:
        code = 15998 if not name else 16410 if name.startswith("$") else 16412
        message = f"'{name}' is not a name for a facet: it must not start with '$' or contain a dot"
        raise AggregationError(message, path, code)
    if not isinstance(pipeline, list | tuple):
        raise AggregationError(f"the facet '{name}' must be a list of stages", path, 40170)
    for index, spec in enumerate(pipeline):
        if not isinstance(spec, Mapping):
            raise AggregationError(say_no_stage(spec), (*path, index), 40171)
        _check_in_facet(spec, (*path, index))
    return compile_pipeline(pipeline, scope, path)


def _check_in_facet(spec: Any, path: Path) -> None:
    """Raise AggregationError if a stage, or a stage in its nested pipelines, is not allowed inside ``$facet``."""
    for name, argument in spec.items() if isinstance(spec, Mapping) else ():
        if name in _NOT_IN_FACET:
            raise AggregationError(f"{name} cannot be inside $facet", (*path, name), 40600)
        inner = argument.get("pipeline") if isinstance(argument, Mapping) else None
        for index, item in enumerate(inner if isinstance(inner, list | tuple) else ()):
            if not (index == 0 and isinstance(item, Mapping) and "$documents" in item):
                _check_in_facet(item, (*path, name, "pipeline", index))


@stage("$unionWith", record=StageRecord(lambda _: Effect(), order=Order.CHANCE, adds=True))
def union_with(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents, followed by the results of a pipeline on another collection."""
    coll, pipeline, where = _union(argument, path)
    inner = compile_pipeline(pipeline, scope, where)
    source = scope.context.collections.get(coll, ())
    return lambda documents: chain(documents, inner(admit_documents(source, path)))


def _union(argument: Any, path: Path) -> tuple[str, Any, Path]:
    if is_string(argument):
        _check_collection(argument, path)
        return argument, [], path
    if not isinstance(argument, Mapping):
        raise AggregationError("$unionWith requires a collection's name or a document", path, 9)
    refuse_unknown(argument, ("coll", "pipeline"), "$unionWith has no option", path, 40415)
    pipeline = argument.get("pipeline", [])
    if "coll" not in argument and not _starts_with_documents(pipeline):
        raise AggregationError("$unionWith needs 'coll', or a pipeline that starts with $documents", path, 9)
    coll = argument.get("coll", "")
    if not is_string(coll):
        raise AggregationError("'coll' must be a collection's name", (*path, "coll"), 14)
    if "coll" in argument:
        _check_collection(coll, (*path, "coll"))
    return coll, pipeline, (*path, "pipeline")


def _check_collection(name: str, path: Path) -> None:
    if not name or name.startswith(".") or "\0" in name:
        raise AggregationError(f"'{name}' is not the name of a collection", path, 73)


def _starts_with_documents(pipeline: Any) -> bool:
    """Return whether a pipeline begins with its own documents, so that it needs no collection."""
    if not isinstance(pipeline, list | tuple) or not pipeline:
        return False
    return isinstance(pipeline[0], Mapping) and "$documents" in pipeline[0]


_DOCUMENTS = StageRecord(lambda _: Effect(only=True), order=Order.SORTED, adds=True)


@stage("$documents", record=_DOCUMENTS)
def documents(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents of a list, at the start of a pipeline in ``$lookup`` or ``$unionWith``."""
    if path[-2:-1] != (0,):
        raise AggregationError("$documents must be the first stage of a pipeline", path, 40602)
    if len(path) == 2:
        raise AggregationError("$documents must be in $lookup or $unionWith, not on a collection", path, 73)
    evaluate = compile_expression(argument, scope, path).run

    def run(_: Iterator[Document]) -> Iterator[Document]:
        rows = evaluate({})
        if not isinstance(rows, list):
            raise AggregationError("$documents requires a list of documents", path, 5858203)
        for row in rows:
            if not isinstance(row, Mapping):
                raise AggregationError("$documents accepts only documents", path, 40228)
        return iter(rows)

    return run


# `$lookup`: joins by equal fields, by a pipeline, or by both.

_OF_LOOKUP = ("from", "localField", "foreignField", "let", "pipeline", "as")
_Find = Callable[[Document], Sequence[Document]]


def _effect_of_lookup(argument: Any) -> Effect:
    local = argument.get("localField")
    reads = [] if local is None else [split_path(local)]
    reads += paths_in(argument.get("let"))
    return Effect(fields=(Field(split_path(argument["as"]), ("as",), takes=tuple(reads)),))


@stage("$lookup", record=StageRecord(_effect_of_lookup, Gives.EACH, rank=4, watched=True))
def lookup(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents, each with the list of its matching documents in another collection."""
    _check_lookup(argument, path)
    target = paths.split(argument["as"], (*path, "as"))
    source = scope.context.collections.get(argument.get("from", ""), ())
    join = _equality(argument, path)
    if "pipeline" in argument:
        find = _pipeline_join(argument, join, source, scope, path)
    else:
        find = join(source) if join else lambda _: source
    put = with_nested_last if scope.leading else with_nested

    def joined(document: Document) -> Document:
        rows = find(document)
        spend(len(rows) // 8, path)
        count_array(len(rows))
        return put(document, target, list(rows))

    return lambda documents: map(joined, documents)


def _check_lookup(argument: Any, path: Path) -> None:
    check_names(argument, (), _OF_LOOKUP, path, (9, 9, 9))
    if "from" in argument and is_string(argument["from"]):
        _check_collection(argument["from"], (*path, "from"))
    for name in ("from", "localField", "foreignField", "as"):
        if name in argument and not is_string(argument[name]):
            raise AggregationError(f"'{name}' of $lookup must be a string", (*path, name), 9)
    if "as" not in argument:
        raise AggregationError("$lookup needs the option 'as'", path, 9)
    if "from" not in argument and not _starts_with_documents(argument.get("pipeline")):
        raise AggregationError("$lookup needs 'from', or a pipeline that starts with $documents", path, 9)
    if ("localField" in argument) != ("foreignField" in argument):
        raise AggregationError("$lookup requires localField and foreignField together", path, 9)
    if "pipeline" not in argument and "localField" not in argument:
        raise AggregationError("$lookup needs localField and foreignField, or a pipeline", path, 9)
    if "let" in argument and "pipeline" not in argument:
        raise AggregationError("'let' of $lookup requires a pipeline", (*path, "let"), 9)


def _equality(argument: Mapping[str, Any], path: Path) -> Callable[[Sequence[Document]], _Find] | None:
    """Return the join by equal fields, or None if the stage has no such fields.

    The join is a function of the other collection. It returns a function that finds the matches of a document.
    """
    if "localField" not in argument:
        return None
    local = paths.split(argument["localField"], (*path, "localField"))
    foreign = paths.split(argument["foreignField"], (*path, "foreignField"))

    def join(source: Sequence[Document]) -> _Find:
        index = JoinIndex(source, foreign)
        return lambda document: index.find(list(path_values(document, local)) or [None])

    return join


def _pipeline_join(
    argument: Mapping[str, Any],
    join: Callable[[Sequence[Document]], _Find] | None,
    source: Sequence[Document],
    scope: Scope,
    path: Path,
) -> _Find:
    let, stages, where = argument.get("let", {}), argument["pipeline"], (*path, "pipeline")
    if not isinstance(let, Mapping):
        raise AggregationError("'let' of $lookup must be a document of variables", (*path, "let"), 9)
    if not isinstance(stages, list | tuple):
        raise AggregationError("'pipeline' of $lookup must be a list of stages", where, 9)
    runs = []
    for name, expression in let.items():
        check_user_variable(name, (*path, "let", name))
        runs.append(compile_expression(expression, scope, (*path, "let", name)).run)
    inner, slots = scope.binding(*let)
    # The pipeline's own documents are joined first, and then pass through its other stages.
    head = 1 if join and _starts_with_documents(stages) else 0
    brought = compile_pipeline(stages[:head], inner, where)
    pipeline = compile_pipeline(stages[head:], inner, where, head)
    partners = join(source) if join and not head else None
    settled = not join and not _mentions(stages, tuple(f"$${name}" for name in inner.slots))
    known: list[Sequence[Document]] = []
    check = _constants_check(stages, inner, tuple(let), where)

    def find(document: Document) -> Sequence[Document]:
        values = [run(document) for run in runs]
        if settled and known:
            return known[0]
        for slot, value in zip(slots, values, strict=True):
            slot.value = value
        rows = source
        if partners is not None:
            rows = partners(document)
        elif join is not None:
            rows = join(list(brought(iter(()))))(document)
        found = gather_within_limits(pipeline(admit_documents(rows, path)), path)
        if not found and values:
            check(values)
        if settled:
            known.append(found)
        return found

    return find


def _constants_check(
    pipeline: Sequence[Any], scope: Scope, names: tuple[str, ...], path: Path
) -> Callable[[list[Any]], None]:
    """Return a function that checks whether the constants of the pipeline can be computed with values of the
    variables.

    The function raises AggregationError. The server compiles the pipeline for each document, with the variables as
    constants, so it fails even if no document of the other collection reaches the failing part.
    """
    checked: set[bytes] = set()

    def check(values: list[Any]) -> None:
        for value in values:
            check_size(value, "a value that is compared")
        content = content_key(*([] if value is MISSING else [value] for value in values))
        if content and content in checked:
            return
        fixed = {name: VariableSlot(value, fixed=True) for name, value in zip(names, values, strict=True)}
        compile_pipeline(pipeline, scope._replace(slots={**scope.slots, **fixed}), path)
        checked.add(content)

    return check


def _mentions(spec: Any, variables: tuple[str, ...]) -> bool:
    """Return whether a string in the specification begins with a variable, on which the specification may then
    depend.
    """
    if isinstance(spec, str):
        return spec.startswith(variables)
    if isinstance(spec, Mapping):
        return any(_mentions(item, variables) for item in spec.values())
    return isinstance(spec, list | tuple) and any(_mentions(item, variables) for item in spec)


# `$graphLookup`: all documents reached from a value by following references, breadth first.

_REQUIRED = ("from", "as", "startWith", "connectFromField", "connectToField")
_OF_GRAPH = ("maxDepth", "depthField", "restrictSearchWithMatch")
_NAMES = ("from", "as", "connectFromField", "connectToField", "depthField")


@dataclass(frozen=True, slots=True)
class _Search:
    index: JoinIndex
    onward: tuple[str, ...]
    deepest: int
    depth_field: tuple[str, ...]
    admits: Predicate

    def search(self, start: list[Any]) -> list[Document]:
        """Return the documents that can be reached, nearest first."""
        visited: dict[Key, Document] = {}
        values, depth = start, 0
        while values and depth <= self.deepest:
            onward: list[Any] = []
            for document in each(self.index.find(values, missing=False)):
                name = key(document.get("_id"))
                if name not in visited and self.admits(document):
                    marked = self.depth_field
                    visited[name] = with_nested(document, marked, Int64(depth)) if marked else document
                    onward.extend(path_values(document, self.onward))
            count_array(len(onward))
            values, depth = onward, depth + 1
        return list(visited.values())


def _effect_of_graph(argument: Any) -> Effect:
    reads = tuple(paths_in(argument.get("startWith")))
    return Effect(fields=(Field(split_path(argument["as"]), ("as",), takes=reads),))


@stage("$graphLookup", record=StageRecord(_effect_of_graph, Gives.EACH))
def graph_lookup(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents, each with the list of the other collection's documents that can be reached from it."""
    _check_graph(argument, path)
    fields = {name: paths.split(argument[name], (*path, name)) for name in _NAMES[1:] if name in argument}
    evaluate = compile_expression(argument["startWith"], scope, (*path, "startWith")).run
    source = scope.context.collections.get(argument["from"], ())
    restrict = argument.get("restrictSearchWithMatch", {})
    deepest, where = argument.get("maxDepth", INT64_MAX), (*path, "maxDepth")
    if not is_number(deepest):
        raise AggregationError("maxDepth of $graphLookup must be a number", where, 40100)
    if (number := integral(deepest)) is None or number > INT64_MAX:
        raise AggregationError("maxDepth of $graphLookup must be a whole number", where, 40102)
    if number < 0:
        raise AggregationError("maxDepth of $graphLookup must not be negative", where, 40101)
    search = _Search(
        JoinIndex(source, fields["connectToField"]),
        fields["connectFromField"],
        number,
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


def _check_graph(argument: Any, path: Path) -> None:
    check_names(argument, _REQUIRED, _OF_GRAPH, path, (40327, 40104, 40105))
    for name in _NAMES:
        if name in argument and not is_string(argument[name]):
            raise AggregationError(f"'{name}' of $graphLookup must be a string", (*path, name), 40103)
    if not isinstance(argument.get("restrictSearchWithMatch", {}), Mapping):
        where = (*path, "restrictSearchWithMatch")
        raise AggregationError("restrictSearchWithMatch must be a query document", where, 40185)
