"""The windows of `$setWindowFields`, and the framework of window functions.

A window function returns a result for each document of a sorted partition. The result is computed from the documents of
the window. A window is the pair of the positions of its first and its last document in the partition, or None if it is
empty.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

from mongo_tables.aggregation import catalogue, paths
from mongo_tables.aggregation.accumulators.basic import State
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.expressions.date_parts import UNITS, shift_date
from mongo_tables.aggregation.limits import each, spend
from mongo_tables.aggregation.numbers import CONTEXT, decimal128, integral, rank, to_decimal, whole
from mongo_tables.aggregation.value_order import Key, SortPattern, compare, key
from mongo_tables.aggregation.values import Document, Evaluate, is_date, mistyped

Ends = tuple[int, int] | None
_FAILED_TO_PARSE = 9


@dataclass(frozen=True, slots=True)
class DocumentBounds:
    """A window by position. The bounds are offsets from the current document; None is an open end."""

    lower: int | None = None
    upper: int | None = None

    @property
    def unbounded_below(self) -> bool:
        """Return whether the window begins with the partition."""
        return self.lower is None

    def ends(self, documents: Sequence[Document]) -> Iterator[Ends]:
        """Yield the window of each document."""
        last = len(documents) - 1
        for place in range(last + 1):
            low = 0 if self.lower is None else place + self.lower
            high = last if self.upper is None else place + self.upper
            yield None if low > last or high < 0 else (max(low, 0), min(high, last))


Bound = Any  # a number, "current" or "unbounded"


@dataclass(frozen=True, slots=True)
class Range:
    """A window by the sort value. The bounds are added to the current document's sort value.

    A bound is a number or, with a ``unit``, an amount of time.
    """

    lower: Bound
    upper: Bound
    unit: str | None
    value: Callable[[Document], Any]
    shifted: Callable[[Any, Any], Any]

    @property
    def unbounded_below(self) -> bool:
        """Return whether the window begins with the partition."""
        return isinstance(self.lower, str) and self.lower == "unbounded"

    def ends(self, documents: Sequence[Document]) -> Iterator[Ends]:
        """Yield the window of each document. Raises AggregationError for a value of the wrong type."""
        values = [self.value(document) for document in documents]
        keys = [key(value) for value in values]
        known: Ends = None
        for place, base in enumerate(values):
            if not self._fits(base):
                if not self.unit and is_date(base):
                    raise AggregationError("a range over dates needs a unit", code=5429413)
                saying, code = (
                    ("with a unit needs dates", 5429513) if self.unit else ("needs numbers", 5429414)
                )
                raise mistyped(f"a range {saying}, not", base, code)
            low = self._low(place, values, keys, known[0] if known else 0)
            high = None if low is None else self._high(place, values, keys, low, known)
            known = None if low is None or high is None else (low, high)
            yield known

    def _fits(self, value: Any) -> bool:
        return is_date(value) if self.unit else bool(rank(value))

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


Bounds = DocumentBounds | Range


def parse(spec: Any, sort: SortPattern | None, scope: Scope, path: Path) -> Bounds:
    """Parse the window ``spec``. Raises AggregationError if the server refuses it."""
    if not isinstance(spec, Mapping):
        message = "a window must be a document with 'documents' or 'range'"
        raise AggregationError(message, path, _FAILED_TO_PARSE)
    for name in spec:
        if name not in ("documents", "range", "unit"):
            raise AggregationError(f"a window has no '{name}'", (*path, name), _FAILED_TO_PARSE)
    if not spec:
        return DocumentBounds()
    if "range" in spec:
        if "documents" in spec:
            raise AggregationError("a window must have either 'documents' or 'range'", path, _FAILED_TO_PARSE)
        return _range(spec, sort, scope, path)
    if "unit" in spec:
        raise AggregationError("only a window with 'range' can have a unit", path, _FAILED_TO_PARSE)
    where = (*path, "documents")
    lower, upper = _pair(spec["documents"], scope, where, is_whole=True)
    if sort is None and (lower, upper) != ("unbounded", "unbounded"):
        raise AggregationError("a window of documents needs a sortBy", path, 5339901)
    _check_forward(lower, upper, where)
    offsets = {"unbounded": None, "current": 0}
    return DocumentBounds(
        *(offsets[one] if isinstance(one, str) else integral(one) for one in (lower, upper))
    )


def _range(spec: Mapping[str, Any], sort: SortPattern | None, scope: Scope, path: Path) -> Range:
    unit = spec.get("unit")
    if unit is not None and not isinstance(unit, str):
        raise AggregationError("the unit must be a string", (*path, "unit"), _FAILED_TO_PARSE)
    if unit is not None and unit not in UNITS:
        raise AggregationError(f"unknown unit '{unit}'", (*path, "unit"), _FAILED_TO_PARSE)
    where = (*path, "range")
    lower, upper = _pair(spec["range"], scope, where, is_whole=unit is not None)
    _check_forward(lower, upper, where)
    if sort is None or len(sort.parts) != 1 or sort.parts[0].descending:
        raise AggregationError("a range requires a sortBy with one ascending field", path, 5339902)
    # The server computes the ends of a range in Decimal128 for all types.

    def shifted(base: Any, delta: Any) -> Any:
        if unit is not None:
            return shift_date(base, unit, integral(delta))
        return decimal128(CONTEXT.add(to_decimal(base), to_decimal(delta)))

    return Range(lower, upper, unit, paths.getter(sort.parts[0].path), shifted)


def _pair(spec: Any, scope: Scope, path: Path, *, is_whole: bool) -> tuple[Bound, Bound]:
    if not isinstance(spec, list | tuple) or len(spec) != 2:
        raise AggregationError("the bounds of a window must be a list of two", path, _FAILED_TO_PARSE)
    lower, upper = (_parse_bound(item, scope, (*path, index), is_whole) for index, item in enumerate(spec))
    return lower, upper


def _parse_bound(spec: Any, scope: Scope, path: Path, is_whole: bool) -> Bound:
    if isinstance(spec, str):
        if spec not in ("current", "unbounded"):
            message = "a bound must be a number, 'current' or 'unbounded'"
            raise AggregationError(message, path, _FAILED_TO_PARSE)
        return spec
    node = compile_expression(spec, scope, path)
    if not node.constant:
        raise AggregationError("a bound must be a constant", path, _FAILED_TO_PARSE)
    value = node.run({})
    if not rank(value) or (is_whole and whole(value, bits=32) is None):
        kind = "whole number" if is_whole else "number"
        message = f"a bound must be a {kind} here, 'current' or 'unbounded'"
        raise AggregationError(message, path, _FAILED_TO_PARSE)
    return value


def _check_forward(lower: Bound, upper: Bound, path: Path) -> None:
    if "unbounded" in (lower, upper):
        return
    low, high = (0 if bound == "current" else bound for bound in (lower, upper))
    if compare(low, high) > 0:
        raise AggregationError("the lower bound must not exceed the upper bound", path, 5339900)


Results = Callable[[Sequence[Document]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Window:
    """The specification of an output field: the function's argument, its window and the sort pattern.

    ``path`` ends with the function's name. ``written``: whether the pipeline specifies the window. If not, the
    window is the whole partition.
    """

    argument: Any
    bounds: Bounds
    written: bool
    sort: SortPattern | None
    scope: Scope
    path: Path

    @property
    def name(self) -> str:
        """Return the function's name."""
        return str(self.path[-1])

    def evaluate(self, argument: Any, *parts: str) -> Evaluate:
        """Compile ``argument``. ``parts`` is its path inside the window function."""
        return compile_expression(argument, self.scope, (*self.path, *parts)).run

    def refuse_window(self, code: int = _FAILED_TO_PARSE) -> None:
        """Raise AggregationError if the pipeline specifies a window. Functions with a fixed window call this."""
        if self.written:
            raise AggregationError(f"{self.name} does not accept a window", self.path, code)

    def sort_value(self, code: int = _FAILED_TO_PARSE) -> Evaluate:
        """Return the function from a document to its sort value.

        Raises AggregationError unless the sort is by one field.
        """
        if self.sort is None or len(self.sort.parts) != 1:
            raise AggregationError(f"{self.name} requires a sortBy with one field", self.path, code)
        return paths.getter(self.sort.parts[0].path)


