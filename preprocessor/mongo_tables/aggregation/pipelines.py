"""Pipelines: stages, compiled into functions from documents to documents and chained.

Compiled stages are cached if they depend only on their own content and on the limits, because the same stage is often
compiled again: a pipeline for its check and for its run, and pipelines of a site that share stages.

The module reproduces the visible effects of the server's optimizer on adjacent stages. The server has two engines.
``$lookup`` stages at the start of a pipeline run in the slot-based engine, which this module calls the other engine. In
the other engine, the field that a join sets moves to the end of the document, while it keeps its place in the first
engine. A ``$group`` key that simplifies to a document of one field is treated there like a key that is written as such
a document. A sort includes a limit that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final

import bson

from mongo_tables.aggregation.catalogue import collection_arguments, register
from mongo_tables.aggregation.compiler import Context, Scope, find_form
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.fields import RECORDS, Gives, StageRecord, record_of
from mongo_tables.aggregation.limits import current, has_large_values, held_blocks
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.values import Document, is_number


def reorder(pipeline: Sequence[Any]) -> list[int]:
    """Return the positions of the stages in the order in which they run.

    A ``$match`` without conditions on array elements moves ahead of the sort before it. Both ``$match`` and sort move
    ahead of joins and ``$unwind`` of other fields. A ``$skip`` moves ahead of stages that return one document for
    each input document, to save work on skipped documents. A sort that now follows another sort replaces it: the
    earlier sort does not even order documents that are equal for the later one.
    """
    order: list[int] = []
    for place, spec in enumerate(pipeline):
        at = len(order)
        own = _sort_of(spec)
        while at and _overtakes(own or spec, [pipeline[one] for one in order[max(at - 2, 0) : at]]):
            at -= 1
            if own and "$sort" in pipeline[order[at]]:
                del order[at]
        order.insert(at if own in (spec, None) else len(order), place)
    return order


_SORTING: Final = frozenset(("$setWindowFields", "$fill", "$densify"))
_OVERTAKING: Final = _SORTING | {"$match", "$sort"}
_OVERTAKEN: Final = frozenset(("$lookup", "$unwind"))


def _sort_of(spec: Any) -> Any:
    """Return the stage if it is a ``$sort``, the sort with which another stage begins, or None."""
    ((name, argument),) = spec.items()
    if name not in _SORTING or not isinstance(argument, Mapping):
        return spec if name == "$sort" else None
    if name == "$fill" and "method" not in _names_in(argument.get("output")):
        return None
    group, order = argument.get("partitionBy"), argument.get("sortBy")
    fields = list(_names_in([group, argument.get("partitionByFields"), argument.get("field")]))
    keys = dict.fromkeys([*fields, *(order if isinstance(order, Mapping) else ())], 1)
    return {"$sort": keys} if keys and not isinstance(group, Mapping) else None


def _overtakes(spec: Any, ahead: Sequence[Any]) -> bool:
    """Return whether a stage moves ahead of the last stage in ``ahead``, or replaces it."""
    ((name, argument),) = spec.items()
    before = ahead[-1]
    if name == "$skip":
        return any(map(_transforms, before))
    if name not in ("$match", "$sort") or not _STAYING.isdisjoint(_names_in(argument)):
        return False
    if "$sort" in before:
        return True
    # The fields that an expression or a sample reads are unknown.
    changed = _changed(ahead) if {"$expr", "$sampleRate"}.isdisjoint(_names_in(argument)) else ()
    return bool(changed) and not any(_overlaps(argument, field) for field in changed)


def _changed(ahead: Sequence[Any]) -> list[str]:
    """Return the fields that the last stage in ``ahead`` changes, if the stage is a join or an ``$unwind``.

    Return no fields for other stages, and for an ``$unwind`` that the server merges with the join before it.
    """
    join, unwind = ahead[0].get("$lookup"), ahead[-1].get("$unwind")
    if unwind is None:
        join = ahead[-1].get("$lookup")
        return [str(join.get("as")).partition(".")[0]] if isinstance(join, Mapping) else []
    if isinstance(join, Mapping) and _unwound(join, ahead[-1:]):
        return []
    options = unwind if isinstance(unwind, Mapping) else {"path": unwind}
    return list(_names_in([options.get("path"), options.get("includeArrayIndex")]))


_QUERY_RANKS = (1, 2)
"""The ranks of stages that choose documents: 1 for ``$match`` and ``$sort``, 2 for ``$skip`` and ``$limit``.

