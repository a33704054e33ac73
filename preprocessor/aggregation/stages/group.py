"""`$group`, `$sortByCount`, `$count`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bson.int64 import Int64
from bson.objectid import ObjectId

from preprocessor.aggregation.accumulators.registry import Accumulator, Keeping, State, compile_accumulator
from preprocessor.aggregation.compiler import Node, Scope, Stage, compile_expression, stage
from preprocessor.aggregation.errors import AggregationError, NotOffline, Path
from preprocessor.aggregation.fieldorder import OrderedDocument
from preprocessor.aggregation.fields import Effect, Field, Order, StageRecord, paths_in
from preprocessor.aggregation.meter import blocks, check_key, hold, is_counted
from preprocessor.aggregation.ordering import Key, key, key_of_checked
from preprocessor.aggregation.plancache import content_key
from preprocessor.aggregation.sizes import memory_of
from preprocessor.aggregation.values import MISSING, Document, Evaluate, is_number, is_string

Fields = list[tuple[str, Accumulator, Path]]
_Group = tuple[Any, list[State]]
# Bytes of a group and of one of its accumulators, beside what they hold.
_GROUP, _STATE = 400, 150
# A document of such values is no larger than what they were read from, or was measured when it was made.
_FLAT = frozenset({str, int, float, bool, type(None), Int64, datetime, ObjectId})


def _effect_of_group(argument: Any) -> Effect:
    fields = [Field((name,), (name,), expression=value) for name, value in argument.items()]
    return Effect(fields=tuple(one._replace(always=one.parts == ("_id",)) for one in fields), only=True)


def _is_constant(key: Any) -> bool:
    """Whether a key is one and the same for all documents."""
    if isinstance(key, Mapping):
        return "$literal" in key or all(
            not str(name).startswith("$") and _is_constant(one) for name, one in key.items()
        )
    return not isinstance(key, (str, list, tuple)) or (isinstance(key, str) and not key.startswith("$"))


_GROUPING = StageRecord(
    _effect_of_group,
    order=lambda _: Order.CHANCE,
    single=lambda argument: _is_constant(argument.get("_id")),
    rank=4,
)


@stage("$group", record=_GROUPING)
def group(argument: Any, scope: Scope, path: Path) -> Stage:
    """One document for each value of ``_id``, in the order in which the values first come."""
    if not isinstance(argument, Mapping):
        raise AggregationError("$group takes a document with an _id", path, 15947)
    if "_id" not in argument:
        raise AggregationError(
            "$group needs an _id: an expression, or null for one group of all", path, 15955
        )
    evaluate = _group_key(argument["_id"], scope, (*path, "_id"))
    fields = compile_accumulators(
        {name: spec for name, spec in argument.items() if name != "_id"}, scope, path
    )

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return _group(documents, evaluate, fields, path)

    return run


def _group_key(spec: Any, scope: Scope, path: Path) -> Evaluate:
    """The key of a document's group.

    A document of one field is made of the field's value once the groups are told apart, and null and missing are one
    group: no key is an empty document. With two fields and more, missing ones stay missing.
    """
    if isinstance(spec, Mapping) and spec and not next(iter(spec)).startswith("$"):
        _check_no_flags(spec, path)
        evaluate = compile_expression(spec, scope, path).run
        return _of_one_field(next(iter(spec)), evaluate) if len(spec) == 1 else evaluate
    node = compile_expression(spec, scope, path)
    if len(node.names) != 1:
        return node.run
    return _compile_simplified_key(node, scope, path)


def _of_one_field(name: str, evaluate: Evaluate) -> Evaluate:
    return lambda document: evaluate(document) or {name: None}


def _compile_simplified_key(node: Node, scope: Scope, path: Path) -> Evaluate:
    """The key where the expression comes down to a document of one field, as ``{$cond: [true, {a: "$a"}, 0]}`` does."""
    if scope.leading:
        return _of_one_field(node.names[0], node.run)

    def evaluate(document: Document) -> Any:
        value = node.run(document)
        if not value:
            message = "a server makes either {} or a null of this key, depending on the stages around"
            raise NotOffline(f"{message}: write the document of fields itself as the _id of a $group", path)
        return value

    return evaluate


def _check_no_flags(spec: Mapping[str, Any], path: Path) -> None:
    # {_id: {x: 1}} reads like a projection; the server refuses it rather than grouping by the constant 1.
    for name, value in spec.items():
        if isinstance(value, bool) or is_number(value) or name.startswith("$"):
            raise AggregationError(
                f"'{name}' is not an expression of a field: '$field'", (*path, name), 17390
            )


def compile_accumulators(specs: Mapping[str, Any], scope: Scope, path: Path) -> Fields:
    """The accumulators beside their field names. Raises AggregationError for names the server refuses."""
    fields = []
    for name, spec in specs.items():
        where = (*path, name)
        if "." in name:
            raise AggregationError(f"'{name}' must not hold a dot", where, 40235)
        if name.startswith("$"):
            raise AggregationError(f"'{name}' is a field name here and must not start with '$'", where, 40236)
        operator = next(iter(spec), "") if isinstance(spec, Mapping) else ""
        fields.append((name, compile_accumulator(spec, scope, where), (*where, operator)))
    return fields


def _group(
    documents: Iterator[Document], evaluate: Evaluate, fields: Fields, path: Path
) -> Iterator[Document]:
    groups = _Groups(fields)
    evaluates = [accumulator.evaluate for _, accumulator, _ in fields]
    held = known = 0
    for block in blocks(documents, path):
        for document in block:
            value = evaluate(document)
            if value is MISSING:
                value = None
            elif type(value) is OrderedDocument:
                value = {**value}
            try:
                entry = groups.of(value)
            except AggregationError as error:
                raise error.at(path) from None
            try:
                for state, evaluate_field in zip(entry[1], evaluates, strict=True):
                    state.add(evaluate_field(document))
            except AggregationError as error:
                raise error.at(_where(fields, entry[1], state)) from None
        if is_counted(block):
            begun, known = len(groups) - known, len(groups)
            held = hold(held, begun * (_GROUP + memory_of(value) + _STATE * len(fields)), path)
            held = hold(held, growth(block, entry[1]), path)
    for value, states in groups:
        yield {"_id": value, **results(fields, states)}


class _Groups:
    """The groups of one run, in the order in which they first came: the key of each, and its states.

    Documents as keys are often the same to the byte, which is found out sooner than what the server takes for equal.
    """

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._by_key: dict[Key, _Group] = {}
        self._by_content: dict[bytes, _Group] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[_Group]:
        return iter(self._by_key.values())

    def of(self, value: Any) -> _Group:
        """The group of a key; a new one where none is equal."""
        if type(value) is dict:
            if not _FLAT.issuperset(map(type, value.values())):
                check_key(value)
            content = content_key(value)
        else:
            content = b""
        known = self._by_content.get(content)
        if known is not None:
            return known
        found = key_of_checked(value) if content else key(value)
        group = self._by_key.get(found)
        if group is None:
            group = self._by_key[found] = value, start(self._fields, value)
        if content:
            self._by_content[content] = group
        return group


def growth(block: Sequence[Document], states: list[State]) -> int:
    """About how much the states of all groups grew with a block, by what its last document gave to its group."""
    return sum(state.measure_growth(len(block)) for state in states if isinstance(state, Keeping))


def _where(fields: Fields, states: list[State], failed: State) -> Path:
    return next(path for (_, _, path), state in zip(fields, states, strict=True) if state is failed)


def start(fields: Fields, value: Any) -> list[State]:
    """New states for a group whose key is ``value``."""
    root = value if isinstance(value, Mapping) else {}
    states = []
    for _, accumulator, path in fields:
        try:
            states.append(accumulator.start(root))  # type: ignore[arg-type]
        except AggregationError as error:
            raise error.at(path) from None
    return states


def results(fields: Fields, states: list[State]) -> Document:
    """The accumulated fields of a group; null for a result that is missing."""
    output: Document = {}
    for (name, _, path), state in zip(fields, states, strict=True):
        try:
            value = state.result()
        except AggregationError as error:
            raise error.at(path) from None
        output[name] = None if value is MISSING else value
    return output


def _effect_of_counts(argument: Any) -> Effect:
    made = (Field((name,), None, always=True) for name in ("_id", "count"))
    return Effect(tuple(paths_in(argument)), tuple(made), only=True)


@stage("$sortByCount", record=StageRecord(_effect_of_counts, order=lambda _: Order.SORTED))
def sort_by_count(argument: Any, scope: Scope, path: Path) -> Stage:
    """How many documents there are for each value of an expression, the most frequent first."""
    _check_counted(argument, path)
    evaluate = _group_key(argument, scope, path)
    fields = compile_accumulators({"count": {"$sum": 1}}, scope, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return iter(sorted(_group(documents, evaluate, fields, path), key=lambda row: -row["count"]))

    return run


def _check_counted(argument: Any, path: Path) -> None:
    if is_string(argument):
        if not argument.startswith("$"):
            raise AggregationError("$sortByCount takes '$field' or an expression", path, 40148)
    elif not isinstance(argument, Mapping):
        raise AggregationError("$sortByCount takes '$field' or an expression", path, 40149)
    elif not next(iter(argument), "").startswith("$"):
        raise AggregationError("$sortByCount takes an expression, not a document of fields", path, 40147)


def _effect_of_count(argument: Any) -> Effect:
    return Effect(fields=(Field((argument,), (), always=True),), only=True)


@stage("$count", record=StageRecord(_effect_of_count, single=lambda _: True))
def count(argument: Any, scope: Scope, path: Path) -> Stage:
    """The number of documents, under the given name; no document at all where there are none."""
    name = _count_name(argument, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        found = sum(1 for _ in documents)
        return iter([{name: found}] if found else [])

    return run


def _count_name(name: Any, path: Path) -> str:
    """The name, checked."""
    if not is_string(name):
        raise AggregationError("$count takes a field name", path, 40156)
    if not name:
        raise AggregationError("$count needs a field name", path, 40157)
    for bad, code in (("\0", 40159), (".", 40160)):
        if bad in name:
            raise AggregationError("the field name of $count must hold neither a dot nor NUL", path, code)
    if name == "_id":
        raise AggregationError("$count cannot count into _id", path, 15948)
    if name.startswith("$"):
        raise AggregationError("the field name of $count must not start with '$'", path, 40158)
    return str(name)
