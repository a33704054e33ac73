"""Intervals hold what they promise: known values, and simulated campaigns whose truth is known."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import exp, inf, log, sqrt
from random import Random
from statistics import fmean, median, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.results.intervals import (
    Interval,
    critical_rank,
    interval,
    interval_between,
    log_ratios,
    pool,
    speed_interval,
    t_quantile,
)
from tests.results.campaigns import KINDS, simulate

TRUTH = 1.07


def campaigns(kind, blocks, number):
    random = Random(f"{kind}/{blocks}")
    return [simulate(kind, blocks, TRUTH, random) for _ in range(number)]


def coverage(kind, blocks, number):
    """The share of simulated campaigns whose interval holds the truth."""
    found = [interval(*one) for one in campaigns(kind, blocks, number)]
    return fmean(one.low <= TRUTH <= one.high for one in found)


@pytest.mark.parametrize("blocks", [5, 10, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_holds_the_truth_as_often_as_it_says(kind, blocks):
    assert coverage(kind, blocks, 200) >= 0.90


@pytest.mark.thorough
@pytest.mark.parametrize("blocks", [5, 10, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_holds_the_truth_as_often_as_it_says_in_many_campaigns(kind, blocks):
    assert coverage(kind, blocks, 2_000) >= 0.93


def until_narrow(one, least=20, most=40, width=0.06):
    """The interval of a run that goes on, block by block, until it is narrow enough."""
    for blocks in range(least, most + 1):
        found = interval(one.speeds[:blocks], one.references[:blocks])
        if found.low * (1 + width) >= found.ratio and found.high <= found.ratio * (1 + width):
            break
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_that_ended_its_run_by_being_narrow_holds_the_truth_hardly_less_often(kind):
    found = [until_narrow(one) for one in campaigns(kind, 40, 600)]
    assert fmean(one.low <= TRUTH <= one.high for one in found) >= 0.92


@pytest.mark.parametrize("blocks", [5, 20])
@pytest.mark.parametrize("kind", ["heavy-tailed", "drifting"])
def test_two_campaigns_without_a_difference_are_hardly_told_apart(kind, blocks):
    ratios = [
        [one / other for one, other in zip(*each, strict=True)] for each in campaigns(kind, blocks, 400)
    ]
    found = [interval_between(old, new) for old, new in zip(ratios[::2], ratios[1::2], strict=True)]
    assert fmean(one.p <= 0.05 for one in found) <= 0.09


def test_the_interval_of_the_signed_ranks_is_hardly_wider_than_that_of_t_and_narrower_where_it_matters():
    assert relative_width("normal") <= 1.5
    assert relative_width("heavy-tailed") < 1


def relative_width(kind):
    """The median of the widths of the intervals over 20 blocks, in that of Student's t."""
    ranks, students = [], []
    for one in campaigns(kind, 20, 100):
        logs = log_ratios(*one)
        found = interval(*one)
        ranks.append(log(found.high / found.low))
        students.append(2 * t_quantile(19) * stdev(logs) / sqrt(20))
    return median(ranks) / median(students)


@pytest.mark.parametrize("blocks", [1, 2])
def test_fewer_than_three_blocks_have_no_interval_however_alike_they_are(blocks):
    assert interval([2.0] * blocks, [1.0] * blocks) == (pytest.approx(2), 0.0, inf, blocks, 1.0)
    assert interval_between([1.0] * blocks, [2.0] * 5, least=3)[1:] == (0.0, inf, blocks, 1.0)
    assert interval([2.0] * 3, [1.0] * 3).low > 1


@pytest.mark.parametrize("blocks", [3, 5, 19])
def test_below_twenty_blocks_it_is_the_t_interval_of_the_logarithms(blocks, stats):
    (one,) = campaigns("normal", blocks, 1)
    expected = stats.ttest_1samp(log_ratios(*one), 0)
    low, high = expected.confidence_interval(0.95)
    found = interval(*one)
    assert found == pytest.approx(
        (exp(fmean(log_ratios(*one))), exp(low), exp(high), blocks, expected.pvalue), rel=1e-9
    )


