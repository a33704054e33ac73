"""Answers are remembered by what they are made of."""

from __future__ import annotations

import pytest

from mongo_tables.results.answer_memo import AnswerMemo
from mongo_tables.results.model import Query, ResultsError

ALL = Query("runs", ())


def test_an_answer_is_that_to_the_same_query_about_the_same_content() -> None:
    memo = AnswerMemo()
    memo.put(ALL, ("a",), [{"n": 1}])
    assert memo.get(ALL, ("a",)) == [{"n": 1}]
    assert memo.get(ALL, ("b",)) is None
    assert memo.get(Query("runs", ({"$limit": 1},)), ("a",)) is None


def test_an_error_is_an_answer_and_so_are_no_rows() -> None:
    memo, error = AnswerMemo(), ResultsError("no")
    memo.put(ALL, ("a",), error)
    memo.put(ALL, ("b",), [])
    assert memo.get(ALL, ("a",)) is error
    assert memo.get(ALL, ("b",)) == []


@pytest.mark.parametrize(
    "stage",
    [
        {"$set": {"at": "$$NOW"}},
        {"$set": {"at": "$$CLUSTER_TIME"}},
        {"$set": {"n": {"$rand": {}}}},
        {"$sample": {"size": 1}},
    ],
)
def test_what_reads_the_clock_or_draws_at_random_is_not_kept(stage: dict[str, object]) -> None:
    memo, query = AnswerMemo(), Query("runs", (stage,))
    memo.put(query, ("a",), [{"n": 1}])
    assert memo.get(query, ("a",)) is None


def test_of_too_many_rows_those_used_longest_ago_are_dropped() -> None:
    memo = AnswerMemo(most_rows=10)
    for name in "abc":
        memo.put(ALL, (name,), [{}] * 3)
        memo.get(ALL, ("a",))
    assert [memo.get(ALL, (name,)) is not None for name in "abc"] == [True, False, True]
    memo.put(ALL, ("large",), [{}] * 20)
    assert memo.get(ALL, ("large",)) is None
