"""The shapes of expressions, without computing values.

``Walk`` carries the knowledge at one place of a pipeline. ``shape_of`` returns an expression's shape and records every
operator and field in it as a ``Visit``, which rules inspect. By default an operator gives what the catalogue of
operators says. More exact results are registered here, for operators that choose, and in ``operators``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.values import type_name
from mongo_tables.lint.shape.values import (
    ANY,
    ANY_KIND,
    BOOL,
    INTEGERS,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    Kinds,
    Shape,
    Traits,
    array,
    document,
    fill_missing,
    join_all,
    lookup,
    with_traits,
    without,
)

Path = tuple[str | int, ...]
Settled = frozenset[str]


class Operand(NamedTuple):
    """An argument: its text, its place in the pipeline, and its shape."""

    path: Path
    expression: Any
    shape: Shape


class Visit(NamedTuple):
    """An operator, or a field that is read (``name`` is then empty), and its shape."""

    path: Path
    name: str
    operands: Sequence[Operand]
    shape: Shape
    guarded: bool = False


_NONE_BOUND: Final[Mapping[str, Shape]] = MappingProxyType({})


class Walk(NamedTuple):
    """The knowledge at one place of a pipeline: the document, the variables, and what conditions have settled.

    ``settled``: expressions, as written, that an enclosing condition proves to be neither null nor missing.
    ``guarded``: an enclosing operator handles null and missing. ``visits`` is shared by all walks of a pipeline.
    """

    root: Shape
    visits: list[Visit]
    variables: Mapping[str, Shape] = _NONE_BOUND
    settled: Settled = frozenset()
    guarded: bool = False

    def binding(self, variables: Mapping[str, Shape]) -> Walk:
        """Return a walk in which these variables are bound as well."""
        hidden = tuple(f"$${name}" for name in variables)
        kept = frozenset(one for one in self.settled if not one.startswith(hidden))
        return self._replace(variables={**self.variables, **variables}, settled=kept)

    def guard(self) -> Walk:
        """Return a walk in which an enclosing operator handles null and missing."""
        return Walk(self.root, self.visits, self.variables, self.settled, True)

    def visit(self, path: Path, name: str, operands: Sequence[Operand], shape: Shape) -> Shape:
        """Record a visit and return its shape."""
        self.visits.append(Visit(path, name, operands, shape, self.guarded))
        return shape


Form = Callable[[Any, Walk, Path], Shape]
Give = Callable[[Sequence[Operand]], Shape]
FORMS: Final[dict[str, Form]] = {}
GIVES: Final[dict[str, Give]] = {}


form = partial(catalogue.register, FORMS)
"""Registers the shape of operators that bind variables or choose: ``(argument, walk, path) -> Shape``."""
gives = partial(catalogue.register, GIVES)
"""Registers the shape of operators with a list of arguments: ``(operands) -> Shape``."""


def shape_of(expression: Any, walk: Walk, path: Path) -> Shape:
    """Return the shape of an expression at ``path`` in the pipeline."""
    if isinstance(expression, str):
        return _of_text(expression, walk, path)
    if isinstance(expression, dict):
        return _of_document(expression, walk, path)
    if isinstance(expression, (list, tuple)):
        found = [shape_of(item, walk, (*path, index)) for index, item in enumerate(expression)]
        return array(join_all(map(fill_missing, found)), Traits(sources=sources(found)))
    return constant(expression)


def constant(value: Any) -> Shape:
    """Return the shape of a constant in the pipeline."""
    if isinstance(value, (str, int, float)):
        return _plain_constant(value)
    if isinstance(value, dict):
        return document({name: constant(inner) for name, inner in value.items()})
    if isinstance(value, (list, tuple)):
        return array(join_all(map(constant, value)))
    return Shape(frozenset({type_name(value)}))


@lru_cache(maxsize=1024, typed=True)
def _plain_constant(value: str | int | float) -> Shape:
    return Shape(frozenset({type_name(value)}), traits=Traits(known=frozenset({value})))


def _of_text(text: str, walk: Walk, path: Path) -> Shape:
    if not text.startswith("$"):
        return constant(text)
    if text.startswith("$$"):
        name, _, rest = text[2:].partition(".")
        found = _variable(name, walk)
        parts = tuple(rest.split(".")) if rest else ()
    else:
        found, parts = walk.variables.get("CURRENT", walk.root), tuple(text[1:].split("."))
    shape = lookup(found, parts)
    if text in walk.settled:
        shape = without(shape, "null", "missing")
    return walk.visit(path, "", (Operand(path, text, found),), shape)


def _variable(name: str, walk: Walk) -> Shape:
    if name in walk.variables:
        return walk.variables[name]
    if name in ("ROOT", "CURRENT"):
        return walk.root
    if name == "REMOVE":
        return MISSING
    return ANY


def _of_document(expression: Mapping[str, Any], walk: Walk, path: Path) -> Shape:
    first = next(iter(expression), "")
    if first.startswith("$"):
        return _of_operator(first, expression[first], walk, (*path, first))
    fields = {name: shape_of(value, walk, (*path, name)) for name, value in expression.items()}
    return Shape(OBJECT, False, fields, False, None, Traits(None, sources(list(fields.values()))))


def _of_operator(name: str, argument: Any, walk: Walk, path: Path) -> Shape:
    if name in ("$literal", "$const"):
        return walk.visit(path, name, (), constant(argument))
    if name in FORMS:
        return FORMS[name](argument, walk, path)
    found = operands(argument, walk, path)
    give = GIVES.get(name)
    return walk.visit(path, name, found, give(found) if give else by_catalogue(name, found))


def operands(argument: Any, walk: Walk, path: Path) -> list[Operand]:
    """Return the arguments of an operator: the items of a list, the values of named arguments, or the only one."""
    if isinstance(argument, (list, tuple)):
        items: list[tuple[Any, Path]] = [(item, (*path, index)) for index, item in enumerate(argument)]
    elif isinstance(argument, dict) and not next(iter(argument), "$").startswith("$"):
        items = [(item, (*path, name)) for name, item in argument.items()]
    else:
        items = [(argument, path)]
    return [Operand(where, item, shape_of(item, walk, where)) for item, where in items]


def sources(shapes: Sequence[Shape]) -> frozenset[str]:
    """Return the fields that any of the shapes was computed from."""
    found: frozenset[str] = frozenset()
    for shape in shapes:
        own = shape.traits.sources
        found = found | own if found and own else found or own
    return found


_GIVEN: Final[Mapping[str, Kinds]] = {
    "number": NUMBERS | NULL,
    "integer": INTEGERS | NULL,
    "bool": BOOL,
    "any": ANY_KIND,
}
_NULL_AS_BOOL: Final = ("$toBool",)


@lru_cache(maxsize=512)
def _kinds(name: str) -> Kinds | None:
    """Return the kinds that the catalogue promises, including null, or None if it promises nothing."""
    operator = catalogue.find("expression", name)
    if operator is None or operator.refused or "any" in operator.gives.split("|"):
        return None
    kinds = frozenset[str]()
    for word in operator.gives.split("|"):
        kinds |= _GIVEN.get(word, frozenset({word}))
    answers_null = operator.gives != "bool" or name in _NULL_AS_BOOL
    return kinds | NULL if answers_null else kinds


def by_catalogue(name: str, found: Sequence[Operand]) -> Shape:
    """Return the shape from the catalogue, or anything if it does not say, or if an option decides."""
    kinds = _kinds(name)
    traits = Traits(None, sources([one.shape for one in found]))
    if kinds is None:
        return Shape(ANY_KIND, True, traits=traits)
    choices = [one.shape for one in found if one.path[-1] in ("onNull", "onError")]
    if choices:
        return join_all([Shape(kinds, traits=traits), *choices])
    return Shape(kinds, traits=traits)


def find_present(condition: Any, outcome: bool) -> Settled:
    """Return the expressions, as written, that are neither null nor missing if the condition has this outcome."""
    if isinstance(condition, str):
        return frozenset({condition}) if outcome and condition.startswith("$") else _NONE
    if not isinstance(condition, dict) or len(condition) != 1:
        return _NONE
    ((name, argument),) = condition.items()
    parts = list(argument) if isinstance(argument, (list, tuple)) else [argument]
    if name == "$not" and len(parts) == 1:
        return find_present(parts[0], not outcome)
    if name == ("$and" if outcome else "$or"):
        return _NONE.union(*(find_present(part, outcome) for part in parts))
    if len(parts) == 2:
        left, right = parts
        name = name if outcome else _OPPOSITE.get(name, "")
        if isinstance(right, str) and right.startswith("$"):
            name, left, right = _MIRRORED.get(name, ""), right, left
        # Null and missing are less than every number.
        is_number = isinstance(right, (int, float)) and not isinstance(right, bool)
        if name in _ABOVE and is_number and isinstance(left, str) and left.startswith("$"):
            return frozenset({left})
    return _NONE


_NONE: Settled = frozenset()
_ABOVE: Final = ("$gt", "$gte")
_OPPOSITE: Final = {"$lte": "$gt", "$lt": "$gte"}
_MIRRORED: Final = {"$lt": "$gt", "$lte": "$gte"}


def _branch(expression: Any, walk: Walk, path: Path, settled: Settled) -> Shape:
    inner = walk._replace(settled=walk.settled | settled) if settled else walk
    return shape_of(expression, inner, path)


def _guard(expression: Any, walk: Walk, path: Path) -> Shape:
    return shape_of(expression, walk.guard(), path)


@form("$cond")
def _cond(argument: Any, walk: Walk, path: Path) -> Shape:
    keys: tuple[Any, ...] = ("if", "then", "else") if isinstance(argument, dict) else (0, 1, 2)
    try:
        condition, then, otherwise = (argument[key] for key in keys)
    except (KeyError, IndexError, TypeError, ValueError):
        return ANY
    decided = _guard(condition, walk, (*path, keys[0]))
    yes = _branch(then, walk, (*path, keys[1]), find_present(condition, True))
    no = _branch(otherwise, walk, (*path, keys[2]), find_present(condition, False))
    return _join_branches(walk, path, "$cond", [decided], [yes, no])


@form("$switch")
def _switch(argument: Any, walk: Walk, path: Path) -> Shape:
    branches = argument.get("branches") if isinstance(argument, dict) else None
    if not isinstance(branches, (list, tuple)):
        return ANY
    decided, results = [], []
    settled = _NONE
    for index, branch in enumerate(branches):
        where = (*path, "branches", index)
        condition = branch.get("case") if isinstance(branch, dict) else None
        decided.append(_guard(condition, walk, (*where, "case")))
        here = settled | find_present(condition, True)
        results.append(_branch(branch.get("then"), walk, (*where, "then"), here))
        settled |= find_present(condition, False)
    if "default" in argument:
        results.append(_branch(argument["default"], walk, (*path, "default"), settled))
    return _join_branches(walk, path, "$switch", decided, results)


def _join_branches(walk: Walk, path: Path, name: str, decided: list[Shape], results: list[Shape]) -> Shape:
    joined = join_all(results)
    shape = with_traits(joined, sources=sources([*decided, *results]))
    return walk.visit(path, name, (), shape)


@form("$ifNull")
def _if_null(argument: Any, walk: Walk, path: Path) -> Shape:
    if not isinstance(argument, (list, tuple)) or len(argument) < 2:
        return ANY
    found = []
    for index, expression in enumerate(argument):
        last = index == len(argument) - 1
        inner = walk if last else walk.guard()
        shape = shape_of(expression, inner, (*path, index))
        found.append(
            Operand((*path, index), expression, shape if last else without(shape, "null", "missing"))
        )
    return walk.visit(path, "$ifNull", found, join_all(one.shape for one in found))


@form("$let")
def _let(argument: Any, walk: Walk, path: Path) -> Shape:
    if not isinstance(argument, dict) or not isinstance(argument.get("vars"), dict):
        return ANY
    bound = {
        name: shape_of(expression, walk, (*path, "vars", name))
        for name, expression in argument["vars"].items()
    }
    return shape_of(argument.get("in"), walk.binding(bound), (*path, "in"))
