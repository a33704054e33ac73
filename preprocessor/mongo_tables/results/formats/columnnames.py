"""The names of a table's columns as fields of documents have them."""

from __future__ import annotations

from collections.abc import Sequence


def field_names(columns: Sequence[str]) -> list[str]:
    """A field for each column: a dot, which would lead into a document within the document, becomes ``_``.

    A column without a name is called by its place: ``column_1``.
    """
    return [name.strip().replace(".", "_") or f"column_{number}" for number, name in enumerate(columns, 1)]


def find_repeated(names: Sequence[str]) -> int | None:
    """The index of the first name that an earlier one has already."""
    seen: dict[str, int] = {}
    return next((index for index, name in enumerate(names) if seen.setdefault(name, index) != index), None)
