"""`$setWindowFields`, which computes fields over windows of sorted documents, and its short form `$fill`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from mongo_tables.aggregation import value_order
from mongo_tables.aggregation.accumulators.windows import (
    FORMS,
    Bounds,
    DocumentBounds,
    Results,
    Window,
    parse,
)
from mongo_tables.aggregation.compiler import Scope, compile_expression, find_form
from mongo_tables.aggregation.errors import AggregationError, Path, check_names
from mongo_tables.aggregation.fields import Effect, Field, Order, StageRecord, paths_in, split_path
from mongo_tables.aggregation.limits import admit_documents, gather_within_limits
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.stages.projection import set_fields
from mongo_tables.aggregation.value_order import Key, SortPattern, key
from mongo_tables.aggregation.values import MISSING, Document, Evaluate

_FAILED_TO_PARSE = 9


def _effect_of_windows(argument: Any) -> Effect:
    keys = map(split_path, argument.get("sortBy") or ())
    made = (
        Field(split_path(name), ("output", name), expression=value)
        for name, value in argument["output"].items()
    )
    return Effect((*paths_in(argument.get("partitionBy")), *keys), tuple(made))


def _order_of(argument: Any) -> Order:
    return Order.SORTED if "sortBy" in argument else Order.KEPT


@stage("$setWindowFields", record=StageRecord(_effect_of_windows, order_by=_order_of))
def set_window_fields(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents partition by partition, sorted, with the output fields added."""
    check_names(argument, ("output",), ("partitionBy", "sortBy"), path, (9, 40415, 40414))
    fields, order = argument["output"], argument.get("sortBy")
    if not isinstance(fields, Mapping):
        raise AggregationError("the output of $setWindowFields must be a document", path, 40414)
    sort = None
    if order is not None:
        sort = SortPattern(()) if order == {} else value_order.parse(order, (*path, "sortBy"), "sortBy")
    partition = None
    if argument.get("partitionBy") is not None:
        partition = compile_expression(argument["partitionBy"], scope, (*path, "partitionBy")).run
    outputs = [_output(spec, sort, scope, (*path, "output", name)) for name, spec in fields.items()]
    inner, slots = scope.binding(*(f"output{place}" for place in range(len(outputs))))
    places = {name: f"$$output{place}" for place, name in enumerate(fields)}
    add = set_fields(places, inner, (*path, "output"))

    def compute(documents: Iterator[Document]) -> Iterator[Document]:
        for part in _partitions(documents, partition, sort, path):
            rows = zip(*(_results(function, where, part) for function, where in outputs), strict=True)
            for document, row in zip(part, rows if outputs else ((),) * len(part), strict=True):
                for slot, value in zip(slots, row, strict=True):
                    slot.value = value
                yield document

    return lambda documents: add(compute(documents))


def _output(spec: Any, sort: SortPattern | None, scope: Scope, path: Path) -> tuple[Results, Path]:
    if not isinstance(spec, Mapping):
        message = "an output field must be a document with a window function"
        raise AggregationError(message, path, _FAILED_TO_PARSE)
    functions = [name for name in spec if name.startswith("$")]
    if len(functions) != 1:
        message = f"an output field must have one window function, not {len(functions)}"
        raise AggregationError(message, path, _FAILED_TO_PARSE)
    (name,) = functions
    for other in spec:
        if other not in (name, "window"):
            message = f"{name} cannot be combined with '{other}'"
            raise AggregationError(message, (*path, other), _FAILED_TO_PARSE)
    bounds: Bounds = DocumentBounds()
    if "window" in spec:
        bounds = parse(spec["window"], sort, scope, (*path, "window"))
    where = (*path, name)
    form = find_form("window", name, FORMS, where, _FAILED_TO_PARSE, "window function")
    return form(Window(spec[name], bounds, "window" in spec, sort, scope, where)), where


