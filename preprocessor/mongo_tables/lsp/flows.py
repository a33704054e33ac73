"""The shape of documents and the variables at a place of a pipeline, which may be malformed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from mongo_tables.directives.computed_columns import ExpressionError, compile_expression
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.extended import decode
from mongo_tables.jsontext.reader import value_at
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
    of_kinds,
    replace_at,
    unknown_documents,
)
from mongo_tables.lsp.project import Knowledge, Stage
from mongo_tables.lsp.slots import Stretch, Way, way_to

_MALFORMED: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)
"""The errors that a malformed stage may cause."""

SYSTEM_VARIABLES: Final[Mapping[str, str]] = {
    "ROOT": "the whole document",
    "CURRENT": "the document at which paths begin",
    "REMOVE": "no value: a field with it is omitted",
    "NOW": "the time at which the pipeline runs",
}
"""https://www.mongodb.com/docs/manual/reference/aggregation-variables/"""
_REDACTING: Final[Mapping[str, str]] = {
    "DESCEND": "keep the fields of this level, and evaluate each embedded document",
    "KEEP": "keep this level with all embedded documents",
    "PRUNE": "remove this level with all embedded documents",
}
"""https://www.mongodb.com/docs/manual/reference/operator/aggregation/redact/"""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a body, with its context.

    Attributes:
        kind: The kind of the body.
        value: The value of the whole body.
        way: The slot of the place, and the pipelines around it.
        known: The documents, tables and shared pipelines.
        start: The shape of the input of the outermost pipeline, if the body does not name its collection.
    """

    kind: str
    value: Any
    way: Way
    known: Knowledge
    start: Shape | None

    def before(self) -> Shape:
        """Return the shape of the input of the stage, or of the rows if the place is in no pipeline."""
        if self.way.stretches:
            return shape_before(self.value, self.way.stretches, self.known, self.start)
        return rows_shape(self.value, self.known)

    def behind(self) -> Shape:
        """Return the shape of the output of the stage."""
        *around, own = self.way.stretches
        through = (*around, replace(own, number=own.number + 1))
        return shape_before(self.value, through, self.known, self.start)


def spot_at(path: Path, kind: str, value: Any, known: Knowledge, start: Shape | None) -> Spot:
    """Return the place at a path of a body with this value."""
    if path[:1] == ("where",) and isinstance(value, dict):
        value = {**value, "where": {}}  # The condition itself does not affect the shape of its input.
    return Spot(kind, value, way_to(kind, path), known, start)


def shape_before(
    value: Any, stretches: Sequence[Stretch], known: Knowledge, start: Shape | None = None
) -> Shape:
    """Return the shape of the documents that enter the innermost stage around a place.

    ``stretches`` are the pipelines around the place, outermost first (see ``Spot``).
    """
    shape = unknown_documents() if start is None else start
    for stretch in stretches:
        stages = _stages(value, stretch, known)
        if stretch.reads is not None:
            collection = value_at(value, stretch.reads)
            if isinstance(collection, str) and collection:
                shape = _start_shape(
                    value if stretch.reads == ("collection",) else None, collection, stages, known
                )
        shape = _behind(stages, shape, _bindings(value, stretch), known)
    return shape


def rows_shape(value: Any, known: Knowledge) -> Shape:
    """Return the shape of a comment's rows."""
    collection, shape = value_at(value, ("collection",)), unknown_documents()
    if stretches := list_all_stages(value):
        shape = shape_before(value, stretches, known)
    elif isinstance(collection, str):
        shape = _start_shape(value, collection, _stage_of_where(value), known)
    return _behind(_computed_stages(value), shape, {}, known)


def _start_shape(value: Any, collection: str, stages: Sequence[Stage], known: Knowledge) -> Shape:
    """Return the shape of the input of the first stage: the documents, or the entries in them that ``rows`` names."""
    rows = value_at(value, ("rows",))
    return known.entry_shape(collection, rows) if isinstance(rows, str) else known.shape(collection, stages)


def _computed_stages(value: Any) -> list[Stage]:
    """Return the stages of the computed columns with valid expressions."""
    written, found = value_at(value, ("compute",)), list[Stage]()
    for name, text in written.items() if isinstance(written, dict) else ():
        with suppress(ExpressionError):
            found += [{"$set": {name: compile_expression(text).value}}] if isinstance(text, str) else []
    return found


def _stage_of_where(value: Any) -> list[Stage]:
    where = value_at(value, ("where",))
    return [{"$match": where}] if isinstance(where, dict) and where else []


def list_all_stages(value: Any) -> list[Stretch]:
    """Return a stretch up to the end of a comment's pipeline, or [] without a pipeline."""
    pipeline = value_at(value, ("pipeline",))
    return [Stretch(("pipeline",), len(pipeline), ("collection",))] if isinstance(pipeline, list) else []


