"""What documents look like at a place of a pipeline that may be broken there, and which variables there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.jsontext.extended import decode
from mongo_tables.jsontext.reader import Path
from mongo_tables.lint.shape.flow import flow_of
from mongo_tables.lint.shape.values import (
    ANY,
    ARRAY,
    NUMBERS,
    OBJECT,
    Shape,
    array,
    join,
    lookup,
    member,
    of_kinds,
    replace_at,
    unknown_documents,
)
from mongo_tables.lsp.bodies import value_at
from mongo_tables.lsp.knowledge import Knowledge, Stage
from mongo_tables.lsp.slots import Stretch

_MALFORMED: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)
"""Errors that reading a malformed stage may raise."""

SYSTEM_VARIABLES: Final[Mapping[str, str]] = {
    "ROOT": "the whole document",
    "CURRENT": "the document that paths begin at",
    "REMOVE": "no value: a field that gets it is left out",
    "NOW": "the time at which the pipeline runs",
}
"""https://www.mongodb.com/docs/manual/reference/aggregation-variables/"""
_REDACTING: Final[Mapping[str, str]] = {
    "DESCEND": "keep the fields of this level, and ask again of each document within",
    "KEEP": "keep all, without asking of documents within",
    "PRUNE": "leave all of it out",
}
"""https://www.mongodb.com/docs/manual/reference/operator/aggregation/redact/"""


def shape_before(
    value: Any, stretches: Sequence[Stretch], known: Knowledge, start: Shape | None = None
) -> Shape:
    """What documents look like before the stage that a way leads to.

    ``value`` is the whole text as far as it can be read, ``start`` what the outermost pipeline reads where the text
    does not say it.
    """
    shape = unknown_documents() if start is None else start
    for stretch in stretches:
        stages = _stages(value, stretch, known)
        if stretch.reads is not None:
            collection = value_at(value, stretch.reads)
            if isinstance(collection, str) and collection:
                shape = known.shape(collection, stages)
        shape = _behind(stages, shape, _bindings(value, stretch), known)
    return shape


def rows_shape(value: Any, known: Knowledge) -> Shape:
    """What the rows of a comment look like."""
    if stretches := list_all_stages(value):
        return shape_before(value, stretches, known)
    collection = value_at(value, ("collection",))
    return (
        known.shape(collection, _stage_of_where(value))
        if isinstance(collection, str)
        else unknown_documents()
    )


def _stage_of_where(value: Any) -> list[Stage]:
    """The condition of a comment without a pipeline."""
    where = value_at(value, ("where",))
    return [{"$match": where}] if isinstance(where, dict) and where else []


def list_all_stages(value: Any) -> list[Stretch]:
    """All stages of a comment, as those before a place; none where it has no pipeline."""
    pipeline = value_at(value, ("pipeline",))
    return [Stretch(("pipeline",), len(pipeline), ("collection",))] if isinstance(pipeline, list) else []


def _stages(value: Any, stretch: Stretch, known: Knowledge) -> list[Stage]:
    """The stages before a place, shared lists expanded, without what is none."""
    written = value_at(value, stretch.path)
    return _expand(written[: stretch.number] if isinstance(written, list) else (), known)


def stages_before(value: Any, stretches: Sequence[Stretch], known: Knowledge) -> list[Stage]:
    """The stages between the collection that is read last on the way to a place and that place, or rows as a whole."""
    way = list(stretches) or list_all_stages(value)
    if not way:
        return _expand(_stage_of_where(value), known)
    first = max((number for number, one in enumerate(way) if one.reads is not None), default=0)
    return [stage for stretch in way[first:] for stage in _stages(value, stretch, known)]


def keeps_documents(value: Any, stretches: Sequence[Stretch], known: Knowledge) -> bool:
    """Whether what a place of a pipeline reads are documents of the collection, each as often as there, or fewer."""
    stages = [stage for stretch in stretches for stage in _stages(value, stretch, known)]
    of_others = any(stretch.reads not in (None, ("collection",)) for stretch in stretches)
    return not of_others and all(next(iter(stage)) in _ONE_BY_ONE for stage in stages)


