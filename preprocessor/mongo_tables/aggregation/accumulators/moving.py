"""Accumulators as window functions: `$sum` … `$topN`, over the whole partition, or over growing or moving windows.

When a window moves, the values that leave it are subtracted from its sum. This can change the last bit of the sum, so
the module computes in the same steps as the server (RemovableSum, WindowFunctionStdDev and WindowFunctionCovariance).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from operator import itemgetter
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

from mongo_tables.aggregation.accumulators.basic import compile_by_name
from mongo_tables.aggregation.accumulators.several import count_of, null_for_missing
from mongo_tables.aggregation.accumulators.windows import (
    Removable,
    Results,
    Window,
    afresh,
    growing,
    sliding,
    window_function,
)
from mongo_tables.aggregation.expressions.arithmetic import divide, multiply, subtract
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    MixedSum,
    decimal128,
    half_away,
    integer,
    rank,
    to_decimal,
    to_double,
)
from mongo_tables.aggregation.value_order import key
from mongo_tables.aggregation.values import INT64_MAX, INT64_MIN, MISSING, is_nan, is_nullish


class _Removable:
    def add(self, value: Any) -> None:
        self._update(value, 1)

    def remove(self, value: Any) -> None:
        self._update(value, -1)

    def _update(self, value: Any, sign: int) -> None:
        """Add (``sign`` 1) or remove (-1) a value. Ignore values that are not numbers."""
        raise NotImplementedError


class RemovableSum(_Removable):
    """A sum from which values can be removed. Infinities and NaN are only counted, because they cannot be subtracted
    again.
    """

    def __init__(self) -> None:
        self._sum = MixedSum()
        self._specials = {"nan": 0, "inf": 0, "-inf": 0}
        self._of_rank = {DOUBLE: 0, DECIMAL: 0}

    def _update(self, value: Any, sign: int) -> None:
        kind = rank(value)
        if not kind:
            return
        if kind in self._of_rank:
            self._of_rank[kind] += sign
            special = _special(value)
            if special:
                self._specials[special] += sign
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
        """Return the sum. Its type is the widest type of the numbers in the window."""
        nan, up, down = (count > 0 for count in self._specials.values())
        if nan or up or down:
            special = math.nan if nan or (up and down) else math.inf if up else -math.inf
            return decimal128(Decimal(special)) if self._of_rank[DECIMAL] else special
        value: Any = self._sum.value
        kind = rank(value)
        if kind == DECIMAL and not self._of_rank[DECIMAL]:
            exact = to_decimal(value)
            if self._of_rank[DOUBLE] > 0 or not INT64_MIN <= exact <= INT64_MAX:
                return float(exact)
            return integer(int(exact.to_integral_value()))
        if kind == DOUBLE and not self._of_rank[DOUBLE] and INT64_MIN <= value < INT64_MAX:
            return integer(half_away(value))
        return value if kind in (DOUBLE, DECIMAL) else integer(int(value))


def _special(value: Any) -> str:
    number = to_decimal(value)
    if number.is_nan():
        return "nan"
    if number.is_infinite():
        return "inf" if number > 0 else "-inf"
    return ""


class RemovableAverage(RemovableSum):
    """A mean from which values can be removed. Without numbers, it is None."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = 0

    def _update(self, value: Any, sign: int) -> None:
        if rank(value):
            super()._update(value, sign)
            self._numbers += sign

    def result(self) -> Any:
        """Return the mean: a double, or a Decimal128."""
        if not self._numbers:
            return None
        total = super().result()
        if rank(total) != DECIMAL:
            return to_double(total) / self._numbers
        return decimal128(CONTEXT.divide(to_decimal(total), Decimal(self._numbers)))


class _Deviation(_Removable):
    """A standard deviation, computed from the sum of squared distances from the mean."""

    def __init__(self, *, sample: bool) -> None:
        self._sample = sample
        self._reset()

    def _reset(self) -> None:
        self._count = self._not_finite = 0
        self._sum, self._squares = MixedSum(), MixedSum()

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
        """Return the deviation, or None if the window has too few numbers or contains an infinity or NaN."""
        if self._not_finite > 0:
            return None
        count = self._count - 1 if self._sample else self._count
        if count == 0 or self._count == 0:
            return None
        squares = to_double(self._squares.value)
        if squares < 0 or (not self._sample and self._count == 1):
            # Rounding made the sum negative: use 0, the nearest possible value.
            self._squares = MixedSum()
            return 0
        return math.sqrt(squares / count)


