"""`$group`, `$sortByCount`, `$count`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mongo_tables.aggregation.accumulators.basic import Accumulator, Keeping, State, compile_accumulator
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.fields import Effect, Field, Order, Parts, StageRecord, paths_in
from mongo_tables.aggregation.limits import blocks, hold, is_counted, memory_of
from mongo_tables.aggregation.paths import OrderedDocument
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.stages.unwind import Column, Unwound, column_of, is_beside
from mongo_tables.aggregation.value_order import Key, key
from mongo_tables.aggregation.values import DOCUMENT, MISSING, Document, Evaluate, is_number, is_string

Fields = list[tuple[str, Accumulator, Path]]
_Group = tuple[Any, list[State]]
_Shared = tuple[Column, list[int]]
"""A column of values (see ``unwind.Column``), and the indexes of the accumulators that take these values."""
# The bytes of a group and of one of its accumulators, without their contents.
_GROUP, _STATE = 400, 150
# The memory of elements is counted less often than that of documents, because an element is only one value.
_ELEMENTS_FOR_DOCUMENT = 8


def _effect_of_group(argument: Any) -> Effect:
    fields = (Field((name,), (name,), expression=value) for name, value in argument.items())
    return Effect(fields=tuple(fields), only=True)


def _is_constant(key: Any) -> bool:
    """Return whether a key is the same for all documents."""
    if isinstance(key, DOCUMENT):
        return "$literal" in key or all(
            not str(name).startswith("$") and _is_constant(one) for name, one in key.items()
        )
    return not isinstance(key, (str, list, tuple)) or (isinstance(key, str) and not key.startswith("$"))


_GROUPING = StageRecord(
    _effect_of_group,
    order=Order.CHANCE,
    single=lambda argument: _is_constant(argument.get("_id")),
    rank=4,
)


@stage("$group", record=_GROUPING)
def group(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return one document for each value of ``_id``, in the order of first occurrence."""
    if not isinstance(argument, DOCUMENT):
        raise AggregationError("$group requires a document with an _id", path, 15947)
    if "_id" not in argument:
        message = "$group needs an _id: an expression, or null for one group of all"
        raise AggregationError(message, path, 15955)
    evaluate = _group_key(argument["_id"], scope, (*path, "_id"))
    specs = {name: spec for name, spec in argument.items() if name != "_id"}
    fields = compile_accumulators(specs, scope, path)
    operands = [operand for spec in specs.values() for operand in spec.values()]
    return Grouping(evaluate, fields, path, argument["_id"], operands).run


def _group_key(spec: Any, scope: Scope, path: Path) -> Evaluate:
    """Return the function that computes a document's group key.

    If the key is a document of one field, the function returns only the field's value, and the document is built
    after grouping. So null and missing are one group, and no key is an empty document. In keys of two or more fields,
    missing fields stay missing.
    """
    written = isinstance(spec, DOCUMENT) and bool(spec) and not next(iter(spec)).startswith("$")
    for name, value in spec.items() if written else ():
        # {_id: {x: 1}} looks like a projection: the server refuses it.
        if isinstance(value, bool) or is_number(value) or name.startswith("$"):
            message = f"'{name}' must be an expression here, such as '$field'"
            raise AggregationError(message, (*path, name), 17390)
    node = compile_expression(spec, scope, path)
    names, run = tuple(spec) if written else node.names, node.run
    if len(names) != 1:
        return run
    if written or scope.leading:
        return lambda document: run(document) or {names[0]: None}

    def evaluate(document: Document) -> Any:
        """Return the key that an expression such as ``{$cond: [true, {a: "$a"}, 0]}`` computes: a document of one
        field.
        """
        value = run(document)
        if not value:
            message = "a server returns either {} or null for this key, depending on the other stages"
            raise NotOffline(f"{message}: write the document of fields itself as the _id of a $group", path)
        return value

    return evaluate


def compile_accumulators(specs: Mapping[str, Any], scope: Scope, path: Path) -> Fields:
    """Return the accumulators with field names. Raises AggregationError for names the server refuses."""
    fields = []
    for name, spec in specs.items():
        where = (*path, name)
        if "." in name:
            raise AggregationError(f"'{name}' must not contain a dot", where, 40235)
        if name.startswith("$"):
            raise AggregationError(f"the field name '{name}' must not start with '$' here", where, 40236)
        operator = next(iter(spec), "") if isinstance(spec, DOCUMENT) else ""
        fields.append((name, compile_accumulator(spec, scope, where), (*where, operator)))
    return fields


