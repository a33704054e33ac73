"""Stages that build documents from the fields of other documents, in the server's field order.

`$project`, `$set` (`$addFields`) and `$unset`; `$replaceRoot`, `$replaceWith`, `$redact`.

A specification becomes a tree of field names. Inclusion and exclusion walk the input document, so that remaining fields
keep their places. Computed fields are then set in the order of the specification (the server's ProjectionNode).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path, check_names
from mongo_tables.aggregation.fields import (
    WHOLE,
    Effect,
    Field,
    Gives,
    StageRecord,
    leaves,
    paths_in,
    split_path,
)
from mongo_tables.aggregation.paths import (
    close_places,
    open_places,
    without,
)
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.values import (
    DOCUMENT,
    MISSING,
    Document,
    Evaluate,
    is_flag,
    is_string,
    mistyped,
    truthy,
)

Kind = Literal["inclusion", "exclusion"]
Apply = Callable[[Document], Document]
Compute = Callable[[Document, Any], Any]


@dataclass(slots=True)
class _Tree:
    """The fields at one level of a specification: named (``plain``), computed, or nested (``children``)."""

    plain: set[str] = field(default_factory=set)
    computed: dict[str, Evaluate] = field(default_factory=dict)
    children: dict[str, _Tree] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def child(self, name: str) -> _Tree:
        """Return the tree below ``name``, creating it if necessary."""
        if name not in self.children:
            self.children[name] = _Tree()
            self.order.append(name)
        return self.children[name]

    def computes(self) -> bool:
        """Return whether any field at or below this level is computed."""
        return bool(self.computed) or any(map(_Tree.computes, self.children.values()))


def _reach(tree: _Tree, dotted: str, path: Path, code: int = 31249) -> tuple[_Tree, str]:
    """Return the level and the last name of a dotted path. Raises AggregationError for conflicting paths."""
    *way, last = paths.split(dotted, path)
    for name in way:
        if name in tree.plain or name in tree.computed:
            raise AggregationError(f"'{dotted}' and a field that contains it are both named", path, code)
        tree = tree.child(name)
    return tree, last


def _read(name: str, value: Any, tree: _Tree, kind: Kind | None, scope: Scope, path: Path) -> Kind | None:
    """Add one entry of ``$project`` at the level ``tree``. Return whether the projection includes or excludes fields.

    ``kind`` is the result for the entries before this one: None until an entry has decided.
    """
    if name.endswith("$") and name.split(".")[-1] == "$":
        raise AggregationError("the positional projection '$' does not exist in aggregation", path, 31324)
    is_nested = isinstance(value, DOCUMENT) and not next(iter(value), "").startswith("$")
    if is_nested and not value:
        raise AggregationError(f"'{name}' has an empty document, which has no meaning", path, 51270)
    level, last = _reach(tree, name, path)
    if last in level.plain or last in level.computed or (last in level.children and not is_nested):
        raise AggregationError(f"'{name if is_nested else last}' is named twice", path, 31250)
    if is_nested:
        below = level.child(last)
        for key, item in value.items():
            kind = _read(key, item, below, kind, scope, (*path, key))
        return kind
    if is_flag(value):
        found: Kind = "inclusion" if truthy(value) else "exclusion"
        if kind not in (None, found):
            doing, does = ("exclude", "includes") if found == "exclusion" else ("include", "excludes")
            code = 31254 if found == "exclusion" else 31253
            message = f"cannot {doing} '{name}' in a projection that {does} fields"
            raise AggregationError(message, path, code)
        level.plain.add(last)
        return found
    if kind == "exclusion":
        raise AggregationError(f"'{name}' is computed, but this projection excludes fields", path, 31310)
    level.computed[last] = compile_expression(value, scope, path).run
    level.order.append(last)
    return "inclusion"


def _effect_of_project(argument: Any) -> Effect:
    of_id: bool | None = None
    of_others: bool | None = None
    names_id = False
    named = list(leaves(argument))
    for parts, _, value in named:
        names_id = names_id or parts[0] == "_id"
        includes = not is_flag(value) or truthy(value)
        if parts == ("_id",) and is_flag(value):
            of_id = includes
        else:
            of_others = of_others or includes
    # ``_id`` may differ from the other fields.
    only = bool(of_id if of_others is None else of_others)
    fields = []
    for parts, place, value in named:
        if not is_flag(value):
            fields.append(Field(parts, place, expression=value))
        elif truthy(value) == only:
            fields.append(Field(parts, place, "kept" if only else "dropped"))
    if only and not names_id:
        fields.append(Field(("_id",), None, "kept"))
    return Effect(fields=tuple(fields), only=only)


@stage("$project", record=StageRecord(_effect_of_project, Gives.EACH, rank=3, watched=True))
def project(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return documents of the named fields, or of all except the named fields, and of computed fields."""
    if not isinstance(argument, DOCUMENT):
        raise AggregationError("$project requires a document of fields", path, 15969)
    if not argument:
        raise AggregationError("$project needs at least one field", path, 51272)
    tree, kind, excludes_id = _Tree(), None, False
    for name, value in argument.items():
        where = (*path, name)
        if isinstance(value, DOCUMENT):
            _check_single_operator(value, where)
        if name == "_id" and is_flag(value):  # ``_id`` may differ from the other fields
            if "_id" in tree.children:
                raise AggregationError("'_id' is named twice", where, 31250)
            excludes_id = not truthy(value)
        else:
            kind = _read(name, value, tree, kind, scope, where)
    if kind == "exclusion" or (kind is None and excludes_id):
        if excludes_id:
            tree.plain.add("_id")
        return partial(map, _excluder(tree))
    if not excludes_id and "_id" not in tree.children and "_id" not in tree.computed:
        tree.plain.add("_id")
    return partial(map, _includer(tree) if tree.order else _keeper(tree, places=False))


