"""The formats of tables in rendered pages, by the names that ``render --format`` knows.

Each is imported when it is asked for: whoever declares the option needs the names alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec


class TableWriter(Protocol):
    """Gives the lines of a table, without line ends; ``below`` are texts that stand under it."""

    def __call__(  # noqa: D102 (the class says it)
        self, spec: TableSpec, rows: Sequence[Mapping[str, object]], *, below: Sequence[str] = ()
    ) -> list[str]: ...


class TableFormat(NamedTuple):
    """How a page shows a table, and a text within a sentence."""

    table: TableWriter
    text: Callable[[str], str]


def _pipe() -> TableFormat:
    from mongo_tables.render.markup import escape_words
    from mongo_tables.render.pipe_table import pipe_table

    return TableFormat(pipe_table, escape_words)


def _html() -> TableFormat:
    from mongo_tables.render.markup import escape_words
    from mongo_tables.render.plain_html import plain_html_table

    return TableFormat(plain_html_table, escape_words)


DEFAULT: Final = "pipe"
TABLE_FORMATS: Final[Mapping[str, Callable[[], TableFormat]]] = {DEFAULT: _pipe, "html": _html}
