"""Expressions, compiled into closures.

``compile_expression`` turns an expression into a ``Node``: a function from the root document to a value. The compiler
checks names, argument shapes and constant parts, so that it reports a mistake, with its path, before a document is
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from bson.dbref import DBRef

from mongo_tables.aggregation import catalogue, paths
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path, check_names
from mongo_tables.aggregation.paths import close_places
from mongo_tables.aggregation.values import (
    MISSING,
    Document,
    Evaluate,
    date_from_millis,
    is_nullish,
    is_string,
    millis,
    mistyped,
)


class VariableSlot:
    """The storage of a variable's value while the variable is in scope: closures read the value, ``$map`` and similar
    set it.

    ``fixed``: the value is known before the pipeline is compiled and does not change.
    """

    __slots__ = ("fixed", "value")

    def __init__(self, value: Any = MISSING, *, fixed: bool = False) -> None:
        self.value = value
        self.fixed = fixed


_NO_DOCUMENT: Final = object()
"""The value of ``$$ROOT`` and ``$$CURRENT`` in expressions without access to a document."""


@dataclass(slots=True)
class Context:
    """The inputs of a pipeline besides its documents: other collections, the time (default: now), and the seed.

    ``asked`` counts the reads of these inputs. A stage that reads an input while it is compiled cannot be cached.
    """

    _collections: Mapping[str, Sequence[Document]]
    _now: datetime | None = None
    _seed: int = 0
    asked: int = 0

    @property
    def collections(self) -> Mapping[str, Sequence[Document]]:
        """Return the documents of other collections, by name."""
        self.asked += 1
        return self._collections

    @property
    def now(self) -> datetime:
        """Return the time of ``$$NOW``, the same at each call."""
        self.asked += 1
        self._now = self._now or datetime.now(UTC)
        return self._now

    @property
    def has_read_time(self) -> bool:
        """Return whether the pipeline has read the current time."""
        return self._now is not None

    @property
    def seed(self) -> int:
        """Return the seed of random numbers."""
        self.asked += 1
        return self._seed


class Scope(NamedTuple):
    """The variables visible to an expression (``slots``, by name), and the context.

    ``leading``: the stage is one of ``leading_joins``, or the ``leading_group`` (see ``pipelines``). ``most``: the
    number of documents that a sort must return, or 0 for all. ``let``: the command's variables as they are written.
    """

    context: Context
    slots: Mapping[str, VariableSlot] = MappingProxyType({})
    leading: bool = False
    most: int = 0
    let: Mapping[str, Any] = MappingProxyType({})

    def binding(self, *names: str) -> tuple[Scope, list[VariableSlot]]:
        """Return a scope in which ``names`` are also bound, and the new slots in the order of ``names``."""
        fresh = [VariableSlot() for _ in names]
        return Scope(self.context, {**self.slots, **dict(zip(names, fresh, strict=True))}), fresh

    def with_let(self, variables: Mapping[str, Any]) -> Scope:
        """Return a scope with the command's variables.

        Their expressions have no access to documents and are computed once.
        """
        slots = dict(self.slots)
        for name, expression in variables.items():
            check_user_variable(name)
            nowhere = {**slots, **dict.fromkeys(("ROOT", "CURRENT"), VariableSlot(_NO_DOCUMENT))}
            node = compile_expression(expression, self._replace(slots=nowhere), ("let", name))
            slots[name] = VariableSlot(node.run({}), fixed=True)
        return self._replace(slots=slots, let=variables)


class Node(NamedTuple):
    """A compiled expression.

    ``constant``: the expression reads no document and no variable, so one call of ``run`` is enough. ``field``: the
    dotted path if the expression is only a field of the root document. ``names``: the field names if the expression is
    a document whose fields are not all constant.
    """

    run: Evaluate
    constant: bool = False
    field: str | None = None
    names: tuple[str, ...] = ()


Form = Callable[[Any, Scope, Path], Node]
_FORMS: dict[str, Form] = {}


def constant(value: Any) -> Node:
    """Return the node that always evaluates to ``value``."""
    return Node(lambda _: value, constant=True)


def compile_expression(expression: Any, scope: Scope, path: Path) -> Node:
    """Compile an aggregation expression into a node.

    ``path`` is the expression's place in the pipeline.

    Raises:
        AggregationError: With the exact path, if the server refuses the expression or a constant part cannot be
            computed.
        NotOffline: If the expression is not supported.
    """
    if is_string(expression):
        return _string(expression, scope, path)
    if isinstance(expression, Mapping):
        return _document(expression, scope, path)
    if isinstance(expression, list | tuple):
        nodes = [compile_expression(item, scope, (*path, index)) for index, item in enumerate(expression)]
        runs = [node.run for node in nodes]

        def run(document: Document) -> list[Any]:
            return [None if (value := run(document)) is MISSING else value for run in runs]

        return fold(run, nodes, path)
    if isinstance(expression, DBRef):
        return _document(expression.as_doc(), scope, path)
    return constant(expression)


def _string(text: str, scope: Scope, path: Path) -> Node:
    if not text.startswith("$"):
        return constant(text)
    try:
        if not text.startswith("$$"):
            return _variable("CURRENT", paths.split(text[1:]), scope)
        name, _, rest = text[2:].partition(".")
        check_variable_name(name)
        return _variable(name, paths.split(rest) if "." in text else (), scope)
    except AggregationError as error:
        raise error.at(path) from None


def _variable(name: str, parts: tuple[str, ...], scope: Scope) -> Node:
    """Return the node that reads a variable, or its field at ``parts``."""
    slot = scope.slots.get(name)
    if slot and slot.value is _NO_DOCUMENT:
        field = ".".join(parts) if name == "CURRENT" and parts else f"$${name}"
        message = f"a variable of 'let' is computed before any document is read, so it cannot use '{field}'"
        raise AggregationError(message, code=4890500)
    if slot is not None and not slot.fixed:
        get = paths.of_variable(parts) if parts else None
        return Node((lambda _: get(slot.value)) if get else lambda _: slot.value)
    if slot is None and name in ("ROOT", "CURRENT"):
        return Node(paths.getter(parts) if parts else lambda document: document, field=".".join(parts))
    value = slot.value if slot else _system_variable(name, scope)
    return constant(paths.of_variable(parts)(value) if parts else value)


def _system_variable(name: str, scope: Scope) -> Any:
    if name == "REMOVE":
        return MISSING
    if name == "NOW":
        return date_from_millis(millis(scope.context.now))
    if name in ("CLUSTER_TIME", "USER_ROLES", "SEARCH_META", "JS_SCOPE"):
        raise NotOffline(f"$${name} is known only to a server")
    known = [f"$${one}" for one in scope.slots]
    message = f"no variable $${name} is defined here"
    raise AggregationError(message, code=17276, unknown=f"$${name}", known=known)


def check_variable_name(name: str) -> None:
    """Raise AggregationError for an invalid variable name."""
    if not name:
        raise AggregationError("a variable needs a name", code=16866)
    if not (name[0].isascii() and name[0].isalpha()) and ord(name[0]) < 128:
        raise AggregationError(f"the variable name '{name}' must start with a letter", code=16867)
    for letter in name[1:]:
        if ord(letter) < 128 and not (letter.isalnum() or letter == "_"):
            raise AggregationError(f"the variable name '{name}' must not contain '{letter}'", code=16868)


def check_user_variable(name: str, path: Path | None = None) -> None:
    """Raise AggregationError unless ``$let`` or ``as`` can bind the name: it begins with a lower-case letter, or is
    CURRENT.
    """
    try:
        check_variable_name(name)
    except AggregationError as error:
        raise error.at(path) if path else error from None
    if name != "CURRENT" and name[0].isascii() and not name[0].islower():
        raise AggregationError(f"the variable name '{name}' must start with a lower-case letter", path, 16867)


def _document(expression: Mapping[str, Any], scope: Scope, path: Path) -> Node:
    first = next(iter(expression), "")
    if first.startswith("$"):
        if len(expression) > 1:
            message = (
                f"an expression must have one operator, but '{first}' has {len(expression) - 1} next to it"
            )
            raise AggregationError(message, path, 15983)
        where = (*path, first)
        form = find_form("expression", first, _FORMS, where, 168, "expression operator")
        return form(expression[first], scope, where)
    nodes: dict[str, Node] = {}
    for name, value in expression.items():
        if name.startswith("$"):
            message = f"'{name}' is among fields: an operator must be the only key of its document"
            raise AggregationError(message, path, 15983)
        if "." in name:
            message = f"the field name '{name}' must not contain a dot here"
            raise AggregationError(message, (*path, name), 16412)
        if not name:
            raise AggregationError("a field name must not be empty here", path, 40352)
        nodes[name] = compile_expression(value, scope, (*path, name))
    runs = [(name, node.run) for name, node in nodes.items()]

    def run(document: Document) -> Document:
        output: Document = {}
        complete = True
        for name, run in runs:
            value = output[name] = run(document)
            if value is MISSING:
                complete = False
        return output if complete else close_places(output)

    return fold(run, nodes.values(), path, tuple(nodes))


_F = TypeVar("_F")


def find_form(
    kind: catalogue.OperatorKind, name: str, forms: Mapping[str, _F], path: Path, code: int, what: str = ""
) -> _F:
    """Return the registered form of an operator in ``forms``. The operator's family is imported on first use.

    Raises:
        AggregationError: With ``code``, if MongoDB has no operator of this kind and name.
        NotOffline: If the operator does not run offline.
    """
    entry = catalogue.find(kind, name)
    if entry is None:
        message = f"there is no {what or kind} '{name}'"
        raise AggregationError(message, path, code, unknown=name, known=catalogue.names(kind))
    if entry.refused:
        raise NotOffline(entry.why_not_offline, path)
    if name not in forms:
        import_module(f"mongo_tables.aggregation.{entry.family}")
    return forms[name]


_as_written: ContextVar[bool] = ContextVar("as_written", default=False)


def as_written() -> bool:
    """Return whether the current expression is compiled as written: no constants are computed and no operands
    regrouped.
    """
    return _as_written.get()


def compile_as_written(expression: Any, scope: Scope, path: Path) -> Node:
    """Compile an expression within an operator that the server's optimizer leaves unchanged."""
    before = _as_written.set(True)
    try:
        return compile_expression(expression, scope, path)
    finally:
        _as_written.reset(before)