def _check_single_operator(value: Mapping[str, Any], path: Path) -> None:
    """Raise AggregationError for an operator next to other fields, at any level of a nested specification."""
    for name, item in value.items():
        if name.startswith("$") and len(value) > 1:
            message = f"'{name}' is among other fields: an operator must be the only key of its document"
            raise AggregationError(message, path, 16410)
        if not name.startswith("$") and isinstance(item, DOCUMENT):
            _check_single_operator(item, (*path, name))


def _effect_of_unset(argument: Any) -> Effect:
    names = [argument] if is_string(argument) else argument
    return Effect(fields=tuple(Field(split_path(name), (), "dropped") for name in names))


@stage("$unset", record=StageRecord(_effect_of_unset, Gives.EACH, watched=True))
def unset(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return documents without the named fields."""
    names = [argument] if is_string(argument) else argument
    if not isinstance(names, list | tuple):
        raise AggregationError("$unset requires a field name or a list of them", path, 31002)
    if not names:
        raise AggregationError("$unset needs at least one field name", path, 31119)
    tree = _Tree()
    for index, name in enumerate(names):
        where = path if names is not argument else (*path, index)
        if not is_string(name):
            raise AggregationError("$unset accepts only field names", where, 31120)
        level, last = _reach(tree, name, where)
        if last in level.plain or last in level.children:
            raise AggregationError(f"'{last}' is named twice", where, 31250)
        level.plain.add(last)
    return partial(map, _excluder(tree))


def _effect_of_set(argument: Any) -> Effect:
    return Effect(
        fields=tuple(Field(parts, place, expression=value) for parts, place, value in leaves(argument))
    )


@stage("$set", "$addFields", record=StageRecord(_effect_of_set, Gives.EACH, watched=True))
def set_fields(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return documents with fields added or replaced. Other fields keep their value and place."""
    if not isinstance(argument, DOCUMENT):
        raise AggregationError(f"{path[-1]} requires a document of fields", path, 40272)
    tree = _Tree()
    for name, value in argument.items():
        level, last = _reach(tree, name, (*path, name), 40176)
        _add(level, last, value, scope, (*path, name))
    compute = _computer(tree)
    return partial(map, lambda document: compute(document, document))


def _add(tree: _Tree, name: str, value: Any, scope: Scope, path: Path) -> None:
    nested = isinstance(value, DOCUMENT) and not any(key.startswith("$") for key in value)
    if name in tree.computed or (name in tree.children and not nested):
        raise AggregationError(f"'{name}' is named twice", path, 40176)
    if not nested:
        if isinstance(value, DOCUMENT) and len(value) > 1:
            raise AggregationError("an operator must be the only key of its document", path, 40181)
        tree.computed[name] = compile_expression(value, scope, path).run
        tree.order.append(name)
        return
    if not value:
        message = f"'{name}' has an empty document: write {{$literal: {{}}}} instead"
        raise AggregationError(message, path, 40180)
    below = tree.child(name)
    for key, item in value.items():
        where = (*path, key)
        if "." in key:
            raise AggregationError(f"'{key}' is inside a document and must not contain a dot", where, 40183)
        paths.split(key, where)
        _add(below, key, item, scope, where)


# Application of a tree. Parts outside of the tree are shared with the input document, never copied.


def _includer(tree: _Tree) -> Apply:
    keep = _keeper(tree, places=tree.computes())
    if not tree.computes():
        return keep
    compute = _computer(tree)
    return lambda document: compute(document, keep(document))


def _keeper(tree: _Tree, *, places: bool) -> Apply:
    """Return a function from a document to its plain fields and the kept parts of its children, in input order.

    ``places``: a field without kept parts stays in its place with the value MISSING, because a computed field may be
    set below it.
    """
    plain = frozenset(tree.plain)
    keepers: dict[str, Callable[[Any], Any]] = {}
    for name, child in tree.children.items():
        keepers[name] = _value_keeper(child, places=places)

    def keep(document: Document) -> Document:
        output: Document = {}
        for name, value in document.items():
            if name in plain:
                output[name] = value
            elif name in keepers:
                kept = keepers[name](value)
                if kept is not MISSING or places:
                    output[name] = kept
        return output

    return keep


def _value_keeper(tree: _Tree, *, places: bool) -> Callable[[Any], Any]:
    # If fields are computed below, array elements that would be dropped become documents.
    computes = tree.computes()
    keep = _keeper(tree, places=places and computes)

    def keep_value(value: Any) -> Any:
        if isinstance(value, DOCUMENT):
            return keep(value)  # type: ignore[arg-type]
        if isinstance(value, list):
            found = [keep_value(item) for item in value]
            return found if computes else [item for item in found if item is not MISSING]
        return MISSING

    return keep_value


def _excluder(tree: _Tree) -> Apply:
    plain = tuple(tree.plain)
    children = {name: _value_excluder(child) for name, child in tree.children.items()}

    def exclude(document: Document) -> Document:
        output = without(plain, document)
        for name, inner in children.items():
            if name in output:
                output[name] = inner(output[name])
        return output

    return exclude


def _value_excluder(tree: _Tree) -> Callable[[Any], Any]:
    exclude = _excluder(tree)

    def exclude_value(value: Any) -> Any:
        if isinstance(value, DOCUMENT):
            return exclude(value)  # type: ignore[arg-type]
        if isinstance(value, list):
            return [exclude_value(item) for item in value]
        return value

    return exclude_value


def _computer(tree: _Tree) -> Compute:
    """Return a function ``(root document, value)`` that returns the value with the tree's computed fields."""
    steps: list[tuple[str, Evaluate | None, Compute]] = []
    for name in tree.order:
        child = tree.children.get(name)
        inner = _computer(child) if child and child.computes() else lambda _, value: value
        steps.append((name, tree.computed.get(name), inner))
    names = frozenset(tree.order)

    def compute(root: Document, value: Any) -> Any:
        if isinstance(value, list):
            return [compute(root, item) for item in value]
        output = open_places(names, value) if isinstance(value, DOCUMENT) else {}
        complete = type(output) is type(value)
        for name, run, inner in steps:
            found = output[name] = run(root) if run else inner(root, output.get(name, MISSING))
            if found is MISSING:
                complete = False
        return output if complete else close_places(output)

    return compute


# Replacement of documents.


def _effect_of_root(expression: Any) -> Effect:
    return Effect(reads=tuple(paths_in(expression)), only=True)


_REPLACING = StageRecord(_effect_of_root, Gives.EACH, watched=True)


@stage(
    "$replaceRoot", record=_REPLACING._replace(effect=lambda argument: _effect_of_root(argument["newRoot"]))
)
def replace_root(argument: Any, scope: Scope, path: Path) -> Stage:
    """Replace each document by the result of the expression ``newRoot``."""
    check_names(argument, ("newRoot",), (), path, (40229, 40415, 40414), "a document with newRoot")
    return _replacing(argument["newRoot"], scope, (*path, "newRoot"))


@stage("$replaceWith", record=_REPLACING)
def replace_with(argument: Any, scope: Scope, path: Path) -> Stage:
    """Replace each document by the result of the expression."""
    return _replacing(argument, scope, path)


def _replacing(expression: Any, scope: Scope, path: Path) -> Stage:
    evaluate = compile_expression(expression, scope, path).run

    def root(document: Document) -> Document:
        value = evaluate(document)
        if isinstance(value, DOCUMENT):
            return value  # type: ignore[return-value]
        raise mistyped("a document can only be replaced by a document, not by", value, 40228, path)

    return partial(map, root)


_KEEP, _PRUNE, _DESCEND = "keep", "prune", "descend"


@stage("$redact", record=StageRecord(lambda one: Effect((*paths_in(one), WHOLE)), watched=True))
def redact(argument: Any, scope: Scope, path: Path) -> Stage:
    """Keep, drop or descend into each level of the documents (``$$KEEP``, ``$$PRUNE``, ``$$DESCEND``), as an
    expression decides.
    """
    inner, (current, keep, prune, descend) = scope.binding("CURRENT", "KEEP", "PRUNE", "DESCEND")
    keep.value, prune.value, descend.value = _KEEP, _PRUNE, _DESCEND
    evaluate = compile_expression(argument, inner, path).run

    def level(root: Document, document: Document) -> Any:
        current.value = document
        decision = evaluate(root)
        if decision == _KEEP:
            return document
        if decision == _PRUNE:
            return MISSING
        if decision != _DESCEND:
            message = "$redact must return $$KEEP, $$PRUNE or $$DESCEND"
            raise AggregationError(message, path, 17053)
        return {name: found for name, item in document.items() if (found := value(root, item)) is not MISSING}

    def value(root: Document, item: Any) -> Any:
        if isinstance(item, DOCUMENT):
            return level(root, item)  # type: ignore[arg-type]
        if type(item) is list:
            return [found for one in item if (found := value(root, one)) is not MISSING]
        return item

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return (found for document in documents if (found := level(document, document)) is not MISSING)

    return run
