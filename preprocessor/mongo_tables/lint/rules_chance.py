"""Rules about what the pipeline leaves open: ties in an order, at a limit, values that a group takes from any document.

They look at rows, and at the documents that a pipeline starts from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.lint.documents import Documents, leading_match
from mongo_tables.lint.ordering import By, Order, orders
from mongo_tables.lint.rulecontext import quote
from mongo_tables.lint.sortings import Sorting, Stages, is_kept, is_row_by_row, last_sorting, write_sorting
from mongo_tables.render.column import column_value

Row = Mapping[str, Any]
Rows = Sequence[Row]


def find_tied_rows(spec: PipelineSpec, rows: Rows) -> Iterator[Finding]:
    """MT418, MT424: two rows are equal in all that they are sorted by, so that their order is chance.

    It is graver (MT424) where no two sources need give them to the sort in one order.
    """
    sorting = last_sorting(spec.pipeline)
    if sorting is None or not sorting.is_seen or _never_there(sorting, rows):
        return
    for number, (one, other) in enumerate(pairwise(sorting.keys_of(rows)), 1):
        first, second = rows[number - 1], rows[number]
        if one == other and _differing(spec, first, second):
            yield finding(
                "MT424" if _comes_by_chance(spec, sorting) else "MT418",
                spec.file,
                spec.locate(("pipeline", sorting.place, sorting.name), key=True),
                f"rows {number} and {number + 1} are equal in {quote(sorting.keys)}, by which rows are sorted: "
                "which comes first is chance",
                _with_more_keys(spec, sorting, first, second),
            )
            return


def _comes_by_chance(spec: PipelineSpec, sorting: Sorting) -> bool:
    """Whether what is sorted has no order before: elements of a set, or two collections. Groups alone do not count."""
    before = orders(spec.pipeline[: sorting.place])
    if not before or before[-1].by is not By.CHANCE:
        return False
    return before[-1].cause[1:] != ("$group",) or any(
        "$unwind" in stage and _is_open(order, stage["$unwind"])
        for stage, order in zip(spec.pipeline[1 : sorting.place], before, strict=False)
    )


def _is_open(order: Order, unwind: Any) -> bool:
    """Whether the array that is unwound has its elements in no order."""
    path = unwind["path"] if isinstance(unwind, Mapping) else unwind
    made = order.arrays.get(str(path)[1:])
    return made is not None and made.by is By.CHANCE


def _never_there(sorting: Sorting, rows: Rows) -> bool:
    """Whether no row has one of the keys: then nothing is sorted by it, which is another fault (MT305)."""
    return any(all(column_value(row, key) is MISSING for row in rows) for key in sorting.keys)


def _differing(spec: PipelineSpec, one: Row, other: Row) -> list[str]:
    """The columns in which readers see two rows."""
    columns = dict.fromkeys(column for _, column in spec.shown_columns)
    return [name for name in columns if repr(column_value(one, name)) != repr(column_value(other, name))]


def _with_more_keys(spec: PipelineSpec, sorting: Sorting, one: Row, other: Row) -> str:
    telling = [name for name in _differing(spec, one, other) if is_kept(name, sorting.behind)]
    key = next((name for name in telling if name not in sorting.keys), "_id")
    return f"sort by a field that tells them apart too, for example {write_sorting(spec, {**sorting.keys, key: 1})}"


def find_ties_at_limit(spec: PipelineSpec, documents: Documents) -> Iterator[Finding]:
    """MT419: what a ``$limit`` cuts off is equal to the last that it keeps, in all that is sorted by.

    It is seen where the documents themselves are sorted: nothing but a ``$match`` is before the sort.
    """
    for place, stage in enumerate(spec.pipeline):
        sorting = last_sorting(spec.pipeline[:place]) if "$limit" in stage else None
        if sorting is None or sorting.name != "$sort" or not _starts_at(spec, sorting.place):
            continue
        last, passing = _last_kept([*sorting.behind, stage]), documents.of(spec)
        if not 0 < last < len(passing.documents) or not passing.complete:
            continue
        border = sorting.first(passing.documents, last + 1)[last - 1 :]
        keys = sorting.keys_of(border)
        if len(keys) == 2 and keys[0] == keys[1] and _is_seen(spec, sorting, *border):
            with_id = write_sorting(spec, {**sorting.keys, "_id": 1})
            yield finding(
                "MT419",
                spec.file,
                spec.locate(("pipeline", place, "$limit"), key=True),
                f"the first that `{spec.name_stage('$limit')}` cuts off is equal to the last that it keeps in "
                f"{quote(sorting.keys)}, by which rows are sorted: which of them is shown is chance",
                f"sort by a field that tells them apart too, for example {with_id}, or show both",
            )


def _starts_at(spec: PipelineSpec, place: int) -> bool:
    """Whether a stage gets the documents that a pipeline starts from."""
    return place == len(leading_match(spec.pipeline))


def _last_kept(stages: Stages) -> int:
    """The number of the last document, from 1, that the stages up to their last ``$limit`` keep; 0: not known."""
    skipped, last = 0, 0
    for stage in stages:
        ((name, number),) = stage.items()
        if name == "$skip" and isinstance(number, int):
            skipped += number
        elif name == "$limit" and isinstance(number, int):
            last = min(last or skipped + number, skipped + number)
    return last


def _is_seen(spec: PipelineSpec, sorting: Sorting, one: Row, other: Row) -> bool:
    """Whether it makes a difference to readers which of two documents is kept, as far as rows show their fields."""
    behind = spec.pipeline[sorting.place + 1 :]
    if not is_row_by_row(behind):
        return one != other
    return any(is_kept(name, behind) for name in _differing(spec, one, other))


_PICKING: Final = ("$first", "$last", "$firstN", "$lastN")


def find_chance_picks(spec: PipelineSpec, documents: Documents) -> Iterator[Finding]:
    """MT424: a group takes a field by the place of documents, which differ in it, and nothing has sorted them."""
    place = len(leading_match(spec.pipeline))
    group = spec.pipeline[place].get("$group") if place < len(spec.pipeline) else None
    if not isinstance(group, Mapping):
        return
    for name, expression in _find_picking_fields(group).items():
        values: dict[str, str] = {}
        for document in documents.of(spec).documents:
            key, value = _written(group["_id"], document), _written(expression, document)
            if key is None or value is None:
                break
            if values.setdefault(key, value) != value:
                yield finding(
                    "MT424",
                    spec.file,
                    spec.locate(("pipeline", place, "$group", name), key=True),
                    f"`{_operator(group[name])}` takes `{name}` from whichever document of a group comes first or "
                    "last, nothing has sorted them, and they have different values",
                    "put a `$sort` before the `$group`, or take `$max`, `$min` or `$avg`",
                )
                break


def _written(expression: Any, document: Row) -> str | None:
    """The value of an expression of paths as a text; None for an expression that computes something."""
    if expression is None:
        return ""
    if isinstance(expression, str) and expression[:1] == "$" and expression[:2] != "$$":
        value = column_value(document, expression[1:])
        return "None" if value is MISSING else repr(value)
    if isinstance(expression, Mapping) and not any(name.startswith("$") for name in expression):
        parts = [_written(part, document) for part in expression.values()]
        return None if None in parts else repr(parts)
    return None


def _operator(value: Any) -> str:
    return next(iter(value), "") if isinstance(value, Mapping) else ""


def _find_picking_fields(group: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the group that pick a value by position, each with the expression it picks."""
    found = {}
    for name, value in group.items():
        operator = _operator(value) if name != "_id" else ""
        if operator in _PICKING:
            argument = value[operator]
            found[name] = argument.get("input") if operator.endswith("N") else argument
    return found


