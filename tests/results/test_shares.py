"""A share of cases comes with the interval of the share that it stands for."""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import NormalDist

import pytest

from mongo_tables.results.calibration import Count, find_design_effect, share_of, share_of_groups


@pytest.mark.parametrize(
    ("number", "cases"), [(0, 1), (1, 1), (0, 50), (3, 50), (16, 200), (199, 200), (200, 200)]
)
def test_the_interval_is_that_of_wilson(number, cases, stats):
    known = stats.binomtest(number, cases).proportion_ci(method="wilson")
    found = share_of(number, cases)
    assert (found.number, found.share) == (number, number / cases)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_there_is_no_share_of_nothing():
    with pytest.raises(ValueError, match="no case"):
        share_of(0, 0)
    with pytest.raises(ValueError, match="no case"):
        share_of_groups([])


def test_cases_that_have_something_in_common_have_the_interval_of_fewer(stats):
    known = stats.binomtest(8, 40).proportion_ci(method="wilson")
    found = share_of(16, 80, design_effect=2.0)
    assert (found.number, found.share) == (16, 0.2)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)


def test_the_design_effect_is_that_of_rao_and_scott():
    """Of 40 groups of 10 half have 4 and half have none: a variance of 4 instead of 10 * 0.2 * 0.8."""
    groups = [Count(4, 10), Count(0, 10)] * 20
    few = (2.0227 / 1.95996) ** 2  # t of 39 degrees of freedom
    assert find_design_effect(groups) == pytest.approx(40 / 39 * 4 / 1.6 * few, rel=1e-4)


@pytest.mark.parametrize(
    ("groups", "effect"),
    [
        ([Count(1, 10)] * 1000, 1.0),  # more alike than chance would have them
        ([Count(0, 10)] * 1000, 1.0),
        ([Count(10, 10), Count(0, 10)] * 500, 10.0),  # each says one thing
        ([Count(3, 10)], 10.0),  # nothing to compare it with
        ([Count(1, 1)], 1.0),
    ],
)
def test_a_design_effect_is_from_one_to_the_size_of_a_group(groups, effect):
    assert find_design_effect(groups) == pytest.approx(effect, rel=0.01)


def draw_group(random, threshold):
    """A group as a calibration has it: of five measurements each beside the mean of two others, in two ways."""
    drawn = [random.gauss(0, 1) for _ in range(5)]
    differences = [
        (drawn[one] - (drawn[one - away] + drawn[(one + away) % 5]) / 2) / sqrt(1.5)
        for away in (1, 2)
        for one in range(5)
    ]
    return Count(sum(one > threshold for one in differences), 10)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.84])
@pytest.mark.parametrize("groups", [5, 20])
def test_of_pairs_with_windows_in_common_the_interval_holds_the_share_as_often_as_it_says(groups, share):
    random, threshold = Random(f"{groups}/{share}"), NormalDist().inv_cdf(1 - share)
    found = [share_of_groups([draw_group(random, threshold) for _ in range(groups)]) for _ in range(2000)]
    assert sum(one.low <= share <= one.high for one in found) / len(found) >= 0.93
