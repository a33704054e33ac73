"""What an interval allows to be said, and how it is said."""

from __future__ import annotations

from math import inf

import pytest

from mongo_tables.results.verdicts import (
    describe,
    describe_interval,
    judge,
    list_ratios_apart,
    threshold,
)

BENJAMINI_HOCHBERG = (
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
)  # fmt: skip
"""The fifteen p-values of section 3.2 of their paper of 1995, of which the procedure rejects four."""


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.02, 1.11, "faster"),
        (0.80, 0.99, "slower"),
        (0.96, 1.04, "no difference"),
        (1 / 1.1, 1.1, "no difference"),
        (0.90, 1.04, "not known"),
        (0.96, 1.11, "not known"),
        (1.0, 1.2, "not known"),
        (0.0, inf, "not known"),
    ],
)
def test_the_interval_decides(low, high, verdict):
    assert judge(low, high) == verdict


def test_what_does_not_stand_among_the_others_is_no_difference_only_where_it_is_small():
    assert judge(1.02, 1.11, differs=False) == "not known"
    assert judge(1.02, 1.09, differs=False) == "no difference"
    assert judge(1.02, 1.09, differs=False, margin=0.05) == "not known"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.004, 1.015, "no difference"),
        (1.019, 1.2, "not known"),
        (1.021, 1.2, "faster"),
        (0.8, 0.98, "slower"),
        (0.8, 0.981, "not known"),
    ],
)
def test_what_is_negligible_is_neither_faster_nor_slower(low, high, verdict):
    assert judge(low, high, negligible=0.02) == verdict


def discoveries(ps: list[float]) -> list[bool]:
    return [p <= threshold(ps) for p in ps]


def test_benjamini_and_hochberg_reject_four_of_their_fifteen():
    assert discoveries(BENJAMINI_HOCHBERG) == [True] * 4 + [False] * 11
    assert threshold(BENJAMINI_HOCHBERG) == pytest.approx(4 * 0.05 / 15)
    assert discoveries(BENJAMINI_HOCHBERG[::-1]) == [False] * 11 + [True] * 4


def test_a_step_that_holds_carries_smaller_ones_that_did_not():
    assert discoveries([0.04, 0.049, 0.03]) == [True, True, True]
    assert discoveries([0.04, 0.06, 0.06]) == [False, False, False]
    assert discoveries([0.05]) == [True]
    assert discoveries([]) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (("faster", 1.06, 1.02, 1.11, 20), "6 % faster (2 to 11 %), 20 blocks"),
        (("slower", 0.9, 0.85, 0.95, 20), "10 % slower (5 to 15 %), 20 blocks"),
        (("slower", 0.98, 0.962, 0.997, 20), "2.0 % slower (0.3 to 3.8 %), 20 blocks"),
        (("faster", 3.21, 2.98, 3.44, 20), "3.2 times as fast (3.0 to 3.4 times), 20 blocks"),
        (("slower", 0.0412, 0.0333, 0.051, 20), "24 times slower (20 to 30 times), 20 blocks"),
        (("no difference", 1.0, 0.97, 1.035, 20), "no difference larger than 4 %, 20 blocks"),
        (("no difference", 1.0, 1 / 1.1, 1.02, 20), "no difference larger than 10 %, 20 blocks"),
        (
            ("not known", 1.01, 0.91, 1.12, 10),
            "between 9 % slower and 12 % faster, 10 blocks; judged on its own, a difference below 11 % could not have been seen",
        ),
        (
            ("not known", 1.06, 1.01, 1.12, 5),
            "at most 12 % faster, 5 blocks; among so many rows, such a difference may be chance",
        ),
        (
            ("not known", 0.576, 0.09, 3.7, 3),
            "between 12 times slower and 3.7 times faster, 3 blocks; judged on its own, a difference by a factor of less than 6.4 could not have been seen",
        ),
        (
            ("not known", 1.06, 1.01, 1.12, 5, 1, 0.02),
            "at most 12 % faster, 5 blocks; two copies of the same data on one server may differ by 2 %",
        ),
        (
            ("not known", 1.06, 0.9996, 1.12, 5),
            "at most 12 % faster, 5 blocks; judged on its own, a difference below 6 % could not have been seen",
        ),
        (("not known", 1.2, 0.0, inf, 1), "not known, 1 block"),
    ],
)
def test_a_verdict_is_said_with_what_it_rests_on(found, words):
    assert describe(*found) == words


@pytest.mark.parametrize(
    ("campaigns", "apart"),
    [
        ([], ()),
        ([(1.2, 1.1, 1.3)], ()),
        ([(1.2, 1.1, 1.3), (1.4, 1.3, 1.5)], ()),  # They touch.
        ([(1.5, 1.4, 1.6), (1.2, 1.1, 1.3)], (1.2, 1.5)),
        ([(1.2, 1.1, 1.3), (1.35, 1.25, 1.45), (1.5, 1.4, 1.6)], (1.2, 1.35, 1.5)),
    ],
)
def test_campaigns_are_apart_where_two_of_their_intervals_do_not_touch(campaigns, apart):
    assert list_ratios_apart(campaigns) == apart


@pytest.mark.parametrize(
    ("found", "apart", "words"),
    [
        (("faster", 3.0, 2.1, 4.1), (2.3, 3.8), "2.3 or 3.8 times as fast (2.1 to 4.1 times)"),
        (("faster", 2.1, 1.7, 2.6), (1.8, 2.1, 2.4), "1.8 to 2.4 times as fast (1.7 to 2.6 times)"),
        (("faster", 1.3, 1.1, 1.6), (1.15, 1.5), "15 or 50 % faster (10 to 60 %)"),
        (("slower", 0.6, 0.45, 0.8), (0.5, 0.75), "25 or 50 % slower (20 to 55 %)"),
        (("slower", 0.02, 0.01, 0.03), (0.0125, 0.025), "40 or 80 times slower (33 to 100 times)"),
        (
            ("not known", 0.8, 0.6, 1.1),
            (0.7, 0.95),
            "between 40 % slower and 10 % faster (depending on the campaign: -30 or -5 %)",
        ),
        (("no difference", 1.0, 0.96, 1.05), (0.97, 1.03), "no difference larger than 5 %"),
    ],
)
def test_campaigns_that_are_apart_are_told_with_a_ratio_each(found, apart, words):
    assert describe_interval(*found, apart) == words


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (("slower", 0.807, 0.716, 0.999), "19 % slower (0.1 to 28 %)"),
        (("faster", 1.2, 1.0003, 1.4), "20 % faster (0.03 to 40 %)"),
        (("faster", 1.03, 1.001, 1.058), "3.0 % faster (0.1 to 5.8 %)"),
    ],
)
def test_an_end_near_no_difference_gives_no_decimals_to_figures_of_two_digits(found, words):
    assert describe_interval(*found) == words