def fold(run: Evaluate, parts: Iterable[Node], path: Path, names: tuple[str, ...] = ()) -> Node:
    """Return the node of ``run``, whose only inputs are ``parts``.

    If all parts are constants, ``run`` is called now, because the server also computes constants while it parses, and
    reports their errors.
    """
    if not all(node.constant for node in parts) or as_written():
        return Node(run, names=names)
    try:
        return constant(run({}))
    except AggregationError as error:
        error.constant = True
        raise error.at(path) from None


@dataclass(frozen=True, slots=True)
class _Failing:
    error: AggregationError

    def __call__(self, document: Document) -> Any:
        raise self.error


def defer_failure(expression: Any, scope: Scope, path: Path) -> Node:
    """Compile an expression whose constant parts may fail. Such a failure is raised when the expression runs."""
    try:
        return compile_expression(expression, scope, path)
    except AggregationError as error:
        if not error.constant:
            raise
        return Node(_Failing(error))


def alive(node: Node) -> Node:
    """Return the node. Raises the error that ``defer_failure`` postponed, if there is one."""
    if isinstance(node.run, _Failing):
        raise node.run.error
    return node


# Registration of operators: one decorator for each form of arguments.


form = partial(catalogue.register, _FORMS)
"""The decorator that registers a function ``(argument, scope, path) -> Node``.

It is for operators that bind variables or evaluate only some of their operands.
"""