class Grouping(NamedTuple):
    """A compiled `$group`: its key and its accumulators, and the specifications of both, if known."""

    evaluate: Evaluate
    fields: Fields
    path: Path
    key: Any = None
    operands: Sequence[Any] | None = None

    def run(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield a document for each group."""
        groups = _Groups(self)
        columns = self._columns(documents.path) if isinstance(documents, Unwound) else None
        if isinstance(documents, Unwound) and columns is not None:
            groups.add_arrays(documents, columns)
        else:
            groups.add_documents(documents)
        for value, states in groups:
            yield {"_id": value, **results(self.fields, states)}

    def _columns(self, unwound: Parts) -> list[_Shared] | None:
        """Return the columns from which accumulators take all elements of an array at once.

        Return None if an accumulator has no column.
        """
        if (
            self.operands is None
            or not is_beside(unwound, self.key)
            or not all(one.extends for _, one, _ in self.fields)
        ):
            return None
        places: dict[Any, list[int]] = {}
        for place, operand in enumerate(self.operands):
            places.setdefault(operand if isinstance(operand, str) else place, []).append(place)
        shared = []
        for among in places.values():
            evaluate = self.fields[among[0]][1].evaluate
            column = column_of(unwound, self.operands[among[0]], evaluate)
            if column is None:
                return None
            shared.append((column, among))
        return shared


class _Groups:
    """The groups of one run, in the order of first occurrence, each with its key and its states."""

    def __init__(self, grouping: Grouping) -> None:
        self._evaluate, self._fields, self._path = grouping.evaluate, grouping.fields, grouping.path
        self._by_key: dict[Key, _Group] = {}
        self._held = self._known = 0

    def __iter__(self) -> Iterator[_Group]:
        return iter(self._by_key.values())

    def add_documents(self, documents: Iterator[Document]) -> None:
        """Add documents, each to its group."""
        for block in blocks(documents, self._path):
            for document in block:
                group = self._group_of(document)
                add(self._fields, group[1], document)
            if is_counted(len(block)):
                self._count(len(block), group)

    def add_arrays(self, unwound: Unwound, columns: Sequence[_Shared]) -> None:
        """Add the elements of arrays. All elements of an array belong to one group."""
        waiting = 0
        for document, items in unwound.arrays():
            group = self._group_of(document)
            if items:
                for column, places in columns:
                    values = column(document, items)
                    for place in places:
                        group[1][place].extend(values)  # type: ignore[attr-defined]
            else:
                add(self._fields, group[1], document)
            waiting += len(items) or 1
            if is_counted(waiting // _ELEMENTS_FOR_DOCUMENT):
                self._count(waiting, group)
                waiting = 0

    def _group_of(self, document: Document) -> _Group:
        value = self._evaluate(document)
        if value is MISSING:
            value = None
        elif type(value) is OrderedDocument:
            value = {**value}
        try:
            found = key(value)
            group = self._by_key.get(found)
            if group is None:
                group = self._by_key[found] = value, start(self._fields, value)
            return group
        except AggregationError as error:
            raise error.at(self._path) from None

    def _count(self, number: int, last: _Group) -> None:
        """Count the memory of ``number`` documents. The last document belongs to the group ``last``."""
        begun, self._known = len(self._by_key) - self._known, len(self._by_key)
        each = _GROUP + memory_of(last[0]) + _STATE * len(self._fields)
        self._held = hold(self._held, begun * each, self._path)
        self._held = hold(self._held, growth(number, last[1]), self._path)


def add(fields: Fields, states: list[State], document: Document) -> None:
    """Add a document to the states of a group."""
    for (_, accumulator, path), state in zip(fields, states, strict=True):
        try:
            state.add(accumulator.evaluate(document))
        except AggregationError as error:
            raise error.at(path) from None


def growth(number: int, states: list[State]) -> int:
    """Estimate the growth in bytes of the states of all groups after ``number`` documents.

    ``states``: the states of the last document's group, from which the growth is estimated.
    """
    return sum(state.measure_growth(number) for state in states if isinstance(state, Keeping))


def start(fields: Fields, value: Any) -> list[State]:
    """Return new states for a group whose key is ``value``."""
    root = value if isinstance(value, DOCUMENT) else {}
    states = []
    for _, accumulator, path in fields:
        try:
            states.append(accumulator.start(root))  # type: ignore[arg-type]
        except AggregationError as error:
            raise error.at(path) from None
    return states


def results(fields: Fields, states: list[State]) -> Document:
    """Return the accumulated fields of a group. A missing result becomes null."""
    output: Document = {}
    for (name, _, path), state in zip(fields, states, strict=True):
        try:
            value = state.result()
        except AggregationError as error:
            raise error.at(path) from None
        output[name] = None if value is MISSING else value
    return output


def _effect_of_counts(argument: Any) -> Effect:
    made = (Field((name,), None) for name in ("_id", "count"))
    return Effect(tuple(paths_in(argument)), tuple(made), only=True)


@stage("$sortByCount", record=StageRecord(_effect_of_counts, order=Order.SORTED))
def sort_by_count(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the number of documents for each value of an expression, the most frequent value first."""
    if is_string(argument):
        if not argument.startswith("$"):
            raise AggregationError("$sortByCount requires '$field' or an expression", path, 40148)
    elif not isinstance(argument, DOCUMENT):
        raise AggregationError("$sortByCount requires '$field' or an expression", path, 40149)
    elif not next(iter(argument), "").startswith("$"):
        raise AggregationError("$sortByCount requires an expression, not a document of fields", path, 40147)
    evaluate = _group_key(argument, scope, path)
    fields = compile_accumulators({"count": {"$sum": 1}}, scope, path)
    grouping = Grouping(evaluate, fields, path, argument, [1])
    return lambda documents: iter(sorted(grouping.run(documents), key=lambda row: -row["count"]))


_COUNT = StageRecord(
    lambda name: Effect(fields=(Field((name,), ()),), only=True),
    single=lambda _: True,
    watched=True,
)


@stage("$count", record=_COUNT)
def count(name: Any, scope: Scope, path: Path) -> Stage:
    """Return a document with the number of documents as the field ``name``, or no document if the number is 0."""
    if not is_string(name):
        raise AggregationError("$count requires a field name", path, 40156)
    if not name:
        raise AggregationError("$count needs a field name", path, 40157)
    for bad, code in (("\0", 40159), (".", 40160)):
        if bad in name:
            raise AggregationError("the field name of $count must contain neither a dot nor NUL", path, code)
    if name == "_id":
        raise AggregationError("$count cannot count into _id", path, 15948)
    if name.startswith("$"):
        raise AggregationError("the field name of $count must not start with '$'", path, 40158)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        found = sum(1 for _ in documents)
        return iter([{str(name): found}] if found else [])

    return run