_ONE_BY_ONE: Final = frozenset(
    (
        *("$match", "$set", "$addFields", "$project", "$unset", "$sort", "$limit", "$skip", "$sample"),
        *("$redact", "$lookup", "$graphLookup", "$setWindowFields", "$fill"),
    )
)
"""The stages of whose documents each is one that they got."""


def _expand(written: Sequence[Any], known: Knowledge) -> list[Stage]:
    """Stages as they are written, without what is none, those of shared lists in the place of their names."""
    found: list[Stage] = []
    for one in written:
        if isinstance(one, str):
            found += known.shared(one)
        elif isinstance(one, dict) and len(one) == 1 and next(iter(one)).startswith("$"):
            stage = decode(one)[0]
            found += [stage] if isinstance(stage, dict) else []  # A value such as {"$date": …} is no stage.
    return found


def _bindings(value: Any, stretch: Stretch) -> Mapping[str, Any]:
    bound = value_at(value, stretch.bindings) if stretch.bindings else None
    return bound if isinstance(bound, dict) else {}


def _behind(stages: Sequence[Stage], shape: Shape, variables: Mapping[str, Any], known: Knowledge) -> Shape:
    """The shape behind stages; one that is malformed is taken to change nothing."""
    for stage in stages:
        try:
            shape = _behind_one(stage, shape, variables, known)
        except _MALFORMED:
            continue
    return shape


def _behind_one(stage: Stage, shape: Shape, variables: Mapping[str, Any], known: Knowledge) -> Shape:
    """The shape behind a stage, with what it brings from another collection, which its flow alone does not know."""
    ((name, argument),) = stage.items()
    if name == "$unionWith":
        other = {"coll": argument} if isinstance(argument, str) else argument
        return _join_when_asked(shape, _shape_of_other(other, known))
    rows = flow_of([stage], shape, variables).rows
    if name in ("$lookup", "$graphLookup"):
        found = _with_depth(_shape_of_other(argument, known), argument.get("depthField"))
        return replace_at(rows, tuple(argument["as"].split(".")), array(found))
    return rows


def _with_depth(shape: Shape, field: Any) -> Shape:
    """Documents that ``$graphLookup`` found, with the field for the number of steps, where one is named."""
    return replace_at(shape, tuple(field.split(".")), of_kinds({"long"})) if isinstance(field, str) else shape


def _shape_of_other(argument: Mapping[str, Any], known: Knowledge) -> Shape:
    """What documents look like that a stage reads from another collection."""
    collection = argument.get("from", argument.get("coll"))
    stages = _expand(argument.get("pipeline", ()), known)
    start = known.shape(collection, stages) if isinstance(collection, str) else unknown_documents()
    return _behind(stages, start, argument.get("let", {}), known)


def found_at(value: Any, stretch: Stretch, path: Path, before: Shape, written: str) -> Shape:
    """What a path or a variable gives when ``written`` stands at a place of a stage.

    ``written`` is the beginning of an expression such as ``$a`` or ``$$this``; of what it is looked up in, the shape.
    """
    stage = value_at(value, (*stretch.path, stretch.number))
    if not isinstance(stage, dict) or len(stage) != 1:
        return before
    inner = path[len(stretch.path) + 1 :]
    trial = _with(stage, inner, written)
    try:
        flow = flow_of([trial], before, _bindings(value, stretch))
    except _MALFORMED:
        return ANY if written.startswith("$$") else before
    for visit in flow.stages[0].visits:
        if not visit.name and visit.path == (0, *inner) and visit.operands[0].expression == written:
            return visit.operands[0].shape
    return ANY if written.startswith("$$") else before


