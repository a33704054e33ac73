"""Runs the queries of all pages: each distinct one once, some at the same time, none stopping another."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows
from mongo_tables.results.readonly import Refusal, refusals


def guard(query: Query) -> None:
    """Raise ``ResultsError`` for a query that writes, runs code or reads server state; called by every
    source.
    """
    for refusal in refusals(query.pipeline):
        raise _refuse(refusal, refusal.path)
    for refusal in refusals(query.let):
        raise _refuse(refusal, None)


def _refuse(refusal: Refusal, path: tuple[str | int, ...] | None) -> ResultsError:
    return ResultsError(
        refusal.message, hint=refusal.hint or "nothing was sent to the results source", path=path
    )


def run_all(
    source: ResultsSource, queries: Iterable[Query], workers: int = 4, *, reached: bool = False
) -> dict[str, Rows | ResultsError]:
    """Rows or the error of every distinct query, by ``query.key``, in the order of first appearance.

    At most ``workers`` queries (and never more than the source asks for) run at the same time; a source that
    asks for one is its own work, and needs no thread. A source that cannot be reached is asked once; all queries
    then share that error. One that was ``reached`` already is not tried. An interrupt leaves at once: the threads are
    daemons, and what a server still works on ends with its time limit.
    """
    distinct = {query.key: query for query in queries}
    if not distinct:
        return {}
    try:
        if not reached:
            source.reach()
    except ResultsError as error:
        return dict.fromkeys(distinct, error)
    work = list(distinct.items())
    if source.workers == 1:
        return _run_here(source, work)
    answers = _run(source, work, max(1, min(workers, source.workers)))
    return {key: answers[key] for key in distinct}


def _run_here(source: ResultsSource, work: Sequence[tuple[str, Query]]) -> dict[str, Rows | ResultsError]:
    lost: list[ResultsError] = []
    answered = ((key, lost[0] if lost else _answer(source, query, lost)) for key, query in work)
    return dict(map(_unpack, answered))


def _run(
    source: ResultsSource, work: Sequence[tuple[str, Query]], workers: int
) -> dict[str, Rows | ResultsError]:
    import queue  # one worker needs none

    waiting: queue.SimpleQueue[tuple[str, Query]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[str, Rows | ResultsError | BaseException]] = queue.SimpleQueue()
    lost: list[ResultsError] = []
    for item in work:
        waiting.put(item)

    def serve() -> None:
        while True:
            try:
                key, query = waiting.get_nowait()
            except queue.Empty:
                return
            done.put((key, lost[0] if lost else _answer(source, query, lost)))

    for _ in range(min(workers, len(work))):
        threading.Thread(target=serve, name="mongo-tables query", daemon=True).start()
    return dict(_unpack(done.get()) for _ in work)


def _answer(
    source: ResultsSource, query: Query, lost: list[ResultsError]
) -> Rows | ResultsError | BaseException:
    try:
        return source.aggregate(query)
    except ResultsError as error:
        if error.environment:
            lost.append(error)
        return error
    except MemoryError:
        return ResultsError(
            "the memory of this machine, or what it allows, is not enough for this pipeline",
            hint="let it hold less, or lower memory_limit, so that the stage at fault is named",
            environment=True,
        )
    except BaseException as error:  # a defect of ours: handed to the caller's thread, never lost in a worker
        return error


def _unpack(
    answer: tuple[str, Rows | ResultsError | BaseException],
) -> tuple[str, Rows | ResultsError]:
    key, outcome = answer
    if isinstance(outcome, BaseException) and not isinstance(outcome, ResultsError):
        raise outcome
    return key, outcome
