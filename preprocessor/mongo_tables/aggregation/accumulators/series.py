"""Window functions over a series.

`$rank`, `$denseRank`, `$documentNumber`, `$shift`; `$linearFill`, `$locf`; `$covariancePop`,
`$covarianceSamp`, `$derivative`, `$integral`, `$expMovingAvg`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from mongo_tables.aggregation.accumulators.moving import RemovableCovariance, RemovableSum
from mongo_tables.aggregation.accumulators.windows import (
    DocumentBounds,
    Results,
    Window,
    growing,
    sliding,
    window_function,
)
from mongo_tables.aggregation.compiler import compile_expression
from mongo_tables.aggregation.errors import AggregationError, check_names
from mongo_tables.aggregation.expressions.arithmetic import add, divide, multiply, subtract
from mongo_tables.aggregation.expressions.date_parts import UNIT_MILLIS
from mongo_tables.aggregation.numbers import CONTEXT, DECIMAL, decimal128, integral, rank, to_decimal, whole
from mongo_tables.aggregation.value_order import key
from mongo_tables.aggregation.values import Document, is_date, is_nan, is_nullish, mistyped

_FAILED_TO_PARSE, _TYPE_MISMATCH = 9, 14


@window_function("$rank", "$denseRank", "$documentNumber")
def _ranks(window: Window) -> Results:
    window.refuse_window(5371601)
    if window.argument != {}:
        raise AggregationError(f"{window.name} requires an empty document", window.path, 5371603)
    value = window.sort_value(5371602)

    def run(documents: Sequence[Document]) -> list[int]:
        if window.name == "$documentNumber":
            return list(range(1, len(documents) + 1))
        keys = [key(value(document)) for document in documents]
        ranks: list[int] = []
        for place, own in enumerate(keys):
            if place and own == keys[place - 1]:
                ranks.append(ranks[-1])
            else:
                ranks.append(place + 1 if window.name == "$rank" or not ranks else ranks[-1] + 1)
        return ranks

    return run


@window_function("$shift")
def _shift(window: Window) -> Results:
    window.refuse_window()
    codes = (_FAILED_TO_PARSE, _FAILED_TO_PARSE, _FAILED_TO_PARSE)
    argument = check_names(window.argument, ("output", "by"), ("default",), window.path, codes)
    if window.sort is None:
        raise AggregationError("$shift needs a sortBy", window.path, _FAILED_TO_PARSE)
    by = whole(argument["by"], bits=32)
    if by is None:
        message = "'by' must be a whole number of 32 bits"
        raise AggregationError(message, (*window.path, "by"), _FAILED_TO_PARSE)
    default = compile_expression(argument.get("default"), window.scope, (*window.path, "default"))
    if not default.constant:
        raise AggregationError("'default' must be a constant", (*window.path, "default"), _FAILED_TO_PARSE)
    evaluate, otherwise = window.evaluate(argument["output"], "output"), default.run({})
    shifted = DocumentBounds(by, by)
    return lambda documents: (
        otherwise if found is None else evaluate(documents[found[0]]) for found in shifted.ends(documents)
    )


@window_function("$locf")
def _locf(window: Window) -> Results:
    window.refuse_window()
    evaluate = window.evaluate(window.argument)

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        known: Any = None
        for document in documents:
            value = evaluate(document)
            known = known if is_nullish(value) else value
            yield known

    return run


@window_function("$linearFill")
def _linear_fill(window: Window) -> Results:
    window.refuse_window()
    place, evaluate = window.sort_value(605001), window.evaluate(window.argument)

    def run(documents: Sequence[Document]) -> list[Any]:
        places = [place(document) for document in documents]
        values = [evaluate(document) for document in documents]
        _check_points(places, values)
        known = [index for index, value in enumerate(values) if not is_nullish(value)]
        filled = [None if is_nullish(value) else value for value in values]
        for left, right in pairwise(known):
            width = subtract(places[right], places[left])
            slope = divide(subtract(values[right], values[left]), width)
            for index in range(left + 1, right):
                step = multiply((subtract(places[index], places[left]), slope))
                filled[index] = add((values[left], step))
        return filled

    return run


def _check_points(places: Sequence[Any], values: Sequence[Any]) -> None:
    for index, (place, value) in enumerate(zip(places, values, strict=True)):
        if not rank(value) and not is_nullish(value):
            raise mistyped("$linearFill fills numbers, not", value, _TYPE_MISMATCH)
        if not rank(place) and not is_date(place):
            raise mistyped("$linearFill must sort by numbers or dates, not", place, _TYPE_MISMATCH)
        if index and key(place) == key(places[index - 1]):
            message = "$linearFill does not accept two documents with the same sort value"
            raise AggregationError(message, code=6050106)
        if index and is_date(place) != is_date(places[index - 1]):
            raise AggregationError("$linearFill must sort either by numbers or by dates", code=_TYPE_MISMATCH)


@window_function("$covariancePop", "$covarianceSamp")
def _covariance(window: Window) -> Results:
    evaluate = window.evaluate(window.argument)
    move = growing if window.bounds.unbounded_below else sliding
    return move(evaluate, window.bounds, lambda: RemovableCovariance(sample=window.name.endswith("Samp")))


def _check_arguments(window: Window, *optional: str) -> Mapping[str, Any]:
    codes = (_FAILED_TO_PARSE, _FAILED_TO_PARSE, _FAILED_TO_PARSE)
    return check_names(window.argument, ("input",), optional, window.path, codes, what="argument")


def _unit(window: Window, argument: Mapping[str, Any]) -> int | None:
    """Return the length of the unit in milliseconds, or None without a unit.

    Months and longer units are refused, because they vary in length.
    """
    unit = argument.get("unit")
    if unit is not None and unit not in UNIT_MILLIS:
        message = "the unit must be 'week' or shorter: longer units vary in length"
        raise AggregationError(message, (*window.path, "unit"), 5490704)
    return None if unit is None else UNIT_MILLIS[unit]


@window_function("$derivative")
def _derivative(window: Window) -> Results:
    argument = _check_arguments(window, "unit")
    time, unit = window.sort_value(), _unit(window, argument)
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

    return lambda documents: (
        None if ends is None else change(documents[ends[0]], documents[ends[1]])
        for ends in window.bounds.ends(documents)
    )


def _check_time(name: str, unit: int | None, value: Any, code: int) -> None:
    if unit is not None:
        if not is_date(value):
            raise AggregationError(f"{name} with a unit needs dates in the sortBy field", code=code)
    elif is_date(value):
        raise AggregationError(f"{name} over dates needs a unit", code=code + 1)
    elif not rank(value):
        raise AggregationError(f"{name} needs numbers in the sortBy field", code=code + 2)


class _Integral:
    """The area under the points in the window, computed by trapezoids. A point is a pair of position and height."""

    def __init__(self, unit: int | None) -> None:
        self._unit = unit
        self._area = RemovableSum()
        self._points: deque[list[Any]] = deque()
        self._nan = 0

    def add(self, value: Any) -> None:
        place, height = value
        _check_time("$integral", self._unit, place, 5423901)
        if not rank(height):
            raise AggregationError("the input of $integral must be a number", code=5423900)
        self._nan += is_nan(place) or is_nan(height)
        if self._points:
            self._area.add(_trapezoid(self._points[-1], value))
        self._points.append(value)

    def remove(self, value: Any) -> None:
        self._nan -= is_nan(value[0]) or is_nan(value[1])
        self._points.popleft()
        if self._points:
            self._area.remove(_trapezoid(value, self._points[0]))

    def result(self) -> Any:
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
    argument = _check_arguments(window, "unit")
    time, unit = window.sort_value(), _unit(window, argument)
    height = window.evaluate(argument["input"], "input")
    move = growing if window.bounds.unbounded_below else sliding
    return move(lambda document: [time(document), height(document)], window.bounds, lambda: _Integral(unit))


@window_function("$expMovingAvg")
def _exp_moving_avg(window: Window) -> Results:
    window.refuse_window()
    argument = _check_arguments(window, "N", "alpha")
    if len(argument) != 2:
        message = "$expMovingAvg requires 'input' and 'N' or 'alpha'"
        raise AggregationError(message, window.path, _FAILED_TO_PARSE)
    if window.sort is None:
        raise AggregationError("$expMovingAvg needs a sortBy", window.path, _FAILED_TO_PARSE)
    weight, evaluate = _weight(window, argument), window.evaluate(argument["input"], "input")
    rest = CONTEXT.subtract(Decimal(1), weight)

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        known: Decimal | None = None
        exact = False
        for value in map(evaluate, documents):
            if rank(value):
                exact = exact or rank(value) == DECIMAL
                number = to_decimal(value)
                if known is not None:
                    number = CONTEXT.add(CONTEXT.multiply(number, weight), CONTEXT.multiply(known, rest))
                known = number
            yield None if known is None else decimal128(known) if exact else float(known)

    return run


def _weight(window: Window, argument: Mapping[str, Any]) -> Decimal:
    """Return the weight of the newest value: ``alpha``, or 2 / (N + 1)."""
    if "N" in argument:
        number = integral(argument["N"])
        if number is None or number < 1:
            message = "N must be a whole number greater than 0"
            raise AggregationError(message, (*window.path, "N"), _FAILED_TO_PARSE)
        return CONTEXT.divide(Decimal(2), Decimal(number + 1))
    alpha = argument["alpha"]
    if not rank(alpha) or not 0 < to_decimal(alpha) < 1:
        message = "alpha must be a number between 0 and 1"
        raise AggregationError(message, (*window.path, "alpha"), _FAILED_TO_PARSE)
    return to_decimal(alpha)
