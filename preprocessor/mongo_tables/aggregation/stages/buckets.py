"""`$bucket` and `$bucketAuto`: groups by ranges of an expression's values.

The bounds of `$bucketAuto` may be preferred numbers: Renard, E and 1-2-5 series, powers of two.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/#granularity, with the
figures of ISO 3 (Renard) and IEC 60063 (E series).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bson.decimal128 import Decimal128

from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path, check_names
from mongo_tables.aggregation.fields import Effect, Field, Order, StageRecord, paths_in
from mongo_tables.aggregation.limits import admit_documents, gather_within_limits, watch_clock
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    decimal128,
    double_to_decimal,
    integral,
    to_decimal,
    to_double,
)
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.stages.groups import Fields, Grouping, add, compile_accumulators, results, start
from mongo_tables.aggregation.value_order import Key, key
from mongo_tables.aggregation.values import (
    INT32_MAX,
    MISSING,
    Document,
    Evaluate,
    is_nan,
    is_number,
    is_string,
    mistyped,
    type_name,
    type_order,
)

_R40 = (
    "100 106 112 118 125 132 140 150 160 170 180 190 200 212 224 236 250 265 280 300 315 355 375 400 425 450 "
    "475 500 530 560 600 630 670 710 750 800 850 900 950"
)
_R80 = (
    "103 109 115 122 128 136 145 155 165 175 185 195 206 218 230 243 258 272 290 307 325 345 365 387 412 437 "
    "462 487 515 545 575 615 650 690 730 775 825 875 925 975"
)
_R20 = "100 112 125 140 160 180 200 224 250 280 315 355 400 450 500 560 630 710 800 900"
_R5 = "10 16 25 40 63"
_E24 = "10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91"


def _figures(text: str, step: int = 1) -> tuple[int, ...]:
    return tuple(int(figure) for figure in text.split())[::step]


# E192 is 10^(n/192) to three figures, except for one figure of the standard.
_E192 = tuple(920 if step == 185 else round(100 * 10 ** (step / 192)) for step in range(192))

# Figures with two or three digits, as the server stores them. A bound is a figure times a power of ten, so
# the figure determines the exact double. The server's R40 lacks 335. Its R80 lacks the figures of R40, and
# has 575 instead of 580.
_SERIES = {
    "R5": _figures(_R5), "R10": _figures(_R20, 2), "R20": _figures(_R20), "R40": _figures(_R40),
    "R80": _figures(_R80), "1-2-5": (10, 20, 50),
    "E6": _figures(_E24, 4), "E12": _figures(_E24, 2), "E24": _figures(_E24),
    "E48": _E192[::4], "E96": _E192[::2], "E192": _E192,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Preferred:
    figures: tuple[int, ...]

    def round_up(self, value: Any) -> Any:
        figures, number, ten = self._arithmetic(value)
        if not number or number == math.inf:
            return value
        scale = ten / ten
        while number >= figures[-1] * scale:
            scale *= ten
        while number < figures[-1] * (scale / ten):
            scale /= ten
        place = bisect_right(figures, number, key=lambda figure: figure * scale)
        return _like(value, figures[place] * scale)

    def round_down(self, value: Any) -> Any:
        figures, number, ten = self._arithmetic(value)
        if not number or number == math.inf:
            return value
        scale = ten / ten
        while number <= figures[0] * scale:
            scale /= ten
        while number > figures[0] * (scale * ten):
            scale *= ten
        place = bisect_left(figures, number, key=lambda figure: figure * scale) - 1
        return _like(value, figures[place] * scale)

    def _arithmetic(self, value: Any) -> tuple[Any, Any, Any]:
        """Return the figures, the value and the number ten as doubles or, for a Decimal128, as decimals."""
        if isinstance(value, Decimal128):
            figures = [double_to_decimal(float(figure)) for figure in self.figures]
            return figures, value.to_decimal(), Decimal(10)
        return [float(figure) for figure in self.figures], float(value), 10.0


def _like(value: Any, number: Any) -> Any:
    return decimal128(number) if isinstance(value, Decimal128) else number


@dataclass(frozen=True, slots=True)
class _Powers:
    def round_up(self, value: Any) -> Any:
        return _power(value, _floor_log2(value) + 1) if to_double(value) else value

    def round_down(self, value: Any) -> Any:
        if not to_double(value):
            return value
        exponent = _floor_log2(value)
        return _power(value, exponent - 1 if _to_exact(value) == Fraction(2) ** exponent else exponent)


def _floor_log2(value: Any) -> int:
    if to_decimal(value).is_infinite():
        raise NotOffline("the power of two next to an infinity is not available offline")
    exact = _to_exact(value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= exact else exponent - 1


def _to_exact(value: Any) -> Fraction:
    return Fraction(value.to_decimal() if isinstance(value, Decimal128) else value)


def _power(value: Any, exponent: int) -> Any:
    """Return a power of two as an integer if it fits 64 bits, or else as a double.

    If ``value`` is a Decimal128, return a Decimal128 of 34 digits.
    """
    if isinstance(value, Decimal128):
        exact = CONTEXT.power(Decimal(2), exponent)
        return decimal128(exact.quantize(Decimal((0, (1,), exact.adjusted() - 33)), context=CONTEXT))
    if 0 <= exponent < 63:
        return 2**exponent
    return 2.0**exponent


_Series = _Preferred | _Powers
"""A series. It moves a bound to the next preferred number above or below; zero stays zero."""


def _check_number(value: Any, path: Path) -> None:
    """Raise AggregationError for a value that no series can round: NaN, a negative number, or a value that is not a
    number.
    """
    if not is_number(value):
        raise mistyped("a granularity needs numbers, not", value, 40258, path)
    if is_nan(value):
        raise AggregationError("a granularity needs numbers, not NaN", path, 40259)
    if to_double(value) < 0:
        raise AggregationError("a granularity requires numbers that are not negative", path, 40260)


_COUNT = {"count": {"$sum": 1}}


def _group_by(value: Any, scope: Scope, path: Path, code: int) -> Evaluate:
    field = is_string(value) and value.startswith("$")
    operator = isinstance(value, Mapping) and next(iter(value), "").startswith("$")
    if not field and not operator:
        raise AggregationError(f"groupBy of {path[-2]} must be '$field' or an expression", path, code)
    return compile_expression(value, scope, path).run


def _output(output: Any, scope: Scope, path: Path, code: int) -> Fields:
    if not isinstance(output, Mapping):
        raise AggregationError(f"the output of {path[-2]} must be a document", path, code)
    if "_id" in output:
        raise AggregationError("the output of a bucket must not have the field _id", (*path, "_id"), 17390)
    return compile_accumulators(output, scope, path)


def _effect(argument: Any) -> Effect:
    made = [
        Field((name,), ("output", name), expression=one) for name, one in argument.get("output", {}).items()
    ]
    if "output" not in argument:
        made.append(Field(("count",), None))
    return Effect(tuple(paths_in(argument["groupBy"])), (Field(("_id",), None), *made), only=True)


@stage("$bucket", record=StageRecord(_effect, order=Order.SORTED))
def bucket(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return one document for each range of ``boundaries`` that contains a value, in the order of the boundaries."""
    check_names(argument, ("groupBy", "boundaries"), ("default", "output"), path, (40201, 40197, 40198))
    evaluate = _group_by(argument["groupBy"], scope, (*path, "groupBy"), 40202)
    boundaries = _boundaries(argument["boundaries"], scope, (*path, "boundaries"))
    default = _default(argument, boundaries, scope, path)
    fields = _output(argument.get("output", _COUNT), scope, (*path, "output"), 40196)
    keys = [key(boundary) for boundary in boundaries]

    def bucket_of(document: Document) -> Any:
        value = evaluate(document)
        place = bisect_right(keys, key(None if value is MISSING else value)) - 1
        if 0 <= place < len(keys) - 1 and type_order(value) == type_order(boundaries[0]):
            return boundaries[place]
        if not default:
            text = value if type_order(value) == type_order(boundaries[0]) else type_name(value)
            ends = f"from {boundaries[0]} up to, but not including, {boundaries[-1]}"
            message = f"{text} is outside all buckets, {ends}, and there is no default"
            raise AggregationError(message, path, 40066)
        return default[0]

    run = Grouping(bucket_of, fields, path).run
    return lambda documents: iter(sorted(run(documents), key=lambda row: key(row["_id"])))


