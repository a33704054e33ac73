"""Shapes in words: the kinds of values that a field has."""

from __future__ import annotations

from preprocessor.lint.shape.values import ARRAY, NUMBERS, OBJECT, Shape


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
