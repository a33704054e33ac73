"""Which fields of a document an expression reads, by its text alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Parts = tuple[str, ...]


def paths_in(expression: Any) -> Iterator[Parts]:
    """The fields of the document that an expression reads, in the order of its text, repeated as they are there.

    The empty path stands for the whole document, also where a field's name is computed (``$getField``).
    """
    if isinstance(expression, str):
        yield from _read_by_text(expression)
    elif isinstance(expression, Mapping):
        for key, value in expression.items():
            if key == "$getField":
                yield ()
            if key == "sortBy" and isinstance(value, Mapping):
                yield from (tuple(name.split(".")) for name in value)
            elif key != "$literal":
                yield from paths_in(value)
    elif isinstance(expression, (list, tuple)):
        for value in expression:
            yield from paths_in(value)


def _read_by_text(text: str) -> Iterator[Parts]:
    if text.startswith("$$"):
        name, _, rest = text[2:].partition(".")
        if name in ("ROOT", "CURRENT"):
            yield tuple(rest.split(".")) if rest else ()
    elif text.startswith("$"):
        yield tuple(text[1:].split("."))
