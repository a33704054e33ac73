"""The framework of accumulators, and the plain accumulators.

`$sum`, `$avg`, `$min`, `$max`, `$first`, `$last`, `$push`, `$addToSet`, `$stdDevPop`, `$stdDevSamp`,
`$count`, `$mergeObjects`, `$concatArrays`, `$setUnion`.

An accumulator is compiled from its argument into an ``Accumulator``: an expression to evaluate for each
document, and a factory of states. A state takes values one by one and returns the result at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.compiler import Scope, compile_expression, find_form
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.limits import memory_of
from mongo_tables.aggregation.numbers import DOUBLE, MixedSum, Spread, to_double
from mongo_tables.aggregation.value_order import Key, key, largest, smallest
from mongo_tables.aggregation.values import MISSING, Document, Evaluate, is_nullish, mistyped


class State(Protocol):
    """The state of an accumulator for one group (or one window)."""

    def add(self, value: Any) -> None:
        """Add the value of one more document: a BSON value or MISSING."""

    def result(self) -> Any:
        """Return the result of all values so far: a BSON value or MISSING. More values may be added later."""


class Keeping:
    """A state that keeps its values. ``last``: the value that the last document added, or MISSING if it added no
    value.
    """

    last: Any = MISSING

    def measure_growth(self, count: int) -> int:
        """Estimate the memory in bytes that ``count`` documents added to the states of all groups.

        The estimate assumes that each document added a value as large as ``last``.
        """
        return 0 if self.last is MISSING else count * memory_of(self.last)


class Accumulator(NamedTuple):
    """A compiled accumulator: ``evaluate`` returns a document's value, ``start`` returns a new state for such values.

    ``start`` gets the group's key if the key is a document, else an empty document. Parameters such as ``n`` of
    ``$firstN`` are evaluated on this document; most accumulators ignore it. ``extends``: the states also take the
    values of several documents at once (``extend``), and refuse no value.
    """

    evaluate: Evaluate
    start: Callable[[Document], State]
    extends: bool = False


Form = Callable[[Any, Scope, Path], Accumulator]
_FORMS: dict[str, Form] = {}


form = partial(catalogue.register, _FORMS)
"""The decorator that registers a function ``(argument, scope, path) -> Accumulator``, for named arguments."""


def accumulator(*names: str) -> Callable[[type[Any]], type[Any]]:
    """Register a class of states for accumulators that take one expression: ``@accumulator("$sum")``.

    The class is called without arguments for every group. An AggregationError without a path from its ``add``
    or ``result`` gets the accumulator's path.
    """

    def register(state: type[Any]) -> type[Any]:
        @form(*names)
        def compile_form(argument: Any, scope: Scope, path: Path) -> Accumulator:
            evaluate = compile_expression(argument, scope, path).run
            return Accumulator(evaluate, lambda _: state(), hasattr(state, "extend"))

        return state

    return register


def compile_accumulator(spec: Any, scope: Scope, path: Path) -> Accumulator:
    """Compile an accumulator such as ``{"$sum": "$x"}``, the value of a field in `$group`.

    Raises:
        AggregationError: If the server refuses it.
        NotOffline: If the accumulator needs a server.
    """
    if not isinstance(spec, Mapping):
        message = "a field of a group must be computed by an accumulator: {$sum: ...}"
        raise AggregationError(message, path, 40234)
    if len(spec) != 1:
        raise AggregationError(f"a field of a group must have one accumulator, not {len(spec)}", path, 40238)
    ((name, argument),) = spec.items()
    where = (*path, name)
    compile_form = find_form("accumulator", name, _FORMS, where, 15952)
    if isinstance(argument, list | tuple):
        raise AggregationError(f"{name} requires one expression here, not a list of them", where, 40237)
    return compile_form(argument, scope, where)


def compile_by_name(name: str, argument: Any, scope: Scope, path: Path) -> Accumulator:
    """Compile the accumulator ``name`` for a window. ``path`` ends with the name.

    Unlike in ``$group``, ``argument`` may be a list, which is an expression.
    """
    return find_form("accumulator", name, _FORMS, path, 15952)(argument, scope, path)


# Bytes of a number that waits to be added; maximum number of such numbers.
_WAITING, _MOST_WAITING = 40, 8_192


class _Summed(Keeping):
    """A state that collects values in a list and adds them when a result is needed, which is far faster."""

    def __init__(self) -> None:
        self._sum = MixedSum()
        self._waiting: list[Any] = []
        self.add = self._waiting.append

    def extend(self, values: Sequence[Any]) -> None:
        self._waiting.extend(values)

    def measure_growth(self, count: int) -> int:
        waiting = len(self._waiting)
        if waiting <= _MOST_WAITING:
            return _WAITING * count
        self._total()
        return _WAITING * (count - waiting)

    def _total(self) -> MixedSum:
        self._sum.add(*self._waiting)
        self._waiting.clear()
        return self._sum


@accumulator("$sum")
class _Sum(_Summed):
    def result(self) -> Any:
        return self._total().value


@accumulator("$avg")
class _Average(_Summed):
    def result(self) -> Any:
        total = self._total()
        if total.widest < DOUBLE and to_double(total.value) != total.numbers.double:
            # One engine of the server divides the exact integer, the other the compensated double.
            raise NotOffline(
                "the $avg of int64 values that cancel each other out depends on the engine of the server"
            )
        return total.mean


@form("$count")
def _count(argument: Any, scope: Scope, path: Path) -> Accumulator:
    if argument != {}:
        raise AggregationError("$count requires an empty document: {$count: {}}", path, 14)
    return Accumulator(lambda _: 1, lambda _: _Sum(), extends=True)


class _Extreme:
    """The smallest or largest value. Of equal values, the first is kept; without values, the result is null."""

    greatest = False

    def __init__(self) -> None:
        self._value: Any = None
        self._key: Key | None = None

    def add(self, value: Any) -> None:
        if value is None or value is MISSING:
            return
        found = key(value)
        if self._key is None or (found > self._key if self.greatest else found < self._key):
            self._value, self._key = value, found

    def extend(self, values: Sequence[Any]) -> None:
        self.add(largest(values) if self.greatest else smallest(values))

    def result(self) -> Any:
        return self._value


@accumulator("$min")
class _Min(_Extreme):
    pass


@accumulator("$max")
class _Max(_Extreme):
    greatest = True


@accumulator("$first")
class _First:
    def __init__(self) -> None:
        self._values: list[Any] = []

    def add(self, value: Any) -> None:
        if not self._values:
            self._values.append(value)

    def result(self) -> Any:
        return self._values[0] if self._values else None


@accumulator("$last")
class _Last:
    _value: Any = None

    def add(self, value: Any) -> None:
        self._value = value

    def result(self) -> Any:
        return self._value


@accumulator("$push")
class _Push(Keeping):
    def __init__(self) -> None:
        self._values: list[Any] = []

    def add(self, value: Any) -> None:
        if value is not MISSING:
            self._values.append(value)
            self.last = value

    def result(self) -> Any:
        return list(self._values)


@accumulator("$addToSet")
class _AddToSet(Keeping):
    """Distinct values in the order of their first occurrence. The server returns them in an undefined order."""

    def __init__(self) -> None:
        self._values: dict[Key, Any] = {}

    def add(self, value: Any) -> None:
        if value is not MISSING:
            before = len(self._values)
            self._values.setdefault(key(value), value)
            self.last = value if len(self._values) > before else MISSING

    def result(self) -> Any:
        return list(self._values.values())


@accumulator("$stdDevPop")
class _PopulationDeviation(Spread):
    def result(self) -> Any:
        return self.deviation(sample=False)


@accumulator("$stdDevSamp")
class _SampleDeviation(Spread):
    def result(self) -> Any:
        return self.deviation(sample=True)


@accumulator("$mergeObjects")
class _MergeObjects:
    def __init__(self) -> None:
        self._merged: Document = {}

    def add(self, value: Any) -> None:
        if isinstance(value, Mapping):
            self._merged.update(value)
        elif not is_nullish(value):
            raise mistyped("$mergeObjects works on documents, not on", value, 40400)

    def result(self) -> Any:
        return dict(self._merged)


def _array(name: str, value: Any) -> list[Any]:
    if value is MISSING:
        return []
    if not isinstance(value, list):
        raise mistyped(f"{name} works on arrays, not on", value, 14)
    return value


@accumulator("$concatArrays")
class _ConcatArrays(_Push):
    def add(self, value: Any) -> None:
        self._values += _array("$concatArrays", value)
        self.last = value


@accumulator("$setUnion")
class _SetUnion(_AddToSet):
    def add(self, value: Any) -> None:
        for item in _array("$setUnion", value):
            super().add(item)
