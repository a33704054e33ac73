"""The formats of tables in rendered pages, by the names that ``render --format`` knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec


class TableWriter(Protocol):
    """Gives the lines of a table, without line ends; ``below`` are texts that stand under it."""

    def __call__(  # noqa: D102 (the class says it)
        self, spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = ()
    ) -> list[str]: ...


DEFAULT: Final = "pipe"
TABLE_FORMATS: Final[Mapping[str, str]] = {
    DEFAULT: "pipe_table:pipe_table",
    "html": "plain_html:plain_html_table",
}
"""The module of each, and the function in it. Whoever declares the option needs the names alone."""


def table_writer(name: str) -> TableWriter:
    """What writes tables in a format."""
    module, function = TABLE_FORMATS[name].split(":")
    writer: TableWriter = getattr(import_module(f"mongo_tables.render.{module}"), function)
    return writer
