"""Rules about the rows that came: rows that readers cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preprocessor.findings import Finding
from preprocessor.lint.subject import quoted
from preprocessor.rules import finding
from preprocessor.specs import TableSpec


def key_columns(spec: TableSpec) -> tuple[str, ...]:
    """The columns by which readers tell rows apart: those that the rows are sorted by, else the first."""
    for stage in reversed(spec.pipeline):
        if "$sort" in stage:
            sorted_by = [column for column in spec.columns if column in stage["$sort"]]
            if sorted_by:
                return tuple(sorted_by)
    return spec.columns[:1]


def repeated_key(spec: TableSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """MT411: two rows have the same key, so that readers cannot know which is which."""
    from preprocessor.render.columns import column_value

    columns = key_columns(spec)
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        values = tuple(column_value(row, column) for column in columns)
        first = seen.setdefault(repr(values), number)
        if first != number:
            shown = ", ".join(str(value) for value in values)
            yield finding(
                "MT411",
                spec.file,
                spec.locate(("columns", spec.columns.index(columns[0]))),
                f"Rows {first} and {number} are both {shown} in {quoted(columns)}: readers cannot tell them apart.",
                "Show what differs between them, drop the stale document, or group them.",
            )
            return
