"""The shapes of operators: kinds, elements of arrays, and the effect on units, rounding and nulls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.expressions import (
    Around,
    Infer,
    Walk,
    after,
    always,
    by_catalogue,
    computed_from,
    find_present,
    form,
    gives,
    read,
    read_operands,
    visiting,
)
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import (
    ANY,
    ARRAY,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    STRING,
    ChangedFields,
    Fields,
    Shape,
    Traits,
    array,
    document,
    elements,
    fill_missing,
    join,
    join_all,
    member,
    of_kinds,
    with_kinds,
    with_traits,
    without,
)

Found = Sequence[Shape]
Numbers = Sequence[float | None]
"""The numeric constants among the arguments; None in place of any other argument."""
_DATE: Final = frozenset({"date"})


def _kinds(found: Found, *, dates: bool) -> frozenset[str]:
    """Return the kinds of numbers. Null is added if an argument may be null, and date if ``dates`` is true and an
    argument may be a date.
    """
    kinds = NUMBERS
    for one in found:
        if one.nullish or one.unknown:
            kinds |= NULL
        if dates and "date" in one.kinds:
            kinds |= _DATE
    return kinds


def _computing(compute: Callable[[Numbers, Found], Shape], argument: Any, around: Around) -> Infer:
    """Return the function that infers the shape of an operator whose unit depends on its numeric constants."""
    operands = read_operands(argument, around)
    numbers = [
        float(item) if isinstance(item, (int, float)) and not isinstance(item, bool) else None
        for _, item, _ in operands
    ]
    return visiting(str(around.path[-1]), around, operands, partial(compute, numbers))


def _product(numbers: Numbers, found: Found) -> Shape:
    unit: Unit | None = Unit(1.0, ())
    for number, factor in zip(numbers, found, strict=True):
        unit = _times(unit, factor, number)
    measured = None in numbers
    return Shape(_kinds(found, dates=False), traits=computed_from(found, unit if measured else None))


def _times(unit: Unit | None, factor: Shape, number: float | None) -> Unit | None:
    if unit is None:
        return None
    if number is not None:
        return units.rescale_unit(unit, number) if units.converts(number) else None
    other = factor.traits.unit
    return units.multiply_units(unit, other) if other else None


def _quotient(numbers: Numbers, found: Found) -> Shape:
    if len(found) != 2:
        return by_catalogue("$divide", ())(found)
    number, divisor, unit = numbers[1], found[1], found[0].traits.unit
    if unit is not None and number is not None:
        unit = units.rescale_unit(unit, 1 / number) if number and units.converts(number) else None
    elif unit is not None:
        other = divisor.traits.unit
        unit = units.divide_units(unit, other) if other else None
    return Shape(_kinds(found, dates=False), traits=computed_from(found, unit))


_MILLISECONDS: Final = Unit(1e-3, (("second", 1),))
"""The unit of the difference of two dates."""


def _sum_of_dates(numbers: Numbers, found: Found) -> Shape:
    if len(found) == 2 and all(one.kinds - NULL == {"date"} for one in found):
        return Shape(_kinds(found, dates=True), traits=computed_from(found, _MILLISECONDS))
    own = [shape.traits.unit for number, shape in zip(numbers, found, strict=True) if number is None]
    unit = own[0] if own else None
    same = all(one == unit for one in own)
    return Shape(_kinds(found, dates=True), traits=computed_from(found, unit if same else None))


form("$multiply")(partial(_computing, _product))
form("$divide")(partial(_computing, _quotient))
form("$add", "$subtract")(partial(_computing, _sum_of_dates))


@gives("$round", "$trunc", "$floor", "$ceil")
def _round(found: Found) -> Shape:
    traits = found[0].traits._replace(path=None, known=None, rounded=True)
    return Shape(_kinds(found[:1], dates=False) | (NULL if len(found) > 1 else frozenset()), traits=traits)


@gives("$abs", "$toDouble", "$toDecimal", "$toInt", "$toLong")
def _same_size(found: Found) -> Shape:
    kept = found[0].traits
    return Shape(NUMBERS | NULL, traits=kept._replace(path=None, known=None))


@gives("$sum")
def _sum(found: Found) -> Shape:
    return Shape(NUMBERS, traits=_of_summary(found, _join_summands(found)))


def _of_summary(found: Found, values: Shape) -> Traits:
    return computed_from((*found, values), values.traits.unit)


@gives("$avg", "$stdDevPop", "$stdDevSamp")
def _mean(found: Found) -> Shape:
    return Shape(NUMBERS | NULL, traits=_of_summary(found, _join_summands(found)))


@gives("$max", "$min")
def _end(found: Found) -> Shape:
    values = _join_summands(found)
    return values._replace(kinds=values.kinds | NULL, missing=False, traits=_of_summary(found, values))


def _join_summands(found: Found) -> Shape:
    """Return the shape of the values that a summary adds up.

    These are the elements of an array if it is the only argument, or else the arguments.
    """
    if len(found) != 1:
        return join_all(found)
    (only,) = found
    if only.unknown:
        return only
    if "array" not in only.kinds:
        return only
    inner = elements(only)
    return join_all([inner, only._replace(kinds=only.kinds - frozenset({"array"}))])


@gives("$first", "$last", "$arrayElemAt")
def _element(found: Found) -> Shape:
    """Return the shape of an element. It may be missing, because the array may be too short, or null without an
    array.
    """
    if len(found) > 1 and found[1].nullish:
        return join(_element(found[:1]), of_kinds(NULL))
    value = found[0]
    item = elements(value)
    nulls = NULL if value.nullish and not item.unknown else frozenset[str]()
    return with_kinds(item, item.kinds | nulls, True)


@gives("$slice", "$reverseArray")
def _part(found: Found) -> Shape:
    value = found[0]
    return array(elements(value))._replace(kinds=frozenset({"array", "null"}), traits=computed_from(found))


@gives("$concatArrays", "$setUnion", "$setIntersection", "$setDifference")
def _infer_concatenation(found: Found) -> Shape:
    items = join_all(elements(one) for one in found)
    return array(items)._replace(kinds=frozenset({"array", "null"}), traits=computed_from(found))


@gives("$objectToArray")
def _pairs(found: Found) -> Shape:
    value = found[0]
    inner = ANY if value.open else join_all(value.fields.values())
    pair = document({"k": of_kinds(STRING), "v": inner._replace(missing=False)})
    return array(pair)._replace(kinds=frozenset({"array", "null"}), traits=computed_from(found))


@gives("$mergeObjects")
def _infer_merge(found: Found) -> Shape:
    """Return the shape of the merged document. Later documents win, and a null adds nothing."""
    documents = [one for one in found if "object" in one.kinds]

    def find(name: str) -> Shape | None:
        merged, is_open = None, False
        for value in documents:
            if merged is not None or name in value.fields:
                certain = value.kinds == OBJECT and not value.missing
                late = member(value, name)
                early = merged or (ANY if is_open else MISSING)
                missing = early.missing and (late.missing or not certain)
                sure = certain and not late.missing
                merged = late if sure else join(late, early)._replace(missing=missing)
            is_open = is_open or value.open
        return merged

    fields = Fields(find, lambda: chain.from_iterable(value.fields for value in documents))
    whole = document(fields, is_open=any(value.open for value in documents))
    return with_traits(whole, sources=computed_from(found).sources)


@form("$filter")
def _filter(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, dict) or "input" not in argument:
        return always(ANY)
    condition, name = argument.get("cond"), _element_name(argument)
    test = read(condition, around.bind(name).guard().at("cond"))
    limit = read(argument["limit"], around.at("limit")) if "limit" in argument else always(ANY)
    keep = _read_condition(condition, f"$${argument.get('as', 'this')}")

    def make(value: Shape, walk: Walk) -> Shape:
        item = elements(value)
        test(walk.binding({name: item}))
        limit(walk)
        traits = value.traits._replace(path=None, known=None)
        return _array_of(keep(item, value.traits.path), value, traits)

    return _over_input(argument, around, make)


def _over_input(argument: Mapping[str, Any], around: Around, make: Callable[[Shape, Walk], Shape]) -> Infer:
    """Return a function that infers an operator's shape by calling ``make`` with the shape of the operator's
    ``input``.
    """
    where = around.at("input")
    given = read(argument["input"], where)
    around.place(str(around.path[-1]), (where.path, argument["input"]))
    return lambda walk: make(given(walk), walk)


def _element_name(argument: Mapping[str, Any]) -> str:
    name = argument.get("as", "this")
    return name if isinstance(name, str) else "this"


def _array_of(items: Shape, value: Shape, traits: Traits) -> Shape:
    """Return the shape of an array that an operator makes from the array ``value``. Null and missing give null."""
    kinds = ARRAY | NULL if value.nullish else ARRAY
    return Shape(kinds, items=fill_missing(items), traits=traits)


def _read_condition(condition: Any, variable: str) -> Callable[[Shape, str | None], Shape]:
    """Return a function that restricts the shape of an array's elements to the elements that meet a condition.

    The condition may exclude null or select a series by name. The function's second argument is the array's path.
    """
    excluded: list[tuple[Any, Sequence[str]]] = []
    left, right = _comparison(condition, "$ne")
    if right is None:
        # $ne of null keeps a document in which the field is missing.
        excluded.append((left, ("null",)))
    excluded += [(text, ("null", "missing")) for text in find_present(condition, True)]
    left, series = _comparison(condition, "$eq")
    names_series = left == f"{variable}.name" and isinstance(series, str)

    def keep(item: Shape, path: str | None) -> Shape:
        for text, kinds in excluded:
            item = _exclude_kinds(item, text, variable, *kinds)
        if not names_series:
            return item
        chosen = frozenset({f"{path}[{series}]"}) if path else item.traits.sources
        change = partial(with_traits, unit=None, path=None, sources=chosen)
        return _with(item, ("dataPoints", "value"), change)

    return keep


def _exclude_kinds(item: Shape, text: Any, variable: str, *kinds: str) -> Shape:
    """Return the shape of those elements that have none of ``kinds`` at ``text``, which is the variable or a field
    of it.
    """
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
    """Return the shape with ``change`` applied to the value at a path, also through arrays."""
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
def _map(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, dict) or "input" not in argument:
        return always(ANY)
    name = _element_name(argument)
    body = read(argument.get("in"), around.bind(name).at("in"))

    def make(value: Shape, walk: Walk) -> Shape:
        made = body(walk.binding({name: elements(value)}))
        return _array_of(made, value, Traits(sources=value.traits.sources | made.traits.sources))

    return _over_input(argument, around, make)


@form("$reduce")
def _reduce(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, dict) or "input" not in argument:
        return always(ANY)
    initial = read(argument.get("initialValue"), around.at("initialValue"))
    step = read(argument.get("in"), around.bind("this", "value").at("in"))

    def make(value: Shape, walk: Walk) -> Shape:
        first, item = initial(walk), elements(value)
        of_any = walk._replace(visits=defaultdict(list)).binding({"this": item, "value": ANY})
        # The shape of a step for any previous value includes the results of all steps.
        so_far = with_traits(join(first, step(of_any)), path=None)
        made = step(walk.binding({"this": item, "value": so_far}))
        found = join_all((first, made, of_kinds(NULL)))
        return with_traits(found, path=None, sources=value.traits.sources | made.traits.sources)

    return _over_input(argument, around, make)


@form("$sortArray", "$firstN", "$lastN", "$maxN", "$minN")
def _some(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, dict) or "input" not in argument:
        return always(ANY)
    number = read(argument["n"], around.at("n")) if "n" in argument else always(ANY)

    def make(value: Shape, walk: Walk) -> Shape:
        number(walk)
        return array(elements(value), value.traits)._replace(kinds=ARRAY | NULL)

    return _over_input(argument, around, make)


@form("$top", "$topN", "$bottom", "$bottomN")
def _top(argument: Any, around: Around) -> Infer:
    """Read the arguments except ``sortBy`` and ``output``, which refer to the elements of the array."""
    named = [name for name in ("input", "n") if name in argument] if isinstance(argument, dict) else []
    return after([read(argument[name], around.at(name)) for name in named], always(ANY))
