"""What may be written at a place of a comment: what is known of the place, and its keys.

Keys are those of a comment, stages, operators, arguments and fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import Kind as OperatorKind
from mongo_tables.findings.rules import RULES
from mongo_tables.jsontext.reader import Path
from mongo_tables.lint.shape.values import Shape
from mongo_tables.lint.suppressions import may_be_ignored
from mongo_tables.lsp.arguments import argument_names
from mongo_tables.lsp.bodies import Cursor, value_at
from mongo_tables.lsp.flows import fields_at, found_at, rows_shape, shape_before, tell_kinds
from mongo_tables.lsp.knowledge import Knowledge
from mongo_tables.lsp.observed import has_more_fields
from mongo_tables.lsp.slots import Stretch, Way

Sort = Literal["key", "value", "field", "operator", "stage", "variable", "table", "list", "collection"]
"""What kind of thing is offered."""


class Offer(NamedTuple):
    """A name for a key, or a value, before it is known how it is to be written there.

    ``value`` is written where a value stands; where it ``opens``, an object whose first key is the label.
    """

    label: str
    sort: Sort
    remark: str = ""
    about: str = ""
    value: Any = None
    opens: bool = False


class Asked(NamedTuple):
    """A place with all that is known of it.

    ``certain`` is the value as far as its keys are surely neighbours of the place: of one behind an open key, up to it.
    """

    cursor: Cursor
    way: Way
    value: Any
    certain: Any
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

    @property
    def beside(self) -> set[str]:
        """The keys that stand beside the one that is typed; none where a value is typed."""
        if self.cursor.role != "key":
            return set()
        above = value_at(self.certain, self.cursor.path[:-1])
        own = self.cursor.path[-1] if self.cursor.token else None
        return {key for key in above if key != own} if isinstance(above, dict) else set()


def list_operators(kind: OperatorKind, sort: Sort) -> Iterator[Offer]:
    """The operators of a kind that run, each with the way to the manual."""
    for name in catalogue.names(kind):
        operator = catalogue.get(kind, name)
        if not operator.refused:
            since = f"since MongoDB {operator.since}" if operator.since else ""
            about = f"[`{name}` in MongoDB's manual]({operator.manual})"
            yield Offer(name, sort, since, about)


def list_fields(shape: Shape, typed: str, prefix: str = "") -> Iterator[Offer]:
    """The fields whose paths begin as typed, up to the next dot, and one level below that."""
    parts = typed.split(".")[:-1]
    above = "".join(f"{part}." for part in parts)
    found = fields_at(shape, parts)
    for name, inner in found.items():
        if name == "_" or "." in name or name.startswith("$"):
            continue
        path = f"{above}{name}"
        yield Offer(path, "field", tell_kinds(inner), value=f"{prefix}{path}")
        if not parts and len(found) <= _FEW_BESIDE:
            for below, deeper in _few_below(inner):
                yield Offer(f"{path}.{below}", "field", tell_kinds(deeper), value=f"{prefix}{path}.{below}")


_FEW_BESIDE: Final = 40
_FEW_BELOW: Final = 12
"""Fields below others are offered with them where there are at most so many of either."""


def _few_below(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The fields of a sub-document, where they are few: of one with many they come behind its dot."""
    if not has_more_fields(shape, _FEW_BELOW):
        yield from ((name, inner) for name, inner in shape.fields.items() if not inner.absent)


def own_columns(asked: Asked) -> list[str]:
    """The columns that the comment shows, as far as they are written."""
    found: list[str] = []
    for key in ("columns", "x", "y", "series", "facets"):
        written = value_at(asked.value, (key,))
        found += [
            one for one in (written if isinstance(written, list) else [written]) if isinstance(one, str)
        ]
    return list(dict.fromkeys(filter(None, found)))


def quoted_columns(asked: Asked) -> Iterator[Offer]:
    """The columns of the table that a value or a statement quotes, and the other fields of its rows."""
    table = value_at(asked.value, ("table",))
    for name, told in asked.known.columns(table).items() if isinstance(table, str) else ():
        yield Offer(name, "field", told, value=name)


