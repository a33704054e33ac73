"""BSON documents as lines of Extended JSON from which the same bytes come back.

The rule is: as plain as possible, never lossy. An int32 is a whole number without a point, a double always
has a point or an exponent (``1.0``), an int64 is a plain number where it is too big for an int32 and
``{"$numberLong": "5"}`` where it is not. A date is ISO text in UTC from 1970 to 9999 and milliseconds
otherwise. Everything else has the wrapper of the specification:
https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import bson
from bson.binary import Binary
from bson.code import Code
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.datetime_ms import DatetimeMS
from bson.dbref import DBRef
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp

# Milliseconds, because Python's datetime has not the range of a BSON date.
_OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_REGEX_FLAGS = {"i": re.I, "l": re.L, "m": re.M, "s": re.S, "u": re.U, "x": re.X}
_EPOCH = datetime(1970, 1, 1)
_YEAR_10000 = 253_402_300_800_000


def line(raw: bytes) -> str:
    """One BSON document as one line of JSON, without the line end."""
    return json.dumps(_plain(bson.decode(raw, _OPTIONS)), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    write = _WRITERS.get(type(value))
    return value if write is None else write(value)


def _double(value: float) -> Any:
    if math.isfinite(value):
        return value
    return {"$numberDouble": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}


def _date(value: DatetimeMS) -> Any:
    millis = int(value)
    if not 0 <= millis < _YEAR_10000:
        return {"$date": {"$numberLong": str(millis)}}
    text = (_EPOCH + timedelta(milliseconds=millis)).isoformat(
        timespec="milliseconds" if millis % 1000 else "seconds"
    )
    return {"$date": f"{text}Z"}


def _binary(value: bytes) -> Any:
    subtype = value.subtype if isinstance(value, Binary) else 0
    return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": f"{subtype:02x}"}}


def _regex(value: Regex[Any]) -> Any:
    letters = "".join(
        letter for letter, flag in zip("ilmsux", (2, 4, 8, 16, 32, 64), strict=True) if value.flags & flag
    )
    return {"$regularExpression": {"pattern": value.pattern, "options": letters}}


def _code(value: Code) -> Any:
    text = {"$code": str(value)}
    return text if value.scope is None else {**text, "$scope": _plain(dict(value.scope))}


_WRITERS: dict[type, Callable[[Any], Any]] = {
    dict: lambda value: {key: _plain(inner) for key, inner in value.items()},
    list: lambda value: [_plain(inner) for inner in value],
    float: _double,
    Int64: lambda value: int(value) if not _INT32_MIN <= value <= _INT32_MAX else {"$numberLong": str(value)},
    DatetimeMS: _date,
    bytes: _binary,
    Binary: _binary,
    ObjectId: lambda value: {"$oid": str(value)},
    Decimal128: lambda value: {"$numberDecimal": str(value)},
    Regex: _regex,
    Timestamp: lambda value: {"$timestamp": {"t": value.time, "i": value.inc}},
    MinKey: lambda _: {"$minKey": 1},
    MaxKey: lambda _: {"$maxKey": 1},
    Code: _code,
    DBRef: lambda value: _plain(dict(value.as_doc())),
}
