"""Changes between two lists of tables: changed cells; added or removed rows, columns and tables.

Rows are matched by columns that distinguish them on both sides: in a chart by horizontal axis and series, in a table by
the first column and as few others as necessary. Measured figures cannot identify a row, because they change. If several
rows have the same label, only equal rows are paired, and the label is ``unclear``.

The text of a pull request is untrusted, so it must have no effect in Markdown. GitHub turns names (``@team``), numbers
(``#12``), commits and addresses into links, even if they are written with character references such as ``&#64;``, but
not in code. So all text except plain words and numbers is put into ``<code>``, with references for characters that are
special in Markdown.
https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import isfinite
from typing import Any, Final, TypeVar

from mongo_tables.commands.diff.tables import PageTable, ShownCell, ShownCells
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.results.row_names import choose_telling

_Key = TypeVar("_Key", bound=Hashable)

_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_DIGEST: Final = "experiment digest"


@dataclass(frozen=True, slots=True)
class CellChange:
    """A changed cell.

    ``old`` and ``new`` are the texts that readers see or, if these are equal, the texts without a format. ``ratio`` is
    new divided by old, or None if the values are not numbers.
    """

    row: str
    column: str
    old: str
    new: str
    ratio: float | None


@dataclass(frozen=True, slots=True)
class TableChange:
    """The changes in one table.

    Attributes:
        state: "came" for a new table, "went" for a removed one, else "changed".
        came: The labels of added rows.
        went: The labels of removed rows.
        came_cells: The cells of added rows, except in columns that identify rows.
        went_cells: The cells of removed rows, except in columns that identify rows.
        unclear: The labels that several rows share, if some of these rows changed.
        measured: The changed conditions of the measurement, each with its old and new values.
        retested: Whether the experiment itself changed, so that old and new are results of different tests.
        failed: For the old and the new side, the reason why the table has no rows, or "".
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


def compare(old: Sequence[PageTable], new: Sequence[PageTable]) -> list[TableChange]:
    """Return the tables that differ, in the order of the new side. Removed tables come last."""
    before, after = (
        dict(zip(_number((one.page, one.name) for one in side), side, strict=True)) for side in (old, new)
    )
    found = []
    for key, table in after.items():
        if key not in before:
            found.append(TableChange(table.page, table.line, table.name, "came"))
        elif change := _compare_table(before[key], table):
            found.append(change)
    gone = [table for key, table in before.items() if key not in after]
    return [*found, *(TableChange(table.page, table.line, table.name, "went") for table in gone)]


def _number(keys: Iterable[_Key]) -> Iterator[tuple[_Key, int]]:
    """Yield each key with the number of equal keys before it, which makes all results distinct."""
    seen: Counter[_Key] = Counter()
    for key in keys:
        yield key, seen[key]
        seen[key] += 1


def _compare_table(old: PageTable, new: PageTable) -> TableChange | None:
    measured = _compare_measurements(old, new)
    retested = _DIGEST in measured  # then figures have no ratio, because they come from different tests
    pairs, unclear = _pair_rows(old, new)
    both = [pair.old for pair in pairs if pair.old is not None and pair.new is not None]
    columns_came = tuple(column for column in new.columns if column not in old.columns)
    columns_went = tuple(column for column in old.columns if column not in new.columns)
    came = [(pair.name, pair.new) for pair in pairs if pair.old is None and pair.new is not None]
    went = [(pair.name, pair.old) for pair in pairs if pair.new is None and pair.old is not None]
    cells = tuple(_compare_cells(old, new, pairs, retested))
    reordered = both != sorted(both)
    parts = (cells, came, went, columns_came, columns_went, measured, reordered, old.failed != new.failed)
    if not any(parts):
        return None
    return TableChange(
        page=new.page,
        line=new.line,
        name=new.name,
        state="changed",
        cells=cells,
        came=tuple(name for name, _ in came),
        went=tuple(name for name, _ in went),
        came_cells=tuple(_list_cells(new, came)),
        went_cells=tuple(replace(one, old=one.new, new="") for one in _list_cells(old, went)),
        columns_came=columns_came,
        columns_went=columns_went,
        reordered=reordered,
        unclear=unclear,
        measured=measured,
        retested=retested,
        failed=(old.failed, new.failed),
    )


def _compare_cells(
    old: PageTable, new: PageTable, pairs: Sequence[_Pair], retested: bool
) -> Iterator[CellChange]:
    common = [column for column in new.columns if column in old.columns]
    for pair in pairs:
        if pair.old is None or pair.new is None:
            continue
        for column in common:
            was = old.rows[pair.old][old.columns.index(column)]
            now = new.rows[pair.new][new.columns.index(column)]
            if (was.raw, was.text) != (now.raw, now.text):
                texts = (was.text, now.text) if was.text != now.text else (was.raw or "", now.raw or "")
                yield CellChange(pair.name, column, *texts, None if retested else _ratio(was, now))


def _list_cells(table: PageTable, rows: Sequence[tuple[str, int]]) -> Iterator[CellChange]:
    """Yield the cells of rows as new cells, except in columns that identify rows."""
    for label, row in rows:
        for at, column in enumerate(table.columns):
            if at not in table.naming:
                yield CellChange(label, column, "", table.rows[row][at].text, None)


