"""The queries that pages send to the results source, and the provenance in its answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mongo_tables.pages.model import Answers, Page
    from mongo_tables.results.model import Query
    from mongo_tables.results.provenance import Provenance
    from mongo_tables.specs.model import PipelineSpec


def queries(pages: Iterable[Page], *, with_sources: bool = False) -> list[Query]:
    """The distinct queries of all sound tables and charts, in the order of the pages.

    What documents they start from is asked for figures that need it in any case, and ``with_sources`` for all: where
    their rows come from is told under them, and what their columns mean in their headers.
    """
    distinct: dict[str, Query] = {}
    for page in pages:
        for spec in page.pipeline_specs:
            asked = [spec.query]
            if with_sources or spec.max_age or spec.provenance:
                asked.append(spec.source_query)
            for query in asked:
                distinct.setdefault(query.key, query)
    return list(distinct.values())


def source_answer(spec: PipelineSpec, answers: Answers) -> Provenance | None:
    """The provenance of a figure; None without result documents or without an answer of the source."""
    groups = answers.get(spec.source_query.key)
    if groups is None or isinstance(groups, ResultsError):
        return None
    from mongo_tables.results.provenance import (
        provenance_of,
    )  # a check of pages without comments does not pay for it

    return provenance_of(groups, asked=bool(spec.provenance))
