"""States for moving windows, from which values are taken out again.

Sums are not added anew: what leaves is subtracted, and the last bit tells. The steps are the server's
(its RemovableSum, WindowFunctionStdDev and WindowFunctionCovariance).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

from mongo_tables.aggregation.expressions.arithmetic import divide, multiply, subtract
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    decimal128,
    integer,
    is_nan,
    rank,
    to_decimal,
    to_double,
)
from mongo_tables.aggregation.summation import MixedSum, half_away
from mongo_tables.aggregation.values import INT64_MAX, INT64_MIN, is_nullish


class RemovableSum:
    """A sum; infinities and NaN are only counted, so that they can leave again."""

    def __init__(self) -> None:
        self._sum = MixedSum()
        self._counts = {"nan": 0, "inf": 0, "-inf": 0}
        self._of_rank = {DOUBLE: 0, DECIMAL: 0}

    def add(self, value: Any) -> None:
        """Takes a value in; what is no number counts nothing."""
        self._update(value, 1)

    def remove(self, value: Any) -> None:
        """Takes a value out."""
        self._update(value, -1)

    def _update(self, value: Any, sign: int) -> None:
        kind = rank(value)
        if not kind:
            return
        if kind in self._of_rank:
            self._of_rank[kind] += sign
            special = _special(value)
            if special:
                self._counts[special] += sign
                return
        if kind == DECIMAL:
            exact = value.to_decimal()
            self._sum.add(decimal128(exact if sign > 0 else exact.copy_negate()))
        elif kind == DOUBLE:
            self._sum.add(value * sign)
        elif value == INT64_MIN and sign < 0:
            self._sum.add(Int64(INT64_MAX), 1)
        else:
            self._sum.add(value if sign > 0 else type(value)(-value))

    def result(self) -> Any:
        """The sum, in the widest type that is in the window."""
        special = self._special_result()
        if special is not None:
            return decimal128(Decimal(special)) if self._of_rank[DECIMAL] else special
        value = self._sum.value
        kind = rank(value)
        if kind == DECIMAL and not self._of_rank[DECIMAL]:
            return self._narrow_type(to_decimal(value))
        if kind == DOUBLE and not self._of_rank[DOUBLE] and INT64_MIN < value < INT64_MAX:  # type: ignore[operator]
            return integer(half_away(value))  # type: ignore[arg-type]
        return value if kind in (DOUBLE, DECIMAL) else integer(int(value))  # type: ignore[arg-type]

    def _special_result(self) -> float | None:
        counts = self._counts
        if counts["nan"] > 0 or (counts["inf"] > 0 and counts["-inf"] > 0):
            return math.nan
        if counts["inf"] > 0:
            return math.inf
        return -math.inf if counts["-inf"] > 0 else None

    def _narrow_type(self, value: Decimal) -> Any:
        if self._of_rank[DOUBLE] > 0 or not INT64_MIN <= value <= INT64_MAX:
            return float(value)
        return integer(int(value.to_integral_value()))


def _special(value: Any) -> str:
    number = to_decimal(value)
    if number.is_nan():
        return "nan"
    if number.is_infinite():
        return "inf" if number > 0 else "-inf"
    return ""


class RemovableAverage(RemovableSum):
    """A mean, None while there are no numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = 0

    def _update(self, value: Any, sign: int) -> None:
        if rank(value):
            super()._update(value, sign)
            self._numbers += sign

    def result(self) -> Any:
        """The mean: a double, or a Decimal128."""
        if not self._numbers:
            return None
        total = super().result()
        if rank(total) != DECIMAL:
            return to_double(total) / self._numbers
        return decimal128(CONTEXT.divide(to_decimal(total), Decimal(self._numbers)))


