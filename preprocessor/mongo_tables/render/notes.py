"""The notes under a table: why a cell is ``n/a``, and what a comparison is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mongo_tables.aggregation.values import MISSING

if TYPE_CHECKING:
    from mongo_tables.render.column import Column


def notes_of(columns: Sequence[Column]) -> list[str]:
    """The notes of a table, as plain text: those alone that a cell of it calls for, each once."""
    own = dict.fromkeys(note for column in columns for note in column.notes)
    return [*_reasons([column for column in columns if column.reason]), *own]


def _reasons(columns: Sequence[Column]) -> list[str]:
    """One note for each reason, with all columns that lack a value for it."""
    headers: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        for text in _absent(column):
            headers.setdefault((text, column.reason), []).append(column.header)
    return [f"{text} under {', '.join(under)}: {reason}" for (text, reason), under in headers.items()]


def _absent(column: Column) -> list[str]:
    """The texts of cells without a value, each once."""
    pairs = zip(column.values, column.texts, strict=True)
    return list(dict.fromkeys(text for value, text in pairs if value is None or value is MISSING))
