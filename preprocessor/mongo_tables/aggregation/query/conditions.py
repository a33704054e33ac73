"""Conditions on a field: what one operator says of a value, and of all the values a path leads to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.query.walking import Parts, Predicate, anywhere


class Condition(NamedTuple):
    """``single``: whether it holds for one value (an element inside ``$elemMatch``). ``at``: the predicate of
    documents that asks it of a path.
    """

    single: Predicate
    at: Callable[[Parts], Predicate]


Form = Callable[[Any, Scope, Path], Condition]
FORMS: dict[str, Form] = {}


def condition(*names: str) -> Callable[[Form], Form]:
    """Registers a function ``(argument, scope, path) -> Condition`` as query operators."""

    def register(function: Form) -> Form:
        for name in names:
            FORMS[name] = function
        return function

    return register


def leaf(test: Predicate, *, elements: bool = True) -> Condition:
    """The condition that ``test`` holds for any value at the path (``elements``: or an element there)."""
    return Condition(test, lambda parts: anywhere(parts, test, elements=elements))


def negate(inner: Condition) -> Condition:
    """The condition that ``inner`` does not hold of the whole path."""
    return Condition(_not(inner.single), lambda parts: _not(inner.at(parts)))


def every(inner: Sequence[Condition]) -> Condition:
    """The condition that all of ``inner`` hold."""
    if len(inner) == 1:
        return inner[0]
    return Condition(
        both([one.single for one in inner]), lambda parts: both([one.at(parts) for one in inner])
    )


def both(tests: Sequence[Predicate]) -> Predicate:
    """The predicate that all ``tests`` hold, tried in order."""
    if len(tests) == 1:
        return tests[0]
    return lambda value: all(test(value) for test in tests)


def _not(test: Predicate) -> Predicate:
    return lambda value: not test(value)


NEVER = Condition(lambda _: False, lambda _: lambda __: False)
ALWAYS = Condition(lambda _: True, lambda _: lambda __: True)
