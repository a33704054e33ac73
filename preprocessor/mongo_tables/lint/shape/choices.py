"""What conditional operators give, and what a condition settles for the branch behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mongo_tables.lint.shape.expressions import Operand, Path, Settled, Walk, form, shape_of, sources
from mongo_tables.lint.shape.values import ANY, Shape, join_all, with_traits, without


def find_nonzero(condition: Any, outcome: bool) -> Settled:
    """The expressions, as written, that are not 0 where the condition has this outcome.

    The flag beside each says whether null and missing are ruled out, too: ``$ne`` of 0 does not rule them out.
    """
    if isinstance(condition, str):
        return frozenset({(condition, True)}) if outcome and condition.startswith("$") else _NONE
    if not isinstance(condition, Mapping) or len(condition) != 1:
        return _NONE
    ((name, argument),) = condition.items()
    parts = list(argument) if isinstance(argument, (list, tuple)) else [argument]
    if name == "$not" and len(parts) == 1:
        return find_nonzero(parts[0], not outcome)
    if name == ("$and" if outcome else "$or"):
        return _NONE.union(*(find_nonzero(part, outcome) for part in parts))
    if len(parts) == 2:
        return _settle_comparison(name if outcome else _OPPOSITE.get(name, ""), parts[0], parts[1])
    return _NONE


_NONE: Settled = frozenset()
_OPPOSITE = {"$eq": "$ne", "$lte": "$gt", "$lt": "$gte"}
_MIRRORED = {"$lt": "$gt", "$lte": "$gte", "$ne": "$ne"}


def _settle_comparison(name: str, left: Any, right: Any) -> Settled:
    if isinstance(right, str) and right.startswith("$"):
        name, left, right = _MIRRORED.get(name, ""), right, left
    if not isinstance(left, str) or not left.startswith("$"):
        return _NONE
    if not isinstance(right, (int, float)) or isinstance(right, bool):
        return _NONE
    if name == "$ne" and right == 0:
        return frozenset({(left, False)})
    above = right >= 0 if name == "$gt" else right > 0 if name == "$gte" else False
    return frozenset({(left, True)}) if above else _NONE


def _branch(expression: Any, walk: Walk, path: Path, settled: Settled) -> Shape:
    inner = walk._replace(settled=walk.settled | settled) if settled else walk
    return shape_of(expression, inner, path)


def _guard(expression: Any, walk: Walk, path: Path) -> Shape:
    return shape_of(expression, walk._replace(guarded=True), path)


@form("$cond")
def _cond(argument: Any, walk: Walk, path: Path) -> Shape:
    keys: tuple[Any, ...] = ("if", "then", "else") if isinstance(argument, Mapping) else (0, 1, 2)
    try:
        condition, then, otherwise = (argument[key] for key in keys)
    except (KeyError, IndexError, TypeError, ValueError):
        return ANY
    decided = _guard(condition, walk, (*path, keys[0]))
    yes = _branch(then, walk, (*path, keys[1]), find_nonzero(condition, True))
    no = _branch(otherwise, walk, (*path, keys[2]), find_nonzero(condition, False))
    return _join_branches(walk, path, "$cond", [decided], [yes, no])


@form("$switch")
def _switch(argument: Any, walk: Walk, path: Path) -> Shape:
    branches = argument.get("branches") if isinstance(argument, Mapping) else None
    if not isinstance(branches, (list, tuple)):
        return ANY
    decided, results = [], []
    settled = _NONE
    for index, branch in enumerate(branches):
        where = (*path, "branches", index)
        condition = branch.get("case") if isinstance(branch, Mapping) else None
        decided.append(_guard(condition, walk, (*where, "case")))
        here = settled | find_nonzero(condition, True)
        results.append(_branch(branch.get("then"), walk, (*where, "then"), here))
        settled |= find_nonzero(condition, False)
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
        inner = walk if last else walk._replace(guarded=True)
        shape = shape_of(expression, inner, (*path, index))
        found.append(
            Operand((*path, index), expression, shape if last else without(shape, "null", "missing"))
        )
    shape = join_all(one.shape for one in found)
    nullish = any(not one.shape.absent for one in found[:-1])
    zeroed = nullish and isinstance(argument[-1], (int, float)) and argument[-1] == 0
    return walk.visit(path, "$ifNull", found, with_traits(shape, zeroed=zeroed or shape.traits.zeroed))


@form("$let")
def _let(argument: Any, walk: Walk, path: Path) -> Shape:
    if not isinstance(argument, Mapping) or not isinstance(argument.get("vars"), Mapping):
        return ANY
    bound = {
        name: shape_of(expression, walk, (*path, "vars", name))
        for name, expression in argument["vars"].items()
    }
    return shape_of(argument.get("in"), walk.binding(bound), (*path, "in"))
