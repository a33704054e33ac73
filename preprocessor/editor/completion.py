"""What may be written at a place of a comment, as an editor offers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from preprocessor.aggregation import catalogue
from preprocessor.aggregation.catalogue import Kind as OperatorKind
from preprocessor.comments.writing import keep_in_comment
from preprocessor.editor.arguments import WORDS, argument_names
from preprocessor.editor.bodies import Cursor, read_value, value_at
from preprocessor.editor.flows import fields_at, found_at, rows_shape, shape_before, tell_kinds, variables_at
from preprocessor.editor.knowledge import Knowledge
from preprocessor.editor.observed import has_more_fields
from preprocessor.editor.plainvalues import order_values, values_of_column
from preprocessor.editor.skeletons import argument_skeleton, escape, named_argument, named_arguments
from preprocessor.editor.slots import Stretch, Way, way_to
from preprocessor.editor.tokens import read_tokens
from preprocessor.findings.rules import RULES
from preprocessor.jsontext.model import Path
from preprocessor.lint.shape.values import Shape, lookup
from preprocessor.lint.suppressions import may_be_ignored

Sort = Literal["key", "value", "field", "operator", "stage", "variable", "table", "list", "collection"]
"""What kind of thing is offered."""

_TOP_OF_QUERY: Final = (
    *("$and", "$or", "$nor", "$expr", "$comment", "$jsonSchema"),
    *("$alwaysTrue", "$alwaysFalse", "$sampleRate"),
)
_NOWHERE_IN_QUERIES: Final = "$rand"
"""It stands in an expression alone."""
_VALUES: Final = 64
"""So many values of a field are offered."""


class Suggestion(NamedTuple):
    """One thing that may be written: its name, its kind, a remark, a text about it, and what to write.

    ``text`` has gaps to fill, as skeletons have; what is written is put between ``start`` and ``end`` of the
    ``Completion``. ``sought`` is what the typed text is compared with.
    """

    label: str
    sort: Sort
    remark: str
    about: str
    text: str
    sought: str


class Completion(NamedTuple):
    """What may be written in the place of what stands between two offsets."""

    start: int
    end: int
    found: Sequence[Suggestion]


class _Offer(NamedTuple):
    """A name for a key, or a value, before it is known how it is to be written there.

    ``follows`` is the skeleton of what stands behind the colon of a key; ``value`` is written where a value stands.
    """

    label: str
    sort: Sort
    remark: str = ""
    about: str = ""
    follows: str = ""
    value: Any = None
    skeleton: str = ""


class _Asked(NamedTuple):
    """A place with all that is known of it."""

    cursor: Cursor
    way: Way
    value: Any
    known: Knowledge
    start: Shape | None

    def before(self) -> Shape:
        """What documents look like before the stage."""
        if self.way.stretches:
            return shape_before(self.value, self.way.stretches, self.known, self.start)
        collection = value_at(self.value, ("collection",))
        return (
            self.known.shape(collection, ())
            if isinstance(collection, str)
            else rows_shape(self.value, self.known)
        )

    @property
    def above(self) -> Any:
        """The container of the key or the value."""
        return value_at(self.value, self.cursor.path[:-1])


def complete(text: str, cursor: Cursor, known: Knowledge, start: Shape | None = None) -> Completion:
    """What may be written at a place; ``start`` is what a pipeline reads that says nothing of it itself."""
    body = cursor.body
    value = read_value(text, read_tokens(text, body.start, body.end))
    if cursor.role == "key":
        asked = _Asked(cursor, way_to(body.kind, cursor.path[:-1]), value, known, start)
        offers = list(_KEYS.get(asked.way.slot.role, _no_offers)(asked))
        taken = _taken(asked)
        return _write_keys(text, cursor, [one for one in offers if one.label not in taken])
    if cursor.role == "value":
        asked = _Asked(cursor, way_to(body.kind, cursor.path), value, known, start)
        return _write_values(cursor, list(_VALUES_OF.get(asked.way.slot.role, _no_offers)(asked)))
    return Completion(cursor.start, cursor.start, ())


def _taken(asked: _Asked) -> set[str]:
    """The keys that stand beside the one that is typed."""
    own = asked.cursor.path[-1] if asked.cursor.token else None
    return {key for key in asked.above if key != own} if isinstance(asked.above, dict) else set()


def _no_offers(asked: _Asked) -> Iterable[_Offer]:
    return ()


# -- how it is written --


def _write_keys(text: str, cursor: Cursor, offers: Sequence[_Offer]) -> Completion:
    end = cursor.end + cursor.closed
    has_colon = text[end : cursor.body.end].lstrip().startswith(":")
    opening = "" if cursor.quoted else '"'
    found = []
    for one in offers:
        written = opening + escape(_write_json(one.label)[1:-1]) + '"'
        if not has_colon:
            written += f": {one.follows or '${1}'}"
        found.append(Suggestion(one.label, one.sort, one.remark, one.about, written, opening + one.label))
    return Completion(cursor.start, end, found)


def _write_values(cursor: Cursor, offers: Sequence[_Offer]) -> Completion:
    if cursor.quoted:
        texts = [one for one in offers if isinstance(one.value, str) and not one.skeleton]
        end = cursor.end + cursor.closed
        return Completion(cursor.start, end, [_within_quotes(one) for one in texts])
    found = []
    for one in offers:
        written = one.skeleton or escape(_write_json(one.value))
        sought = json.dumps(one.value, ensure_ascii=False) if not one.skeleton else one.label
        found.append(Suggestion(one.label, one.sort, one.remark, one.about, written, sought))
    return Completion(cursor.start, cursor.end, found)


def _within_quotes(one: _Offer) -> Suggestion:
    inner = _write_json(one.value)[1:]
    return Suggestion(one.label, one.sort, one.remark, one.about, escape(inner), str(one.value))


def _write_json(value: Any) -> str:
    """JSON that ends no comment, whatever is in a value."""
    return keep_in_comment(json.dumps(value, ensure_ascii=False))


# -- keys --


def _schema_keys(asked: _Asked) -> Iterator[_Offer]:
    for name, about in asked.way.slot.schema.get("properties", {}).items():
        if isinstance(about, Mapping):
            yield _Offer(name, "key", about.get("title", ""), _about(about), follows=_follow(about))


def _about(schema: Mapping[str, Any]) -> str:
    return str(schema.get("markdownDescription") or schema.get("description") or "")


_GAPS: Final = {"array": "[${1}]", "object": "{${1}}", "string": '"${1}"', "boolean": "${1:true}"}


def _follow(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    return _GAPS.get(kind, "${1}") if isinstance(kind, str) else "${1}"


def _column_keys(asked: _Asked) -> Iterator[_Offer]:
    follows = _follow(asked.way.slot.schema.get("additionalProperties") or {})
    for column in _own_columns(asked):
        yield _Offer(column, "field", follows=follows)


def _own_columns(asked: _Asked) -> list[str]:
    """The columns that the comment shows, as far as they are written."""
    found: list[str] = []
    for key in ("columns", "x", "y", "series", "facets"):
        written = value_at(asked.value, (key,))
        found += [
            one for one in (written if isinstance(written, list) else [written]) if isinstance(one, str)
        ]
    return list(dict.fromkeys(filter(None, found)))


def _stage_keys(asked: _Asked) -> Iterator[_Offer]:
    stage_of = asked.way.stretches[-1:]
    begins = any(one.number == 0 and len(one.path) > 1 and _reads_nothing(asked, one) for one in stage_of)
    yield from (one for one in _operators("stage", "stage") if begins or one.label != "$documents")


def _reads_nothing(asked: _Asked, stretch: Stretch) -> bool:
    """Whether a pipeline within a stage has no collection to read, so that it brings documents of its own."""
    return stretch.reads is not None and value_at(asked.value, stretch.reads) is None


def _operators(kind: OperatorKind, sort: Sort) -> Iterator[_Offer]:
    for name in catalogue.names(kind):
        operator = catalogue.get(kind, name)
        if not operator.refused:
            since = f"since MongoDB {operator.since}" if operator.since else ""
            about = f"[`{name}` in MongoDB's manual]({operator.manual})"
            yield _Offer(name, sort, since, about, follows=argument_skeleton(operator))


def _field_keys(follows: str) -> Callable[[_Asked], Iterator[_Offer]]:
    def keys(asked: _Asked) -> Iterator[_Offer]:
        yield from (one._replace(follows=follows) for one in _fields(asked.before(), asked.cursor.typed))

    return keys


def _fields(shape: Shape, typed: str, prefix: str = "") -> Iterator[_Offer]:
    """The fields whose paths begin as typed, up to the next dot, and one level below that."""
    parts = typed.split(".")[:-1]
    above = "".join(f"{part}." for part in parts)
    found = fields_at(shape, parts)
    for name, inner in found.items():
        if name == "_" or "." in name or name.startswith("$"):
            continue
        path = f"{above}{name}"
        yield _Offer(path, "field", tell_kinds(inner), value=f"{prefix}{path}")
        if not parts and len(found) <= _FEW_BESIDE:
            for below, deeper in _few_below(inner):
                yield _Offer(f"{path}.{below}", "field", tell_kinds(deeper), value=f"{prefix}{path}.{below}")


_FEW_BESIDE: Final = 40
_FEW_BELOW: Final = 12
"""Fields below others are offered with them where there are at most so many of either."""


def _few_below(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The fields of a sub-document, where they are few: of one with many they come behind its dot."""
    if not has_more_fields(shape, _FEW_BELOW):
        yield from ((name, inner) for name, inner in shape.fields.items() if not inner.absent)


