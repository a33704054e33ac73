"""Standard deviations as the server computes them: Welford's method, value by value, in doubles."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from mongo_tables.aggregation.numbers import rank, to_double
from mongo_tables.aggregation.summation import plain


class Spread:
    """Count, mean and sum of squared distances of the numbers seen so far."""

    __slots__ = ("count", "mean", "squares")

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0

    def add(self, value: float) -> None:
        """Takes one more number in."""
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.squares += delta * (value - self.mean)

    def deviation(self, *, sample: bool) -> float | None:
        """The standard deviation of a population or a sample; None for too few numbers."""
        count = self.count - 1 if sample else self.count
        if count <= 0:
            return None
        return plain(math.sqrt(self.squares / count))


def standard_deviation(values: Iterable[Any], *, sample: bool) -> float | None:
    """The standard deviation of the numbers among ``values``."""
    spread = Spread()
    for value in values:
        if rank(value):
            spread.add(to_double(value))
    return spread.deviation(sample=sample)
