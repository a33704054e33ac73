"""Completions at a position of a comment: keys, values, fields, stages and operators."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import OperatorKind
from mongo_tables.directives.comments import keep_in_comment
from mongo_tables.jsontext.reader import value_at
from mongo_tables.jsontext.tokens import read_tokens
from mongo_tables.lint.shape.values import Shape
from mongo_tables.lsp.flows import Spot, fields_at, found_at, rows_shape, spot_at, tell_kinds, variables_at
from mongo_tables.lsp.project import Knowledge, order_values, values_of_column
from mongo_tables.lsp.slots import argument_names
from mongo_tables.lsp.typed_json import Cursor, read_value

Sort = Literal["key", "value", "field", "operator", "stage", "variable", "table", "list", "collection"]
"""The kind of a suggestion."""

_FEW_BESIDE: Final = 40
_FEW_BELOW: Final = 12
"""Inner fields are offered, too, if a document has at most ``_FEW_BESIDE`` fields and the inner document at most
``_FEW_BELOW``.
"""
_MOST_VALUES: Final = 64
"""The maximum number of a field's values that are offered."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion.

    Attributes:
        label: The text that the editor shows.
        sort: The kind of the suggestion.
        remark: A short remark next to the label.
        about: The documentation, as Markdown.
        text: The text that replaces the range of the ``Completion``.
        sought: The text that the editor compares with the typed text.
    """

    label: str
    sort: Sort
    remark: str
    about: str
    text: str
    sought: str


@dataclass(frozen=True, slots=True)
class Completion:
    """The suggestions for the text between two offsets."""

    start: int
    end: int
    found: Sequence[Suggestion]


@dataclass(frozen=True, slots=True)
class _Offer:
    """A key or a value to suggest, before it is written as JSON for the position.

    ``label`` is the key. For a value, ``value`` is suggested or, if it ``opens``, an object that begins with the
    key ``label``.
    """

    label: str
    sort: Sort
    remark: str = ""
    about: str = ""
    value: Any = None
    opens: bool = False


_Offers = Iterator[_Offer]


@dataclass(frozen=True, slots=True)
class _CompletionContext:
    """A position with its context. ``beside`` has the other keys of the same object."""

    cursor: Cursor
    spot: Spot
    beside: frozenset[str]

    @property
    def typed(self) -> str:
        return self.cursor.typed

    @property
    def known(self) -> Knowledge:
        return self.spot.known

    @property
    def name(self) -> str:
        return self.spot.way.slot.name

    @property
    def others(self) -> list[Any]:
        """The elements of the list around the cursor, or [] if the cursor is not in a list."""
        above = value_at(self.spot.value, self.cursor.path[:-1])
        return above if isinstance(above, list) else []

    def text_at(self, *path: str | int) -> str | None:
        """Return the text at a path of the body, or None."""
        found = value_at(self.spot.value, path)
        return found if isinstance(found, str) else None


def complete(text: str, cursor: Cursor, known: Knowledge, start: Shape | None = None) -> Completion:
    """Return the completions at a position.

    ``start`` is the shape of the input of a pipeline that does not name its collection.
    """
    body, is_key = cursor.body, cursor.role == "key"
    if cursor.role == "none":
        return Completion(cursor.start, cursor.start, ())
    value = certain = read_value(text, read_tokens(text, body.start, body.end))
    if not cursor.ends:  # The text after an incomplete key would count as other keys.
        certain = read_value(text, read_tokens(text, body.start, cursor.start - cursor.quoted))
    beside = value_at(certain, cursor.path[:-1]) if is_key else None
    own = cursor.path[-1] if is_key and cursor.token else None
    keys = frozenset(key for key in beside if key != own) if isinstance(beside, dict) else frozenset()
    spot = spot_at(cursor.path[:-1] if is_key else cursor.path, body.kind, value, known, start)
    asked, role = _CompletionContext(cursor, spot, keys), spot.way.slot.role
    if is_key:
        offers = _KEYS[role](asked) if role in _KEYS else ()
        return _write_keys(text, cursor, [one for one in offers if one.label not in keys])
    found = list(_VALUES[role](asked)) if role in _VALUES else []
    if role in _OPENED:
        found += [replace(one, opens=True) for one in _OPENED[role](asked)]
    return _write_values(cursor, found)


def _write_keys(text: str, cursor: Cursor, offers: Iterable[_Offer]) -> Completion:
    """Return keys, completed by the quotes and the colon that the text does not have yet."""
    has_colon = text[cursor.end : cursor.body.end].lstrip().startswith(":")
    opening = "" if cursor.quoted else '"'
    closing = "" if cursor.closed else '"' if has_colon else '": '
    found = [
        Suggestion(
            one.label,
            one.sort,
            one.remark,
            one.about,
            opening + _write_json(one.label)[1:-1] + closing,
            opening + one.label,
        )
        for one in offers
    ]
    return Completion(cursor.start, cursor.end, found)


def _write_values(cursor: Cursor, offers: Iterable[_Offer]) -> Completion:
    """Return values as JSON. After an opening quote, only strings are possible, and their opening quote is left
    out.
    """
    found = []
    for one in offers:
        written = f"{{{_write_json(one.label)}: " if one.opens else _write_json(one.value)
        sought = one.label if one.opens else json.dumps(one.value, ensure_ascii=False)
        if cursor.quoted:
            if one.opens or not isinstance(one.value, str):
                continue
            written, sought = written[1:-1] if cursor.closed else written[1:], one.value
        found.append(Suggestion(one.label, one.sort, one.remark, one.about, written, sought))
    return Completion(cursor.start, cursor.end, found)


def _write_json(value: Any) -> str:
    """Return a value as JSON that does not end the comment around it."""
    return keep_in_comment(json.dumps(value, ensure_ascii=False))


# -- fields --


def _list_fields(shape: Shape, typed: str, prefix: str = "") -> _Offers:
    """Yield the fields below the typed path and, if there are few, the fields one level deeper."""
    parts = typed.split(".")[:-1]
    above = "".join(f"{part}." for part in parts)
    found = fields_at(shape, parts)
    for name, inner in found.items():
        if name == "_" or "." in name or name.startswith("$"):
            continue
        path = f"{above}{name}"
        yield _Offer(path, "field", tell_kinds(inner), value=f"{prefix}{path}")
        if not parts and len(found) <= _FEW_BESIDE and len(inner.fields) <= _FEW_BELOW:
            for below, deeper in inner.fields.items():
                if not deeper.absent:
                    yield _Offer(
                        f"{path}.{below}", "field", tell_kinds(deeper), value=f"{prefix}{path}.{below}"
                    )


def _fields(asked: _CompletionContext) -> _Offers:
    return _list_fields(asked.spot.before(), asked.typed)


def _fields_within(shape: Shape, asked: _CompletionContext, inside: str) -> _Offers:
    """Yield the fields below the path ``inside``, named relative to it."""
    inside = f"{inside}." if inside else ""
    for one in _list_fields(shape, inside + asked.typed):
        if one.label.startswith(inside):
            within = one.label.removeprefix(inside)
            yield replace(one, label=within, value=within)


def _row_fields(asked: _CompletionContext) -> _Offers:
    return _list_fields(rows_shape(asked.spot.value, asked.known), asked.typed)


def _own_columns(asked: _CompletionContext) -> list[str]:
    found: list[Any] = []
    for key in ("columns", "x", "y", "series", "facets"):
        written = value_at(asked.spot.value, (key,))
        found += written if isinstance(written, list) else [written]
    return list(dict.fromkeys(one for one in found if isinstance(one, str) and one))


def _quoted_columns(asked: _CompletionContext) -> _Offers:
    """Yield the columns of the table that a value or a statement quotes, and the other fields of its rows."""
    table = asked.text_at("table")
    if table is None and asked.text_at("collection"):
        yield from _row_fields(asked)
    for name, told in asked.known.columns(table).items() if table is not None else ():
        yield _Offer(name, "field", told, value=name)


# -- keys --


def _list_operators(kind: OperatorKind, sort: Sort = "operator", without: Iterable[str] = ()) -> _Offers:
    """Yield the supported operators of a kind, each with a link to the manual."""
    for name in catalogue.names(kind):
        operator = catalogue.get(kind, name)
        if not operator.refused and name not in without:
            since = f"since MongoDB {operator.since}" if operator.since else ""
            yield _Offer(name, sort, since, f"[`{name}` in MongoDB's manual]({operator.manual})")


def _schema_keys(asked: _CompletionContext) -> _Offers:
    for name, about in asked.spot.way.slot.schema.get("properties", {}).items():
        if isinstance(about, Mapping):
            told = str(about.get("markdownDescription") or about.get("description") or "")
            yield _Offer(name, "key", about.get("title", ""), told)


def _stage_keys(asked: _CompletionContext) -> _Offers:
    """Yield the stages that are allowed at a position. A stage is the only key of its object."""
    if asked.beside:
        return
    without = {"$documents"}
    for one in asked.spot.way.stretches[-1:]:
        # A pipeline within a stage that names no collection must begin with `$documents`.
        if one.number == 0 and len(one.path) > 1 and one.reads and asked.text_at(*one.reads) is None:
            without.clear()
        if "$facet" in one.path:
            without.add("$facet")
    yield from _list_operators("stage", "stage", without)


_TOP_OF_QUERY: Final = frozenset(
    (
        *("$and", "$or", "$nor", "$expr", "$comment", "$jsonSchema"),
        *("$alwaysTrue", "$alwaysFalse", "$sampleRate"),
    )
)
_WHOLE_QUERY_ONLY: Final = ("$expr", "$sampleRate")
"""Operators that apply to a whole document, not to an element of an array."""


def _query_keys(asked: _CompletionContext) -> _Offers:
    slot = asked.spot.way.slot
    if slot.quoted:
        yield from _quoted_columns(asked)
    else:
        yield from _fields_within(asked.spot.before(), asked, slot.name)
    without = _WHOLE_QUERY_ONLY if slot.name else ()
    yield from (one for one in _list_operators("query", without=without) if one.label in _TOP_OF_QUERY)


def _condition_keys(asked: _CompletionContext) -> _Offers:
    alone = () if "$regex" in asked.beside else ("$options",)
    return _list_operators("query", without={*_TOP_OF_QUERY, "$rand", *alone})


def _expression_keys(asked: _CompletionContext) -> _Offers:
    """Yield the operators of expressions. An operator is the only key of its object."""
    return iter(()) if asked.beside else _list_operators("expression")


def _accumulator_keys(asked: _CompletionContext) -> _Offers:
    return iter(()) if asked.beside else _list_operators("accumulator")


def _window_keys(asked: _CompletionContext) -> _Offers:
    if not any(key.startswith("$") for key in asked.beside):
        yield from _list_operators("window")
    yield _Offer("window", "key", "bounds of the window")


def _argument_keys(asked: _CompletionContext) -> _Offers:
    return (_Offer(name, "key", f"argument of {asked.name}") for name in argument_names(asked.name))


_KEYS: Final[Mapping[str, Callable[[_CompletionContext], _Offers]]] = {
    **dict.fromkeys(("schema", "pipeline", "baseline"), _schema_keys),
    **dict.fromkeys(("computed", "projection", "sort keys", "fills"), _fields),
    **dict.fromkeys(("expression", "projected"), _expression_keys),
    **dict.fromkeys(("arguments", "collection", "unwound"), _argument_keys),
    "by column": lambda asked: (_Offer(column, "field") for column in _own_columns(asked)),
    "stage": _stage_keys,
    "groups": lambda asked: iter([_Offer("_id", "key", "the value that all documents of a group share")]),
    "accumulator": _accumulator_keys,
    "window": _window_keys,
    "operand": lambda asked: (_argument_keys if argument_names(asked.name) else _expression_keys)(asked),
    "query": _query_keys,
    "condition": _condition_keys,
}


# -- values --


def _schema_values(asked: _CompletionContext) -> _Offers:
    schema = asked.spot.way.slot.schema
    enum, examples = schema.get("enum", ()), schema.get("examples", ())
    yield from (_Offer(str(value), "value", value=value) for value in enum)
    if schema.get("type") == "boolean":
        yield from (_Offer(word, "value", value=word == "true") for word in ("true", "false"))
    elif not enum:
        # Examples that are objects name fields that the rows here do not have.
        for example in (one for one in examples if not isinstance(one, dict | list)):
            written = example if isinstance(example, str) else json.dumps(example)
            yield _Offer(written, "value", "an example", value=example)


def _expression_values(asked: _CompletionContext) -> _Offers:
    typed = asked.typed if asked.cursor.quoted else ""
    spot, path = asked.spot, asked.cursor.path
    name, prefix, rest = "$_", "$", typed.lstrip("$")
    if typed.startswith("$$") and "." in typed:
        name, _, rest = typed.partition(".")
        prefix = f"{name}."
    if spot.way.stretches:
        found = found_at(spot.value, spot.way.stretches[-1], path, spot.before(), name)
        for one in _list_fields(found, rest, prefix):
            yield replace(one, label=f"{prefix}{one.label}")
    if typed[:2] in ("", "$", "$$") and name == "$_":
        for variable, told in variables_at(spot.value, path, asked.cursor.body.kind).items():
            yield _Offer(f"$${variable}", "variable", told, value=f"$${variable}")


def _projection_values(asked: _CompletionContext) -> _Offers:
    for flag, told in ((1, "keep the field"), (0, "remove the field")):
        yield _Offer(str(flag), "value", told, value=flag)
    yield from _expression_values(asked)


def _values(values: Iterable[Any]) -> _Offers:
    for value in order_values(values)[:_MOST_VALUES]:
        yield _Offer(value if isinstance(value, str) else json.dumps(value), "value", value=value)


def _comparands(asked: _CompletionContext) -> _Offers:
    slot = asked.spot.way.slot
    if slot.quoted:
        table = asked.text_at("table")
        yield from _values(values_of_column(asked.known.rows(table) if table is not None else (), slot.name))
        return
    found = [asked.spot.before()]
    for part in slot.name.split("."):
        found = [inner[part] for one in found if part in (inner := fields_at(one, ()))]
    for shape in found:
        held = shape if shape.items is None else shape.items
        flags = (True, False) if "bool" in held.kinds and not held.unknown else ()
        yield from _values(held.traits.known or flags)


def _column_values(asked: _CompletionContext) -> _Offers:
    if asked.spot.way.slot.quoted:
        return _quoted_columns(asked)
    shown = ("chart", "baseline", "group_rows", "totals", "header_groups")
    own = _own_columns(asked) if asked.cursor.path[0] in shown else []
    offers = (_Offer(name, "field", value=name) for name in own) if own else _row_fields(asked)
    return (one for one in offers if one.label not in asked.others)


def _sorted_values(asked: _CompletionContext) -> _Offers:
    minus = "-" if asked.typed.startswith("-") else ""
    used = {one.removeprefix("-") for one in asked.others if isinstance(one, str)}
    for one in _list_fields(asked.spot.before(), asked.typed.removeprefix("-")):
        if one.label not in used:
            yield replace(one, value=f"{minus}{one.value}")


def _shared_lists(asked: _CompletionContext) -> _Offers:
    for name, told in asked.known.shared_names().items():
        yield _Offer(name, "list", "shared pipeline", told, value=name)


def _named(sort: Sort, names: Mapping[str, str]) -> _Offers:
    return (_Offer(name, sort, told, value=name) for name, told in names.items())


_VALUES: Final[Mapping[str, Callable[[_CompletionContext], _Offers]]] = {
    **dict.fromkeys(("schema", "baseline"), _schema_values),
    **dict.fromkeys(("field", "fields"), _fields),
    **dict.fromkeys(("condition", "comparand"), _comparands),
    "stage": _shared_lists,
    **dict.fromkeys(("expression", "operand", "unwound"), _expression_values),
    "projected": _projection_values,
    "rows": lambda asked: _named(
        "value", dict.fromkeys(asked.known.row_paths(asked.text_at("collection") or ""), "")
    ),
    "collection": lambda asked: _named("collection", asked.known.collections()),
    "table": lambda asked: _named("table", asked.known.tables()),
    "column": _column_values,
    "sorted": _sorted_values,
}
_OPENED: Final[Mapping[str, Callable[[_CompletionContext], _Offers]]] = {
    **dict.fromkeys(("expression", "operand", "projected"), _expression_keys),
    "stage": _stage_keys,
    "accumulator": _accumulator_keys,
    "window": lambda asked: _list_operators("window"),
    "condition": _condition_keys,
}
"""For each role of a value, the function that yields the first keys of the objects that may stand in its place."""