def fields_of_input(asked: Asked, operator: Path) -> Iterator[Offer]:
    """The fields of what an operator has as its ``input``; of the document where that is left out."""
    written = value_at(asked.value, (*operator, "input")) or "$$CURRENT"
    if not asked.way.stretches or not isinstance(written, str) or not written.startswith("$"):
        return
    name, _, rest = written.partition(".") if written.startswith("$$") else ("$_", "", written[1:])
    stretch = asked.way.stretches[-1]
    found = found_at(asked.value, stretch, (*operator, "input"), asked.before(), name)
    inside = f"{rest}." if rest else ""
    for one in list_fields(found, inside + asked.cursor.typed):
        if one.label.startswith(inside):
            within = one.label.removeprefix(inside)
            yield one._replace(label=within, value=within)


_TOP_OF_QUERY: Final = (
    *("$and", "$or", "$nor", "$expr", "$comment", "$jsonSchema"),
    *("$alwaysTrue", "$alwaysFalse", "$sampleRate"),
)
_WHOLE_QUERY_ONLY: Final = ("$expr", "$sampleRate")
"""They are about a whole document, and so not for the elements of an array."""
_NOWHERE_IN_QUERIES: Final = "$rand"
"""It stands in an expression alone."""


def _schema_keys(asked: Asked) -> Iterator[Offer]:
    for name, about in asked.way.slot.schema.get("properties", {}).items():
        if isinstance(about, Mapping):
            yield Offer(name, "key", about.get("title", ""), _about(about))


def _about(schema: Mapping[str, Any]) -> str:
    return str(schema.get("markdownDescription") or schema.get("description") or "")


def _column_keys(asked: Asked) -> Iterator[Offer]:
    yield from (Offer(column, "field") for column in own_columns(asked))


def stage_keys(asked: Asked) -> Iterator[Offer]:
    """The stages that may stand at a place, each alone in its object."""
    if asked.beside:
        return
    stage_of = asked.way.stretches[-1:]
    begins = any(one.number == 0 and len(one.path) > 1 and _reads_nothing(asked, one) for one in stage_of)
    in_facet = any("$facet" in one.path for one in stage_of)
    left_out = {*(() if begins else ("$documents",)), *(("$facet",) if in_facet else ())}
    yield from (one for one in list_operators("stage", "stage") if one.label not in left_out)


def _reads_nothing(asked: Asked, stretch: Stretch) -> bool:
    """Whether a pipeline within a stage has no collection to read, so that it brings documents of its own."""
    return stretch.reads is not None and value_at(asked.value, stretch.reads) is None


def _fields(asked: Asked) -> Iterator[Offer]:
    return list_fields(asked.before(), asked.cursor.typed)


def _query_keys(asked: Asked) -> Iterator[Offer]:
    slot = asked.way.slot
    if slot.quoted:
        yield from quoted_columns(asked)
    else:
        inside = f"{slot.name}." if slot.name else ""
        for one in list_fields(asked.before(), inside + asked.cursor.typed):
            if one.label.startswith(inside):
                yield one._replace(label=one.label.removeprefix(inside))
    left_out = _WHOLE_QUERY_ONLY if slot.name else ()
    for one in list_operators("query", "operator"):
        if one.label in _TOP_OF_QUERY and one.label not in left_out:
            yield one


def condition_keys(asked: Asked) -> Iterator[Offer]:
    """The operators of a condition on a field, several of which may stand together."""
    left_out = {*_TOP_OF_QUERY, _NOWHERE_IN_QUERIES, *(() if "$regex" in asked.beside else ("$options",))}
    yield from (one for one in list_operators("query", "operator") if one.label not in left_out)


def _group_keys(asked: Asked) -> Iterator[Offer]:
    yield Offer("_id", "key", "what documents of a group have alike")


