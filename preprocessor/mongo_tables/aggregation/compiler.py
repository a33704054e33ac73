"""Expressions, parsed once into closures.

``compile_expression`` turns an expression into a ``Node``: a function from the root document to a value. Names,
argument shapes and constant parts are settled here, so that a mistake is found before a document is read, and is
told with its path.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from bson.dbref import DBRef

from mongo_tables.aggregation import catalogue, paths, plancache
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path, refuse_unknown
from mongo_tables.aggregation.fieldorder import close_places
from mongo_tables.aggregation.fields import StageRecord, register_record
from mongo_tables.aggregation.meter import give_held_documents
from mongo_tables.aggregation.optimizer import leading_group, leading_joins, reorder, sort_limit
from mongo_tables.aggregation.plancache import content_key
from mongo_tables.aggregation.values import (
    MISSING,
    Document,
    Evaluate,
    date_from_millis,
    is_nullish,
    is_string,
    millis,
    type_name,
)


class Slot:
    """Where a variable's value stands while it is in scope: closures read it, ``$map`` and its like set it.

    ``fixed``: the value is there before the pipeline is compiled and stays.
    """

    __slots__ = ("fixed", "value")

    def __init__(self, value: Any = MISSING, *, fixed: bool = False) -> None:
        self.value = value
        self.fixed = fixed


_NO_DOCUMENT: Final = Slot()


class Context:
    """What a pipeline may read besides its documents: other collections, the time, seeds.

    ``asked`` counts how often something of it was read: what was compiled meanwhile is for this context alone.
    """

    __slots__ = ("_collections", "_now", "_seed", "asked")

    def __init__(self, collections: Mapping[str, Sequence[Document]], now: datetime, seed: int = 0) -> None:
        self._collections, self._now, self._seed = collections, now, seed
        self.asked = 0

    @property
    def collections(self) -> Mapping[str, Sequence[Document]]:
        """The documents of other collections, by name."""
        self.asked += 1
        return self._collections

    @property
    def now(self) -> datetime:
        """The time of ``$$NOW``."""
        self.asked += 1
        return self._now

    @property
    def seed(self) -> int:
        """Where random numbers begin."""
        self.asked += 1
        return self._seed


class Scope(NamedTuple):
    """The variables visible to an expression, and the context. ``slots`` maps a name to its value's place.

    ``leading``: the stage is a join or a group that leads the pipeline (see ``leading``). ``most``: how many
    documents are wanted of a sort, 0 for all. ``let``: the command's variables as they are written.
    """

    context: Context
    slots: Mapping[str, Slot] = MappingProxyType({})
    leading: bool = False
    most: int = 0
    let: Mapping[str, Any] = MappingProxyType({})

    def binding(self, *names: str) -> tuple[Scope, list[Slot]]:
        """A scope in which ``names`` are bound as well, and the new slots in that order."""
        fresh = [Slot() for _ in names]
        return Scope(self.context, {**self.slots, **dict(zip(names, fresh, strict=True))}), fresh

    def defining(self, name: str, expression: Any) -> Scope:
        """A scope in which ``name`` is the value of an expression that reads no document: the command's ``let``."""
        check_user_variable(name)
        nowhere = dict.fromkeys(("ROOT", "CURRENT"), _NO_DOCUMENT)
        node = compile_expression(expression, self._replace(slots={**self.slots, **nowhere}), ("let", name))
        return Scope(self.context, {**self.slots, name: Slot(node.run({}), fixed=True)})


class Node(NamedTuple):
    """A compiled expression. ``constant``: it reads no document and no variable, so ``run`` may be called once.

    ``field``: the dotted path when the expression is nothing but a field of the root document. ``names``: those of
    the fields when it is a document of fields, not all of them constant.
    """

    run: Evaluate
    constant: bool = False
    field: str | None = None
    names: tuple[str, ...] = ()


Form = Callable[[Any, Scope, Path], Node]
_FORMS: dict[str, Form] = {}