def _ratio(old: ShownCell, new: ShownCell) -> float | None:
    numbers = [
        float(cell.raw.replace(",", "")) if cell.raw and _NUMBER.fullmatch(cell.raw) else None
        for cell in (old, new)
    ]
    before, after = numbers
    if before is None or after is None or not before or (before < 0) != (after < 0):
        return None
    ratio = after / before
    return ratio if isfinite(ratio) else None


def _compare_measurements(old: PageTable, new: PageTable) -> dict[str, tuple[str, str]]:
    """Return the differences between the measurements of both tables, including facts that only one side states."""
    if not (old.measured and new.measured):
        return {}
    found = {}
    for name in dict.fromkeys([*old.measured, *new.measured]):
        was, now = (", ".join(one.measured.get(name, ())) or "not said" for one in (old, new))
        if was != now:
            found[name] = (was, now)
    return found


# -- rows --


@dataclass(frozen=True, slots=True)
class _Pair:
    """A row of the new table and its match in the old table, by number. A side without the row has None."""

    name: str
    old: int | None
    new: int | None


Columns = Sequence[tuple[int, int]]
"""Columns that both tables have: the number of each column in the old table, and in the new table."""


def _pair_rows(old: PageTable, new: PageTable) -> tuple[list[_Pair], tuple[str, ...]]:
    """Return the pairs of rows in the order of the new table, then the removed rows, and the unclear labels.

    If several rows have the same label, only equal rows are paired, and the label of the others is unclear.
    """
    key = _find_key(old, new)
    names = [[_read_key(row, key, side) for row in table.rows] for side, table in enumerate((old, new))]
    repeated = {name for each in names for name, count in Counter(each).items() if count > 1}

    def index_rows(names: Sequence[Sequence[str]], rows: Sequence[ShownCells]) -> dict[Any, int]:
        identities = ((name, row if name in repeated else ()) for name, row in zip(names, rows, strict=True))
        return {one: number for number, one in enumerate(_number(identities))}

    before, after = index_rows(names[0], old.rows), index_rows(names[1], new.rows)
    pairs = [
        *(_Pair(_label(new.rows[row], key, 1), before.get(one), row) for one, row in after.items()),
        *(_Pair(_label(old.rows[row], key, 0), row, None) for one, row in before.items() if one not in after),
    ]
    labels = Counter(pair.name for pair in pairs)
    alone = (pair.name for pair in pairs if pair.old is None or pair.new is None)
    return pairs, tuple(dict.fromkeys(label for label in alone if labels[label] > 1))


def _read_key(row: ShownCells, key: Columns, side: int) -> tuple[str, ...]:
    cells = (row[columns[side]] for columns in key)
    return tuple(cell.text if cell.raw is None else cell.raw for cell in cells)


def _label(row: ShownCells, key: Columns, side: int) -> str:
    return ", ".join(row[columns[side]].text for columns in key)


def _find_key(old: PageTable, new: PageTable) -> Columns:
    """Return the columns that identify rows in both tables.

    These are all shared columns if ``stated`` is true for a table. Otherwise, they are as few columns as possible.
    """
    found = _find_shared_columns(old, new) or ((0, 0),)
    if old.stated or new.stated:
        return found
    numbers = range(len(found))
    rows = [
        {"side": side, **dict(enumerate(_read_key(row, found, side)))}
        for side, table in enumerate((old, new))
        for row in table.rows
    ]
    return [found[at] for at in (0, *choose_telling(rows, numbers[1:], ["side", 0]))]


def _find_shared_columns(old: PageTable, new: PageTable) -> Columns:
    """Return the columns that can identify rows on both sides. Only the first column may have different headers."""
    if not (old.columns and new.columns):
        return ()
    named = {old.columns[one] for one in old.naming} | {new.columns[one] for one in new.naming}
    shared = (header for header in new.columns if header in named and header in old.columns)
    found = [(old.columns.index(header), new.columns.index(header)) for header in shared]
    return tuple(dict.fromkeys(found if old.stated or new.stated else [(0, 0), *found]))


# -- as text for a terminal, or as Markdown for a code host --


MOST: Final = 60_000
"""The maximum number of characters of a comment; GitHub accepts 65,536."""
_UNFOLDED: Final = 30
"""The maximum number of lines of changes that are visible without a click."""
_HEAD: Final = ("| Row | Column | Before | Now | Now to before |", "| --- | --- | ---: | ---: | ---: |")


def text(changes: Sequence[TableChange]) -> Iterator[str]:
    """Yield lines for a terminal, or a single line if nothing changed."""
    if not changes:
        yield "nothing changed"
    for change in changes:
        state = "" if change.state == "changed" else f" {change.state}"
        lines = [
            f"{change.page}:{change.line}: {change.name}{state}",
            *(f"  {note}" for note in _notes(change)),
        ]
        for cell in change.cells:
            ratio = f" ({_times(cell)})" if cell.ratio is not None else ""
            lines.append(f"  {cell.row}, {cell.column}: {cell.old} → {cell.new}{ratio}")
        yield from map(escape_control_chars, lines)


