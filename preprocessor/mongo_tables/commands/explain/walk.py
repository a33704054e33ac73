"""Runs a pipeline stage by stage on a results source.

For local documents each stage runs on the rows of the previous stage, and its own time is measured; documents that
the first ``$match`` certainly drops are counted, not decoded. A server runs each prefix of the pipeline, and returns
the number of documents (``$count``) and the first of them (``$limit``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation import AggregationError, check
from mongo_tables.aggregation.optimizer import reorder
from mongo_tables.commands.explain.fields import has_path, operator_of
from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource

SAMPLE = 20
"""The number of documents of each step that are fetched from a server."""


@dataclass(frozen=True, slots=True)
class Step:
    """The documents at one point of the pipeline: their number, all or some of them, and the time.

    ``milliseconds`` is the time of the stage before this point, or with ``from_start`` of all stages.
    """

    count: int
    rows: Rows
    milliseconds: float
    from_start: bool = False

    @property
    def complete(self) -> bool:
        """Whether ``rows`` are all documents."""
        return len(self.rows) == self.count


class StageWalk:
    """A query that runs step by step. ``steps`` are the collection's documents, then those after each stage."""

    def __init__(self, source: ResultsSource, query: Query) -> None:
        self.steps: list[Step] = []
        self._source = source
        self._query = query

    def run(self) -> ResultsError | None:
        """Fill ``steps``. Return the error of the failing stage, with a path in the pipeline.

        Raises ResultsError for an unusable source.
        """
        local: FileSource | None = self._source.local
        try:
            for step in self._server_steps() if local is None else self._local_steps(local):
                self.steps.append(step)
        except ResultsError as error:
            if error.environment:
                raise
            return error
        return None

    def ask(self, position: int, stages: Sequence[Any]) -> Rows:
        """Run ``stages`` on the documents after the first ``position`` stages."""
        local: FileSource | None = self._source.local
        if local is None:
            return self._source.aggregate(self._with_stages(*self._query.pipeline[:position], *stages))
        step = self.steps[position]
        rows = step.rows if step.complete else local.documents(self._query.collection)
        return local.apply_query(rows, self._with_stages(*stages))

    def may_have(self, position: int, path: str) -> bool:
        """Return whether a document at ``position`` may have the path; true if the source does not answer."""
        step, parts = self.steps[position], path.split(".")
        if any(has_path(row, parts) for row in step.rows):
            return True
        if step.complete:
            return False
        try:
            found = self.ask(
                position, [{"$match": {path: {"$exists": True}}}, {"$limit": 1}, {"$project": {"_id": 1}}]
            )
        except ResultsError:
            return True
        return bool(found)

    def _with_stages(self, *stages: Any) -> Query:
        return replace(self._query, pipeline=stages)

    def _local_steps(self, local: FileSource) -> Iterator[Step]:
        pipeline = self._query.pipeline
        with suppress(AggregationError):
            # It comes up again at its stage. This imports operators before any is timed.
            check(pipeline, variables=self._query.let)
        rows = list(local.candidates(self._query))
        yield Step(len(local.documents(self._query.collection)), rows, 0.0)
        outcome: Rows | None = None
        for number, stage in enumerate(pipeline):
            start = self._first_replaced_sort(number)
            started = time.perf_counter()
            try:
                rows = local.apply_query(
                    rows if start == number else self.steps[start].rows,
                    self._with_stages(*pipeline[start : number + 1]),
                )
            except ResultsError as error:
                # A stage may fail alone but not in the pipeline: a later ``$skip`` or ``$limit`` moves ahead of it,
                # and removes the documents on which it would fail.
                try:
                    outcome = self._source.aggregate(self._query)
                except ResultsError:
                    raise _renumber_error(error, number) from None
                rows = self._apply_to_each(local, rows, stage)
            if outcome is not None and number == len(pipeline) - 1:
                rows = outcome
            yield Step(len(rows), rows, _since(started))

    def _first_replaced_sort(self, number: int) -> int:
        """Return the position of the first sort that the sort at ``number`` replaces, or ``number``.

        Of adjacent sorts only the last one runs. It starts from the documents before the first of them, because equal
        documents keep that order.
        """
        beginning = self._query.pipeline[: number + 1]
        if operator_of(beginning[number])[0] != "$sort":
            return number
        kept = reorder(beginning)
        earlier = max((place for place in kept if place < number and "$sort" in beginning[place]), default=-1)
        return next((place for place in range(earlier + 1, number) if place not in kept), number)

    def _apply_to_each(self, local: FileSource, rows: Rows, stage: Any) -> Rows:
        """Apply a stage to each document. Those on which it fails stay unchanged, for a later stage to drop."""
        made: Rows = []
        for row in rows:
            try:
                made += local.apply_query([row], self._with_stages(stage))
            except ResultsError:
                made.append(row)
        return made

    def _server_steps(self) -> Iterator[Step]:
        last = len(self._query.pipeline)
        for position in range(last + 1):
            started = time.perf_counter()
            try:
                if position == last:  # the table itself runs as a whole, and fails as the table would
                    rows = self._source.aggregate(self._query)
                    yield Step(len(rows), rows, _since(started), from_start=True)
                    return
                counted = self.ask(position, [{"$count": "n"}])
                milliseconds = _since(started)
                rows = self.ask(position, [{"$limit": SAMPLE}]) if counted else []
            except ResultsError as error:
                # The error of a prefix without a path is that of its last stage; the whole pipeline may also fail at
                # a stage whose first documents are valid.
                known = error.path is not None or position in (0, last)
                raise (error if known else _renumber_error(error, position - 1)) from None
            yield Step(int(counted[0]["n"]) if counted else 0, rows, milliseconds, from_start=True)


def _renumber_error(error: ResultsError, number: int) -> ResultsError:
    """Return the error of a stage that ran on its own as that of stage ``number`` of the pipeline."""
    path = (number, *(error.path or ())[1:])
    return ResultsError(error.message, hint=error.hint, path=path, environment=error.environment)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
