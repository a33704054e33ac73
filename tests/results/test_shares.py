"""A share of cases comes with the interval of the share that it stands for."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from preprocessor.results.shares import share_of


@pytest.mark.parametrize(
    ("number", "cases"), [(0, 1), (1, 1), (0, 50), (3, 50), (16, 200), (199, 200), (200, 200)]
)
def test_the_interval_is_that_of_wilson(number, cases):
    known = binomtest(number, cases).proportion_ci(method="wilson")
    found = share_of(number, cases)
    assert (found.number, found.share) == (number, number / cases)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_there_is_no_share_of_nothing():
    with pytest.raises(ValueError, match="no case"):
        share_of(0, 0)
