"""Conversions: `$convert` and its short forms.

`$toBool`, `$toDate`, `$toDecimal`, `$toDouble`, `$toInt`, `$toLong`, `$toObjectId`, `$toString`, `$toUUID`.

The text of a double is the shortest text that is read back as the same double, in MongoDB 8 as in Python. Before 8.0,
the text had six digits.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/ (8.0; binary numbers since
8.1).
"""

from __future__ import annotations

import base64
import decimal
import functools
import math
import re
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from bson.binary import Binary
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.objectid import ObjectId

from mongo_tables.aggregation.compiler import Runs, named, operator
from mongo_tables.aggregation.date_formats import ISO_UTC, date_text, read_date
from mongo_tables.aggregation.dates import UTC, date_millis
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.numbers import CONTEXT, decimal128, integral, rank, to_decimal, to_double
from mongo_tables.aggregation.values import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    TYPE_NAMES,
    Document,
    binary_parts,
    date_from_millis,
    is_nullish,
    is_string,
    millis,
    mistyped,
    truthy,
    type_name,
)

_ALIASES: Final[Mapping[int, str]] = {**TYPE_NAMES, 0: "missing"}
_FORMATS = ("auto", "base64", "base64url", "hex", "utf8", "uuid")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_NAN = re.compile(r"[+-]?nan(?:\([0-9A-Za-z_]*\))?", re.IGNORECASE)
_PLAIN_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_INFINITY = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Manner:
    """The options of a conversion: the base of integers in strings, and the format, byte order and subtype of binary
    data."""

    base: int | None = None
    format: str | None = None
    big: bool = False
    subtype: Any = 0


_DEFAULT = Manner(format="auto")
Convert = Callable[[Any, Manner], Any]


def _failure(message: str) -> AggregationError:
    """Return the error for a failed conversion. ``onError`` catches this error."""
    return AggregationError(message, code=241)


# Numbers, and numbers in texts.


