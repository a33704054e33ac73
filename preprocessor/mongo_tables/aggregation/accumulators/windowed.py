"""Window functions over pairs and time: `$covariancePop`, `$covarianceSamp`, `$derivative`, `$integral`,
`$expMovingAvg`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.accumulators.removable import RemovableCovariance, RemovableSum
from mongo_tables.aggregation.accumulators.windowregistry import (
    Results,
    Window,
    growing,
    sliding,
    window_function,
)
from mongo_tables.aggregation.errors import AggregationError, refuse_unknown
from mongo_tables.aggregation.expressions.arithmetic import add, divide, multiply, subtract
from mongo_tables.aggregation.numbers import CONTEXT, DECIMAL, decimal128, integral, is_nan, rank, to_decimal
from mongo_tables.aggregation.values import Document, Evaluate, is_date, is_nullish

_FAILED_TO_PARSE = 9
_UNIT_MILLIS = {
    "week": 604_800_000,
    "day": 86_400_000,
    "hour": 3_600_000,
    "minute": 60_000,
    "second": 1000,
    "millisecond": 1,
}


@window_function("$covariancePop", "$covarianceSamp")
def _covariance(window: Window) -> Results:
    evaluate = window.evaluate(window.argument)
    move = growing if window.bounds.unbounded_below else sliding
    return move(evaluate, window.bounds, lambda: RemovableCovariance(sample=window.name.endswith("Samp")))


def _check_arguments(window: Window, *known: str) -> Mapping[str, Any]:
    argument = window.argument
    if not isinstance(argument, Mapping) or "input" not in argument:
        raise AggregationError(f"{window.name} takes a document with 'input'", window.path, _FAILED_TO_PARSE)
    refuse_unknown(argument, known, f"{window.name} has no argument", window.path, _FAILED_TO_PARSE)
    return argument


def _compile_sort_value(window: Window) -> Evaluate:
    if window.sort is None or len(window.sort.parts) != 1:
        raise AggregationError(f"{window.name} needs a sortBy of one field", window.path, _FAILED_TO_PARSE)
    return paths.getter(window.sort.parts[0].path)


def _unit(window: Window, argument: Mapping[str, Any]) -> int | None:
    """The unit of time in milliseconds; months and longer have no fixed length and are refused."""
    unit = argument.get("unit")
    if unit is None:
        return None
    if unit not in _UNIT_MILLIS:
        message = "the unit is 'week' or shorter: others differ in length"
        raise AggregationError(message, (*window.path, "unit"), 5490704)
    return _UNIT_MILLIS[unit]


@window_function("$derivative")
def _derivative(window: Window) -> Results:
    argument = _check_arguments(window, "input", "unit")
    time, unit = _compile_sort_value(window), _unit(window, argument)
    if not window.written:
        raise AggregationError("$derivative needs a window", window.path, _FAILED_TO_PARSE)
    evaluate = window.evaluate(argument["input"], "input")

    def change(first: Document, last: Document) -> Any:
        start, end = time(first), time(last)
        _check_time("$derivative", unit, start, 5624900)
        _check_time("$derivative", unit, end, 5624900)
        rise = subtract(evaluate(last), evaluate(first))
        if is_nullish(rise):
            raise AggregationError("the input of $derivative is null or missing", code=5624903)
        run = subtract(end, start)
        if to_decimal(run) == 0:
            return None
        rate = divide(rise, run)
        return rate if unit is None else multiply((rate, unit))

    def run(documents: Sequence[Document]) -> list[Any]:
        ends = window.bounds.ends(documents)
        return [None if two is None else change(documents[two[0]], documents[two[1]]) for two in ends]

    return run


def _check_time(name: str, unit: int | None, value: Any, code: int) -> None:
    if unit is not None:
        if not is_date(value):
            raise AggregationError(f"{name} with a unit needs dates in the sortBy field", code=code)
    elif is_date(value):
        raise AggregationError(f"{name} over dates needs a unit", code=code + 1)
    elif not rank(value):
        raise AggregationError(f"{name} needs numbers in the sortBy field", code=code + 2)


class _Integral:
    """The area under the points that are in, trapezoid by trapezoid."""

    def __init__(self, unit: int | None) -> None:
        self._unit = unit
        self._area = RemovableSum()
        self._points: deque[list[Any]] = deque()
        self._nan = 0

    def add(self, value: Any) -> None:
        """Takes a point in: a pair of place and height."""
        place, height = value
        _check_time("$integral", self._unit, place, 5423901)
        if not rank(height):
            raise AggregationError("the input of $integral is a number", code=5423900)
        self._nan += is_nan(place) or is_nan(height)
        if self._points:
            self._area.add(_trapezoid(self._points[-1], value))
        self._points.append(value)

    def remove(self, value: Any) -> None:
        """Takes the first point out."""
        self._nan -= is_nan(value[0]) or is_nan(value[1])
        self._points.popleft()
        if self._points:
            self._area.remove(_trapezoid(value, self._points[0]))

    def result(self) -> Any:
        """The area; None when no point is in."""
        if not self._points:
            return None
        if self._nan:
            return math.nan
        area = self._area.result()
        return area if self._unit is None else divide(area, self._unit)


def _trapezoid(left: list[Any], right: list[Any]) -> Any:
    if any(is_nan(item) for item in (*left, *right)) or is_date(left[0]) != is_date(right[0]):
        return 0
    width = subtract(right[0], left[0])
    return divide(multiply((add((right[1], left[1])), width)), 2.0)


@window_function("$integral")
def _integral(window: Window) -> Results:
    argument = _check_arguments(window, "input", "unit")
    time, unit = _compile_sort_value(window), _unit(window, argument)
    height = window.evaluate(argument["input"], "input")
    move = growing if window.bounds.unbounded_below else sliding
    return move(lambda document: [time(document), height(document)], window.bounds, lambda: _Integral(unit))


@window_function("$expMovingAvg")
def _exp_moving_avg(window: Window) -> Results:
    window.refuse_window()
    argument = _check_arguments(window, "input", "N", "alpha")
    if len(argument) != 2:
        raise AggregationError(
            "$expMovingAvg takes 'input' and 'N' or 'alpha'", window.path, _FAILED_TO_PARSE
        )
    if window.sort is None:
        raise AggregationError("$expMovingAvg needs a sortBy", window.path, _FAILED_TO_PARSE)
    weight = _weight(window, argument)
    evaluate = window.evaluate(argument["input"], "input")

    def run(documents: Sequence[Document]) -> list[Any]:
        return _smooth([evaluate(document) for document in documents], weight)

    return run


def _weight(window: Window, argument: Mapping[str, Any]) -> Decimal:
    """The weight of the newest value: ``alpha``, or 2 / (N + 1)."""
    if "N" in argument:
        number = integral(argument["N"])
        if number is None or number < 1:
            message = "N is a whole number greater than 0"
            raise AggregationError(message, (*window.path, "N"), _FAILED_TO_PARSE)
        return CONTEXT.divide(Decimal(2), Decimal(number + 1))
    alpha = argument["alpha"]
    if not rank(alpha) or not 0 < to_decimal(alpha) < 1:
        message = "alpha is a number between 0 and 1"
        raise AggregationError(message, (*window.path, "alpha"), _FAILED_TO_PARSE)
    return to_decimal(alpha)


def _smooth(values: Sequence[Any], weight: Decimal) -> list[Any]:
    rest = CONTEXT.subtract(Decimal(1), weight)
    known: Decimal | None = None
    exact = False
    results: list[Any] = []
    for value in values:
        if rank(value):
            exact = exact or rank(value) == DECIMAL
            number = to_decimal(value)
            if known is not None:
                number = CONTEXT.add(CONTEXT.multiply(number, weight), CONTEXT.multiply(known, rest))
            known = number
        if known is None:
            results.append(None)
        else:
            results.append(decimal128(known) if exact else float(known))
    return results
