"""`$sum`, `$avg`, `$min`, `$max`, `$first`, `$last`, `$push`, `$addToSet`, `$stdDevPop`, `$stdDevSamp`, `$count`,
`$mergeObjects`, `$concatArrays`, `$setUnion` as accumulators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mongo_tables.aggregation.accumulators.registry import Accumulator, Keeping, accumulator, form
from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import rank, to_double
from mongo_tables.aggregation.ordering import Key, key, largest, smallest
from mongo_tables.aggregation.spread import Spread
from mongo_tables.aggregation.summation import MixedSum, mean, total
from mongo_tables.aggregation.values import MISSING, Document, is_nullish, type_name

# Bytes of a number that waits; how many of them may.
_WAITING, _MOST_WAITING = 40, 8_192


class _Summed(Keeping):
    """Takes values into a list and adds them up when a result is asked for: far faster than one by one.

    The first result is that of the list as it is, which may be known without a step for each value; after that the
    sum goes on from what it was, as windows ask for a result after each value.
    """

    def __init__(self) -> None:
        self._sum: MixedSum | None = None
        self._asked = False
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
        self._sum = self._sum or MixedSum()
        if self._waiting:
            self._sum.add(*self._waiting)
            self._waiting.clear()
        return self._sum

    def _is_of_list(self) -> bool:
        """Whether the result is that of the values in the list, of which it is asked for the first time."""
        asked, self._asked = self._asked, True
        return self._sum is None and not asked


@accumulator("$sum")
class _Sum(_Summed):
    def result(self) -> Any:
        return total(self._waiting) if self._is_of_list() else self._total().value


@accumulator("$avg")
class _Average(_Summed):
    def result(self) -> Any:
        return mean(self._waiting) if self._is_of_list() else self._total().mean


@form("$count")
def _count(argument: Any, scope: Scope, path: Path) -> Accumulator:
    if argument != {}:
        raise AggregationError("$count takes an empty document: {$count: {}}", path, 14)
    return Accumulator(lambda _: 1, lambda _: _Sum(), extends=True)


class _Extreme:
    """The value whose key is on the wanted side; the first of equals, null when there is none."""

    best: Callable[[Sequence[Any]], Any]

    def __init__(self) -> None:
        self._value: Any = None
        self._key: Key | None = None

    def add(self, value: Any) -> None:
        if value is None or value is MISSING:
            return
        found = key(value)
        if self._key is None or self.better(found, self._key):
            self._value, self._key = value, found

    def extend(self, values: Sequence[Any]) -> None:
        self.add(self.best(values))

    def better(self, found: Key, known: Key) -> bool:
        raise NotImplementedError

    def result(self) -> Any:
        return self._value


@accumulator("$min")
class _Min(_Extreme):
    best = staticmethod(smallest)

    def better(self, found: Key, known: Key) -> bool:
        return found < known


@accumulator("$max")
class _Max(_Extreme):
    best = staticmethod(largest)

    def better(self, found: Key, known: Key) -> bool:
        return found > known


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
    def __init__(self) -> None:
        self._value: Any = None

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
    """Distinct values in the order in which they first come (the server's order is that of a hash table)."""

    def __init__(self) -> None:
        self._values: dict[Key, Any] = {}

    def add(self, value: Any) -> None:
        if value is not MISSING:
            before = len(self._values)
            self._values.setdefault(key(value), value)
            self.last = value if len(self._values) > before else MISSING

    def result(self) -> Any:
        return list(self._values.values())


class _Deviation:
    sample = False

    def __init__(self) -> None:
        self._spread = Spread()

    def add(self, value: Any) -> None:
        if rank(value):
            self._spread.add(to_double(value))

    def result(self) -> Any:
        return self._spread.deviation(sample=self.sample)


@accumulator("$stdDevPop")
class _PopulationDeviation(_Deviation):
    pass


@accumulator("$stdDevSamp")
class _SampleDeviation(_Deviation):
    sample = True


@accumulator("$mergeObjects")
class _MergeObjects:
    def __init__(self) -> None:
        self._merged: Document = {}

    def add(self, value: Any) -> None:
        if isinstance(value, Mapping):
            self._merged.update(value)
        elif not is_nullish(value):
            raise AggregationError(f"$mergeObjects works on documents, not on {type_name(value)}", code=40400)

    def result(self) -> Any:
        return dict(self._merged)


def _array(name: str, value: Any) -> list[Any]:
    if value is MISSING:
        return []
    if not isinstance(value, list):
        raise AggregationError(f"{name} works on arrays, not on {type_name(value)}", code=14)
    return value


@accumulator("$concatArrays")
class _ConcatArrays(Keeping):
    def __init__(self) -> None:
        self._values: list[Any] = []

    def add(self, value: Any) -> None:
        self._values += _array("$concatArrays", value)
        self.last = value

    def result(self) -> Any:
        return list(self._values)


@accumulator("$setUnion")
class _SetUnion(_AddToSet):
    def add(self, value: Any) -> None:
        for item in _array("$setUnion", value):
            super().add(item)