def double_text(value: float) -> str:
    """Return the text of a double: ``1``, ``0.1``, ``1e+16``, ``-0``, ``NaN``, ``-Infinity``."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value).removesuffix(".0")


def read_integer(text: str, base: int = 10) -> int | None:
    """Return the integer in ``text``, or None. Spaces and separators are not allowed.

    Example:
        >>> read_integer("0x1F", base=16)
        31
    """
    sign, digits = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if base == 16 and digits[:2] in ("0x", "0X"):
        digits = digits[2:]
    allowed = "0123456789abcdef"[:base]
    if not digits or any(letter not in allowed for letter in digits.lower()):
        return None
    digits = digits.lstrip("0") or "0"
    if len(digits) > 64:  # no int64; also, Python refuses to read thousands of digits
        return None
    return int(sign + digits, base)


def read_double(text: str) -> float | None:
    """Return the double in ``text``, or None if the server (C's ``strtod``) refuses it.

    The server refuses numbers that overflow, and subnormal numbers that it would have to round.
    """
    if _DECIMAL.fullmatch(text):
        value = float(text)
        if abs(value) < sys.float_info.min and text.lower().partition("e")[0].strip("+-.0"):
            return value if value != 0 and Decimal(text) == Decimal(value) else None
        return None if math.isinf(value) else value
    if infinity := _INFINITY.fullmatch(text):
        return -math.inf if infinity[1] == "-" else math.inf
    if _NAN.fullmatch(text):
        return -math.nan if text.startswith("-") else math.nan
    try:
        return float.fromhex(text) if _HEXADECIMAL.fullmatch(text) else None
    except OverflowError:
        return None


def read_decimal(text: str) -> Decimal | None:
    """Return the Decimal128 in ``text``, truncated to 34 digits. Return None if there is no number, or it does not
    fit.
    """
    if infinity := _INFINITY.fullmatch(text):
        return Decimal("-Infinity" if infinity[1] == "-" else "Infinity")
    if _PLAIN_NAN.fullmatch(text):
        return Decimal("NaN")
    if not _DECIMAL.fullmatch(text):
        return None
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > 12:
        if mantissa.strip("+-.0"):
            return None
        exponent = exponent[:12]
    context = CONTEXT.copy()
    # The server drops the digits of a string after the 34th.
    context.rounding = decimal.ROUND_DOWN
    context.clear_flags()
    value = context.create_decimal(f"{mantissa}e{exponent or 0}")
    if context.flags[decimal.Overflow] or context.flags[decimal.Underflow] or not value.is_finite():
        return None
    return value


def _whole(value: Any, least: int, most: int) -> int:
    """Return the number truncated to an integer. Raises AggregationError if it is out of bounds, infinite or NaN."""
    number: Any = to_decimal(value) if isinstance(value, Decimal128) else value
    if not (number.is_finite() if isinstance(value, Decimal128) else math.isfinite(number)):
        raise _failure(f"{double_text(to_double(value))} is not an integer")
    # The server compares a double before truncation, a Decimal128 after it.
    if isinstance(value, float) and not least <= value <= most:
        raise _failure(f"{double_text(value)} does not fit the target type")
    if isinstance(value, Decimal128) and number.adjusted() > 20:
        raise _failure(f"{value} does not fit the target type")
    found = int(number)
    if not least <= found <= most:
        raise _failure(f"{found} does not fit the target type")
    return found


def _to_double(value: Any, manner: Manner) -> float:
    if not isinstance(value, Decimal128):
        return float(value)
    exact = value.to_decimal()
    if not exact.is_finite() or not exact:
        return to_double(value)
    found = read_double(str(exact))
    if found is None:
        raise _failure(f"{value} does not fit a double")
    return found


_NUMBER: dict[str, Convert] = {
    "int": lambda value, manner: _whole(value, INT32_MIN, INT32_MAX),
    "long": lambda value, manner: Int64(_whole(value, INT64_MIN, INT64_MAX)),
    "double": _to_double,
    "decimal": lambda value, manner: decimal128(to_decimal(value)),
}


def _number_to_text(value: Any, manner: Manner) -> str:
    if manner.base is None:
        return double_text(value) if isinstance(value, float) else str(value)
    number = integral(value)
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        raise _failure(f"{value} cannot be written in base {manner.base}: it does not fit int64")
    return format(number, {2: "b", 8: "o", 10: "d", 16: "X"}[manner.base])


def _text_to_number(target: str, text: str, manner: Manner) -> Any:
    if text.startswith("0x"):
        raise _failure(f"'{text}' is hexadecimal and cannot be parsed as a number")
    if manner.base is not None or target in ("int", "long"):
        number = read_integer(text, manner.base or 10)
        if number is None or not INT64_MIN <= number <= INT64_MAX:
            raise _failure(f"cannot parse '{text}' as {target}")
        return _NUMBER[target](number, manner)
    found: Any = read_double(text) if target == "double" else read_decimal(text)
    if found is None:
        raise _failure(f"cannot parse '{text}' as {target}")
    return found if target == "double" else decimal128(found)


# Binary data.


def _binary_to_text(value: Any, manner: Manner) -> str:
    """Return the text of binary data in a format. ``auto`` writes a UUID as a UUID, and other data in base64."""
    subtype, data = binary_parts(value)
    is_uuid = subtype == 4 and len(data) == 16
    written = _needs_format(manner)
    if written == "uuid" and not is_uuid:
        raise _failure("the binary data is not a UUID (subtype 4, 16 bytes)")
    if is_uuid and written in ("auto", "uuid"):
        return str(UUID(bytes=data))
    if written == "hex":
        return data.hex().upper()
    if written == "base64url":
        return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
    if written == "utf8":
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise _failure("the binary data is not valid UTF-8") from None
    return base64.b64encode(data).decode("ascii")


def _text_to_binary(value: str, manner: Manner) -> Binary:
    written, subtype, text = _needs_format(manner), _subtype(manner), value
    if (written == "uuid") != (subtype == 4):
        raise _failure("the format 'uuid' requires subtype 4, and subtype 4 requires the format 'uuid'")
    if written == "uuid":
        if not _UUID.fullmatch(value):
            raise _failure(f"'{value}' is not a UUID")
        return Binary(UUID(value).bytes, 4)
    if written == "hex":
        if len(value) % 2 or re.search(r"[^0-9a-fA-F]", value):
            raise _failure(f"'{value}' is not a hexadecimal string")
        return Binary(bytes.fromhex(value), subtype)
    if written == "utf8":
        return Binary(value.encode("utf-8"), subtype)
    if written == "auto":
        raise _failure("the format 'auto' converts only from binary data to a string")
    if written == "base64url":
        text = value.replace("-", "+").replace("_", "/")
        text = text if "=" in text else text + "=" * (-len(text) % 4)
    if not _BASE64.fullmatch(text) or (written == "base64url" and re.search("[+/]", value)):
        raise _failure(f"'{value}' is not a valid {written} string")
    return Binary(base64.b64decode(text), subtype)


def _binary_to_number(target: str, value: Any, manner: Manner) -> Any:
    """Return the number in binary data: two's complement of 1 to 8 bytes, or IEEE 754 of 4 or 8 bytes."""
    data, widest = binary_parts(value)[1], 4 if target == "int" else 8
    if len(data) not in ((4, 8) if target == "double" else (1, 2, 4, 8)) or len(data) > widest:
        raise _failure(f"{len(data)} bytes cannot be converted to this number")
    if target == "double":
        return struct.unpack((">" if manner.big else "<") + ("f" if len(data) == 4 else "d"), data)[0]
    found = int.from_bytes(data, "big" if manner.big else "little", signed=True)
    return Int64(found) if target == "long" else found


def _number_to_binary(value: Any, manner: Manner) -> Binary:
    """Return the number as binary data: int32 in 4 bytes, int64 and double in 8."""
    if isinstance(value, float):
        return Binary(struct.pack(">d" if manner.big else "<d", value), _subtype(manner))
    width = 4 if type_name(value) == "int" else 8
    data = int(value).to_bytes(width, "big" if manner.big else "little", signed=True)
    return Binary(data, _subtype(manner))


def _binary_to_binary(value: Any, manner: Manner) -> Any:
    if binary_parts(value)[0] != _subtype(manner):
        raise _failure("binary data cannot be converted from one subtype to another")
    return value


def _needs_format(manner: Manner) -> str:
    if manner.format is None:
        raise AggregationError("$convert between string and binData needs 'format'", code=4341115)
    return manner.format


def _subtype(manner: Manner) -> int:
    if not rank(manner.subtype):
        raise mistyped("a binData subtype must be a number, not", manner.subtype, 4341108)
    number = integral(manner.subtype)
    if number is None:
        raise AggregationError("a binData subtype must be a whole number", code=4341106)
    if not (0 <= number <= 9 or 128 <= number <= 255):
        raise AggregationError(f"unknown binData subtype {number}", code=4341107)
    return number


# The other types, and the table of all.


def _text_to_object_id(text: str, manner: Manner) -> ObjectId:
    if not re.fullmatch("[0-9a-fA-F]{24}", text):
        raise _failure(f"'{text}' is not an ObjectId of 24 hexadecimal digits")
    return ObjectId(text)


def _moment_to_date(value: Any, manner: Manner) -> Any:
    return date_from_millis(date_millis(value))


def _table() -> dict[tuple[str, str], Convert]:
    table: dict[tuple[str, str], Convert] = {
        ("string", "objectId"): _text_to_object_id,
        ("string", "date"): lambda value, manner: date_from_millis(read_date(value, UTC)),
        ("string", "binData"): _text_to_binary,
        ("binData", "string"): _binary_to_text,
        ("binData", "binData"): _binary_to_binary,
        ("objectId", "string"): lambda value, manner: str(value),
        ("objectId", "date"): _moment_to_date,
        ("timestamp", "date"): _moment_to_date,
        ("bool", "string"): lambda value, manner: "true" if value else "false",
        ("date", "string"): lambda value, manner: date_text(millis(value), UTC, ISO_UTC),
    }
    for kind in _NUMBER:
        table |= {(kind, target): convert for target, convert in _NUMBER.items()}
        table[kind, "bool"] = lambda value, manner: truthy(value)
        table[kind, "string"] = _number_to_text
        table["string", kind] = functools.partial(_text_to_number, kind)
        table["bool", kind] = _NUMBER[kind]
        if kind != "int":
            table[kind, "date"] = lambda value, manner: date_from_millis(_whole(value, INT64_MIN, INT64_MAX))
            table["date", kind] = functools.partial(_date_to_number, kind)
        if kind != "decimal":
            table["binData", kind] = functools.partial(_binary_to_number, kind)
            table[kind, "binData"] = _number_to_binary
    for kind in set(_ALIASES.values()) - {"missing", "null", "undefined", *_NUMBER}:
        table[kind, "bool"] = lambda value, manner: True
    for kind in ("double", "decimal", "string", "bool", "date", "objectId"):
        table[kind, kind] = lambda value, manner: value
    return table


def _date_to_number(target: str, value: Any, manner: Manner) -> Any:
    return _NUMBER[target](Int64(millis(value)), manner)


_TABLE = _table()


def convert(value: Any, target: str, manner: Manner = _DEFAULT) -> Any:
    """Convert a non-null ``value`` to the type ``target``. Raises AggregationError, with code 241 for bad values."""
    kind = type_name(value)
    function = _TABLE.get((kind, target))
    if function is None:
        raise _failure(f"{kind} cannot be converted to {target}")
    return function(value, manner)


for _target in ("bool", "date", "decimal", "double", "int", "long", "objectId", "string"):
    operator(f"$to{_target[0].upper()}{_target[1:]}")(functools.partial(convert, target=_target))
operator("$toUUID")(functools.partial(convert, target="binData", manner=Manner(format="uuid", subtype=4)))


@named("$convert")
def _convert(name: str, document: Document, runs: Runs) -> Any:
    to, value = runs["to"](document), runs["input"](document)
    base, written, order = (
        runs[key](document) if key in runs else None for key in ("base", "format", "byteOrder")
    )
    kind, subtype = _target_type(to)
    if is_nullish(value):
        return runs["onNull"](document) if "onNull" in runs else None
    if kind is None:
        return None
    manner = _manner(base, written, order, subtype)
    try:
        return convert(value, kind, manner)
    except AggregationError as error:
        if error.code == 241 and "onError" in runs:
            return runs["onError"](document)
        raise


def _target_type(to: Any) -> tuple[str | None, Any]:
    """Return the type name in ``to`` (None if ``to`` is null), and the subtype."""
    subtype: Any = 0
    if isinstance(to, Mapping):
        subtype = to.get("subtype", 0)
        if is_nullish(to.get("type")):
            raise AggregationError("the document 'to' of $convert requires a 'type'", code=9)
        to = to["type"]
    if is_nullish(to):
        return None, subtype
    if is_string(to):
        if to not in _ALIASES.values():
            raise AggregationError(f"unknown type '{to}'", code=2)
        return to, subtype
    if not rank(to):
        raise mistyped("'to' of $convert must be the name or number of a type, not", to, 9)
    number = integral(to)
    if number is None or number not in _ALIASES:
        raise AggregationError(f"unknown type number {to}", code=9)
    return _ALIASES[number], subtype


def _manner(base: Any, written: Any, order: Any, subtype: Any) -> Manner:
    whole = None if is_nullish(base) else integral(base)
    if not is_nullish(base) and whole not in (2, 8, 10, 16):
        raise AggregationError("'base' of $convert must be 2, 8, 10 or 16", code=3501301)
    if not is_nullish(written) and written not in _FORMATS:
        raise AggregationError(f"'format' of $convert must be one of {', '.join(_FORMATS)}", code=4341125)
    if not is_nullish(order) and order not in ("little", "big"):
        raise AggregationError("'byteOrder' of $convert must be 'little' or 'big'", code=9130002)
    return Manner(whole, None if is_nullish(written) else str(written), order == "big", subtype)
