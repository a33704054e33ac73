"""The shapes of operators: kinds, elements of arrays, and the effect on units, rounding and nulls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.expressions import (
    Operand,
    Walk,
    by_catalogue,
    find_present,
    form,
    gives,
    shape_of,
    sources,
)
from mongo_tables.lint.shape.expressions import Path as At
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import (
    ANY,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    STRING,
    ChangedFields,
    Shape,
    Traits,
    array,
    document,
    elements,
    join,
    join_all,
    member,
    of_kinds,
    with_traits,
    without,
)

Found = Sequence[Operand]
_DATE: Final = frozenset({"date"})


def number_of(operand: Operand) -> float | None:
    """Return the number that is written there, None for anything else."""
    value = operand.expression
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _traits(found: Found, **more: Any) -> Traits:
    return Traits(sources=sources([one.shape for one in found]), **more)


def _kinds(found: Found, *, dates: bool) -> frozenset[str]:
    """Return numbers; also null if an argument may be null, and dates if an argument may be one."""
    kinds = NUMBERS
    if any(one.shape.nullish or one.shape.unknown for one in found):
        kinds |= NULL
    if dates and any("date" in one.shape.kinds for one in found):
        kinds |= _DATE
    return kinds


@gives("$multiply")
def _multiply(found: Found) -> Shape:
    unit: Unit | None = Unit(1.0, ())
    measured = False
    for one in found:
        number = number_of(one)
        unit, measured = _times(unit, one.shape, number), measured or number is None
    traits = _traits(found, unit=unit if measured else None)
    return Shape(_kinds(found, dates=False), traits=traits)


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
    return Shape(_kinds(found, dates=False), traits=_traits(found, unit=unit))


_MILLISECONDS: Final = Unit(1e-3, (("second", 1),))
"""The unit of the difference of two dates."""


@gives("$add", "$subtract")
def _sum_of_dates(found: Found) -> Shape:
    shapes = [one.shape for one in found if number_of(one) is None]
    if len(found) == 2 and all(one.shape.kinds - NULL == {"date"} for one in found):
        return Shape(_kinds(found, dates=True), traits=_traits(found, unit=_MILLISECONDS))
    unit = shapes[0].traits.unit if shapes else None
    same = all(shape.traits.unit == unit for shape in shapes)
    return Shape(_kinds(found, dates=True), traits=_traits(found, unit=unit if same else None))


@gives("$round", "$trunc", "$floor", "$ceil")
def _round(found: Found) -> Shape:
    traits = found[0].shape.traits._replace(path=None, known=None, rounded=True)
    return Shape(_kinds(found[:1], dates=False) | (NULL if len(found) > 1 else frozenset()), traits=traits)


@gives("$abs", "$toDouble", "$toDecimal", "$toInt", "$toLong")
def _same_size(found: Found) -> Shape:
    kept = found[0].shape.traits
    return Shape(NUMBERS | NULL, traits=kept._replace(path=None, known=None))


@gives("$sum")
def _sum(found: Found) -> Shape:
    return Shape(NUMBERS, traits=_of_summary(found, _join_summands(found)))


def _of_summary(found: Found, values: Shape) -> Traits:
    own = sources([one.shape for one in found]) | values.traits.sources
    return Traits(sources=own, unit=values.traits.unit)


@gives("$avg", "$stdDevPop", "$stdDevSamp")
def _mean(found: Found) -> Shape:
    return Shape(NUMBERS | NULL, traits=_of_summary(found, _join_summands(found)))


@gives("$max", "$min")
def _end(found: Found) -> Shape:
    values = _join_summands(found)
    return values._replace(kinds=values.kinds | NULL, missing=False, traits=_of_summary(found, values))


def _join_summands(found: Found) -> Shape:
    """Return the values that a summary adds up: the elements of an array as the only argument, else the arguments."""
    if len(found) != 1:
        return join_all(one.shape for one in found)
    (only,) = found
    if only.shape.unknown:
        return only.shape
    if "array" not in only.shape.kinds:
        return only.shape
    inner = elements(only.shape)
    return join_all([inner, only.shape._replace(kinds=only.shape.kinds - frozenset({"array"}))])


def _perhaps_null(shape: Shape, *inputs: Shape) -> Shape:
    """Return the shape, or null if an input may be null or missing."""
    if any(one.nullish for one in inputs):
        return shape._replace(kinds=shape.kinds | NULL)
    return shape


@gives("$first", "$last", "$arrayElemAt")
def _element(found: Found) -> Shape:
    """Return an element, or missing if the array is too short, or null if there is no array."""
    if len(found) > 1 and found[1].shape.nullish:
        return join(_element(found[:1]), of_kinds(NULL))
    value = found[0].shape
    item = elements(value)
    shape = item._replace(missing=True)
    return _perhaps_null(shape, value) if not shape.unknown else shape


@gives("$slice", "$reverseArray")
def _part(found: Found) -> Shape:
    value = found[0].shape
    return array(elements(value))._replace(kinds=frozenset({"array", "null"}), traits=_traits(found))


@gives("$concatArrays", "$setUnion", "$setIntersection", "$setDifference")
def _infer_concatenation(found: Found) -> Shape:
    items = join_all(elements(one.shape) for one in found)
    return array(items)._replace(kinds=frozenset({"array", "null"}), traits=_traits(found))


@gives("$objectToArray")
def _pairs(found: Found) -> Shape:
    value = found[0].shape
    inner = ANY if value.open else join_all(value.fields.values())
    pair = document({"k": of_kinds(STRING), "v": inner._replace(missing=False)})
    return array(pair)._replace(kinds=frozenset({"array", "null"}), traits=_traits(found))


@gives("$mergeObjects")
def _infer_merge(found: Found) -> Shape:
    """Return the merged document: later documents win, a null adds nothing."""
    fields: dict[str, Shape] = {}
    is_open = False
    for one in found:
        value = one.shape
        if "object" not in value.kinds:
            continue
        certain = value.kinds == OBJECT and not value.missing
        for name in dict.fromkeys((*fields, *value.fields)):
            late = member(value, name)
            early = fields.get(name, ANY if is_open else MISSING)
            missing = early.missing and (late.missing or not certain)
            sure = certain and not late.missing
            fields[name] = late if sure else join(late, early)._replace(missing=missing)
        is_open = is_open or value.open
    return with_traits(document(fields, is_open=is_open), sources=_traits(found).sources)


@form("$filter")
def _filter(argument: Any, walk: Walk, path: At) -> Shape:
    if not isinstance(argument, dict) or "input" not in argument:
        return ANY
    value = shape_of(argument["input"], walk, (*path, "input"))
    item, inner = _bind_element(argument, value, walk)
    condition = argument.get("cond")
    shape_of(condition, inner._replace(guarded=True), (*path, "cond"))
    if "limit" in argument:
        shape_of(argument["limit"], walk, (*path, "limit"))
    kept = _apply_condition(item, value.traits.path, condition, f"$${argument.get('as', 'this')}")
    shape = array(kept)._replace(
        kinds=frozenset({"array", "null"}) if value.nullish else frozenset({"array"}),
        traits=value.traits._replace(path=None, known=None),
    )
    return walk.visit(path, "$filter", (Operand((*path, "input"), argument["input"], value),), shape)


def _bind_element(argument: Mapping[str, Any], value: Shape, walk: Walk) -> tuple[Shape, Walk]:
    item = elements(value)
    name = argument.get("as", "this")
    return item, walk.binding({name if isinstance(name, str) else "this": item})


def _apply_condition(item: Shape, path: str | None, condition: Any, variable: str) -> Shape:
    """Return the shape of the elements that meet the condition.

    The condition may exclude null or name a series. ``path`` is the array's own, if it comes from a document.
    """
    left, right = _comparison(condition, "$ne")
    if right is None:
        # $ne of null keeps a document in which the field is missing.
        item = _exclude_kinds(item, left, variable, "null")
    for text in find_present(condition, True):
        item = _exclude_kinds(item, text, variable, "null", "missing")
    left, right = _comparison(condition, "$eq")
    if left == f"{variable}.name" and isinstance(right, str):
        chosen = frozenset({f"{path}[{right}]"}) if path else item.traits.sources
        change = partial(with_traits, unit=None, path=None, sources=chosen)
        return _with(item, ("dataPoints", "value"), change)
    return item


def _exclude_kinds(item: Shape, text: Any, variable: str, *kinds: str) -> Shape:
    """Return the elements without those that have one of ``kinds`` at ``text`` (the variable or a field of it)."""
    if text == variable:
        return without(item, *kinds)
    prefix, _, name = text.rpartition(".") if isinstance(text, str) else ("", "", "")
    if prefix != variable or "object" not in item.kinds:
        return item
    return item._replace(fields=ChangedFields(item.fields, {name: without(member(item, name), *kinds)}))


def _comparison(condition: Any, operator: str) -> tuple[Any, Any]:
    """Return both sides of a comparison, a constant on the right."""
    sides = condition.get(operator) if isinstance(condition, dict) else None
    if not isinstance(sides, (list, tuple)) or len(sides) != 2:
        return (), ()
    left, right = sides
    return (left, right) if isinstance(left, str) and left.startswith("$") else (right, left)


def _with(shape: Shape, parts: tuple[str, ...], change: Callable[[Shape], Shape]) -> Shape:
    """Return the shape with a change to what ``parts`` lead to, through arrays."""
    if not parts:
        return change(shape)
    items = shape.items
    if "array" in shape.kinds:
        inner = elements(shape)
        items = inner._replace(fields=_fields_with(inner, parts, change))
    return shape._replace(fields=_fields_with(shape, parts, change), items=items)


def _fields_with(
    shape: Shape, parts: tuple[str, ...], change: Callable[[Shape], Shape]
) -> Mapping[str, Shape]:
    if "object" not in shape.kinds:
        return shape.fields
    return ChangedFields(shape.fields, {parts[0]: _with(member(shape, parts[0]), parts[1:], change)})


@form("$map")
def _map(argument: Any, walk: Walk, path: At) -> Shape:
    if not isinstance(argument, dict) or "input" not in argument:
        return ANY
    value = shape_of(argument["input"], walk, (*path, "input"))
    _, inner = _bind_element(argument, value, walk)
    made = shape_of(argument.get("in"), inner, (*path, "in"))
    shape = array(made)._replace(
        kinds=frozenset({"array", "null"}) if value.nullish else frozenset({"array"}),
        traits=Traits(sources=value.traits.sources | made.traits.sources),
    )
    return walk.visit(path, "$map", (Operand((*path, "input"), argument["input"], value),), shape)


@form("$reduce")
def _reduce(argument: Any, walk: Walk, path: At) -> Shape:
    if not isinstance(argument, dict) or "input" not in argument:
        return ANY
    value = shape_of(argument["input"], walk, (*path, "input"))
    first = shape_of(argument.get("initialValue"), walk, (*path, "initialValue"))
    of_any = walk._replace(visits=[]).binding({"this": elements(value), "value": ANY})
    # Every step's result has the shape of the step for any value, whatever the previous steps gave.
    so_far = with_traits(join(first, shape_of(argument.get("in"), of_any, (*path, "in"))), path=None)
    inner = walk.binding({"this": elements(value), "value": so_far})
    made = shape_of(argument.get("in"), inner, (*path, "in"))
    found = join_all((first, made, of_kinds(NULL)))
    shape = with_traits(found, path=None, sources=value.traits.sources | made.traits.sources)
    return walk.visit(path, "$reduce", (Operand((*path, "input"), argument["input"], value),), shape)


@form("$sortArray", "$firstN", "$lastN", "$maxN", "$minN")
def _some(argument: Any, walk: Walk, path: At) -> Shape:
    if not isinstance(argument, dict) or "input" not in argument:
        return ANY
    value = shape_of(argument["input"], walk, (*path, "input"))
    if "n" in argument:
        shape_of(argument["n"], walk, (*path, "n"))
    shape = array(elements(value))._replace(kinds=frozenset({"array", "null"}), traits=value.traits)
    name = str(path[-1])
    return walk.visit(path, name, (Operand((*path, "input"), argument["input"], value),), shape)


@form("$top", "$topN", "$bottom", "$bottomN")
def _top(argument: Any, walk: Walk, path: At) -> Shape:
    """Of an array: ``sortBy`` and ``output`` name fields of its elements."""
    for name in ("input", "n") if isinstance(argument, dict) else ():
        if name in argument:
            shape_of(argument[name], walk, (*path, name))
    return ANY
