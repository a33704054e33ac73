"""Accumulators, windows, gaps: properties that hold whatever the documents are."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

import pytest
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate

NUMBERS = st.lists(st.integers(-100, 100), min_size=1, max_size=25)


def documents(numbers: list[int]) -> list[dict[str, Any]]:
    """A document for each number."""
    return [{"_id": place, "v": number} for place, number in enumerate(numbers)]


def grouped(accumulator: dict[str, Any], numbers: list[int]) -> Any:
    """What an accumulator gives over the numbers."""
    return aggregate(documents(numbers), [{"$group": {"_id": None, "r": accumulator}}])[0]["r"]


def windowed(function: dict[str, Any], rows: list[dict[str, Any]], by: str = "_id") -> list[Any]:
    """What a window function gives for each document."""
    stage = {"$setWindowFields": {"sortBy": {by: 1}, "output": {"r": function}}}
    return [row["r"] for row in aggregate(rows, [stage])]


@given(NUMBERS)
def test_a_deviation_is_that_of_the_textbook(numbers: list[int]) -> None:
    assert grouped({"$stdDevPop": "$v"}, numbers) == pytest.approx(statistics.pstdev(numbers), abs=1e-9)


@given(NUMBERS, st.integers(1, 6))
def test_the_n_least_are_the_head_of_the_sorted_numbers(numbers: list[int], n: int) -> None:
    assert grouped({"$minN": {"n": n, "input": "$v"}}, numbers) == sorted(numbers)[:n]
    assert grouped({"$maxN": {"n": n, "input": "$v"}}, numbers) == sorted(numbers, reverse=True)[:n]


@given(NUMBERS, st.integers(-3, 3), st.integers(0, 4))
def test_a_moving_sum_of_integers_is_the_sum_of_its_window(numbers: list[int], low: int, width: int) -> None:
    found = windowed({"$sum": "$v", "window": {"documents": [low, low + width]}}, documents(numbers))
    ends = [(max(place + low, 0), max(place + low + width + 1, 0)) for place in range(len(numbers))]
    assert found == [sum(numbers[first:last]) for first, last in ends]


@given(NUMBERS, st.integers(-3, 3), st.integers(0, 4))
def test_moving_extremes_are_those_of_the_window(numbers: list[int], low: int, width: int) -> None:
    window = {"documents": [low, low + width]}
    ends = [(max(place + low, 0), max(place + low + width + 1, 0)) for place in range(len(numbers))]
    inside = [numbers[first:last] for first, last in ends]
    assert windowed({"$min": "$v", "window": window}, documents(numbers)) == [
        min(part, default=None) for part in inside
    ]
    assert windowed({"$push": "$v", "window": window}, documents(numbers)) == inside


@given(NUMBERS, st.integers(-5, 0), st.integers(0, 5))
def test_a_range_holds_what_is_near_in_value(numbers: list[int], low: int, high: int) -> None:
    rows = documents(sorted(numbers))
    found = windowed({"$count": {}, "window": {"range": [low, high]}}, rows, by="v")
    assert found == [sum(row["v"] + low <= other["v"] <= row["v"] + high for other in rows) for row in rows]


@given(NUMBERS, st.floats(0, 1))
def test_a_percentile_leaves_that_part_at_or_below_it(numbers: list[int], part: float) -> None:
    (found,) = grouped({"$percentile": {"input": "$v", "p": [part], "method": "approximate"}}, numbers)
    assert found in map(float, numbers)
    assert sum(number <= found for number in numbers) >= part * len(numbers)


@given(st.sets(st.integers(0, 60), min_size=1, max_size=8), st.integers(1, 5))
def test_densified_numbers_have_no_gap_wider_than_the_step(numbers: set[int], step: int) -> None:
    rows = [{"v": number} for number in numbers]
    stage = {"$densify": {"field": "v", "range": {"step": step, "bounds": "full"}}}
    values = [row["v"] for row in aggregate(rows, [stage])]
    assert set(numbers) <= set(values) and values == sorted(values)
    assert all(after - before <= step for before, after in pairwise(values))


@given(st.lists(st.none() | st.integers(0, 9), max_size=12))
def test_filling_forward_leaves_nulls_only_before_the_first_value(numbers: list[int | None]) -> None:
    rows = [{"_id": place, "v": number} for place, number in enumerate(numbers)]
    stage = {"$fill": {"sortBy": {"_id": 1}, "output": {"v": {"method": "locf"}}}}
    values = [row["v"] for row in aggregate(rows, [stage])]
    first = next((place for place, number in enumerate(numbers) if number is not None), len(numbers))
    assert all(value is None for value in values[:first])
    assert all(value is not None for value in values[first:])


@pytest.mark.parametrize(
    ("output", "path"),
    [
        ({"$sum": "$v", "window": {"documents": [1, 0]}}, ("window", "documents")),
        ({"$nothing": "$v"}, ("$nothing",)),
        ({"$rank": {}, "window": {}}, ("$rank",)),
        ({"$expMovingAvg": {"input": "$v", "alpha": 2}}, ("$expMovingAvg", "alpha")),
        ({"$integral": {"input": "$v", "unit": "month"}}, ("$integral", "unit")),
    ],
)
def test_a_window_that_cannot_be_is_told_with_its_place(output: Any, path: tuple[Any, ...]) -> None:
    with pytest.raises(AggregationError) as raised:
        windowed(output, [])
    assert raised.value.path == (0, "$setWindowFields", "output", "r", *path)


def test_a_mean_that_depends_on_the_engine_of_the_server_is_refused() -> None:
    pipeline = [{"$group": {"_id": None, "mean": {"$avg": "$n"}}}]
    rows = [{"n": Int64(2**63 - 1)}, {"n": Int64(-(2**63))}]
    with pytest.raises(NotOffline, match="depends on the engine"):
        aggregate(rows, pipeline)
    assert aggregate([*rows, {"n": 4}], pipeline) == [{"_id": None, "mean": 1.0}]
