"""Asks a results source several queries, as a build does."""

from __future__ import annotations

from collections.abc import Iterable

from mongo_tables.results.answers import HeldAnswers, answer_all
from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows


def run_all(
    source: ResultsSource, queries: Iterable[Query], workers: int = 4
) -> dict[str, Rows | ResultsError]:
    """The answer to each distinct query, by its key."""
    distinct = {query.key: query for query in queries}
    try:
        source.reach()
    except ResultsError as error:
        return dict.fromkeys(distinct, error)
    held = HeldAnswers()
    held.held |= answer_all(source.aggregate, distinct, held.hold, min(workers, source.workers))
    return dict(held)
