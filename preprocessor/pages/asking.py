"""What pages ask the results source, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from preprocessor.pages.model import Answers, Page
from preprocessor.results.model import ResultsError
from preprocessor.results.opening import open_source
from preprocessor.results.provenance import provenance_of

if TYPE_CHECKING:
    from preprocessor.results.model import Query, ResultsSource
    from preprocessor.results.provenance import Provenance
    from preprocessor.specs.model import PipelineSpec

if TYPE_CHECKING:
    from preprocessor.pages.model import Answers, Page
    from preprocessor.results.model import Limits, ResultsSource


def source_for(pages: Sequence[Page], where: str, limits: Limits | None = None) -> ResultsSource | None:
    """The results source ``where``, to be closed by the caller; None when no page asks for anything.

    Raises ResultsError when there is no such source.
    """
    if not any(page.asking for page in pages):
        return None
    return open_source(where, limits)


def ask(pages: Sequence[Page], source: ResultsSource | None) -> tuple[Answers, Sequence[str]]:
    """What the results source answers to the pages' pipelines, and the collections that it has.

    Raises ResultsError when the source cannot be used at all.
    """
    if source is None:
        return {}, ()
    answers = answer(pages, source)
    try:
        return answers, source.collections()
    except ResultsError as error:
        if error.environment:
            raise
        return answers, ()  # A user may read a collection without the right to list them.


def queries(pages: Iterable[Page], *, with_sources: bool = False) -> list[Query]:
    """The distinct queries of all sound tables and charts, in the order of the pages.

    What documents they start from is asked for figures that need it in any case, and ``with_sources`` for all: where
    their rows come from is told under them, and what their columns mean in their headers.
    """
    distinct: dict[str, Query] = {}
    for page in pages:
        for spec in page.asking:
            asked = [spec.query]
            if with_sources or spec.max_age or spec.provenance:
                asked.append(spec.source_query)
            for query in asked:
                distinct.setdefault(query.key, query)
    return list(distinct.values())


def source_answer(spec: PipelineSpec, answers: Answers) -> Provenance | None:
    """The provenance of a figure; None where its documents are no results, and where nobody could be asked."""
    groups = answers.get(spec.source_query.key)
    if groups is None or isinstance(groups, ResultsError):
        return None
    return provenance_of(groups, asked=bool(spec.provenance))


def answer(pages: Sequence[Page], source: ResultsSource) -> Answers:
    """Rows, or why there are none, for every query of the pages. A source out of reach raises ``ResultsError``."""
    wanted = queries(pages)
    if not wanted:
        return {}
    from preprocessor.results.running import run_all  # and with it the evaluator

    answers = run_all(source, wanted)
    for outcome in answers.values():
        if isinstance(outcome, ResultsError) and outcome.environment:
            raise outcome
    return answers