def _constant(value: Any, scope: Scope, path: Path, code: int) -> Any:
    node = compile_expression(value, scope, path)
    if not node.constant:
        raise AggregationError("expected a constant", path, code)
    return node.run({})


def _boundaries(value: Any, scope: Scope, path: Path) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise AggregationError("the boundaries of $bucket must be a list", path, 40200)
    if len(value) < 2:
        raise AggregationError("the boundaries of $bucket must have at least two values", path, 40192)
    found = [_constant(item, scope, (*path, place), 40191) for place, item in enumerate(value)]
    for place in range(1, len(found)):
        if type_order(found[place]) != type_order(found[0]):
            raise AggregationError("the boundaries of $bucket must all have one type", (*path, place), 40193)
        if key(found[place - 1]) >= key(found[place]):
            raise AggregationError("the boundaries of $bucket must ascend", (*path, place), 40194)
    return found


def _default(argument: Mapping[str, Any], boundaries: list[Any], scope: Scope, path: Path) -> list[Any]:
    """Return a list of the default value, or an empty list without a default."""
    if "default" not in argument:
        return []
    where = (*path, "default")
    value = _constant(argument["default"], scope, where, 40195)
    same_type = value is not MISSING and type_order(value) == type_order(boundaries[0])
    if same_type and key(boundaries[0]) <= key(value) < key(boundaries[-1]):
        raise AggregationError("the default of $bucket must be outside the boundaries", where, 40199)
    return [None if value is MISSING else value]