Form = Callable[[Window], Results]
FORMS: dict[str, Form] = {}


window_function = partial(catalogue.register, FORMS)
"""The decorator that registers a function ``(Window) -> Results``."""


class Removable(State, Protocol):
    """A state that can remove values in the order in which they were added."""

    def remove(self, value: Any) -> None:
        """Remove the oldest value, which is ``value``."""


def growing(evaluate: Evaluate, bounds: Bounds, start: Callable[[], State]) -> Results:
    """Return the results over windows that only grow, because each begins with the partition."""

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        state, taken = start(), 0
        latest: list[Any] = []
        for ends in bounds.ends(documents):
            upto = 0 if ends is None else ends[1] + 1
            if upto < taken:
                state, taken = start(), 0
                latest.clear()
            if upto > taken or not latest:
                for document in each(documents[max(taken, ends[0] if ends else 0) : upto]):
                    state.add(evaluate(document))
                taken = upto
                latest[:] = [state.result()]
                _count(latest[0])
            yield latest[0]

    return run


def sliding(evaluate: Evaluate, bounds: Bounds, start: Callable[[], Removable]) -> Results:
    """Return the results over moving windows. New values are added before old ones are removed."""

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        state, inside = start(), deque[Any]()
        known: tuple[int, int] | None = None
        for ends in bounds.ends(documents):
            first, last = ends or (0, -1)
            for document in each(documents[(known[1] + 1 if known else first) : last + 1]):
                inside.append(evaluate(document))
                state.add(inside[-1])
            gone = 0
            if ends is None and isinstance(bounds, DocumentBounds):
                gone = 1
            elif known is not None:
                gone = known[1] - known[0] + 1 if ends is None else ends[0] - known[0]
            for _ in range(min(gone, len(inside))):
                state.remove(inside.popleft())
            known = ends
            result = state.result()
            _count(result)
            yield result

    return run


def afresh(evaluate: Evaluate, bounds: Bounds, summarize: Callable[[list[Any]], Any]) -> Results:
    """Return results that are computed again from all values of each window."""

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        value_at = cache(lambda place: evaluate(documents[place]))
        for ends in bounds.ends(documents):
            places = range(ends[0], ends[1] + 1) if ends else ()
            result = summarize([value_at(place) for place in each(places)])
            _count(result)
            yield result

    return run


def _count(result: Any) -> None:
    """Count the work of one result, including the copying of a list."""
    spend(1 + (len(result) // 64 if type(result) is list else 0))
