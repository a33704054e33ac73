"""The operator catalogue: every stage, expression and accumulator, as data (``catalogue.jsonl``).

The evaluator reads names and argument shapes from the catalogue, the linter reads the versions, and the documentation
builds its page on offline support from it. ``versions.jsonl`` has the version of MongoDB that introduced each operator,
and the argument types of operators that the evaluator does not know. ``release.serverversions`` writes that file.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

OperatorKind = Literal["stage", "expression", "accumulator", "window", "query"]
KINDS: tuple[OperatorKind, ...] = get_args(OperatorKind)
Trait = Literal[
    "accumulates",  # computes fields of several documents
    "chooses",  # chooses a result or binds variables: a null operand does not make the result null
    "compares",  # tests which of two values is greater
    "equates",  # tests whether two values are equal
    "hands on null",  # returns null if an operand is null or missing
    "needs a value",  # is false for documents without the field
    "negates",  # is true for values other than the operand
    "picks an end",  # returns the smallest or the largest value
    "picks by place",  # returns a value of the first or the last document
    "random",  # gives other results in each run
    "skips texts",  # ignores values that are not numbers
    "tells types",  # returns or tests the type of a value
    "tests truth",  # tests the truth of operands without a comparison
]
Style = Literal["array", "named", "value"]
_WHY_FORBIDDEN: Final = {
    "": "",
    "writes": "a pipeline never writes to a database",
    "state": "the output describes the state of a server, not the documents",
    "code": "JavaScript is never run",
}
"""The reasons why an operator is never run, neither offline nor on a server."""
_MANUAL: Final = "https://www.mongodb.com/docs/manual/reference/operator/aggregation/"


class Operator(NamedTuple):
    """One operator of MongoDB's aggregation language: the keys of its line in the catalogue.

    Attributes:
        family: The module that evaluates the operator.
        style: The form of its arguments: ``array`` (a list, or one bare argument), ``named`` (a document of
            ``required`` and ``optional`` names) or ``value`` (a special form).
        least: The minimum number of arguments of style ``array``.
        most: The maximum number of arguments of style ``array``, or None for any number.
        takes: The types of the arguments, by position (the last one repeats) or by name.
        gives: The type of the result. Types are alternatives joined by ``|``, or ``any``.
        refused: The reason why the operator does not run offline, or "" if it does.
        not_of: An argument type with which the operator does not run offline. It runs with all other types.
        order: For a refused stage that promises an order of its output documents, a value of ``fields.Order``.
            ``single`` means that there is at most one output document.
        reads: ``document`` if the operator also reads parts of the document that its operands do not read.
        collection: The argument of a stage that names another collection.
        forbidden: The reason why the operator is never run (a key of ``_WHY_FORBIDDEN``).
        stated_since: ``since`` of the line: the version that introduced the operator.
        since_of: The versions that introduced its arguments. ``stated_since`` and ``since_of`` only have versions that
            ``versions.jsonl`` lacks or has wrong.
        since_values: For each argument, the versions that introduced some of its values. A value is named by a part of
            it, such as ``%b`` of a format. ``computed`` is any value that depends on the document. The name of another
            argument stands for the use of both arguments together.
        traits: Properties that several operators share.
    """

    name: str
    kind: OperatorKind
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
    since_values: Mapping[str, Mapping[str, str]] | None = None
    traits: Sequence[Trait] = ()

    @property
    def since(self) -> str:
        """Return the version of MongoDB that introduced the operator, such as ``5.2``, or "" if unknown."""
        return self.stated_since or str(_version(self.kind, self.name).get("since", ""))

    @property
    def why_not_offline(self) -> str:
        """Return the message for an operator that does not run offline: its version and the reason."""
        since = f" (since MongoDB {self.since})" if self.since else ""
        return f"{self.name}{since} does not run offline: {self.refused}"


@cache
def _catalogue() -> Mapping[tuple[str, str], Operator]:
    """Return the operators by kind and name, in the order of the file."""
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
    """Return the data of MongoDB's definitions by (kind, name).

    The file is read on demand, because few checks need it.
    """
    _, *lines = Path(__file__).with_name("versions.jsonl").read_text("utf-8").splitlines()
    return {(line["kind"], line["name"]): line for line in map(json.loads, lines)}


def _version(kind: OperatorKind, name: str) -> dict[str, Any]:
    return _versions().get((kind, name), {})


class Argument(NamedTuple):
    """An argument of an operator as MongoDB defines it.

    ``takes``: the types of the value, or of the expression's result, in the words of the definitions. ``since``: the
    version that introduced the argument, if later than the operator. ``variadic``: the argument may be repeated.
    """

    name: str
    takes: tuple[str, ...]
    since: str
    optional: bool
    variadic: bool


def find_arguments(kind: OperatorKind, name: str) -> Mapping[str, Argument]:
    """Return an operator's arguments by name, from MongoDB's definitions. An undefined operator has none."""
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


def takes_named_arguments(kind: OperatorKind, name: str) -> bool:
    """Return whether MongoDB defines an operator with a document of arguments."""
    return bool(_version(kind, name).get("form") == "object")


def operators() -> list[Operator]:
    """Return all operators, in the order of the catalogue."""
    return list(_catalogue().values())


def find(kind: OperatorKind, name: str) -> Operator | None:
    """Return the operator of this kind and name, or None if MongoDB has no such operator.

    Example:
        >>> find("expression", "$pow").most
        2
    """
    return _catalogue().get((kind, name))


def get(kind: OperatorKind, name: str) -> Operator:
    """Return the operator of this kind and name. Raises KeyError if there is no such operator."""
    return _catalogue()[kind, name]


def names(kind: OperatorKind) -> list[str]:
    """Return the sorted names of all operators of a kind, for "did you mean"."""
    return sorted(name for found, name in _catalogue() if found == kind)


@cache
def names_with(trait: Trait, *kinds: OperatorKind) -> frozenset[str]:
    """Return the names of the operators with a trait, optionally only of ``kinds``."""
    found = set[str]()
    for one in _catalogue().values():
        if trait in one.traits and (not kinds or one.kind in kinds):
            found.add(one.name)
    return frozenset(found)


@cache
def operand_readers() -> frozenset[str]:
    """Return the operators of expressions, groups and windows that read only their operands from the document."""
    kinds = ("expression", "accumulator", "window")
    return frozenset(one.name for one in operators() if one.kind in kinds and not one.reads)


@cache
def collection_arguments() -> Mapping[str, str]:
    """Return the stages that read another collection, each with the name of the argument that names the collection."""
    found = {}
    for one in _catalogue().values():
        if one.collection:
            found[one.name] = one.collection
    return found


@cache
def forbidden_operators() -> Mapping[str, str]:
    """Return the operators that a page may not even send to a server, each with a key of ``_WHY_FORBIDDEN``."""
    found = {}
    for one in _catalogue().values():
        if one.forbidden:
            found[one.name] = one.forbidden
    return found


_Form = TypeVar("_Form")


def register(forms: dict[str, _Form], *names: str) -> Callable[[_Form], _Form]:
    """Return a decorator that registers a function in ``forms`` under the names of its operators."""

    def add(function: _Form) -> _Form:
        forms.update(dict.fromkeys(names, function))
        return function

    return add
