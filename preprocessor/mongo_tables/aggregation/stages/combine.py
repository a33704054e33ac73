"""`$facet`, `$unionWith`, `$documents`: several pipelines, several sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from mongo_tables.aggregation.compiler import (
    Scope,
    Stage,
    compile_expression,
    compile_pipeline,
    say_no_stage,
    stage,
)
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, Order, StageRecord
from mongo_tables.aggregation.meter import admit_documents, gather_within_limits
from mongo_tables.aggregation.values import Document, is_string

_NOT_IN_FACET = frozenset({
    "$changeStream", "$collStats", "$currentOp", "$documents", "$facet", "$geoNear", "$indexStats",
    "$listLocalSessions", "$listSessions", "$merge", "$out", "$planCacheStats", "$search", "$searchMeta",
    "$vectorSearch",
})  # fmt: skip


def _effect_of_facet(argument: Any) -> Effect:
    made = (Field((name,), (name,), branch=pipeline) for name, pipeline in argument.items())
    return Effect(fields=tuple(made), only=True)


@stage("$facet", record=StageRecord(_effect_of_facet, single=lambda _: True))
def facet(argument: Any, scope: Scope, path: Path) -> Stage:
    """One document: for each name what its pipeline makes of the same input."""
    if not isinstance(argument, Mapping) or not argument:
        raise AggregationError("$facet takes a document of at least one pipeline", path, 40169)
    pipelines = {name: _facet(name, item, scope, (*path, name)) for name, item in argument.items()}

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        rows = gather_within_limits(documents, path)
        return iter(
            [
                {
                    name: gather_within_limits(pipeline(admit_documents(rows)), (*path, name))
                    for name, pipeline in pipelines.items()
                }
            ]
        )

    return run


def _facet(name: str, pipeline: Any, scope: Scope, path: Path) -> Stage:
    if not name or name.startswith("$") or "." in name:
        code = 15998 if not name else 16410 if name.startswith("$") else 16412
        raise AggregationError(f"'{name}' is no name for a facet: no '$' at its head, no dot", path, code)
    if not isinstance(pipeline, list | tuple):
        raise AggregationError(f"the facet '{name}' is not a list of stages", path, 40170)
    for index, spec in enumerate(pipeline):
        if not isinstance(spec, Mapping):
            raise AggregationError(say_no_stage(spec), (*path, index), 40171)
        _check_in_facet(spec, (*path, index))
    return compile_pipeline(pipeline, scope, path)


def _check_in_facet(spec: Any, path: Path) -> None:
    """Raises for a stage that must not stand inside ``$facet``, be it in the pipeline of another stage there."""
    for name, argument in spec.items() if isinstance(spec, Mapping) else ():
        if name in _NOT_IN_FACET:
            raise AggregationError(f"{name} cannot stand inside $facet", (*path, name), 40600)
        inner = argument.get("pipeline") if isinstance(argument, Mapping) else None
        for index, item in enumerate(inner if isinstance(inner, list | tuple) else ()):
            if not (index == 0 and isinstance(item, Mapping) and "$documents" in item):
                _check_in_facet(item, (*path, name, "pipeline", index))


@stage("$unionWith", record=StageRecord(lambda _: Effect(), order=lambda _: Order.CHANCE, adds=True))
def union_with(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents, and then those that a pipeline makes of another collection."""
    coll, pipeline, where = _union(argument, path)
    inner = compile_pipeline(pipeline, scope, where)
    source = scope.context.collections.get(coll, ())

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return chain(documents, inner(admit_documents(source, path)))

    return run


def _union(argument: Any, path: Path) -> tuple[str, Any, Path]:
    if is_string(argument):
        check_collection(argument, path)
        return argument, [], path
    if not isinstance(argument, Mapping):
        raise AggregationError("$unionWith takes a collection's name or a document", path, 9)
    refuse_unknown(argument, ("coll", "pipeline"), "$unionWith has no option", path, 40415)
    pipeline = argument.get("pipeline", [])
    if "coll" not in argument and not starts_with_documents(pipeline):
        raise AggregationError("$unionWith needs 'coll', or a pipeline that starts with $documents", path, 9)
    coll = argument.get("coll", "")
    if not is_string(coll):
        raise AggregationError("'coll' is a collection's name", (*path, "coll"), 14)
    if "coll" in argument:
        check_collection(coll, (*path, "coll"))
    return coll, pipeline, (*path, "pipeline")


def check_collection(name: str, path: Path) -> None:
    """Raises AggregationError for what is no name of a collection."""
    if not name or name.startswith(".") or "\0" in name:
        raise AggregationError(f"'{name}' is no name of a collection", path, 73)


def starts_with_documents(pipeline: Any) -> bool:
    """Whether a pipeline brings its own documents, so that it needs no collection."""
    if not isinstance(pipeline, list | tuple) or not pipeline:
        return False
    return isinstance(pipeline[0], Mapping) and "$documents" in pipeline[0]


_DOCUMENTS = StageRecord(lambda _: Effect(only=True), order=lambda _: Order.SORTED, adds=True)


@stage("$documents", record=_DOCUMENTS)
def documents(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents of a list; for the head of a pipeline in ``$lookup`` or ``$unionWith``."""
    if path[-2:-1] != (0,):
        raise AggregationError("$documents stands at the head of a pipeline", path, 40602)
    if len(path) == 2:
        raise AggregationError("$documents stands in $lookup or $unionWith, not on a collection", path, 73)
    evaluate = compile_expression(argument, scope, path).run

    def run(_: Iterator[Document]) -> Iterator[Document]:
        rows = evaluate({})
        if not isinstance(rows, list):
            raise AggregationError("$documents takes a list of documents", path, 5858203)
        for row in rows:
            if not isinstance(row, Mapping):
                raise AggregationError("$documents takes documents only", path, 40228)
        return iter(rows)

    return run
