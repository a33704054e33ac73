"""Conversions: `$convert` and its short forms `$toBool`, `$toDate`, `$toDecimal`, `$toDouble`, `$toInt`, `$toLong`,
`$toObjectId`, `$toString`, `$toUUID`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/ (8.0; binary numbers since 8.1).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.objectid import ObjectId

from mongo_tables.aggregation import binarytext
from mongo_tables.aggregation.bsontypes import NAMES
from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    fold_constant,
    form,
    operator,
)
from mongo_tables.aggregation.dateformats import ISO_UTC, date_text
from mongo_tables.aggregation.dates import UTC, date_millis
from mongo_tables.aggregation.datetext import read_date
from mongo_tables.aggregation.doubletext import double_text, read_decimal, read_double, read_integer
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import decimal128, integral, rank, to_decimal, to_double
from mongo_tables.aggregation.values import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    Document,
    date_from_millis,
    is_nullish,
    is_string,
    millis,
    truthy,
    type_name,
)

_ALIASES: Final[Mapping[int, str]] = {**NAMES, 0: "missing"}


@dataclass(frozen=True, slots=True)
class Manner:
    """How to convert, where there is a choice: base of integers in strings, and how binary data is written."""

    base: int | None = None
    format: str | None = None
    big: bool = False
    subtype: Any = 0


_DEFAULT = Manner(format="auto")
Convert = Callable[[Any, Manner], Any]


def failure(message: str) -> AggregationError:
    """A conversion that failed: what ``onError`` catches."""
    return AggregationError(message, code=241)


def _same(value: Any, manner: Manner) -> Any:
    return value


def _true(value: Any, manner: Manner) -> bool:
    return True


def _whole(value: Any, least: int, most: int) -> int:
    """The number cut off to an integer between the two, or a failure."""
    number: Any = to_decimal(value) if isinstance(value, Decimal128) else value
    if not (number.is_finite() if isinstance(value, Decimal128) else math.isfinite(number)):
        raise failure(f"{double_text(to_double(value))} is no integer")
    # The server compares a double as it stands, a Decimal128 once it is cut off.
    if isinstance(value, float) and not least <= value <= most:
        raise failure(f"{double_text(value)} does not fit the type asked for")
    if isinstance(value, Decimal128) and number.adjusted() > 20:
        raise failure(f"{value} does not fit the type asked for")
    found = int(number)
    if not least <= found <= most:
        raise failure(f"{found} does not fit the type asked for")
    return found


def _to_int(value: Any, manner: Manner) -> int:
    return _whole(value, INT32_MIN, INT32_MAX)


def _to_long(value: Any, manner: Manner) -> Int64:
    return Int64(_whole(value, INT64_MIN, INT64_MAX))


def _to_double(value: Any, manner: Manner) -> float:
    if not isinstance(value, Decimal128):
        return float(value)
    exact = value.to_decimal()
    if not exact.is_finite() or not exact:
        return to_double(value)
    found = read_double(str(exact))
    if found is None:
        raise failure(f"{value} does not fit a double")
    return found


def _to_decimal(value: Any, manner: Manner) -> Decimal128:
    return decimal128(to_decimal(value))


def _to_bool(value: Any, manner: Manner) -> bool:
    return truthy(value)


def _number_to_date(value: Any, manner: Manner) -> Any:
    return date_from_millis(_whole(value, INT64_MIN, INT64_MAX))


def _number_to_text(value: Any, manner: Manner) -> str:
    if manner.base is not None:
        return _in_base(value, manner.base)
    return double_text(value) if isinstance(value, float) else str(value)


def _in_base(value: Any, base: int) -> str:
    number = integral(value)
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        raise failure(f"{value} cannot be written in base {base}: it is no int64")
    return format(number, {2: "b", 8: "o", 10: "d", 16: "X"}[base])


def _text_to_number(target: str, text: str, manner: Manner) -> Any:
    if text.startswith("0x"):
        raise failure(f"'{text}' is hexadecimal, which is not read as a number")
    if manner.base is not None or target in ("int", "long"):
        number = read_integer(text, manner.base or 10)
        if number is None or not INT64_MIN <= number <= INT64_MAX:
            raise failure(f"'{text}' is not read as {target}")
        return _NUMBER[target](number, manner)
    found: Any = read_double(text) if target == "double" else read_decimal(text)
    if found is None:
        raise failure(f"'{text}' is not read as {target}")
    return found if target == "double" else decimal128(found)


_NUMBER: dict[str, Convert] = {"int": _to_int, "long": _to_long, "double": _to_double, "decimal": _to_decimal}


def _text_to_object_id(text: str, manner: Manner) -> ObjectId:
    if len(text) != 24 or any(letter not in "0123456789abcdefABCDEF" for letter in text):
        raise failure(f"'{text}' is no ObjectId: that is 24 hexadecimal digits")
    return ObjectId(text)


def _text_to_date(text: str, manner: Manner) -> Any:
    return date_from_millis(read_date(text, UTC))


def _date_to_text(value: Any, manner: Manner) -> str:
    return date_text(millis(value), UTC, ISO_UTC)


def _date_to_number(target: str, value: Any, manner: Manner) -> Any:
    return _NUMBER[target](Int64(millis(value)), manner)


def _moment_to_date(value: Any, manner: Manner) -> Any:
    return date_from_millis(date_millis(value))


def _binary(function: Callable[..., Any], *fixed: Any) -> Convert:
    def convert(value: Any, manner: Manner) -> Any:
        try:
            return function(*fixed, value, manner)
        except ValueError as error:
            raise failure(str(error)) from None

    return convert


def _needs_format(manner: Manner) -> str:
    if manner.format is None:
        raise AggregationError("$convert between string and binData needs 'format'", code=4341115)
    return manner.format


def _binary_to_text(value: Any, manner: Manner) -> str:
    return binarytext.text(value, _needs_format(manner))


def _text_to_binary(value: str, manner: Manner) -> Any:
    return binarytext.binary(value, _needs_format(manner), _subtype(manner))


def _binary_to_number(target: str, value: Any, manner: Manner) -> Any:
    found = binarytext.number(value, target == "double", 4 if target == "int" else 8, manner.big)
    return Int64(found) if target == "long" else found


def _number_to_binary(value: Any, manner: Manner) -> Any:
    width = 4 if type_name(value) == "int" else 8
    return binarytext.of_number(value, width, manner.big, _subtype(manner))


def _binary_to_binary(value: Any, manner: Manner) -> Any:
    return binarytext.same(value, _subtype(manner))


def _subtype(manner: Manner) -> int:
    if not rank(manner.subtype):
        raise AggregationError(
            f"a binData subtype is a number, not {type_name(manner.subtype)}", code=4341108
        )
    number = integral(manner.subtype)
    if number is None:
        raise AggregationError("a binData subtype is a whole number", code=4341106)
    if not (0 <= number <= 9 or 128 <= number <= 255):
        raise AggregationError(f"there is no binData subtype {number}", code=4341107)
    return number


def _table() -> dict[tuple[str, str], Convert]:
    table: dict[tuple[str, str], Convert] = {}
    for kind in ("int", "long", "double", "decimal"):
        for target, convert in _NUMBER.items():
            table[kind, target] = convert
        table[kind, "bool"] = _to_bool
        table[kind, "string"] = _number_to_text
        if kind != "int":
            table[kind, "date"] = _number_to_date
        table["string", kind] = functools.partial(_text_to_number, kind)
        table["bool", kind] = _NUMBER[kind]
        if kind != "int":
            table["date", kind] = functools.partial(_date_to_number, kind)
        if kind != "decimal":
            table["binData", kind] = _binary(_binary_to_number, kind)
            table[kind, "binData"] = _binary(_number_to_binary)
    for kind in set(_ALIASES.values()) - {"missing", "null", "undefined", "int", "long", "double", "decimal"}:
        table[kind, "bool"] = _true
    for kind in ("double", "decimal", "string", "bool", "date", "objectId"):
        table[kind, kind] = _same
    table["string", "objectId"] = _text_to_object_id
    table["string", "date"] = _text_to_date
    table["string", "binData"] = _binary(_text_to_binary)
    table["binData", "string"] = _binary(_binary_to_text)
    table["binData", "binData"] = _binary(_binary_to_binary)
    table["objectId", "string"] = lambda value, manner: str(value)
    table["objectId", "date"] = table["timestamp", "date"] = _moment_to_date
    table["bool", "string"] = lambda value, manner: "true" if value else "false"
    table["date", "string"] = _date_to_text
    return table


_TABLE = _table()


def convert(value: Any, target: str, manner: Manner = _DEFAULT) -> Any:
    """``value``, which is not null, as the type ``target``; raises AggregationError (241 when it cannot be)."""
    kind = type_name(value)
    function = _TABLE.get((kind, target))
    if function is None:
        raise failure(f"{kind} is not converted to {target}")
    return function(value, manner)


def _short(target: str, value: Any) -> Any:
    return None if is_nullish(value) else convert(value, target)


for _name, _target in {
    "$toBool": "bool",
    "$toDate": "date",
    "$toDecimal": "decimal",
    "$toDouble": "double",
    "$toInt": "int",
    "$toLong": "long",
    "$toObjectId": "objectId",
    "$toString": "string",
}.items():
    operator(_name)(functools.partial(_short, _target))


@operator("$toUUID")
def _to_uuid(value: Any) -> Any:
    return None if is_nullish(value) else convert(value, "binData", Manner(format="uuid", subtype=4))


@form("$convert")
def _convert(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments("$convert", argument, path)
    nodes = {name: compile_expression(value, scope, where) for name, (value, where) in given.items()}
    runs = {name: node.run for name, node in nodes.items()}
    read, target = runs["input"], runs["to"]
    on_null, on_error = runs.get("onNull"), runs.get("onError")
    manners: dict[str, Any] = {name: runs[name] for name in ("base", "format", "byteOrder") if name in runs}

    def run(document: Document) -> Any:
        try:
            to, value = target(document), read(document)
            details: dict[str, Any] = {name: run(document) for name, run in manners.items()}
            kind, subtype = _target_type(to)
            if is_nullish(value):
                return on_null(document) if on_null else None
            if kind is None:
                return None
            manner = _manner(details, subtype)
        except AggregationError as error:
            raise error.at(path) from None
        try:
            return convert(value, kind, manner)
        except AggregationError as error:
            if error.code == 241 and on_error:
                return on_error(document)
            raise error.at(path) from None

    return fold_constant(Node(run, constant=all(node.constant for node in nodes.values())), path)


def _target_type(to: Any) -> tuple[str | None, Any]:
    """The name of the type that ``to`` asks for (None when it is null), and the subtype."""
    subtype: Any = 0
    if isinstance(to, Mapping):
        subtype = to.get("subtype", 0)
        if is_nullish(to.get("type")):
            raise AggregationError("$convert's 'to' document needs a 'type'", code=9)
        to = to["type"]
    if is_nullish(to):
        return None, subtype
    if is_string(to):
        if to not in _ALIASES.values():
            raise AggregationError(f"there is no type '{to}'", code=2)
        return to, subtype
    if not rank(to):
        raise AggregationError(f"$convert's 'to' is a type's name or number, not {type_name(to)}", code=9)
    number = integral(to)
    if number is None or number not in _ALIASES:
        raise AggregationError(f"there is no type number {to}", code=9)
    return _ALIASES[number], subtype


def _manner(details: Mapping[str, Any], subtype: Any) -> Manner:
    base, format, order = (details.get(name) for name in ("base", "format", "byteOrder"))
    whole = None if is_nullish(base) else integral(base)
    if not is_nullish(base) and whole not in (2, 8, 10, 16):
        raise AggregationError("$convert's 'base' is 2, 8, 10 or 16", code=3501301)
    if not is_nullish(format) and format not in binarytext.FORMATS:
        raise AggregationError(f"$convert's 'format' is one of {', '.join(binarytext.FORMATS)}", code=4341125)
    if not is_nullish(order) and order not in ("little", "big"):
        raise AggregationError("$convert's 'byteOrder' is 'little' or 'big'", code=9130002)
    return Manner(whole, None if is_nullish(format) else str(format), order == "big", subtype)
