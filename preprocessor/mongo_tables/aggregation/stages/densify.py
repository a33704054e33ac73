"""`$densify`: documents for the missing steps between numbers or dates.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/densify/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mongo_tables.aggregation import paths, value_order
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path, check_names
from mongo_tables.aggregation.expressions.arithmetic import add, remainder, subtract
from mongo_tables.aggregation.expressions.date_parts import UNITS, shift_date
from mongo_tables.aggregation.fields import Effect, Field, Order, StageRecord, split_path
from mongo_tables.aggregation.limits import gather_within_limits, spend
from mongo_tables.aggregation.numbers import integral, rank, to_double
from mongo_tables.aggregation.paths import get_nested, with_nested
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.value_order import Key, compare, key
from mongo_tables.aggregation.values import Document, Evaluate, is_date, is_nullish, millis, mistyped

_EPOCH = datetime(1970, 1, 1)
_CODES = (9, 40415, 40414)
_UNEVEN = ("month", "quarter", "year")


@dataclass(frozen=True, slots=True)
class Steps:
    """A step: a number, or an amount of a unit of time. ``after`` and ``before`` return the neighbours of a value."""

    step: Any
    unit: str | None
    after: Callable[[Any], Any]
    before: Callable[[Any], Any]

    def between(self, base: Any, value: Any) -> bool:
        """Return whether ``value`` is a whole number of steps after ``base``."""
        if self.unit is None:
            return to_double(remainder(subtract(value, base), self.step)) == 0
        if self.unit not in _UNEVEN:
            return (millis(value) - millis(base)) % millis(self.after(_EPOCH)) == 0
        while compare(base, value) < 0:
            base = self.after(base)
        return compare(base, value) == 0


_MOST_DOCUMENTS = 500_000
# A step over dates takes as long as this many units of work.
_WORK = 16


@dataclass(frozen=True, slots=True)
class _DensifyPlan:
    """A parsed `$densify`. ``bounds``: ``full``, ``partition`` or the two explicit ends."""

    name: tuple[str, ...]
    partitions: tuple[tuple[str, ...], ...]
    partition: Evaluate
    steps: Steps
    bounds: str | tuple[Any, Any]
    path: Path

    def value(self, document: Document) -> Any:
        """Return the document's value of the field. Raises AggregationError unless it is a number or date."""
        value = get_nested(document, self.name)
        if not is_date(value) and not rank(value):
            raise mistyped("$densify requires numbers or dates, not", value, 5733201, self.path)
        if is_date(value) and self.steps.unit is None:
            raise AggregationError("$densify over dates needs a unit", self.path, 6053600)
        if not is_date(value) and self.steps.unit is not None:
            raise AggregationError("$densify with a unit requires dates", self.path, 6053600)
        return value


def _effect(argument: Any) -> Effect:
    path = split_path(argument["field"])
    partitions = map(split_path, argument.get("partitionByFields") or ())
    return Effect((path, *partitions), (Field(path, ("field",), takes=(path,)),))


def _order(argument: Any) -> Order:
    """Return the output order. If documents are added beyond the ends of partitions, the order of partitions is
    undefined.
    """
    bounds = argument.get("range", {}).get("bounds")
    return Order.PARTITIONS if argument.get("partitionByFields") and bounds != "partition" else Order.SORTED


