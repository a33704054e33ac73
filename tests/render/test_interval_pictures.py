"""The small picture of a comparison beside its words."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from mongo_tables.render.conclusions import Conclusion, interval_picture


def concluded(ratio, low=None, high=None, verdict="slower"):
    interval = None if low is None else (Decimal(str(low)), Decimal(str(high)))
    number = None if ratio is None else Decimal(str(ratio))
    return Conclusion(number, interval, 20, Decimal("0.1"), "1", verdict)


def places(picture):
    """From the left: where the interval begins, its dot, where it ends; and the line of no difference."""
    (low, high), (dot,), (one,) = (
        re.findall(pattern, picture)
        for pattern in (r"(?:range\" d=\"M|H)([\d.]+)", r'cx="([\d.]+)"', r'__one" d="M([\d.]+)')
    )
    return float(low), float(dot), float(high), float(one)


def test_equal_factors_are_equal_distances_from_no_difference():
    low, dot, high, one = places(interval_picture(concluded(1, 0.5, 2)))
    assert (dot, one) == (48, 48)
    assert one - low == pytest.approx(high - one)
    slower, faster = (places(interval_picture(concluded(ratio, ratio, ratio)))[1] for ratio in (0.8, 1.25))
    assert slower + faster == pytest.approx(96, abs=0.2)


def test_what_lies_beyond_the_scale_ends_in_an_arrow_at_its_end():
    low, dot, high, _ = places(interval_picture(concluded(0.1, 0.01, 0.3)))
    assert low < dot < high
    assert interval_picture(concluded(0.1, 0.01, 0.3)).count("l-3 3l3 3") == 1
    assert "l3 3l-3 3" in interval_picture(concluded(9, 2, 30, "faster"))


def test_the_arrow_of_what_lies_beyond_stands_clear_of_a_dot_at_the_end_of_the_scale():
    picture = interval_picture(concluded(0.02, 0.01, 0.03))
    low, dot, _, _ = places(picture)
    tip, radius = low, float(re.search(r' r="([\d.]+)"', picture)[1])
    assert tip > 0
    assert tip + 3 < dot - radius


def test_campaigns_that_do_not_agree_have_a_dot_each():
    one = concluded(1.4, 1.1, 2, "faster")._replace(apart=(Decimal("1.2"), Decimal("1.8")))
    dots = re.findall(r'cx="([\d.]+)"', interval_picture(one))
    alone = [places(interval_picture(concluded(ratio, 1.1, 2, "faster")))[1] for ratio in (1.2, 1.8)]
    assert [float(dot) for dot in dots] == alone


def test_without_an_interval_there_is_no_picture():
    assert interval_picture(concluded(None, verdict="not known")) == ""
    assert interval_picture(concluded(0.5)) == ""


def test_it_is_left_out_by_screen_readers_and_named_by_its_verdict():
    picture = interval_picture(concluded(1.01, 0.99, 1.03, "no difference"))
    assert 'aria-hidden="true"' in picture
    assert "mongo-interval--no-difference" in picture


def test_an_interval_beyond_one_end_of_the_scale_has_one_arrow_there():
    assert interval_picture(concluded(10, 9, 12, "faster")).count("l3 3l-3 3") == 1
    assert "l-3 3l3 3" not in interval_picture(concluded(10, 9, 12, "faster"))


def test_the_scale_is_marked_at_each_doubling():
    marks = [float(at) for at in re.findall(r"M([\d.]+) 14v-2", interval_picture(concluded(1, 0.5, 2)))]
    assert marks == [10, 22.7, 35.3, 60.7, 73.3, 86]


def test_who_points_at_it_is_told_the_blocks_and_search_engines_are_not():
    picture = interval_picture(concluded(1.03, 0.84, 1.26, "not known"))
    assert (
        'title="between 16\u00a0% slower and 26\u00a0% faster, 20 blocks; judged on its own, a difference below'
        in picture
    )
    assert not re.sub(r"<[^>]*>", "", picture)
