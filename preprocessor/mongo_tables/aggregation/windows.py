"""Windows of `$setWindowFields`: which documents of a partition count for each of them.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/ . A window is a pair of
places in the partition, both included, or None when it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import CONTEXT, decimal128, integral, rank, to_decimal
from mongo_tables.aggregation.ordering import Key, compare, key
from mongo_tables.aggregation.sorting import SortPattern
from mongo_tables.aggregation.values import Document, is_date, type_name

Ends = tuple[int, int] | None
_FAILED_TO_PARSE = 9


@dataclass(frozen=True, slots=True)
class Documents:
    """A window by position: offsets from the document, None where there is no bound."""

    lower: int | None = None
    upper: int | None = None

    @property
    def unbounded_below(self) -> bool:
        """Whether the window begins with the partition."""
        return self.lower is None

    def ends(self, documents: Sequence[Document]) -> Iterator[Ends]:
        """The window of each document."""
        last = len(documents) - 1
        for place in range(last + 1):
            low = 0 if self.lower is None else place + self.lower
            high = last if self.upper is None else place + self.upper
            yield None if low > last or high < 0 else (max(low, 0), min(high, last))


Bound = Any  # a number, "current" or "unbounded"


@dataclass(frozen=True, slots=True)
class Range:
    """A window by the value sorted by: numbers to add to it, or amounts of a unit of time."""

    lower: Bound
    upper: Bound
    unit: str | None
    value: Callable[[Document], Any]
    shifted: Callable[[Any, Any], Any]

    @property
    def unbounded_below(self) -> bool:
        """Whether the window begins with the partition."""
        return isinstance(self.lower, str) and self.lower == "unbounded"

    def ends(self, documents: Sequence[Document]) -> Iterator[Ends]:
        """The window of each document. Raises AggregationError for a value of the wrong type."""
        values = [self.value(document) for document in documents]
        keys = [key(value) for value in values]
        known: Ends = None
        for place, base in enumerate(values):
            self._check(base)
            low = self._low(place, values, keys, known[0] if known else 0)
            high = None if low is None else self._high(place, values, keys, low, known)
            known = None if low is None or high is None else (low, high)
            yield known

    def _fits(self, value: Any) -> bool:
        return is_date(value) if self.unit else bool(rank(value))

    def _check(self, value: Any) -> None:
        if self._fits(value):
            return
        if self.unit:
            raise AggregationError(f"a range with a unit needs dates, not {type_name(value)}", code=5429513)
        if is_date(value):
            raise AggregationError("a range over dates needs a unit", code=5429413)
        raise AggregationError(f"a range needs numbers, not {type_name(value)}", code=5429414)

    def _low(self, place: int, values: list[Any], keys: list[Key], start: int) -> int | None:
        if self.lower == "current":
            return place
        if self.unbounded_below:
            return next((at for at in range(start, len(values)) if self._fits(values[at])), None)
        least = key(self.shifted(values[place], self.lower))
        found = next((at for at in range(start, len(values)) if not keys[at] < least), None)
        return found if found is not None and self._fits(values[found]) else None

    def _high(self, place: int, values: list[Any], keys: list[Key], low: int, known: Ends) -> int | None:
        if self.upper == "current":
            return place
        last = len(values) - 1
        if self.upper == "unbounded":
            start = max(place, low, known[1] if known else 0)
            beyond = next((at for at in range(start, last + 1) if not self._fits(values[at])), last + 1)
            return beyond - 1
        start = max(low, known[1]) if known else low
        most = key(self.shifted(values[place], self.upper))
        beyond = next((at for at in range(start, last + 1) if most < keys[at]), last + 1)
        return None if beyond == start else beyond - 1


Bounds = Documents | Range


def parse(spec: Any, sort: SortPattern | None, scope: Scope, path: Path) -> Bounds:
    """The window written as ``spec``. Raises AggregationError for what the server refuses."""
    if not isinstance(spec, Mapping):
        raise AggregationError("a window is a document with 'documents' or 'range'", path, _FAILED_TO_PARSE)
    for name in spec:
        if name not in ("documents", "range", "unit"):
            raise AggregationError(f"a window has no '{name}'", (*path, name), _FAILED_TO_PARSE)
    if not spec:
        return Documents()
    if "range" not in spec:
        return _documents(spec, sort, scope, path)
    if "documents" in spec:
        raise AggregationError("a window has either 'documents' or 'range'", path, _FAILED_TO_PARSE)
    return _range(spec, sort, scope, path)


def _documents(spec: Mapping[str, Any], sort: SortPattern | None, scope: Scope, path: Path) -> Documents:
    if "unit" in spec or "documents" not in spec:
        raise AggregationError("a unit goes with 'range' only", path, _FAILED_TO_PARSE)
    where = (*path, "documents")
    lower, upper = _pair(spec["documents"], scope, where, whole=True)
    if sort is None and (lower, upper) != ("unbounded", "unbounded"):
        raise AggregationError("a window of documents needs a sortBy", path, 5339901)
    _check_forward(lower, upper, where)
    return Documents(_offset(lower), _offset(upper))


def _offset(bound: Bound) -> int | None:
    if bound == "unbounded":
        return None
    return 0 if bound == "current" else integral(bound)


def _range(spec: Mapping[str, Any], sort: SortPattern | None, scope: Scope, path: Path) -> Range:
    unit = spec.get("unit")
    if unit is not None and not isinstance(unit, str):
        raise AggregationError("the unit is a string", (*path, "unit"), _FAILED_TO_PARSE)
    where = (*path, "range")
    lower, upper = _pair(spec["range"], scope, where, whole=unit is not None)
    _check_forward(lower, upper, where)
    if sort is None or len(sort.parts) != 1 or sort.parts[0].descending:
        raise AggregationError("a range needs a sortBy of one ascending field", path, 5339902)
    shifted = _decimal_sum if unit is None else _date_shift(unit, scope, (*path, "unit"))
    return Range(lower, upper, unit, paths.getter(sort.parts[0].path), shifted)


def _pair(spec: Any, scope: Scope, path: Path, *, whole: bool) -> tuple[Bound, Bound]:
    if not isinstance(spec, list | tuple) or len(spec) != 2:
        raise AggregationError("the bounds of a window are a list of two", path, _FAILED_TO_PARSE)
    lower, upper = (_parse_bound(item, scope, (*path, index), whole) for index, item in enumerate(spec))
    return lower, upper


def _parse_bound(spec: Any, scope: Scope, path: Path, whole: bool) -> Bound:
    if isinstance(spec, str):
        if spec not in ("current", "unbounded"):
            raise AggregationError("a bound is a number, 'current' or 'unbounded'", path, _FAILED_TO_PARSE)
        return spec
    node = compile_expression(spec, scope, path)
    if not node.constant:
        raise AggregationError("a bound is a constant", path, _FAILED_TO_PARSE)
    value = node.run({})
    if not rank(value) or (whole and not _is_int32(value)):
        kind = "whole number" if whole else "number"
        raise AggregationError(f"a bound is a {kind} here, 'current' or 'unbounded'", path, _FAILED_TO_PARSE)
    return value


def _is_int32(value: Any) -> bool:
    number = integral(value)
    return number is not None and -(2**31) <= number < 2**31


def _check_forward(lower: Bound, upper: Bound, path: Path) -> None:
    if "unbounded" in (lower, upper):
        return
    low, high = (0 if bound == "current" else bound for bound in (lower, upper))
    if compare(low, high) > 0:
        raise AggregationError("the lower bound must not exceed the upper bound", path, 5339900)


def _decimal_sum(base: Any, delta: Any) -> Any:
    # The server looks for the ends of a range in Decimal128, whatever the types are.
    return decimal128(CONTEXT.add(to_decimal(base), to_decimal(delta)))


def _date_shift(unit: str, scope: Scope, path: Path) -> Callable[[Any, Any], Any]:
    inner, (start, amount) = scope.binding("start", "amount")
    spec = {"$dateAdd": {"startDate": "$$start", "unit": unit, "amount": "$$amount"}}
    run = compile_expression(spec, inner, path).run
    compile_expression({"$dateAdd": {"startDate": None, "unit": unit, "amount": 1}}, scope, path)

    def shift(base: Any, delta: Any) -> Any:
        start.value, amount.value = base, integral(delta)
        return run({})

    return shift