def placed(run: Evaluate, path: Path) -> Evaluate:
    """Return a function that calls ``run`` and adds ``path`` to its errors that have no path."""

    def run_placed(document: Document) -> Any:
        try:
            return run(document)
        except AggregationError as error:
            raise error.at(path) from None

    return run_placed


_Function = TypeVar("_Function", bound=Callable[..., Any])


def operator(*names: str) -> Callable[[_Function], _Function]:
    """Register a plain function of evaluated argument values. The number of arguments comes from the catalogue.

    Values are BSON values or MISSING. If the operator has the trait "hands on null", the function gets neither null
    nor MISSING. An AggregationError without a path gets the operator's path.
    """
    strict = not catalogue.names_with("hands on null", "expression").isdisjoint(names)

    def register(function: _Function) -> _Function:
        @form(*names)
        def compile_operator(argument: Any, scope: Scope, path: Path) -> Node:
            nodes = compile_arguments(argument, scope, path)
            return fold(_call(function, [node.run for node in nodes], path, strict), nodes, path)

        return function

    return register


def _call(function: Callable[..., Any], runs: Sequence[Evaluate], path: Path, strict: bool) -> Evaluate:
    """Return the function of a document that calls ``function`` with the values of ``runs``.

    If ``strict``, the result is null if a value is null or missing. Nearly all operators have one or two arguments,
    so these are passed without making a list.
    """
    if len(runs) > 2 or not runs:
        return placed(lambda document: function(*[run(document) for run in runs]), path)
    first, last = runs[0], runs[-1]

    def run_with_one(document: Document) -> Any:
        try:
            value = first(document)
            if strict and (value is None or value is MISSING):
                return None
            return function(value)
        except AggregationError as error:
            raise error.at(path) from None

    def run_with_two(document: Document) -> Any:
        try:
            value, other = first(document), last(document)
            if strict and (value is None or value is MISSING or other is None or other is MISSING):
                return None
            return function(value, other)
        except AggregationError as error:
            raise error.at(path) from None

    return run_with_one if len(runs) == 1 else run_with_two


