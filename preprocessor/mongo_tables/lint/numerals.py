"""Numbers that are written as texts, and the effects of comparing them with numbers.

MongoDB orders values by type first, so all numbers are before all texts, without an error. Source:
https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.aggregation.values import is_number

EQUALITIES: Final = names_with("equates")
ORDERS: Final = names_with("compares")
_NEGATIONS: Final = names_with("negates")
TELLING_TYPES: Final = names_with("tells types")
_BETWEEN_THOUSANDS: Final = r"[,_'’\u00a0\u2009\u202f ]"
_NUMERAL: Final = rf"[+-]?(?:\d{{1,3}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
"""A number as people and programs write it, with or without separators of thousands."""


class FieldComparison(NamedTuple):
    """An operator at a place of a query, or of a pipeline, that compares a field.

    The comparison is with ``numbers``, with the ``other`` field of the document, or among the field's values.
    """

    path: tuple[str | int, ...]
    field: str
    operator: str
    numbers: tuple[float, ...] = ()
    other: str = ""


def names_types(part: Any) -> bool:
    """Return whether a query or pipeline tests the types of values, so its author knows about texts."""
    if isinstance(part, dict):
        return not TELLING_TYPES.isdisjoint(part) or any(map(names_types, part.values()))
    return isinstance(part, (list, tuple)) and any(map(names_types, part))


def find_conditions(query: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[FieldComparison]:
    """Yield the places where a query compares a field with numbers, or within ``$expr`` with another field."""
    for key, condition, place in conditions_in(query, path):
        if key == "$expr":
            yield from _conditions_within(condition, place)
        elif not key.startswith("$"):
            yield from _conditions_of(key, condition, place)


def _conditions_of(field: str, condition: Any, path: tuple[str | int, ...]) -> Iterator[FieldComparison]:
    if not isinstance(condition, Mapping):
        condition, places = {"$eq": condition}, {"$eq": path}
    else:
        places = {operator: (*path, operator) for operator in condition}
    for operator, operand in condition.items():
        if operator == "$not" and isinstance(operand, Mapping):
            yield from _conditions_of(field, operand, places[operator])
        elif numbers := numbers_in(operand):
            yield FieldComparison(places[operator], field, operator, numbers)


def _conditions_within(expression: Any, path: tuple[str | int, ...]) -> Iterator[FieldComparison]:
    """Yield the comparisons anywhere in an expression that have an unchanged field as an operand."""
    if isinstance(expression, (list, tuple)):
        for number, one in enumerate(expression):
            yield from _conditions_within(one, (*path, number))
    elif isinstance(expression, Mapping):
        for name, operands in expression.items():
            if name in EQUALITIES | ORDERS and isinstance(operands, (list, tuple)) and len(operands) == 2:
                yield from _compare(name, operands, (*path, name))
            yield from _conditions_within(operands, (*path, name))


def _compare(
    operator: str, operands: Sequence[Any], path: tuple[str | int, ...]
) -> Iterator[FieldComparison]:
    first, second = map(field_in, operands)
    if first and second:
        yield FieldComparison(path, first, operator, other=second)
    for field, operand in ((first, operands[1]), (second, operands[0])):
        if field and (numbers := numbers_in(operand)):
            yield FieldComparison(path, field, operator, numbers)


def field_in(expression: Any) -> str:
    """Return the field of the document that an expression returns unchanged, or "" if it returns something else."""
    is_field = isinstance(expression, str) and expression.startswith("$") and not expression.startswith("$$")
    return expression[1:] if is_field else ""


def numbers_in(operand: Any) -> tuple[float, ...]:
    """Return the numbers in an operand, which is a number or an array."""
    values = operand if isinstance(operand, (list, tuple)) else [operand]
    return tuple(float(str(one)) for one in values if is_number(one))


def say_wrong(operator: str, numbers: Sequence[float], values: Sequence[Any]) -> str:
    """Return what goes wrong if an operator compares the values with numbers, or with each other, or "" for nothing."""
    texts = {
        one: number for one in values if isinstance(one, str) and (number := read_numeral(one)) is not None
    }
    example = next(iter(texts), "")
    if not texts:
        return ""
    if operator in EQUALITIES:
        equal = [text for text, number in texts.items() if number in numbers]
        return f'for `{operator}`, "{equal[0]}" is not {texts[equal[0]]:g}' if equal else ""
    if operator in ORDERS:
        return f'`{operator}` compares "{example}" with a number, which does not compare their sizes'
    if any(map(is_number, values)):
        return f'for `{operator}`, "{example}" comes after all numbers'
    wrong = next((pair for pair in pairwise(sorted(texts)) if texts[pair[0]] > texts[pair[1]]), None)
    return f'for `{operator}`, "{wrong[0]}" is less than "{wrong[1]}"' if wrong else ""


def say_wrong_pair(operator: str, pairs: Iterable[tuple[Any, Any]]) -> str:
    """Return what goes wrong if an operator compares two values of a document, or "" for nothing."""
    for pair in pairs:
        first, second = map(_number_of, pair)
        texts = [one for one in pair if isinstance(one, str)]
        if not texts or first is None or second is None:
            continue
        if len(texts) == 1 and (operator in ORDERS or first == second):
            return f'`{operator}` compares "{texts[0]}" with a number, which does not compare their sizes'
        if len(texts) == 2 and operator in ORDERS and (first < second) != (pair[0] < pair[1]):
            return f'`{operator}` compares "{texts[0]}" with "{texts[1]}" letter by letter'
    return ""


def _number_of(value: Any) -> float | None:
    """Return the number that a value is or spells, or None if it is neither."""
    if isinstance(value, str):
        return read_numeral(value)
    return float(str(value)) if is_number(value) else None


def say_other_type(operator: str, operand: Any, values: Sequence[Any]) -> str:
    """Return why a comparison of the values with texts, or of texts with numbers, is decided by types; else "".

    Example:
        >>> say_other_type("$ne", "5", [5, 6])
        'is always a number, and "5" is a string: this holds always'
    """
    if operator not in EQUALITIES | ORDERS or not values:
        return ""
    asked = operand if isinstance(operand, (list, tuple)) else [operand]
    texts = all(isinstance(one, str) for one in asked)
    if texts and all(is_number(value) or isinstance(value, datetime) for value in values):
        kind, told = "date" if isinstance(values[0], datetime) else "number", f'"{asked[0]}" is a string'
    elif all(map(is_number, asked)) and all(isinstance(value, str) for value in values):
        kind, told = "string", f"{asked[0]} is a number"
    else:
        return ""
    outcome = "always" if operator in _NEGATIONS else "never"
    return f"is always a {kind}, and {told}: this holds {outcome}" if asked else ""


def type_hint(value: Any) -> str:
    """Return how to write a value of this type in a query."""
    if isinstance(value, datetime):
        return 'write a date as {"$date": "2026-01-31T00:00:00Z"}'
    return "write it without quotes" if is_number(value) else "write it in quotes"


def read_numeral(text: str) -> float | None:
    """Return the number that a text spells, or None if it spells none.

    Example:
        >>> read_numeral("1,234.5")
        1234.5
    """
    if re.fullmatch(_NUMERAL, text.strip()) is None:
        return None
    return float(re.sub(_BETWEEN_THOUSANDS, "", text.strip()))
