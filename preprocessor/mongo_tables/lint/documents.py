"""Knowledge about a collection's documents before the analysis of its pipelines.

If documents are available, the linter learns from those that pass the pipeline's first ``$match``; for benchmark
results the meaning of their fields is known. Without documents, a pipeline that is written for such results is assumed
to read them; about other documents nothing is known. The linter runs no other stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.directives.schemas import load
from mongo_tables.files.memo import Memo
from mongo_tables.lint.shape.document_shapes import learnt, read_schema_shape, select_telling
from mongo_tables.lint.shape.flow import Flow, Followed, flow_of
from mongo_tables.lint.shape.values import Shape, unknown_documents
from mongo_tables.results.model import ResultsError
from mongo_tables.results.provenance import expects_results, is_result

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.results.file_source import FileSource


Document = dict[str, Any]
Stages = Sequence[Mapping[str, Any]]

_AT_ONCE: Final = 1_000
_MOST_BEGINNINGS: Final = 200
"""The beginnings of pipelines whose documents are kept; large sites have thousands."""


@dataclass(frozen=True, slots=True)
class Passing:
    """The documents that pass a first ``$match``; unless ``complete``, a representative selection of them."""

    documents: Sequence[Document] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Begun:
    """The input of pipelines: the shape of documents, and whether it comes from real ones."""

    shape: Shape
    is_learned: bool
    followed: Followed

    def flow(self, pipeline: Stages, variables: Mapping[str, Any]) -> Flow:
        """Return the flow of a pipeline over these documents, with the variables that chose them."""
        return flow_of(pipeline, self.shape, variables, self.followed)


class Documents:
    """The documents of a results source, or none, for the rules.

    Comments share the work: documents by their first ``$match``, the shape of documents after a stage by all stages up
    to it.
    """

    def __init__(self, source: FileSource | None) -> None:
        self._source = source
        self._passing = Memo(_MOST_BEGINNINGS)
        self._begun = Memo(_MOST_BEGINNINGS)
        self._followed = Followed()

    @property
    def at_hand(self) -> bool:
        """Whether there is a source of documents."""
        return self._source is not None

    def passing(self, collection: str, match: Stages, variables: Mapping[str, Any]) -> Passing:
        """Return the documents of a collection that pass ``match``: one stage, or none."""
        key = _key(collection, match, variables)
        return self._passing.get(key, lambda: self._read(collection, match, variables))

    def of(self, spec: PipelineSpec) -> Passing:
        """Return the documents that a comment's pipeline starts from."""
        return self.passing(spec.collection, leading_match(spec.pipeline), spec.let)

    def _read(self, collection: str, match: Stages, variables: Mapping[str, Any]) -> Passing:
        if self._source is None:
            return Passing()
        count = 0

        def counted(documents: Iterable[Document]) -> Iterator[Document]:
            nonlocal count
            for document in documents:
                count += 1
                yield document

        try:
            documents = self._source.choose(collection, match)
            found = select_telling(counted(_passing(documents, match, variables)))
        except (AggregationError, ResultsError):
            return Passing()  # The run of the pipeline reports the reason.
        return Passing(found, len(found) == count)

    def texts(self, collection: str, field: str) -> frozenset[str]:
        """Return the strings that documents of a collection have in a field."""
        return self._source.texts(collection, field) if self._source else frozenset()

    def shape_of_all(self, collection: str) -> Shape:
        """Return the shape of all documents of a collection."""
        return self._learn(f"all {collection}", self.passing(collection, (), {})).shape

    def begun(self, spec: PipelineSpec) -> Begun:
        """Return the input of a comment's pipeline."""
        first = leading_match(spec.pipeline)
        found = self.passing(spec.collection, first, spec.let)
        if found.documents:
            return self._learn(_key(spec.collection, first, spec.let), found)
        taken = self._source is None and expects_results(spec.pipeline)
        shape = load_result_shape() if taken else unknown_documents()
        return Begun(shape, False, self._followed.elsewhere())

    def _learn(self, key: str, found: Passing) -> Begun:
        def begin() -> Begun:
            schema = load("result") if all(map(is_result, found.documents)) else None
            believed = all(map(_by_runner, found.documents))
            shape = learnt(found.documents, schema, believed=believed)
            return Begun(shape, True, self._followed.elsewhere())

        return self._begun.get(key, begin)


def _key(collection: str, match: Stages, variables: Mapping[str, Any]) -> str:
    return repr((collection, *match, variables))


def leading_match(pipeline: Stages) -> Stages:
    """Return the stage that chooses documents before any other: the first stage, or none."""
    return pipeline[:1] if pipeline and "$match" in pipeline[0] else ()


@cache
def load_result_shape() -> Shape:
    """Return the shape of the documents that the runner writes. Read once, for all tables."""
    return read_schema_shape(load("result"))


def _passing(
    documents: Iterable[Document], match: Stages, variables: Mapping[str, Any]
) -> Iterator[Document]:
    """Yield the documents that pass a ``$match``, in batches."""
    if not match:
        yield from documents
        return
    left = iter(documents)
    while some := list(islice(left, _AT_ONCE)):
        yield from aggregate(some, match, variables=variables)


def _by_runner(document: Mapping[str, Any]) -> bool:
    """Return whether the experiment runner wrote the document: then its schema's bounds are promises."""
    versions = document.get("versions")
    return isinstance(versions, Mapping) and "harness" in versions