@stage("$densify", record=StageRecord(_effect, order_by=_order, adds=True))
def densify(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents sorted by partition and field, with new documents between them."""
    plan = _parse(argument, scope, path)
    order = [] if plan.bounds == "full" else [".".join(name) for name in plan.partitions]
    pattern = value_order.parse(dict.fromkeys([*order, ".".join(plan.name)], 1), path, "$densify")

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        made = 0
        ordered = pattern.sort(gather_within_limits(documents, path))
        for document, is_new in _Run(plan).over(ordered):
            made += is_new
            spend(_WORK, path)
            if made > _MOST_DOCUMENTS:
                message = f"$densify would add more than {_MOST_DOCUMENTS} documents"
                raise AggregationError(message, path, 5897900)
            yield document

    return run


Made = Iterator[tuple[Document, bool]]


@dataclass(slots=True)
class _Run:
    """The state of one pass over the documents.

    ``current`` is the last value on a step; ``table`` has the last value of each partition.
    """

    plan: _DensifyPlan
    current: Any = None
    lowest: Any = None
    highest: Any = None
    below: bool = True
    finished: bool = False
    table: dict[Key, tuple[Document, Any]] = field(default_factory=dict)

    def over(self, documents: list[Document]) -> Made:
        for document in documents:
            if self.finished or is_nullish(get_nested(document, self.plan.name)):
                yield document, False
            else:
                yield from self._one(document, self.plan.value(document))
        if not self.finished:
            yield from self._rest()

    def _one(self, document: Document, value: Any) -> Made:
        if isinstance(self.plan.bounds, tuple):
            return self._explicit(document, value, self.plan.bounds)
        if self.plan.bounds == "full":
            return self._full(document, value)
        return self._fill_partition(document, value)

    def _remember(self, document: Document, value: Any) -> None:
        """Store the partition's last value. Of equal partition values, such as 1 and 1.0, the first is used."""
        if self.plan.partitions:
            partition = self.plan.partition(document)
            name = key(partition)
            known = self.table.get(name)
            self.table[name] = known[0] if known else partition, value

    def _find_partition(self, document: Document) -> Any:
        found = self.table.get(key(self.plan.partition(document)))
        return None if found is None else found[1]

    def _full(self, document: Document, value: Any) -> Made:
        self.highest = value
        if self.lowest is None:
            self.lowest = self.current = value
            self._remember(document, value)
            return iter([(document, False)])
        if self.plan.partitions:
            known = self._find_partition(document)
            self.current = self.plan.steps.before(self.lowest) if known is None else known
            if known is None:
                self._remember(document, value)
        return self._up_to(document, value)

    def _fill_partition(self, document: Document, value: Any) -> Made:
        known = self._find_partition(document)
        if known is None:
            self._remember(document, value)
            return iter([(document, False)])
        self.current = known
        return self._up_to(document, value)

    def _up_to(self, document: Document, value: Any) -> Made:
        """Yield new documents for the steps before ``value``, then the document."""
        following = self.plan.steps.after(self.current)
        partition = self.plan.partition(document)
        while compare(following, value) < 0:
            self._step(document, following)
            yield with_nested(partition, self.plan.name, following), True
            following = self.plan.steps.after(following)
        if compare(following, value) == 0:
            self._step(document, value)
        yield document, False

    def _step(self, document: Document, value: Any) -> None:
        self.current = value
        self._remember(document, value)

    def _explicit(self, document: Document, value: Any, bounds: tuple[Any, Any]) -> Made:
        first = self.below
        if not first and self.plan.partitions:
            known = self._find_partition(document)
            first = known is None
            self.current = known
        if self.plan.partitions and (first and (not self.below or not self.table)):
            self._remember(document, value)
        if first:
            return self._first_explicit(document, value, bounds)
        return self._next_explicit(document, value, bounds)

    def _first_explicit(self, document: Document, value: Any, bounds: tuple[Any, Any]) -> Made:
        if self.current is None:
            self.current = self.plan.steps.before(bounds[0])
        place = compare(value, bounds[0])
        if place < 0:
            self.below = True
            return iter([(document, False)])
        if place == 0:
            self.below = False
            self.current = value
            return iter([(document, False)])
        return self._above(document, value, bounds)

    def _next_explicit(self, document: Document, value: Any, bounds: tuple[Any, Any]) -> Made:
        following = self.plan.steps.after(self.current)
        place = compare(value, bounds[0])
        if place <= 0:
            self._remember(document, value)
            self.below = place < 0
            self.current = value if place == 0 else self.current
        elif compare(value, bounds[1]) < 0:
            if compare(value, following) > 0:
                return self._above(document, value, bounds)
            if compare(value, following) == 0:
                self._step(document, value)
        elif compare(following, bounds[1]) < 0:
            return self._above(document, value, bounds)
        else:
            self.current = following
            self._remember(document, value)
            self.finished = not self.plan.partitions
        return iter([(document, False)])

    def _above(self, document: Document, value: Any, bounds: tuple[Any, Any]) -> Made:
        """Yield new documents up to the value or the end of the range, then the document."""
        self.below = False
        following = self.plan.steps.after(self.current)
        if compare(following, value) == 0:
            self._step(document, following)
            yield document, False
            return
        end = value if compare(value, bounds[1]) < 0 else bounds[1]
        partition = self.plan.partition(document)
        while True:
            self._step(document, following)
            yield with_nested(partition, self.plan.name, following), True
            following = self.plan.steps.after(following)
            if compare(end, following) <= 0:
                break
        if self.plan.steps.between(self.current, value):
            self._step(document, value)
        self.finished = not self.plan.partitions and compare(self.current, bounds[1]) >= 0
        yield document, False

    def _rest(self) -> Made:
        """Return the missing documents after the last one."""
        bounds = self.plan.bounds
        if isinstance(bounds, tuple):
            if self.table:
                return self._finish(bounds[1], bounds[0])
            start = bounds[0] if self.current is None else self.plan.steps.after(self.current)
            if self.current is not None and compare(start, bounds[1]) >= 0:
                return iter(())
            return self._fill({}, start, bounds[1])
        if bounds == "partition" or not self.plan.partitions or self.current is None:
            return iter(())
        on_step = self.plan.steps.between(self.current, self.highest)
        return self._finish(self.plan.steps.after(self.highest) if on_step else self.highest, None)

    def _finish(self, end: Any, least: Any) -> Made:
        for partition, value in self.table.values():
            following = self.plan.steps.after(value)
            if compare(following, end) >= 0:
                continue
            if least is not None and compare(following, least) < 0:
                following = least
            yield from self._fill(partition, following, end)

    def _fill(self, partition: Document, start: Any, end: Any) -> Made:
        while True:
            yield with_nested(partition, self.plan.name, start), True
            start = self.plan.steps.after(start)
            if compare(end, start) <= 0:
                return


def _parse(argument: Any, scope: Scope, path: Path) -> _DensifyPlan:
    given = check_names(argument, ("field", "range"), ("partitionByFields",), path, _CODES)
    limits = check_names(given["range"], ("step", "bounds"), ("unit",), (*path, "range"), _CODES)
    if not isinstance(given["field"], str):
        raise AggregationError("the field of $densify must be a string", (*path, "field"), 14)
    names = given.get("partitionByFields") or []
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        message = "partitionByFields must be a list of field names"
        raise AggregationError(message, (*path, "partitionByFields"), 14)
    steps = _steps(limits, (*path, "range"))
    bounds = _bounds(limits["bounds"], steps, (*path, "range", "bounds"))
    if bounds == "partition" and not names:
        message = "the bounds 'partition' require partitionByFields; without this option, write 'full'"
        raise AggregationError(message, (*path, "range", "bounds"), 5733408)
    name = paths.split(given["field"], (*path, "field"))
    partitions = tuple(paths.split(each, (*path, "partitionByFields")) for each in names)
    if any(each[: len(name)] == name for each in partitions):
        message = "$densify cannot partition by its own field"
        raise AggregationError(message, (*path, "partitionByFields"), 5733306)
    spec: Document = {}  # documents on the path exist even if the field does not
    for parts in partitions:
        spec = with_nested(spec, parts, f"${'.'.join(parts)}")
    return _DensifyPlan(name, partitions, compile_expression(spec, scope, path).run, steps, bounds, path)


def _steps(limits: Mapping[str, Any], path: Path) -> Steps:
    step, unit = limits["step"], limits.get("unit")
    if not rank(step) or compare(step, 0) <= 0:
        raise AggregationError("the step must be a number greater than 0", (*path, "step"), 5733401)
    if unit is None:
        return Steps(step, None, lambda value: add((value, step)), lambda value: subtract(value, step))
    if not isinstance(unit, str) or unit not in UNITS:
        raise AggregationError(f"unknown unit '{unit}'", (*path, "unit"), 9)
    if integral(step) is None:
        raise AggregationError("the step over dates must be a whole number", (*path, "step"), 6586400)
    return Steps(
        step,
        unit,
        lambda value: shift_date(value, unit, integral(step)),
        lambda value: shift_date(value, unit, -(integral(step) or 0)),
    )


def _bounds(spec: Any, steps: Steps, path: Path) -> str | tuple[Any, Any]:
    if spec in ("full", "partition"):
        return str(spec)
    if not isinstance(spec, list | tuple):
        code = 5946802 if isinstance(spec, str) else 5733404
        raise AggregationError("the bounds must be 'full', 'partition' or a list of two", path, code)
    if len(spec) != 2:
        raise AggregationError("the bounds must be a list of two", path, 5733403)
    low, high = spec
    if compare(low, high) > 0:
        raise AggregationError("the bounds must be in ascending order", path, 5733402)
    if is_date(low) and is_date(high):
        if steps.unit is None:
            raise AggregationError("bounds that are dates require a unit", path, 5733410)
    elif rank(low) and rank(high):
        if steps.unit is not None:
            raise AggregationError("numeric bounds must not have a unit", path, 5733409)
        if not rank(low) == rank(high) == rank(steps.step):
            raise AggregationError("the bounds and the step must be numbers of the same type", path, 5876900)
    else:
        raise AggregationError("the bounds must be two numbers or two dates", path, 5733406)
    return low, high
