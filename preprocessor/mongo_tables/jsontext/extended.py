"""MongoDB Extended JSON v2, relaxed and canonical: plain JSON values → BSON types.

https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md

A wrapper, such as ``{"$oid": …}`` or ``{"$date": …}``, becomes the value that it represents. Every other object stays
an object, including operators such as ``$regex``, ``$type`` and ``$literal``.

``bson.json_util`` reads the wrappers. Patterns check them first, because ``bson.json_util`` silently drops unknown
options of a regular expression and characters that are not base64. ``bson`` is imported only for a value that needs it.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from operator import is_not
from typing import Any, Final

from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext import Path

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
_DECIMAL_END = 10**34
"""A Decimal128 has enough digits for every whole number below this one."""


def decode(value: Any) -> tuple[Any, list[Complaint[Path]]]:
    """Return the BSON value of a parsed JSON value, and complaints about malformed parts, which become None.

    The result shares unchanged parts with ``value``, so do not change either.

    Integer literals become ``int`` (32 bits), ``bson.int64.Int64`` (64 bits) or ``Decimal128``. For the longest
    integers, the specification uses a double, which would lose digits. A number with too many digits for ``Decimal128``
    is malformed. Dates become naive ``datetime`` in UTC or, outside the years 1–9999, ``DatetimeMS``.

    Example:
        >>> decode({"at": {"$date": "2026-01-31T00:00:00Z"}})
        ({'at': datetime.datetime(2026, 1, 31, 0, 0)}, [])
    """
    malformed: list[Complaint[Path]] = []
    return _decode(value, (), malformed), malformed


def _decode(value: Any, path: Path, malformed: list[Complaint[Path]]) -> Any:
    if isinstance(value, dict):
        if _WRAPPERS.keys().isdisjoint(value):
            changed = {}
            for key, item in value.items():
                if not isinstance(item, str):
                    decoded = _decode(item, (*path, key), malformed)
                    if decoded is not item:
                        changed[key] = decoded
            return {**value, **changed} if changed else value
        wrapper = next(key for key in value if key in _WRAPPERS)
        try:
            return _unwrap(wrapper, value)
        except ValueError:
            message, hint = f"`{wrapper}` is malformed", _with_time(value) or _WRAPPERS[wrapper][0]
            malformed.append(Complaint(message, f"write {hint}", (*path, wrapper), "MT123", on_key=True))
            return None
    if isinstance(value, list):
        items = [_decode(item, (*path, index), malformed) for index, item in enumerate(value)]
        return items if any(map(is_not, items, value)) else value
    if type(value) is int and value not in INT32:
        import bson

        if value in INT64:
            return bson.Int64(value)
        if abs(value) < _DECIMAL_END:
            return bson.Decimal128(str(value))
        message = (
            f"a whole number of {len(str(abs(value)))} digits is too long for every number type of MongoDB"
        )
        malformed.append(
            Complaint(message, "write it as a string, or as a decimal number: 1.0e40", path, "MT123")
        )
        return None
    return value


# -- the wrappers --

_BASE64: Final = r'"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"'
_OID: Final = r'{"\$oid": "[0-9a-fA-F]{24}"}'
_LONG: Final = r'{"\$numberLong": "-?[0-9]{1,19}"}'
_DATE: Final = r'"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:?\d\d))"'

_WRAPPERS: Final[dict[str, tuple[str, str]]] = {
    "$oid": ('{"$oid": "65f0c0ffee0000000000abcd"}', _OID),
    "$date": ('{"$date": "2026-01-31T00:00:00Z"}', rf'{{"\$date": (?:{_DATE}|{_LONG}|-?[0-9]{{1,19}})}}'),
    "$numberInt": ('{"$numberInt": "42"}', r'{"\$numberInt": "-?[0-9]{1,10}"}'),
    "$numberLong": ('{"$numberLong": "42"}', _LONG),
    "$numberDouble": (
        '{"$numberDouble": "1.5"}',
        r'{"\$numberDouble": "(?:-?Infinity|NaN|-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)"}',
    ),
    "$numberDecimal": ('{"$numberDecimal": "1.5"}', r'{"\$numberDecimal": ".*"}'),
    "$binary": (
        '{"$binary": {"base64": "AAEC", "subType": "00"}}',
        rf'{{"\$binary": (?:{{"base64": {_BASE64}, "subType": "[0-9a-fA-F]{{1,2}}"}}'
        rf'|{_BASE64}, "\$type": "[0-9a-fA-F]{{1,2}}")}}',
    ),
    "$uuid": (
        '{"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}',
        r'{"\$uuid": "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"}',
    ),
    "$regularExpression": (
        '{"$regularExpression": {"pattern": "^M", "options": ""}}',
        r'{"\$regularExpression": {"options": "[ilmsux]*", "pattern": ".*"}}',
    ),
    "$timestamp": (
        '{"$timestamp": {"t": 1700000000, "i": 1}}',
        r'{"\$timestamp": {"i": \d{1,10}, "t": \d{1,10}}}',
    ),
    "$minKey": ('{"$minKey": 1}', r'{"\$minKey": 1}'),
    "$maxKey": ('{"$maxKey": 1}', r'{"\$maxKey": 1}'),
    "$undefined": ('{"$undefined": true}', r'{"\$undefined": true}'),
    "$symbol": ('{"$symbol": "text"}', r'{"\$symbol": ".*"}'),
    "$code": ('{"$code": "…"}', r'{"\$code": ".*"(?:, "\$scope": {.*})?}'),
    "$dbPointer": (
        '{"$dbPointer": {"$ref": "name", "$id": {"$oid": "65f0c0ffee0000000000abcd"}}}',
        rf'{{"\$dbPointer": {{"\$id": {_OID}, "\$ref": ".*"}}}}',
    ),
}
"""An example of each wrapper, and the pattern of its JSON with sorted keys."""
_RANGES: Final = {"$numberInt": INT32, "$numberLong": INT64}

WRAPPERS: Final = frozenset(_WRAPPERS)
"""The keys of wrappers, which are objects that represent a value of another type."""


def _unwrap(wrapper: str, value: dict[str, Any]) -> Any:
    """Return the value of a wrapper. Raises ``ValueError`` if the wrapper is malformed."""
    match = re.fullmatch(_WRAPPERS[wrapper][1], json.dumps(value, sort_keys=True, default=str))
    if match is None:
        raise ValueError
    if wrapper == "$date" and match[1]:
        try:
            return datetime.fromisoformat(match[1]).astimezone(UTC).replace(tzinfo=None)
        except OverflowError as error:
            raise ValueError from error
    from bson import codec_options, errors, json_util

    dates = codec_options.DatetimeConversion.DATETIME_AUTO
    options = json_util.JSONOptions(datetime_conversion=dates, tz_aware=False)
    try:
        found = json_util.loads(json.dumps(value), json_options=options)
    except (errors.BSONError, ArithmeticError, TypeError, LookupError, AttributeError) as error:
        raise ValueError from error
    if wrapper in _RANGES and int(found) not in _RANGES[wrapper]:
        raise ValueError
    return found


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
    """Return the Extended JSON of the call ``name(arguments)`` in mongosh, or None for an unknown call.

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
        # `Date` uses the time zone of the shell, which is unknown here, for a time without a zone.
        if day is None or (name == "Date" and day[2] and not day[4]):
            return None
        text = f"{day[1]}T{day[2] or '00:00'}{day[3] or ':00'}{day[4] or 'Z'}"
    value = {key: text.lower() if key in ("$oid", "$uuid") else text}
    try:
        _unwrap(key, value)
    except ValueError:
        return None
    return value


def of_regular_expression(pattern: str, flags: str) -> Any:
    """Return the Extended JSON of ``/pattern/flags``, without flags that MongoDB does not support.

    Example:
        >>> of_regular_expression("a.*", "i")
        {'$regularExpression': {'pattern': 'a.*', 'options': 'i'}}
    """
    options = "".join(sorted(set(flags) & set("imsux")))
    return {"$regularExpression": {"pattern": pattern, "options": options}}


def _with_time(value: dict[str, Any]) -> str:
    """Return the corrected ``$date`` if only its time or its time zone is missing, or else ""."""
    held = value.get("$date")
    date = of_shell_call("ISODate", json.dumps(held)) if isinstance(held, str) else None
    return json.dumps(date) if date else ""
