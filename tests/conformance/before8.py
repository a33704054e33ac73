"""The evaluator as 6.0 has it, in the few things that 8.0 changed and the evaluator follows.

6.0 is the newest server that tests can start: generated pipelines are compared under its rules throughout, so that no
difference of a value has to be excused. What 8.0 gives is in case files that say ``"since": "8.0"``. Source of the
changes: https://www.mongodb.com/docs/manual/release-notes/8.0-compatibility/ and the pages of the operators.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any
from unittest import mock

from mongo_tables.aggregation import compiler, pipelines
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.expressions import arithmetic, conversion, date_parts
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    INT32,
    INT64,
    DoubleDouble,
    decimal128,
    half_away,
    halves,
    integer,
    rank,
)
from mongo_tables.aggregation.values import (
    INT32_MAX,
    INT32_MIN,
    date_from_millis,
    is_date,
    is_nullish,
    millis,
)


@contextlib.contextmanager
def rules_of_6_0() -> Iterator[None]:
    """While it lasts, what is evaluated follows 6.0. What was compiled before and after is dropped."""
    forms = dict(compiler._FORMS)
    pipelines._COMPILED.clear()
    with (
        mock.patch.object(conversion, "double_text", _text_of_six_digits),
        mock.patch.object(date_parts, "ISO_LOCAL", date_parts.ISO_UTC),
    ):
        compiler.associative("$add", commutative=True)(_add)
        compiler.operator("$mod")(_remainder)
        compiler.operator("$subtract")(_difference)
        try:
            yield
        finally:
            compiler._FORMS.update({name: forms[name] for name in ("$add", "$mod", "$subtract")})
            pipelines._COMPILED.clear()


def _text_of_six_digits(value: float) -> str:
    if math.isfinite(value):
        return f"{value:g}"
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


_added: Callable[[Iterable[Any]], Any] = arithmetic.add
_divided: Callable[[Any, Any], Any] = arithmetic.remainder
_subtracted: Callable[[Any, Any], Any] = arithmetic.subtract


def _add(values: Iterable[Any]) -> Any:
    """Doubles with all their digits beside a Decimal128; a date and its milliseconds rounded as one sum."""
    seen: list[Any] = []
    for value in values:
        if is_nullish(value):
            return None
        if not rank(value) and not is_date(value):
            raise AggregationError("$add works on numbers and dates", code=16554)
        if is_date(value) and any(map(is_date, seen)):
            raise AggregationError("$add takes one date only", code=16612)
        seen.append(value)
    widest = max((rank(value) for value in seen if not is_date(value)), default=INT32)
    if widest not in (DOUBLE, DECIMAL) or (widest == DOUBLE and not any(map(is_date, seen))):
        return _added(seen)
    total, decimals = DoubleDouble(), Decimal(0)
    for value in seen:
        if rank(value) == DECIMAL:
            decimals = CONTEXT.add(decimals, value.to_decimal())
        elif rank(value) == DOUBLE:
            total.add(value)
        else:
            total.add(*halves(millis(value) if is_date(value) else int(value)))
    if any(map(is_date, seen)):
        return _added(seen) if widest == DECIMAL else date_from_millis(_rounded(total))
    return decimal128(CONTEXT.add(decimals, total.decimal))


def _rounded(total: DoubleDouble) -> int:
    if not abs(total.double) < 2.0**63:
        raise AggregationError("the date does not fit 64 bits of milliseconds", code=15)
    whole = half_away(total.total)
    return whole + half_away((total.total - whole) + total.addend)


def _remainder(left: Any, right: Any) -> Any:
    """Integers also where the divisor is a double that is an int32."""
    whole = type(right) is float and INT32_MIN <= right <= INT32_MAX and right == math.floor(right)
    if whole and right and rank(left) in (INT32, INT64):
        return integer(int(_divided(left, int(right))), rank(left))
    return _divided(left, right)


def _difference(left: Any, right: Any) -> Any:
    """A date and a double of milliseconds, of which the fraction does not count."""
    cut = is_date(left) and type(right) is float and math.isfinite(right)
    return _subtracted(left, float(math.trunc(right)) if cut else right)
