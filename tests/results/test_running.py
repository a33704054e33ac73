"""Many queries at once: each once, in order, and an interrupt is obeyed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterable

import pytest

from mongo_tables.results.answers import HeldAnswers, answer_all
from mongo_tables.results.model import Query, ResultsError, Rows
from tests.signals import heed_signals


class Scripted:
    """A results source that answers by a query's first `$limit`: the smaller, the later."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def aggregate(self, query: Query) -> Rows:
        number = int(query.pipeline[0]["$limit"])
        self.asked.append(number)
        time.sleep(0.02 / number)
        if number == 13:
            raise ResultsError("the server went away", environment=True)
        if number == 14:
            raise ZeroDivisionError("a defect")
        return [{"n": number}]


def run_all(source: Scripted, queries: Iterable[Query], workers: int = 4) -> dict[str, Rows | ResultsError]:
    distinct = {query.key: query for query in queries}
    held = HeldAnswers()
    held.held |= answer_all(source.aggregate, distinct, held.hold, workers)
    return dict(held)


def limit(number: int) -> Query:
    return Query("results", ({"$limit": number},))


def test_each_distinct_query_is_asked_once_and_answers_keep_their_order():
    source, queries = Scripted(), [limit(number) for number in (1, 5, 2, 5, 1, 9)]
    answers = run_all(source, queries)
    assert sorted(source.asked) == [1, 2, 5, 9]
    assert list(answers.items()) == [(limit(number).key, [{"n": number}]) for number in (1, 5, 2, 9)]


def test_after_the_source_is_lost_nothing_more_is_asked():
    source = Scripted()
    answers = run_all(source, [limit(number) for number in (13, 1, 2, 3)], workers=1)
    assert source.asked == [13]
    assert {str(answer) for answer in answers.values()} == {"the server went away"}


def test_a_defect_is_not_lost_in_a_worker():
    with pytest.raises(ZeroDivisionError):
        run_all(Scripted(), [limit(14)])


def test_no_queries_give_no_answers_and_reach_for_nothing():
    assert run_all(Scripted(), []) == {}


def test_the_key_is_of_the_content_alone():
    assert limit(1).key == limit(1).key
    keys = {
        limit(1).key,
        limit(2).key,
        Query("other", ({"$limit": 1},)).key,
        Query("results", ({"$limit": 1.0},)).key,
    }
    assert len(keys) == 4
    assert Query("r", ({"$sort": {"a": 1, "b": 1}},)).key != Query("r", ({"$sort": {"b": 1, "a": 1}},)).key


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
def test_what_no_server_takes_has_a_key_too(text: str):
    keys = {
        Query("r", ({"$match": {name: value}},)).key for name, value in ((text, 1), ("a", text), ("a", 1))
    }
    assert len(keys) == 3


def test_an_interrupt_does_not_wait_for_a_slow_server():
    program = """
import socket
from mongo_tables.results import Limits, Query
from mongo_tables.results.answers import Answers
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen()
print("asking", flush=True)
where = f"mongodb://127.0.0.1:{listener.getsockname()[1]}"
Answers(where, Limits(connect_ms=600_000)).answer({"key": Query("results", ())})
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=200)
        assert "KeyboardInterrupt" in said
