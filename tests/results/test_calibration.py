"""How often equal things are called different, and what slowdown is called, on windows whose truth is known."""

from __future__ import annotations

from math import exp, sqrt
from random import Random
from statistics import fmean

import pytest

from mongo_tables.results.calibration import (
    CALLED,
    SLOWDOWNS,
    Count,
    calibrate,
    find_ratio_of_sides,
    share_of_groups,
)
from mongo_tables.results.conclusions import Pairs, judge_together, pair_equal_rows
from mongo_tables.results.intervals import Interval, interval
from mongo_tables.results.verdicts import judge
from tests.results.blockrows import measured
from tests.results.campaigns import NOISE, simulate, simulate_alike

EXACT = Pairs((0, 1, 2, 3), (100.0, 104.0, 98.0, 101.0), (100.0, 104.0, 98.0, 101.0))
"""Two windows of a block do the same to the last operation."""


def group(random, blocks=20):
    """The ten pairs of five equal measurements of a block."""
    first, second, *others = simulate_alike("autocorrelated", blocks, 5, random)
    rows = [measured(0, first, second), *(measured(1 + size, one) for size, one in enumerate(others))]
    return pair_equal_rows(rows)


def apart(random, pairs=10, ratio=1.0, blocks=20):
    """Pairs that have windows of their own, judged together."""
    campaigns = (simulate("autocorrelated", blocks, ratio, random) for _ in range(pairs))
    return [Pairs(tuple(range(blocks)), *map(tuple, campaign)) for campaign in campaigns]


@pytest.fixture(scope="module")
def found():
    random = Random(7)
    return calibrate([group(random) for _ in range(10)])


def test_equal_things_are_seldom_called_different_and_less_often_judged_together(found):
    assert found["pairs"] == 100
    assert found["together"]["number"] <= found["alone"]["number"] <= 10
    assert found["alone"]["low"] <= 0.05 <= found["alone"]["high"]


@pytest.mark.thorough
def test_of_two_hundred_pairs_ninety_three_of_a_hundred_calibrations_call_sixteen_or_fewer_different():
    random = Random(11)
    groups = []
    for _ in range(3000):
        first, second, *others = ([exp(random.gauss(0, NOISE)) for _ in range(20)] for _ in range(5))
        rows = [measured(0, first, second), *(measured(1 + size, one) for size, one in enumerate(others))]
        groups.append(sum(interval(one.speeds, one.references).p <= 0.05 for one in pair_equal_rows(rows)))
    calibrations = [sum(random.choices(groups, k=20)) for _ in range(20_000)]
    assert 0.04 < fmean(groups) / 10 < 0.055
    assert fmean(called <= 16 for called in calibrations) == pytest.approx(0.93, abs=0.02)


def test_each_group_says_how_many_of_its_pairs_were_called_different(found):
    assert [one["pairs"] for one in found["groups"]] == [10] * 10
    for judged in ("alone", "together"):
        counts = [Count(one[judged], one["pairs"]) for one in found["groups"]]
        assert found[judged] == share_of_groups(counts)._asdict()
        assert found[judged]["design_effect"] >= 1


def test_each_group_has_what_its_verdicts_follow_from(found):
    """Whoever doubts a false alarm can judge again."""
    for group_found in found["groups"]:
        each = [Interval(one["ratio"], one["low"], one["high"], 20, one["p"]) for one in group_found["each"]]
        alone = [judge(one.low, one.high) for one in each]
        together = judge_together(each)
        counts = [sum(verdict in ("faster", "slower") for verdict in some) for some in (alone, together)]
        assert counts == [group_found["alone"], group_found["together"]]


def test_pairs_of_a_group_are_judged_together():
    noisy = EXACT._replace(
        speeds=(101.0, 106.0, 98.9, 102.2)
    )  # of which p is below 5 %, and above 5 % by ten
    alike = [EXACT._replace(speeds=(100.1, 103.9, 98.1, 100.9))] * 9
    assert calibrate([[noisy], alike])["together"]["number"] == 1
    assert calibrate([[noisy, *alike]])["together"]["number"] == 0


def test_a_slowdown_that_is_negligible_is_not_called():
    one = EXACT._replace(speeds=tuple(1.01 * speed for speed in EXACT.speeds))
    found = calibrate([[one]], negligible=0.02)
    assert found["negligible"] == 0.02
    assert found["alone"]["number"] == 1  # which is a false alarm all the same: the interval does not have 1
    # The side that was 1 % faster is called slower when it is slowed by 3 %, the other one when by 1 %.
    shares = {row["slowdown"]: row["alone"]["share"] for row in found["power"]}
    assert [shares[slowdown] for slowdown in (0.01, 0.02, 0.03)] == [0.5, 0.5, 1.0]


def test_the_ratio_of_the_sides_is_that_of_all_pairs_together():
    lower = EXACT._replace(speeds=tuple(0.9 * speed for speed in EXACT.speeds))
    told = find_ratio_of_sides([EXACT, EXACT, lower, lower])
    assert told["ratio"] == pytest.approx(sqrt(0.9))
    assert told["low"] < told["ratio"] < told["high"]
    assert find_ratio_of_sides([EXACT._replace(speeds=(0.0, 1.0, 1.0, 1.0))]) is None


def test_noise_is_given_as_the_spread_of_the_log_ratio_and_the_width_of_an_interval(found):
    assert found["spread"] == pytest.approx(sqrt(1.5) * NOISE, rel=0.05)  # of one against the mean of two
    assert found["half_width"] == pytest.approx(2.1 * found["spread"] / sqrt(20), rel=0.15)


@pytest.mark.parametrize("judged", ["alone", "together"])
def test_a_larger_slowdown_is_called_at_least_as_often(found, judged):
    assert [row["slowdown"] for row in found["power"]] == list(SLOWDOWNS)
    shares = [row[judged]["share"] for row in found["power"]]
    assert shares == sorted(shares)
    assert (shares[0] < 0.3, shares[-1]) == (True, 1.0)


@pytest.mark.parametrize(("judged", "errors"), [("alone", 3), ("together", 3.8)])
def test_the_smallest_slowdown_is_the_first_that_is_called_often_enough(found, judged, errors):
    smallest = found[f"smallest_{judged}"]
    shares = {row["slowdown"]: row[judged]["share"] for row in found["power"]}
    assert shares[smallest["slowdown"]] >= CALLED > shares[round(smallest["slowdown"] - 0.01, 2)]
    assert smallest["low"] <= smallest["slowdown"] <= smallest["high"]
    # Standard errors of the ratio by theory: those of an interval, among nine of a wider one, and 1 for 84 of 100.
    assert smallest["slowdown"] == pytest.approx(errors * sqrt(1.5) * NOISE / sqrt(20), abs=0.03)


def test_of_equal_rows_judged_together_one_needs_a_larger_slowdown_than_alone(found):
    assert found["smallest_alone"]["slowdown"] < found["smallest_together"]["slowdown"]


def test_with_five_windows_equal_things_are_called_different_as_seldom_as_with_twenty():
    random = Random(3)
    found = calibrate([apart(random, blocks=5) for _ in range(10)])
    assert found["together"]["number"] <= found["alone"]["number"] <= 10


def test_what_differs_is_called_different():
    assert calibrate([apart(Random(1), ratio=0.7)])["together"]["share"] == 1.0


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
