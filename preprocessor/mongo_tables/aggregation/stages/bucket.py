"""`$bucket` and `$bucketAuto`: groups by ranges of an expression's values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Stage, compile_expression, stage
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, Order, StageRecord, paths_in
from mongo_tables.aggregation.meter import (
    admit_documents,
    blocks,
    gather_within_limits,
    hold,
    is_counted,
    watch_clock,
)
from mongo_tables.aggregation.numbers import integral, to_double
from mongo_tables.aggregation.ordering import Key, key
from mongo_tables.aggregation.stages import granularity
from mongo_tables.aggregation.stages.group import Fields, compile_accumulators, growth, results, start
from mongo_tables.aggregation.values import (
    INT32_MAX,
    MISSING,
    Document,
    Evaluate,
    is_number,
    is_string,
    type_order,
)

_COUNT = {"count": {"$sum": 1}}


def _check(
    name: str, argument: Any, required: tuple[str, ...], optional: tuple[str, ...], path: Path
) -> None:
    if not isinstance(argument, Mapping):
        raise AggregationError(f"{name} takes a document", path, 40201 if name == "$bucket" else 40240)
    known = (*required, *optional)
    refuse_unknown(argument, known, f"{name} has no option", path, 40197 if name == "$bucket" else 40245)
    for option in required:
        if option not in argument:
            code = 40198 if name == "$bucket" else 40246
            raise AggregationError(f"{name} needs the option '{option}'", path, code)


def _group_by(name: str, value: Any, scope: Scope, path: Path) -> Evaluate:
    field = is_string(value) and value.startswith("$")
    operator = isinstance(value, Mapping) and next(iter(value), "").startswith("$")
    if not field and not operator:
        code = 40202 if name == "$bucket" else 40239
        raise AggregationError(f"groupBy of {name} is '$field' or an expression", path, code)
    return compile_expression(value, scope, path).run


def _output(name: str, argument: Mapping[str, Any], scope: Scope, path: Path) -> Fields:
    output, where = argument.get("output", _COUNT), (*path, "output")
    if not isinstance(output, Mapping):
        raise AggregationError(
            f"output of {name} is a document", where, 40196 if name == "$bucket" else 40244
        )
    if "_id" in output:
        raise AggregationError("_id is the bucket's own field", (*where, "_id"), 17390)
    return compile_accumulators(output or _COUNT if name == "$bucketAuto" else output, scope, where)


def _effect(argument: Any) -> Effect:
    made = [Field(("_id",), None, always=True)]
    if "output" in argument:
        made += [
            Field((name,), ("output", name), expression=value) for name, value in argument["output"].items()
        ]
    else:
        made.append(Field(("count",), None, always=True))
    return Effect(tuple(paths_in(argument["groupBy"])), tuple(made), only=True)


@stage("$bucket", record=StageRecord(_effect, order=lambda _: Order.SORTED))
def bucket(argument: Any, scope: Scope, path: Path) -> Stage:
    """One document for each range of ``boundaries`` that a value falls into, in their order."""
    _check("$bucket", argument, ("groupBy", "boundaries"), ("default", "output"), path)
    evaluate = _group_by("$bucket", argument["groupBy"], scope, (*path, "groupBy"))
    boundaries = _boundaries(argument["boundaries"], scope, (*path, "boundaries"))
    default = _default(argument, boundaries, scope, path)
    fields = _output("$bucket", argument, scope, path)
    keys = [key(boundary) for boundary in boundaries]

    def bucket_of(document: Document) -> Any:
        value = evaluate(document)
        place = bisect_right(keys, key(None if value is MISSING else value)) - 1
        if 0 <= place < len(keys) - 1 and type_order(value) == type_order(boundaries[0]):
            return boundaries[place]
        if not default:
            raise AggregationError("a value lies in no bucket, and there is no default", path, 40066)
        return default[0]

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        groups: dict[Key, _Bucket] = {}
        held = 0
        for block in blocks(documents, path):
            for document in block:
                name = bucket_of(document)
                found = groups.get(key(name))
                if found is None:
                    found = groups[key(name)] = _Bucket.begin(fields, name)
                found.add(document)
                last = found
            if is_counted(len(block)):
                held = hold(held, growth(len(block), last.states), path)
        return ({"_id": groups[one].name, **results(fields, groups[one].states)} for one in sorted(groups))

    return run


@dataclass(slots=True)
class _Bucket:
    name: Any
    fields: Fields
    states: list[Any]

    @classmethod
    def begin(cls, fields: Fields, name: Any) -> _Bucket:
        """A bucket without documents."""
        return cls(name, fields, start(fields, name))

    def add(self, document: Document) -> None:
        """Takes one document into the bucket's fields."""
        for (_, accumulator, path), state in zip(self.fields, self.states, strict=True):
            try:
                state.add(accumulator.evaluate(document))
            except AggregationError as error:
                raise error.at(path) from None