@stage("$bucketAuto", record=StageRecord(_effect, order=Order.SORTED))
def bucket_auto(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return a document for each of at most ``buckets`` ranges, each with about the same number of documents."""
    check_names(argument, ("groupBy", "buckets"), ("output", "granularity"), path, (40240, 40245, 40246))
    evaluate = _group_by(argument["groupBy"], scope, (*path, "groupBy"), 40239)
    wanted = _buckets(argument["buckets"], (*path, "buckets"))
    series: _Series | None = None
    if "granularity" in argument:
        name, where = argument["granularity"], (*path, "granularity")
        if not is_string(name):
            message = "the granularity of $bucketAuto must be the name of a series"
            raise AggregationError(message, where, 40261)
        if name != "POWERSOF2" and name not in _SERIES:
            message = f"unknown granularity '{name}'"
            raise AggregationError(message, where, 40257, unknown=name, known=_SERIES)
        series = _Powers() if name == "POWERSOF2" else _Preferred(_SERIES[name])
    output = argument.get("output", _COUNT)
    fields = _output(_COUNT if output == {} else output, scope, (*path, "output"), 40244)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        rows = []
        for document in admit_documents(gather_within_limits(documents, path), path):
            value = evaluate(document)
            value = None if value is MISSING else value
            if series is not None:
                _check_number(value, path)
            rows.append((key(value), value, document))
        rows.sort(key=lambda row: row[0])
        return _ranges(rows, wanted, series, fields)

    return run


def _buckets(value: Any, path: Path) -> int:
    if not is_number(value):
        raise AggregationError("the buckets of $bucketAuto must be a whole number", path, 40241)
    number = integral(value)
    if number is None or not -INT32_MAX - 1 <= number <= INT32_MAX:
        raise AggregationError("the buckets of $bucketAuto must be a whole number of 32 bits", path, 40242)
    if number <= 0:
        raise AggregationError("the buckets of $bucketAuto must be at least 1", path, 40243)
    return number


_Row = tuple[Key, Any, Document]


def _ranges(rows: list[_Row], wanted: int, series: _Series | None, fields: Fields) -> Iterator[Document]:
    size = max(1, int(len(rows) / wanted + 0.5))
    begin, number, low = 0, 0, None
    while begin < len(rows):
        number += 1
        end = len(rows) if number == wanted else min(begin + size, len(rows))
        if series is None:
            # A bucket includes all documents of its largest value, and ends where the next bucket begins.
            last = rows[end - 1][0]
            while end < len(rows) and rows[end][0] == last:
                end += 1
            high = rows[end][1] if end < len(rows) else rows[-1][1]
        else:
            high = series.round_up(rows[end - 1][1])
            while end < len(rows) and rows[end][0] < key(high):
                end += 1
            if end < len(rows) and not to_double(high):
                high = series.round_down(rows[end][1])
        if low is None:
            low = rows[0][1] if series is None else series.round_down(rows[0][1])
        states = start(fields, None)
        for _, _, document in watch_clock(rows[begin:end]):
            add(fields, states, document)
        yield {"_id": {"min": low, "max": high}, **results(fields, states)}
        begin, low = end, high
