"""Values as mongosh and Compass write them (``ISODate("…")``, ``NumberLong(5)``, ``/x/i``) in Extended JSON.

https://www.mongodb.com/docs/mongodb-shell/reference/data-types/
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final, NamedTuple

Argument = str | int | float
NOW: Final = "$$NOW"
"""The time at which a pipeline runs, for an expression; in a query it is a text as any other."""


class Value(NamedTuple):
    """What a call or a literal means: a JSON value, and a remark for where mongosh asks its own machine."""

    json: Any
    remark: str = ""

    @property
    def text(self) -> str:
        """The value as it is written in JSON."""
        return json.dumps(self.json, ensure_ascii=False)


def of_call(name: str, arguments: str) -> Value | None:
    """What ``name(arguments)`` means; None for what no value can be written for.

    Whether the value is a sound one, Extended JSON says: ``extended.pasted_value``.
    """
    constructor = _CONSTRUCTORS.get(name.removeprefix("new ").partition(".from")[0])
    given = _arguments(arguments)
    if constructor is None or given is None:
        return None
    try:
        value = constructor(given)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return value or None


def of_expression(pattern: str, flags: str) -> Value:
    """What a regular expression between slashes means; of its flags those that a server knows."""
    options = "".join(sorted(flag for flag in set(flags) if flag in "imsux"))
    return Value({"$regularExpression": {"pattern": pattern, "options": options}})


_TEXT = re.compile(r"""\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\\$]*`)\s*(,|$)""")
_NUMBER = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(,|$)")
_PAIR = re.compile(
    r"""\s*\{\s*["']?t["']?\s*:\s*([0-9]+)\s*,\s*["']?i["']?\s*:\s*([0-9]+)\s*,?\s*\}\s*(,|$)"""
)


def _arguments(text: str) -> list[Argument] | None:
    """The arguments of a call; None where one is neither a text nor a number."""
    found: list[Argument] = []
    at = 0
    while text[at:].strip():
        if match := _TEXT.match(text, at):
            found.append(unquote(match[1]))
        elif match := _NUMBER.match(text, at):
            found.append(int(match[1]) if match[1].lstrip("-").isdigit() else float(match[1]))
        elif match := _PAIR.match(text, at):
            found += [int(match[1]), int(match[2])]
        else:
            return None
        at = match.end()
    return found


_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def unquote(literal: str) -> str:
    """The text of a JavaScript string, given with its quotes."""

    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(character, literal[1:-1])


_INSTANT = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:?(?:\d\d)?)?)?"
)
_LOCAL: Final = "mongosh takes the time zone of its machine; this one is UTC"


def _date(given: Sequence[Argument], *, local: bool) -> Value | None:
    if not given:
        return Value(NOW, "that is the time at which the pipeline runs")
    if isinstance(given[0], str):
        match = _INSTANT.fullmatch(given[0].strip())
        return _instant(match, local=local) if match else None
    if len(given) == 1:
        return Value({"$date": _write(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=given[0]))})
    parts = [int(part) for part in given]
    parts[1:3] = [parts[1] + 1, *(parts[2:3] or [1])]  # JavaScript counts months from 0,
    parts[0] += 1900 if 0 <= parts[0] <= 99 else 0  # and years of two digits from 1900.
    time = datetime(parts[0], parts[1], parts[2], tzinfo=UTC)
    names = ("hours", "minutes", "seconds", "milliseconds")
    return Value({"$date": _write(time + timedelta(**dict(zip(names, parts[3:], strict=False))))}, _LOCAL)


def _instant(match: re.Match[str], *, local: bool) -> Value:
    year, month, day, hour, minute, second, fraction, zone = match.groups(default="0")
    clock = timedelta(
        hours=int(hour), minutes=int(minute), seconds=int(second), microseconds=int(f"{fraction:0<6}"[:6])
    )
    time = datetime(int(year), int(month), int(day), tzinfo=_zone(zone)) + clock
    return Value({"$date": _write(time)}, _LOCAL if local and match[4] and not match[8] else "")


def _zone(text: str) -> timezone:
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return timezone(-offset if text.startswith("-") else offset)


def _write(time: datetime) -> str:
    exact = time.astimezone(UTC).replace(tzinfo=None)
    return exact.isoformat(timespec="milliseconds" if exact.microsecond >= 1000 else "seconds") + "Z"


def _wrap(key: str, pattern: str = ".*") -> Callable[[Sequence[Argument]], Value | None]:
    """A type whose only argument is written into a wrapper as text, where it looks like ``pattern``."""

    def value(given: Sequence[Argument]) -> Value | None:
        (one,) = given
        text = str(one)
        return (
            Value({key: text.lower() if key in ("$oid", "$uuid") else text})
            if re.fullmatch(pattern, text)
            else None
        )

    return value


def _binary(given: Sequence[Argument]) -> Value:
    kind, content = given
    return Value({"$binary": {"base64": str(content), "subType": f"{int(kind):02x}"}})


def _hexadecimal(given: Sequence[Argument]) -> Value:
    return _binary([given[0], base64.b64encode(bytes.fromhex(str(given[1]))).decode("ascii")])


def _timestamp(given: Sequence[Argument]) -> Value:
    seconds, counter = (int(one) for one in given)
    return Value({"$timestamp": {"t": seconds, "i": counter}})


_WHOLE: Final = r"-?\d+"
_DOUBLE: Final = r"-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|Infinity)|NaN"
_CONSTRUCTORS: Final[Mapping[str, Callable[[Sequence[Argument]], Value | None]]] = {
    "ISODate": lambda given: _date(given, local=False),
    "Date": lambda given: _date(given, local=True),
    "ObjectId": _wrap("$oid", "[0-9A-Fa-f]{24}"),
    "ObjectID": _wrap("$oid", "[0-9A-Fa-f]{24}"),
    "NumberLong": _wrap("$numberLong", _WHOLE),
    "Long": _wrap("$numberLong", _WHOLE),
    "NumberInt": _wrap("$numberInt", _WHOLE),
    "Int32": _wrap("$numberInt", _WHOLE),
    "NumberDecimal": _wrap("$numberDecimal", r"[-+]?[0-9.eE+-]+|[-+]?Infinity|NaN"),
    "Decimal128": _wrap("$numberDecimal", r"[-+]?[0-9.eE+-]+|[-+]?Infinity|NaN"),
    "Double": _wrap("$numberDouble", _DOUBLE),
    "UUID": _wrap("$uuid", "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
    "BinData": _binary,
    "HexData": _hexadecimal,
    "Timestamp": _timestamp,
    "RegExp": lambda given: of_expression(str(given[0]), "".join(map(str, given[1:2]))),
    "BSONRegExp": lambda given: of_expression(str(given[0]), "".join(map(str, given[1:2]))),
    "Code": lambda given: Value({"$code": str(given[0])}),
    "MinKey": lambda given: Value({"$minKey": 1}),
    "MaxKey": lambda given: Value({"$maxKey": 1}),
}