def _notes(change: TableChange, *, rows: bool = True) -> Iterator[str]:
    """Yield the remarks on a table, without changed cells. With ``rows``, include added and removed rows."""
    for name, (old, new) in (change.measured or {}).items():
        yield f"measured differently: {name} {old} → {new}"
    if change.retested:
        yield "the experiment itself changed: the figures come from different tests and have no ratio"
    for side, failed in zip(("old", "new"), change.failed, strict=True):
        if failed:
            yield f"the {side} has no rows: {failed}"
    named = (
        ("row came", change.came if rows else ()),
        ("row went", change.went if rows else ()),
        ("column came", change.columns_came),
        ("column went", change.columns_went),
    )
    yield from (f"{what}: {one}" for what, ones in named for one in ones)
    for label in change.unclear:
        yield f"several rows have the name {label}, so only equal rows are paired"
    if change.reordered:
        yield "the rows are in another order"


def _times(cell: CellChange) -> str:
    return "" if cell.ratio is None else f"{cell.ratio:.3g} times"


def markdown(
    changes: Sequence[TableChange], compared: tuple[str, str], failed: int = 0, marker: str = ""
) -> str:
    """Return the changes as Markdown: their number, then each table with its changed, new and removed rows.

    ``compared`` has the names of the old and the new side, ``failed`` the number of tables without rows because of a
    fault. With ``marker``, the text is a comment on a pull request: it begins with the marker, and is cut to the
    maximum length.
    """
    whose = "that this pull request changes" if marker else "that change"
    old, new = map(show, compared)
    intro = [f"### Numbers {whose}", "", f"{_count(changes)}, at {new}, compared with {old}.", ""]
    if marker:
        intro.insert(0, marker)
    if failed:
        intro += [f"{format_count(failed, 'table')} cannot be compared; `mongo-tables check` says why.", ""]
    lines = kept = [line for change in changes for line in _describe(change)]
    room = MOST - sum(len(line) + 1 for line in intro)
    fitting = sum(length <= room for length in accumulate(len(line) + 1 for line in lines))
    if marker and fitting < len(lines):
        more = format_count(len(lines) - fitting, "more line")
        left = f"{more}: the artifact of this job has all of them, in `changes.json`."
        kept = [*lines[:fitting], "", left]
    if len(lines) > _UNFOLDED:
        kept = ["<details><summary>All changes</summary>", "", *kept, "", "</details>"]
    return "\n".join([*intro, *kept]).rstrip() + "\n"


def _count(changes: Sequence[TableChange]) -> str:
    counted = (
        (sum(len(one.cells) for one in changes), "number", "changed"),
        (sum(len(one.came) for one in changes), "row", "new"),
        (sum(len(one.went) for one in changes), "row", "gone"),
        (sum(one.state == "came" for one in changes), "table", "new"),
        (sum(one.state == "went" for one in changes), "table", "gone"),
    )
    said = [f"{format_count(number, noun)} {what}" for number, noun, what in counted if number]
    if said:
        return f"**{', '.join(said)}**"
    return "**No number changed, but the tables did**" if changes else "**No number changed**"


def _describe(change: TableChange) -> Iterator[str]:
    state = {"came": " (new table)", "went": " (table gone)"}.get(change.state, "")
    yield from (f"#### {show(change.name)}{state}, {show(change.page)}, line {change.line}", "")
    rows = [_row(cell, "") for cell in change.cells]
    for labels, cells, said in (
        (change.came, change.came_cells, " **new row**"),
        (change.went, change.went_cells, " **row gone**"),
    ):
        for label in dict.fromkeys(labels):
            own = [cell for cell in cells if cell.row == label]
            rows += [_row(cell, said) for cell in own or [CellChange(label, "", "", "", None)]]
    if rows:
        yield from (*_HEAD, *rows, "")
    notes = [f"* {show(note)}" for note in _notes(change, rows=False)]
    yield from [*notes, *([""] if notes else [])]


def _row(cell: CellChange, state: str) -> str:
    cells = (show(cell.row) + state, *map(show, (cell.column, cell.old, cell.new, _times(cell))))
    return f"| {' | '.join(cells)} |"


_LONGEST: Final = 200
"""The maximum length of a text. Longer texts are cut."""
_POINT: Final = r"(?<=[0-9])\.(?=[0-9])"
_PLAIN: Final = rf"(?:[-−](?=[0-9]))?(?:[A-Za-z0-9 ,%()/µ×±→–−]|:(?= )|{_POINT})*"
"""Words and numbers, which have no special meaning in Markdown or on GitHub."""
_SAFE_IN_CODE: Final = re.compile(rf"[^\w ,%()/]|_|(?!{_POINT})\.")


def show(text: str) -> str:
    """Return an untrusted text for a line or a cell of Markdown, cut if it is very long."""
    shown = escape_control_chars(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
    if re.fullmatch(_PLAIN, shown):
        return shown
    return f"<code>{_SAFE_IN_CODE.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"
