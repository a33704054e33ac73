"""Hovers on keys, stages, operators, fields, values and tables of a comment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import Operator, OperatorKind
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.schemas import ResultField, field_at
from mongo_tables.files.folders import list_some
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.rules import RULES
from mongo_tables.jsontext.reader import value_at
from mongo_tables.jsontext.tokens import Token, read_tokens, unquote
from mongo_tables.lint.rule_context import quote
from mongo_tables.lint.shape.values import Shape, lookup
from mongo_tables.lsp.flows import (
    SYSTEM_VARIABLES,
    Spot,
    found_at,
    list_all_stages,
    rows_shape,
    spot_at,
    stages_before,
    tell_kinds,
    variables_at,
)
from mongo_tables.lsp.project import Knowledge, order_values, values_of_column
from mongo_tables.lsp.slots import Slot, Stretch, argument_names
from mongo_tables.lsp.typed_json import Body, read_value, token_at
from mongo_tables.render.column import column_value
from mongo_tables.render.markup import escape_cell
from mongo_tables.render.values import brief_text

_ROWS: Final = 12
"""The largest number of rows of a table that a hover shows."""
_VALUES: Final = 12
"""The largest number of values of a field that a hover shows."""
_DOCUMENTS: Final = 5
"""The largest number of documents behind a cell that a hover shows."""


@dataclass(frozen=True, slots=True)
class Hover:
    """The Markdown of a hover, and the offsets of the text that it describes."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _HoverContext:
    """A token, its text, and its place in the body."""

    token: Token
    word: str
    spot: Spot

    @property
    def known(self) -> Knowledge:
        return self.spot.known

    @property
    def value(self) -> Any:
        return self.spot.value

    @property
    def stretches(self) -> Sequence[Stretch]:
        """The pipelines around the token. For a token outside of the comment's pipeline, this is the whole
        pipeline.
        """
        return self.spot.way.stretches or list_all_stages(self.value)


def hover(text: str, body: Body, offset: int, known: Knowledge, start: Shape | None = None) -> Hover | None:
    """Return the hover at an offset of a body, or None."""
    token = token_at(text, body, offset)
    if token is None:
        return None
    word = unquote(text[token.start : token.end])
    value = read_value(text, read_tokens(text, body.start, body.end))
    path = token.path[:-1] if token.kind == "key" else token.path
    asked = _HoverContext(token, word, spot_at(path, body.kind, value, known, start))
    told = _tell_key(asked) if token.kind == "key" else _tell_value(asked)
    return Hover(token.start, token.end, told) if told else None


def hover_comment(body: Body, known: Knowledge, value: Any) -> str:
    """Return the hover of a whole comment: the value that it writes, or the rows of its table. Return "" if there
    are none.
    """
    name = value_at(value, ("table",) if body.kind in ("value", "check") else ("id",))
    if body.kind == "value":
        written = known.value_text(value)
        return f"writes **{escape_cell(written)}**" if written else ""
    return tell_table(name, known) if isinstance(name, str) else ""


def tell_table(name: str, known: Knowledge) -> str:
    """Return the first rows of a table as Markdown, or "" if there is no such table."""
    rows, columns = known.rows(name), known.columns(name)
    if not columns:
        return ""
    where = known.tables().get(name, "")
    shown = [column for column, told in columns.items() if told != "not shown"]
    table = _write_table([columns[column] for column in shown], shown, rows)
    more = f"\n\n… and {len(rows) - _ROWS} more rows" if len(rows) > _ROWS else ""
    return f"table `{name}` · {where}\n\n{table}{more}"


