"""Two lists of tables, held against each other: cells that changed, rows and tables that came or went.

Rows belong together as ``pairing`` finds. Figures of a test that itself changed are listed without a ratio: they are
not those of the same test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from mongo_tables.commands.diff.pairing import Pair, pair_rows
from mongo_tables.commands.diff.states import Cell, Table

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_DIGEST = "experiment digest"


@dataclass(frozen=True, slots=True)
class CellChange:
    """``old`` and ``new`` as readers see them, or raw where that looks alike; ``ratio`` is new to old, of numbers."""

    row: str
    column: str
    old: str
    new: str
    ratio: float | None


@dataclass(frozen=True, slots=True)
class TableChange:
    """What changed in one table. ``state`` is "came" or "went" for a table that only one side has, else "changed".

    ``came_cells`` and ``went_cells`` are what the rows that came or went show in columns that name no row.
    ``unclear``: labels of several rows that no column tells apart. ``measured``: what was measured otherwise, name →
    texts of old and new. ``retested``: the experiment itself changed, so that old and new are not results of one test.
    """

    page: str
    line: int
    name: str
    state: str
    cells: tuple[CellChange, ...] = ()
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    came_cells: tuple[CellChange, ...] = ()
    went_cells: tuple[CellChange, ...] = ()
    columns_came: tuple[str, ...] = ()
    columns_went: tuple[str, ...] = ()
    reordered: bool = False
    unclear: tuple[str, ...] = ()
    measured: Mapping[str, tuple[str, str]] | None = None
    retested: bool = False
    failed: tuple[str, str] = ("", "")


def compare(old: Sequence[Table], new: Sequence[Table]) -> list[TableChange]:
    """Every table that is not the same on both sides, in the order of the new, then those that went."""
    before, after = _index_by_name(old), _index_by_name(new)
    found = [_compare_table(before.get(key), table) for key, table in after.items()]
    gone = [_list_alone(table, "went") for key, table in before.items() if key not in after]
    return [one for one in found if one is not None] + gone


def _index_by_name(tables: Sequence[Table]) -> dict[tuple[str, str, int], Table]:
    """Tables by page and name; of several with one name, by their order too."""
    found: dict[tuple[str, str, int], Table] = {}
    for table in tables:
        number = 0
        while (table.page, table.name, number) in found:
            number += 1
        found[table.page, table.name, number] = table
    return found


def _list_alone(table: Table, state: str) -> TableChange:
    return TableChange(table.page, table.line, table.name, state)


def _compare_table(old: Table | None, new: Table) -> TableChange | None:
    if old is None:
        return _list_alone(new, "came")
    measured = _compare_measurements(old, new)
    retested = _DIGEST in measured
    rows = pair_rows(old, new)
    both = [pair.old for pair in rows.pairs if pair.old is not None and pair.new is not None]
    common = [column for column in new.columns if column in old.columns]
    change = TableChange(
        page=new.page,
        line=new.line,
        name=new.name,
        state="changed",
        cells=tuple(_compare_cells(old, new, rows.pairs, common, retested)),
        came=tuple(pair.name for pair in rows.pairs if pair.old is None),
        went=tuple(pair.name for pair in rows.pairs if pair.new is None),
        came_cells=tuple(_list_cells(new, [(one.name, one.new) for one in rows.pairs if one.old is None])),
        went_cells=tuple(
            CellChange(one.row, one.column, one.new, "", None)
            for one in _list_cells(old, [(one.name, one.old) for one in rows.pairs if one.new is None])
        ),
        columns_came=tuple(column for column in new.columns if column not in old.columns),
        columns_went=tuple(column for column in old.columns if column not in new.columns),
        reordered=both != sorted(both),
        unclear=rows.unclear,
        measured=measured,
        retested=retested,
        failed=(old.failed, new.failed),
    )
    return change if _differs(change) else None


def _differs(change: TableChange) -> bool:
    parts = (
        change.cells,
        change.came,
        change.went,
        change.columns_came,
        change.columns_went,
        change.measured,
    )
    return any(parts) or change.reordered or change.failed[0] != change.failed[1]


def _compare_cells(
    old: Table, new: Table, pairs: Sequence[Pair], common: Sequence[str], retested: bool
) -> Iterator[CellChange]:
    for pair in pairs:
        for column in common if pair.old is not None and pair.new is not None else ():
            was = old.rows[pair.old or 0][old.columns.index(column)]
            now = new.rows[pair.new or 0][new.columns.index(column)]
            if (was.raw, was.text) != (now.raw, now.text):
                texts = (was.text, now.text) if was.text != now.text else (was.raw or "", now.raw or "")
                yield CellChange(pair.name, column, *texts, None if retested else _ratio(was, now))


def _list_cells(table: Table, rows: Sequence[tuple[str, int | None]]) -> Iterator[CellChange]:
    """What rows show in columns that cannot name them, as new; each row by its label and its number."""
    for label, row in rows:
        for at, column in enumerate(table.columns):
            if at not in table.naming and row is not None:
                yield CellChange(label, column, "", table.rows[row][at].text, None)


def _ratio(old: Cell, new: Cell) -> float | None:
    before, after = _number(old), _number(new)
    if before is None or after is None or not before:
        return None
    ratio = after / before
    return ratio if isfinite(ratio) else None


def _number(cell: Cell) -> float | None:
    return float(cell.raw.replace(",", "")) if cell.raw and _NUMBER.fullmatch(cell.raw) else None


def _compare_measurements(old: Table, new: Table) -> dict[str, tuple[str, str]]:
    """What both sides say of how they were measured, or only one does, where they differ."""
    if not (old.measured and new.measured):
        return {}
    names = dict.fromkeys([*old.measured, *new.measured])
    said = {
        name: (_join_texts(old.measured.get(name)), _join_texts(new.measured.get(name))) for name in names
    }
    return {name: texts for name, texts in said.items() if texts[0] != texts[1]}


def _join_texts(texts: tuple[str, ...] | None) -> str:
    return ", ".join(texts) if texts else "not said"