_BY_PLACE: Final = (
    "$documentNumber",
    "$shift",
    "$first",
    "$last",
    "$push",
    "$expMovingAvg",
    "$firstN",
    "$lastN",
)


def find_ties_in_windows(spec: PipelineSpec, documents: Documents) -> Iterator[Finding]:
    """MT424: what a window computes depends on which of two documents comes first that are sorted alike."""
    place = len(leading_match(spec.pipeline))
    argument = spec.pipeline[place].get("$setWindowFields", {}) if place < len(spec.pipeline) else {}
    name = next((name for name, one in argument.get("output", {}).items() if _goes_by_place(one)), None)
    if name is None or "sortBy" not in argument:
        return
    key = {"of": argument.get("partitionBy"), **{f"by {one}": f"${one}" for one in argument["sortBy"]}}
    keys = [_written(key, document) for document in documents.of(spec).documents]
    if None not in keys and len(set(keys)) < len(keys):
        yield finding(
            "MT424",
            spec.file,
            spec.locate(("pipeline", place, "$setWindowFields", "output", name), key=True),
            f"`{name}` goes by the place of documents, some of which are equal in {quote(argument['sortBy'])}, by "
            "which they are sorted: which of them comes first is chance",
            "sort by a field that tells them apart too",
        )


def _goes_by_place(output: Any) -> bool:
    """Whether a window's value depends on the order of documents that are sorted alike."""
    window = output.get("window", {}) if isinstance(output, Mapping) else {}
    counted = "documents" in window and list(window["documents"]) != ["unbounded", "unbounded"]
    return counted or any(name in output for name in _BY_PLACE)
