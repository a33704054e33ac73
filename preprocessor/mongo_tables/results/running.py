"""Runs distinct queries: one after the other, or some at the same time, none stopping another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from mongo_tables.results.model import Query, ResultsError, Rows
from mongo_tables.results.readonly import Refusal, refusals

Ask = Callable[[Query], Rows]


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


def answer_in_turn(ask: Ask, queries: Mapping[str, Query]) -> dict[str, Rows | ResultsError]:
    """The rows of each query or its error, by the same keys.

    Where the source cannot be used at all, it is asked once, and all later queries share that error.
    """
    lost: list[ResultsError] = []
    return {key: _result(lost[0] if lost else _answer(ask, query, lost)) for key, query in queries.items()}


def answer_in_threads(ask: Ask, queries: Mapping[str, Query], workers: int) -> dict[str, Rows | ResultsError]:
    """The same with at most ``workers`` queries at the same time.

    An interrupt leaves at once: the threads are daemons, and what a server still works on ends with its time limit.
    """
    import queue  # files need none

    waiting: queue.SimpleQueue[tuple[str, Query]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[str, Rows | ResultsError | BaseException]] = queue.SimpleQueue()
    lost: list[ResultsError] = []
    for item in queries.items():
        waiting.put(item)

    def serve() -> None:
        while True:
            try:
                key, query = waiting.get_nowait()
            except queue.Empty:
                return
            done.put((key, lost[0] if lost else _answer(ask, query, lost)))

    for _ in range(min(max(workers, 1), len(queries))):
        threading.Thread(target=serve, name="mongo-tables query", daemon=True).start()
    answers = dict(done.get() for _ in queries)
    return {key: _result(answers[key]) for key in queries}


def _answer(ask: Ask, query: Query, lost: list[ResultsError]) -> Rows | ResultsError | BaseException:
    try:
        return ask(query)
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


def _result(outcome: Rows | ResultsError | BaseException) -> Rows | ResultsError:
    if isinstance(outcome, BaseException) and not isinstance(outcome, ResultsError):
        raise outcome
    return outcome
