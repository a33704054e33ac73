"""The keys that may be written at a place: of a comment, stages, operators, arguments, fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.aggregation import catalogue
from mongo_tables.editor.arguments import argument_names
from mongo_tables.editor.bodies import value_at
from mongo_tables.editor.flows import rows_shape
from mongo_tables.editor.offering import (
    Asked,
    Offer,
    fields_of_input,
    follow,
    list_fields,
    list_operators,
    own_columns,
    quoted_columns,
)
from mongo_tables.editor.skeletons import named_argument
from mongo_tables.editor.slots import Stretch
from mongo_tables.findings.rules import RULES
from mongo_tables.lint.suppressions import may_be_ignored

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
            yield Offer(name, "key", about.get("title", ""), _about(about), follows=follow(about))


def _about(schema: Mapping[str, Any]) -> str:
    return str(schema.get("markdownDescription") or schema.get("description") or "")


def _column_keys(asked: Asked) -> Iterator[Offer]:
    follows = follow(asked.way.slot.schema.get("additionalProperties") or {})
    for column in own_columns(asked):
        yield Offer(column, "field", follows=follows)


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


def _field_keys(follows: str) -> Callable[[Asked], Iterator[Offer]]:
    def keys(asked: Asked) -> Iterator[Offer]:
        yield from (one._replace(follows=follows) for one in list_fields(asked.before(), asked.cursor.typed))

    return keys


def _query_keys(asked: Asked) -> Iterator[Offer]:
    slot = asked.way.slot
    if slot.quoted:
        yield from (one._replace(follows="${1}") for one in quoted_columns(asked))
    else:
        inside = f"{slot.name}." if slot.name else ""
        for one in list_fields(asked.before(), inside + asked.cursor.typed):
            if one.label.startswith(inside):
                yield one._replace(label=one.label.removeprefix(inside), follows="${1}")
    left_out = _WHOLE_QUERY_ONLY if slot.name else ()
    for one in list_operators("query", "operator"):
        if one.label in _TOP_OF_QUERY and one.label not in left_out:
            yield one


def condition_keys(asked: Asked) -> Iterator[Offer]:
    """The operators of a condition on a field, several of which may stand together."""
    left_out = {*_TOP_OF_QUERY, _NOWHERE_IN_QUERIES, *(() if "$regex" in asked.beside else ("$options",))}
    yield from (one for one in list_operators("query", "operator") if one.label not in left_out)


def _group_keys(asked: Asked) -> Iterator[Offer]:
    yield Offer("_id", "key", "what documents of a group have alike", follows=r'"\$${1:field}"')


def accumulator_keys(asked: Asked) -> Iterator[Offer]:
    """The accumulators, each alone in its object."""
    if not asked.beside:
        yield from list_operators("accumulator", "operator")


def _window_keys(asked: Asked) -> Iterator[Offer]:
    beside = asked.beside
    if not any(key.startswith("$") for key in beside):
        left_out = _WITHOUT_WINDOW if "window" in beside else ()
        for one in window_functions():
            if one.label not in left_out:
                yield one._replace(follows=one.follows.removesuffix(_BOUNDED)) if "window" in beside else one
    if not beside & _WITHOUT_WINDOW:
        yield Offer(
            "window",
            "key",
            "bounds of the window",
            follows='{"documents": ["${1:unbounded}", "${2:current}"]}',
        )


_WITHOUT_WINDOW: Final = frozenset(
    ("$rank", "$denseRank", "$documentNumber", "$shift", "$expMovingAvg", "$linearFill", "$locf")
)
"""The window functions that have a window of their own.
https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
"""
_BOUNDED: Final = ', "window": {"documents": [-1, 0]}'


def window_functions() -> Iterator[Offer]:
    """The functions of windows; the one that cannot do without bounds has them beside it."""
    for one in list_operators("window", "operator"):
        yield one._replace(follows=one.follows + _BOUNDED) if one.label == "$derivative" else one


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
            yield Offer(name, "key", f"argument of {about}", follows=named_argument(about, name))


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
    for one in fields_of_input(asked, asked.cursor.path[:-2]):
        yield one._replace(follows="${1:1}")


def _row_keys(asked: Asked) -> Iterator[Offer]:
    """The fields by whose values a row is named: the columns, and the other fields of rows."""
    names = dict.fromkeys(own_columns(asked))
    names |= dict.fromkeys(
        one.label for one in list_fields(rows_shape(asked.value, asked.known), asked.cursor.typed)
    )
    yield from (Offer(name, "field", follows="${1}") for name in names)


def _rule_keys(asked: Asked) -> Iterator[Offer]:
    for rule in RULES.values():
        if may_be_ignored(rule.id, rule.severity):
            yield Offer(rule.id, "key", rule.name, rule.summary, follows='"${1:reason}"')


KEYS: Final[Mapping[str, Callable[[Asked], Iterable[Offer]]]] = {
    "schema": _schema_keys,
    "by column": _column_keys,
    "stage": stage_keys,
    "computed": _field_keys("${1}"),
    "projection": _field_keys("${1:1}"),
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
    "sort keys": _field_keys("${1:1}"),
    "element sort keys": _element_keys,
    "fills": _field_keys('{"value": ${1:0}}'),
    "pipeline": _schema_keys,
    "baseline": _schema_keys,
    "baseline row": _row_keys,
    "rules": _rule_keys,
}
