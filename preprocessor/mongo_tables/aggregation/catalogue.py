"""The operator catalogue: every stage, expression and accumulator, as data (``catalogue.jsonl``).

The evaluator takes names and argument shapes from here, the linter what exists since when, the documentation its
page on what runs offline. Which version of MongoDB brought what, and what kinds of arguments operators take that the
evaluator does not know, is in ``versions.jsonl``: ``release.serverversions`` writes it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

Kind = Literal["stage", "expression", "accumulator", "window", "query"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Trait = Literal[
    "accumulates",  # computes fields of several documents
    "chooses",  # may give a value although an operand is null, or none although all have one
    "compares",  # asks which of two values is greater
    "divides",
    "equates",  # asks whether two values are equal
    "goes by place",  # of two documents that are sorted alike it matters which comes first
    "needs a value",  # holds for no document that lacks the field
    "picks an end",  # gives the least or the greatest
    "picks by place",  # gives what the first or the last document has
    "random",
    "skips nulls",
    "skips texts",
    "tells types",
]
Style = Literal["array", "named", "value"]
_WHY_FORBIDDEN: Final = {
    "": "",
    "writes": "it writes",
    "state": "it tells the state of a server, not of the documents",
    "code": "it runs JavaScript",
}
"""The reason why an operator is never run, neither offline nor on a server."""
_MANUAL: Final = "https://www.mongodb.com/docs/manual/reference/operator/aggregation/"


class Operator(NamedTuple):
    """One operator of MongoDB's aggregation language: the keys of its line in the catalogue.

    ``family``: the module that evaluates it. ``style``: how arguments are written: ``array`` (a list, or one bare
    argument), ``named`` (a document of ``required`` and ``optional`` names) or ``value`` (a form of its own).
    ``least``/``most``: how many arguments an ``array`` style takes, ``most`` None for any number. ``takes``: what kind
    of value each argument is meant to be (by position, the last one repeated, or by name), ``gives``: what kind comes
    out; alternatives joined by ``|``, ``any`` where it can be anything. ``refused``: why it does not run offline, empty
    when it does; ``not_of``: the type of which alone it does not. ``order``: in what order a refused stage gives its
    documents (a value of ``fields.Order``, or ``single`` where there is one at most), where it is one that promises
    any. ``reads``: ``document`` where it reads more of a document than stands in its operands. ``collection``: the
    argument of a stage that names another collection. ``forbidden``: why it is never run (a key of
    ``_WHY_FORBIDDEN``). ``stated_since``: ``since`` of the line, the version that brought it, and ``since_of``, those
    of its arguments, where ``versions.jsonl`` does not have them, or is wrong. ``traits``: what is asked of several.
    """

    name: str
    kind: Kind
    family: str = ""
    style: Style = "value"
    least: int = 0
    most: int | None = None
    required: Sequence[str] = ()
    optional: Sequence[str] = ()
    takes: Sequence[str] | Mapping[str, str] = ()
    gives: str = "any"
    refused: str = ""
    not_of: str = ""
    order: str = ""
    manual: str = ""
    reads: str = ""
    collection: str = ""
    forbidden: str = ""
    stated_since: str = ""
    since_of: Mapping[str, str] | None = None
    traits: Sequence[Trait] = ()

    @property
    def since(self) -> str:
        """The version of MongoDB that brought it, such as ``5.2``; "" where that is not known."""
        return self.stated_since or str(_version(self.kind, self.name).get("since", ""))

    @property
    def why_not_offline(self) -> str:
        """What to say where it is to run offline and does not: that MongoDB has it, since when, and the reason."""
        since = f" (since MongoDB {self.since})" if self.since else ""
        return f"{self.name}{since} does not run offline: {self.refused}"


@cache
def _operators() -> Mapping[tuple[str, str], Operator]:
    lines = Path(__file__).with_name("catalogue.jsonl").read_text("utf-8").split("\n")
    found = {}
    for line in json.loads(f"[{','.join(filter(None, lines))}]"):
        line["stated_since"] = line.pop("since", "")
        line.setdefault("refused", _WHY_FORBIDDEN[line.get("forbidden", "")])
        line.setdefault("manual", f"{_MANUAL}{line['name'].lstrip('$')}/")
        found[line["kind"], line["name"]] = Operator(**line)
    return found


@cache
def _versions() -> Mapping[tuple[str, str], dict[str, Any]]:
    """What the definitions of MongoDB say of operators, by (kind, name). Most checks do not ask."""
    _, *lines = Path(__file__).with_name("versions.jsonl").read_text("utf-8").splitlines()
    return {(line["kind"], line["name"]): line for line in map(json.loads, lines)}


def _version(kind: Kind, name: str) -> dict[str, Any]:
    return _versions().get((kind, name), {})


class Argument(NamedTuple):
    """An argument of an operator as MongoDB defines it.

    ``takes``: the kinds of values that it may be, or that an expression in its place may give, in the words of the
    definitions. ``since``: the version that brought it, where it is not that of the operator. ``variadic``: any number
    of them stand in its place.
    """

    name: str
    takes: tuple[str, ...]
    since: str
    optional: bool
    variadic: bool


def find_arguments(kind: Kind, name: str) -> Mapping[str, Argument]:
    """The arguments of an operator as MongoDB defines them, by name; none of one that the definitions do not have."""
    operator = find(kind, name)
    stated = (operator and operator.since_of) or {}
    return {
        each: Argument(
            each,
            tuple(one["takes"]),
            stated.get(each) or one.get("since", ""),
            one.get("optional", False),
            "variadic" in one,
        )
        for each, one in _version(kind, name).get("arguments", {}).items()
    }


def takes_named_arguments(kind: Kind, name: str) -> bool:
    """Whether an operator takes a document of arguments, as MongoDB defines it."""
    return bool(_version(kind, name).get("form") == "object")


def operators() -> list[Operator]:
    """All operators, in the order of the catalogue."""
    return list(_operators().values())


def find(kind: Kind, name: str) -> Operator | None:
    """The operator of this kind and name, or None when MongoDB has none.

    Example:
        >>> find("expression", "$pow").most
        2
    """
    return _operators().get((kind, name))


def get(kind: Kind, name: str) -> Operator:
    """The operator of this kind and name. Raises KeyError when there is none."""
    return _operators()[kind, name]


def names(kind: Kind) -> list[str]:
    """The names of all operators of a kind, in order; for "did you mean"."""
    return sorted(name for found, name in _operators() if found == kind)


@cache
def names_with(trait: Trait, *kinds: Kind) -> frozenset[str]:
    """The operators that have a trait, those of ``kinds`` where any are named."""
    return frozenset(
        one.name for one in operators() if trait in one.traits and (not kinds or one.kind in kinds)
    )


@cache
def operand_readers() -> frozenset[str]:
    """The operators of expressions that read what stands in their operands, and nothing else of the document."""
    kinds = ("expression", "accumulator", "window")
    return frozenset(one.name for one in operators() if one.kind in kinds and not one.reads)


@cache
def collection_arguments() -> Mapping[str, str]:
    """The stages that read another collection, each with the name of the argument that says which."""
    return {one.name: one.collection for one in operators() if one.collection}


@cache
def forbidden_operators() -> Mapping[str, str]:
    """The operators that no page may send to a server either, each with what it does: a key of ``_WHY_FORBIDDEN``."""
    return {one.name: one.forbidden for one in operators() if one.forbidden}


_Form = TypeVar("_Form")


def registrar(forms: dict[str, _Form]) -> Callable[..., Callable[[_Form], _Form]]:
    """A decorator that registers a function in ``forms`` by the names of the operators that it evaluates."""

    def of_operators(*names: str) -> Callable[[_Form], _Form]:
        def register(function: _Form) -> _Form:
            forms.update(dict.fromkeys(names, function))
            return function

        return register

    return of_operators