def _constant(value: Any, scope: Scope, path: Path, code: int) -> Any:
    node = compile_expression(value, scope, path)
    if not node.constant:
        raise AggregationError("this must be a constant", path, code)
    return node.run({})


def _boundaries(value: Any, scope: Scope, path: Path) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise AggregationError("boundaries of $bucket is a list", path, 40200)
    if len(value) < 2:
        raise AggregationError("boundaries of $bucket needs at least two values", path, 40192)
    found = [_constant(item, scope, (*path, place), 40191) for place, item in enumerate(value)]
    for place in range(1, len(found)):
        if type_order(found[place]) != type_order(found[0]):
            raise AggregationError("boundaries of $bucket are not all of one type", (*path, place), 40193)
        if key(found[place - 1]) >= key(found[place]):
            raise AggregationError("boundaries of $bucket do not ascend", (*path, place), 40194)
    return found


def _default(argument: Mapping[str, Any], boundaries: list[Any], scope: Scope, path: Path) -> list[Any]:
    """The default in a list, which is empty without one."""
    if "default" not in argument:
        return []
    where = (*path, "default")
    value = _constant(argument["default"], scope, where, 40195)
    same_type = value is not MISSING and type_order(value) == type_order(boundaries[0])
    if same_type and key(boundaries[0]) <= key(value) < key(boundaries[-1]):
        raise AggregationError("default of $bucket lies inside the boundaries", where, 40199)
    return [None if value is MISSING else value]


@stage("$bucketAuto", record=StageRecord(_effect, order=lambda _: Order.SORTED))
def bucket_auto(argument: Any, scope: Scope, path: Path) -> Stage:
    """At most ``buckets`` ranges that hold about equally many documents each."""
    _check("$bucketAuto", argument, ("groupBy", "buckets"), ("output", "granularity"), path)
    evaluate = _group_by("$bucketAuto", argument["groupBy"], scope, (*path, "groupBy"))
    wanted = _buckets(argument["buckets"], (*path, "buckets"))
    series = (
        granularity.series(argument["granularity"], (*path, "granularity"))
        if "granularity" in argument
        else None
    )
    fields = _output("$bucketAuto", argument, scope, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        rows = []
        for document in admit_documents(gather_within_limits(documents, path), path):
            value = evaluate(document)
            value = None if value is MISSING else value
            if series is not None:
                granularity.check(value, path)
            rows.append((key(value), value, document))
        rows.sort(key=lambda row: row[0])
        return _ranges(rows, wanted, series, fields)

    return run


def _buckets(value: Any, path: Path) -> int:
    number = integral(value) if is_number(value) else None
    if not is_number(value):
        raise AggregationError("buckets of $bucketAuto is a whole number", path, 40241)
    if number is None or not -INT32_MAX - 1 <= number <= INT32_MAX:
        raise AggregationError("buckets of $bucketAuto is a whole number of 32 bits", path, 40242)
    if number <= 0:
        raise AggregationError("buckets of $bucketAuto is at least 1", path, 40243)
    return number


_Row = tuple[Key, Any, Document]


def _ranges(
    rows: list[_Row], wanted: int, series: granularity.Series | None, fields: Fields
) -> Iterator[Document]:
    size = max(1, int(len(rows) / wanted + 0.5))
    limit: Callable[[list[_Row], int], tuple[Any, int]]
    limit = _next_value if series is None else lambda rows, end: _round_up(rows, end, series)
    begin, number, low = 0, 0, None
    while begin < len(rows):
        number += 1
        end = len(rows) if number == wanted else min(begin + size, len(rows))
        high, end = limit(rows, end)
        if low is None:
            low = rows[0][1] if series is None else series.round_down(rows[0][1])
        yield _range_document(low, high, rows[begin:end], fields)
        begin, low = end, high


def _next_value(rows: list[_Row], end: int) -> tuple[Any, int]:
    """Where a bucket that reaches ``end`` ends once it has taken in all of its greatest value, and that bound."""
    last = rows[end - 1][0]
    while end < len(rows) and rows[end][0] == last:
        end += 1
    return (rows[end][1] if end < len(rows) else rows[-1][1]), end


def _round_up(rows: list[_Row], end: int, series: granularity.Series) -> tuple[Any, int]:
    high = series.round_up(rows[end - 1][1])
    while end < len(rows) and rows[end][0] < key(high):
        end += 1
    if end < len(rows) and not to_double(high):
        high = series.round_down(rows[end][1])
    return high, end


def _range_document(low: Any, high: Any, rows: list[_Row], fields: Fields) -> Document:
    found = _Bucket.begin(fields, None)
    for _, _, document in watch_clock(rows):
        found.add(document)
    return {"_id": {"min": low, "max": high}, **results(fields, found.states)}
