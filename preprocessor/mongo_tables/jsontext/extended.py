"""MongoDB Extended JSON v2, relaxed and canonical: plain JSON values → BSON types.

https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md

An object whose keys are those of a wrapper (``{"$oid": …}``, ``{"$date": …}`` …) becomes the value that it represents.
Every other object stays an object, including operators of the query and aggregation languages (``$regex``, ``$type``,
``$literal``, ``$dateFromString``). ``bson`` is imported only for a value that needs it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mongo_tables.findings.finding import Complaint

_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
_DECIMAL_END = 10**34
"""The first whole number that a Decimal128 may round."""
_EPOCH = datetime(1970, 1, 1)

_Path = tuple[str | int, ...]


def decode(value: Any) -> tuple[Any, list[Complaint[_Path]]]:
    """Return the BSON value of a parsed JSON value, and complaints about malformed parts (whose value is None).

    Integer literals become int (int32), ``bson.int64.Int64`` or, beyond 64 bits, ``Decimal128``: the specification has
    a double, which would lose digits. With more digits than that holds they are malformed.
    Dates become naive ``datetime`` in UTC, as in pymongo, or ``DatetimeMS`` outside the years 1–9999.

    Example:
        >>> decode({"at": {"$date": "2026-01-31T00:00:00Z"}})
        ({'at': datetime.datetime(2026, 1, 31, 0, 0)}, [])
    """
    malformed: list[Complaint[_Path]] = []
    return _decode(value, (), malformed), malformed


def _decode(value: Any, path: _Path, malformed: list[Complaint[_Path]]) -> Any:
    if isinstance(value, dict):
        if not _WRAPPERS.keys().isdisjoint(value):
            return _unwrap(next(key for key in value if key in _WRAPPERS), value, path, malformed)
        return {key: _decode(item, (*path, key), malformed) for key, item in value.items()}
    if isinstance(value, list):
        return [_decode(item, (*path, index), malformed) for index, item in enumerate(value)]
    if type(value) is int and value not in _INT32:
        if value in _INT64:
            return _long(value)
        if abs(value) < _DECIMAL_END:
            return _bson().decimal128.Decimal128(str(value))
        message = f"a whole number of {len(str(abs(value)))} digits, which no number of MongoDB holds"
        malformed.append(
            Complaint(message, "write it as a string, or as a decimal number: 1.0e40", path, "MT123")
        )
        return None
    return value


def _unwrap(
    wrapper: str,
    value: dict[str, Any],
    path: _Path,
    malformed: list[Complaint[_Path]],
) -> Any:
    reader, companions, hint = _WRAPPERS[wrapper]
    extra = [key for key in value if key != wrapper and key not in companions]
    if extra:
        message = f"an object with `{wrapper}` is one value and must not also have `{extra[0]}`"
        malformed.append(Complaint(message, f"write {hint}", (*path, extra[0]), "MT123", on_key=True))
        return None
    try:
        return reader(value)
    except (_Odd, ValueError, ArithmeticError) as fault:
        said = fault.args[0] if isinstance(fault, _Odd) else "does not hold such a value"
        hint = f"write {_with_time(value) or hint}"
        malformed.append(Complaint(f"`{wrapper}` {said}", hint, (*path, wrapper), "MT123", on_key=True))
        return None


def _bson() -> Any:
    """Return the module of MongoDB's types. A page without such a value does not pay for the import."""
    import bson

    return bson


class _Odd(Exception):
    """An invalid content of a wrapper, described by the end of a sentence."""


# -- the wrappers --


def _text(value: dict[str, Any], key: str) -> str:
    held = value[key]
    if not isinstance(held, str):
        raise _Odd(f"needs a string, not {kind_of(held)}")
    return held


def _keys(held: Any, *keys: str) -> dict[str, Any]:
    """Return ``held`` if it is an object with exactly these keys."""
    if not isinstance(held, dict) or sorted(held) != sorted(keys):
        raise _Odd("needs an object with " + " and ".join(f"`{key}`" for key in keys))
    return held


def _object_id(value: dict[str, Any]) -> Any:
    text = _text(value, "$oid")
    if not re.fullmatch("[0-9a-fA-F]{24}", text):
        raise _Odd("needs 24 hexadecimal digits")
    return _bson().ObjectId(text)


def _integer(value: dict[str, Any], key: str, bits: range) -> int:
    text = _text(value, key)
    if not re.fullmatch("-?[0-9]{1,20}", text) or int(text) not in bits:
        raise _Odd("needs the digits of a whole number of " + ("32" if bits is _INT32 else "64") + " bits")
    return int(text)


