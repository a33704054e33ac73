"""The values that may be written at a place: words of a schema, paths, operators in braces, values that rows have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from mongo_tables.lint.shape.values import lookup
from mongo_tables.lsp.arguments import WORDS
from mongo_tables.lsp.bodies import value_at
from mongo_tables.lsp.completion_offers import (
    Asked,
    Offer,
    accumulator_keys,
    condition_keys,
    expression_keys,
    fields_of_input,
    list_fields,
    list_operators,
    own_columns,
    quoted_columns,
    stage_keys,
)
from mongo_tables.lsp.flows import fields_at, found_at, rows_shape, variables_at
from mongo_tables.lsp.knowledge import order_values, values_of_column

_MOST_VALUES: Final = 64
"""So many values of a field are offered."""


def _schema_values(asked: Asked) -> Iterator[Offer]:
    schema = asked.way.slot.schema
    kinds = schema.get("type", ())
    for value in schema.get("enum", ()):
        yield Offer(str(value), "value", value=value)
    if kinds == "boolean":
        yield from (Offer(word, "value", value=word == "true") for word in ("true", "false"))
    elif not schema.get("enum"):
        # Those with members name fields that hardly any rows have.
        plain = (one for one in schema.get("examples", ()) if not isinstance(one, dict | list))
        for example in plain:
            written = example if isinstance(example, str) else json.dumps(example)
            yield Offer(written, "value", "an example", value=example)


def _stage_values(asked: Asked) -> Iterator[Offer]:
    for name, told in asked.known.shared_names().items():
        yield Offer(name, "list", "shared pipeline", told, value=name)
    for one in stage_keys(asked):
        yield _in_braces(one)


def _in_braces(one: Offer) -> Offer:
    return one._replace(opens=True)


def _expression_values(asked: Asked) -> Iterator[Offer]:
    typed = asked.cursor.typed if asked.cursor.quoted else ""
    if typed.startswith("$$") and "." in typed:
        yield from _fields_of_variable(asked, typed)
        return
    if asked.way.stretches:
        found = found_at(asked.value, asked.way.stretches[-1], asked.cursor.path, asked.before(), "$_")
        yield from (one._replace(label=f"${one.label}") for one in list_fields(found, typed.lstrip("$"), "$"))
    if typed[:2] in ("", "$", "$$"):
        for name, told in variables_at(asked.value, asked.cursor.path, asked.cursor.body.kind).items():
            yield Offer(f"$${name}", "variable", told, value=f"$${name}")
    yield from map(_in_braces, expression_keys(asked))


def _fields_of_variable(asked: Asked, typed: str) -> Iterator[Offer]:
    name, _, rest = typed.partition(".")
    if not asked.way.stretches:
        return
    found = found_at(asked.value, asked.way.stretches[-1], asked.cursor.path, asked.before(), name)
    for one in list_fields(found, rest, f"{name}."):
        yield one._replace(label=f"{name}.{one.label}")


def _words(asked: Asked) -> Iterator[Offer]:
    yield from (Offer(word, "value", value=word) for word in WORDS[asked.way.slot.name])


def _projection_values(asked: Asked) -> Iterator[Offer]:
    for flag, told in ((1, "kept"), (0, "left out")):
        yield Offer(str(flag), "value", told, value=flag)
    yield from _expression_values(asked)


def _accumulator_values(asked: Asked) -> Iterator[Offer]:
    yield from map(_in_braces, accumulator_keys(asked))


def _window_values(asked: Asked) -> Iterator[Offer]:
    yield from map(_in_braces, list_operators("window", "operator"))


def _comparands(asked: Asked) -> Iterator[Offer]:
    slot = asked.way.slot
    if slot.quoted:
        yield from _values_of_rows(asked, slot.name)
        return
    found = [asked.before()]
    for part in slot.name.split("."):
        found = [inner[part] for one in found if part in (inner := fields_at(one, ()))]
    for shape in found:
        held = shape if shape.items is None else shape.items
        flags = (True, False) if "bool" in held.kinds and not held.unknown else ()
        yield from _values(held.traits.known or flags)


def _values_of_own_rows(asked: Asked) -> Iterator[Offer]:
    """The values that rows of the comment have in a column: of its table, else of the documents."""
    column, table = asked.way.slot.name, value_at(asked.value, ("id",))
    rows = asked.known.rows(table) if isinstance(table, str) else ()
    found = values_of_column(rows, column)
    shape = lookup(rows_shape(asked.value, asked.known), tuple(column.split(".")))
    yield from _values(found or shape.traits.known or ())


def _values(values: Iterable[Any]) -> Iterator[Offer]:
    for value in order_values(values)[:_MOST_VALUES]:
        written = value if isinstance(value, str) else json.dumps(value)
        yield Offer(written, "value", value=value)


def _condition_values(asked: Asked) -> Iterator[Offer]:
    yield from _comparands(asked)
    yield from map(_in_braces, condition_keys(asked))


def _directions(asked: Asked) -> Iterator[Offer]:
    yield Offer("1", "value", "from the smallest up", value=1)
    yield Offer("-1", "value", "from the greatest down", value=-1)


def _field_values(asked: Asked) -> Iterator[Offer]:
    yield from list_fields(asked.before(), asked.cursor.typed)


def _member_values(asked: Asked) -> Iterator[Offer]:
    """The names of fields of the object that an operator reads or changes a field of, which follow no dots."""
    above = asked.cursor.path[:-1]
    yield from (one for one in fields_of_input(asked, above) if "." not in one.label)


def _operand_values(asked: Asked) -> Iterator[Offer]:
    if asked.way.slot.name == "$getField":
        yield from (one for one in list_fields(asked.before(), asked.cursor.typed) if "." not in one.label)
    else:
        yield from _expression_values(asked)


def _unwound_values(asked: Asked) -> Iterator[Offer]:
    for one in list_fields(asked.before(), asked.cursor.typed.lstrip("$"), "$"):
        yield one._replace(label=f"${one.label}")


def _foreign_fields(asked: Asked) -> Iterator[Offer]:
    collection = value_at(asked.value, (*asked.cursor.path[:-1], "from"))
    if isinstance(collection, str):
        yield from list_fields(asked.known.shape(collection, ()), asked.cursor.typed)


def _collections(asked: Asked) -> Iterator[Offer]:
    for name, told in asked.known.collections().items():
        yield Offer(name, "collection", told, value=name)


def _tables(asked: Asked) -> Iterator[Offer]:
    for name, told in asked.known.tables().items():
        yield Offer(name, "table", told, value=name)


def _column_values(asked: Asked) -> Iterator[Offer]:
    if asked.way.slot.quoted:
        yield from quoted_columns(asked)
        return
    used = asked.above if isinstance(asked.above, list) else []
    shown = ("chart", "baseline", "group_rows", "totals", "header_groups")
    own = own_columns(asked) if asked.cursor.path[0] in shown else ()
    yield from (Offer(name, "field", value=name) for name in own if name not in used)
    if not own:
        for one in list_fields(rows_shape(asked.value, asked.known), asked.cursor.typed):
            if one.label not in used:
                yield one


def _values_of_rows(asked: Asked, column: str) -> Iterator[Offer]:
    table = value_at(asked.value, ("table",))
    rows = asked.known.rows(table) if isinstance(table, str) else ()
    yield from _values(values_of_column(rows, column))


def _sorted_values(asked: Asked) -> Iterator[Offer]:
    minus = "-" if asked.cursor.typed.startswith("-") else ""
    others = asked.above if isinstance(asked.above, list) else []
    used = {one.removeprefix("-") for one in others if isinstance(one, str)}
    for one in list_fields(asked.before(), asked.cursor.typed.removeprefix("-")):
        if one.label not in used:
            yield one._replace(value=f"{minus}{one.value}")


VALUES: Final[Mapping[str, Callable[[Asked], Iterable[Offer]]]] = {
    "schema": _schema_values,
    "baseline": _schema_values,
    "stage": _stage_values,
    "expression": _expression_values,
    "projected": _projection_values,
    "operand": _operand_values,
    "member": _member_values,
    "accumulator": _accumulator_values,
    "window": _window_values,
    "condition": _condition_values,
    "comparand": _comparands,
    "direction": _directions,
    "words": _words,
    "value of rows": _values_of_own_rows,
    "field": _field_values,
    "fields": _field_values,
    "foreign field": _foreign_fields,
    "unwound": _unwound_values,
    "collection": _collections,
    "table": _tables,
    "column": _column_values,
    "sorted": _sorted_values,
}
