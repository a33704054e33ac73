"""Setting, keeping and removing fields at dotted paths, as ``$set``, ``$project`` and ``$unset`` do in documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from mongo_tables.lint.shape.values import (
    ARRAY,
    MISSING,
    NOTHING,
    OBJECT,
    Parts,
    Shape,
    Traits,
    changed_fields,
    join,
    member,
    present,
)

Tree: TypeAlias = "dict[str, Shape | Tree | bool]"
"""Field name → its new shape, a tree of fields below it, or True for a field that is named as it is."""


def plant_leaf(tree: Tree, parts: Parts, leaf: Any) -> None:
    """Puts ``leaf`` into the tree at a dotted path."""
    for name in parts[:-1]:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[parts[-1]] = leaf


def with_fields(shape: Shape, tree: Tree) -> Shape:
    """The value with the tree's fields set: in every document of an array; what is no document becomes one."""
    found = NOTHING
    if "array" in shape.kinds:
        inner = None if shape.items is None else with_fields(shape.items, tree)
        found = Shape(ARRAY, items=inner, traits=Traits(sources=shape.traits.sources))
    if shape.kinds - ARRAY or shape.missing:
        found = join(found, _document_with(shape, tree))
    return found


def _document_with(shape: Shape, tree: Tree) -> Shape:
    is_document = "object" in shape.kinds
    fresh = bool(shape.missing or shape.kinds - OBJECT - ARRAY)
    made: dict[str, Shape] = {}
    for name, leaf in tree.items():
        if isinstance(leaf, dict):
            before = member(shape, name) if is_document else MISSING
            made[name] = with_fields(join(before, MISSING) if fresh else before, leaf)
        elif isinstance(leaf, Shape):
            made[name] = leaf
    fields = changed_fields(_fields_before(shape, fresh), made)
    return Shape(OBJECT, False, fields, is_document and shape.open, None, shape.traits)


def _fields_before(shape: Shape, fresh: bool) -> Mapping[str, Shape]:
    """The fields of a document that is changed, and may be a ``fresh`` one, which has none of them."""
    fields = shape.fields if "object" in shape.kinds else {}
    return {name: one._replace(missing=True) for name, one in fields.items()} if fresh else fields


def keep_fields(shape: Shape, tree: Tree, computes: bool = False) -> Shape:
    """The value with only the named fields of its documents; a value that is not a document becomes missing."""
    found = MISSING if shape.missing or shape.kinds - OBJECT - ARRAY else NOTHING
    if "object" in shape.kinds:
        fields = {}
        for name, leaf in tree.items():
            if leaf is True:
                fields[name] = member(shape, name)
            elif isinstance(leaf, dict):
                fields[name] = keep_fields(member(shape, name), leaf, computes)
        kept = {name: one for name, one in fields.items() if not one.absent}
        found = join(found, Shape(OBJECT, False, kept, False, None, shape.traits))
    if "array" in shape.kinds:
        inner = None if shape.items is None else keep_fields(shape.items, tree, computes)
        dropped = inner if computes or inner is None else present(inner)
        found = join(found, Shape(ARRAY, items=dropped))
    return found


def without_fields(shape: Shape, tree: Tree) -> Shape:
    """The value with the named fields of its documents removed; what is no document stays."""
    fields: Mapping[str, Shape] = shape.fields
    items = shape.items
    if "object" in shape.kinds:
        made = {
            name: MISSING if leaf is True else _below(member(shape, name), leaf)
            for name, leaf in tree.items()
        }
        gone = () if shape.open else [name for name, one in made.items() if one.absent]
        fields = changed_fields(shape.fields, made, gone)
    if "array" in shape.kinds and items is not None:
        items = without_fields(items, tree)
    return shape._replace(fields=fields, items=items)


def _below(shape: Shape, leaf: Any) -> Shape:
    return without_fields(shape, leaf) if isinstance(leaf, dict) else shape


def replace_at(shape: Shape, parts: Parts, value: Shape) -> Shape:
    """The document with ``value`` at a path; anything on the way that is not a document is replaced by one."""
    if not parts:
        return value
    is_document = "object" in shape.kinds
    fresh = bool(shape.missing or shape.kinds - OBJECT)
    before = member(shape, parts[0]) if is_document else MISSING
    made = {parts[0]: replace_at(join(before, MISSING) if fresh else before, parts[1:], value)}
    fields = changed_fields(_fields_before(shape, fresh), made)
    return Shape(OBJECT, False, fields, is_document and shape.open, None, shape.traits)


def through_documents(shape: Shape, parts: Parts) -> Shape:
    """The value at a path through documents only; missing if anything but a document is on the way."""
    for name in parts:
        if "object" not in shape.kinds:
            return MISSING
        inner = member(shape, name)
        uncertain = shape.missing or shape.kinds - OBJECT
        shape = join(inner, MISSING) if uncertain else inner
    return shape
