"""Determine where the order of documents and of array elements comes from, and which sort orders the rows.

MongoDB promises an order only after a sort. Groups, unions and samples come in an order that may differ between
servers, and between servers and files. Documents of a collection come as they are stored, which may differ in a
copy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation import AggregationError
from mongo_tables.aggregation.fields import Gives, Order, effect_of, record_of, split_path
from mongo_tables.aggregation.value_order import parse
from mongo_tables.directives.row_keys import write_sort
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.lint.shape.expressions import Path


class By(Enum):
    """The origin of an order."""

    ONE = "one"  # there is at most one document
    STAGE = "stage"  # a stage sorts
    STORAGE = "storage"  # documents come as they are stored
    CHANCE = "chance"  # no order is defined


class RowOrder(NamedTuple):
    """The origin of the order of documents.

    ``cause``: the place of the stage that determines the order, or (). ``arrays``: for each field with an array that a
    stage made, the order of the array's elements.
    """

    by: By
    cause: Path = ()
    arrays: Mapping[str, RowOrder] = {}


STORED: Final = RowOrder(By.STORAGE)
_OPEN: Final = (By.STORAGE, By.CHANCE)


def orders(pipeline: Sequence[Mapping[str, Any]], path: Path = ()) -> list[RowOrder]:
    """Return the order after each stage of a pipeline that is at ``path`` and reads a collection."""
    found, order = [], STORED
    for index, written in enumerate(pipeline):
        ((name, argument),) = written.items()
        order = _behind(order, name, argument, (*path, index, name))
        found.append(order)
    return found


def _behind(order: RowOrder, name: str, argument: Any, path: Path) -> RowOrder:
    record = record_of(name)
    if record is None:
        return order
    if order.arrays or name in MAKING_ARRAYS:
        order = order._replace(arrays=_arrays_behind(order, name, argument, path))
    if record.single and record.single(argument):
        return order._replace(by=By.ONE)
    if name == "$unwind":
        return _unwind(order, argument, path)
    decided = record.order_by(argument) if record.order_by else record.order
    if decided is Order.KEPT or (order.by is By.ONE and not record.adds):
        return order
    is_chance = decided is Order.CHANCE or (decided is Order.PARTITIONS and order.by is not By.ONE)
    return RowOrder(By.CHANCE if is_chance else By.STAGE, path, order.arrays)


def _arrays_behind(order: RowOrder, name: str, argument: Any, path: Path) -> Mapping[str, RowOrder]:
    """Return the order of array elements after a stage, for arrays that the stage keeps, renames or makes."""
    making = MAKING_ARRAYS.get(name)
    if not order.arrays:
        return making(order, argument, path) if making else {}
    effect = effect_of(name, argument)
    arrays: dict[str, RowOrder] = {} if effect.only else dict(order.arrays)
    for field in effect.fields:
        made = ".".join(field.parts)
        source = f"${made}" if field.becomes == "kept" else field.expression
        arrays.pop(made, None)
        if isinstance(source, str) and source[:1] == "$" and source[1:] in order.arrays:
            arrays[made] = order.arrays[source[1:]]
    return arrays | making(order, argument, path) if making else arrays


def _order_group_arrays(order: RowOrder, argument: Any, path: Path) -> dict[str, RowOrder]:
    arrays = {}
    for name, value in argument.items():
        operator = next(iter(value), "") if isinstance(value, Mapping) and name != "_id" else ""
        if operator == "$addToSet":
            arrays[name] = RowOrder(By.CHANCE, (*path, name))
        elif operator == "$push" and order.by in _OPEN:
            arrays[name] = RowOrder(order.by, order.cause or (*path, name))
    return arrays


def _in_facets(order: RowOrder, argument: Any, path: Path) -> dict[str, RowOrder]:
    arrays = {}
    for name, pipeline in argument.items():
        inside = order
        for index, written in enumerate(pipeline):
            ((operator, value),) = written.items()
            inside = _behind(inside, operator, value, (*path, name, index, operator))
        arrays[name] = inside
    return arrays


def _order_lookup_array(order: RowOrder, argument: Any, path: Path) -> dict[str, RowOrder]:
    """Return the order of a join's array if a stage inside the join leaves the elements unordered.

    Other joins have no entry, because a join usually finds a single document.
    """
    inside = orders(argument.get("pipeline", []), (*path, "pipeline"))
    return {str(argument["as"]): inside[-1]} if inside and inside[-1].by is By.CHANCE else {}


MAKING_ARRAYS: Final[Mapping[str, Callable[[RowOrder, Any, Path], dict[str, RowOrder]]]] = {
    "$group": _order_group_arrays,
    "$facet": _in_facets,
    "$lookup": _order_lookup_array,
    "$graphLookup": lambda order, argument, path: {str(argument["as"]): RowOrder(By.CHANCE, path)},
}
"""Stages that make arrays with a known order of elements. Rules report nothing about arrays of other stages."""


def _unwind(order: RowOrder, argument: Any, path: Path) -> RowOrder:
    field = str(argument["path"] if isinstance(argument, Mapping) else argument)[1:]
    inner = order.arrays.get(field, RowOrder(By.STAGE, path))
    arrays = {name: one for name, one in order.arrays.items() if name != field}
    if order.by is By.ONE or (inner.by in _OPEN and order.by is not By.CHANCE):
        by = By.STAGE if inner.by is By.ONE else inner.by
        return RowOrder(by, inner.cause, arrays)
    return order._replace(arrays=arrays)


Stages = Sequence[Mapping[str, Any]]


class Sorting(NamedTuple):
    """A sorting stage: its position, name and keys, and the stages after it, which return a row for each input row."""

    place: int
    name: str
    keys: Mapping[str, Any]
    behind: Stages

    def keys_of(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the sort key of each row, or nothing if only a server can compute the keys."""
        try:
            return list(map(parse(self.keys, ()).keys, rows))
        except AggregationError:
            return []

    def first(self, rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
        """Return the first ``most`` rows in this order, or no rows if only a server can compute the keys."""
        try:
            return parse(self.keys, ()).first(rows, most)
        except AggregationError:
            return []


def write_sorting(spec: PipelineSpec, keys: Mapping[str, Any]) -> str:
    """Return a sort by these keys in the form of the comment: a stage, or the key ``sort``."""
    if not spec.has_own_pipeline:
        return write_sort(keys)
    return json.dumps({"$sort": keys}, ensure_ascii=False, default=str)


_SORT_WORDS: Final = re.compile(r"([+-]?)([\w.]+)(?:[ :]+(asc|desc)\w*)?", re.IGNORECASE)


def meant_sorting(written: Any) -> dict[str, int]:
    """Return the keys of a sort that is written as in SQL, or {} for any other value.

    Example:
        >>> meant_sorting("mean desc, name"), meant_sorting({"mean": 1})
        ({'mean': -1, 'name': 1}, {})
    """
    parts = written.split(",") if isinstance(written, str) else written if isinstance(written, list) else []
    found = [_SORT_WORDS.fullmatch(str(one).strip()) for one in parts]
    keys = {one[2]: -1 if one[1] == "-" or (one[3] or "").lower() == "desc" else 1 for one in found if one}
    return keys if all(found) else {}


def last_sorting(pipeline: Stages, found: Sequence[RowOrder]) -> Sorting | None:
    """Return the sort that decides the order of rows. Return None if a later stage changes the order or multiplies
    rows.

    ``found``: the order after each stage (see ``orders``).
    """
    if not found or found[-1].by is not By.STAGE or len(found[-1].cause) != 2:
        return None
    index, name = found[-1].cause
    if not isinstance(index, int) or name not in ("$sort", "$sortByCount"):
        return None
    behind = pipeline[index + 1 :]
    if not is_row_by_row(behind):
        return None
    keys = pipeline[index]["$sort"] if name == "$sort" else {"count": -1}
    return Sorting(index, str(name), keys, behind)


def is_row_by_row(stages: Stages) -> bool:
    """Return whether the stages return one row for each document, in the same order."""
    for stage in stages:
        record = record_of(next(iter(stage)))
        if not record or record.gives not in (Gives.EACH, Gives.BY_PLACE):
            return False
    return True


def is_kept(field: str, stages: Stages) -> bool:
    """Return whether row-by-row stages keep a field unchanged, under its name."""
    path = split_path(field)
    for stage in stages:
        ((name, argument),) = stage.items()
        effect = effect_of(name, argument)
        kept = not effect.only
        for one in effect.fields:
            length = len(one.parts)
            if one.becomes == "kept" or one.expression == f"${'.'.join(one.parts)}":
                kept = kept or path[:length] == one.parts
            elif one.parts[: len(path)] == path[:length]:  # at, above or below the path
                return False
        if not kept:
            return False
    return True
