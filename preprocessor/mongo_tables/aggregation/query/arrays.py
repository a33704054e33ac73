"""`$all`, `$elemMatch`, `$size`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import integral, is_nan
from mongo_tables.aggregation.query import parser
from mongo_tables.aggregation.query.comparison import REFERENCE, equality, is_operators
from mongo_tables.aggregation.query.conditions import NEVER, Condition, condition, every, leaf
from mongo_tables.aggregation.query.regexes import is_regex, regex_test
from mongo_tables.aggregation.values import INT32_MAX, is_number

_OF_DOCUMENTS = (
    "$alwaysFalse", "$alwaysTrue", "$and", "$comment", "$expr", "$jsonSchema", "$nor", "$or", "$sampleRate", "$text",
    "$where",
)  # fmt: skip


@condition("$size")
def size(argument: Any, scope: Scope, path: Path) -> Condition:
    """An array of so many elements."""
    count = integral(argument) if is_number(argument) and not is_nan(argument) else None
    if count is None or not 0 <= count <= INT32_MAX:
        raise AggregationError("$size takes a whole number from 0 on", path, 2)
    return leaf(lambda value: type(value) is list and len(value) == count, elements=False)


@condition("$elemMatch")
def elem_match(argument: Any, scope: Scope, path: Path) -> Condition:
    """An array of which one element meets all conditions: on its fields, or (operators only) on itself."""
    if not isinstance(argument, Mapping):
        raise AggregationError("$elemMatch takes a document of conditions", path, 2)
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
def all_of(argument: Any, scope: Scope, path: Path) -> Condition:
    """Each of the listed values is at the path, or each of the ``$elemMatch`` holds."""
    if not isinstance(argument, list | tuple):
        raise AggregationError("$all takes a list", path, 2)
    if not argument:
        return NEVER
    if isinstance(argument[0], Mapping) and next(iter(argument[0]), "") == "$elemMatch":
        return every([_elem_match_item(item, scope, (*path, index)) for index, item in enumerate(argument)])
    return every([_value(item, (*path, index)) for index, item in enumerate(argument)])


def _elem_match_item(item: Any, scope: Scope, path: Path) -> Condition:
    if not isinstance(item, Mapping) or next(iter(item), "") != "$elemMatch" or len(item) > 1:
        raise AggregationError("$all takes values only, or $elemMatch only", path, 2)
    return elem_match(item["$elemMatch"], scope, (*path, "$elemMatch"))


def _value(item: Any, path: Path) -> Condition:
    if is_regex(item):
        return leaf(regex_test(item, path=path))
    if isinstance(item, Mapping) and is_operators(item):
        raise AggregationError("$all takes values, not operators", path, 2)
    return leaf(equality(item))
