"""`$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`.

Only values of like type compare; null is also missing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.regex import Regex

from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import is_nan
from mongo_tables.aggregation.ordering import key
from mongo_tables.aggregation.query.conditions import Condition, condition, leaf, negate
from mongo_tables.aggregation.query.regexes import is_regex, regex_test
from mongo_tables.aggregation.query.walking import Predicate
from mongo_tables.aggregation.values import MISSING, type_order

# The fields of a database reference: names with "$" that are no operators.
REFERENCE = ("$ref", "$id", "$db")


def is_operators(value: Mapping[str, Any]) -> bool:
    """Whether a document holds operators; a database reference (``$ref``, ``$id``) is a value."""
    return next(iter(value), "").startswith("$") and not ("$ref" in value and "$id" in value)


_PLAIN_NUMBERS = (int, float, Int64)


def equality(wanted: Any) -> Predicate:
    """Whether a value equals ``wanted``; null also equals missing."""
    if wanted is None:
        return lambda value: value is None or value is MISSING
    if type(wanted) is str:
        return lambda value: type(value) is str and value == wanted
    order, wanted_key = type_order(wanted), key(wanted)
    if type(wanted) in _PLAIN_NUMBERS and wanted == wanted:

        def same_number(value: Any) -> bool:
            if type(value) in _PLAIN_NUMBERS:
                return bool(value == wanted)
            return type_order(value) == order and key(value) == wanted_key

        return same_number
    return lambda value: type_order(value) == order and key(value) == wanted_key


@condition("$eq")
def eq(argument: Any, scope: Scope, path: Path) -> Condition:
    """Equal to the argument; a regular expression is compared, not matched."""
    return leaf(equality(argument))


@condition("$ne")
def ne(argument: Any, scope: Scope, path: Path) -> Condition:
    """No value at the path equals the argument."""
    if is_regex(argument):
        raise AggregationError("$ne does not take a regular expression: write {$not: /.../}", path, 2)
    return negate(leaf(equality(argument)))


def _register_order(name: str, compare: Callable[[Any, Any], bool]) -> None:
    with_equal = name in ("$gte", "$lte")
    upward = name in ("$gt", "$gte")

    @condition(name)
    def form(argument: Any, scope: Scope, path: Path) -> Condition:
        if is_regex(argument):
            raise AggregationError(f"{name} does not take a regular expression", path, 2)
        if argument is None:
            return leaf(equality(None) if with_equal else lambda _: False)
        if isinstance(argument, MinKey | MaxKey):
            return leaf(_at_an_end(argument, upward, with_equal))
        if is_nan(argument):
            return leaf(equality(argument) if with_equal else lambda _: False)
        order, wanted = type_order(argument), key(argument)

        def test(value: Any) -> bool:
            return type_order(value) == order and not is_nan(value) and compare(key(value), wanted)

        return leaf(test)


def _at_an_end(argument: Any, upward: bool, with_equal: bool) -> Predicate:
    """Comparison with MinKey or MaxKey, across types: all else lies above the one, below the other."""
    kind = type(argument)
    beyond = upward == isinstance(argument, MinKey)
    return lambda value: with_equal if isinstance(value, kind) else beyond


_register_order("$gt", operator.gt)
_register_order("$gte", operator.ge)
_register_order("$lt", operator.lt)
_register_order("$lte", operator.le)


def membership(argument: Any, name: str, path: Path) -> Predicate:
    """Whether a value equals one of a list, or matches one of its regular expressions."""
    if not isinstance(argument, list | tuple):
        raise AggregationError(f"{name} takes a list", path, 2)
    tests, keys, null = [], set(), False
    for index, item in enumerate(argument):
        if isinstance(item, Mapping) and is_operators(item):
            raise AggregationError(f"{name} takes values, not operators", (*path, index), 2)
        if isinstance(item, Regex) or is_regex(item):
            tests.append(regex_test(item, path=(*path, index)))
        elif item is None:
            null = True
        else:
            keys.add(key(item))

    def test(value: Any) -> bool:
        if value is None or value is MISSING:
            return null
        return key(value) in keys or any(match(value) for match in tests)

    return test


@condition("$in")
def is_in(argument: Any, scope: Scope, path: Path) -> Condition:
    """Equal to one of a list of values and regular expressions."""
    return leaf(membership(argument, "$in", path))


@condition("$nin")
def not_in(argument: Any, scope: Scope, path: Path) -> Condition:
    """No value at the path is in the list."""
    return negate(leaf(membership(argument, "$nin", path)))
