"""What is told of a place in a comment: of a key, a stage, an operator, a field, a value, a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import Kind as OperatorKind
from mongo_tables.aggregation.catalogue import Operator
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.schemas.result_fields import Field, field_at
from mongo_tables.files.text import list_some
from mongo_tables.findings.rules import RULES
from mongo_tables.lint.shape.values import Shape, lookup
from mongo_tables.lsp.arguments import (
    argument_names,
    kind_at,
    kind_of_argument,
    may_be_left_out,
    tell_form,
    tell_kind,
)
from mongo_tables.lsp.bodies import Body, read_value, token_at, value_at
from mongo_tables.lsp.flows import (
    SYSTEM_VARIABLES,
    found_at,
    keeps_documents,
    list_all_stages,
    rows_shape,
    shape_before,
    stages_before,
    tell_kinds,
    variables_at,
)
from mongo_tables.lsp.knowledge import Knowledge, order_values, values_of_column
from mongo_tables.lsp.remaining_values import Values, leave
from mongo_tables.lsp.slots import Slot, Stretch, Way, way_to
from mongo_tables.lsp.tokens import Token, read_tokens, unquote
from mongo_tables.render.column import column_value
from mongo_tables.render.markdownescape import escape_cell
from mongo_tables.render.values import brief_text

_ROWS: Final = 12
"""So many rows of a table are shown."""
_VALUES: Final = 12
"""So many values of a field are shown."""


class Hover(NamedTuple):
    """What is told, in Markdown, of what stands between two offsets."""

    start: int
    end: int
    told: str


class _Asked(NamedTuple):
    """A token of a body with all that is known of its place."""

    token: Token
    word: str
    way: Way
    value: Any
    known: Knowledge
    start: Shape | None
    kind: str

    def before(self) -> Shape:
        """What documents look like before the stage."""
        if self.way.stretches:
            return shape_before(self.value, self.way.stretches, self.known, self.start)
        return rows_shape(self.value, self.known)

    def behind(self) -> Shape:
        """What documents look like behind the stage."""
        *around, own = self.way.stretches
        through = (*around, own._replace(number=own.number + 1))
        return shape_before(self.value, through, self.known, self.start)


def hover(text: str, body: Body, offset: int, known: Knowledge, start: Shape | None = None) -> Hover | None:
    """What is told of a place of a body; None where there is nothing to tell."""
    token = token_at(text, body, offset)
    if token is None:
        return None
    word = unquote(text[token.start : token.end])
    value = read_value(text, read_tokens(text, body.start, body.end))
    path = token.path[:-1] if token.kind == "key" else token.path
    if path[:1] == ("where",) and isinstance(value, dict):
        value = {**value, "where": {}}  # A condition says nothing of what it is asked of.
    asked = _Asked(token, word, way_to(body.kind, path), value, known, start, body.kind)
    told = _tell_key(asked) if token.kind == "key" else _tell_value(asked)
    return Hover(token.start, token.end, told) if told else None


def hover_comment(body: Body, known: Knowledge, value: Any) -> str:
    """What is told of a comment as a whole: the value that it writes, or the rows of its table."""
    name = value_at(value, ("table",) if body.kind in ("value", "check") else ("id",))
    if body.kind == "value":
        written = known.value_text(value)
        return f"writes **{escape_cell(written)}**" if written else ""
    return tell_table(name, known) if isinstance(name, str) else ""


def tell_table(name: str, known: Knowledge) -> str:
    """The first rows of a table, in Markdown."""
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


def _tell_key(asked: _Asked) -> str:
    slot = asked.way.slot
    if asked.word.startswith("$"):
        return _tell_operator(asked.word, slot)
    if slot.role in ("schema", "baseline") or (slot.role == "pipeline" and slot.schema):
        about = slot.schema.get("properties", {}).get(asked.word)
        return _tell_schema(about) if isinstance(about, Mapping) else ""
    if slot.role == "query":
        path = ".".join(filter(None, (slot.name, asked.word)))
        return _tell_column(asked, path) if slot.quoted else _tell_field(asked, asked.before(), path)
    if slot.role in ("arguments", "operand") and asked.word in argument_names(slot.name):
        kind = tell_kind(kind_of_argument(slot.name, asked.word))
        return f"`{asked.word}` · {kind}" if kind else ""
    if slot.role == "rules":
        return RULES[asked.word].summary if asked.word in RULES else ""
    if slot.role in ("projection", "computed", "groups", "windows", "facets"):
        return _tell_field(asked, asked.behind(), asked.word)
    if slot.role in ("sort keys", "fills", "by column"):
        shape = rows_shape(asked.value, asked.known) if slot.role == "by column" else asked.before()
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
    names = argument_names(operator.name) if operator.style != "array" and operator.kind != "query" else ()
    if names:
        lines += [_tell_argument(operator, name) for name in names]
    elif operator.style == "array":
        lines.append(f"takes {_count(operator)}")
    elif form := tell_form(operator):
        lines.append(form)
    if operator.gives != "any":
        lines.append(f"gives {operator.gives.replace('|', ' or ')}")
    return "\n\n".join([lines[0], "\n".join(lines[1:])]) if len(lines) > 1 else lines[0]


def _tell_argument(operator: Operator, name: str) -> str:
    kind = tell_kind(kind_of_argument(operator.name, name))
    optional = " (may be left out)" if may_be_left_out(operator, name) else ""
    return f"- `{name}`{f': {kind}' if kind else ''}{optional}"


def _count(operator: Operator) -> str:
    """The arguments of an operator in order; of one that takes any number, how many at least."""
    if operator.most is None:
        kind = tell_kind(kind_at(operator, max(operator.least, 1)))
        return f"at least {operator.least}, any number{f' of {kind}' if kind else ''}"
    places = [kind_at(operator, place).replace("|", " or ") for place in range(operator.most)]
    optional = [f"{kind} (may be left out)" for kind in places[operator.least :]]
    return f"[{', '.join((*places[: operator.least], *optional))}]"


# -- values --


def _tell_value(asked: _Asked) -> str:
    slot, word = asked.way.slot, asked.word
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
        return _tell_field(asked, rows_shape(asked.value, asked.known), word)
    if slot.role in ("field", "fields", "sorted"):
        return _tell_field(asked, asked.before(), word.removeprefix("-"))
    return ""


def _tell_list(name: str, known: Knowledge) -> str:
    names = known.shared_names()
    if name not in names:
        return ""
    stages = [f"`{next(iter(stage))}`" for stage in known.shared(name)]
    return "\n\n".join(filter(None, (f"shared pipeline `{name}`", names[name], " → ".join(stages))))


def _tell_expression(asked: _Asked) -> str:
    word = asked.word
    if not asked.way.stretches:
        return ""
    first, _, rest = word.partition(".") if word.startswith("$$") else ("$_", "", word[1:])
    found = found_at(asked.value, asked.way.stretches[-1], asked.token.path, asked.before(), first)
    name = first.removeprefix("$$")
    if word.startswith("$$") and not rest:
        told = variables_at(asked.value, asked.token.path, asked.kind).get(name, "")
        kinds = "" if name in SYSTEM_VARIABLES else tell_kinds(found)
        return " · ".join(filter(None, (f"`{word}`", kinds, told)))
    return _tell_field(asked, found, rest, called=word)


def _tell_field(asked: _Asked, shape: Shape, path: str, called: str = "") -> str:
    """What is known of a field: its kinds, in how many documents it is, what it means, and its values."""
    found = lookup(shape, tuple(path.split(".")))
    if found.absent:
        return f"`{called or path}` · no document has it here"
    traits = found.traits
    heading = [f"`{called or path}`", tell_kinds(found)]
    if traits.path == path and _reads_documents(asked):
        heading.append(_tell_share(asked, path))
    lines = [" · ".join(filter(None, heading))]
    meaning = _find_meaning(asked, traits.path) if traits.path else None
    if said := _said_by_lists(asked, path):
        lines.append(said)
    elif meaning is not None:
        unit = f" ({meaning.unit})" if meaning.unit not in ("", "1") else ""
        lines.append(f"{meaning.title}{unit}: {meaning.description}")
    values = traits.known if traits.known is not None else found.items.traits.known if found.items else None
    if values:
        lines.append(_tell_values(values, asked, shape, path, unchanged=traits.path == path))
    return "\n\n".join(lines) if len(lines) > 1 or heading[1] else ""


def _tell_values(values: Values, asked: _Asked, shape: Shape, path: str, *, unchanged: bool) -> str:
    """The values of a field that stages before the place leave; ``unchanged``: it is that of the collection."""
    parts = tuple(path.split("."))
    listed = any("array" in lookup(shape, parts[:depth]).kinds for depth in range(1, len(parts) + 1))
    stages = stages_before(asked.value, asked.way.stretches, asked.known)
    left = leave(values, path, stages, unchanged=unchanged and not listed)
    if not left.values:
        return "values: none that the stages before leave"
    may_drop = " (stages before may drop some)" if left.fewer else ""
    return f"values{may_drop}: {_list_values(left.values)}"


def _stretches(asked: _Asked) -> Sequence[Stretch]:
    """The pipelines on the way to a place; of a place behind its pipeline, all of that."""
    return asked.way.stretches or list_all_stages(asked.value)


def _reads_documents(asked: _Asked) -> bool:
    return keeps_documents(asked.value, _stretches(asked), asked.known)


def _said_by_lists(asked: _Asked, path: str) -> str:
    """What a field means as the last shared list says it that makes it before the place."""
    for stretch in reversed(_stretches(asked)):
        written = value_at(asked.value, stretch.path)
        before = written[: stretch.number] if isinstance(written, list) else ()
        for name in reversed([one for one in before if isinstance(one, str)]):
            if said := asked.known.meanings(name).get(path):
                return said
    return ""


def _find_meaning(asked: _Asked, path: str) -> Field | None:
    """What a field of benchmark results means; None of other documents."""
    collection = value_at(asked.value, ("collection",))
    results = isinstance(collection, str) and asked.known.has_results(collection)
    return field_at(path) if results else None


def _tell_share(asked: _Asked, path: str) -> str:
    """In how many of the documents a field of the collection is; stages before the place may leave fewer of them."""
    collection = value_at(asked.value, ("collection",))
    if not isinstance(collection, str):
        return ""
    present, among = asked.known.share(collection, path)
    may_be_fewer = bool(stages_before(asked.value, asked.way.stretches, asked.known))
    of = f" of `{collection}`" if may_be_fewer else ""
    return f"in {present} of {among} documents{of}" if among else ""


def _list_values(values: frozenset[Any]) -> str:
    shown = [f"`{json.dumps(value, ensure_ascii=False)}`" for value in order_values(values)]
    return list_some(shown, _VALUES)


def _tell_column(asked: _Asked, column: str) -> str:
    """A column of the table that a value or a statement quotes."""
    table = value_at(asked.value, ("table",))
    told = asked.known.columns(table).get(column) if isinstance(table, str) else None
    if told is None or not isinstance(table, str):
        return ""
    plain = values_of_column(asked.known.rows(table), column)
    heading = f"`{column}` of table `{table}`: {told}"
    return f"{heading}\n\nvalues: {_list_values(plain)}" if plain else heading
