"""What can go wrong in a pipeline, as data: message, place, and the server's error code where there is one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

PathPart = str | int
Path = tuple[PathPart, ...]


class AggregationError(Exception):
    """A pipeline that the server would refuse, or fail on, too.

    ``path`` leads from the pipeline to the culprit, for example ``(3, "$set", "x", "$divide", 1)``.
    ``code`` is MongoDB's numeric error code where one is known, else ``None``. Where it is about a name that nobody
    knows, ``unknown`` is that name and ``known`` are those that could stand there: which was meant, others may guess.
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
        # Whether it is a constant that cannot be computed: no fault where the server never gets to computing it.
        self.constant = False

    def at(self, path: Path) -> AggregationError:
        """This error with ``path`` as its place, unless a more exact one is known already."""
        if self.path is None:
            self.path = path
        return self

    def __str__(self) -> str:
        return f"{self.message} (at {format_path(self.path)})" if self.path else self.message


def refuse_unknown(given: Iterable[str], known: Collection[str], saying: str, path: Path, code: int) -> None:
    """Raise AggregationError for the first name of ``given``, the names at ``path``, that is not in ``known``.

    Of an argument that the operator at the path has in some version of MongoDB it is NotOffline.
    """
    name = next((name for name in given if name not in known), None)
    if name is None:
        return
    from mongo_tables.aggregation.catalogue import (
        KINDS,
        find_arguments,
    )  # few pipelines have such an argument

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
    """The argument of an operator: a document that has all ``required`` names, and no others but ``optional`` ones.

    ``codes``: those of what is no document, of an unknown name, and of a missing one.
    """
    operator = path[-1]
    if not isinstance(argument, Mapping):
        raise AggregationError(f"{operator} takes {form}", path, codes[0])
    refuse_unknown(argument, (*required, *optional), f"{operator} has no {what}", path, codes[1])
    for name in required:
        if name not in argument:
            raise AggregationError(f"{operator} needs the {what} '{name}'", path, codes[2])
    return argument


class NotOffline(AggregationError):
    """The pipeline needs something that a server can do and this evaluator cannot: an error instead of a wrong row."""


def format_path(path: Path) -> str:
    """The path as people write it: ``pipeline[3].$set.x.$divide[1]``."""
    text = "pipeline"
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text
