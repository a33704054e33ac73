"""What is known of a collection's documents before its pipelines are looked at.

Where they are at hand it is learnt from those that pass the pipeline's first ``$match``: what their fields mean is
known where they are benchmark results. Without, a pipeline that is written for such results is taken to get them, and
of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import bson

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.lint.asking import leading_match
from mongo_tables.lint.shape.learn import learnt, read_schema_shape
from mongo_tables.lint.shape.telling import select_telling
from mongo_tables.lint.shape.values import Shape, join_all, lookup, unknown_documents
from mongo_tables.results.model import ResultsError
from mongo_tables.results.resultshape import MARKS, expects_results, is_result
from mongo_tables.schemas.loading import load

if TYPE_CHECKING:
    from mongo_tables.results.model import LocalDocuments
    from mongo_tables.specs.model import PipelineSpec

_AT_ONCE: Final = 1_000
_FEW: Final = 4


def collection_shape(spec: PipelineSpec, source: LocalDocuments | None) -> tuple[Shape, bool]:
    """The shape of the documents that a pipeline starts from, and whether real documents were looked at."""
    documents = _matching(spec, source) if source else []
    if documents:
        schema = load("result") if all(map(is_result, documents)) else None
        return learnt(documents, schema, believed=all(map(_by_runner, documents))), True
    taken = source is None and expects_results(spec.pipeline)
    return (load_result_shape() if taken else unknown_documents()), False


def shape_without(spec: PipelineSpec, source: LocalDocuments, fields: Sequence[str]) -> Shape | None:
    """The shape of documents of a pipeline's collection where none of them has one of some fields, else None.

    It has these fields of all documents that have them, and all others of a few: documents may be large and many.
    """
    reads = [{"$project": dict.fromkeys(fields, 1)}]
    try:
        read = learnt(source.with_documents(spec.collection, reads, select_telling, pruned=True))
        if not any(lookup(read, tuple(field.split("."))).absent for field in fields):
            return None
        few = source.raw_places(spec.collection, ())[:_FEW]
    except ResultsError:
        return None
    return join_all((read, learnt([bson.decode(one.content[one.start : one.end]) for one in few])))


@cache
def load_result_shape() -> Shape:
    """The shape of the documents that the runner writes; read once, for all tables."""
    return read_schema_shape(load("result"))


def _matching(spec: PipelineSpec, source: LocalDocuments) -> list[dict[str, Any]]:
    try:
        return source.with_documents(
            spec.collection,
            _with_more(spec.pipeline),
            lambda documents: select_telling(_passing(documents, spec)),
            pruned=True,
        )
    except (AggregationError, ResultsError):
        return []  # Whoever runs the pipeline says why.


def _passing(documents: Iterable[dict[str, Any]], spec: PipelineSpec) -> Iterator[dict[str, Any]]:
    """The documents that pass the pipeline's first ``$match``, some at a time."""
    first = leading_match(spec.pipeline)
    if not first:
        yield from documents
        return
    left = iter(documents)
    while some := list(islice(left, _AT_ONCE)):
        yield from aggregate(some, first, variables=spec.let)


def _with_more(pipeline: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The pipeline, made to read what rules ask for beside: what varied, what failed, what it is, and who wrote it."""
    more = {"$set": {"_": ["$variant", "$failed", "$versions.harness", *(f"${field}" for field in MARKS)]}}
    first = leading_match(pipeline)
    return [*first, more, *pipeline[len(first) :]]


def _by_runner(document: Mapping[str, Any]) -> bool:
    """Whether the experiment runner wrote the document: then its schema's bounds are promises."""
    versions = document.get("versions")
    return isinstance(versions, Mapping) and "harness" in versions
