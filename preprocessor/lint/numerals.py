"""Numbers that are written as texts, and what goes wrong where they are compared with numbers.

Of two types MongoDB puts one behind the other as a whole, and nothing fails.
Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from preprocessor.aggregation.values import is_number

EQUALITIES: Final = frozenset({"$eq", "$ne", "$in", "$nin"})
ORDERS: Final = frozenset({"$gt", "$gte", "$lt", "$lte", "$cmp", "$bucket"})
_BETWEEN_THOUSANDS: Final = r"[,_'’\u00a0\u2009\u202f ]"
_NUMERAL: Final = rf"[+-]?(?:\d{{1,3}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
"""A number as people and programs write one, its thousands apart or not."""


class Condition(NamedTuple):
    """What a query asks of a field, the place of it there, and the numbers that the field is compared with."""

    path: tuple[str | int, ...]
    field: str
    operator: str
    numbers: tuple[float, ...]


def find_conditions(query: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[Condition]:
    """The conditions of a query that compare a field with numbers."""
    for name, condition in query.items():
        if name in ("$and", "$or", "$nor"):
            for number, part in enumerate(condition):
                yield from find_conditions(part, (*path, name, number))
        elif not name.startswith("$"):
            yield from _conditions_of(name, condition, (*path, name))


def _conditions_of(field: str, condition: Any, path: tuple[str | int, ...]) -> Iterator[Condition]:
    if not isinstance(condition, Mapping):
        condition, places = {"$eq": condition}, {"$eq": path}
    else:
        places = {operator: (*path, operator) for operator in condition}
    for operator, operand in condition.items():
        if operator == "$not" and isinstance(operand, Mapping):
            yield from _conditions_of(field, operand, places[operator])
        elif numbers := numbers_in(operand):
            yield Condition(places[operator], field, operator, numbers)


def numbers_in(operand: Any) -> tuple[float, ...]:
    """The numbers that an operand is, or has as its elements."""
    values = operand if isinstance(operand, (list, tuple)) else [operand]
    return tuple(float(str(one)) for one in values if is_number(one))


def say_wrong(operator: str, numbers: Sequence[float], values: Sequence[Any]) -> str:
    """What goes wrong where an operator compares values with numbers, or with each other; "" where nothing must."""
    texts = {one: number for one in values if isinstance(one, str) and (number := _read(one)) is not None}
    example = next(iter(texts), "")
    if not texts:
        return ""
    if operator in EQUALITIES:
        equal = [text for text, number in texts.items() if number in numbers]
        return f'for `{operator}`, "{equal[0]}" is not {texts[equal[0]]:g}' if equal else ""
    if operator in ORDERS:
        return f'`{operator}` compares "{example}" with a number, which says nothing of its size'
    if any(map(is_number, values)):
        return f'for `{operator}`, "{example}" stands behind all numbers'
    wrong = next((pair for pair in pairwise(sorted(texts)) if texts[pair[0]] > texts[pair[1]]), None)
    return f'for `{operator}`, "{wrong[0]}" is less than "{wrong[1]}"' if wrong else ""


def _read(text: str) -> float | None:
    """The number that a text is; None where it is none."""
    if re.fullmatch(_NUMERAL, text.strip()) is None:
        return None
    return float(re.sub(_BETWEEN_THOUSANDS, "", text.strip()))
