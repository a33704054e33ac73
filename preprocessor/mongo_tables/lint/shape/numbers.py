"""What arithmetic and summaries give: kinds, and what becomes of units, rounding and nulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.expressions import Operand, by_catalogue, gives, sources
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import (
    NULL,
    NUMBERS,
    Shape,
    Traits,
    elements,
    join_all,
    with_traits,
)

Found = Sequence[Operand]
_DATE: Final = frozenset({"date"})


def number_of(operand: Operand) -> float | None:
    """The number that is written there, None when something else is."""
    value = operand.expression
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _traits(found: Found, **more: Any) -> Traits:
    return Traits(sources=sources([one.shape for one in found]), **more)


def _kinds(found: Found, *, dates: bool) -> frozenset[str]:
    """Numbers; null where an argument may be null; dates where an argument may be one."""
    kinds = NUMBERS
    if any(one.shape.nullish or one.shape.unknown for one in found):
        kinds |= NULL
    if dates and any("date" in one.shape.kinds for one in found):
        kinds |= _DATE
    return kinds


@gives("$multiply")
def _multiply(found: Found) -> Shape:
    nonzero = _stays_nonzero(found)
    unit: Unit | None = Unit(1.0, ())
    measured = False
    for one in found:
        number = number_of(one)
        unit, measured = _times(unit, one.shape, number), measured or number is None
    zeroed = any(one.shape.traits.zeroed for one in found)
    return Shape(
        _kinds(found, dates=False),
        traits=_traits(found, nonzero=nonzero, unit=unit if measured else None, zeroed=zeroed),
    )


def _stays_nonzero(found: Found) -> bool:
    """Whether a product is never 0: one value that is not, and plain numbers too tame to make it vanish."""
    numbers = [number_of(one) for one in found]
    tame = all(number is None or 1e-9 <= abs(number) <= 1e9 for number in numbers)
    return tame and numbers.count(None) <= 1 and all(one.shape.traits.nonzero for one in found)


def _times(unit: Unit | None, factor: Shape, number: float | None) -> Unit | None:
    if unit is None:
        return None
    if number is not None:
        return units.rescale_unit(unit, number) if units.converts(number) else None
    other = factor.traits.unit
    return units.multiply_units(unit, other) if other else None


@gives("$divide")
def _divide(found: Found) -> Shape:
    if len(found) != 2:
        return by_catalogue("$divide", found)
    dividend, divisor = found
    number = number_of(divisor)
    unit = dividend.shape.traits.unit
    if unit is not None and number is not None:
        unit = units.rescale_unit(unit, 1 / number) if number and units.converts(number) else None
    elif unit is not None:
        other = divisor.shape.traits.unit
        unit = units.divide_units(unit, other) if other else None
    nonzero = number is not None and _stays_nonzero(found)
    zeroed = dividend.shape.traits.zeroed
    return Shape(_kinds(found, dates=False), traits=_traits(found, nonzero=nonzero, unit=unit, zeroed=zeroed))


@gives("$add", "$subtract")
def _add(found: Found) -> Shape:
    shapes = [one.shape for one in found if number_of(one) is None]
    unit = shapes[0].traits.unit if shapes else None
    same = all(shape.traits.unit == unit for shape in shapes)
    return Shape(_kinds(found, dates=True), traits=_traits(found, unit=unit if same else None))


@gives("$round", "$trunc", "$floor", "$ceil")
def _round(found: Found) -> Shape:
    value = found[0].shape
    places = number_of(found[1]) if len(found) > 1 else 0.0
    kept = value.traits
    whole = not value.kinds - frozenset({"int", "long", "null"}) and bool(value.kinds)
    digits = kept.digits if places is None or whole else int(places)
    traits = kept._replace(path=None, known=None, nonzero=kept.nonzero and whole, digits=digits)
    return Shape(_kinds(found[:1], dates=False) | (NULL if len(found) > 1 else frozenset()), traits=traits)


@gives("$abs", "$toDouble", "$toDecimal", "$toInt", "$toLong")
def _same_size(found: Found) -> Shape:
    kept = found[0].shape.traits
    return Shape(NUMBERS | NULL, traits=kept._replace(path=None, known=None, nonzero=False))


@gives("$sum")
def _sum(found: Found) -> Shape:
    values = _join_summands(found)
    zeroed = values.traits.zeroed or (values.nullish and not values.unknown)
    return Shape(NUMBERS, traits=_of_summary(found, values, zeroed=zeroed))


def _of_summary(found: Found, values: Shape, **more: Any) -> Traits:
    own = sources([one.shape for one in found]) | values.traits.sources
    return Traits(sources=own, unit=values.traits.unit, **more)


@gives("$avg", "$stdDevPop", "$stdDevSamp")
def _mean(found: Found) -> Shape:
    values = _join_summands(found)
    return Shape(NUMBERS | NULL, traits=_of_summary(found, values, zeroed=values.traits.zeroed))


@gives("$max")
def _greatest(found: Found) -> Shape:
    """Never 0 where a number above 0 is among the arguments."""
    nonzero = len(found) > 1 and any((number_of(one) or 0) > 0 for one in found)
    return with_traits(_least(found), nonzero=nonzero)


@gives("$min")
def _least(found: Found) -> Shape:
    values = _join_summands(found)
    traits = _of_summary(found, values, zeroed=values.traits.zeroed)
    return values._replace(kinds=values.kinds | NULL, missing=False, traits=traits)


def _join_summands(found: Found) -> Shape:
    """The values that a summary adds up: the elements of its only argument if that is an array, else the arguments."""
    if len(found) != 1:
        return join_all(one.shape for one in found)
    (only,) = found
    if only.shape.unknown:
        return only.shape
    if "array" not in only.shape.kinds:
        return only.shape
    inner = elements(only.shape)
    return join_all([inner, only.shape._replace(kinds=only.shape.kinds - frozenset({"array"}))])
