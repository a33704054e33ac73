"""The shapes of expressions, without computing values.

``read`` reads an expression once. It returns a function that infers the shape of the expression from the documents
before its stage, because many comments have equal stages over different documents. The function records each
comparison, and each read of a field, as a ``Visit`` for the rules. ``Around`` describes the text around an expression,
``Walk`` the documents and variables. The catalogue of operators gives the kinds of results. Operators with more exact
shapes are registered here and in ``operators``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.values import type_name
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import (
    ANY,
    ANY_KIND,
    BOOL,
    INTEGERS,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    PLAIN,
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
COMPARING: Final = catalogue.names_with("compares", "expression") | catalogue.names_with(
    "equates", "expression"
)
Settled = frozenset[str]


class Operand(NamedTuple):
    """An argument: its text, its place in the pipeline, and its shape."""

    path: Path
    expression: Any
    shape: Shape


class UsePlace(NamedTuple):
    """An operator, or a field that is read (``name`` is then empty), in the text of a stage.

    ``arguments``: the place and the text of each argument. ``guarded``: an enclosing operator handles null and missing.
    """

    path: Path
    name: str
    arguments: Sequence[tuple[Path, Any]]
    guarded: bool


class Visit(NamedTuple):
    """A comparison, or a field that is read, with the shapes of its arguments.

    ``shape``: the shape of the field. ``variables``: the variables that can be read at this place.
    """

    place: UsePlace
    given: Sequence[Shape]
    shape: Shape = ANY
    variables: Collection[str] = ()

    @property
    def path(self) -> Path:
        """The place in the pipeline."""
        return self.place.path

    @property
    def name(self) -> str:
        """The operator, or "" for a field that is read."""
        return self.place.name

    @property
    def operands(self) -> list[Operand]:
        """The arguments, with their shapes."""
        return [Operand(*one, shape) for one, shape in zip(self.place.arguments, self.given, strict=True)]


Visits = defaultdict[str, list[Visit]]
_NONE: Settled = frozenset()
_NONE_BOUND: Final[Mapping[str, Shape]] = MappingProxyType({})


class Around(NamedTuple):
    """The place of an expression, and facts about it from the surrounding text.

    ``places``: the list of a stage, to which each operator and field is added. ``settled``: expressions, as written,
    that an enclosing condition proves to be neither null nor missing. ``guarded``: an enclosing operator handles null
    and missing.
    """

    path: Path
    places: list[UsePlace]
    settled: Settled = _NONE
    guarded: bool = False

    def at(self, *steps: str | int) -> Around:
        """Return the place of a part of the expression."""
        return Around((*self.path, *steps), self.places, self.settled, self.guarded)

    def guard(self) -> Around:
        """Return the same place with ``guarded``."""
        return Around(self.path, self.places, self.settled, True)

    def settle(self, expressions: Settled) -> Around:
        """Return the same place with more settled expressions."""
        return Around(self.path, self.places, self.settled | expressions, self.guarded)

    def bind(self, *names: str) -> Around:
        """Return the same place, at which these variables get new values. Expressions that read them are no longer
        settled.
        """
        hidden = tuple(f"$${name}" for name in names)
        kept = frozenset(one for one in self.settled if not one.startswith(hidden))
        return Around(self.path, self.places, kept, self.guarded)

    def place(self, name: str, *arguments: tuple[Path, Any]) -> UsePlace:
        """Record and return the operator, or the field, that is here."""
        self.places.append(UsePlace(self.path, name, arguments, self.guarded))
        return self.places[-1]


class Walk(NamedTuple):
    """The shapes of the document and of the variables at one place of a pipeline.

    ``visits``: the visits of a stage by operator.
    """

    root: Shape
    visits: Visits
    variables: Mapping[str, Shape] = _NONE_BOUND

    def binding(self, variables: Mapping[str, Shape]) -> Walk:
        """Return a walk in which these variables are bound as well."""
        return Walk(self.root, self.visits, {**self.variables, **variables})


_NOWHERE: Final = Walk(ANY, defaultdict(list))
"""The walk for expressions that read nothing, whose shape is always the same."""
Infer = Callable[[Walk], Shape]
Form = Callable[[Any, Around], Infer]
Give = Callable[[Sequence[Shape]], Shape]
FORMS: Final[dict[str, Form]] = {}
GIVES: Final[dict[str, Give]] = {}


form = partial(catalogue.register, FORMS)
"""Registers the reader of operators that bind variables or choose a result: ``(argument, around) -> Infer``."""
gives = partial(catalogue.register, GIVES)
"""Registers a function from the shapes of the arguments to the shape of the result, for operators with a list of
arguments.
"""


def read(expression: Any, around: Around) -> Infer:
    """Return the function that infers the shape of an expression from the documents before its stage."""
    if isinstance(expression, str):
        return _read_text(expression, around)
    count = len(around.places)
    if isinstance(expression, dict):
        infer = _read_document(expression, around)
    elif isinstance(expression, (list, tuple)):
        infer = _read_list(expression, around)
    else:
        return always(constant(expression))
    return infer if len(around.places) > count else always(infer(_NOWHERE))


def always(shape: Shape) -> Infer:
    """Return a function that infers this shape from any documents."""
    return lambda walk: shape


def after(parts: Sequence[Infer], last: Infer) -> Infer:
    """Return a function that visits the parts of a text and infers the shape of the last one."""

    def infer(walk: Walk) -> Shape:
        for part in parts:
            part(walk)
        return last(walk)

    return infer


def constant(value: Any) -> Shape:
    """Return the shape of a constant in the pipeline."""
    if isinstance(value, (str, int, float)):
        return Shape(frozenset({type_name(value)}), traits=Traits(known=frozenset({value})))
    if isinstance(value, dict):
        return document({name: constant(inner) for name, inner in value.items()})
    if isinstance(value, (list, tuple)):
        return array(join_all(map(constant, value)))
    return Shape(frozenset({type_name(value)}))


def _read_text(text: str, around: Around) -> Infer:
    if not text.startswith("$"):
        return always(constant(text))
    is_variable = text.startswith("$$")
    name, _, rest = text[2:].partition(".") if is_variable else ("CURRENT", "", text[1:])
    parts = tuple(rest.split(".")) if rest or not is_variable else ()
    place, is_settled = around.place("", (around.path, text)), text in around.settled

    def infer(walk: Walk) -> Shape:
        found = _variable(name, walk) if walk.variables or is_variable else walk.root
        shape = lookup(found, parts)
        if is_settled:
            shape = without(shape, "null", "missing")
        walk.visits[""].append(Visit(place, (found,), shape, walk.variables))
        return shape

    return infer


def _variable(name: str, walk: Walk) -> Shape:
    if name in walk.variables:
        return walk.variables[name]
    if name in ("ROOT", "CURRENT"):
        return walk.root
    if name == "REMOVE":
        return MISSING
    return ANY


def _read_list(expression: Sequence[Any], around: Around) -> Infer:
    items = [read(item, around.at(index)) for index, item in enumerate(expression)]

    def infer(walk: Walk) -> Shape:
        found = [item(walk) for item in items]
        return array(join_all(map(fill_missing, found)), computed_from(found))

    return infer


def _read_document(expression: Mapping[str, Any], around: Around) -> Infer:
    first = next(iter(expression), "")
    if first.startswith("$"):
        return _read_operator(first, expression[first], around.at(first))
    inner = {name: read(value, around.at(name)) for name, value in expression.items()}

    def infer(walk: Walk) -> Shape:
        fields = {name: value(walk) for name, value in inner.items()}
        return Shape(OBJECT, False, fields, False, None, computed_from(fields.values()))

    return infer


def _read_operator(name: str, argument: Any, around: Around) -> Infer:
    if name in ("$literal", "$const"):
        shape = constant(argument)
        return visiting(name, around, [], lambda found: shape)
    if name in FORMS:
        return FORMS[name](argument, around)
    operands = read_operands(argument, around)
    return visiting(name, around, operands, GIVES.get(name) or by_catalogue(name, operands))


Operands = Sequence[tuple[Path, Any, Infer]]
"""The arguments of an operator: the place, the text, and the function that infers the shape of each."""


def visiting(name: str, around: Around, operands: Operands, give: Give) -> Infer:
    """Return the function that infers the shape of an operator from its arguments. It also records comparisons."""
    place = around.place(name, *((where, item) for where, item, _ in operands))
    arguments, compares = [argument for _, _, argument in operands], name in COMPARING

    def infer(walk: Walk) -> Shape:
        given = [argument(walk) for argument in arguments]
        if compares:
            walk.visits[name].append(Visit(place, given))
        return give(given)

    return infer


def read_operands(argument: Any, around: Around) -> Operands:
    """Return the arguments of an operator: the items of a list, the values of named arguments, or the only one."""
    if isinstance(argument, (list, tuple)):
        items: list[tuple[Any, Around]] = [(item, around.at(index)) for index, item in enumerate(argument)]
    elif isinstance(argument, dict) and not next(iter(argument), "$").startswith("$"):
        items = [(item, around.at(name)) for name, item in argument.items()]
    else:
        items = [(argument, around)]
    return [(where.path, item, read(item, where)) for item, where in items]


def computed_from(shapes: Iterable[Shape], unit: Unit | None = None) -> Traits:
    """Return the traits of a computed value, whose sources are all sources of the given shapes."""
    found = PLAIN.sources
    for shape in shapes:
        own = shape.traits.sources
        if own is not found and own:
            found = found | own if found else own
    return Traits(None, found, None, False, unit) if found or unit else PLAIN


_GIVEN: Final[Mapping[str, Kinds]] = {
    "number": NUMBERS | NULL,
    "integer": INTEGERS | NULL,
    "bool": BOOL,
    "any": ANY_KIND,
}


@lru_cache(maxsize=512)
def _kinds(name: str) -> Kinds | None:
    """Return the kinds that the catalogue promises, including null, or None if it promises nothing."""
    operator = catalogue.find("expression", name)
    if operator is None or operator.refused or "any" in operator.gives.split("|"):
        return None
    kinds = frozenset[str]()
    for word in operator.gives.split("|"):
        kinds |= _GIVEN.get(word, frozenset({word}))
    hands_on_null = name in catalogue.names_with("hands on null", "expression")
    return kinds | NULL if operator.gives != "bool" or hands_on_null else kinds


def by_catalogue(name: str, operands: Operands) -> Give:
    """Return a function that gives the shape that the catalogue promises, or any shape if it promises nothing."""
    found = _kinds(name)
    kinds, missing = (ANY_KIND, True) if found is None else (found, False)
    options = [at for at, (path, _, _) in enumerate(operands) if path[-1] in ("onNull", "onError")]

    def give(given: Sequence[Shape]) -> Shape:
        shape = Shape(kinds, missing, traits=computed_from(given))
        return join_all([shape, *(given[at] for at in options)]) if options and not missing else shape

    return give


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


_ABOVE: Final = ("$gt", "$gte")
_OPPOSITE: Final = {"$lte": "$gt", "$lt": "$gte"}
_MIRRORED: Final = {"$lt": "$gt", "$lte": "$gte"}


@form("$cond")
def _cond(argument: Any, around: Around) -> Infer:
    keys: tuple[Any, ...] = ("if", "then", "else") if isinstance(argument, dict) else (0, 1, 2)
    try:
        condition, then, otherwise = (argument[key] for key in keys)
    except (KeyError, IndexError, TypeError, ValueError):
        return always(ANY)
    tested, if_true, if_false = (around.at(key) for key in keys)
    return _choosing(
        "$cond",
        around,
        [
            (False, read(condition, tested.guard())),
            (True, read(then, if_true.settle(find_present(condition, True)))),
            (True, read(otherwise, if_false.settle(find_present(condition, False)))),
        ],
    )


@form("$switch")
def _switch(argument: Any, around: Around) -> Infer:
    branches = argument.get("branches") if isinstance(argument, dict) else None
    if not isinstance(branches, (list, tuple)):
        return always(ANY)
    parts: list[tuple[bool, Infer]] = []
    rest = around
    for index, branch in enumerate(branches):
        condition = branch.get("case") if isinstance(branch, dict) else None
        parts.append((False, read(condition, around.at("branches", index, "case").guard())))
        here = rest.settle(find_present(condition, True))
        parts.append((True, read(branch.get("then"), here.at("branches", index, "then"))))
        rest = rest.settle(find_present(condition, False))
    if "default" in argument:
        parts.append((True, read(argument["default"], rest.at("default"))))
    return _choosing("$switch", around, parts)


def _choosing(name: str, around: Around, parts: Sequence[tuple[bool, Infer]]) -> Infer:
    """Return the function that infers the shape of an operator that chooses one of its parts, such as ``$cond``."""
    around.place(name)
    results = [at for at, (is_result, _) in enumerate(parts) if is_result]

    def infer(walk: Walk) -> Shape:
        found = [part(walk) for _, part in parts]
        joined, own = join_all([found[at] for at in results]), computed_from(found).sources
        return joined if own == joined.traits.sources else with_traits(joined, sources=own)

    return infer


@form("$ifNull")
def _if_null(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, (list, tuple)) or len(argument) < 2:
        return always(ANY)
    *firsts, last = ((item, around.at(index)) for index, item in enumerate(argument))
    parts = [(at.path, item, _present(read(item, at.guard()))) for item, at in firsts]
    parts += [(at.path, item, read(item, at)) for item, at in [last]]
    return visiting("$ifNull", around, parts, join_all)


def _present(value: Infer) -> Infer:
    return lambda walk: without(value(walk), "null", "missing")


@form("$let")
def _let(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, dict) or not isinstance(argument.get("vars"), dict):
        return always(ANY)
    bound = {name: read(value, around.at("vars", name)) for name, value in argument["vars"].items()}
    body = read(argument.get("in"), around.bind(*bound).at("in"))
    return lambda walk: body(walk.binding({name: value(walk) for name, value in bound.items()}))
