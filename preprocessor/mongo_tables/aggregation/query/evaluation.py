"""`$exists`, `$type`, `$mod`, `$bitsAllSet`, `$bitsAllClear`, `$bitsAnySet`, `$bitsAnyClear`."""

from __future__ import annotations

from typing import Any

from bson.decimal128 import Decimal128

from mongo_tables.aggregation import bsontypes
from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import integral, is_nan, rank, to_decimal
from mongo_tables.aggregation.query.conditions import Condition, condition, leaf, negate
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    MISSING,
    binary_parts,
    is_number,
    is_string,
    truthy,
    type_name,
)

_NUMBERS = frozenset({"double", "int", "long", "decimal"})


@condition("$exists")
def exists(argument: Any, scope: Scope, path: Path) -> Condition:
    """The path leads to something, be it null."""
    found = leaf(lambda value: value is not MISSING)
    return found if truthy(argument) else negate(found)


@condition("$type")
def of_type(argument: Any, scope: Scope, path: Path) -> Condition:
    """A value of one of the named types."""
    names = type_names(argument, path)
    return leaf(lambda value: value is not MISSING and type_name(value) in names)


def type_names(argument: Any, path: Path) -> frozenset[str]:
    """The types that ``$type`` names, by alias or code or a list of them."""
    if not isinstance(argument, list | tuple):
        return _type_names(argument, path)
    if not argument:
        raise AggregationError("$type needs at least one type", path, 9)
    return frozenset().union(*(_type_names(item, (*path, place)) for place, item in enumerate(argument)))


def _type_names(argument: Any, path: Path) -> frozenset[str]:
    if is_string(argument):
        if argument == "number":
            return _NUMBERS
        if argument in bsontypes.NAMES.values():
            return frozenset({argument})
        raise AggregationError(f"there is no type '{argument}'", path, 2)
    if not is_number(argument):
        raise AggregationError("$type takes names and numbers of types", path, 14)
    code = integral(argument)
    if code is None or code not in bsontypes.NAMES:
        raise AggregationError(f"there is no type number {argument}", path, 2)
    return frozenset({bsontypes.NAMES[code]})


@condition("$mod")
def mod(argument: Any, scope: Scope, path: Path) -> Condition:
    """A number that divided (fractions cut) leaves the remainder."""
    if not isinstance(argument, list | tuple) or len(argument) != 2:
        raise AggregationError("$mod takes a list of divisor and remainder", path, 2)
    for place, (item, what) in enumerate(zip(argument, ("divisor", "remainder"), strict=True)):
        if not is_number(item) or not _finite(item):
            raise AggregationError(f"the {what} of $mod is not a finite number", (*path, place), 2)
    divisor, remainder = (_cut(item) for item in argument)
    if divisor is None or remainder is None:
        raise AggregationError("$mod takes numbers that fit 64 bits", path, 2)
    if divisor == 0:
        raise AggregationError("the divisor of $mod is 0", (*path, 0), 2)

    def test(value: Any) -> bool:
        if not rank(value) or not _finite(value):
            return False
        whole = _cut(value)
        return whole is not None and _remainder(whole, divisor) == remainder

    return leaf(test)


def _finite(value: Any) -> bool:
    return not is_nan(value) and to_decimal(value).is_finite()


def _cut(value: Any) -> int | None:
    """The number without its fraction, None when that does not fit 64 bits."""
    whole = int(value) if not hasattr(value, "to_decimal") else int(value.to_decimal())
    return whole if INT64_MIN <= whole <= INT64_MAX else None


def _remainder(value: int, divisor: int) -> int:
    """As C does: the remainder has the dividend's sign."""
    found = abs(value) % abs(divisor)
    return -found if value < 0 else found


def _bits(name: str, *, want_set: bool, any_of: bool) -> None:
    @condition(name)
    def form(argument: Any, scope: Scope, path: Path) -> Condition:
        places = _positions(name, argument, path)

        def test(value: Any) -> bool:
            held = _bit_reader(value)
            if held is None:
                return False
            found = (held(place) == want_set for place in places)
            return any(found) if any_of else all(found)

        return leaf(test)


def _positions(name: str, argument: Any, path: Path) -> list[int]:
    if isinstance(argument, list | tuple):
        return [_position(name, item, (*path, place)) for place, item in enumerate(argument)]
    if is_number(argument):
        mask = integral(argument)
        if mask is None or not 0 <= mask <= INT64_MAX:
            raise AggregationError(f"{name} takes a whole number from 0 on that fits 64 bits", path, 9)
        return [place for place in range(64) if mask >> place & 1]
    if type_name(argument) == "binData":
        data = _get_stored_bytes(argument)
        return [place for place in range(8 * len(data)) if data[place // 8] >> place % 8 & 1]
    raise AggregationError(f"{name} takes a mask (number or binary) or a list of bit places", path, 2)


def _position(name: str, item: Any, path: Path) -> int:
    place = integral(item) if is_number(item) else None
    if place is None:
        raise AggregationError(f"a bit place of {name} is not a whole number", path, 2)
    if not 0 <= place < 2**31:
        raise AggregationError(f"a bit place of {name} is below 0 or beyond 31 bits", path, 2)
    return place


def _round_for_bits(value: Any) -> int | None:
    """The integer whose bits are tested: a double must be one, a Decimal128 is rounded to one.

    A Decimal128 that is none of 64 bits, NaN and the infinities among them, has the bits of the least of these.
    """
    if not isinstance(value, Decimal128):
        return integral(value)
    exact = value.to_decimal()
    if not exact.is_finite() or exact.adjusted() > 20:
        return INT64_MIN
    whole = int(exact.to_integral_value())
    return whole if INT64_MIN <= whole <= INT64_MAX else INT64_MIN


def _get_stored_bytes(value: Any) -> bytes:
    """The bytes as BSON has them: subtype 2 repeats the length in front."""
    subtype, data = binary_parts(value)
    return len(data).to_bytes(4, "little") + data if subtype == 2 else data


def _bit_reader(value: Any) -> Any:
    """A function from a place to whether the bit is set; None for a value without bits."""
    if value is not MISSING and type_name(value) == "binData":
        data = _get_stored_bytes(value)
        return lambda place: place < 8 * len(data) and bool(data[place // 8] >> place % 8 & 1)
    if not rank(value):
        return None
    whole = _round_for_bits(value)
    if whole is None or not INT64_MIN <= whole <= INT64_MAX:
        return None
    return lambda place: bool(whole >> min(place, 63) & 1)


_bits("$bitsAllSet", want_set=True, any_of=False)
_bits("$bitsAllClear", want_set=False, any_of=False)
_bits("$bitsAnySet", want_set=True, any_of=True)
_bits("$bitsAnyClear", want_set=False, any_of=True)
