"""The kind of value at each place of a comment: a key of its schema, a stage, an expression, a field, a table and
so on.

A place has a ``Slot``. From the root of a JSON text, each step of a path leads from one slot to the next. The
catalogue of operators describes the slots of their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mongo_tables.aggregation import catalogue
from mongo_tables.directives.schemas import load
from mongo_tables.jsontext import Path

Step = str | int


@dataclass(frozen=True, slots=True)
class Slot:
    """The kind of value that a place accepts.

    Attributes:
        role: The kind in a word or two, ``anything`` if it is not known.
        name: The stage or operator whose argument the value is, or the field of a condition.
        schema: The part of a JSON Schema that describes the value, if the value has a schema.
        quoted: Whether field names in the value mean fields of the table that the comment quotes.
    """

    role: str
    name: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A pipeline that a path passes.

    Attributes:
        path: The path of the pipeline.
        number: The number of the stage that the path passes.
        reads: The path at which its collection is named, or None if it reads the input of the enclosing stage.
        bindings: The path at which variables are defined for it, such as the path of ``let``.
    """

    path: Path
    number: int
    reads: Path | None
    bindings: Path | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """The slot at the end of a path, and the pipelines that the path passes, outermost first."""

    slot: Slot
    stretches: tuple[Stretch, ...]


def way_to(kind: str, path: Path) -> Way:
    """Return the slot and the pipelines of a path in a body of a kind.

    Example:
        >>> way_to("table", ("pipeline", 0, "$group", "n")).slot.role
        'accumulator'
    """
    slot = Slot("schema", schema=load(kind))
    if kind == "pipeline" and not (path and isinstance(path[0], str)):
        slot = Slot("pipeline", schema=load(kind))
    stretches: list[Stretch] = []
    for depth, step in enumerate(path):
        above = path[:depth]
        if slot.role == "pipeline" and isinstance(step, int):
            stretches.append(_stretch(above, step))
        role = _OF_COMMENTS.get(step) if not above and isinstance(step, str) else None
        if role is None or step in _PLAIN_IN.get(kind, ()) or (kind == "pipeline" and step != "pipeline"):
            slot = _follow(slot, step)
        else:
            quotes = kind in ("value", "check") and role in ("query", "column")
            slot = Slot(role, schema=_property(slot.schema, str(step)), quoted=quotes)
    return Way(slot, tuple(stretches))


def _stretch(path: Path, number: int) -> Stretch:
    above = path[:-1]
    if above[-1:] == ("$lookup",):
        return Stretch(path, number, (*above, "from"), (*above, "let"))
    if above[-1:] == ("$unionWith",):
        return Stretch(path, number, (*above, "coll"))
    return Stretch(path, number, None if above else ("collection",))


_OF_COMMENTS: Final[Mapping[str | int, str]] = {
    "collection": "collection",
    "rows": "rows",
    "pipeline": "pipeline",
    "let": "bindings",
    "where": "query",
    "expect": "query",
    "sort": "sorted",
    "table": "table",
    "baseline": "baseline",
    "ignore": "rules",
    **dict.fromkeys(("column", "field", "columns", "x", "y", "series", "facets", "group_rows"), "column"),
    **dict.fromkeys(("format", "labels", "spread", "totals"), "by column"),
    "header_groups": "header groups",
}
"""The keys of comments that have a more specific role than ``schema``, each with its role."""
_PLAIN_IN: Final[Mapping[str, Sequence[str]]] = {
    "table": ("table", "column", "expect"),
    "chart": ("table", "column", "expect"),
    "value": ("format",),
}
"""The exceptions to ``_OF_COMMENTS``: for each kind of comment, the keys whose role is ``schema``."""


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
    return found if isinstance(found, Mapping) else {}