The other engine runs a pipeline only up to a stage with a lower rank than the stage before it.
"""


def _rank(name: str) -> int:
    record = record_of(name)
    return record.rank if record else 0


def _transforms(name: str) -> bool:
    """Return whether a stage makes one document from each input document, and reads no other data."""
    record = record_of(name)
    return record is not None and record.gives is Gives.EACH and name not in collection_arguments()


_FIRST_ENGINE_ONLY = frozenset({
    "$elemMatch", "$jsonSchema", "$pow", "$round", "$subtract", "$trunc", "$mergeObjects", "$objectToArray",
    "$strcasecmp", "$toBool", "$toDecimal", "$toDouble", "$toInt", "$toLong", "$toString", "$avg", "$max", "$min",
    "$sum", "$stdDevPop", "$stdDevSamp", "$getField", "$setField",
})  # fmt: skip
# Conditions with these operators are never moved ahead of another stage.
_STAYING = frozenset(("$elemMatch", "$size", "$jsonSchema", "$alwaysFalse", "$alwaysTrue"))


def leading_joins(pipeline: Sequence[Any], let: Mapping[str, Any]) -> frozenset[int]:
    """Return the positions of the ``$lookup`` stages that set their field at the end of the document.

    ``let``: the command's variables. If the other engine cannot compute them, it runs no stage.
    """
    if not _FIRST_ENGINE_ONLY.isdisjoint(_names_in(let)):
        return frozenset()
    order: list[int] = []
    for place, spec in enumerate(pipeline):
        at = len(order)
        while at and _passes(spec, pipeline[order[at - 1]]):
            at -= 1
        order.insert(at, place)
    found, reached = set[int](), 0
    for place in order:
        ((name, argument),) = pipeline[place].items()
        rank = _rank(name)
        if rank < reached or not rank or (rank == reached == 3) or not _is_understood(name, argument):
            break
        if name == "$lookup":
            if _unwound(argument, pipeline[place + 1 : place + 2]):
                break
            found.add(place)
        reached = rank
    return frozenset(found)


def _passes(spec: Any, before: Any) -> bool:
    ((name, argument),) = spec.items()
    join = before.get("$lookup")
    if not isinstance(join, Mapping) or _rank(name) not in _QUERY_RANKS:
        return False
    return not _overlaps(argument, str(join.get("as"))) and _STAYING.isdisjoint(_names_in(argument))


def _overlaps(argument: Any, field: str) -> bool:
    """Return whether a query or a sort may read a field, or a part of it."""
    own = f"{field}."
    return any(f"{path}.".startswith(own) or own.startswith(f"{path}.") for path in _names_in(argument))


def _names_in(value: Any) -> Iterator[str]:
    """Yield the names of fields and operators in a value. Also yield its strings without leading ``$``, which may be
    paths.
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _names_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names_in(inner)
    elif isinstance(value, str):
        yield value.lstrip("$")


def _is_understood(stage: str, argument: Any) -> bool:
    """Return whether the other engine runs a stage.

    The other engine lacks some operators, and accepts no array positions in the paths of a condition or a join. A
    projection must be an inclusion, with computed fields only at its top level. A join must be by two fields.
    """
    if stage == "$lookup":
        if not isinstance(argument, Mapping) or "pipeline" in argument:
            return False
        return not _has_position(f"{argument.get('localField')}.{argument.get('foreignField')}")
    if stage not in ("$match", "$sort", "$project"):
        return True
    names = set(_names_in(argument))
    if not _FIRST_ENGINE_ONLY.isdisjoint(names):
        return False
    if stage != "$project":
        return not any(map(_has_position, names))
    if not isinstance(argument, Mapping):
        return False
    computed = [name for name, value in argument.items() if not isinstance(value, bool | int | float)]
    if computed and ("_id" in computed or any("." in name for name in argument)):
        return False
    return not any(value in (0, False) for name, value in argument.items() if name != "_id")


