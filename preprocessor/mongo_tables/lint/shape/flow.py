"""The flow of a pipeline: the shapes of documents before and after every stage, and all computed values.

A stage that is registered here knows the values that it makes. After any other stage, documents have the shape of its
record (``aggregation.fields``): unchanged fields, and any value in the fields that it makes. What a ``$match`` settles
(a field exists, or is not null) holds in every later document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

import mongo_tables.lint.shape.operators  # noqa: F401  # registers the shapes of operators
from mongo_tables.aggregation.catalogue import names_with, register
from mongo_tables.aggregation.fields import WHOLE, effect_of, is_nested, record_of
from mongo_tables.aggregation.uses import Use, list_uses_in_stage
from mongo_tables.aggregation.values import is_flag, truthy
from mongo_tables.lint.shape.expressions import Path, Visit, Walk, find_present, shape_of
from mongo_tables.lint.shape.values import (
    ANY_KIND,
    ARRAY,
    INTEGERS,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    PRESENT,
    ChangedFields,
    Parts,
    Shape,
    Traits,
    Tree,
    array,
    document,
    elements,
    fill_missing,
    join,
    join_all,
    keep_fields,
    member,
    of_kinds,
    only,
    plant_leaf,
    replace_at,
    through_documents,
    with_fields,
    without,
    without_fields,
)


def narrow_by_query(shape: Shape, condition: Any) -> Shape:
    """Return the shape of the documents that meet a query."""
    if not isinstance(condition, dict):
        return shape
    for key, value in condition.items():
        if key == "$and" and isinstance(value, (list, tuple)):
            for part in value:
                shape = narrow_by_query(shape, part)
        elif key == "$expr":
            for text in find_present(value, True):
                if not text.startswith("$$"):
                    shape = _without_at(shape, tuple(text[1:].split(".")), "null", "missing")
        elif not key.startswith("$"):
            parts = tuple(key.split("."))
            comparisons = value if isinstance(value, dict) else {"$eq": value}
            for name, operand in comparisons.items():
                is_constant = isinstance(operand, (str, int, float, datetime))
                if name == "$exists" and operand is True:
                    shape = _without_at(shape, parts, "missing")
                elif (name == "$ne" and operand is None) or (name in _COMPARING and is_constant):
                    shape = _without_at(shape, parts, "null", "missing")
    return shape


_COMPARING: Final = names_with("compares", "query") | {"$eq"}


def _without_at(shape: Shape, parts: Parts, *kinds: str) -> Shape:
    """Return the document whose field has none of these kinds.

    An array on the way or at the end is neither null nor missing, whatever its elements are.
    """
    if not parts:
        return without(shape, *kinds)
    if "object" not in shape.kinds:
        return shape
    before = member(shape, parts[0])
    inner = _without_at(before, parts[1:], *kinds)
    if inner is before and not shape.missing and shape.kinds <= OBJECT | ARRAY:
        return shape
    fields = ChangedFields(shape.fields, {parts[0]: inner})
    return shape._replace(kinds=shape.kinds & (OBJECT | ARRAY), missing=False, fields=fields)


After = Callable[[Any, Walk, Path], Shape]
_STAGES: Final[dict[str, After]] = {}
UNKNOWN: Final = Shape(OBJECT)
"""A document with any fields of unknown origin."""


stage = partial(register, _STAGES)
"""Registers the shape of documents after a stage: ``(argument, walk, path) -> Shape``."""


def behind(name: str, argument: Any, walk: Walk, path: Path) -> Shape:
    """Return the shape of the documents after the stage at ``path``."""
    if name in _STAGES:
        return _STAGES[name](argument, walk, path)
    documents, record, effect = walk.root, record_of(name), effect_of(name, argument)
    if record is None or effect.only or WHOLE in effect.reads:
        return UNKNOWN
    made: Tree = {}
    dropped: Tree = {}
    for field in effect.fields:
        if field.becomes == "dropped":
            plant_leaf(dropped, field.parts, True)
        else:
            plant_leaf(made, field.parts, Shape(ANY_KIND, missing=True))
    documents = without_fields(documents, dropped) if dropped else documents
    documents = with_fields(documents, made) if made else documents
    return join(documents, UNKNOWN) if record.adds else documents


@stage("$match")
def _match(argument: Any, walk: Walk, path: Path) -> Shape:
    if isinstance(argument, dict) and "$expr" in argument:
        shape_of(argument["$expr"], walk.guard(), (*path, "$expr"))
    return narrow_by_query(walk.root, argument)


@stage("$set", "$addFields")
def _set(argument: Any, walk: Walk, path: Path) -> Shape:
    tree: Tree = {}
    for name, value in _items(argument):
        plant_leaf(tree, tuple(name.split(".")), _set_leaf(value, walk, (*path, name)))
    return with_fields(walk.root, tree)


def _items(argument: Any) -> list[tuple[str, Any]]:
    return list(argument.items()) if isinstance(argument, dict) else []


def _set_leaf(value: Any, walk: Walk, path: Path) -> Shape | Tree:
    if not is_nested(value):
        return shape_of(value, walk, path)
    tree: Tree = {}
    for name, inner in value.items():
        plant_leaf(tree, tuple(name.split(".")), _set_leaf(inner, walk, (*path, name)))
    return tree


@stage("$project")
def _project(argument: Any, walk: Walk, path: Path) -> Shape:
    kept: Tree = {}
    computed: Tree = {}
    dropped: Tree = {}
    _read_projection(argument, walk, path, (), (kept, computed, dropped))
    if not _is_only_of_named(kept, computed, dropped):
        return without_fields(walk.root, dropped)
    if "_id" not in kept and "_id" not in computed and "_id" not in dropped:
        kept["_id"] = True
    found = keep_fields(walk.root, kept, bool(computed))
    return with_fields(found, computed) if computed else found


def _is_only_of_named(kept: Tree, computed: Tree, dropped: Tree) -> bool:
    """Return whether a projection drops the fields that it does not name. Of ``_id`` it may say otherwise."""
    if computed or any(name != "_id" or leaf is not True for name, leaf in kept.items()):
        return True
    return "_id" in kept and not dropped


def _read_projection(
    argument: Any, walk: Walk, path: Path, above: tuple[str, ...], trees: tuple[Tree, Tree, Tree]
) -> None:
    kept, computed, dropped = trees
    for name, value in argument.items() if isinstance(argument, dict) else ():
        parts = (*above, *name.split("."))
        if is_nested(value):
            _read_projection(value, walk, (*path, name), parts, trees)
        elif is_flag(value):
            plant_leaf(kept if truthy(value) else dropped, parts, True)
        else:
            plant_leaf(computed, parts, shape_of(value, walk, (*path, name)))


@stage("$group")
def _group(argument: Any, walk: Walk, path: Path) -> Shape:
    fields = {"_id": _key(shape_of(argument["_id"], walk, (*path, "_id")))}
    return document({**fields, **infer_accumulators(argument, walk, path)})


def _key(shape: Shape) -> Shape:
    """Return the key of groups: null replaces missing, also in the only field of a document.

    If the key is written as a document of one field, a server groups by the value of that field.
    """
    if len(shape.fields) == 1:
        ((name, field),) = shape.fields.items()
        if field.missing:
            shape = shape._replace(fields={name: field._replace(kinds=field.kinds | NULL)})
    return fill_missing(shape)


def infer_accumulators(argument: Mapping[str, Any], walk: Walk, path: Path) -> dict[str, Shape]:
    """Return the fields that accumulators compute: all but ``_id``."""
    return {
        name: _accumulator(value, walk, (*path, name)) for name, value in argument.items() if name != "_id"
    }


_LISTED: Final = ("$firstN", "$lastN", "$maxN", "$minN", "$topN", "$bottomN")
_PICKED: Final = ("$first", "$last", "$max", "$min", "$top", "$bottom")


def _accumulator(value: Any, walk: Walk, path: Path) -> Shape:
    if not isinstance(value, dict) or len(value) != 1:
        return PRESENT
    ((name, argument),) = value.items()
    where = (*path, name)
    if name == "$count":
        return of_kinds(INTEGERS)
    part, at = _find_accumulated_part(argument, where)
    shape = shape_of(part, walk, at)
    traits = Traits(sources=shape.traits.sources, unit=shape.traits.unit)
    if name == "$sum":
        return Shape(NUMBERS, traits=traits)
    if name in ("$avg", "$stdDevPop", "$stdDevSamp"):
        return Shape(NUMBERS | NULL, traits=traits)
    if name in ("$push", "$addToSet"):
        return array(fill_missing(shape) if name == "$push" else shape, traits)
    if name in _PICKED:
        return fill_missing(shape)._replace(kinds=shape.kinds | NULL, missing=False, traits=traits)
    if name in _LISTED:
        return array(join(fill_missing(shape), of_kinds(NULL)), traits)
    return PRESENT


def _find_accumulated_part(argument: Any, path: Path) -> tuple[Any, Path]:
    """Return the expression that an accumulator collects: its ``input``, its ``output``, or the whole argument."""
    if isinstance(argument, dict):
        for key in ("input", "output"):
            if key in argument:
                return argument[key], (*path, key)
    return argument, path


@stage("$sortByCount")
def _sort_by_count(argument: Any, walk: Walk, path: Path) -> Shape:
    return document({"_id": _key(shape_of(argument, walk, path)), "count": of_kinds(INTEGERS)})


@stage("$count")
def _count(argument: Any, walk: Walk, path: Path) -> Shape:
    return document({str(argument): of_kinds(INTEGERS)})


@stage("$bucket")
def _bucket(argument: Any, walk: Walk, path: Path) -> Shape:
    shape_of(argument["groupBy"], walk, (*path, "groupBy"))
    return document({"_id": PRESENT, **_infer_bucket_fields(argument, walk, path)})


@stage("$bucketAuto")
def _bucket_auto(argument: Any, walk: Walk, path: Path) -> Shape:
    group = fill_missing(shape_of(argument["groupBy"], walk, (*path, "groupBy")))
    limit = group if "granularity" not in argument else of_kinds(NUMBERS, NULL)
    bounds = document({"min": limit, "max": limit})
    return document({"_id": bounds, **_infer_bucket_fields(argument, walk, path)})


def _infer_bucket_fields(argument: Mapping[str, Any], walk: Walk, path: Path) -> dict[str, Shape]:
    output = argument.get("output")
    if isinstance(output, dict):
        return infer_accumulators(output, walk, (*path, "output"))
    return {"count": of_kinds(INTEGERS)}


@stage("$unwind")
def _unwind(argument: Any, walk: Walk, path: Path) -> Shape:
    spec = argument if isinstance(argument, dict) else {"path": argument}
    keeps = bool(spec.get("preserveNullAndEmptyArrays"))
    parts = tuple(str(spec["path"])[1:].split("."))
    value = through_documents(walk.root, parts)
    found = [only(value, value.kinds - ARRAY - (frozenset() if keeps else NULL))]
    if "array" in value.kinds:
        found.append(elements(value))
    if keeps and (value.missing or "array" in value.kinds):
        found.append(MISSING)
    shape = replace_at(walk.root, parts, join_all(found))
    if keeps and len(parts) > 1:
        shape = join(shape, walk.root)  # If there is no value at the path, no document is created on the way.
    index = spec.get("includeArrayIndex")
    if isinstance(index, str):
        shape = replace_at(shape, tuple(index.split(".")), of_kinds(INTEGERS, NULL))
    return shape


@stage("$replaceRoot")
def _replace_root(argument: Any, walk: Walk, path: Path) -> Shape:
    return only(shape_of(argument["newRoot"], walk, (*path, "newRoot")), OBJECT)


@stage("$replaceWith")
def _replace_with(argument: Any, walk: Walk, path: Path) -> Shape:
    return only(shape_of(argument, walk, path), OBJECT)


@stage("$lookup", "$graphLookup")
def _lookup(argument: Any, walk: Walk, path: Path) -> Shape:
    for name in ("startWith",):
        if name in argument:
            shape_of(argument[name], walk, (*path, name))
    for name, value in _items(argument.get("let")):
        shape_of(value, walk, (*path, "let", name))
    return replace_at(walk.root, tuple(str(argument["as"]).split(".")), array(UNKNOWN))


@stage("$facet")
def _facet(argument: Any, walk: Walk, path: Path) -> Shape:
    fields = {}
    for name, pipeline in _items(argument):
        shape = walk.root
        for index, one in enumerate(pipeline):
            ((key, value),) = one.items()
            shape = behind(key, value, walk._replace(root=shape), (*path, name, index, key))
        fields[name] = array(shape)
    return document(fields)


@stage("$setWindowFields")
def _windows(argument: Any, walk: Walk, path: Path) -> Shape:
    tree: Tree = {}
    if "partitionBy" in argument:
        shape_of(argument["partitionBy"], walk, (*path, "partitionBy"))
    for name, value in _items(argument.get("output")):
        for operator, inner in _items(value):
            if operator != "window":
                part, at = _find_accumulated_part(inner, (*path, "output", name, operator))
                shape_of(part, walk, at)
        plant_leaf(tree, tuple(name.split(".")), Shape(ANY_KIND, missing=True))
    return with_fields(walk.root, tree)


@stage("$documents")
def _documents(argument: Any, walk: Walk, path: Path) -> Shape:
    if not isinstance(argument, (list, tuple)):
        return UNKNOWN
    found = join_all(shape_of(one, walk, (*path, index)) for index, one in enumerate(argument))
    return only(found, OBJECT) if argument else UNKNOWN


class StageFlow(NamedTuple):
    """One stage: its name and argument, the shapes of documents before and after it, computed and read values.

    ``uses``: the stage and all operators in it, in reading order; ``names``: their names. ``path``: the place of its
    argument in the pipeline.
    """

    number: int
    name: str
    argument: Any
    before: Shape
    after: Shape
    visits: Sequence[Visit]
    uses: Sequence[Use]
    names: frozenset[str]
    path: Path


class Flow(NamedTuple):
    """A whole pipeline: the shape of the collection's documents, its stages, their ``names``, the shape of the rows."""

    documents: Shape
    stages: tuple[StageFlow, ...]
    names: frozenset[str]
    rows: Shape


