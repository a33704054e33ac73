"""What a value is and how large: `$type`, `$isNumber`, `$binarySize`, `$bsonSize`."""

from __future__ import annotations

from typing import Any

from mongo_tables.aggregation.compiler import operator
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.values import binary_parts, is_nullish, is_number, type_name


@operator("$type")
def _type(value: Any) -> str:
    return type_name(value)


@operator("$isNumber")
def _is_number(value: Any) -> bool:
    return is_number(value)


@operator("$binarySize")
def _binary_size(value: Any) -> int | None:
    if is_nullish(value):
        return None
    if isinstance(value, str) and not hasattr(value, "scope"):
        return len(value.encode())
    if type_name(value) != "binData":
        raise AggregationError(
            f"$binarySize works on strings and binData, not on {type_name(value)}", code=51276
        )
    return len(binary_parts(value)[1])


@operator("$bsonSize")
def _bson_size(value: Any) -> int | None:
    from bson import encode

    if is_nullish(value):
        return None
    if type_name(value) != "object":
        raise AggregationError(f"$bsonSize works on documents, not on {type_name(value)}", code=31393)
    return len(encode(value))