def lazy(name: str) -> Callable[[_Function], _Function]:
    """Register a function ``(document, *arguments)`` that reads its arguments in order and may stop early.

    The arguments are functions of the document.
    """

    def register(function: _Function) -> _Function:
        @form(name)
        def compile_lazy(argument: Any, scope: Scope, path: Path) -> Node:
            nodes = compile_arguments(argument, scope, path)
            runs = [node.run for node in nodes]
            return fold(placed(lambda document: function(document, *runs), path), nodes, path)

        return function

    return register


Runs = Mapping[str, Evaluate]
"""Named arguments as functions of the document."""


def named(*names: str, folds: bool = True) -> Callable[[_Function], _Function]:
    """Register a function ``(name, document, runs)`` for operators with named arguments.

    ``folds`` is false for operators that the server never computes while it parses, not even with constant arguments.
    """

    def register(function: _Function) -> _Function:
        @form(*names)
        def compile_named(argument: Any, scope: Scope, path: Path) -> Node:
            name = str(path[-1])
            nodes = compile_named_arguments(argument, scope, path)
            runs = {key: node.run for key, node in nodes.items()}
            run = placed(lambda document: function(name, document, runs), path)
            return fold(run, nodes.values(), path) if folds else Node(run)

        return function

    return register


Combine = Callable[[Iterable[Any]], Any]


def associative(name: str, *, commutative: bool) -> Callable[[Combine], Combine]:
    """Register a function of the argument values for an operator whose arguments the server regroups.

    The values are computed lazily: a value that the function never reaches cannot fail.
    """

    def register(combine: Combine) -> Combine:
        @form(name)
        def compile_associative(argument: Any, scope: Scope, path: Path) -> Node:
            nodes = flatten_associative(combine, argument, scope, path, commutative=commutative)
            return _combine_nodes(combine, nodes, path)

        return combine

    return register