@pytest.mark.parametrize("blocks", [20, 33])
def test_from_twenty_blocks_on_it_is_that_of_the_signed_ranks(blocks, stats):
    (one,) = campaigns("heavy-tailed", blocks, 1)
    logs = log_ratios(*one)
    found = interval(*one)
    averages = [(one + other) / 2 for one, other in combinations_with_replacement(logs, 2)]
    assert found.ratio == pytest.approx(exp(median(averages)))
    assert found.p == pytest.approx(stats.wilcoxon(logs, method="exact").pvalue, rel=1e-9)
    # What lies in the interval is just what the test does not reject.
    for end, inwards in ((found.low, 1e-6), (found.high, -1e-6)):
        assert stats.wilcoxon([one - log(end) - inwards for one in logs], method="exact").pvalue > 0.05
        assert stats.wilcoxon([one - log(end) + inwards for one in logs], method="exact").pvalue <= 0.05


def test_critical_ranks_are_those_of_the_printed_tables():
    """Two-sided, 5 %: the tables of Wilcoxon and Wilcox, 1964."""
    tables = {6: 0, 8: 3, 10: 8, 20: 52, 25: 89, 30: 137, 40: 264, 50: 434}
    assert {blocks: critical_rank(blocks) for blocks in tables} == tables
    with pytest.raises(ValueError, match="over 5 blocks"):
        critical_rank(5)


def test_one_block_says_nothing():
    assert interval([110], [100]) == (pytest.approx(1.1), 0.0, inf, 1, 1.0)
    assert interval_between([100], [110, 111]) == (pytest.approx(1.105, rel=1e-4), 0.0, inf, 1, 1.0)


