"""`$fill`: values for what is null or missing; a short way of writing `$setWindowFields` and `$set`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Stage, stage
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import (
    Effect,
    Field,
    Order,
    StageRecord,
    paths_in,
    split_path,
)
from mongo_tables.aggregation.stages.projection import set_fields
from mongo_tables.aggregation.stages.setwindowfields import set_window_fields
from mongo_tables.aggregation.values import Document

_METHODS = {"linear": "$linearFill", "locf": "$locf"}
_KNOWN = ("partitionBy", "partitionByFields", "sortBy", "output")


def _effect(argument: Any) -> Effect:
    reads = [
        *paths_in(argument.get("partitionBy")),
        *map(split_path, argument.get("partitionByFields") or ()),
    ]
    reads += map(split_path, argument.get("sortBy") or ())
    filled = argument["output"].items()
    return Effect(tuple(reads), tuple(_fill_field(name, spec) for name, spec in filled if spec))


def _fill_field(name: str, spec: Mapping[str, Any]) -> Field:
    method = _METHODS.get(str(spec.get("method")))
    filling = {method: f"${name}"} if method else {"$ifNull": [f"${name}", spec.get("value")]}
    return Field(split_path(name), ("output", name), expression=filling)


def _order_of(argument: Any) -> Order:
    return Order.SORTED if "sortBy" in argument else Order.KEPT


@stage("$fill", record=StageRecord(_effect, order=_order_of))
def fill(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents with the output fields filled, sorted and partitioned where a method needs it."""
    given = _check_argument(argument, path)
    windows: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, spec in given["output"].items():
        method = _method(spec, (*path, "output", name))
        if not spec:
            continue
        if method is None:
            values[name] = {"$ifNull": [f"${name}", spec["value"]]}
        else:
            windows[name] = {method: f"${name}"}
    stages = []
    order = _order(given, path)
    if windows:
        window = {"output": windows, **order}
        stages.append(set_window_fields(window, scope, path))
    if values:
        stages.append(set_fields(values, scope, (*path, "output")))

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        for one in stages:
            documents = one(documents)
        return documents

    return run


def _check_argument(argument: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(argument, Mapping):
        raise AggregationError("$fill takes a document", path, 9)
    for name in argument:
        if name not in _KNOWN:
            raise AggregationError(f"$fill has no '{name}'", (*path, name), 40415)
    output = argument.get("output")
    if not isinstance(output, Mapping):
        raise AggregationError("$fill needs the document 'output'", path, 40414)
    if not output:
        raise AggregationError("the output of $fill has at least one field", (*path, "output"), 6050203)
    return argument


def _method(spec: Any, path: Path) -> str | None:
    """The window function that fills the field; None for a plain value, and where nothing is written."""
    if not isinstance(spec, Mapping):
        raise AggregationError("an output of $fill is {value: …} or {method: …}", path, 6050200)
    for name in spec:
        if name not in ("value", "method"):
            raise AggregationError(f"an output of $fill has no '{name}'", (*path, name), 40415)
    if len(spec) > 1:
        raise AggregationError("an output of $fill has either 'value' or 'method'", path, 6050201)
    if "method" not in spec:
        return None
    if not isinstance(spec["method"], str) or spec["method"] not in _METHODS:
        raise AggregationError("the method is 'linear' or 'locf'", (*path, "method"), 6050202)
    return _METHODS[spec["method"]]


def _order(given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    order = {"sortBy": given["sortBy"]} if given.get("sortBy") is not None else {}
    fields = given.get("partitionByFields")
    if given.get("partitionBy") is not None:
        if fields is not None:
            message = "$fill takes 'partitionBy' or 'partitionByFields', not both"
            raise AggregationError(message, path, 6050204)
        if not isinstance(given["partitionBy"], str | Mapping):
            raise AggregationError("partitionBy is an expression", (*path, "partitionBy"), 14)
        return {"partitionBy": given["partitionBy"], **order}
    if fields is None:
        return order
    if not isinstance(fields, list | tuple) or not all(isinstance(name, str) for name in fields):
        raise AggregationError("partitionByFields is a list of field names", (*path, "partitionByFields"), 14)
    return {"partitionBy": {name: f"${name}" for name in fields}, **order}
