"""What decides the order of documents behind each stage, and that of the elements of arrays that stages make.

MongoDB promises an order to who sorts. Groups, unions and samples come in an order that may differ from server to
server and from files; documents of a collection come as they are stored, which a copy of it need not share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.fields import Order as Given
from mongo_tables.aggregation.fields import effect_of, record_of
from mongo_tables.lint.shape.expressions import Path


class By(Enum):
    """What decides an order: there is one document at most, a stage that sorts, how documents are stored, nothing."""

    ONE = "one"
    STAGE = "stage"
    STORAGE = "storage"
    CHANCE = "chance"


class Order(NamedTuple):
    """What decides the order of documents: ``cause`` is the stage of it, where it is a stage.

    ``arrays``: the order of the elements of arrays that stages made, by their field.
    """

    by: By
    cause: Path = ()
    arrays: Mapping[str, Order] = {}


STORED: Final = Order(By.STORAGE)
_OPEN: Final = (By.STORAGE, By.CHANCE)


def orders(pipeline: Sequence[Mapping[str, Any]], path: Path = ()) -> list[Order]:
    """The order behind each stage of a pipeline that stands at ``path`` and reads a collection."""
    found, order = [], STORED
    for index, written in enumerate(pipeline):
        ((name, argument),) = written.items()
        order = _behind(order, name, argument, (*path, index, name))
        found.append(order)
    return found


def _behind(order: Order, name: str, argument: Any, path: Path) -> Order:
    record = record_of(name)
    if record is None:
        return order
    order = order._replace(arrays=_arrays_behind(order, name, argument, path))
    if record.single(argument):
        return order._replace(by=By.ONE)
    if name == "$unwind":
        return _unwind(order, argument, path)
    decided = record.order(argument)
    if decided is Given.KEPT or (order.by is By.ONE and not record.adds):
        return order
    is_chance = decided is Given.CHANCE or (decided is Given.PARTITIONS and order.by is not By.ONE)
    return Order(By.CHANCE if is_chance else By.STAGE, path, order.arrays)


def _arrays_behind(order: Order, name: str, argument: Any, path: Path) -> Mapping[str, Order]:
    """The order of elements behind a stage: of the arrays that go on under any name, and of those that it makes."""
    making = MAKING_ARRAYS.get(name)
    if not order.arrays:
        return making(order, argument, path) if making else {}
    effect = effect_of(name, argument)
    arrays: dict[str, Order] = {} if effect.only else dict(order.arrays)
    for field in effect.fields:
        made = ".".join(field.parts)
        source = f"${made}" if field.becomes == "kept" else field.expression
        arrays.pop(made, None)
        if isinstance(source, str) and source[:1] == "$" and source[1:] in order.arrays:
            arrays[made] = order.arrays[source[1:]]
    return arrays | making(order, argument, path) if making else arrays


def _order_group_arrays(order: Order, argument: Any, path: Path) -> dict[str, Order]:
    arrays = {}
    for name, value in argument.items():
        operator = next(iter(value), "") if isinstance(value, Mapping) and name != "_id" else ""
        if operator == "$addToSet":
            arrays[name] = Order(By.CHANCE, (*path, name))
        elif operator == "$push" and order.by in _OPEN:
            arrays[name] = Order(order.by, order.cause or (*path, name))
    return arrays


def _in_facets(order: Order, argument: Any, path: Path) -> dict[str, Order]:
    arrays = {}
    for name, pipeline in argument.items():
        inside = order
        for index, written in enumerate(pipeline):
            ((operator, value),) = written.items()
            inside = _behind(inside, operator, value, (*path, name, index, operator))
        arrays[name] = inside
    return arrays


def _order_lookup_array(order: Order, argument: Any, path: Path) -> dict[str, Order]:
    """A join mostly finds one document: its array is unordered only if a stage inside the join leaves it so."""
    inside = orders(argument.get("pipeline", []), (*path, "pipeline"))
    return {str(argument["as"]): inside[-1]} if inside and inside[-1].by is By.CHANCE else {}


def _order_graph_array(order: Order, argument: Any, path: Path) -> dict[str, Order]:
    return {str(argument["as"]): Order(By.CHANCE, path)}


MAKING_ARRAYS: Final[Mapping[str, Callable[[Order, Any, Path], dict[str, Order]]]] = {
    "$group": _order_group_arrays,
    "$facet": _in_facets,
    "$lookup": _order_lookup_array,
    "$graphLookup": _order_graph_array,
}
"""Stages of whose arrays the order of elements is known; of others nothing is said."""


def _unwind(order: Order, argument: Any, path: Path) -> Order:
    field = str(argument["path"] if isinstance(argument, Mapping) else argument)[1:]
    inner = order.arrays.get(field, Order(By.STAGE, path))
    arrays = {name: one for name, one in order.arrays.items() if name != field}
    if order.by is By.ONE or (inner.by in _OPEN and order.by is not By.CHANCE):
        by = By.STAGE if inner.by is By.ONE else inner.by
        return Order(by, inner.cause, arrays)
    return order._replace(arrays=arrays)