def _items(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("items")
    return found if isinstance(found, Mapping) else {}


_ANYTHING: Final = Slot("anything")
_INSIDE: Final[Mapping[str, str]] = {
    "computed": "expression",
    "projection": "projected",
    "accumulators": "accumulator",
    "windows": "window",
    "bindings": "expression",
    "facets": "pipeline",
}
"""For each role of an object, the role of all of its members."""


def _follow(slot: Slot, step: Step) -> Slot:
    if slot.role in _INSIDE:
        return Slot(_INSIDE[slot.role])
    found = _STEPS.get(slot.role)
    return found(slot, step) if found else _ANYTHING


def _in_schema(slot: Slot, step: Step) -> Slot:
    schema = _items(slot.schema) if isinstance(step, int) else _property(slot.schema, step)
    in_chart = step in ("x", "y", "series", "facets") and "mark" in slot.schema.get("properties", {})
    return Slot("column" if in_chart else "schema", schema=schema)


def _same(slot: Slot, step: Step) -> Slot:
    return replace(slot, schema=_items(slot.schema)) if isinstance(step, int) else _ANYTHING


def _by_column(slot: Slot, step: Step) -> Slot:
    schema = _property(slot.schema, str(step))
    return Slot("column" if schema.get("type") == "array" else "schema", schema=schema)


def _in_stage(slot: Slot, step: Step) -> Slot:
    stage = str(step)
    role = _OF_STAGES.get(stage) or ("arguments" if argument_names(stage) else "anything")
    return Slot(role, "" if role == "query" else stage)


_OF_STAGES: Final[Mapping[str, str]] = {
    "$match": "query",
    "$set": "computed",
    "$addFields": "computed",
    "$project": "projection",
    "$group": "groups",
    "$sort": "sort keys",
    "$unset": "fields",
    "$unwind": "unwound",
    "$sortByCount": "expression",
    "$replaceWith": "expression",
    "$redact": "expression",
    "$documents": "expression",
    "$unionWith": "collection",
    "$facet": "facets",
}
"""For each stage whose argument is not an object of named arguments, the role of the argument."""


def _argument(slot: Slot, step: Step) -> Slot:
    if not isinstance(step, str) or step not in argument_names(slot.name):
        return _ANYTHING
    if catalogue.collection_arguments().get(slot.name) == step:
        return Slot("collection", slot.name)
    if slot.name in _NESTED:
        return Slot(_NESTED[slot.name][step], slot.name)
    types = _types_of_argument(slot.name, step)
    if "range" in types:
        return Slot("arguments", "range")
    is_stage = catalogue.find("stage", slot.name) is not None
    constant = types & _CONSTANT or (is_stage and types <= _CONSTANT_IN_STAGES)
    of_type = next(
        (_OF_TYPES[one] for one in types if one in _OF_TYPES), "anything" if constant else "expression"
    )
    return Slot(_OF_ARGUMENTS.get((slot.name, step), of_type), slot.name)


_OF_ARGUMENTS: Final[Mapping[tuple[str, str], str]] = {
    ("$lookup", "localField"): "field",
    ("$lookup", "let"): "bindings",
    ("$densify", "field"): "field",
    ("$densify", "partitionByFields"): "fields",
    ("$fill", "partitionByFields"): "fields",
    ("$fill", "output"): "fills",
    ("$bucket", "output"): "accumulators",
    ("$bucketAuto", "output"): "accumulators",
    ("$setWindowFields", "output"): "windows",
    ("$switch", "branches"): "branches",
    ("$let", "vars"): "bindings",
    ("$sortArray", "sortBy"): "anything",
    ("$setField", "field"): "anything",
    ("$unsetField", "field"): "anything",
    ("$getField", "field"): "anything",
}
"""The roles of those arguments whose type does not determine the role."""
_OF_TYPES: Final = {"pipeline": "pipeline", "arrayFieldPath": "unwound", "sortBy": "sort keys"}
"""The roles of arguments by their types."""
_CONSTANT: Final = frozenset(("name", "flag", "numbers", "granularity", "accumulatorPercentile"))
_CONSTANT_IN_STAGES: Final = frozenset(("string", "int", "bool", "array", "query"))
"""Types of constant arguments. The possible values of these arguments are not known here."""


def _operator(slot: Slot, step: Step) -> Slot:
    """Return the slot of an operator's argument. If the argument is a document or a list, each of its members is an
    expression.
    """
    if isinstance(step, str) and step.startswith("$"):
        return Slot("anything" if step in ("$literal", "$const") else "operand", step)
    return Slot("expression")


def _operand(slot: Slot, step: Step) -> Slot:
    is_argument = isinstance(step, str) and step[:1] != "$" and step in argument_names(slot.name)
    return _argument(slot, step) if is_argument else _operator(slot, step)


def _query(slot: Slot, step: Step) -> Slot:
    if isinstance(step, int):
        return slot
    if step in ("$and", "$or", "$nor"):
        return replace(slot, schema={})
    if step.startswith("$"):
        return Slot("expression") if step == "$expr" else _ANYTHING
    return Slot("condition", ".".join(filter(None, (slot.name, step))), quoted=slot.quoted)


def _condition(slot: Slot, step: Step) -> Slot:
    if step == "$not":
        return slot
    if step == "$elemMatch":
        return replace(slot, role="query")
    if step in ("$in", "$nin", "$all"):
        return replace(slot, role="comparands")
    if step in ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"):
        return replace(slot, role="comparand")
    return _ANYTHING


_STEPS: Final[Mapping[str, Callable[[Slot, Step], Slot]]] = {
    "schema": _in_schema,
    "pipeline": lambda slot, step: (
        Slot("stage", schema=_items(slot.schema)) if isinstance(step, int) else _ANYTHING
    ),
    "stage": _in_stage,
    "projected": _operator,
    "groups": lambda slot, step: Slot("expression" if step == "_id" else "accumulator"),
    "accumulator": _operator,
    "window": lambda slot, step: Slot("arguments", "window") if step == "window" else _operator(slot, step),
    "expression": _operator,
    "operand": _operand,
    "arguments": _argument,
    "query": _query,
    "condition": _condition,
    "comparands": lambda slot, step: replace(slot, role="comparand") if isinstance(step, int) else _ANYTHING,
    "branches": lambda slot, step: Slot("arguments", "branch") if isinstance(step, int) else _ANYTHING,
    "fills": lambda slot, step: Slot("arguments", "fill"),
    "fields": _same,
    "unwound": _argument,
    "collection": lambda slot, step: _argument(slot, step) if slot.name == "$unionWith" else _ANYTHING,
    "column": _same,
    "by column": _by_column,
    "header groups": lambda slot, step: Slot("column", schema=_property(slot.schema, str(step))),
    "baseline": lambda slot, step: Slot(
        "column" if step == "column" else "schema", schema=_property(slot.schema, str(step))
    ),
    "sorted": _same,
}


# -- arguments of stages and operators --

_NESTED: Final[Mapping[str, Mapping[str, str]]] = {
    "range": dict.fromkeys(("step", "bounds", "unit"), "anything"),
    "fill": {"value": "expression", "method": "anything"},
    "window": dict.fromkeys(("documents", "range", "unit"), "anything"),
    "branch": dict.fromkeys(("case", "then"), "expression"),
}
"""For arguments that are documents, the roles of the members of these documents."""


def _types_of_argument(name: str, argument: str) -> frozenset[str]:
    """Return the types of an argument, as the catalogue and MongoDB's definitions name them."""
    found = [catalogue.find_arguments(kind, name).get(argument) for kind in catalogue.KINDS]
    operator = catalogue.find("expression", name)
    own = operator.takes if operator and isinstance(operator.takes, Mapping) else {}
    return frozenset(own.get(argument, "").split("|")).union(*(one.takes for one in found if one)) - {""}


def argument_names(name: str) -> tuple[str, ...]:
    """Return the names of the arguments of a stage, an operator or a nested document, required ones first."""
    for kind in catalogue.KINDS:
        found = catalogue.find(kind, name)
        if found is not None and found.style == "named":
            return (*found.required, *found.optional)
    for kind in catalogue.KINDS:
        if catalogue.takes_named_arguments(kind, name):
            return tuple(
                one.name for one in catalogue.find_arguments(kind, name).values() if not one.variadic
            )
    return tuple(_NESTED.get(name, ()))
