"""Changes of a series are found where they are, and seldom where there are none."""

from __future__ import annotations

from math import exp, log
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.results.history import find_change_points
from tests.results.annotations import f1


def places(values, significance=0.001):
    return [one.place for one in find_change_points(values, significance)]


def draw(random, levels, each, noise=1.0, alike=0.0):
    """So many values of each level, of which neighbours are alike by so much."""
    found, rest = [], 0.0
    for level in levels:
        for _ in range(each):
            rest = alike * rest + random.gauss(0, noise * (1 - alike**2) ** 0.5)
            found.append(level + rest)
    return found


@pytest.mark.parametrize("levels", [(0, 8), (0, 8, 16, 8), (0, 8, 0)])
@pytest.mark.parametrize("each", [20, 100])
def test_changes_of_several_times_the_noise_are_found_where_they_are(each, levels):
    random, truth = Random(each), [each * number for number in range(1, len(levels))]
    series = [places(draw(random, levels, each)) for _ in range(20)]
    found = [one for one in series if len(one) == len(truth)]
    assert len(found) >= 18
    assert all(abs(one - true) <= 1 for some in found for one, true in zip(some, truth, strict=True))


@pytest.mark.parametrize("count", [5, 10, 20, 50, 100])
def test_where_nothing_changes_a_change_is_found_as_seldom_as_asked(count):
    random = Random(count)
    assert fmean(bool(places(draw(random, [0], count), 0.05)) for _ in range(200)) <= 0.08


@pytest.mark.parametrize("count", [10, 20, 50])
@pytest.mark.parametrize("alike", [0.3, 0.6])
def test_neighbours_that_are_alike_are_seldom_taken_for_a_change(count, alike):
    random = Random(f"{count}/{alike}")
    assert fmean(bool(places(draw(random, [0], count, alike=alike))) for _ in range(100)) <= 0.05


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [1.0] * 50, [1.0, 1.0, 9.0, 9.0]])
def test_few_or_equal_values_have_no_change(values):
    assert places(values) == []


def test_a_step_without_any_noise_is_found():
    assert places([1.0] * 5 + [2.0] * 5) == [5]


def test_one_value_alone_is_no_level():
    random = Random(2)
    values = draw(random, [0], 40)
    values[20] = 30.0
    assert len(places(values)) == 0


@given(st.lists(st.floats(-1e6, 1e6), max_size=40), st.floats(0.1, 100), st.floats(-100, 100))
def test_places_are_in_order_within_the_series_and_do_not_depend_on_the_unit(values, unit, origin):
    found = find_change_points([round(one, 3) for one in values])
    assert [one.place for one in found] == sorted({one.place for one in found})
    assert all(2 <= one.place <= len(values) - 2 and 0 <= one.p <= 0.001 for one in found)


def test_changes_of_ten_thousand_points_are_found():
    assert len(places(draw(Random(1), [0, 3] * 5, 1000))) == 9


def test_a_perfect_answer_has_an_f1_of_one():
    assert f1({"a": [10, 50], "b": [10, 50]}, [12, 48]) == 1.0
    assert f1({"a": []}, [40]) == pytest.approx(2 / 3)


def test_generated_series_of_known_truth_are_annotated_nearly_as_they_are():
    random, scores = Random(7), []
    for _ in range(60):
        levels = [exp(random.uniform(-0.5, 0.5)) for _ in range(random.randint(1, 5))]
        truth = [30 * number for number in range(1, len(levels))]
        values = draw(random, list(map(log, levels)), 30, noise=0.05, alike=0.2)
        scores.append(f1({"truth": truth}, places(values)))
    assert fmean(scores) > 0.9