def _query_keys(asked: _Asked) -> Iterator[_Offer]:
    slot = asked.way.slot
    if slot.quoted:
        yield from (one._replace(follows="${1}") for one in _quoted_columns(asked))
    else:
        inside = f"{slot.name}." if slot.name else ""
        for one in _fields(asked.before(), inside + asked.cursor.typed):
            if one.label.startswith(inside):
                yield one._replace(label=one.label.removeprefix(inside), follows="${1}")
    for one in _operators("query", "operator"):
        if one.label in _TOP_OF_QUERY:
            yield one


def _condition_keys(asked: _Asked) -> Iterator[_Offer]:
    beside = asked.above if isinstance(asked.above, dict) else {}
    left_out = {*_TOP_OF_QUERY, _NOWHERE_IN_QUERIES, *(() if "$regex" in beside else ("$options",))}
    yield from (one for one in _operators("query", "operator") if one.label not in left_out)


def _group_keys(asked: _Asked) -> Iterator[_Offer]:
    yield _Offer("_id", "key", "what documents of a group have alike", follows=r'"\$${1:field}"')


def _accumulator_keys(asked: _Asked) -> Iterator[_Offer]:
    yield from _operators("accumulator", "operator")


def _window_keys(asked: _Asked) -> Iterator[_Offer]:
    beside = asked.above if isinstance(asked.above, dict) else {}
    for one in _window_functions():
        yield one if "window" not in beside else one._replace(follows=one.follows.removesuffix(_BOUNDED))
    yield _Offer(
        "window", "key", "bounds of the window", follows='{"documents": ["${1:unbounded}", "${2:current}"]}'
    )


