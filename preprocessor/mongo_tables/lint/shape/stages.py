"""What documents look like behind each stage.

What is registered here knows the values of what a stage makes. Behind any other stage documents look as its record
says (``aggregation.fields``): with the fields that it leaves alone, and any value in those that it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mongo_tables.aggregation.fields import WHOLE, effect_of, is_nested, record_of
from mongo_tables.aggregation.values import is_flag, truthy
from mongo_tables.lint.shape.expressions import Path, Walk, shape_of
from mongo_tables.lint.shape.matching import narrow_by_query
from mongo_tables.lint.shape.trees import (
    Tree,
    keep_fields,
    plant_leaf,
    replace_at,
    through_documents,
    with_fields,
    without_fields,
)
from mongo_tables.lint.shape.values import (
    ANY_KIND,
    ARRAY,
    INTEGERS,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    PRESENT,
    Shape,
    Traits,
    array,
    document,
    elements,
    fill_missing,
    join,
    join_all,
    of_kinds,
    only,
)

After = Callable[[Any, Walk, Path], Shape]
_STAGES: Final[dict[str, After]] = {}
UNKNOWN: Final = Shape(OBJECT)
"""A document with any fields, of which it is not known where they come from."""


def stage(*names: str) -> Callable[[After], After]:
    """Registers what documents look like behind a stage: ``(argument, walk, path) -> Shape``."""

    def register(function: After) -> After:
        _STAGES.update(dict.fromkeys(names, function))
        return function

    return register


def behind(name: str, argument: Any, walk: Walk, path: Path) -> Shape:
    """The shape of the documents after the stage at ``path``."""
    after = _STAGES.get(name)
    return after(argument, walk, path) if after else _shape_by_record(name, argument, walk.root)


def _shape_by_record(name: str, argument: Any, documents: Shape) -> Shape:
    record, effect = record_of(name), effect_of(name, argument)
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
    if isinstance(argument, Mapping) and "$expr" in argument:
        shape_of(argument["$expr"], walk._replace(guarded=True), (*path, "$expr"))
    return narrow_by_query(walk.root, argument)


@stage("$set", "$addFields")
def _set(argument: Any, walk: Walk, path: Path) -> Shape:
    tree: Tree = {}
    for name, value in _items(argument):
        plant_leaf(tree, tuple(name.split(".")), _set_leaf(value, walk, (*path, name)))
    return with_fields(walk.root, tree)


def _items(argument: Any) -> list[tuple[str, Any]]:
    return list(argument.items()) if isinstance(argument, Mapping) else []


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
    if not effect_of("$project", argument).only:
        return without_fields(walk.root, dropped)
    if "_id" not in kept and "_id" not in computed and "_id" not in dropped:
        kept["_id"] = True
    found = keep_fields(walk.root, kept, bool(computed))
    return with_fields(found, computed) if computed else found


def _read_projection(
    argument: Any, walk: Walk, path: Path, above: tuple[str, ...], trees: tuple[Tree, Tree, Tree]
) -> None:
    kept, computed, dropped = trees
    for name, value in _items(argument):
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
    """The key of groups: null where it was missing, and as the one field of a document.

    A server that finds a document of one field in what the key is written as groups by that field's value.
    """
    if len(shape.fields) == 1:
        ((name, field),) = shape.fields.items()
        if field.missing:
            shape = shape._replace(fields={name: field._replace(kinds=field.kinds | NULL)})
    return fill_missing(shape)


def infer_accumulators(argument: Mapping[str, Any], walk: Walk, path: Path) -> dict[str, Shape]:
    """The fields that accumulators compute: all but ``_id``."""
    return {
        name: _accumulator(value, walk, (*path, name)) for name, value in argument.items() if name != "_id"
    }


_LISTED: Final = ("$firstN", "$lastN", "$maxN", "$minN", "$topN", "$bottomN")
_PICKED: Final = ("$first", "$last", "$max", "$min", "$top", "$bottom")


def _accumulator(value: Any, walk: Walk, path: Path) -> Shape:
    if not isinstance(value, Mapping) or len(value) != 1:
        return PRESENT
    ((name, argument),) = value.items()
    where = (*path, name)
    if name == "$count":
        return of_kinds(INTEGERS, traits=Traits(nonzero=True))
    part, at = _find_accumulated_part(argument, where)
    shape = shape_of(part, walk, at)
    traits = Traits(sources=shape.traits.sources, unit=shape.traits.unit)
    if name == "$sum":
        # A group has at least one document.
        counts = isinstance(part, (int, float)) and not isinstance(part, bool) and part > 0
        return Shape(NUMBERS, traits=traits._replace(nonzero=counts))
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
    """The expression whose values an accumulator collects: its ``input``, its ``output``, or the whole argument."""
    if isinstance(argument, Mapping):
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
    if isinstance(output, Mapping):
        return infer_accumulators(output, walk, (*path, "output"))
    return {"count": of_kinds(INTEGERS)}


@stage("$unwind")
def _unwind(argument: Any, walk: Walk, path: Path) -> Shape:
    spec = argument if isinstance(argument, Mapping) else {"path": argument}
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
        shape = join(shape, walk.root)  # Where there is nothing at the path, no document is made on the way.
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