def accumulator_keys(asked: Asked) -> Iterator[Offer]:
    """The accumulators, each alone in its object."""
    if not asked.beside:
        yield from list_operators("accumulator", "operator")


def _window_keys(asked: Asked) -> Iterator[Offer]:
    beside = asked.beside
    if not any(key.startswith("$") for key in beside):
        left_out = _WITHOUT_WINDOW if "window" in beside else ()
        yield from (one for one in list_operators("window", "operator") if one.label not in left_out)
    if not beside & _WITHOUT_WINDOW:
        yield Offer("window", "key", "bounds of the window")


_WITHOUT_WINDOW: Final = frozenset(
    ("$rank", "$denseRank", "$documentNumber", "$shift", "$expMovingAvg", "$linearFill", "$locf")
)
"""The window functions that have a window of their own.
https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
"""


def expression_keys(asked: Asked) -> Iterator[Offer]:
    """The operators of expressions, each alone in its object."""
    if not asked.beside:
        yield from list_operators("expression", "operator")


def _operand_keys(asked: Asked) -> Iterator[Offer]:
    if argument_names(asked.way.slot.name):
        yield from _argument_keys(asked)
    elif asked.way.slot.name not in _WITHOUT_ARGUMENT:
        yield from expression_keys(asked)


_WITHOUT_ARGUMENT: Final = ("$rand", "$count", "$rank", "$denseRank", "$documentNumber")
"""They are written with ``{}``."""


def _argument_keys(asked: Asked) -> Iterator[Offer]:
    about = asked.way.slot.name
    beside = asked.beside
    left_out = {name for name, needed in _NEEDS.get(about, {}).items() if needed not in beside}
    for group in _ONE_OF.get(about, ()):
        left_out |= group if group & beside else set()
    for name in argument_names(about) or catalogue.find_arguments("stage", about):
        if name not in left_out:
            yield Offer(name, "key", f"argument of {about}")


_NEEDS: Final[Mapping[str, Mapping[str, str]]] = {"window": {"unit": "range"}, "$lookup": {"let": "pipeline"}}
"""Arguments that stand only beside another one."""
_ONE_OF: Final[Mapping[str, Sequence[frozenset[str]]]] = {
    "window": (frozenset(("documents", "range")),),
    "fill": (frozenset(("value", "method")),),
    "$fill": (frozenset(("partitionBy", "partitionByFields")),),
}
"""Arguments of which one alone may stand."""


def _element_keys(asked: Asked) -> Iterator[Offer]:
    """The fields of the elements of the array that is sorted."""
    return fields_of_input(asked, asked.cursor.path[:-2])


def _row_keys(asked: Asked) -> Iterator[Offer]:
    """The fields by whose values a row is named: the columns, and the other fields of rows."""
    names = dict.fromkeys(own_columns(asked))
    names |= dict.fromkeys(
        one.label for one in list_fields(rows_shape(asked.value, asked.known), asked.cursor.typed)
    )
    yield from (Offer(name, "field") for name in names)


def _rule_keys(asked: Asked) -> Iterator[Offer]:
    for rule in RULES.values():
        if may_be_ignored(rule.id, rule.severity):
            yield Offer(rule.id, "key", rule.name, rule.summary)


KEYS: Final[Mapping[str, Callable[[Asked], Iterable[Offer]]]] = {
    "schema": _schema_keys,
    "by column": _column_keys,
    "stage": stage_keys,
    "computed": _fields,
    "projection": _fields,
    "groups": _group_keys,
    "accumulator": accumulator_keys,
    "window": _window_keys,
    "expression": expression_keys,
    "projected": expression_keys,
    "operand": _operand_keys,
    "arguments": _argument_keys,
    "collection": _argument_keys,
    "unwound": _argument_keys,
    "query": _query_keys,
    "condition": condition_keys,
    "sort keys": _fields,
    "element sort keys": _element_keys,
    "fills": _fields,
    "pipeline": _schema_keys,
    "baseline": _schema_keys,
    "baseline row": _row_keys,
    "rules": _rule_keys,
}