_BOUNDED: Final = ', "window": {"documents": [-1, 0]}'


def _window_functions() -> Iterator[_Offer]:
    """The functions of windows; the one that cannot do without bounds has them beside it."""
    for one in _operators("window", "operator"):
        yield one._replace(follows=one.follows + _BOUNDED) if one.label == "$derivative" else one


def _expression_keys(asked: _Asked) -> Iterator[_Offer]:
    yield from _operators("expression", "operator")


def _operand_keys(asked: _Asked) -> Iterator[_Offer]:
    named = argument_names(asked.way.slot.name)
    yield from _argument_keys(asked) if named else _expression_keys(asked)


def _argument_keys(asked: _Asked) -> Iterator[_Offer]:
    about = asked.way.slot.name
    for name in argument_names(about) or catalogue.find_arguments("stage", about):
        yield _Offer(name, "key", f"argument of {about}", follows=named_argument(about, name))


def _element_keys(asked: _Asked) -> Iterator[_Offer]:
    """The fields of the elements of the array that is sorted."""
    for one in _fields_of_input(asked, asked.cursor.path[:-2]):
        yield one._replace(follows="${1:1}")


def _fields_of_input(asked: _Asked, operator: Path) -> Iterator[_Offer]:
    """The fields of what an operator has as its ``input``; of the document where that is left out."""
    written = value_at(asked.value, (*operator, "input")) or "$$CURRENT"
    if not asked.way.stretches or not isinstance(written, str) or not written.startswith("$"):
        return
    name, _, rest = written.partition(".") if written.startswith("$$") else ("$_", "", written[1:])
    stretch = asked.way.stretches[-1]
    found = found_at(asked.value, stretch, (*operator, "input"), asked.before(), name)
    inside = f"{rest}." if rest else ""
    for one in _fields(found, inside + asked.cursor.typed):
        if one.label.startswith(inside):
            within = one.label.removeprefix(inside)
            yield one._replace(label=within, value=within)


