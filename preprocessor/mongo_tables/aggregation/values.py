"""BSON values as Python objects: their types, and the server's names of the types.

``int`` is int32 if the value fits and int64 otherwise; ``bson.Int64`` is always int64. ``bson`` encodes by the same
rule. Dates are naive UTC ``datetime`` or, outside the years 1 to 9999, ``DatetimeMS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from bson.binary import Binary
from bson.code import Code
from bson.datetime_ms import DatetimeMS
from bson.dbref import DBRef
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp

from mongo_tables.aggregation.errors import AggregationError, Path

Document = dict[str, Any]
Evaluate = Callable[[Document], Any]


class _Missing:
    """The value of a missing field; never stored in a document."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_EPOCH, _MILLISECOND = datetime(1970, 1, 1), timedelta(milliseconds=1)
_MIN_MILLIS = (datetime.min - _EPOCH) // _MILLISECOND
_MAX_MILLIS = (datetime.max - _EPOCH) // _MILLISECOND

# Canonical BSON type order (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/), with
# the server's alias for `$type`. Exact classes first: this table answers nearly every look-up.
_TYPES: Final[dict[type, tuple[int, str]]] = {
    _Missing: (0, "missing"),
    type(None): (5, "null"),
    float: (10, "double"),
    int: (10, ""),  # int or long, by its size
    Int64: (10, "long"),
    Decimal128: (10, "decimal"),
    str: (15, "string"),
    dict: (20, "object"),
    list: (25, "array"),
    bytes: (30, "binData"),
    Binary: (30, "binData"),
    UUID: (30, "binData"),
    ObjectId: (35, "objectId"),
    bool: (40, "bool"),
    datetime: (45, "date"),
    DatetimeMS: (45, "date"),
    Timestamp: (47, "timestamp"),
    Regex: (50, "regex"),
    re.Pattern: (50, "regex"),
    DBRef: (20, "object"),
    MinKey: (-1, "minKey"),
    MaxKey: (127, "maxKey"),
}
NAMES_BY_CLASS: Final[Mapping[type, str]] = {kind: name for kind, (_, name) in _TYPES.items() if name}
"""The server's type name by Python class, for classes whose values all have one type."""


# A test for one of a tuple of classes takes a third of the time of a test for a union.
_REALS: Final = (int, float)
_NUMBERS: Final = (int, float, Decimal128)
_DATES: Final = (datetime, DatetimeMS)
DOCUMENT: Final = (dict, Mapping)
"""The classes of documents for ``isinstance``.

Testing only for ``Mapping``, an abstract class, takes ten times as long.
"""


def _type_of_subclass(value: Any) -> tuple[int, str]:
    if isinstance(value, Code):
        return (60, "javascript") if value.scope is None else (65, "javascriptWithScope")
    if isinstance(value, Mapping):
        return 20, "object"
    for cls, found in _TYPES.items():
        if isinstance(value, cls):
            return found
    raise TypeError(f"{type(value).__name__} is not a BSON type")


def type_order(value: Any) -> int:
    """Return the position of the value's type in the server's comparison order."""
    return (_TYPES.get(type(value)) or _type_of_subclass(value))[0]


def type_name(value: Any) -> str:
    """Return the server's name of the value's type, as ``$type`` gives it (``missing`` included)."""
    name = (_TYPES.get(type(value)) or _type_of_subclass(value))[1]
    return name or ("int" if INT32_MIN <= value <= INT32_MAX else "long")


def mistyped(saying: str, value: Any, code: int, path: Path | None = None) -> AggregationError:
    """Return the error for a value of the wrong type. Its message is ``saying``, followed by the name of the type.

    Example:
        >>> mistyped("$abs works on numbers only, not on", "x", 28765).message
        '$abs works on numbers only, not on string'
    """
    return AggregationError(f"{saying} {type_name(value)}", path, code)


def is_nullish(value: Any) -> bool:
    """Return whether the value is null or missing, for which most operators return null."""
    return value is None or value is MISSING


def is_number(value: Any) -> bool:
    """Return whether the value is int32, int64, double or Decimal128 (booleans are not numbers)."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def is_nan(value: Any) -> bool:
    """Return whether a number is NaN."""
    if isinstance(value, Decimal128):
        return value.to_decimal().is_nan()
    return isinstance(value, float) and value != value


def is_flag(value: Any) -> bool:
    """Return whether a value in ``$project`` includes or excludes a field."""
    return isinstance(value, _NUMBERS)


def is_string(value: Any) -> bool:
    """Return whether the value is a string. JavaScript code is a ``str`` in Python, but not a string."""
    return type(value) is str or (isinstance(value, str) and not isinstance(value, Code))


def is_date(value: Any) -> bool:
    """Return whether the value is a BSON date."""
    return isinstance(value, _DATES)


def truthy(value: Any) -> bool:
    """Return the server's truth value. False, null, missing and zeros are false; all other values (NaN, "", []) are
    true.
    """
    if value is True:
        return True
    if value is None or value is MISSING or value is False:
        return False
    if isinstance(value, _REALS):
        return bool(value != 0)
    if isinstance(value, Decimal128):
        return value.to_decimal() != 0
    return True


def millis(date: datetime | DatetimeMS) -> int:
    """Return the milliseconds since 1970 of a BSON date."""
    if isinstance(date, DatetimeMS):
        return int(date)
    if date.tzinfo is not None:
        date = date.astimezone(UTC).replace(tzinfo=None)
    return (date - _EPOCH) // _MILLISECOND


def date_from_millis(ms: int) -> datetime | DatetimeMS:
    """Return the BSON date at ``ms`` milliseconds since 1970."""
    if _MIN_MILLIS <= ms <= _MAX_MILLIS:
        return _EPOCH + ms * _MILLISECOND
    return DatetimeMS(ms)


def binary_parts(value: bytes | Binary | UUID) -> tuple[int, bytes]:
    """Return subtype and bytes of a binary value of any Python class."""
    if isinstance(value, UUID):
        return 4, value.bytes
    return (value.subtype if isinstance(value, Binary) else 0), bytes(value)


def regex_parts(value: Regex[Any] | re.Pattern[Any]) -> tuple[str, str]:
    """Return pattern and option letters (sorted) of a regular expression."""
    if isinstance(value, re.Pattern):
        value = Regex.from_native(value)
    flags = value.flags
    letters = {"i": re.I, "l": re.L, "m": re.M, "s": re.S, "u": re.U, "x": re.X}
    pattern = value.pattern if isinstance(value.pattern, str) else value.pattern.decode()
    return pattern, "".join(letter for letter, flag in letters.items() if flags & flag)


_NUMBERED = """double string object array binData undefined objectId bool date null regex dbPointer javascript symbol
    javascriptWithScope int timestamp long decimal"""
TYPE_NAMES: Final[Mapping[int, str]] = {-1: "minKey", **dict(enumerate(_NUMBERED.split(), 1)), 127: "maxKey"}
"""The type names of the query language, by number."""