Followed = dict[tuple[int, str, int], StageFlow]
"""Stages by the identities of the stage before (0: none) and of their argument: shared lists are the same objects."""


def flow_of(
    pipeline: Sequence[Mapping[str, Any]],
    documents: Shape,
    variables: Mapping[str, Any] | None = None,
    followed: Followed | None = None,
) -> Flow:
    """Carry the shape of a collection's documents through a pipeline. Nothing is computed.

    ``followed``: the stages of other pipelines over the same documents with the same variables.
    """
    followed = {} if followed is None else followed
    bound: dict[str, Shape] = {}
    for variable, value in variables.items() if variables else ():
        bound[variable] = shape_of(value, Walk(UNKNOWN, []), ("let", variable))
    shape, stages, names, before = documents, list[StageFlow](), set[str](), 0
    for index, written in enumerate(pipeline):
        ((name, argument),) = written.items()
        key = before, name, id(argument)
        stage = followed.get(key)
        if stage is None:
            walk, path = Walk(shape, [], bound), (index, name)
            after = behind(name, argument, walk, path)
            uses = list_uses_in_stage(name, argument, path)
            own = frozenset([use.name for use in uses])
            stage = StageFlow(index, name, argument, shape, after, walk.visits, uses, own, path)
            followed[key] = stage
        stages.append(stage)
        names |= stage.names
        shape, before = stage.after, id(stage)
    return Flow(documents, tuple(stages), frozenset(names), shape)