def _row_keys(asked: _Asked) -> Iterator[_Offer]:
    """The fields by whose values a row is named: the columns, and the other fields of rows."""
    names = dict.fromkeys(_own_columns(asked))
    names |= dict.fromkeys(
        one.label for one in _fields(rows_shape(asked.value, asked.known), asked.cursor.typed)
    )
    yield from (_Offer(name, "field", follows="${1}") for name in names)


def _rule_keys(asked: _Asked) -> Iterator[_Offer]:
    for rule in RULES.values():
        if may_be_ignored(rule.id, rule.severity):
            yield _Offer(rule.id, "key", rule.name, rule.summary, follows='"${1:reason}"')


_KEYS: Final[Mapping[str, Callable[[_Asked], Iterable[_Offer]]]] = {
    "schema": _schema_keys,
    "by column": _column_keys,
    "stage": _stage_keys,
    "computed": _field_keys("${1}"),
    "projection": _field_keys("${1:1}"),
    "groups": _group_keys,
    "accumulator": _accumulator_keys,
    "window": _window_keys,
    "expression": _expression_keys,
    "projected": _expression_keys,
    "operand": _operand_keys,
    "arguments": _argument_keys,
    "collection": _argument_keys,
    "unwound": _argument_keys,
    "query": _query_keys,
    "condition": _condition_keys,
    "sort keys": _field_keys("${1:1}"),
    "element sort keys": _element_keys,
    "fills": _field_keys('{"value": ${1:0}}'),
    "pipeline": _schema_keys,
    "baseline": _schema_keys,
    "baseline row": _row_keys,
    "rules": _rule_keys,
}


# -- values --


def _schema_values(asked: _Asked) -> Iterator[_Offer]:
    schema = asked.way.slot.schema
    kinds = schema.get("type", ())
    for value in schema.get("enum", ()):
        yield _Offer(str(value), "value", value=value)
    if kinds == "boolean":
        yield from (_Offer(word, "value", value=word == "true") for word in ("true", "false"))
    elif not schema.get("enum"):
        for example in schema.get("examples", ()):
            written = json.dumps(example, ensure_ascii=False)
            skeleton = "" if isinstance(example, str) else escape(written)
            yield _Offer(
                example if skeleton == "" else written,
                "value",
                "an example",
                value=example,
                skeleton=skeleton,
            )


