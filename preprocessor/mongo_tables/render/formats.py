"""The formats of tables in rendered pages, by the names that ``render --format`` knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec


class TableWriter(Protocol):
    """A function that returns the lines of a table, without line ends. ``below`` are texts to print under it."""

    def __call__(  # noqa: D102 (described by the class)
        self, spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = ()
    ) -> list[str]: ...


DEFAULT: Final = "pipe"
TABLE_FORMATS: Final[Mapping[str, str]] = {
    DEFAULT: "pipe_table:pipe_table",
    "html": "html:plain_html_table",
}
"""The module of each format, and the function in it; the names alone are enough to declare the option."""


def table_writer(name: str) -> TableWriter:
    """Return the function that writes tables in a format."""
    module, function = TABLE_FORMATS[name].split(":")
    writer: TableWriter = getattr(import_module(f"mongo_tables.render.{module}"), function)
    return writer
