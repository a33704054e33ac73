"""Runs a pipeline stage by stage on a results source.

Over documents at hand each stage runs on the rows of the one before, and its own time is measured; documents that the
first ``$match`` is certain to drop are counted, not decoded, unless nothing else is left to look at. A server is
asked for each beginning of the pipeline: how many documents it gives (``$count``) and the first of them (``$limit``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from mongo_tables.aggregation import AggregationError, check
from mongo_tables.aggregation.optimizer import reorder
from mongo_tables.commands.explain.reading import operator_of
from mongo_tables.results.model import LocalDocuments, Query, ResultsError, ResultsSource, Rows

SAMPLE = 20
"""How many documents of each step are fetched from a server."""

Stages = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Step:
    """The documents at one point of the pipeline: how many, all or some of them, and how long it took.

    ``milliseconds`` is the time of the one stage before this point, or with ``from_start`` of all stages.
    """

    count: int
    rows: Rows
    milliseconds: float
    from_start: bool = False

    @property
    def complete(self) -> bool:
        """Whether ``rows`` are all documents."""
        return len(self.rows) == self.count


class Walk(Protocol):
    """A pipeline on its way through a source."""

    def steps(self) -> Iterator[Step]:
        """The collection's documents, then the documents after each stage.

        Raises ResultsError, with a path in the pipeline, at the stage that fails.
        """
        ...

    def ask(self, position: int, stages: Stages) -> Rows:
        """What ``stages`` make of the documents that the first ``position`` stages give."""
        ...


def walk(source: ResultsSource, query: Query) -> Walk:
    """The walk of a query's pipeline on ``source``."""
    return _ServerWalk(source, query) if source.local is None else _LocalWalk(source, source.local, query)


class _LocalWalk:
    def __init__(self, source: ResultsSource, local: LocalDocuments, query: Query) -> None:
        self._source = source
        self._local = local
        self._query = query
        self._steps: list[Step] = []

    def steps(self) -> Iterator[Step]:
        self._load_operators()
        rows = list(self._local.candidates(self._query))
        self._steps = [Step(self._local.count(self._query.collection), rows, 0.0)]
        yield self._steps[0]
        outcome: Rows | None = None
        for number, stage in enumerate(self._query.pipeline):
            start = self._first_replaced_sort(number)
            started = time.perf_counter()
            try:
                rows = self._local.apply_query(
                    rows if start == number else self._steps[start].rows,
                    self._query._replace(pipeline=self._query.pipeline[start : number + 1]),
                )
            except ResultsError as error:
                if (outcome := self._outcome()) is None:
                    raise _renumber_error(error, number) from None
                rows = self._each_by_itself(rows, stage)
            if outcome is not None and number == len(self._query.pipeline) - 1:
                rows = outcome
            self._steps.append(Step(len(rows), rows, _since(started)))
            yield self._steps[-1]

    def _first_replaced_sort(self, number: int) -> int:
        """The place of the first sort that the sort at ``number`` replaces; ``number`` itself where there is none.

        Of sorts in a row only the last one runs: it starts from the documents before the first of them, because what
        is equal keeps the order of those.
        """
        beginning = self._query.pipeline[: number + 1]
        if operator_of(beginning[number])[0] != "$sort":
            return number
        kept = reorder(beginning)
        earlier = max((place for place in kept if place < number and "$sort" in beginning[place]), default=-1)
        replaced = (place for place in range(earlier + 1, number) if place not in kept)
        return next(replaced, number)

    def _outcome(self) -> Rows | None:
        """What the pipeline as a whole gives; None where it fails.

        It may be sound where a stage alone is not: a ``$skip`` or a ``$limit`` behind it is moved ahead, and takes
        the documents that it would fail on.
        """
        try:
            return self._source.aggregate(self._query)
        except ResultsError:
            return None

    def _each_by_itself(self, rows: Rows, stage: Any) -> Rows:
        """What a stage makes of each document; those that it fails on stay as they are, for a later stage to drop."""
        made: list[dict[str, Any]] = []
        for row in rows:
            try:
                made += self._local.apply_query([row], self._query._replace(pipeline=(stage,)))
            except ResultsError:
                made.append(row)
        return made

    def _load_operators(self) -> None:
        """Have all modules imported before anything is timed; faults come up again at their stage."""
        with suppress(AggregationError):
            check(self._query.pipeline, variables=self._query.let)

    def ask(self, position: int, stages: Stages) -> Rows:
        step = self._steps[position]
        rows = step.rows if step.complete else self._local.documents(self._query.collection)
        return self._local.apply_query(rows, self._query._replace(pipeline=tuple(stages)))


class _ServerWalk:
    def __init__(self, source: ResultsSource, query: Query) -> None:
        self._source = source
        self._query = query

    def steps(self) -> Iterator[Step]:
        last = len(self._query.pipeline)
        for position in range(last + 1):
            started = time.perf_counter()
            try:
                # The last step is the table itself: asked for whole, it fails where the table would.
                step = self._whole(started) if position == last else self._sample(position, started)
            except ResultsError as error:
                # Without a place of its own, the error of a beginning is that of its last stage; the whole
                # pipeline may also fail at a stage whose first documents were sound.
                known = error.path is not None or position in (0, last)
                raise (error if known else _renumber_error(error, position - 1)) from None
            yield step

    def _whole(self, started: float) -> Step:
        rows = self._source.aggregate(self._query)
        return Step(len(rows), rows, _since(started), from_start=True)

    def _sample(self, position: int, started: float) -> Step:
        counted = self.ask(position, [{"$count": "n"}])
        milliseconds = _since(started)
        rows = self.ask(position, [{"$limit": SAMPLE}]) if counted else []
        return Step(int(counted[0]["n"]) if counted else 0, rows, milliseconds, from_start=True)

    def ask(self, position: int, stages: Stages) -> Rows:
        pipeline = (*self._query.pipeline[:position], *stages)
        return self._source.aggregate(self._query._replace(pipeline=pipeline))


def _renumber_error(error: ResultsError, number: int) -> ResultsError:
    """The error of a stage run alone, as one of the pipeline that it is number ``number`` of."""
    path = (number, *(error.path or ())[1:])
    return ResultsError(error.message, hint=error.hint, path=path, environment=error.environment)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