def _partitions(
    documents: Iterator[Document], partition: Evaluate | None, sort: SortPattern | None, path: Path
) -> Iterator[Sequence[Document]]:
    """Yield the partitions in the order of their values. The documents of each partition are sorted."""
    parts: dict[Key, list[Document]] = {}
    everything = gather_within_limits(documents, path)
    if partition is None:
        parts = {(): everything} if everything else {}
    else:
        for document in admit_documents(everything, path):
            value = partition(document)
            if isinstance(value, list):
                message = "documents cannot be partitioned by an array"
                raise AggregationError(message, (*path, "partitionBy"), 14)
            parts.setdefault(key(None if value is MISSING else value), []).append(document)
    pattern = sort if sort and sort.parts else None
    if pattern and partition is not None:
        # The server sorts by partition and pattern together, not by the index on _id.
        pattern = pattern._replace(by_id=False)
    for name in sorted(parts):
        yield pattern.sort(parts[name]) if pattern else parts[name]


def _results(function: Results, path: Path, documents: Sequence[Document]) -> Iterator[Any]:
    try:
        yield from function(documents)
    except AggregationError as error:
        raise error.at(path) from None


# `$fill`: values for null and missing fields.

_METHODS = {"linear": "$linearFill", "locf": "$locf"}
_OF_FILL = ("partitionBy", "partitionByFields", "sortBy")


def _effect_of_fill(argument: Any) -> Effect:
    reads = [
        *paths_in(argument.get("partitionBy")),
        *map(split_path, argument.get("partitionByFields") or ()),
        *map(split_path, argument.get("sortBy") or ()),
    ]
    filled = [
        Field(split_path(name), ("output", name), expression=_filling(name, spec))
        for name, spec in argument["output"].items()
        if spec
    ]
    return Effect(tuple(reads), tuple(filled))


def _filling(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the window function or expression that fills a field."""
    method = _METHODS.get(str(spec.get("method")))
    return {method: f"${name}"} if method else {"$ifNull": [f"${name}", spec.get("value")]}


@stage("$fill", record=StageRecord(_effect_of_fill, order_by=_order_of))
def fill(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents with filled fields, sorted and partitioned if a method needs it."""
    windows: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, spec in _check_fill(argument, path).items():
        _check_method(spec, (*path, "output", name))
        if spec:
            (windows if "method" in spec else values)[name] = _filling(name, spec)
    stages = []
    order = _order(argument, path)
    if windows:
        stages.append(set_window_fields({"output": windows, **order}, scope, path))
    if values:
        stages.append(set_fields(values, scope, (*path, "output")))

    return lambda documents: reduce(lambda rows, one: one(rows), stages, documents)


def _check_fill(argument: Any, path: Path) -> Mapping[str, Any]:
    """Return the output fields after checking the arguments."""
    check_names(argument, ("output",), _OF_FILL, path, (9, 40415, 40414))
    output = argument["output"]
    if not isinstance(output, Mapping):
        raise AggregationError("the output of $fill must be a document", path, 40414)
    if not output:
        raise AggregationError("the output of $fill must have at least one field", (*path, "output"), 6050203)
    return output


def _check_method(spec: Any, path: Path) -> None:
    if not isinstance(spec, Mapping):
        raise AggregationError("an output of $fill must be {value: …} or {method: …}", path, 6050200)
    for name in spec:
        if name not in ("value", "method"):
            raise AggregationError(f"an output of $fill has no '{name}'", (*path, name), 40415)
    if len(spec) > 1:
        raise AggregationError("an output of $fill must have either 'value' or 'method'", path, 6050201)
    if "method" in spec and (not isinstance(spec["method"], str) or spec["method"] not in _METHODS):
        raise AggregationError("the method must be 'linear' or 'locf'", (*path, "method"), 6050202)


def _order(given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return partition and order in the form of `$setWindowFields`."""
    order = {"sortBy": given["sortBy"]} if given.get("sortBy") is not None else {}
    partition, fields = given.get("partitionBy"), given.get("partitionByFields")
    if partition is not None:
        if fields is not None:
            message = "$fill requires 'partitionBy' or 'partitionByFields', not both"
            raise AggregationError(message, path, 6050204)
        if not isinstance(partition, str | Mapping):
            raise AggregationError("partitionBy must be an expression", (*path, "partitionBy"), 14)
        return {"partitionBy": partition, **order}
    if fields is None:
        return order
    if not isinstance(fields, list | tuple) or not all(isinstance(name, str) for name in fields):
        message = "partitionByFields must be a list of field names"
        raise AggregationError(message, (*path, "partitionByFields"), 14)
    return {"partitionBy": {name: f"${name}" for name in fields}, **order}