def constant(value: Any) -> Node:
    """The node that always gives ``value``."""
    return Node(lambda _: value, constant=True)


def compile_expression(expression: Any, scope: Scope, path: Path) -> Node:
    """The node for an aggregation expression.

    ``path`` is where the expression stands in the pipeline. Raises AggregationError with the exact path for what
    the server refuses to parse and for constant parts that cannot be computed, NotOffline for what is not covered.
    """
    if is_string(expression):
        return _string(expression, scope, path)
    if isinstance(expression, Mapping):
        return _document(expression, scope, path)
    if isinstance(expression, list | tuple):
        return _array(expression, scope, path)
    if isinstance(expression, DBRef):
        return _document(expression.as_doc(), scope, path)
    return constant(expression)


def _string(text: str, scope: Scope, path: Path) -> Node:
    if not text.startswith("$"):
        return constant(text)
    try:
        if text.startswith("$$"):
            return _variable(text[2:], scope)
        return field_path(paths.split(text[1:]), scope)
    except AggregationError as error:
        raise error.at(path) from None


def field_path(parts: tuple[str, ...], scope: Scope) -> Node:
    """The node that reads a field of ``$$CURRENT``, the root document unless something rebinds it."""
    current = scope.slots.get("CURRENT")
    if current is None:
        return Node(paths.getter(parts), field=".".join(parts))
    if current is _NO_DOCUMENT:
        raise _without_document(".".join(parts))
    get = paths.of_variable(parts)
    return Node(lambda _: get(current.value))


def _variable(text: str, scope: Scope) -> Node:
    name, _, rest = text.partition(".")
    check_variable_name(name)
    parts = paths.split(rest) if "." in text else ()
    node = _compile_variable(name, scope)
    if not parts:
        return node
    if node.field == "":
        return Node(paths.getter(parts), field=".".join(parts))
    get, slot, read = paths.of_variable(parts), scope.slots.get(name), node.run
    if node.constant:
        return constant(get(read({})))
    if slot is not None:
        return Node(_slot_reader(slot, parts))
    return Node(lambda document: get(read(document)))


def _slot_reader(slot: Slot, parts: tuple[str, ...]) -> Evaluate:
    """Reads a field of a variable: the inner loop of `$filter` and `$map`, so one field is read without a call."""
    get = paths.of_variable(parts)
    if len(parts) > 1:
        return lambda _: get(slot.value)
    (name,) = parts

    def read(_: Document) -> Any:
        value = slot.value
        return value.get(name, MISSING) if type(value) is dict else get(value)

    return read


def _compile_variable(name: str, scope: Scope) -> Node:
    slot = scope.slots.get(name)
    if slot is _NO_DOCUMENT:
        raise _without_document(f"$${name}")
    if slot is not None:
        return constant(slot.value) if slot.fixed else Node(lambda _: slot.value)
    if name in ("ROOT", "CURRENT"):
        return Node(lambda document: document, field="")
    if name == "REMOVE":
        return constant(MISSING)
    if name == "NOW":
        return constant(date_from_millis(millis(scope.context.now)))
    if name in ("CLUSTER_TIME", "USER_ROLES", "SEARCH_META", "JS_SCOPE"):
        raise NotOffline(f"$${name} is known to a server only")
    raise AggregationError(
        f"no variable $${name} is defined here",
        code=17276,
        unknown=f"$${name}",
        known=[f"$${one}" for one in scope.slots],
    )


def _without_document(field: str) -> AggregationError:
    message = f"a variable of 'let' is computed before any document is read, so it cannot use '{field}'"
    return AggregationError(message, code=4890500)


def check_variable_name(name: str) -> None:
    """Raises AggregationError for a name that no variable can have."""
    if not name:
        raise AggregationError("a variable needs a name", code=16866)
    if not (name[0].isascii() and name[0].isalpha()) and ord(name[0]) < 128:
        raise AggregationError(f"variable name '{name}' must start with a letter", code=16867)
    for letter in name[1:]:
        if ord(letter) < 128 and not (letter.isalnum() or letter == "_"):
            raise AggregationError(f"variable name '{name}' must not hold '{letter}'", code=16868)


