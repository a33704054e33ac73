"""Operators, arguments, values and variables that are newer than the configured server.

The catalogue of operators has the version since which MongoDB knows an operator or argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.catalogue import find, find_arguments
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.uses import list_uses
from mongo_tables.findings.rules import finding

if TYPE_CHECKING:
    from mongo_tables.aggregation.catalogue import OperatorKind
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.findings.finding import Finding

_KINDS: Final[tuple[OperatorKind, ...]] = ("stage", "expression", "accumulator", "window")
_UNKNOWN: Final = re.compile(r"(?:unrecognized|unknown)\b[^$]*(\$\w+)", re.IGNORECASE)
COMPUTED: Final = "computed"
"""The key in ``catalogue.Operator.since_values`` that stands for all values that depend on the document."""
_VARIABLES: Final = {"NOW": "4.2", "CLUSTER_TIME": "4.2"}
"""The versions that introduced variables."""
_LAST_PATCH: Final = 999
"""The patch number that is assumed for a version without a patch number: 6.0 means the last version of its series."""


def since_hint(message: str) -> str:
    """Return a hint for a server's error about an unknown operator: the version that introduced it.

    Return "" for other errors, and if the version is unknown.
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
    """MT314: each operator, argument, value and variable of a pipeline that is newer than the server."""
    for use in list_uses(spec.pipeline):
        operator = find(use.kind, use.name)
        if operator is not None and is_newer(operator.since, server):
            yield _too_new(spec, use.path, f"`{use.name}`", operator.since, server)
            continue
        arguments = find_arguments(use.kind, use.name) if isinstance(use.argument, Mapping) else {}
        for name, argument in arguments.items():
            if name in use.argument and is_newer(argument.since, server):
                path = (*use.path, name)
                yield _too_new(spec, path, f"`{name}` of `{use.name}`", argument.since, server)
        for name, parts in ((operator and operator.since_values) or {}).items():
            named = isinstance(use.argument, Mapping) and name in use.argument
            value, path = (use.argument[name], (*use.path, name)) if named else (use.argument, use.path)
            for part, since in parts.items():
                joint = part in arguments
                has = named and part in use.argument if joint else _has_part(value, part)
                if has and is_newer(since, server):
                    what = f"`{name}` with `{part}`" if joint else f"`{part}` of `{use.name}`"
                    what = f"a {part} `{name}`" if part == COMPUTED else what
                    yield _too_new(spec, path, what, since, server, key=joint or not named)
    newer = {f"$${name}": since for name, since in _VARIABLES.items() if is_newer(since, server)}
    for path, text in _list_strings(spec.pipeline, ()) if newer else ():
        if text in newer:
            yield _too_new(spec, path, f"`{text}`", newer[text], server, key=False)


def _list_strings(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the strings in a value outside of ``$literal``, each with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (Mapping, list, tuple)):
        for key, one in value.items() if isinstance(value, Mapping) else enumerate(value):
            if key != "$literal":
                yield from _list_strings(one, (*path, key))


def _has_part(value: Any, part: str) -> bool:
    """Return whether a value contains ``part``, such as a specifier of a format, or depends on the document
    (``COMPUTED``).
    """
    if part == COMPUTED:
        return not _is_constant(value) and not (isinstance(value, Mapping) and "$literal" in value)
    return isinstance(value, str) and part in value.replace("%%", "")


def _too_new(
    spec: PipelineSpec, path: Path, name: str, since: str, server: str, *, key: bool = True
) -> Finding:
    at = spec.locate(("pipeline", *path), key=key)
    message = f"{name} came with MongoDB {since}, but the server is {server}"
    return finding("MT314", spec.file, at, message, "use older operators, or use a newer server")


def is_newer(since: str, server: str) -> bool:
    """Return whether a version is newer than the server's, or False if either is unknown.

    Example:
        >>> is_newer("7.0", "6.0.3")
        True
    """
    if not since or not server:
        return False
    version = _parts(server)
    return _parts(since) > (*version, _LAST_PATCH)[:3]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return not value.startswith("$")
    if isinstance(value, Mapping):
        return not any(name.startswith("$") for name in value)
    return value is not None