def _has_position(path: str) -> bool:
    return any(part.isdigit() for part in path.split("."))


def _unwound(argument: Mapping[str, Any], following: Sequence[Any]) -> bool:
    """Return whether the next stage unwinds the joined field. The server merges such stages."""
    unwind = following[0].get("$unwind") if following else None
    path = unwind.get("path") if isinstance(unwind, Mapping) else unwind
    return path == f"${argument.get('as')}"


_CHOICES = frozenset(("$and", "$or", "$not", "$eq", "$gt", "$gte", "$lt", "$lte", "$ne"))
_CONDITIONS = _CHOICES | {"$nor", "$in", "$nin", "$exists"}
_KEYS = _CHOICES | {"$let", "$cond", "$switch", "$ifNull"}
_SUMMARIES = frozenset(("$sum", "$avg", "$min", "$max", "$push", "$first", "$last", "$addToSet", "$count"))

_IN_GROUPS = _KEYS | _SUMMARIES


def leading_group(pipeline: Sequence[Any], let: Mapping[str, Any]) -> int | None:
    """Return the position of the ``$group`` or ``$sortByCount`` that certainly runs in the other engine, or None.

    Only plain ``$match``, ``$sort``, ``$skip`` and ``$limit`` may precede the group. Neither the command's variables
    nor a ``$match`` after the group, which may move ahead, may use an operator that only the first engine has.
    """
    for place, spec in enumerate(pipeline):
        ((name, argument),) = spec.items()
        if name in ("$group", "$sortByCount"):
            used: list[Any] = [list(one.values()) for one in pipeline[:place]]
            used += [one["$match"] for one in pipeline[place:] if "$match" in one]
            simple = all(_simple(one, _CONDITIONS) for one in used)
            return place if simple and _simple(let, _KEYS) and _simple(argument, _IN_GROUPS) else None
        if _rank(name) not in _QUERY_RANKS:
            break
    return None


def _simple(value: Any, operators: frozenset[str]) -> bool:
    """Return whether a value uses only ``operators``, and no path with an array position."""
    names = set(_names_in(value))
    return operators.issuperset(name for name in names if name.startswith("$")) and not any(
        map(_has_position, names)
    )


def sort_limit(pipeline: Sequence[Any], place: int) -> int:
    """Return the number of documents that the ``$sort`` at ``place`` must return, or 0 for all documents."""
    skipped, most = 0, 0
    for spec in pipeline[place + 1 :]:
        (name,) = spec
        if name in ("$skip", "$limit") and is_number(spec[name]):
            count = integral(spec[name]) or 0
            if name == "$skip":
                skipped += count
            else:
                most = min(most or skipped + count, skipped + count)
        elif name != "$lookup" and not _transforms(name) and not _keeps_all(spec):
            break
    return most


def _keeps_all(spec: Any) -> bool:
    """Return whether a stage is an ``$unwind`` that drops no document."""
    unwind = spec.get("$unwind")
    return isinstance(unwind, Mapping) and unwind.get("preserveNullAndEmptyArrays") is True


Stage = Callable[[Iterator[Document]], Iterator[Document]]
StageForm = Callable[[Any, Scope, Path], Stage]
_STAGES: dict[str, StageForm] = {}
_MOST_COMPILED: Final = 2048
_COMPILED: Final[dict[Hashable, Stage]] = {}


def stage(*names: str, record: StageRecord) -> Callable[[StageForm], StageForm]:
    """Register a function ``(argument, scope, path) -> Stage``, and the record of its effect on fields."""
    RECORDS.update(dict.fromkeys(names, record))
    return register(_STAGES, *names)


def make_scope(
    collections: Mapping[str, Sequence[Document]],
    variables: Mapping[str, Any] | None,
    now: datetime | None,
    seed: int,
) -> Scope:
    """Return the scope of a pipeline. The arguments are those of ``aggregate``."""
    scope = Scope(Context(collections, now, seed))
    return scope.with_let(variables) if variables else scope


