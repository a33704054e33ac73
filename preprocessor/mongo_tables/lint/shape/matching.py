"""What a ``$match`` settles: fields that are there, not null or not 0 in every document behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from mongo_tables.lint.shape.choices import find_nonzero
from mongo_tables.lint.shape.values import (
    ARRAY,
    OBJECT,
    Parts,
    Shape,
    changed_fields,
    member,
    with_traits,
    without,
)


def narrow_by_query(shape: Shape, condition: Any) -> Shape:
    """The documents that meet a query."""
    if not isinstance(condition, Mapping):
        return shape
    for key, value in condition.items():
        if key == "$and" and isinstance(value, (list, tuple)):
            for part in value:
                shape = narrow_by_query(shape, part)
        elif key == "$expr":
            shape = _by_expression(shape, value)
        elif not key.startswith("$"):
            shape = _by_field(shape, tuple(key.split(".")), value)
    return shape


def _by_expression(shape: Shape, expression: Any) -> Shape:
    for text, is_present in find_nonzero(expression, True):
        if not text.startswith("$$"):
            shape = _settle_field(shape, tuple(text[1:].split(".")), present=is_present, nonzero=True)
    return shape


def _by_field(shape: Shape, parts: Parts, value: Any) -> Shape:
    for name, operand in _comparisons(value):
        if name == "$exists" and operand is True:
            shape = _settle_field(shape, parts, present=False, exists=True)
        elif name == "$ne" and operand is None:
            shape = _settle_field(shape, parts, present=True)
        elif name == "$ne" and operand == 0 and not isinstance(operand, bool):
            shape = _settle_field(shape, parts, present=False, nonzero=True)
        elif name in ("$eq", "$gt", "$gte", "$lt", "$lte") and _is_plain(operand):
            shape = _settle_field(shape, parts, present=True, nonzero=_never_zero(name, operand))
    return shape


def _comparisons(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and key.startswith("$") for key in value):
            yield from value.items()
    else:
        yield "$eq", value


def _is_plain(operand: Any) -> bool:
    return isinstance(operand, (str, int, float, datetime))


def _never_zero(name: str, operand: Any) -> bool:
    if isinstance(operand, bool) or not isinstance(operand, (int, float)):
        return name == "$eq" and not isinstance(operand, bool)
    excludes_zero = {
        "$eq": operand != 0,
        "$gt": operand >= 0,
        "$gte": operand > 0,
        "$lt": operand <= 0,
        "$lte": operand < 0,
    }
    return excludes_zero[name]


def _settle_field(
    shape: Shape, parts: Parts, *, present: bool, nonzero: bool = False, exists: bool = False
) -> Shape:
    """The document with what is settled of a field.

    An array on the way or at the end is neither null, missing nor 0, whatever its elements are.
    """
    if not parts:
        gone = ("null", "missing") if present else ("missing",) if exists else ()
        found = without(shape, *gone)
        return with_traits(found, nonzero=True) if nonzero else found
    if "object" not in shape.kinds:
        return shape
    name, below = parts[0], parts[1:]
    inner = _settle_field(member(shape, name), below, present=present, nonzero=nonzero, exists=exists)
    there = present or exists
    return shape._replace(
        kinds=shape.kinds & (OBJECT | ARRAY) if there else shape.kinds,
        missing=shape.missing and not there,
        fields=changed_fields(shape.fields, {name: inner}),
    )