def _with(value: Any, path: Path, written: str) -> Any:
    """A copy of a value with a text at a path; containers that lack on the way are made."""
    if not path:
        return written
    step = path[0]
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        items += [None] * (step + 1 - len(items))
        items[step] = _with(items[step], path[1:], written)
        return items
    members = dict(value) if isinstance(value, dict) else {}
    members[step] = _with(members.get(step), path[1:], written)
    return members


def variables_at(value: Any, path: Path, kind: str) -> dict[str, str]:
    """The variables that an expression at a path may read, each with what it is."""
    found: dict[str, str] = {}
    for depth in range(len(path)):
        step, argument = path[depth], value_at(value, path[: depth + 1])
        inner = path[depth + 1] if depth + 1 < len(path) else None
        if not isinstance(argument, dict):
            continue
        if step in ("$map", "$filter") and inner in ("in", "cond"):
            named = argument.get("as")
            found[named if isinstance(named, str) and named else "this"] = "the element"
        elif step == "$reduce" and inner == "in":
            found |= {"this": "the element", "value": "what was made so far"}
        elif step == "$let" and inner == "in":
            found |= dict.fromkeys(_names(argument.get("vars")), "a variable of $let")
        elif step == "$lookup" and inner == "pipeline":
            found |= dict.fromkeys(_names(argument.get("let")), "a variable of $lookup")
    if "$redact" in path:
        found |= _REDACTING
    if kind != "pipeline":
        found |= dict.fromkeys(_names(value_at(value, ("let",))), "a variable of this comment")
    return {**found, **SYSTEM_VARIABLES}


def _names(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def fields_at(shape: Shape, parts: Sequence[str]) -> Mapping[str, Shape]:
    """The fields that there are at a path of documents, those of the elements of arrays among them."""
    found = lookup(shape, tuple(parts))
    fields = dict(found.fields)
    items = found.items
    while items is not None:
        fields |= {name: inner for name, inner in items.fields.items() if name not in fields}
        items = items.items
    return {name: inner for name, inner in fields.items() if not inner.absent}


def tell_kinds(shape: Shape) -> str:
    """The kinds of a value: ``string``, ``int|double``, ``array of object``; nothing where nothing is known."""
    if shape.unknown:
        return ""
    kinds = [kind for kind in sorted(shape.kinds) if kind != "null"]
    if shape.kinds >= NUMBERS:
        kinds = [kind for kind in kinds if kind not in NUMBERS] + ["number"]
    if shape.items is not None and shape.kinds & ARRAY:
        inner = tell_kinds(shape.items)
        kinds = [f"array of {inner}" if kind == "array" and inner else kind for kind in kinds]
    told = "|".join(kinds) or "null"
    return f"{told}, not in all" if shape.missing and shape.kinds - OBJECT else told


def _join_when_asked(one: Shape, other: Shape) -> Shape:
    """The shape of a value that has one shape or the other, as ``join`` gives it."""
    bare = [each._replace(fields={}, items=None) for each in (one, other)]
    joined = join(*bare)
    if "object" in joined.kinds:
        joined = joined._replace(fields=_EitherFields(one, other))
    return joined._replace(items=_join_items(one, other)) if "array" in joined.kinds else joined


def _join_items(one: Shape, other: Shape) -> Shape | None:
    with_items = [each.items for each in (one, other) if "array" in each.kinds]
    known = [items for items in with_items if items is not None]
    if len(known) < len(with_items):
        return None
    return known[0] if len(known) == 1 else _join_when_asked(*known)


class _EitherFields(Mapping[str, Shape]):
    """The fields of documents of one shape or the other."""

    __slots__ = ("_shapes",)

    def __init__(self, one: Shape, other: Shape) -> None:
        self._shapes = [each for each in (one, other) if "object" in each.kinds]

    def __getitem__(self, name: str) -> Shape:
        if not any(name in each.fields for each in self._shapes):
            raise KeyError(name)
        found = [member(each, name) for each in self._shapes]
        return found[0] if len(found) == 1 else _join_when_asked(*found)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for each in self._shapes for name in each.fields))

    def __len__(self) -> int:
        return sum(1 for _ in self)
