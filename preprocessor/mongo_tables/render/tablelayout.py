"""What a table is made of, whatever it is written in: columns, rows below their headings, totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.render.column import Column
from mongo_tables.render.columns import columns_of
from mongo_tables.render.notes import notes_of
from mongo_tables.render.rowgroups import RowGroup, row_groups
from mongo_tables.render.totals import TotalRow, total_rows, totals_note

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec


class TableLayout(NamedTuple):
    """A table: the columns that are shown, of ``all_columns``; its groups of rows; its totals; the notes below it."""

    columns: Sequence[Column]
    all_columns: Sequence[Column]
    groups: Sequence[RowGroup]
    totals: Sequence[TotalRow]
    notes: Sequence[str]

    @property
    def headings(self) -> list[tuple[str, int]]:
        """What stands above the headers: each text, "" for none, and how many columns it spans; empty without any."""
        if not any(column.heading for column in self.columns):
            return []
        return [(text, len(list(same))) for text, same in groupby(column.heading for column in self.columns)]


def lay_out(
    spec: TableSpec, rows: Sequence[Mapping[str, object]], columns: Sequence[Column] | None = None
) -> TableLayout:
    """The parts of a table with rows; ``columns`` are those of ``columns_of``, where they are known already."""
    known = columns or columns_of(spec, rows)
    shown = [one for one in known if not spec.group_rows or one.name != spec.group_rows]
    own = totals_note(spec, shown)
    return TableLayout(
        shown,
        known,
        row_groups(spec, known, len(rows)),
        total_rows(spec, shown),
        [*notes_of(shown), *([own] if own else [])],
    )