class RemovableCovariance(_Removable):
    """The covariance of pairs of numbers, computed from running means."""

    def __init__(self, *, sample: bool) -> None:
        self._sample = sample
        self._reset()

    def _reset(self) -> None:
        self._count = 0
        self._mean_x, self._mean_y = RemovableAverage(), RemovableAverage()
        self._products = RemovableSum()

    def _update(self, value: Any, sign: int) -> None:
        if not isinstance(value, list) or len(value) != 2 or not all(rank(item) for item in value):
            return
        if any(_special(item) for item in value):
            self._products._update(_special_of_pair(value), sign)
            return
        x, y = value
        self._count += sign
        if sign > 0:
            from_x = subtract(x, self._mean_x.result())
            self._mean_x.add(x)
            self._mean_y.add(y)
            self._products.add(multiply((from_x, subtract(y, self._mean_y.result()))))
        elif not self._count:
            self._reset()
        else:
            self._mean_x.remove(x)
            from_x = subtract(x, self._mean_x.result())
            self._products.remove(multiply((from_x, subtract(y, self._mean_y.result()))))
            self._mean_y.remove(y)

    def result(self) -> Any:
        """Return the covariance, or None for too few pairs."""
        if self._count == 1 and not self._sample:
            return 0.0
        count = self._count - 1 if self._sample else self._count
        if count <= 0:
            return None
        total = self._products.result()
        return divide(total, float(count)) if rank(total) == DECIMAL else to_double(total) / count


def _special_of_pair(pair: list[Any]) -> Any:
    """Return NaN or an infinity for a pair that contains one, or NaN for infinities of both signs."""
    kinds = {_special(item) for item in pair} - {""}
    decimal = any(isinstance(item, Decimal128) and not is_nan(item) for item in pair)
    number = float(kinds.pop()) if len(kinds) == 1 else math.nan
    return decimal128(Decimal(number)) if decimal else number


_MOVING: dict[str, Callable[[], Removable]] = {
    "$sum": RemovableSum,
    "$avg": RemovableAverage,
    "$stdDevPop": lambda: _Deviation(sample=False),
    "$stdDevSamp": lambda: _Deviation(sample=True),
    "$count": RemovableSum,
}


def _given(values: list[Any]) -> list[Any]:
    return [value for value in values if not is_nullish(value)]


def _sort_set(values: list[Any]) -> list[Any]:
    distinct: dict[Any, Any] = {}
    for value in values:
        if value is not MISSING:
            distinct.setdefault(key(value), value)
    return [distinct[name] for name in sorted(distinct)]


def _rank(pairs: list[Any]) -> list[Any]:
    return [output for _, output in sorted(pairs, key=itemgetter(0))]


_TOGETHER: dict[str, Callable[[list[Any], int], Any]] = {
    "$min": lambda values, _: min(_given(values), key=key, default=None),
    # Of equal values, the server's ordered set has the last one at its end.
    "$max": lambda values, _: max(reversed(_given(values)), key=key, default=None),
    "$push": lambda values, _: [value for value in values if value is not MISSING],
    "$addToSet": lambda values, _: _sort_set(values),
    "$firstN": lambda values, most: [null_for_missing(value) for value in values[:most]],
    "$lastN": lambda values, most: [null_for_missing(value) for value in values[-most:]],
    "$minN": lambda values, most: sorted(_given(values), key=key)[:most],
    "$maxN": lambda values, most: sorted(_given(values), key=key)[::-1][:most],
    "$topN": lambda pairs, most: _rank(pairs)[:most],
    "$bottomN": lambda pairs, most: _rank(pairs)[-most:],
    "$top": lambda pairs, _: next(iter(_rank(pairs)), None),
    "$bottom": lambda pairs, _: next(reversed(_rank(pairs)), None),
}
"""For each accumulator, the function that computes its result from all values of a window and from ``n``."""


@window_function(*_MOVING, *_TOGETHER)
def _accumulated(window: Window) -> Results:
    accumulator = compile_by_name(window.name, window.argument, window.scope, window.path)
    if window.bounds.unbounded_below:
        return growing(accumulator.evaluate, window.bounds, lambda: accumulator.start({}))
    if window.name in _MOVING:
        return sliding(accumulator.evaluate, window.bounds, _MOVING[window.name])
    summarize, most = _TOGETHER[window.name], 1
    if window.name.endswith("N"):
        most = count_of(window.name, window.evaluate(window.argument["n"], "n")({}))
    return afresh(accumulator.evaluate, window.bounds, lambda values: summarize(values, most))


@window_function("$median", "$percentile", "$concatArrays", "$setUnion")
def _collected(window: Window) -> Results:
    accumulator = compile_by_name(window.name, window.argument, window.scope, window.path)

    def summarize(values: list[Any]) -> Any:
        state = accumulator.start({})
        for value in values:
            state.add(value)
        return state.result()

    return afresh(accumulator.evaluate, window.bounds, summarize)


@window_function("$first", "$last")
def _end(window: Window) -> Results:
    evaluate = window.evaluate(window.argument)
    side = 0 if window.name == "$first" else 1
    return lambda documents: (
        None if ends is None else evaluate(documents[ends[side]]) for ends in window.bounds.ends(documents)
    )