def _write_table(headers: Sequence[str], columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"| {' | '.join(map(_cell, headers))} |", "| --- " * len(columns) + "|"]
    for row in rows[:_ROWS]:
        cells = [column_value(row, column) for column in columns]
        texts = ("" if cell is MISSING else brief_text(cell) for cell in cells)
        lines.append(f"| {' | '.join(map(_cell, texts))} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return escape_cell(" ".join(text.split()))


# -- keys --


def _tell_key(asked: _HoverContext) -> str:
    slot = asked.spot.way.slot
    if asked.word.startswith("$"):
        return _tell_operator(asked.word, slot)
    if slot.role in ("schema", "baseline") or (slot.role == "pipeline" and slot.schema):
        about = slot.schema.get("properties", {}).get(asked.word)
        return _tell_schema(about) if isinstance(about, Mapping) else ""
    if slot.role == "query":
        path = ".".join(filter(None, (slot.name, asked.word)))
        return _tell_column(asked, path) if slot.quoted else _tell_field(asked, asked.spot.before(), path)
    if slot.role == "rules":
        return RULES[asked.word].summary if asked.word in RULES else ""
    if slot.role in ("projection", "computed", "groups", "windows", "facets"):
        return _tell_field(asked, asked.spot.behind(), asked.word)
    if slot.role in ("sort keys", "fills", "by column"):
        shape = rows_shape(asked.value, asked.known) if slot.role == "by column" else asked.spot.before()
        return _tell_field(asked, shape, asked.word)
    return ""


def _tell_schema(about: Mapping[str, Any]) -> str:
    return "\n\n".join(
        str(told)
        for told in (about.get("title"), about.get("markdownDescription") or about.get("description"))
        if told
    )


_KINDS_OF: Final[Mapping[str, Sequence[OperatorKind]]] = {
    "stage": ("stage",),
    "accumulator": ("accumulator", "expression"),
    "window": ("window", "accumulator"),
    "query": ("query",),
    "condition": ("query",),
}


def _tell_operator(name: str, slot: Slot) -> str:
    for kind in _KINDS_OF.get(slot.role, ("expression",)):
        operator = catalogue.find(kind, name)
        if operator is not None:
            return _describe(operator)
    return ""


def _describe(operator: Operator) -> str:
    facts = [f"[`{operator.name}`]({operator.manual})"]
    if operator.since:
        facts.append(f"since MongoDB {operator.since}")
    if operator.refused:
        facts.append(f"not run: {operator.refused}")
    lines = [" · ".join(facts)]
    if names := argument_names(operator.name) if operator.kind != "query" else ():
        lines.append(f"takes {quote(names)}")
    if operator.gives != "any":
        lines.append(f"gives {operator.gives.replace('|', ' or ')}")
    return "\n\n".join(lines)


# -- values --


def _tell_value(asked: _HoverContext) -> str:
    slot, word = asked.spot.way.slot, asked.word
    if slot.role in ("expression", "operand", "projected", "unwound", "accumulator", "window"):
        return _tell_expression(asked) if word.startswith("$") else ""
    if slot.role == "stage" or (slot.role == "pipeline" and asked.token.kind == "string"):
        return _tell_list(word, asked.known)
    if slot.role == "table" or asked.token.path == ("id",):
        return tell_table(word, asked.known)
    if slot.role == "collection":
        return asked.known.collections().get(word, "")
    if slot.role == "column":
        if slot.quoted:
            return _tell_column(asked, word)
        told = _tell_field(asked, rows_shape(asked.value, asked.known), word)
        return "\n\n".join(filter(None, (told, _tell_lineage(asked, word))))
    if slot.role in ("field", "fields", "sorted"):
        return _tell_field(asked, asked.spot.before(), word.removeprefix("-"))
    return ""


def _tell_list(name: str, known: Knowledge) -> str:
    names = known.shared_names()
    if name not in names:
        return ""
    stages = [f"`{next(iter(stage))}`" for stage in known.shared(name).stages]
    return "\n\n".join(filter(None, (f"shared pipeline `{name}`", names[name], " → ".join(stages))))


def _tell_expression(asked: _HoverContext) -> str:
    word = asked.word
    if not asked.spot.way.stretches:
        return ""
    first, _, rest = word.partition(".") if word.startswith("$$") else ("$_", "", word[1:])
    found = found_at(asked.value, asked.spot.way.stretches[-1], asked.token.path, asked.spot.before(), first)
    name = first.removeprefix("$$")
    if word.startswith("$$") and not rest:
        told = variables_at(asked.value, asked.token.path, asked.spot.kind).get(name, "")
        kinds = "" if name in SYSTEM_VARIABLES else tell_kinds(found)
        return " · ".join(filter(None, (f"`{word}`", kinds, told)))
    return _tell_field(asked, found, rest, called=word)


def _tell_field(asked: _HoverContext, shape: Shape, path: str, called: str = "") -> str:
    """Return the kinds, the meaning and the values of a field, as far as they are known."""
    found = lookup(shape, tuple(path.split(".")))
    if found.absent:
        return f"`{called or path}` · no document has it at this stage"
    traits = found.traits
    kinds = tell_kinds(found)
    lines = [" · ".join(filter(None, (f"`{called or path}`", kinds)))]
    meaning = _find_meaning(asked, traits.path) if traits.path else None
    if said := _said_by_lists(asked, path):
        lines.append(said)
    elif meaning is not None:
        unit = f" ({meaning.unit})" if meaning.unit not in ("", "1") else ""
        lines.append(f"{meaning.title}{unit}: {meaning.description}")
    values = traits.known if traits.known is not None else found.items.traits.known if found.items else None
    if values:
        stages = stages_before(asked.value, asked.spot.way.stretches, asked.known)
        may_drop = " (earlier stages may drop some)" if any(map(_DROPPING.intersection, stages)) else ""
        lines.append(f"values{may_drop}: {_list_values(values)}")
    return "\n\n".join(lines) if len(lines) > 1 or kinds else ""


def _tell_lineage(asked: _HoverContext, column: str) -> str:
    """Return the documents, fields and stages behind the column's cell in the first row, and a command that lists
    them all.
    """
    traced = asked.known.lineage(asked.value, column)
    if traced is None:
        return ""
    told = [f"first row: **{_cell(brief_text(traced.value))}**, from"]
    for collection, of in traced.read.items():
        ids = [f"`{brief_text(one.get('_id'))}`" for name, one in traced.documents if name == collection]
        few = "" if traced.minimal else "at most "
        named = f": `_id` {list_some(ids, _DOCUMENTS)}" if ids else ""
        told.append(f"* {few}{len(ids)} of {format_count(of, 'document')} of `{collection}`{named}")
    if traced.fields:
        told.append(f"* {'fields' if len(traced.fields) > 1 else 'the field'} {quote(traced.fields)}")
    told += [f"* stage {one.number}, {one.name}, which makes `{one.field}`" for one in traced.stages]
    command = f"mongo-tables explain {traced.file}:{traced.line} --cell 1 {column}"
    return "\n".join(told) + f"\n\n`{command}` lists all"


_DROPPING: Final = frozenset(("$match", "$limit", "$skip", "$sample", "$redact"))
"""The stages that may drop documents."""


def _said_by_lists(asked: _HoverContext, path: str) -> str:
    """Return the description of a field by the shared pipeline that last creates it before the position, or ""."""
    for stretch in reversed(asked.stretches):
        written = value_at(asked.value, stretch.path)
        before = written[: stretch.number] if isinstance(written, list) else ()
        for name in reversed([one for one in before if isinstance(one, str)]):
            if said := asked.known.shared(name).fields.get(path):
                return said
    return ""


def _find_meaning(asked: _HoverContext, path: str) -> ResultField | None:
    """Return the meaning of a field of benchmark results, or None for other fields and documents."""
    collection = value_at(asked.value, ("collection",))
    results = isinstance(collection, str) and asked.known.has_results(collection)
    return field_at(path) if results else None


def _list_values(values: frozenset[Any]) -> str:
    shown = [f"`{json.dumps(value, ensure_ascii=False)}`" for value in order_values(values)]
    return list_some(shown, _VALUES)


def _tell_column(asked: _HoverContext, column: str) -> str:
    """Return the hover of a column of the table that a value or a statement quotes."""
    table = value_at(asked.value, ("table",))
    if table is None and value_at(asked.value, ("collection",)):
        return _tell_field(asked, rows_shape(asked.value, asked.known), column)
    told = asked.known.columns(table).get(column) if isinstance(table, str) else None
    if told is None or not isinstance(table, str):
        return ""
    plain = values_of_column(asked.known.rows(table), column)
    heading = f"`{column}` of table `{table}`: {told}"
    return f"{heading}\n\nvalues: {_list_values(plain)}" if plain else heading