@pytest.mark.parametrize(
    ("speeds", "references", "said"),
    [
        ([], [], "no block"),
        ([1, 0], [1, 1], "above 0"),
        ([1, 1], [-2, 1], "above 0"),
        ([inf], [1], "above 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(speeds, references, said):
    with pytest.raises(ValueError, match=said):
        interval(speeds, references)


def test_blocks_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        interval([1, 2], [1])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=2, max_size=25))
def test_the_other_way_round_it_is_the_inverse(pairs):
    speeds, references = zip(*pairs, strict=True)
    one, other = interval(speeds, references), interval(references, speeds)
    assert one.low <= one.ratio * (1 + 1e-9) and one.ratio <= one.high * (1 + 1e-9)
    assert other.ratio == pytest.approx(1 / one.ratio)
    assert other.low == pytest.approx(1 / one.high)


@settings(max_examples=50)
@given(st.lists(st.sampled_from([-0.2, -0.1, 0.0, 0.1, 0.2, 0.3]), min_size=2, max_size=25))
def test_p_is_at_most_five_per_cent_just_where_the_interval_leaves_one(logs):
    found = interval([exp(one) for one in logs], [1.0] * len(logs))
    assert (found.p <= 0.05) == (found.low > 1 or found.high < 1)


def test_unpaired_blocks_are_compared_by_welch(stats):
    random = Random(1)
    old = [exp(random.gauss(0, 0.05)) for _ in range(20)]
    new = [exp(random.gauss(0.1, 0.2)) for _ in range(12)]
    expected = stats.ttest_ind([log(one) for one in new], [log(one) for one in old], equal_var=False)
    low, high = expected.confidence_interval(0.95)
    found = interval_between(old, new)
    assert (log(found.low), log(found.high), found.p) == pytest.approx((low, high, expected.pvalue))
    assert found.blocks == 12


def test_values_that_never_vary_are_compared_exactly():
    assert interval_between([2.0, 2.0], [3.0, 3.0]) == pytest.approx((1.5, 1.5, 1.5, 2, 0.0))
    assert interval_between([2.0, 2.0], [2.0, 2.0]).p == 1.0


def test_the_speed_of_a_row_is_the_median_of_its_blocks_between_two_of_them():
    assert speed_interval([10, 50, 20, 40, 30, 60]) == (35, 10, 60)
    # Of 20 sorted values the 6th and the 15th: 95.9 %, as in printed tables.
    assert speed_interval(range(1, 21)) == (10.5, 6, 15)


def test_up_to_five_blocks_the_speed_has_the_interval_of_t(stats):
    found = speed_interval([100, 110, 90])
    low, high = stats.t.interval(
        0.95, 2, fmean(map(log, (90, 100, 110))), stdev(map(log, (90, 100, 110))) / sqrt(3)
    )
    assert found == pytest.approx((100, exp(low), exp(high)))
    assert speed_interval([100]) == (100, 0.0, inf)


@pytest.mark.parametrize("blocks", [5, 10, 20])
def test_the_interval_of_a_speed_holds_the_truth_where_blocks_are_independent(blocks):
    found = [speed_interval(one.references) for one in campaigns("heavy-tailed", blocks, 200)]
    assert fmean(one.low <= 1000 <= one.high for one in found) >= 0.90


@pytest.mark.parametrize("blocks", [5, 10, 20, 40])
def test_p_is_at_most_five_per_cent_just_where_the_interval_leaves_what_is_negligible(blocks):
    seen = set()
    for one in campaigns("normal", blocks, 100):
        for slower in (1.0, 0.97, 0.94, 0.9):
            speeds = [speed * slower for speed in one.speeds]
            found = interval(speeds, one.references, 0.02)
            beyond = found.high < 1 / 1.02 or found.low > 1.02
            assert (found.p <= 0.05) == beyond
            assert found[:3] == interval(speeds, one.references)[:3]
            assert found.p >= interval(speeds, one.references).p
            seen.add(beyond)
    assert seen == {True, False}


def test_values_that_never_vary_differ_only_by_more_than_is_negligible():
    assert interval([101.0] * 5, [100.0] * 5, 0.02).p == 1.0
    assert interval([103.0] * 5, [100.0] * 5, 0.02).p == 0.0


def test_campaigns_differ_only_where_each_does_by_more_than_is_negligible():
    alike = [Interval(1.10, 1.05, 1.15, 20, 0.001), Interval(1.06, 1.01, 1.11, 20, 0.06)]
    assert pool(alike, 0.02).p == 1.0
    assert pool([alike[0], alike[0]], 0.02).p == 0.001
    ratios = [1.04, 1.10, 1.06, 1.02, 1.08]
    several = [Interval(one, one / 1.1, one * 1.1, 20, 0.3) for one in ratios]
    assert pool(several, 0.02).p > pool(several).p


def test_few_campaigns_make_a_difference_only_where_each_does():
    alike = [Interval(1.10, 1.05, 1.15, 20, 0.001), Interval(1.06, 1.01, 1.11, 20, 0.03)]
    assert pool(alike) == (pytest.approx(sqrt(1.10 * 1.06)), 1.01, 1.15, 40, 0.03)
    undecided = Interval(1.03, 0.98, 1.08, 20, 0.2)
    assert pool([*alike, undecided])[1:] == (0.98, 1.15, 60, 1.0)
    opposed = [alike[0], Interval(0.9, 0.85, 0.95, 20, 0.001)]
    assert pool(opposed)[1:] == (0.85, 1.15, 40, 1.0)


def test_five_campaigns_are_the_sample_themselves(stats):
    ratios = [1.04, 1.10, 1.06, 1.02, 1.08]
    found = pool([Interval(one, one / 1.1, one * 1.1, 20, 0.3) for one in ratios])
    low, high = stats.t.interval(0.95, 4, fmean(map(log, ratios)), stdev(map(log, ratios)) / sqrt(5))
    assert found[:4] == pytest.approx((exp(fmean(map(log, ratios))), exp(low), exp(high), 100))
    assert found.p == pytest.approx(stats.ttest_1samp([log(one) for one in ratios], 0).pvalue)


def test_one_campaign_is_itself_and_none_is_refused():
    alone = Interval(1.1, 1.0, 1.2, 20, 0.05)
    assert pool([alone]) is alone
    with pytest.raises(ValueError, match="no campaign"):
        pool([])
