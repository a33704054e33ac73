"""Positions in strings, by bytes of UTF-8 and by code points: `$substrBytes`, `$substrCP`, `$indexOfBytes`,
`$indexOfCP`, `$strLenBytes`, `$strLenCP`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/#string-expression-operators
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN
from typing import Any

from bson.decimal128 import Decimal128

from mongo_tables.aggregation.compiler import operator
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.expressions.lazy import lazy
from mongo_tables.aggregation.expressions.texts import as_text
from mongo_tables.aggregation.numbers import integral, rank
from mongo_tables.aggregation.values import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    Document,
    Evaluate,
    is_nullish,
    is_string,
    type_name,
)


@operator("$strLenBytes")
def _bytes(value: Any) -> int:
    if not is_string(value):
        raise AggregationError(f"$strLenBytes takes a string, not {type_name(value)}", code=34473)
    return len(value.encode())


@operator("$strLenCP")
def _code_points(value: Any) -> int:
    if not is_string(value):
        raise AggregationError(f"$strLenCP takes a string, not {type_name(value)}", code=34471)
    return len(value)


def _long(value: Any, what: str, code: int) -> int:
    """The number as the server makes an int64 of it: a double cut off, a Decimal128 rounded.

    What no int64 holds is an error as a double, and as a Decimal128 the least int64.
    """
    if not rank(value):
        raise AggregationError(f"$substr takes the {what} as a number, not {type_name(value)}", code=code)
    if isinstance(value, Decimal128):
        exact = value.to_decimal()
        fits = exact.is_finite() and exact.adjusted() < 20
        number = int(exact.to_integral_value(ROUND_HALF_EVEN)) if fits else INT64_MIN
        return number if INT64_MIN <= number <= INT64_MAX else INT64_MIN
    if not math.isfinite(value) or not INT64_MIN <= (number := int(value)) <= INT64_MAX:
        raise AggregationError(f"the {what} does not fit an int64", code=31109)
    return number


@operator("$substrBytes")
@operator("$substr")
def _substring_of_bytes(value: Any, start: Any, length: Any) -> str:
    data = as_text(value).encode()
    first, count = _long(start, "start", 16034), _long(length, "length", 16035)
    if first < 0:
        raise AggregationError("$substr takes a start that is not negative", code=50752)
    end = len(data) if count < 0 else min(first + count, len(data))
    if _continues(data, first):
        raise AggregationError(f"$substr starts at byte {first}, within a character", code=28656)
    if count >= 0 and _continues(data, end):
        raise AggregationError(f"$substr ends at byte {end}, within a character", code=28657)
    return data[first:end].decode()


def _continues(data: bytes, index: int) -> bool:
    """Whether the byte at ``index`` is one of a UTF-8 character, but not its first."""
    return index < len(data) and data[index] & 0xC0 == 0x80


@operator("$substrCP")
def _substring_of_code_points(value: Any, start: Any, length: Any) -> str:
    text = as_text(value)
    first = _whole("start", start, 34450)
    count = _whole("length", length, 34452)
    if count < 0:
        raise AggregationError("$substrCP takes a length that is not negative", code=34454)
    if first < 0:
        raise AggregationError("$substrCP takes a start that is not negative", code=34455)
    return text[first : first + count]


def _whole(what: str, value: Any, code: int) -> int:
    if not rank(value):
        raise AggregationError(f"$substrCP takes the {what} as a number, not {type_name(value)}", code=code)
    number = integral(value)
    if number is None or not INT32_MIN <= number <= INT32_MAX:
        raise AggregationError(f"$substrCP takes the {what} as a whole number of 32 bits", code=code + 1)
    return number


def _index(name: str, what: str, value: Any) -> int:
    number = integral(value) if rank(value) else None
    if number is None or not INT32_MIN <= number <= INT32_MAX:
        raise AggregationError(f"{name} takes the {what} as a whole number, not {value!r}", code=40096)
    if number < 0:
        raise AggregationError(f"{name} takes a {what} that is not negative", code=40097)
    return number


def _read_search(
    name: str, code: int, document: Document, runs: tuple[Evaluate, ...]
) -> tuple[str, str, int, int | None] | None:
    """Text, what to find in it, start and end; None when the text is null (then nothing else is read)."""
    text = runs[0](document)
    if is_nullish(text):
        return None
    if not is_string(text):
        raise AggregationError(f"{name} takes a string first, not {type_name(text)}", code=code)
    find = runs[1](document)
    if not is_string(find):
        raise AggregationError(f"{name} takes a string second, not {type_name(find)}", code=code + 1)
    start = _index(name, "start", runs[2](document)) if len(runs) > 2 else 0
    end = _index(name, "end", runs[3](document)) if len(runs) > 3 else None
    return text, find, start, end


@lazy("$indexOfBytes")
def _index_of_bytes(document: Document, *runs: Evaluate) -> int | None:
    searched = _read_search("$indexOfBytes", 40091, document, runs)
    if searched is None:
        return None
    text, find, start, end = searched
    data = text.encode()
    return data.find(find.encode(), start, len(data) if end is None else min(end, len(data)))


@lazy("$indexOfCP")
def _index_of_code_points(document: Document, *runs: Evaluate) -> int | None:
    searched = _read_search("$indexOfCP", 40093, document, runs)
    if searched is None:
        return None
    text, find, start, end = searched
    if not text and not find and start == 0:
        return 0
    # Only where the found string begins is held against the end, not where it ends.
    found = text.find(find, start)
    return found if found < (len(text) if end is None else min(end, len(text))) else -1
