"""What decides the order of documents behind each stage, and that of the elements of arrays that stages make.

MongoDB promises an order to who sorts. Groups, unions and samples come in an order that may differ from server to
server and from files; documents of a collection come as they are stored, which a copy of it need not share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from preprocessor.lint.shape.expressions import Path


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

_SORTING: Final = frozenset(
    {"$sort", "$sortByCount", "$bucket", "$bucketAuto", "$densify", "$geoNear", "$search"}
)
_ONE_ONLY: Final = frozenset({"$count", "$collStats", "$searchMeta"})


def orders(pipeline: Sequence[Mapping[str, Any]], path: Path = ()) -> list[Order]:
    """The order behind each stage of a pipeline that stands at ``path`` and reads a collection."""
    found, order = [], STORED
    for index, written in enumerate(pipeline):
        ((name, argument),) = written.items()
        order = _behind(order, name, argument, (*path, index, name))
        found.append(order)
    return found


def _behind(order: Order, name: str, argument: Any, path: Path) -> Order:
    if name in _ONE_ONLY or (name == "$match" and names_one(argument)):
        return Order(By.ONE, path, order.arrays)
    if order.by is By.ONE and name in ("$sort", "$setWindowFields", "$sample"):
        return order
    if name == "$densify" and order.by is not By.ONE and _goes_beyond(argument):
        return Order(By.CHANCE, path, order.arrays)
    if name in _SORTING or (name in ("$setWindowFields", "$fill") and "sortBy" in argument):
        kept = name in ("$sort", "$setWindowFields", "$fill", "$densify")
        return Order(By.STAGE, path, order.arrays if kept else {})
    if name == "$limit":
        return order._replace(by=By.ONE) if argument == 1 else order
    if name == "$sample":
        return Order(By.ONE if argument.get("size") == 1 else By.CHANCE, path, order.arrays)
    if name == "$unionWith":
        return Order(By.CHANCE, path)
    special = {"$group": _group, "$facet": _facet, "$unwind": _unwind, "$project": _set, "$set": _set}
    special |= {"$addFields": _set, "$lookup": _lookup, "$graphLookup": _lookup, "$documents": _documents}
    return special[name](order, argument, path) if name in special else _dropped(order, name)


def _goes_beyond(argument: Mapping[str, Any]) -> bool:
    """Whether ``$densify`` adds documents beyond the last of each partition, which it takes in any order then."""
    bounds = argument.get("range", {}).get("bounds")
    return bool(argument.get("partitionByFields")) and bounds != "partition"


def _dropped(order: Order, name: str) -> Order:
    """Behind a stage that makes other documents nothing is known of arrays."""
    return order._replace(arrays={}) if name in ("$replaceRoot", "$replaceWith") else order


def _documents(order: Order, argument: Any, path: Path) -> Order:
    return Order(By.STAGE, path)


def _group(order: Order, argument: Any, path: Path) -> Order:
    arrays = {}
    for name, value in argument.items():
        operator = next(iter(value), "") if isinstance(value, Mapping) and name != "_id" else ""
        if operator == "$addToSet":
            arrays[name] = Order(By.CHANCE, (*path, name))
        elif operator == "$push" and order.by in _OPEN:
            arrays[name] = Order(order.by, order.cause or (*path, name))
    return Order(By.ONE if is_constant(argument.get("_id")) else By.CHANCE, path, arrays)


def _facet(order: Order, argument: Any, path: Path) -> Order:
    arrays = {}
    for name, pipeline in argument.items():
        inside = order
        for index, written in enumerate(pipeline):
            ((operator, value),) = written.items()
            inside = _behind(inside, operator, value, (*path, name, index, operator))
        arrays[name] = inside
    return Order(By.ONE, path, arrays)


def _unwind(order: Order, argument: Any, path: Path) -> Order:
    field = str(argument["path"] if isinstance(argument, Mapping) else argument)[1:]
    inner = order.arrays.get(field, Order(By.STAGE, path))
    arrays = {name: one for name, one in order.arrays.items() if name != field}
    if order.by is By.ONE or (inner.by in _OPEN and order.by is not By.CHANCE):
        by = By.STAGE if inner.by is By.ONE else inner.by
        return Order(by, inner.cause, arrays)
    return order._replace(arrays=arrays)


def _set(order: Order, argument: Any, path: Path) -> Order:
    """Fields that are renamed keep the order of their elements; those that are computed have the one they are given."""
    arrays = {} if path[-1] == "$project" else dict(order.arrays)
    for name, value in argument.items():
        source = value[1:] if isinstance(value, str) else name if value in (1, True) else ""
        if source in order.arrays:
            arrays[name] = order.arrays[source]
        else:
            arrays.pop(name, None)
    return order._replace(arrays=arrays)


def _lookup(order: Order, argument: Any, path: Path) -> Order:
    """What is looked up is mostly one document; only what a stage in there leaves to chance is held against it."""
    inside = orders(argument.get("pipeline", []), (*path, "pipeline"))
    made = inside[-1] if inside else Order(By.STAGE, path)
    if path[-1] == "$graphLookup":
        made = Order(By.CHANCE, path)
    arrays = {**order.arrays, str(argument["as"]): made} if made.by is By.CHANCE else order.arrays
    return order._replace(arrays=arrays)


def is_constant(key: Any) -> bool:
    """Whether the key of a ``$group`` is one and the same for all documents."""
    if isinstance(key, Mapping):
        return "$literal" in key or all(
            not str(name).startswith("$") and is_constant(one) for name, one in key.items()
        )
    return not isinstance(key, (str, list, tuple)) or (isinstance(key, str) and not key.startswith("$"))


def names_one(condition: Any) -> bool:
    """Whether a query asks for one ``_id``."""
    wanted = condition.get("_id") if isinstance(condition, Mapping) else None
    if isinstance(wanted, Mapping):
        return "$eq" in wanted or (bool(wanted) and not any(str(key).startswith("$") for key in wanted))
    return wanted is not None
