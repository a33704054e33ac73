"""How often equal things are called different, and what slowdown is called, on windows whose truth is known."""

from __future__ import annotations

from math import sqrt
from random import Random

import pytest

from preprocessor.results.calibration import CALLED, SLOWDOWNS, calibrate
from preprocessor.results.conclusions import Pairs
from tests.results.campaigns import NOISE, simulate

EXACT = Pairs((0, 1, 2, 3), (100.0, 104.0, 98.0, 101.0), (100.0, 104.0, 98.0, 101.0))
"""Two windows of a block do the same to the last operation."""


def pair(random, ratio=1.0, kind="autocorrelated", blocks=20):
    return Pairs(tuple(range(blocks)), *map(tuple, simulate(kind, blocks, ratio, random)))


def groups_of(number, random, **given):
    return [[pair(random, **given) for _ in range(5)] for _ in range(number)]


@pytest.fixture(scope="module")
def found():
    return calibrate(groups_of(20, Random(7)))


def test_equal_things_are_seldom_called_different_and_less_often_judged_together(found):
    assert found["pairs"] == 100
    assert found["together"]["number"] <= found["alone"]["number"] <= 10
    assert found["alone"]["low"] <= 0.05 <= found["alone"]["high"]


def test_noise_is_given_as_the_spread_of_the_log_ratio_and_the_width_of_an_interval(found):
    assert found["spread"] == pytest.approx(sqrt(2) * NOISE, rel=0.05)
    assert found["half_width"] == pytest.approx(2.1 * found["spread"] / sqrt(20), rel=0.15)


@pytest.mark.parametrize("judged", ["alone", "together"])
def test_a_larger_slowdown_is_called_at_least_as_often(found, judged):
    assert [row["slowdown"] for row in found["power"]] == list(SLOWDOWNS)
    shares = [row[judged]["share"] for row in found["power"]]
    assert shares == sorted(shares)
    assert (shares[0] < 0.3, shares[-1]) == (True, 1.0)


@pytest.mark.parametrize("judged", ["alone", "together"])
def test_the_smallest_slowdown_is_the_first_that_is_called_often_enough(found, judged):
    smallest = found[f"smallest_{judged}"]
    shares = {row["slowdown"]: row[judged]["share"] for row in found["power"]}
    assert shares[smallest["slowdown"]] >= CALLED > shares[round(smallest["slowdown"] - 0.01, 2)]
    assert smallest["low"] <= smallest["slowdown"] <= smallest["high"]
    # By theory 3 standard errors of the ratio: those of an interval, and one more for 84 of 100.
    assert smallest["slowdown"] == pytest.approx(3 * sqrt(2) * NOISE / sqrt(20), abs=0.03)


def test_of_equal_rows_judged_together_one_needs_a_larger_slowdown_than_alone(found):
    assert found["smallest_alone"]["slowdown"] < found["smallest_together"]["slowdown"]


def test_what_differs_is_called_different():
    assert calibrate(groups_of(2, Random(1), ratio=0.7))["together"]["share"] == 1.0


def test_windows_without_any_noise_are_never_called_different_and_any_slowdown_is():
    found = calibrate([[EXACT]])
    assert found["alone"]["number"] == 0
    assert found["smallest_together"] == {"slowdown": 0.01, "low": 0.01, "high": None}  # one pair is no proof
    assert (found["half_width"], found["spread"]) == (0.0, 0.0)


def test_of_a_window_in_which_nothing_was_done_nothing_is_known():
    found = calibrate([[EXACT._replace(speeds=(0.0, 1.0, 1.0, 1.0))]])
    assert found["alone"]["number"] == found["power"][-1]["alone"]["number"] == 0
    assert found["smallest_alone"] == {"slowdown": None, "low": None, "high": None}
    assert (found["half_width"], found["spread"]) == (None, None)


def test_there_is_no_calibration_without_a_pair():
    with pytest.raises(ValueError, match="no case"):
        calibrate([])