def _stages(value: Any, stretch: Stretch, known: Knowledge) -> list[Stage]:
    """Return the valid stages of a pipeline before a place, including those of shared pipelines."""
    written = value_at(value, stretch.path)
    return _expand(written[: stretch.number] if isinstance(written, list) else (), known)


def stages_before(value: Any, stretches: Sequence[Stretch], known: Knowledge) -> list[Stage]:
    """Return the stages that precede a place, from the start of the innermost pipeline that names a collection.

    For a place outside of pipelines, these are all stages that create the rows.
    """
    way = list(stretches) or list_all_stages(value)
    if not way:
        return _expand(_stage_of_where(value), known)
    first = max((number for number, one in enumerate(way) if one.reads is not None), default=0)
    return [stage for stretch in way[first:] for stage in _stages(value, stretch, known)]


def _expand(written: Sequence[Any], known: Knowledge) -> list[Stage]:
    """Return the valid stages of a pipeline, including those of shared pipelines."""
    found: list[Stage] = []
    for one in written:
        if isinstance(one, str):
            found += known.shared(one).stages
        elif isinstance(one, dict) and len(one) == 1 and next(iter(one)).startswith("$"):
            stage = decode(one)[0]
            # A value such as {"$date": …} is not a stage.
            found += [stage] if isinstance(stage, dict) else []
    return found


def _bindings(value: Any, stretch: Stretch) -> Mapping[str, Any]:
    bound = value_at(value, stretch.bindings) if stretch.bindings else None
    return bound if isinstance(bound, dict) else {}


def _behind(stages: Sequence[Stage], shape: Shape, variables: Mapping[str, Any], known: Knowledge) -> Shape:
    """Return the shape of the output of stages. Malformed stages are skipped."""
    for stage in stages:
        try:
            shape = _behind_one(stage, shape, variables, known)
        except _MALFORMED:
            continue
    return shape


def _behind_one(stage: Stage, shape: Shape, variables: Mapping[str, Any], known: Knowledge) -> Shape:
    """Return the shape of the output of a stage, which may read another collection."""
    ((name, argument),) = stage.items()
    if name == "$unionWith":
        other = {"coll": argument} if isinstance(argument, str) else argument
        return join(shape, _shape_of_other(other, known))
    rows = flow_of([stage], shape, variables).rows
    if name in ("$lookup", "$graphLookup"):
        found = _shape_of_other(argument, known)
        if isinstance(depth := argument.get("depthField"), str):
            found = replace_at(found, tuple(depth.split(".")), of_kinds({"long"}))
        return replace_at(rows, tuple(argument["as"].split(".")), array(found))
    return rows


def _shape_of_other(argument: Mapping[str, Any], known: Knowledge) -> Shape:
    """Return the shape of the documents that a stage reads from another collection."""
    collection = argument.get("from", argument.get("coll"))
    stages = _expand(argument.get("pipeline", ()), known)
    start = known.shape(collection, stages) if isinstance(collection, str) else unknown_documents()
    return _behind(stages, start, argument.get("let", {}), known)


def found_at(value: Any, stretch: Stretch, path: Path, before: Shape, written: str) -> Shape:
    """Return the shape of a variable or of the document, as an expression at a place of a stage reads it.

    ``written`` is the variable, such as ``$$this``, or ``$_`` for the document.
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
    for visit in flow.stages[0].visits.get("", ()):
        if visit.path == (0, *inner) and visit.operands[0].expression == written:
            return visit.operands[0].shape
    return ANY if written.startswith("$$") else before


def _with(value: Any, path: Path, written: str) -> Any:
    """Return a copy of a value that has the text ``written`` at a path."""
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
    """Return the variables that an expression at a path may read, with their descriptions."""
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
            found |= {"this": "the element", "value": "the result so far"}
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
    """Return the fields of the value at a path, including those of array elements."""
    found = lookup(shape, tuple(parts))
    fields = dict(found.fields)
    items = found.items
    while items is not None:
        fields |= {name: inner for name, inner in items.fields.items() if name not in fields}
        items = items.items
    return {name: inner for name, inner in fields.items() if not inner.absent}


def tell_kinds(shape: Shape) -> str:
    """Return the kinds of a value in words: ``string``, ``int|double``, ``array of object``, or "" if unknown."""
    if shape.unknown:
        return ""
    kinds = [kind for kind in sorted(shape.kinds) if kind != "null"]
    if shape.kinds >= NUMBERS:
        kinds = [kind for kind in kinds if kind not in NUMBERS] + ["number"]
    if shape.items is not None and shape.kinds & ARRAY:
        inner = tell_kinds(shape.items)
        kinds = [f"array of {inner}" if kind == "array" and inner else kind for kind in kinds]
    told = "|".join(kinds) or "null"
    return f"{told}, not in all documents" if shape.missing and shape.kinds - OBJECT else told