def check_user_variable(name: str) -> None:
    """Raises AggregationError for a name that a ``$let`` or ``as`` may not bind: lower case first, or CURRENT."""
    check_variable_name(name)
    if name != "CURRENT" and name[0].isascii() and not name[0].islower():
        raise AggregationError(f"variable name '{name}' must start with a lower-case letter", code=16867)


def _array(items: Sequence[Any], scope: Scope, path: Path) -> Node:
    nodes = [compile_expression(item, scope, (*path, index)) for index, item in enumerate(items)]
    runs = [node.run for node in nodes]

    def run(document: Document) -> list[Any]:
        return [None if value is MISSING else value for value in (run(document) for run in runs)]

    return fold_constant(Node(run, constant=all(node.constant for node in nodes)), path)


def _document(expression: Mapping[str, Any], scope: Scope, path: Path) -> Node:
    first = next(iter(expression), "")
    if first.startswith("$"):
        if len(expression) > 1:
            raise AggregationError(
                f"an expression has one operator, but '{first}' stands beside {len(expression) - 1} more",
                path,
                15983,
            )
        return _operator(first, expression[first], scope, (*path, first))
    nodes: dict[str, Node] = {}
    for name, value in expression.items():
        _check_field_name(name, path)
        nodes[name] = compile_expression(value, scope, (*path, name))
    fixed = all(node.constant for node in nodes.values())
    return fold_constant(Node(_object_runner(nodes), constant=fixed, names=tuple(nodes)), path)


def _check_field_name(name: str, path: Path) -> None:
    if name.startswith("$"):
        raise AggregationError(f"'{name}' stands among fields: an operator must stand alone", path, 15983)
    if "." in name:
        raise AggregationError(f"field name '{name}' must not hold a dot here", (*path, name), 16412)
    if not name:
        raise AggregationError("a field name must not be empty here", path, 40352)


def _object_runner(nodes: Mapping[str, Node]) -> Evaluate:
    runs = [(name, node.run) for name, node in nodes.items()]

    def run(document: Document) -> Document:
        return close_places({name: run(document) for name, run in runs})

    return run


def _operator(name: str, argument: Any, scope: Scope, path: Path) -> Node:
    entry = catalogue.find("expression", name)
    if entry is None:
        raise AggregationError(
            f"there is no expression operator '{name}'",
            path,
            168,
            unknown=name,
            known=catalogue.names("expression"),
        )
    if entry.refused:
        raise NotOffline(entry.why_not_offline, path)
    if name not in _FORMS:
        import_module(f"mongo_tables.aggregation.expressions.{entry.family}")
    return _FORMS[name](argument, scope, path)


_as_written: ContextVar[bool] = ContextVar("as_written", default=False)


def as_written() -> bool:
    """Whether what is being compiled is computed as it is written: no constant beforehand, nothing regrouped."""
    return _as_written.get()


def compile_as_written(expression: Any, scope: Scope, path: Path) -> Node:
    """The node for an expression within an operator that the server's optimizer leaves alone."""
    before = _as_written.set(True)
    try:
        return compile_expression(expression, scope, path)
    finally:
        _as_written.reset(before)


def fold_constant(node: Node, path: Path) -> Node:
    """The node, computed now when it is constant: the server folds constants when it parses, errors included."""
    if not node.constant:
        return node
    if as_written():
        return node._replace(constant=False)
    try:
        return constant(node.run({}))
    except AggregationError as error:
        error.constant = True
        raise error.at(path) from None


