"""What is known beside the text that is edited: documents, tables of all pages with their rows, shared pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from mongo_tables.lint.shape.values import Shape
from mongo_tables.render.column import column_value

Stage = Mapping[str, Any]
Plain = str | int | float
"""A value that can be named."""


class Knowledge(Protocol):
    """What completion and hovering ask for. Nothing of it may reach for a server."""

    def shape(self, collection: str, pipeline: Sequence[Stage]) -> Shape:
        """What the documents of a collection look like that the first stage of a pipeline may keep."""
        ...

    def shared(self, name: str) -> Sequence[Stage]:
        """The stages of a shared list; none where there is no such list."""
        ...

    def shared_names(self) -> Mapping[str, str]:
        """The names of shared lists, each with what it says of itself."""
        ...

    def meanings(self, name: str) -> Mapping[str, str]:
        """What a shared list says of the fields that its stages make, by their names."""
        ...

    def collections(self) -> Mapping[str, str]:
        """The collections of the results source, each with how many documents it has, or that it cannot be read."""
        ...

    def tables(self) -> Mapping[str, str]:
        """The ids of tables of all pages, each with its title and page."""
        ...

    def columns(self, table: str) -> Mapping[str, str]:
        """The columns of a table, each with its header, and the other fields of its rows."""
        ...

    def rows(self, table: str) -> Sequence[Mapping[str, Any]]:
        """The rows of a table; none where it was not run, or failed."""
        ...

    def share(self, collection: str, path: str) -> tuple[int, int]:
        """In how many documents of a collection a field is, and among how many."""
        ...

    def value_text(self, value: Any) -> str:
        """What the comment of a value with this JSON writes into its sentence; nothing where it writes nothing."""
        ...

    def has_results(self, collection: str) -> bool:
        """Whether all documents of a collection are benchmark results."""
        ...


def order_values(values: Iterable[Plain]) -> list[Plain]:
    """The values in order: numbers, then texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def values_of_column(rows: Sequence[Mapping[str, Any]], column: str) -> frozenset[Plain]:
    """The texts and numbers that rows have in a column."""
    values = (column_value(row, column) for row in rows)
    return frozenset(value for value in values if isinstance(value, (str, int, float)))
