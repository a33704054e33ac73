"""What may stand at a place of a comment: a key of its schema, a stage, an expression, a field, a table …

The way from the root of a JSON text to a place is followed step by step; each step leads from one ``Slot`` to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.directives.schemas import load
from mongo_tables.jsontext.reader import Path
from mongo_tables.lsp.arguments import WORDS, argument_names, kind_of_argument

Role = Literal[
    "schema",
    "pipeline",
    "stage",
    "computed",
    "projection",
    "projected",
    "groups",
    "accumulators",
    "accumulator",
    "windows",
    "window",
    "expression",
    "operand",
    "arguments",
    "bindings",
    "query",
    "condition",
    "comparands",
    "comparand",
    "sort keys",
    "element sort keys",
    "direction",
    "words",
    "branches",
    "fills",
    "field",
    "fields",
    "member",
    "foreign field",
    "unwound",
    "collection",
    "table",
    "column",
    "by column",
    "header groups",
    "baseline",
    "baseline row",
    "value of rows",
    "rules",
    "sorted",
    "facets",
    "anything",
]


class Slot(NamedTuple):
    """What may stand at a place.

    ``name`` is the stage or operator whose argument it is, the field that a condition is about, or the kind of words.
    ``schema`` is the part of a JSON Schema that describes it, where one does. ``quoted``: its fields are those of the
    table that the comment quotes.
    """

    role: Role
    name: str = ""
    schema: Mapping[str, Any] = {}
    quoted: bool = False


class Stretch(NamedTuple):
    """A pipeline on the way to a place: its path, and the number of the stage that the place is in.

    ``reads`` says what its first stage gets: the documents of a collection, by the path of its name, or, where that
    is None, what the stage around it gets. ``bindings`` is the path of the variables that it may read besides.
    """

    path: Path
    number: int
    reads: Path | None
    bindings: Path | None = None


class Way(NamedTuple):
    """Where a path leads: to which slot, through which pipelines, the outermost first, and within which operators."""

    slot: Slot
    stretches: tuple[Stretch, ...]


def way_to(kind: str, path: Path) -> Way:
    """The way to what stands at a path of a JSON text of a kind."""
    slot = Slot("schema" if kind != "pipeline" else "pipeline", schema=load(kind))
    if kind == "pipeline" and path and isinstance(path[0], str):
        slot = Slot("schema", schema=load(kind))
    stretches: list[Stretch] = []
    for depth, step in enumerate(path):
        if slot.role == "pipeline" and isinstance(step, int):
            stretches.append(_stretch(path[:depth], step))
        slot = _follow(slot, step, kind, path[:depth])
    return Way(slot, tuple(stretches))


def _stretch(path: Path, number: int) -> Stretch:
    above = path[:-1]
    if above[-1:] == ("$lookup",):
        return Stretch(path, number, (*above, "from"), (*above, "let"))
    if above[-1:] == ("$unionWith",):
        return Stretch(path, number, (*above, "coll"))
    return Stretch(path, number, None if above else ("collection",))


def _follow(slot: Slot, step: str | int, kind: str, path: Path) -> Slot:
    if not path and kind != "pipeline" and isinstance(step, str):
        own = None if step in _PLAIN_IN.get(kind, ()) else _OF_COMMENTS.get(step)
        if own is not None:
            quotes = kind in ("value", "check")
            return Slot(
                own, schema=_property(slot.schema, step), quoted=quotes and own in ("query", "column")
            )
    if kind == "pipeline" and path == () and step == "pipeline":
        return Slot("pipeline", schema=_property(slot.schema, "pipeline"))
    return _STEPS[slot.role](slot, step)


_OF_COMMENTS: Final[Mapping[str, Role]] = {
    "collection": "collection",
    "pipeline": "pipeline",
    "let": "bindings",
    "where": "query",
    "expect": "query",
    "sort": "sorted",
    "table": "table",
    "column": "column",
    "columns": "column",
    "x": "column",
    "y": "column",
    "series": "column",
    "facets": "column",
    "group_rows": "column",
    "format": "by column",
    "labels": "by column",
    "spread": "by column",
    "totals": "by column",
    "header_groups": "header groups",
    "baseline": "baseline",
    "ignore": "rules",
}
"""The keys of comments that are more than their schema says."""
_PLAIN_IN: Final[Mapping[str, frozenset[str]]] = {
    "table": frozenset(("table", "column", "expect")),
    "chart": frozenset(("table", "column", "columns", "expect")),
    "value": frozenset(("format",)),
}
"""Those of them that are what the schema says, or nothing, in comments of a kind."""


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = schema.get("properties", {}).get(name)
    if found is None:
        found = schema.get("additionalProperties")
    return found if isinstance(found, Mapping) else {}


def _items(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("items")
    return found if isinstance(found, Mapping) else {}


def _in_schema(slot: Slot, step: str | int) -> Slot:
    schema = _items(slot.schema) if isinstance(step, int) else _property(slot.schema, step)
    if step in ("x", "y", "series", "facets") and "mark" in slot.schema.get("properties", {}):
        return Slot("column", schema=schema)
    return Slot("schema", schema=schema)


def _same(slot: Slot, step: str | int) -> Slot:
    return slot._replace(schema=_items(slot.schema)) if isinstance(step, int) else Slot("anything")


def _by_column(slot: Slot, step: str | int) -> Slot:
    schema = _property(slot.schema, str(step))
    return Slot("column" if schema.get("type") == "array" else "schema", schema=schema)


def _header_groups(slot: Slot, step: str | int) -> Slot:
    return Slot("column", schema=_property(slot.schema, str(step)))


def _baseline(slot: Slot, step: str | int) -> Slot:
    roles: Mapping[str | int, Role] = {"row": "baseline row", "column": "column"}
    return Slot(roles.get(step, "schema"), schema=_property(slot.schema, str(step)))


def _in_pipeline(slot: Slot, step: str | int) -> Slot:
    return Slot("stage", schema=_items(slot.schema)) if isinstance(step, int) else Slot("anything")


def _in_stage(slot: Slot, step: str | int) -> Slot:
    role = _ARGUMENTS.get(str(step), "anything")
    return Slot(role, "" if role == "query" else str(step))


_ARGUMENTS: Final[Mapping[str, Role]] = {
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
    "$replaceRoot": "arguments",
    "$bucket": "arguments",
    "$bucketAuto": "arguments",
    "$lookup": "arguments",
    "$graphLookup": "arguments",
    "$unionWith": "collection",
    "$facet": "facets",
    "$setWindowFields": "arguments",
    "$densify": "arguments",
    "$fill": "arguments",
    "$sample": "arguments",
    "$documents": "expression",
}
"""What the argument of each stage is."""

_ROLES: Final[Mapping[str, Role]] = {
    "collection": "collection",
    "pipeline": "pipeline",
    "bindings": "bindings",
    "field": "field",
    "fields": "fields",
    "member": "member",
    "foreign field": "foreign field",
    "sort": "sort keys",
    "element sort": "element sort keys",
    "accumulators": "accumulators",
    "windows": "windows",
    "branches": "branches",
    "fills": "fills",
    "range": "arguments",
    "unwound": "unwound",
}
"""What stands for arguments of a kind, where it is no expression."""
_PLAIN: Final = frozenset(
    ("name", "count", "shift", "share", "step", "numbers", "boundaries", "constant", "flag", "foreign query")
)
"""The kinds of arguments that are constants of which nothing is known."""


def _argument(slot: Slot, step: str | int) -> Slot:
    if not isinstance(step, str) or step not in argument_names(slot.name):
        return Slot("anything")
    kind = kind_of_argument(slot.name, step)
    if kind in WORDS:
        return Slot("words", kind)
    if kind in _PLAIN:
        return Slot("anything", slot.name)
    role = _ROLES.get(kind, "expression")
    return Slot(role, kind if role == "arguments" else slot.name)


def _branches(slot: Slot, step: str | int) -> Slot:
    return Slot("arguments", "branch") if isinstance(step, int) else Slot("anything")


def _window(slot: Slot, step: str | int) -> Slot:
    return Slot("arguments", "window") if step == "window" else _operator(slot, step)


def _groups(slot: Slot, step: str | int) -> Slot:
    return Slot("expression" if step == "_id" else "accumulator")


def _operator(slot: Slot, step: str | int) -> Slot:
    """The argument of an operator, or, in a document or a list that an expression makes, an expression."""
    if isinstance(step, str) and step.startswith("$"):
        return Slot("anything" if step in ("$literal", "$const") else "operand", step)
    return Slot("expression")


def _operand(slot: Slot, step: str | int) -> Slot:
    if isinstance(step, str) and step.startswith("$"):
        return _operator(slot, step)
    if isinstance(step, str) and step in argument_names(slot.name):
        return _argument(slot, step)
    return Slot("expression")


def _query(slot: Slot, step: str | int) -> Slot:
    if isinstance(step, int):
        return slot
    if step in ("$and", "$or", "$nor"):
        return slot._replace(schema={})
    if step == "$expr":
        return Slot("expression")
    if step.startswith("$"):
        return Slot("anything")
    return Slot("condition", ".".join(filter(None, (slot.name, step))), quoted=slot.quoted)


def _condition(slot: Slot, step: str | int) -> Slot:
    if step == "$not":
        return slot
    if step == "$elemMatch":
        return slot._replace(role="query")
    if step in ("$in", "$nin", "$all"):
        return slot._replace(role="comparands")
    if step in ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"):
        return slot._replace(role="comparand")
    return Slot("anything")


def _comparands(slot: Slot, step: str | int) -> Slot:
    return slot._replace(role="comparand") if isinstance(step, int) else Slot("anything")


def _in_union(slot: Slot, step: str | int) -> Slot:
    return _argument(slot, step) if slot.name == "$unionWith" else Slot("anything")


def _always(role: Role) -> Callable[[Slot, str | int], Slot]:
    """The same slot, whatever leads to it."""
    return lambda slot, step: Slot(role)


_STEPS: Final[Mapping[Role, Callable[[Slot, str | int], Slot]]] = {
    "schema": _in_schema,
    "pipeline": _in_pipeline,
    "stage": _in_stage,
    "computed": _always("expression"),
    "projection": _always("projected"),
    "projected": _operator,
    "groups": _groups,
    "accumulators": _always("accumulator"),
    "accumulator": _operator,
    "windows": _always("window"),
    "window": _window,
    "expression": _operator,
    "operand": _operand,
    "arguments": _argument,
    "bindings": _always("expression"),
    "query": _query,
    "condition": _condition,
    "comparands": _comparands,
    "comparand": _always("anything"),
    "sort keys": _always("direction"),
    "element sort keys": _always("direction"),
    "direction": _always("anything"),
    "words": _same,
    "branches": _branches,
    "fills": lambda slot, step: Slot("arguments", "fill"),
    "field": _always("anything"),
    "fields": _same,
    "member": _operator,
    "foreign field": _always("anything"),
    "unwound": _argument,
    "collection": _in_union,
    "table": _always("anything"),
    "column": _same,
    "by column": _by_column,
    "header groups": _header_groups,
    "baseline": _baseline,
    "baseline row": lambda slot, step: Slot("value of rows", str(step)),
    "value of rows": _always("anything"),
    "rules": _always("anything"),
    "sorted": _same,
    "facets": _always("pipeline"),
    "anything": _always("anything"),
}