def constant_arrays(name: str, code: int, *places: int, null: bool = False) -> None:
    """Makes an operator refuse constants that are no arrays before a document is read, as the server's optimizer does.

    ``places`` are those of the arguments (none: all of them); ``null``: null and missing are taken as well.
    """
    compile_whole = _FORMS[name]

    @form(name)
    def compile_checked(argument: Any, scope: Scope, path: Path) -> Node:
        node = compile_whole(argument, scope, path)
        if as_written():
            return node
        for place, (item, where) in enumerate(arguments(name, argument, path)):
            part = compile_expression(item, scope, where)
            value = part.run({}) if part.constant and (not places or place in places) else []
            if not isinstance(value, list) and not (null and is_nullish(value)):
                error = AggregationError(f"{name} takes an array here, not {type_name(value)}", where, code)
                error.constant = True
                raise error
        return node


# How operators are written: three decorators, one for each way of taking arguments.


def form(*operators: str) -> Callable[[Form], Form]:
    """Registers a function ``(argument, scope, path) -> Node``: for operators that bind variables or choose."""

    def register(function: Form) -> Form:
        for name in operators:
            _FORMS[name] = function
        return function

    return register


def operator(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a plain function of evaluated argument values; number of arguments as the catalogue says.

    Values are bson values or MISSING. An AggregationError raised without a path gets the operator's.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _FORMS[name] = functools.partial(_strict, name, function)
        return function

    return register


def arguments(name: str, argument: Any, path: Path) -> list[tuple[Any, Path]]:
    """The arguments of an ``array`` style operator, each with its path; their number checked by the catalogue."""
    entry = catalogue.get("expression", name)
    if isinstance(argument, list | tuple):
        found = [(item, (*path, index)) for index, item in enumerate(argument)]
    else:
        found = [(argument, path)]
    if len(found) < entry.least or (entry.most is not None and len(found) > entry.most):
        raise AggregationError(f"{name} takes {_how_many(entry)}, not {len(found)}", path, 16020)
    return found


def _how_many(entry: catalogue.Operator) -> str:
    if entry.most is None:
        return f"at least {_count(entry.least)}"
    if entry.least == entry.most:
        return _count(entry.least)
    return f"{entry.least} to {entry.most} arguments"


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"


def _strict(name: str, function: Callable[..., Any], argument: Any, scope: Scope, path: Path) -> Node:
    nodes = [compile_expression(item, scope, where) for item, where in arguments(name, argument, path)]
    run = _call(function, [node.run for node in nodes], path)
    return fold_constant(Node(run, constant=all(node.constant for node in nodes)), path)


def _call(function: Callable[..., Any], runs: list[Evaluate], path: Path) -> Evaluate:
    """``function`` of what ``runs`` give. One and two arguments, nearly all calls, are spelt out for speed."""
    if len(runs) == 1:
        (only,) = runs

        def run(document: Document) -> Any:
            try:
                return function(only(document))
            except AggregationError as error:
                raise error.at(path) from None

    elif len(runs) == 2:
        first, second = runs

        def run(document: Document) -> Any:
            try:
                return function(first(document), second(document))
            except AggregationError as error:
                raise error.at(path) from None

    else:

        def run(document: Document) -> Any:
            try:
                return function(*[run(document) for run in runs])
            except AggregationError as error:
                raise error.at(path) from None

    return run


def check_named_arguments(name: str, argument: Any, path: Path) -> dict[str, tuple[Any, Path]]:
    """The arguments of a ``named`` style operator, each with its path; names checked by the catalogue."""
    entry = catalogue.get("expression", name)
    if not isinstance(argument, Mapping):
        raise AggregationError(f"{name} takes a document of named arguments", path, 9)
    known = (*entry.required, *entry.optional)
    refuse_unknown(argument, known, f"{name} has no argument", path, 9)
    for key in entry.required:
        if key not in argument:
            raise AggregationError(f"{name} needs the argument '{key}'", path, 9)
    return {key: (value, (*path, key)) for key, value in argument.items()}


# Pipelines: stages are registered the same way, and chained as iterators of documents.

Stage = Callable[[Iterator[Document]], Iterator[Document]]
StageForm = Callable[[Any, Scope, Path], Stage]
_STAGES: dict[str, StageForm] = {}


def stage(*names: str, record: StageRecord) -> Callable[[StageForm], StageForm]:
    """Registers a function ``(argument, scope, path) -> Stage``, and the record of what it does to fields."""

    def register(function: StageForm) -> StageForm:
        for name in names:
            _STAGES[name] = function
            register_record(name, record)
        return function

    return register


# They make documents only of those that come in, whose number is watched already.
_ONE_BY_ONE: Final = frozenset(
    {"$addFields", "$count", "$facet", "$limit", "$lookup", "$match", "$project", "$redact", "$replaceRoot"}
    | {"$replaceWith", "$set", "$skip", "$unset", "$unwind"}
)


def compile_pipeline(pipeline: Sequence[Any], scope: Scope, path: Path = (), first: int = 0) -> Stage:
    """The pipeline as one function from documents to documents.

    Documents are never changed in place and may share parts with what comes out. ``first``: the place of the
    pipeline's first stage in the list that ``path`` leads to.
    """
    if not isinstance(pipeline, list | tuple):
        raise AggregationError("a pipeline is a list of stages", path, 14)
    for index, spec in enumerate(pipeline, first):
        _check_stage(spec, (*path, index))
    leads = not path or path[-2:] == ("$unionWith", "pipeline")
    order = reorder(pipeline)
    specs = [pipeline[place] for place in order]
    ahead = (
        {leading_group(specs, scope.let), *leading_joins(specs, scope.let)} if leads else set[int | None]()
    )
    hints = {place: (at in ahead, sort_limit(specs, at)) for at, place in enumerate(order)}
    compiled: dict[int, Stage] = {}
    for place, spec in enumerate(pipeline):
        leading, most = hints.get(place, (False, 0))
        compiled[place] = _stage(spec, scope._replace(leading=leading, most=most), (*path, place + first))
    stages = [(compiled[place], next(iter(pipeline[place])) in _ONE_BY_ONE) for place in order]

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        for one, is_watched in stages:
            documents = one(documents) if is_watched else give_held_documents(one(documents))
        return documents

    return run


def _check_stage(spec: Any, path: Path) -> None:
    """Raises AggregationError for what is no stage: not a document, not one name."""
    if not isinstance(spec, Mapping):
        raise AggregationError(say_no_stage(spec), path, 14)
    if len(spec) != 1:
        raise AggregationError(f"a stage has exactly one '$' name, not {len(spec)}", path, 40323)


def say_no_stage(value: object) -> str:
    """What is wrong with a value that stands for a stage, and is no document."""
    text = f", not the text '{value}'" if isinstance(value, str) else ""
    return f"a stage is a document with one '$' name{text}"


def _stage(spec: Any, scope: Scope, path: Path) -> Stage:
    """The stage, from those that are kept where nothing but its own content says what it does."""
    key = b"" if scope.slots else content_key(spec, path, scope.leading, scope.most)
    found = plancache.get(key)
    if found is None:
        asked = scope.context.asked
        found = _compile_stage(spec, scope, path)
        if scope.context.asked == asked:
            plancache.put(key, found)
    return found


def _compile_stage(spec: Any, scope: Scope, path: Path) -> Stage:
    ((name, argument),) = spec.items()
    entry = catalogue.find("stage", name)
    if entry is None:
        raise AggregationError(
            f"there is no stage '{name}'", (*path, name), 40324, unknown=name, known=catalogue.names("stage")
        )
    if entry.refused:
        raise NotOffline(entry.why_not_offline, (*path, name))
    if name not in _STAGES:
        import_module(f"mongo_tables.aggregation.stages.{entry.family}")
    return _STAGES[name](argument, scope, (*path, name))


def utc_now() -> datetime:
    """The current time as BSON keeps it: naive UTC, milliseconds."""
    return datetime.now(UTC).replace(tzinfo=None)