def flatten_associative(
    combine: Combine, argument: Any, scope: Scope, path: Path, *, commutative: bool, single: bool = True
) -> list[Node]:
    """Return the arguments as the server regroups them (its ExpressionNary::optimize).

    Nested uses of the operator are flattened; uses with one argument only if ``single``. Adjacent constants are
    combined into one. A ``commutative`` operator combines all constants and puts the result last. The regrouping is
    visible: sums of doubles depend on their order, and a constant that cannot be computed fails at once.
    """
    name = str(path[-1])

    def flat(given: Any, where: Path) -> list[Node]:
        found: list[Node] = []
        for item, place in arguments(given, where):
            inner = (*place, name)
            if not (isinstance(item, Mapping) and len(item) == 1 and name in item) or (
                not single and len(arguments(item[name], inner)) == 1
            ):
                found.append(compile_expression(item, scope, place))
            else:
                found += group(item[name], inner) or [constant(combine([]))]
        return found

    def group(given: Any, where: Path) -> list[Node]:
        grouped: list[Node] = []
        constants: list[Node] = []

        def combined() -> list[Node]:
            return [_combine_nodes(combine, constants, where)] if len(constants) > 1 else constants

        for node in flat(given, where):
            if node.constant:
                constants.append(node)
                continue
            if not commutative:
                grouped += combined()
                constants = []
            grouped.append(node)
        return grouped + combined()

    return compile_arguments(argument, scope, path) if as_written() else group(argument, path)


def _combine_nodes(combine: Combine, nodes: Sequence[Node], path: Path) -> Node:
    runs = [node.run for node in nodes]
    return fold(placed(lambda document: combine(run(document) for run in runs), path), nodes, path)


def constant_arrays(name: str, code: int, *places: int, null: bool = False) -> None:
    """Make an operator refuse, as the server does, constants that are not arrays before a document is read.

    ``places`` are the positions of the checked arguments (default: all). ``null``: null and missing are allowed.
    """
    compile_whole = _FORMS[name]

    @form(name)
    def compile_checked(argument: Any, scope: Scope, path: Path) -> Node:
        node = compile_whole(argument, scope, path)
        if as_written():
            return node
        for place, (item, where) in enumerate(arguments(argument, path)):
            part = compile_expression(item, scope, where)
            value = part.run({}) if part.constant and (not places or place in places) else []
            if not isinstance(value, list) and not (null and is_nullish(value)):
                error = mistyped(f"{name} requires an array here, not", value, code, where)
                error.constant = True
                raise error
        return node


# Arguments of operators.


def arguments(argument: Any, path: Path) -> list[tuple[Any, Path]]:
    """Return the arguments of an ``array`` style operator with their paths. Raises AggregationError for a wrong
    number.
    """
    name = str(path[-1])
    entry = catalogue.get("expression", name)
    several = isinstance(argument, list | tuple)
    found = [(item, (*path, index)) for index, item in enumerate(argument)] if several else [(argument, path)]
    if len(found) < entry.least or (entry.most is not None and len(found) > entry.most):
        if entry.most is None or entry.least == entry.most:
            number = "1 argument" if entry.least == 1 else f"{entry.least} arguments"
            takes = f"at least {number}" if entry.most is None else number
        else:
            takes = f"{entry.least} to {entry.most} arguments"
        raise AggregationError(f"{name} takes {takes}, not {len(found)}", path, 16020)
    return found


def compile_arguments(argument: Any, scope: Scope, path: Path) -> list[Node]:
    """Return the nodes of an ``array`` style operator's arguments."""
    return [compile_expression(item, scope, where) for item, where in arguments(argument, path)]


def check_named_arguments(argument: Any, path: Path) -> dict[str, tuple[Any, Path]]:
    """Return the arguments of a ``named`` style operator with their paths. Raises AggregationError for wrong names."""
    entry = catalogue.get("expression", str(path[-1]))
    given = check_names(
        argument, entry.required, entry.optional, path, (9, 9, 9), "a document of named arguments", "argument"
    )
    return {key: (value, (*path, key)) for key, value in given.items()}


def compile_named_arguments(argument: Any, scope: Scope, path: Path) -> dict[str, Node]:
    """Return the nodes of a ``named`` style operator's arguments."""
    given = check_named_arguments(argument, path)
    return {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