def _long(number: int) -> Any:
    return _bson().Int64(number)


def _double(value: dict[str, Any]) -> float:
    text = _text(value, "$numberDouble")
    if not re.fullmatch(r"-?Infinity|NaN|-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?", text):
        raise _Odd("needs a number, `NaN`, `Infinity` or `-Infinity`, in quotes")
    return float(text)


_ISO_DATE = r"(?a)(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,3}))?([Zz]|[+-]\d\d:?\d\d)"


def _date(value: dict[str, Any]) -> Any:
    held = value["$date"]
    if isinstance(held, dict):
        return _date_of_millis(_integer(_keys(held, "$numberLong"), "$numberLong", _INT64))
    # If inner values are decoded first, it is already an Int64.
    if isinstance(held, int) and type(held) is not bool and int(held) in _INT64:
        return _date_of_millis(int(held))
    if not isinstance(held, str):
        raise _Odd(f"needs a date, not {kind_of(held)}")
    if held.startswith("$"):
        raise _Odd(f"needs a date, not the field path `{held}`: `$date` is not an operator")
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
        return _bson().DatetimeMS(millis)


def _binary(value: dict[str, Any]) -> Any:
    if isinstance(value["$binary"], str):  # Extended JSON v1: {"$binary": base64, "$type": subtype}
        held = {"base64": value["$binary"], "subType": value.get("$type")}
    else:
        held = _keys(value["$binary"], "base64", "subType")
    subtype = held["subType"]
    if not isinstance(subtype, str) or not re.fullmatch("[0-9a-fA-F]{1,2}", subtype):
        raise _Odd("needs a subtype of one or two hexadecimal digits, in quotes")
    try:
        content = base64.b64decode(_text(held, "base64"), validate=True)
    except ValueError:
        raise _Odd("needs content in base64") from None
    # pymongo represents subtype 0 as plain bytes.
    return _bson().Binary(content, int(subtype, 16)) if int(subtype, 16) else content