def _stage_values(asked: _Asked) -> Iterator[_Offer]:
    for name, told in asked.known.shared_names().items():
        yield _Offer(name, "list", "shared pipeline", told, value=name)
    for one in _stage_keys(asked):
        yield _in_braces(one)


def _in_braces(one: _Offer) -> _Offer:
    return one._replace(skeleton=f'{{"{escape(one.label)}": {one.follows}}}')


def _expression_values(asked: _Asked) -> Iterator[_Offer]:
    typed = asked.cursor.typed if asked.cursor.quoted else ""
    if typed.startswith("$$") and "." in typed:
        yield from _fields_of_variable(asked, typed)
        return
    if asked.way.stretches:
        found = found_at(asked.value, asked.way.stretches[-1], asked.cursor.path, asked.before(), "$_")
        yield from (one._replace(label=f"${one.label}") for one in _fields(found, typed.lstrip("$"), "$"))
    if typed[:2] in ("", "$", "$$"):
        for name, told in variables_at(asked.value, asked.cursor.path, asked.cursor.body.kind).items():
            yield _Offer(f"$${name}", "variable", told, value=f"$${name}")
    yield from map(_in_braces, _expression_keys(asked))


def _fields_of_variable(asked: _Asked, typed: str) -> Iterator[_Offer]:
    name, _, rest = typed.partition(".")
    if not asked.way.stretches:
        return
    found = found_at(asked.value, asked.way.stretches[-1], asked.cursor.path, asked.before(), name)
    for one in _fields(found, rest, f"{name}."):
        yield one._replace(label=f"{name}.{one.label}")


def _words(asked: _Asked) -> Iterator[_Offer]:
    yield from (_Offer(word, "value", value=word) for word in WORDS[asked.way.slot.name])


def _projection_values(asked: _Asked) -> Iterator[_Offer]:
    for flag, told in ((1, "kept"), (0, "left out")):
        yield _Offer(str(flag), "value", told, value=flag)
    yield from _expression_values(asked)


def _accumulator_values(asked: _Asked) -> Iterator[_Offer]:
    yield from map(_in_braces, _accumulator_keys(asked))


def _window_values(asked: _Asked) -> Iterator[_Offer]:
    yield from map(_in_braces, _window_functions())


def _comparands(asked: _Asked) -> Iterator[_Offer]:
    slot = asked.way.slot
    if slot.quoted:
        yield from _values_of_rows(asked, slot.name)
        return
    found = [asked.before()]
    for part in slot.name.split("."):
        found = [inner[part] for one in found if part in (inner := fields_at(one, ()))]
    for shape in found:
        values = shape.items.traits.known if shape.items is not None else shape.traits.known
        yield from _values(values or ())


def _values_of_own_rows(asked: _Asked) -> Iterator[_Offer]:
    """The values that rows of the comment have in a column: of its table, else of the documents."""
    column, table = asked.way.slot.name, value_at(asked.value, ("id",))
    rows = asked.known.rows(table) if isinstance(table, str) else ()
    found = values_of_column(rows, column)
    shape = lookup(rows_shape(asked.value, asked.known), tuple(column.split(".")))
    yield from _values(found or shape.traits.known or ())


def _values(values: Iterable[Any]) -> Iterator[_Offer]:
    for value in order_values(values)[:_VALUES]:
        written = value if isinstance(value, str) else json.dumps(value)
        yield _Offer(written, "value", value=value)


def _condition_values(asked: _Asked) -> Iterator[_Offer]:
    yield from _comparands(asked)
    yield from map(_in_braces, _condition_keys(asked))


def _directions(asked: _Asked) -> Iterator[_Offer]:
    yield _Offer("1", "value", "from the smallest up", value=1)
    yield _Offer("-1", "value", "from the greatest down", value=-1)