class RemovableDeviation:
    """A standard deviation, by the sum of squared distances."""

    def __init__(self, *, sample: bool) -> None:
        self._sample = sample
        self._reset()

    def _reset(self) -> None:
        self._count = self._not_finite = 0
        self._sum, self._squares = MixedSum(), MixedSum()

    def add(self, value: Any) -> None:
        """Takes a value in; what is no number counts nothing."""
        self._update(value, 1)

    def remove(self, value: Any) -> None:
        """Takes a value out."""
        self._update(value, -1)

    def _update(self, value: Any, sign: int) -> None:
        if not rank(value):
            return
        if rank(value) in (DOUBLE, DECIMAL) and _special(value):
            self._not_finite += sign
            self._count += sign
        elif self._count == 0:
            self._count += 1
            self._sum.add(value)
        elif self._count + sign == 0:
            self._reset()
        else:
            number = to_double(value)
            distance = self._count * number - to_double(self._sum.value)
            self._count += sign
            self._sum.add(number * sign)
            self._squares.add(distance * distance * sign / (self._count * (self._count - sign)))

    def result(self) -> Any:
        """The deviation; None for too few numbers and while infinities or NaN are in."""
        if self._not_finite > 0:
            return None
        count = self._count - 1 if self._sample else self._count
        if count == 0 or self._count == 0:
            return None
        squares = to_double(self._squares.value)
        if squares < 0 or (not self._sample and self._count == 1):
            # Rounding has made it negative: the nearest value that can be is 0.
            self._squares = MixedSum()
            return 0
        return math.sqrt(squares / count)


class RemovableCovariance:
    """The covariance of pairs, from running means."""

    def __init__(self, *, sample: bool) -> None:
        self._sample = sample
        self._reset()

    def _reset(self) -> None:
        self._count = 0
        self._mean_x, self._mean_y = RemovableAverage(), RemovableAverage()
        self._products = RemovableSum()

    def add(self, value: Any) -> None:
        """Takes a pair in; what is no pair of numbers counts nothing."""
        if not _is_pair(value):
            return
        if any(_special(item) for item in value):
            self._products.add(_special_of_pair(value))
            return
        x, y = value
        self._count += 1
        from_x = subtract(x, self._mean_x.result())
        self._mean_x.add(x)
        self._mean_y.add(y)
        self._products.add(_product(from_x, subtract(y, self._mean_y.result())))

    def remove(self, value: Any) -> None:
        """Takes a pair out."""
        if not _is_pair(value):
            return
        if any(_special(item) for item in value):
            self._products.remove(_special_of_pair(value))
            return
        x, y = value
        self._count -= 1
        if not self._count:
            self._reset()
            return
        self._mean_x.remove(x)
        from_x = subtract(x, self._mean_x.result())
        from_y = subtract(y, self._mean_y.result())
        self._products.remove(_product(from_x, from_y))
        self._mean_y.remove(y)

    def result(self) -> Any:
        """The covariance; None for too few pairs."""
        if self._count == 1 and not self._sample:
            return 0.0
        count = self._count - 1 if self._sample else self._count
        if count <= 0:
            return None
        total = self._products.result()
        return divide(total, float(count)) if rank(total) == DECIMAL else to_double(total) / count


def _product(left: Any, right: Any) -> Any:
    return multiply((left, right))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(rank(item) for item in value)


def _special_of_pair(pair: list[Any]) -> Any:
    """NaN or an infinity for a pair with one in it; NaN for infinities of both signs."""
    kinds = {_special(item) for item in pair} - {""}
    decimal = any(isinstance(item, Decimal128) and not is_nan(item) for item in pair)
    number = float(kinds.pop()) if len(kinds) == 1 else math.nan
    return decimal128(Decimal(number)) if decimal else number


class Kept:
    """All values that are in, for functions that need to see them together."""

    def __init__(self, summarize: Callable[[list[Any]], Any], keep: Callable[[Any], bool]) -> None:
        self._summarize = summarize
        self._keep = keep
        self._values: deque[Any] = deque()

    def add(self, value: Any) -> None:
        """Takes a value in."""
        if self._keep(value):
            self._values.append(value)

    def remove(self, value: Any) -> None:
        """Takes the oldest value out."""
        if self._keep(value):
            self._values.popleft()

    def result(self) -> Any:
        """The function's result for the values."""
        return self._summarize(list(self._values))


def not_nullish(value: Any) -> bool:
    """Whether the value is neither null nor missing."""
    return not is_nullish(value)
