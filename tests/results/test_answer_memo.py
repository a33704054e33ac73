"""Answers are remembered by what they are made of."""

from __future__ import annotations

import pytest

from mongo_tables.files.memo import Memo
from mongo_tables.results.guards import is_lasting
from mongo_tables.results.model import Query


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
    assert not is_lasting(Query("runs", (stage,)))


def test_of_too_many_rows_those_used_longest_ago_are_dropped() -> None:
    memo = Memo(10)
    for name in "abc":
        memo.keep(name, [{}] * 3, 4)
        memo.find("a")
    assert [memo.find(name) is not None for name in "abc"] == [True, False, True]
    memo.keep("large", [{}] * 20, 21)
    assert memo.find("large") is None
