"""What documents have become at a stage of a pipeline, for rules that must see values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mongo_tables.results.model import LocalDocuments, Query, ResultsError
from mongo_tables.specs.model import PipelineSpec

Documents = list[dict[str, Any]]
Stages = Sequence[Mapping[str, Any]]


def leading_match(pipeline: Stages) -> Stages:
    """What chooses documents before anything is done with them: the first stage, or none."""
    return pipeline[:1] if pipeline and "$match" in pipeline[0] else ()


def collect_documents(
    spec: PipelineSpec, source: LocalDocuments, stages: Stages, collection: str = ""
) -> Documents:
    """The documents that stages make of a collection, that of ``spec`` or another; empty if the stages cannot run."""
    try:
        return source.with_documents(
            collection or spec.collection,
            stages,
            lambda documents: run_stages(spec, source, documents, stages),
        )
    except ResultsError:
        return []  # Whoever runs the pipeline says why.


def run_stages(
    spec: PipelineSpec, source: LocalDocuments, documents: Iterable[dict[str, Any]], stages: Stages
) -> Documents:
    """The result of the stages on ``documents`` instead of the collection; empty if the stages cannot run."""
    try:
        return source.apply_query(documents, Query(spec.collection, tuple(stages), spec.let))
    except ResultsError:
        return []
