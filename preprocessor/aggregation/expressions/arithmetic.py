"""Arithmetic: `$abs`, `$add`, `$ceil`, `$divide`, `$exp`, `$floor`, `$ln`, `$log`, `$log10`, `$mod`, `$multiply`,
`$pow`, `$round`, `$sqrt`, `$subtract`, `$trunc`, with the server's promotion and overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

from preprocessor.aggregation.compiler import operator
from preprocessor.aggregation.errors import AggregationError
from preprocessor.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    INT32,
    INT64,
    decimal128,
    integer,
    integral,
    rank,
    to_decimal,
    to_double,
)
from preprocessor.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    MISSING,
    date_from_millis,
    is_date,
    is_nullish,
    millis,
    type_name,
)


def _number(name: str, value: Any, code: int = 28765) -> int:
    """The number's rank; raises for what is no number."""
    found = rank(value)
    if not found:
        raise AggregationError(f"{name} works on numbers only, not on {type_name(value)}", code=code)
    return found


@operator("$abs")
def _abs(value: Any) -> Any:
    if is_nullish(value):
        return None
    kind = _number("$abs", value)
    if kind == DECIMAL:
        return decimal128(value.to_decimal().copy_abs())
    if kind == DOUBLE:
        return abs(value)
    if value == INT64_MIN:
        raise AggregationError("$abs of the smallest int64 does not fit an int64", code=28680)
    return integer(abs(int(value)), kind)
