"""Operators and arguments that the server at hand is too old for, and those of newer servers with wrong arguments.

What MongoDB has since when, and which kinds of arguments it takes, is in the catalogue of operators. A pipeline that
runs on files is held to its arguments by the evaluator; one that does not, here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.catalogue import Argument, find, find_arguments, takes_named_arguments
from mongo_tables.aggregation.uses import Use, list_uses
from mongo_tables.aggregation.values import type_name
from mongo_tables.findings.rules import finding

if TYPE_CHECKING:
    from mongo_tables.aggregation.catalogue import Kind
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.findings.finding import Finding

_KINDS: Final[tuple[Kind, ...]] = ("stage", "expression", "accumulator", "window")
_UNKNOWN: Final = re.compile(r"(?:unrecognized|unknown)\b[^$]*(\$\w+)", re.IGNORECASE)
_LAST_PATCH: Final = 999
"""A version without a patch, such as 6.0, is the last one of its series."""
_NUMBERS: Final = frozenset({"int", "long", "double", "decimal", "number"})
_PLAIN: Final = _NUMBERS | {
    "string",
    "array",
    "object",
    "date",
    "timestamp",
    "objectId",
    "binData",
    "regex",
    "null",
}
"""Kinds of which it is certain whether a constant is of them; of what counts as true or false it is not."""


def since_hint(message: str) -> str:
    """What to say to a server's complaint about an operator that it does not know; nothing to any other complaint.

    A hint is given where MongoDB has the operator, since a version that the catalogue names.
    """
    named = _UNKNOWN.search(message)
    if named is None:
        return ""
    for kind in _KINDS:
        operator = find(kind, named[1])
        if operator is not None and operator.since:
            return f"`{named[1]}` came with MongoDB {operator.since}; this server is older"
    return ""


def find_newer(spec: PipelineSpec, server: str) -> Iterator[Finding]:
    """MT314: each operator and argument of a pipeline that came with a newer version than that of the server."""
    for use in list_uses(spec.pipeline):
        operator = find(use.kind, use.name)
        if operator is not None and is_newer(operator.since, server):
            yield _too_new(spec, use, f"`{use.name}`", operator.since, server)
            continue
        arguments = find_arguments(use.kind, use.name) if isinstance(use.argument, Mapping) else {}
        for name, argument in arguments.items():
            if name in use.argument and is_newer(argument.since, server):
                inner = use._replace(path=(*use.path, name))
                yield _too_new(spec, inner, f"`{name}` of `{use.name}`", argument.since, server)


def _too_new(spec: PipelineSpec, use: Use, name: str, since: str, server: str) -> Finding:
    at = spec.locate(("pipeline", *use.path), key=True)
    message = f"{name} came with MongoDB {since}, and the server is {server}"
    return finding("MT314", spec.file, at, message, "say it with older operators, or take a newer server")


def is_newer(since: str, server: str) -> bool:
    """Whether what came with a version is not in that of a server; never where either is not known."""
    if not since or not server:
        return False
    version = _parts(server)
    return _parts(since) > (*version, _LAST_PATCH)[:3]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def find_wrong_arguments(spec: PipelineSpec) -> Iterator[Finding]:
    """MT315: constants of another kind than what does not run offline takes there."""
    for use in list_uses(spec.pipeline):
        operator = find(use.kind, use.name)
        if operator is None or not operator.refused:
            continue
        for path, argument, value in _pair_arguments(use):
            if kind := _find_wrong_kind(argument, value):
                taken = " or ".join(argument.takes)
                at = spec.locate(("pipeline", *path))
                message = f"`{argument.name}` of `{use.name}` is {taken}, not {kind}"
                yield finding("MT315", spec.file, at, message, f"see {operator.manual}")


def _pair_arguments(use: Use) -> Iterator[tuple[tuple[str | int, ...], Argument, Any]]:
    """The arguments of a use as they are defined, each with its place and what is written there."""
    known = find_arguments(use.kind, use.name)
    if takes_named_arguments(use.kind, use.name):
        written = use.argument if isinstance(use.argument, Mapping) else {}
        for name, value in written.items():
            if name in known:
                yield (*use.path, name), known[name], value
    elif len(known) == 1 and not isinstance(use.argument, (list, tuple)):
        yield use.path, next(iter(known.values())), use.argument


def _find_wrong_kind(argument: Argument, value: Any) -> str:
    """The kind of a constant that is none of those that an argument takes; "" where it is, or may be."""
    if argument.variadic or not _PLAIN.issuperset(argument.takes) or not _is_constant(value):
        return ""
    kind = type_name(value)
    taken = {"number" if one in _NUMBERS else one for one in argument.takes}
    return "" if ("number" if kind in _NUMBERS else kind) in taken else kind


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return not value.startswith("$")
    if isinstance(value, Mapping):
        return not any(name.startswith("$") for name in value)
    return value is not None