def _field_values(asked: _Asked) -> Iterator[_Offer]:
    yield from _fields(asked.before(), asked.cursor.typed)


def _member_values(asked: _Asked) -> Iterator[_Offer]:
    """The names of fields of the object that an operator reads or changes a field of, which follow no dots."""
    above = asked.cursor.path[:-1]
    yield from (one for one in _fields_of_input(asked, above) if "." not in one.label)


def _operand_values(asked: _Asked) -> Iterator[_Offer]:
    if asked.way.slot.name == "$getField":
        yield from (one for one in _fields(asked.before(), asked.cursor.typed) if "." not in one.label)
    else:
        yield from _expression_values(asked)


def _argument_values(asked: _Asked) -> Iterator[_Offer]:
    """The whole of a document within arguments."""
    within = asked.way.slot.name
    if within in _LEAST:
        yield _Offer(
            f"{{{', '.join(argument_names(within))}}}",
            "key",
            skeleton=named_arguments(within, _LEAST[within]),
        )


_LEAST: Final = {
    "branch": ("case", "then"),
    "range": ("step", "bounds"),
    "fill": ("value",),
    "window": ("documents",),
}
"""What is mostly written of each document within arguments."""


def _unwound_values(asked: _Asked) -> Iterator[_Offer]:
    for one in _fields(asked.before(), asked.cursor.typed.lstrip("$"), "$"):
        yield one._replace(label=f"${one.label}")


def _foreign_fields(asked: _Asked) -> Iterator[_Offer]:
    collection = value_at(asked.value, (*asked.cursor.path[:-1], "from"))
    if isinstance(collection, str):
        yield from _fields(asked.known.shape(collection, ()), asked.cursor.typed)


def _collections(asked: _Asked) -> Iterator[_Offer]:
    for name, told in asked.known.collections().items():
        yield _Offer(name, "collection", told, value=name)


def _tables(asked: _Asked) -> Iterator[_Offer]:
    for name, told in asked.known.tables().items():
        yield _Offer(name, "table", told, value=name)


def _column_values(asked: _Asked) -> Iterator[_Offer]:
    if asked.way.slot.quoted:
        yield from _quoted_columns(asked)
        return
    used = asked.above if isinstance(asked.above, list) else []
    shown = ("chart", "baseline", "group_rows", "totals", "header_groups")
    own = _own_columns(asked) if asked.cursor.path[0] in shown else ()
    yield from (_Offer(name, "field", value=name) for name in own if name not in used)
    if not own:
        for one in _fields(rows_shape(asked.value, asked.known), asked.cursor.typed):
            if one.label not in used:
                yield one


def _quoted_columns(asked: _Asked) -> Iterator[_Offer]:
    """The columns of the table that a value or a statement quotes, and the other fields of its rows."""
    table = value_at(asked.value, ("table",))
    for name, told in asked.known.columns(table).items() if isinstance(table, str) else ():
        yield _Offer(name, "field", told, value=name)


def _values_of_rows(asked: _Asked, column: str) -> Iterator[_Offer]:
    table = value_at(asked.value, ("table",))
    rows = asked.known.rows(table) if isinstance(table, str) else ()
    yield from _values(values_of_column(rows, column))


def _sorted_values(asked: _Asked) -> Iterator[_Offer]:
    minus = "-" if asked.cursor.typed.startswith("-") else ""
    for one in _fields(asked.before(), asked.cursor.typed.removeprefix("-")):
        yield one._replace(value=f"{minus}{one.value}")


_VALUES_OF: Final[Mapping[str, Callable[[_Asked], Iterable[_Offer]]]] = {
    "schema": _schema_values,
    "stage": _stage_values,
    "expression": _expression_values,
    "projected": _projection_values,
    "operand": _operand_values,
    "arguments": _argument_values,
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
