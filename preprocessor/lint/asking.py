"""What fixtures have at a stage of a pipeline, for rules that must see values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preprocessor.results.model import Query, ResultsError
from preprocessor.specs.model import PipelineSpec

if TYPE_CHECKING:
    from preprocessor.results.fixtures import FixtureSource

Documents = list[dict[str, Any]]
Stages = Sequence[Mapping[str, Any]]


def asked(spec: PipelineSpec, source: FixtureSource, stages: Stages) -> Documents:
    """The documents that the fixtures have behind some stages; none where they cannot be had."""
    try:
        stored = source.stored(spec.collection)
        return stored.with_documents(stages, lambda documents: made(spec, source, documents, stages))
    except ResultsError:
        return []  # Whoever runs the pipeline says why.


def made(
    spec: PipelineSpec, source: FixtureSource, documents: Iterable[dict[str, Any]], stages: Stages
) -> Documents:
    """What stages make of documents that stand in for the collection; none where they cannot run."""
    try:
        return source.applied(documents, Query(spec.collection, tuple(stages), spec.let))
    except ResultsError:
        return []
