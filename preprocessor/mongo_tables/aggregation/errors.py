"""Errors of pipelines as data: the message, the path, and the server's error code, if known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from mongo_tables.aggregation.catalogue import KINDS, find_arguments

PathPart = str | int
Path = tuple[PathPart, ...]


class AggregationError(Exception):
    """An error in a pipeline, or during its run, that the server would also report.

    Attributes:
        path: The path from the pipeline to the culprit, for example ``(3, "$set", "x", "$divide", 1)``.
        code: MongoDB's numeric error code, or None if unknown.
        unknown: The unknown name that the error is about, or "".
        known: The names that are valid in place of ``unknown``, for suggestions.
    """

    def __init__(
        self,
        message: str,
        path: Path | None = None,
        code: int | None = None,
        *,
        unknown: str = "",
        known: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.code = code
        self.unknown = unknown
        self.known = tuple(known)
        # Whether the error occurred in the computation of a constant, which the server may never need.
        self.constant = False

    def at(self, path: Path) -> AggregationError:
        """Return this error with the path ``path``, unless the error already has a path, which is more exact."""
        if self.path is None:
            self.path = path
        return self

    def __str__(self) -> str:
        return f"{self.message} (at {format_path(self.path)})" if self.path else self.message


def refuse_unknown(given: Iterable[str], known: Collection[str], saying: str, path: Path, code: int) -> None:
    """Raise AggregationError for the first name in ``given`` that is not in ``known``. ``path`` leads to the names.

    Raise NotOffline instead if some version of MongoDB has this argument for the operator at ``path``.
    """
    name = next((name for name in given if name not in known), None)
    if name is None:
        return
    operator = next((part for part in reversed(path) if isinstance(part, str) and part.startswith("$")), "")
    found = [arguments[name] for kind in KINDS if name in (arguments := find_arguments(kind, operator))]
    if found:
        since = f" (since MongoDB {found[0].since})" if found[0].since else ""
        raise NotOffline(f"`{name}` of {operator}{since} does not run offline", (*path, name))
    raise AggregationError(f"{saying} '{name}'", (*path, name), code, unknown=name, known=known)


def check_names(
    argument: Any,
    required: Sequence[str],
    optional: Sequence[str],
    path: Path,
    codes: tuple[int, int, int],
    form: str = "a document",
    what: str = "option",
) -> Mapping[str, Any]:
    """Return an operator's argument after checking its names.

    The argument must be a document with all ``required`` names; it may also have ``optional`` ones.

    ``codes``: the error codes for an argument that is not a document, an unknown name, and a missing name.
    """
    operator = path[-1]
    if not isinstance(argument, Mapping):
        raise AggregationError(f"{operator} requires {form}", path, codes[0])
    refuse_unknown(argument, (*required, *optional), f"{operator} has no {what}", path, codes[1])
    for name in required:
        if name not in argument:
            raise AggregationError(f"{operator} needs the {what} '{name}'", path, codes[2])
    return argument


class NotOffline(AggregationError):
    """The pipeline needs a feature that only a server has, so rows computed without a server could be wrong."""


def format_path(path: Path) -> str:
    """Return the path in readable form: ``pipeline[3].$set.x.$divide[1]``.

    Example:
        >>> format_path((3, "$set", "x", "$divide", 1))
        'pipeline[3].$set.x.$divide[1]'
    """
    text = "pipeline"
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text
