"""`$setWindowFields`: fields computed over windows of the documents sorted around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from mongo_tables.aggregation import catalogue, sorting, windows
from mongo_tables.aggregation.accumulators.windowregistry import FORMS, Results, Window
from mongo_tables.aggregation.compiler import Scope, Stage, compile_expression, stage
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, Order, StageRecord, paths_in, split_path
from mongo_tables.aggregation.meter import admit_documents, gather_within_limits
from mongo_tables.aggregation.ordering import Key, key
from mongo_tables.aggregation.sorting import SortPattern
from mongo_tables.aggregation.stages.projection import set_fields
from mongo_tables.aggregation.values import MISSING, Document, Evaluate

_FAILED_TO_PARSE = 9
Outputs = list[tuple[Results, Path]]


def _effect(argument: Any) -> Effect:
    keys = map(split_path, argument.get("sortBy") or ())
    made = (
        Field(split_path(name), ("output", name), expression=value)
        for name, value in argument["output"].items()
    )
    return Effect((*paths_in(argument.get("partitionBy")), *keys), tuple(made))


def _order_of(argument: Any) -> Order:
    return Order.SORTED if "sortBy" in argument else Order.KEPT


@stage("$setWindowFields", record=StageRecord(_effect, order=_order_of))
def set_window_fields(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents partition by partition, sorted, with the output fields added."""
    given = _check_argument(argument, path)
    sort = _sort(given, path)
    partition = None
    if given.get("partitionBy") is not None:
        partition = compile_expression(given["partitionBy"], scope, (*path, "partitionBy")).run
    fields = given["output"]
    outputs = [_output(spec, sort, scope, (*path, "output", name)) for name, spec in fields.items()]
    inner, slots = scope.binding(*(f"output{place}" for place in range(len(outputs))))
    places = {name: f"$$output{place}" for place, name in enumerate(fields)}
    add = set_fields(places, inner, (*path, "output"))

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        def compute() -> Iterator[Document]:
            for part in _partitions(documents, partition, sort, path):
                rows = zip(*(_results(output, part) for output in outputs), strict=True)
                for document, row in zip(part, rows if outputs else ((),) * len(part), strict=True):
                    for slot, value in zip(slots, row, strict=True):
                        slot.value = value
                    yield document

        return add(compute())

    return run


def _check_argument(argument: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(argument, Mapping):
        raise AggregationError("$setWindowFields takes a document", path, _FAILED_TO_PARSE)
    known = ("partitionBy", "sortBy", "output")
    refuse_unknown(argument, known, "$setWindowFields has no", path, 40415)
    if not isinstance(argument.get("output"), Mapping):
        raise AggregationError("$setWindowFields needs the document 'output'", path, 40414)
    return argument


def _sort(given: Mapping[str, Any], path: Path) -> SortPattern | None:
    if given.get("sortBy") is None:
        return None
    if given["sortBy"] == {}:
        return SortPattern(())
    return sorting.parse(given["sortBy"], (*path, "sortBy"), "sortBy")


def _output(spec: Any, sort: SortPattern | None, scope: Scope, path: Path) -> tuple[Results, Path]:
    if not isinstance(spec, Mapping):
        raise AggregationError("an output field is a document with a window function", path, _FAILED_TO_PARSE)
    functions = [name for name in spec if name.startswith("$")]
    if len(functions) != 1:
        message = f"an output field has one window function, not {len(functions)}"
        raise AggregationError(message, path, _FAILED_TO_PARSE)
    (name,) = functions
    for other in spec:
        if other not in (name, "window"):
            raise AggregationError(f"{name} has no '{other}' beside it", (*path, other), _FAILED_TO_PARSE)
    bounds: windows.Bounds = windows.Documents()
    if "window" in spec:
        bounds = windows.parse(spec["window"], sort, scope, (*path, "window"))
    window = Window(spec[name], bounds, "window" in spec, sort, scope, (*path, name))
    return _function(name, (*path, name))(window), (*path, name)


def _function(name: str, path: Path) -> Any:
    entry = catalogue.find("window", name)
    if entry is None:
        raise AggregationError(
            f"there is no window function '{name}'",
            path,
            _FAILED_TO_PARSE,
            unknown=name,
            known=catalogue.names("window"),
        )
    if entry.refused:
        raise NotOffline(entry.why_not_offline, path)
    if name not in FORMS:
        import_module(f"mongo_tables.aggregation.accumulators.{entry.family}")
    return FORMS[name]


def _partitions(
    documents: Iterator[Document], partition: Evaluate | None, sort: SortPattern | None, path: Path
) -> Iterator[Sequence[Document]]:
    """The documents by the partition's value, in the order of these values; each partition sorted."""
    parts: dict[Key, list[Document]] = {}
    if partition is None:
        everything = gather_within_limits(documents, path)
        parts = {(): everything} if everything else {}
    else:
        for document in admit_documents(gather_within_limits(documents, path), path):
            value = partition(document)
            if isinstance(value, list):
                message = "documents cannot be partitioned by an array"
                raise AggregationError(message, (*path, "partitionBy"), 14)
            parts.setdefault(key(None if value is MISSING else value), []).append(document)
    # The server sorts by partition and pattern together.
    pattern = sort._replace(compound=partition is not None) if sort and sort.parts else None
    for name in sorted(parts):
        yield pattern.sort(parts[name]) if pattern else parts[name]


def _results(output: tuple[Results, Path], documents: Sequence[Document]) -> Iterator[Any]:
    function, path = output
    try:
        yield from function(documents)
    except AggregationError as error:
        raise error.at(path) from None
