"""MongoDB Extended JSON v2, relaxed and canonical: plain JSON values → BSON types.

https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md

An object whose keys are those of a wrapper (``{"$oid": …}``, ``{"$date": …}`` …) becomes the value it
stands for; every other object, operators of the query and aggregation languages among them (``$regex``,
``$type``, ``$literal``, ``$dateFromString``), stays an object. ``bson`` is imported only for a value that
needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from mongo_tables.jsontext.shellvalues import Value

_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
_EPOCH = datetime(1970, 1, 1)


_Path = tuple[str | int, ...]


class Malformed(NamedTuple):
    """A wrapper that holds something else than it may: where (path from the root), what, and the fix."""

    path: _Path
    message: str
    hint: str


def decode(value: Any) -> tuple[Any, list[Malformed]]:
    """Give the BSON value of a parsed JSON value, and what was malformed (there the value is None).

    Integer literals become int (int32), ``bson.int64.Int64`` or, beyond 64 bits, float, as the
    specification says. Dates become naive ``datetime`` in UTC, as pymongo gives them, or ``DatetimeMS``
    outside the years 1–9999.
    """
    malformed: list[Malformed] = []
    return _decode(value, (), malformed), malformed


def read_pasted_value(name: str, arguments: str) -> Value | None:
    """What ``name(arguments)``, as shells write it, is in Extended JSON; None where it is no sound value."""
    from mongo_tables.jsontext.shellvalues import of_call  # only who pasted from a shell pays for it

    value = of_call(name, arguments)
    return value if value and not decode(value.json)[1] else None


def _decode(value: Any, path: _Path, malformed: list[Malformed]) -> Any:
    if isinstance(value, dict):
        wrapper = next((key for key in value if key in _WRAPPERS), None)
        if wrapper is not None:
            return _unwrap(wrapper, value, path, malformed)
        return {key: _decode(item, (*path, key), malformed) for key, item in value.items()}
    if isinstance(value, list):
        return [_decode(item, (*path, index), malformed) for index, item in enumerate(value)]
    if type(value) is int and value not in _INT32:
        return _long(value) if value in _INT64 else float(value)
    return value


def _unwrap(wrapper: str, value: dict[str, Any], path: _Path, malformed: list[Malformed]) -> Any:
    reader, companions, hint = _WRAPPERS[wrapper]
    extra = [key for key in value if key != wrapper and key not in companions]
    if extra:
        message = f"`{wrapper}` makes a value of its own and cannot stand beside `{extra[0]}`"
        malformed.append(Malformed((*path, extra[0]), message, f"write {hint} alone"))
        return None
    try:
        return reader(value)
    except (_Odd, ValueError, ArithmeticError) as fault:
        said = fault.args[0] if isinstance(fault, _Odd) else "does not hold such a value"
        malformed.append(
            Malformed((*path, wrapper), f"`{wrapper}` {said}", f"write {_format_day(value) or hint}")
        )
        return None


def _format_day(value: dict[str, Any]) -> str:
    """A day or a time without its zone, as a date is written; "" for anything else."""
    held = value.get("$date")
    if not isinstance(held, str):
        return ""
    import json

    from mongo_tables.jsontext.shellvalues import of_call

    date = of_call("ISODate", json.dumps(held))
    return date.text if date else ""


class _Odd(Exception):
    """What a wrapper holds that it may not, as the end of a sentence about it."""


# -- the wrappers
# ----------------------------------------------------------------------------------------------


def _text(value: dict[str, Any], key: str) -> str:
    held = value[key]
    if not isinstance(held, str):
        raise _Odd(f"needs a string, not {kind_of(held)}")
    return held


def _keys(held: Any, *keys: str) -> dict[str, Any]:
    """Give ``held`` when it is an object with exactly these keys."""
    if not isinstance(held, dict) or sorted(held) != sorted(keys):
        raise _Odd("needs an object with " + " and ".join(f"`{key}`" for key in keys))
    return held


def _object_id(value: dict[str, Any]) -> Any:
    text = _text(value, "$oid")
    if not re.fullmatch("[0-9a-fA-F]{24}", text):
        raise _Odd("needs 24 hexadecimal digits")
    from bson.objectid import ObjectId

    return ObjectId(text)


def _integer(value: dict[str, Any], key: str, bits: range) -> int:
    text = _text(value, key)
    if not re.fullmatch("-?[0-9]{1,20}", text) or int(text) not in bits:
        raise _Odd("needs the digits of a whole number of " + ("32" if bits is _INT32 else "64") + " bits")
    return int(text)


def _long(number: int) -> Any:
    from bson.int64 import Int64

    return Int64(number)


def _double(value: dict[str, Any]) -> float:
    text = _text(value, "$numberDouble")
    if not re.fullmatch(r"-?Infinity|NaN|-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?", text):
        raise _Odd("needs a number, `NaN`, `Infinity` or `-Infinity`, in quotes")
    return float(text)


def _decimal(value: dict[str, Any]) -> Any:
    from bson.decimal128 import Decimal128

    return Decimal128(_text(value, "$numberDecimal"))


_ISO_DATE = r"(?a)(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,3}))?([Zz]|[+-]\d\d:?\d\d)"


def _date(value: dict[str, Any]) -> Any:
    held = value["$date"]
    if isinstance(held, dict):
        return _date_of_millis(_integer(_keys(held, "$numberLong"), "$numberLong", _INT64))
    # Who reads from the inside out has made an Int64 of it already.
    if isinstance(held, int) and type(held) is not bool and int(held) in _INT64:
        return _date_of_millis(int(held))
    if not isinstance(held, str):
        raise _Odd(f"needs a date, not {kind_of(held)}")
    if held.startswith("$"):
        raise _Odd(f"needs a date, not the field path `{held}`: it is no operator")
    match = re.fullmatch(_ISO_DATE, held)
    if not match:
        raise _Odd("needs a date with its time, at most milliseconds, and its time zone")
    day, time, fraction, zone = match.groups()
    moment = datetime.fromisoformat(
        f"{day}T{time}.{(fraction or '0'):0<6}" + zone.upper().replace("Z", "+00:00")
    )
    return moment.astimezone(UTC).replace(tzinfo=None)


def _date_of_millis(millis: int) -> Any:
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        from bson.datetime_ms import DatetimeMS

        return DatetimeMS(millis)


def _binary(value: dict[str, Any]) -> Any:
    if isinstance(
        value["$binary"], str
    ):  # the form of Extended JSON v1: {"$binary": base64, "$type": subtype}
        held = {"base64": value["$binary"], "subType": value.get("$type")}
    else:
        held = _keys(value["$binary"], "base64", "subType")
    subtype = held["subType"]
    if not isinstance(subtype, str) or not re.fullmatch("[0-9a-fA-F]{1,2}", subtype):
        raise _Odd("needs a subtype of one or two hexadecimal digits, in quotes")
    from base64 import b64decode

    try:
        content = b64decode(_text(held, "base64"), validate=True)
    except ValueError:
        raise _Odd("needs content in base64") from None
    from bson.binary import Binary

    # Subtype 0 is what pymongo gives as plain bytes.
    return Binary(content, int(subtype, 16)) if int(subtype, 16) else content


def _uuid(value: dict[str, Any]) -> Any:
    text = _text(value, "$uuid")
    if not re.fullmatch("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        raise _Odd("needs 32 hexadecimal digits in groups of 8-4-4-4-12")
    from bson.binary import Binary

    return Binary(bytes.fromhex(text.replace("-", "")), 4)


def _regular_expression(value: dict[str, Any]) -> Any:
    held = _keys(value["$regularExpression"], "pattern", "options")
    pattern, options = _text(held, "pattern"), _text(held, "options")
    if not set(options) <= set("ilmsux"):
        raise _Odd(f"has an unknown option in `{options}`")
    from bson.regex import Regex

    flags = {"i": re.I, "l": re.L, "m": re.M, "s": re.S, "u": re.U, "x": re.X}
    return Regex(pattern, sum(int(flags[letter]) for letter in set(options)))


def _timestamp(value: dict[str, Any]) -> Any:
    held = _keys(value["$timestamp"], "t", "i")
    if not all(type(part) is int and 0 <= part < 2**32 for part in held.values()):
        raise _Odd("needs two whole numbers from 0 to 4294967295")
    from bson.timestamp import Timestamp

    return Timestamp(held["t"], held["i"])


def _min_key(value: dict[str, Any]) -> Any:
    _only(value["$minKey"], 1)
    from bson.min_key import MinKey

    return MinKey()


def _max_key(value: dict[str, Any]) -> Any:
    _only(value["$maxKey"], 1)
    from bson.max_key import MaxKey

    return MaxKey()


def _only(held: Any, allowed: int | bool) -> None:
    if held is not allowed and not (type(held) is type(allowed) and held == allowed):
        raise _Odd(f"holds nothing but {'true' if allowed is True else allowed}")


def _find_undefined(value: dict[str, Any]) -> None:
    # pymongo, too, gives null for the deprecated type "undefined".
    _only(value["$undefined"], True)


def _code(value: dict[str, Any]) -> Any:
    text = _text(value, "$code")
    scope, malformed = decode(value.get("$scope"))
    if malformed or ("$scope" in value and not isinstance(scope, dict)):
        raise _Odd("needs an object in `$scope`")
    from bson.code import Code

    return Code(text, scope)


def _db_pointer(value: dict[str, Any]) -> Any:
    held = _keys(value["$dbPointer"], "$ref", "$id")
    from bson.dbref import DBRef

    return DBRef(_text(held, "$ref"), _object_id(_keys(held["$id"], "$oid")))


_Wrapper = tuple[Callable[[dict[str, Any]], Any], tuple[str, ...], str]

#: Wrapper key → (reader, keys that may stand beside it, an example).
_WRAPPERS: dict[str, _Wrapper] = {
    "$oid": (_object_id, (), '{"$oid": "65f0c0ffee0000000000abcd"}'),
    "$date": (_date, (), '{"$date": "2026-01-31T00:00:00Z"}'),
    "$numberInt": (lambda value: _integer(value, "$numberInt", _INT32), (), '{"$numberInt": "42"}'),
    "$numberLong": (lambda value: _long(_integer(value, "$numberLong", _INT64)), (), '{"$numberLong": "42"}'),
    "$numberDouble": (_double, (), '{"$numberDouble": "1.5"}'),
    "$numberDecimal": (_decimal, (), '{"$numberDecimal": "1.5"}'),
    "$binary": (_binary, ("$type",), '{"$binary": {"base64": "AAEC", "subType": "00"}}'),
    "$uuid": (_uuid, (), '{"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}'),
    "$regularExpression": (
        _regular_expression,
        (),
        '{"$regularExpression": {"pattern": "^M", "options": ""}}',
    ),
    "$timestamp": (_timestamp, (), '{"$timestamp": {"t": 1700000000, "i": 1}}'),
    "$minKey": (_min_key, (), '{"$minKey": 1}'),
    "$maxKey": (_max_key, (), '{"$maxKey": 1}'),
    "$undefined": (_find_undefined, (), '{"$undefined": true}'),
    "$symbol": (lambda value: _text(value, "$symbol"), (), '{"$symbol": "text"}'),
    "$code": (_code, ("$scope",), '{"$code": "…"}'),
    "$dbPointer": (
        _db_pointer,
        (),
        '{"$dbPointer": {"$ref": "name", "$id": {"$oid": "65f0c0ffee0000000000abcd"}}}',
    ),
}

WRAPPERS: Final = frozenset(_WRAPPERS)
"""The keys that make an object a value of its own."""


def kind_of(value: Any) -> str:
    """Name the type of a parsed JSON value in plain words: "a string", "a list" …"""
    names = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else names.get(type(value), "another value")
