"""Rules about what nobody decides: ties in an order, at a limit, and values that a group takes from any document.

They look at rows, and at fixtures, which can be asked what a pipeline has at one of its stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.fields import split_path
from mongo_tables.aggregation.values import MISSING
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.lint.asking import collect_documents
from mongo_tables.lint.ordering import By, Order, orders
from mongo_tables.lint.rulecontext import quote
from mongo_tables.lint.sortings import Sorting, Stages, is_kept, is_row_by_row, last_sorting, write_sorting
from mongo_tables.render.column import column_value
from mongo_tables.specs.model import PipelineSpec

if TYPE_CHECKING:
    from mongo_tables.results.model import LocalDocuments

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


def find_ties_at_limit(spec: PipelineSpec, source: LocalDocuments) -> Iterator[Finding]:
    """MT419: what a ``$limit`` cuts off is equal to the last that it keeps, in all that is sorted by."""
    for place, stage in enumerate(spec.pipeline):
        sorting = last_sorting(spec.pipeline[:place]) if "$limit" in stage else None
        if sorting is None or (last := _last_kept([*sorting.behind, stage])) < 1:
            continue
        border = [*spec.pipeline[: sorting.place + 1], {"$skip": last - 1}, {"$limit": 2}]
        # Of large documents the keys alone are decoded.
        keys = sorting.keys_of(collect_documents(spec, source, [*border, _only(sorting.keys)]))
        if len(keys) == 2 and keys[0] == keys[1] and _is_seen(spec, source, sorting, border):
            with_id = write_sorting(spec, {**sorting.keys, "_id": 1})
            yield finding(
                "MT419",
                spec.file,
                spec.locate(("pipeline", place, "$limit"), key=True),
                f"the first that `{spec.name_stage('$limit')}` cuts off is equal to the last that it keeps in "
                f"{quote(sorting.keys)}, by which rows are sorted: which of them is shown is chance",
                f"sort by a field that tells them apart too, for example {with_id}, or show both",
            )


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


def _only(keys: Iterable[str]) -> dict[str, Any]:
    """The stage that leaves of a document the fields in which keys are."""
    return {"$project": {"_id": 0, **{split_path(key)[0]: 1 for key in keys}}}


def _is_seen(spec: PipelineSpec, source: LocalDocuments, sorting: Sorting, border: Stages) -> bool:
    """Whether it makes a difference to readers which of two documents is kept, which stages give."""
    behind = spec.pipeline[sorting.place + 1 :]
    if not is_row_by_row(behind):
        one, other = collect_documents(spec, source, border)
        return one != other
    rest = [one for one in behind if next(iter(one)) not in ("$limit", "$skip")]
    rows = collect_documents(spec, source, [*border, *rest])
    return len(rows) == 2 and bool(_differing(spec, *rows))


_PICKING: Final = ("$first", "$last", "$firstN", "$lastN")


def find_chance_picks(spec: PipelineSpec, source: LocalDocuments) -> Iterator[Finding]:
    """MT424: a group takes a value by the place of documents, where nothing has put them in order."""
    if not any("$group" in stage for stage in spec.pipeline):
        return
    before = By.STORAGE
    for index, (stage, order) in enumerate(zip(spec.pipeline, orders(spec.pipeline), strict=True)):
        if "$group" in stage and before in (By.STORAGE, By.CHANCE):
            for name, message, hint in _find_chance_fields(spec, source, index):
                where = spec.locate(("pipeline", index, "$group", name), key=True)
                yield finding("MT424", spec.file, where, message, hint)
        before = order.by


def _find_chance_fields(
    spec: PipelineSpec, source: LocalDocuments, index: int
) -> Iterator[tuple[str, str, str]]:
    """The fields of a group whose values are chance, each with what to say of it and what to do."""
    group = spec.pipeline[index]["$group"]
    ahead, key = spec.pipeline[:index], group["_id"]
    picked = _find_picking_fields(group)
    for name in _several(spec, source, index, picked) if picked else ():
        yield (
            name,
            f"`{_operator(group[name])}` takes `{name}` from whichever document of a group comes first or last, "
            "nothing has sorted them, and they have different values",
            "put a `$sort` before the `$group`, or take `$max`, `$min` or `$avg`",
        )
    for name, value in group.items():
        operator = _operator(value) if name != "_id" else ""
        if operator == "$mergeObjects" and _overwritten(spec, source, ahead, key, value[operator]):
            yield (
                name,
                f"`$mergeObjects` takes the fields of `{name}` from whichever document of a group comes last, nothing "
                "has sorted them, and they have different values",
                "put a `$sort` before the `$group`",
            )
        elif operator in _BEST and _has_ties(spec, source, ahead, key, value):
            yield (
                name,
                f"`{operator}` takes `{name}` from documents of which some are equal in "
                f"{quote(value[operator]['sortBy'])}, by which it sorts: which of them comes first is chance",
                "sort by a field that tells them apart too",
            )


def _operator(value: Any) -> str:
    return next(iter(value), "") if isinstance(value, Mapping) else ""


def _overwritten(spec: PipelineSpec, source: LocalDocuments, ahead: Stages, key: Any, merged: Any) -> bool:
    """Whether documents of one group that are merged have different values of one field."""
    pairs: list[dict[str, Any]] = [
        {"$project": {"_id": 0, "key": {"of": key}, "pair": {"$objectToArray": merged}}},
        {"$unwind": "$pair"},
        {"$group": {"_id": {"key": "$key", "name": "$pair.k"}, "values": {"$addToSet": "$pair.v"}}},
    ]
    return any(len(one["values"]) > 1 for one in collect_documents(spec, source, [*ahead, *pairs]))


_BEST: Final = ("$top", "$bottom", "$topN", "$bottomN")


def _has_ties(
    spec: PipelineSpec, source: LocalDocuments, ahead: Stages, key: Any, value: Mapping[str, Any]
) -> bool:
    """Whether two of those that a group takes, or the last of them and the next, sort alike and differ."""
    ((operator, argument),) = value.items()
    number = argument.get("n", 1)
    if not isinstance(number, int):
        return False
    sorted_by = [{"$ifNull": [f"${name}", None]} for name in argument["sortBy"]]
    best = {
        "n": number + 1,
        "sortBy": argument["sortBy"],
        "output": {"by": sorted_by, "value": argument["output"]},
    }
    taken = {f"{operator.removesuffix('N')}N": best}
    groups = collect_documents(spec, source, [*ahead, {"$group": {"_id": key, "taken": taken}}])
    return any(
        one["by"] == other["by"] and one.get("value") != other.get("value")
        for group in groups
        for one, other in pairwise(group["taken"])
    )


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


def find_ties_in_windows(spec: PipelineSpec, source: LocalDocuments) -> Iterator[Finding]:
    """MT424: what a window computes depends on which of two documents comes first that are sorted alike."""
    for index, stage in enumerate(spec.pipeline):
        argument = stage.get("$setWindowFields", {})
        name = next((name for name, one in argument.get("output", {}).items() if _goes_by_place(one)), None)
        if name is None or "sortBy" not in argument:
            continue
        fields = {f"f{number}": f"${key}" for number, key in enumerate(argument["sortBy"])}
        key = {"partition": argument.get("partitionBy"), **fields}
        ties: list[dict[str, Any]] = [
            {"$group": {"_id": key, "n": {"$sum": 1}}},
            {"$match": {"n": {"$gt": 1}}},
            {"$limit": 1},
        ]
        if collect_documents(spec, source, [*spec.pipeline[:index], *ties]):
            yield finding(
                "MT424",
                spec.file,
                spec.locate(("pipeline", index, "$setWindowFields", "output", name), key=True),
                f"`{name}` goes by the place of documents, some of which are equal in {quote(argument['sortBy'])}, by "
                "which they are sorted: which of them comes first is chance",
                "sort by a field that tells them apart too",
            )


def _goes_by_place(output: Any) -> bool:
    """Whether a window's value depends on the order of documents that are sorted alike."""
    window = output.get("window", {}) if isinstance(output, Mapping) else {}
    counted = "documents" in window and list(window["documents"]) != ["unbounded", "unbounded"]
    return counted or any(name in output for name in _BY_PLACE)


def _find_picking_fields(group: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the group that pick a value by position, each with the expression it picks."""
    found = {}
    for name, value in group.items():
        operator = _operator(value) if name != "_id" else ""
        if operator in _PICKING:
            argument = value[operator]
            found[name] = argument.get("input") if operator.endswith("N") else argument
    return found


def _several(spec: PipelineSpec, source: LocalDocuments, index: int, picked: Mapping[str, Any]) -> list[str]:
    """The fields for which documents of one group have different values."""
    names = {f"f{number}": name for number, name in enumerate(picked)}
    sets = {short: {"$addToSet": {"$ifNull": [picked[name], None]}} for short, name in names.items()}
    key = spec.pipeline[index]["$group"]["_id"]
    groups = collect_documents(spec, source, [*spec.pipeline[:index], {"$group": {"_id": key, **sets}}])
    return [name for short, name in names.items() if any(len(group[short]) > 1 for group in groups)]
