"""Conditions on a field: the test of one operator on a value, and on all values at a path.

A path continues through an array on it: in the array's documents and, if the path has a position (``a.0``), in one
element. If the value at the end is an array, both its elements and the array itself are tested. Expressions read paths
differently.

Source: https://www.mongodb.com/docs/manual/tutorial/query-arrays/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bson.regex import Regex

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.paths import along
from mongo_tables.aggregation.value_order import PLAIN_NUMBERS, key
from mongo_tables.aggregation.values import (
    DOCUMENT,
    MISSING,
    TYPE_NAMES,
    is_number,
    is_string,
    regex_parts,
    type_order,
)

if TYPE_CHECKING:
    from mongo_tables.aggregation.compiler import Scope

Predicate = Callable[[Any], bool]
Parts = tuple[str, ...]


def anywhere(parts: Parts, test: Predicate, *, elements: bool = True) -> Predicate:
    """Return a predicate of documents that is true if ``test`` is true for any value at ``parts``.

    MISSING is tested if the path has no value, but not if the path leads through an array without documents. If
    ``elements`` is false, an array at the end of the path is tested only as a whole, not by its elements.
    """

    def holds(document: Any) -> bool:
        value = document
        for at, part in enumerate(parts):
            if type(value) is not dict:
                return any(map(test, values_at(value, parts[at:], elements)))
            value = value.get(part, MISSING)
        return any(map(test, _through(value, (), elements))) if type(value) is list else test(value)

    return holds


def _through(array: list[Any], parts: Parts, elements: bool) -> Iterator[Any]:
    """Yield the values at ``parts`` below ``array``, which is on the path."""
    # A path that ends in a dot ends at the array.
    if parts in ((), ("",)):
        if elements:
            yield from array
        yield array
        return
    rest = parts[1:]
    for place, item in enumerate(array):
        inner = isinstance(item, DOCUMENT)
        if inner:
            yield from values_at(item, parts, elements)
        if parts[0] == str(place):
            if not rest:
                yield item
            elif inner:
                yield from values_at(item, rest, elements)
            elif type(item) is list:
                yield from _through(item, rest, elements)


def values_at(value: Any, parts: Parts, elements: bool = True) -> Iterator[Any]:
    """Yield the values of a document that a condition on the path tests."""
    value, rest = along(value, parts)
    if type(value) is list:
        yield from _through(value, rest, elements)
    else:
        yield value


class FieldCondition(NamedTuple):
    """A condition on a field.

    ``single``: the predicate of one value, such as an element inside ``$elemMatch``. ``at``: the function from a path
    to the predicate of documents.
    """

    single: Predicate
    at: Callable[[Parts], Predicate]


Form = Callable[[Any, "Scope", Path], FieldCondition]
FORMS: dict[str, Form] = {}


condition = partial(catalogue.register, FORMS)
"""The decorator that registers a function ``(argument, scope, path) -> FieldCondition`` for query operators."""


def leaf(test: Predicate, *, elements: bool = True) -> FieldCondition:
    """Return the condition that ``test`` is true for a value at the path.

    If ``elements``, it is enough that ``test`` is true for an element of an array there.
    """
    return FieldCondition(test, partial(anywhere, test=test, elements=elements))


def negate(inner: FieldCondition) -> FieldCondition:
    """Return the condition that the field does not meet ``inner``."""
    return FieldCondition(_not(inner.single), lambda parts: _not(inner.at(parts)))


def every(inner: Sequence[FieldCondition]) -> FieldCondition:
    """Return the condition that all conditions of ``inner`` are true."""
    if len(inner) == 1:
        return inner[0]
    return FieldCondition(
        both([one.single for one in inner]), lambda parts: both([one.at(parts) for one in inner])
    )


def both(tests: Sequence[Predicate]) -> Predicate:
    """Return a predicate that evaluates ``tests`` in order and is true if all of them are true."""
    if len(tests) == 1:
        return tests[0]
    if not tests:
        return lambda _: True

    def hold(value: Any) -> bool:
        for test in tests:  # noqa: SIM110 - a generator takes twice as long
            if not test(value):
                return False
        return True

    return hold


def _not(test: Predicate) -> Predicate:
    return lambda value: not test(value)


NEVER = FieldCondition(lambda _: False, lambda _: lambda __: False)
ALWAYS = FieldCondition(lambda _: True, lambda _: lambda __: True)


REGEXES: Final = (Regex, re.Pattern)
"""The classes of regular expressions: those of ``bson`` and of Python."""


def regex_test(value: Any, options: str | None = None, *, path: Path) -> Predicate:
    """Return a predicate that is true if a string matches, or if a stored regular expression is the same.

    ``value``: a pattern or a regular expression. Raises AggregationError if the server refuses it.
    """
    from mongo_tables.aggregation.patterns import compile_pattern  # most pipelines have no regular expression

    pattern, flags = regex_parts(value) if isinstance(value, REGEXES) else (value, "")
    if options is not None:
        flags = options
    try:
        matches = compile_pattern(pattern, flags).matches
    except AggregationError as error:
        raise error.at(path) from None
    same = pattern, "".join(sorted(set(flags)))

    def test(value: Any) -> bool:
        if type(value) is str:
            try:
                return matches(value)
            except AggregationError as error:
                raise error.at(path) from None
        return isinstance(value, REGEXES) and regex_parts(value) == same

    return test


# The fields of a database reference: names with "$" that are not operators.
REFERENCE = ("$ref", "$id", "$db")


def is_operators(value: Mapping[str, Any]) -> bool:
    """Return whether a document consists of operators. A database reference (``$ref``, ``$id``) is a value instead."""
    return next(iter(value), "").startswith("$") and not ("$ref" in value and "$id" in value)


def equality(wanted: Any) -> Predicate:
    """Return a predicate that is true if a value equals ``wanted``. Null also equals missing."""
    if wanted is None:
        return lambda value: value is None or value is MISSING
    if type(wanted) is str:
        return lambda value: type(value) is str and value == wanted
    order, wanted_key = type_order(wanted), key(wanted)
    if type(wanted) in PLAIN_NUMBERS and wanted == wanted:

        def same_number(value: Any) -> bool:
            if type(value) in PLAIN_NUMBERS:
                return bool(value == wanted)
            return type_order(value) == order and key(value) == wanted_key

        return same_number
    return lambda value: type_order(value) == order and key(value) == wanted_key


_NUMBERS = frozenset({"double", "int", "long", "decimal"})


def type_names(argument: Any, path: Path) -> frozenset[str]:
    """Return the types that ``$type`` names. The argument is an alias, a number, or a list of these."""
    if not isinstance(argument, list | tuple):
        return _type_names(argument, path)
    if not argument:
        raise AggregationError("$type needs at least one type", path, 9)
    return frozenset().union(*(_type_names(item, (*path, place)) for place, item in enumerate(argument)))


def _type_names(argument: Any, path: Path) -> frozenset[str]:
    if is_string(argument):
        if argument == "number":
            return _NUMBERS
        if argument in TYPE_NAMES.values():
            return frozenset({argument})
        raise AggregationError(f"unknown type '{argument}'", path, 2)
    if not is_number(argument):
        raise AggregationError("$type requires names or numbers of types", path, 14)
    code = integral(argument)
    if code is None or code not in TYPE_NAMES:
        raise AggregationError(f"unknown type number {argument}", path, 2)
    return frozenset({TYPE_NAMES[code]})
