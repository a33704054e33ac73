"""The operators of queries on fields.

`$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`; `$exists`, `$type`, `$mod`, `$bitsAllSet`, `$bitsAllClear`,
`$bitsAnySet`, `$bitsAnyClear`; `$all`, `$elemMatch`, `$size`; `$not`. Comparisons only apply to values of similar type;
null also matches missing.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Final

from bson.decimal128 import Decimal128
from bson.max_key import MaxKey
from bson.min_key import MinKey

from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import decimal_to_long, integral, rank, to_decimal, whole
from mongo_tables.aggregation.query import parser
from mongo_tables.aggregation.query.conditions import (
    NEVER,
    REFERENCE,
    REGEXES,
    FieldCondition,
    condition,
    equality,
    every,
    is_operators,
    leaf,
    negate,
    regex_test,
    type_names,
)
from mongo_tables.aggregation.value_order import NAN, PLAIN_NUMBERS, key
from mongo_tables.aggregation.values import (
    INT32_MAX,
    MISSING,
    binary_parts,
    is_nan,
    is_number,
    truthy,
    type_name,
    type_order,
)


@condition("$eq")
def eq(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match values equal to the argument. A regular expression is compared, not matched."""
    return leaf(equality(argument))


@condition("$ne")
def ne(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match if no value at the path equals the argument."""
    if isinstance(argument, REGEXES):
        raise AggregationError("$ne does not accept a regular expression: write {$not: /.../}", path, 2)
    return negate(leaf(equality(argument)))


_COMPARISONS: Final = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}
_PLAIN: Final = {**dict.fromkeys(PLAIN_NUMBERS, PLAIN_NUMBERS), str: frozenset({str})}
"""For each class of values, the classes with whose values Python compares them as the server does."""


@condition(*_COMPARISONS)
def in_order(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match values of similar type that are less, or greater, than the argument."""
    name = str(path[-1])
    compare, with_equal = _COMPARISONS[name], name in ("$gte", "$lte")
    if isinstance(argument, REGEXES):
        raise AggregationError(f"{name} does not accept a regular expression", path, 2)
    wanted = key(argument)
    if argument is None or wanted == NAN:
        return leaf(equality(argument) if with_equal else lambda _: False)
    if isinstance(argument, MinKey | MaxKey):
        # Values of all other types are greater than MinKey and less than MaxKey.
        kind, beyond = type(argument), (name in ("$gt", "$gte")) == isinstance(argument, MinKey)
        return leaf(lambda value: with_equal if isinstance(value, kind) else beyond)
    order, plain = wanted[0], _PLAIN.get(type(argument), frozenset())

    def test(value: Any) -> bool:
        if type(value) in plain:
            return bool(compare(value, argument))
        return type_order(value) == order and (found := key(value)) != NAN and bool(compare(found, wanted))

    return leaf(test)


@condition("$in")
def is_in(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match values in a list of values and regular expressions."""
    name = path[-1]
    if not isinstance(argument, list | tuple):
        raise AggregationError(f"{name} requires a list", path, 2)
    tests, keys, null = [], set(), False
    for index, item in enumerate(argument):
        if isinstance(item, Mapping) and is_operators(item):
            raise AggregationError(f"{name} requires values, not operators", (*path, index), 2)
        if isinstance(item, REGEXES):
            tests.append(regex_test(item, path=(*path, index)))
        elif item is None:
            null = True
        else:
            keys.add(key(item))

    def test(value: Any) -> bool:
        if value is None or value is MISSING:
            return null
        return key(value) in keys or any(match(value) for match in tests)

    return leaf(test)


@condition("$nin")
def not_in(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match if no value at the path is in the list."""
    return negate(is_in(argument, scope, path))


@condition("$exists")
def exists(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match if the path has a value, including null."""
    found = leaf(lambda value: value is not MISSING)
    return found if truthy(argument) else negate(found)


@condition("$type")
def of_type(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match values of one of the named types."""
    names = type_names(argument, path)
    return leaf(lambda value: value is not MISSING and type_name(value) in names)


@condition("$mod")
def mod(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match numbers that leave the remainder when they are divided. Fractions are truncated first."""
    if not isinstance(argument, list | tuple) or len(argument) != 2:
        raise AggregationError("$mod requires a list of divisor and remainder", path, 2)
    for place, (item, what) in enumerate(zip(argument, ("divisor", "remainder"), strict=True)):
        if not is_number(item) or not _is_finite(item):
            raise AggregationError(f"the {what} of $mod is not a finite number", (*path, place), 2)
    divisor, remainder = (_cut(item) for item in argument)
    if divisor is None or remainder is None:
        raise AggregationError("$mod requires numbers that fit 64 bits", path, 2)
    if divisor == 0:
        raise AggregationError("the divisor of $mod is 0", (*path, 0), 2)
    base = abs(divisor)

    def test(value: Any) -> bool:
        cut = _cut(value) if rank(value) and _is_finite(value) else None
        # As in C, the remainder has the dividend's sign.
        return cut is not None and (-(-cut % base) if cut < 0 else cut % base) == remainder

    return leaf(test)


def _is_finite(value: Any) -> bool:
    return not is_nan(value) and to_decimal(value).is_finite()


def _cut(value: Any) -> int | None:
    """Return the number without its fraction, or None if the result does not fit 64 bits."""
    return whole(int(value.to_decimal() if isinstance(value, Decimal128) else value))


@condition("$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear")
def bits(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match numbers and binary values by their bits at some positions."""
    name = str(path[-1])
    combine, want_set = any if "Any" in name else all, name.endswith("Set")
    places = _positions(name, argument, path)

    def test(value: Any) -> bool:
        held = _bits_of(value)
        return held is not None and combine((held >> place & 1) == want_set for place in places)

    return leaf(test)


def _positions(name: str, argument: Any, path: Path) -> list[int]:
    if isinstance(argument, list | tuple):
        return [_position(name, item, (*path, place)) for place, item in enumerate(argument)]
    if type_name(argument) == "binData":
        mask = _bits_of_bytes(argument)
    elif not is_number(argument):
        raise AggregationError(f"{name} requires a mask (number or binary) or a list of bit places", path, 2)
    elif (mask := whole(argument) or 0) < 0 or integral(argument) != mask:
        raise AggregationError(f"{name} requires a whole number of 0 or more that fits 64 bits", path, 9)
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def _position(name: str, item: Any, path: Path) -> int:
    place = integral(item) if is_number(item) else None
    if place is None:
        raise AggregationError(f"a bit place of {name} is not a whole number", path, 2)
    if not 0 <= place < 2**31:
        raise AggregationError(f"a bit place of {name} is below 0 or beyond 31 bits", path, 2)
    return place


def _bits_of_bytes(value: Any) -> int:
    """Return the bytes of a binary value as one number. With subtype 2, they begin with the length, as in BSON."""
    subtype, data = binary_parts(value)
    return int.from_bytes((len(data).to_bytes(4, "little") if subtype == 2 else b"") + data, "little")


def _bits_of(value: Any) -> int | None:
    """Return a value's bits as a number, or None. A double must equal an int64. A Decimal128 is converted to int64."""
    if value is not MISSING and type_name(value) == "binData":
        return _bits_of_bytes(value)
    return decimal_to_long(value) if isinstance(value, Decimal128) else whole(value)


_OF_DOCUMENTS = (
    "$alwaysFalse", "$alwaysTrue", "$and", "$comment", "$expr", "$jsonSchema", "$nor", "$or", "$sampleRate", "$text",
    "$where",
)  # fmt: skip


@condition("$size")
def size(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match arrays whose number of elements is the argument."""
    count = integral(argument) if is_number(argument) and not is_nan(argument) else None
    if count is None or not 0 <= count <= INT32_MAX:
        raise AggregationError("$size requires a whole number of 0 or more", path, 2)
    return leaf(lambda value: type(value) is list and len(value) == count, elements=False)


@condition("$elemMatch")
def elem_match(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match arrays with an element that meets all conditions, on its fields or, if they are operators, on the element
    itself.
    """
    if not isinstance(argument, Mapping):
        raise AggregationError("$elemMatch requires a document of conditions", path, 2)
    first = next(iter(argument), "")
    if (
        first.startswith("$")
        and first not in _OF_DOCUMENTS
        and not any(name in argument for name in REFERENCE)
    ):
        single = every(parser.operators(argument, scope, path)).single
        return leaf(lambda value: type(value) is list and any(map(single, value)), elements=False)
    holds = parser.compile_query(argument, scope, path, nested=True)

    def element(value: Any) -> bool:
        if type(value) is list:
            return holds({str(place): item for place, item in enumerate(value)})
        return isinstance(value, Mapping) and holds(value)

    return leaf(lambda value: type(value) is list and any(map(element, value)), elements=False)


@condition("$all")
def all_of(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match if every listed value is at the path, or if every listed ``$elemMatch`` matches."""
    if not isinstance(argument, list | tuple):
        raise AggregationError("$all requires a list", path, 2)
    if not argument:
        return NEVER
    if isinstance(argument[0], Mapping) and next(iter(argument[0]), "") == "$elemMatch":
        return every([_elem_match_item(item, scope, (*path, index)) for index, item in enumerate(argument)])
    return every([_value(item, (*path, index)) for index, item in enumerate(argument)])


def _elem_match_item(item: Any, scope: Scope, path: Path) -> FieldCondition:
    if not isinstance(item, Mapping) or next(iter(item), "") != "$elemMatch" or len(item) > 1:
        raise AggregationError("$all requires only values, or only $elemMatch", path, 2)
    return elem_match(item["$elemMatch"], scope, (*path, "$elemMatch"))


def _value(item: Any, path: Path) -> FieldCondition:
    if isinstance(item, REGEXES):
        return leaf(regex_test(item, path=path))
    if isinstance(item, Mapping) and is_operators(item):
        raise AggregationError("$all requires values, not operators", path, 2)
    return leaf(equality(item))


@condition("$not")
def is_not(argument: Any, scope: Scope, path: Path) -> FieldCondition:
    """Match if the operators, or the regular expression, do not match the path."""
    if isinstance(argument, REGEXES):
        return negate(leaf(regex_test(argument, path=path)))
    if not isinstance(argument, Mapping):
        raise AggregationError("$not requires operators or a regular expression", path, 2)
    if not argument:
        raise AggregationError("$not needs at least one operator", path, 2)
    return negate(every(parser.operators(argument, scope, path)))