def check_pipeline(pipeline: Sequence[Any], variables: Mapping[str, Any] | None) -> None:
    """Compile a pipeline. Raises AggregationError as ``aggregation.check`` does."""
    context = Context({})
    try:
        _compile_with_precedence(pipeline, Scope(context).with_let(variables or {}))
    except AggregationError as error:
        if not (error.constant and context.has_read_time):
            raise  # At another time, the constant may have a value.


def _compile_with_precedence(pipeline: Sequence[Any], scope: Scope) -> None:
    """Compile a pipeline. Errors of the pipeline take precedence over NotOffline."""
    try:
        compile_pipeline(pipeline, scope)
    except NotOffline:
        for place in range(len(pipeline)):
            with suppress(NotOffline):
                compile_pipeline(pipeline[place : place + 1], scope, first=place)
        raise


def compile_pipeline(pipeline: Sequence[Any], scope: Scope, path: Path = (), first: int = 0) -> Stage:
    """Compile a pipeline into one function from documents to documents.

    Input documents are never changed and may share parts with the output. ``first``: the position of the
    pipeline's first stage in the list at ``path``.
    """
    if not isinstance(pipeline, list | tuple):
        raise AggregationError("a pipeline must be a list of stages", path, 14)
    names: list[str] = []
    for index, spec in enumerate(pipeline, first):
        if not isinstance(spec, Mapping):
            raise AggregationError(say_no_stage(spec), (*path, index), 14)
        if len(spec) != 1:
            message = f"a stage must have exactly one '$' name, not {len(spec)}"
            raise AggregationError(message, (*path, index), 40323)
        names += spec
    # The stages of other pipelines are not reordered.
    behind = names[names.index("$sort") + 1 :] if "$sort" in names else []
    sorts = "$sort" in names and not (_OVERTAKING.isdisjoint(behind) and _OVERTAKEN.isdisjoint(names))
    order = reorder(pipeline) if sorts or "$skip" in names else range(len(pipeline))
    specs = list(map(pipeline.__getitem__, order))
    positions = dict(zip(order, range(len(order)), strict=True))
    leads, ahead = not path or path[-2:] == ("$unionWith", "pipeline"), set[int | None]()
    if leads and "$lookup" in names:
        ahead |= leading_joins(specs, scope.let)
    if leads and ("$group" in names or "$sortByCount" in names):
        ahead.add(leading_group(specs, scope.let))
    compiled: list[tuple[Stage, bool]] = []
    for place, spec in enumerate(pipeline):
        ((name, argument),) = spec.items()
        at = positions.get(place)
        leading = at is not None and at in ahead
        most = sort_limit(specs, at) if at is not None and name == "$sort" and "$limit" in names else 0
        where = (*path, place + first)
        content = b"" if scope.slots else content_key(spec)
        key = (content, where, leading, most, current())
        found = _COMPILED.get(key)
        if found is None:
            asked = scope.context.asked
            inner = Scope(scope.context, scope.slots, leading, most, scope.let)
            where = (*where, name)
            found = find_form("stage", name, _STAGES, where, 40324)(argument, inner, where)
            # Stages with a large constant are not cached, because the constant counts as memory of each
            # pipeline.
            if content and scope.context.asked == asked and not has_large_values():
                if len(_COMPILED) >= _MOST_COMPILED:  # a preview may run for days
                    _COMPILED.clear()
                _COMPILED[key] = found
        compiled.append((found, RECORDS[name].watched))
    return partial(_run, list(map(compiled.__getitem__, order)))


def _run(stages: Sequence[tuple[Stage, bool]], documents: Iterator[Document]) -> Iterator[Document]:
    for one, is_watched in stages:
        made = one(documents)
        documents = made if is_watched else chain.from_iterable(held_blocks(made))
    return documents


def say_no_stage(value: object) -> str:
    """Return the message about a stage that is not a document."""
    text = f", not the string '{value}'" if isinstance(value, str) else ""
    return f"a stage must be a document with one '$' name{text}"


def content_key(*parts: Any) -> bytes:
    """Return a key for BSON values, or b"" if they cannot be encoded. Keys are equal only for equal values of equal
    types.
    """
    try:
        return bytes(bson.encode({"": parts}))
    except (bson.errors.BSONError, ValueError, OverflowError, RecursionError):
        return b""