def _uuid(value: dict[str, Any]) -> Any:
    text = _text(value, "$uuid")
    if not re.fullmatch("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        raise _Odd("needs 32 hexadecimal digits in groups of 8-4-4-4-12")
    return _bson().Binary(bytes.fromhex(text.replace("-", "")), 4)


def _regular_expression(value: dict[str, Any]) -> Any:
    held = _keys(value["$regularExpression"], "pattern", "options")
    pattern, options = _text(held, "pattern"), _text(held, "options")
    if not set(options) <= set("ilmsux"):
        raise _Odd(f"has an unknown option in `{options}`")
    flags = {"i": re.I, "l": re.L, "m": re.M, "s": re.S, "u": re.U, "x": re.X}
    return _bson().Regex(pattern, sum(int(flags[letter]) for letter in set(options)))


def _timestamp(value: dict[str, Any]) -> Any:
    held = _keys(value["$timestamp"], "t", "i")
    if not all(type(part) is int and 0 <= part < 2**32 for part in held.values()):
        raise _Odd("needs two whole numbers from 0 to 4294967295")
    return _bson().Timestamp(held["t"], held["i"])


def _sign(value: dict[str, Any], key: str, allowed: int | bool, meant: Any) -> Any:
    """Return ``meant`` for a wrapper that only holds a sign, as ``{"$minKey": 1}``."""
    held = value[key]
    if type(held) is not type(allowed) or held != allowed:
        raise _Odd(f"must have the value {'true' if allowed is True else allowed}")
    return meant


def _code(value: dict[str, Any]) -> Any:
    text = _text(value, "$code")
    scope, malformed = decode(value.get("$scope"))
    if malformed or ("$scope" in value and not isinstance(scope, dict)):
        raise _Odd("needs an object in `$scope`")
    return _bson().Code(text, scope)


def _db_pointer(value: dict[str, Any]) -> Any:
    held = _keys(value["$dbPointer"], "$ref", "$id")
    return _bson().DBRef(_text(held, "$ref"), _object_id(_keys(held["$id"], "$oid")))


_Wrapper = tuple[Callable[[dict[str, Any]], Any], tuple[str, ...], str]

#: Wrapper key → (reader, additional keys that are allowed, an example).
_WRAPPERS: dict[str, _Wrapper] = {
    "$oid": (_object_id, (), '{"$oid": "65f0c0ffee0000000000abcd"}'),
    "$date": (_date, (), '{"$date": "2026-01-31T00:00:00Z"}'),
    "$numberInt": (lambda value: _integer(value, "$numberInt", _INT32), (), '{"$numberInt": "42"}'),
    "$numberLong": (lambda value: _long(_integer(value, "$numberLong", _INT64)), (), '{"$numberLong": "42"}'),
    "$numberDouble": (_double, (), '{"$numberDouble": "1.5"}'),
    "$numberDecimal": (
        lambda value: _bson().Decimal128(_text(value, "$numberDecimal")),
        (),
        '{"$numberDecimal": "1.5"}',
    ),
    "$binary": (_binary, ("$type",), '{"$binary": {"base64": "AAEC", "subType": "00"}}'),
    "$uuid": (_uuid, (), '{"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}'),
    "$regularExpression": (
        _regular_expression,
        (),
        '{"$regularExpression": {"pattern": "^M", "options": ""}}',
    ),
    "$timestamp": (_timestamp, (), '{"$timestamp": {"t": 1700000000, "i": 1}}'),
    "$minKey": (lambda value: _sign(value, "$minKey", 1, _bson().MinKey()), (), '{"$minKey": 1}'),
    "$maxKey": (lambda value: _sign(value, "$maxKey", 1, _bson().MaxKey()), (), '{"$maxKey": 1}'),
    # pymongo also returns null for the deprecated type "undefined".
    "$undefined": (lambda value: _sign(value, "$undefined", True, None), (), '{"$undefined": true}'),
    "$symbol": (lambda value: _text(value, "$symbol"), (), '{"$symbol": "text"}'),
    "$code": (_code, ("$scope",), '{"$code": "…"}'),
    "$dbPointer": (
        _db_pointer,
        (),
        '{"$dbPointer": {"$ref": "name", "$id": {"$oid": "65f0c0ffee0000000000abcd"}}}',
    ),
}

WRAPPERS: Final = frozenset(_WRAPPERS)
"""The keys that turn an object into a value."""


def kind_of(value: Any) -> str:
    """Return the type of a parsed JSON value in plain words: "a string", "a list" …"""
    names = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else names.get(type(value), "another value")


# -- shell notation --

_OF_SHELLS: Final = {
    "ISODate": "$date",
    "Date": "$date",
    "ObjectId": "$oid",
    "ObjectID": "$oid",
    "NumberLong": "$numberLong",
    "Long": "$numberLong",
    "NumberInt": "$numberInt",
    "Int32": "$numberInt",
    "NumberDecimal": "$numberDecimal",
    "Decimal128": "$numberDecimal",
    "Double": "$numberDouble",
    "UUID": "$uuid",
}
_ARGUMENT: Final = re.compile(r"""\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|(-?[0-9.]+))\s*""")
_DAY: Final = re.compile(
    r"(?a)(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:?\d\d)?)?"
)


def of_shell_call(name: str, arguments: str) -> Any:
    """Return the Extended JSON of mongosh's ``name(arguments)``, or None if its value is not certain.

    https://www.mongodb.com/docs/mongodb-shell/reference/data-types/

    Example:
        >>> of_shell_call("ISODate", '"2026-01-31"')
        {'$date': '2026-01-31T00:00:00Z'}
    """
    name = name.removeprefix("new ").partition(".from")[0]
    if name in ("MinKey", "MaxKey") and not arguments.strip():
        return {f"${name[0].lower()}{name[1:]}": 1}
    key, match = _OF_SHELLS.get(name), _ARGUMENT.fullmatch(arguments)
    if key is None or match is None:
        return None
    text: str = match[1] or match[2] or match[3] or ""
    if key == "$date":
        day = _DAY.fullmatch(text)
        # `Date` reads a time without a zone in the time zone of the shell, which is unknown here.
        if day is None or (name == "Date" and day[2] and not day[4]):
            return None
        text = f"{day[1]}T{day[2] or '00:00'}{day[3] or ':00'}{day[4] or 'Z'}"
    value = {key: text.lower() if key in ("$oid", "$uuid") else text}
    try:
        _WRAPPERS[key][0](value)
    except (_Odd, ValueError, ArithmeticError):
        return None
    return value


def of_regular_expression(pattern: str, flags: str) -> Any:
    """Return the Extended JSON of ``/pattern/flags``, with only the flags that a server supports.

    Example:
        >>> of_regular_expression("a.*", "i")
        {'$regularExpression': {'pattern': 'a.*', 'options': 'i'}}
    """
    options = "".join(sorted(set(flags) & set("imsux")))
    return {"$regularExpression": {"pattern": pattern, "options": options}}


def _with_time(value: dict[str, Any]) -> str:
    """Return a day or a time without a zone in the notation of dates, or "" for anything else."""
    held = value.get("$date")
    date = of_shell_call("ISODate", json.dumps(held)) if isinstance(held, str) else None
    return json.dumps(date) if date else ""
