"""Changes between two lists of tables: changed cells; added or removed rows, columns and tables.

Rows are matched by columns that distinguish them on both sides: the columns of a key; for a chart its horizontal axis
and its series; otherwise as few columns as necessary, the first and those of the others that can identify a row.
Measured figures identify nothing, because they change. Rows that no column distinguishes are paired in their order;
their names are ``unclear``.

Text of a pull request, which anybody may write, appears literally in Markdown and has no effect. GitHub turns names
(``@team``), numbers (``#12``), commits and addresses into links after Markdown became HTML, so a reference such as
``&#64;`` does not help: the person is notified all the same. GitHub leaves code alone. So text other than plain words
or numbers is in a ``<code>``, with references for all characters that are special in Markdown.
https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from math import isfinite
from typing import Final

from mongo_tables.commands.diff.tables import PageTable, ShownCell, ShownCells
from mongo_tables.findings.reporters import escape_control_chars, format_count

_MOST_KEYS: Final = 3
"""Keys with up to this many columns are tried; then all columns that can identify a row are used."""
_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_DIGEST: Final = "experiment digest"


@dataclass(frozen=True, slots=True)
class CellChange:
    """``old`` and ``new`` as readers see them, or raw if those are equal. ``ratio`` is new to old, for numbers."""

    row: str
    column: str
    old: str
    new: str
    ratio: float | None


@dataclass(frozen=True, slots=True)
class TableChange:
    """The changes in one table. ``state`` is "came" or "went" for a table on one side only, else "changed".

    ``came_cells`` and ``went_cells`` are the cells of added or removed rows in columns that do not identify a row.
    ``unclear``: labels of several rows that no column distinguishes. ``measured``: changes in how it was measured,
    name → texts of old and new. ``retested``: the experiment itself changed, so old and new are not results of one
    test.
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
    """Return every table that differs between the sides, in the order of the new, then the removed ones."""
    before, after = _index_by_name(old), _index_by_name(new)
    found = []
    for key, table in after.items():
        if key not in before:
            found.append(TableChange(table.page, table.line, table.name, "came"))
        elif change := _compare_table(before[key], table):
            found.append(change)
    gone = [table for key, table in before.items() if key not in after]
    return [*found, *(TableChange(table.page, table.line, table.name, "went") for table in gone)]


def _index_by_name(tables: Sequence[PageTable]) -> dict[tuple[str, str, int], PageTable]:
    """Index tables by page and name; several with the same name also by their order."""
    found: dict[tuple[str, str, int], PageTable] = {}
    for table in tables:
        number = 0
        while (table.page, table.name, number) in found:
            number += 1
        found[table.page, table.name, number] = table
    return found


def _compare_table(old: PageTable, new: PageTable) -> TableChange | None:
    measured = _compare_measurements(old, new)
    retested = _DIGEST in measured  # then figures have no ratio: they are not from one test
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
        came_cells=tuple(
            CellChange(row, column, "", text, None) for row, column, text in _list_cells(new, came)
        ),
        went_cells=tuple(
            CellChange(row, column, text, "", None) for row, column, text in _list_cells(old, went)
        ),
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


def _list_cells(table: PageTable, rows: Sequence[tuple[str, int]]) -> Iterator[tuple[str, str, str]]:
    """Yield label, column and text of the cells of rows, in columns that cannot identify them."""
    for label, row in rows:
        for at, column in enumerate(table.columns):
            if at not in table.naming:
                yield label, column, table.rows[row][at].text


def _ratio(old: ShownCell, new: ShownCell) -> float | None:
    numbers = [
        float(cell.raw.replace(",", "")) if cell.raw and _NUMBER.fullmatch(cell.raw) else None
        for cell in (old, new)
    ]
    before, after = numbers
    if before is None or after is None or not before:
        return None
    ratio = after / before
    return ratio if isfinite(ratio) else None


def _compare_measurements(old: PageTable, new: PageTable) -> dict[str, tuple[str, str]]:
    """Return the differences in how the tables were measured, including what only one side states."""
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
    """A row of the new table and its match in the old one, by number, or None if that side has none."""

    name: str
    old: int | None
    new: int | None


Identity = tuple[str, ...]
Columns = tuple[tuple[int, int], ...]
"""Columns of both tables: the number of each in the old, and in the new."""


def _pair_rows(old: PageTable, new: PageTable) -> tuple[list[_Pair], tuple[str, ...]]:
    """Pair the rows of the new table in its order, then the removed ones. Return the pairs and the unclear labels.

    A label is unclear if several rows have it, and they differ between the sides.
    """
    key = _find_key(old, new)
    before, after = (_group_by_identity(each) for each in _identify_rows(old, new, key))
    found: list[_Pair] = []
    unclear: list[str] = []
    for identity in dict.fromkeys([*after, *before]):
        olds, news = before.get(identity, []), after.get(identity, [])
        row, at = (new.rows[news[0]], 1) if news else (old.rows[olds[0]], 0)
        label = ", ".join(row[columns[at]].text for columns in key)
        if olds and news and max(len(olds), len(news)) > 1:
            sides = [sorted(repr(old.rows[one]) for one in olds), sorted(repr(new.rows[one]) for one in news)]
            unclear += [label] if sides[0] != sides[1] else []
        found += _match_rows(label, old, new, olds, news)
    inside = sorted((pair for pair in found if pair.new is not None), key=lambda pair: pair.new or 0)
    gone = sorted((pair for pair in found if pair.new is None), key=lambda pair: pair.old or 0)
    return [*inside, *gone], tuple(unclear)


def _group_by_identity(identities: Sequence[Identity]) -> dict[Identity, list[int]]:
    found: dict[Identity, list[int]] = {}
    for number, identity in enumerate(identities):
        found.setdefault(identity, []).append(number)
    return found


def _match_rows(
    label: str, old: PageTable, new: PageTable, olds: Sequence[int], news: Sequence[int]
) -> Iterator[_Pair]:
    """Pair the rows of one label: equal ones first, then the others in order if both sides have the same number."""
    equal: dict[ShownCells, list[int]] = {}
    for one in reversed(olds):
        equal.setdefault(old.rows[one], []).append(one)
    partner = {one: equal[new.rows[one]].pop() if equal.get(new.rows[one]) else None for one in news}
    taken = set(partner.values())
    rest, free = [one for one in news if partner[one] is None], [one for one in olds if one not in taken]
    if len(rest) == len(free):
        partner.update(zip(rest, free, strict=True))
        free = []

    def name(number: int) -> str:
        return label if number == 1 else f"{label} (number {number} of this label)"

    yield from (_Pair(name(place), partner[one], one) for place, one in enumerate(news, 1))
    yield from (_Pair(name(place), one, None) for place, one in enumerate(olds, 1) if one in free)


def _find_key(old: PageTable, new: PageTable) -> Columns:
    """Choose the columns that identify the rows of both tables."""
    naming = _find_shared_columns(old, new)
    if old.stated or new.stated or not naming:
        return naming or ((0, 0),)

    def count_names(key: Columns) -> int:
        return sum(len(set(each)) for each in _identify_rows(old, new, key))

    rows = len(old.rows) + len(new.rows)
    first, *others = naming
    for count in range(min(_MOST_KEYS, len(naming))):
        for more in combinations(others, count):
            if count_names((first, *more)) == rows:
                return (first, *more)
    return naming if count_names(naming) == rows else _keep_telling(naming, count_names)


def _keep_telling(naming: Columns, count_names: Callable[[Columns], int]) -> Columns:
    """Keep the first column, and those that distinguish more rows than the ones before them."""
    kept = naming[:1]
    for column in naming[1:]:
        if count_names((*kept, column)) > count_names(kept):
            kept = (*kept, column)
    return kept


def _identify_rows(old: PageTable, new: PageTable, key: Columns) -> Iterator[list[Identity]]:
    for table, side in ((old, 0), (new, 1)):
        cells = ([row[columns[side]] for columns in key] for row in table.rows)
        yield [tuple(cell.text if cell.raw is None else cell.raw for cell in row) for row in cells]


def _find_shared_columns(old: PageTable, new: PageTable) -> Columns:
    """Find the columns that can identify rows on both sides. The first one may have another header."""
    if not (old.columns and new.columns):
        return ()
    named = {old.columns[one] for one in old.naming} | {new.columns[one] for one in new.naming}
    shared = (header for header in new.columns if header in named and header in old.columns)
    found = [(old.columns.index(header), new.columns.index(header)) for header in shared]
    return tuple(dict.fromkeys(found if old.stated or new.stated else [(0, 0), *found]))


# -- as text for a terminal, or as Markdown for a code host --


MOST: Final = 60_000
"""The most characters of a comment; GitHub accepts 65,536."""
_UNFOLDED: Final = 30
"""The most lines of changes that are visible without a click."""
_HEAD: Final = ("| Row | Column | Before | Now | Now to before |", "| --- | --- | ---: | ---: | ---: |")


def text(changes: Sequence[TableChange]) -> Iterator[str]:
    """Yield lines for a terminal; a single one if nothing changed."""
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
    """Yield the remarks on a table besides its cells. With ``rows``, which rows were added and removed."""
    for name, (old, new) in (change.measured or {}).items():
        yield f"measured differently: {name} {old} → {new}"
    if change.retested:
        yield "the experiment itself changed: these are not figures of the same test, and have no ratio"
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
        yield f"the rows {label} cannot be told apart: they are paired in order if their numbers match"
    if change.reordered:
        yield "the rows are in another order"


def _times(cell: CellChange) -> str:
    """Return a ratio with three significant digits."""
    return "" if cell.ratio is None else f"{cell.ratio:.3g} times"


def markdown(
    changes: Sequence[TableChange], compared: tuple[str, str], failed: int = 0, marker: str = ""
) -> str:
    """Return how much changed, then each table with its changed, new and removed rows.

    ``compared`` names the old and the new; ``failed`` counts the new tables that have no rows because of a fault.
    With a ``marker``, its first line, the text is the comment of a pull request: it is cut to the maximum length, and
    says how much is missing.
    """
    whose = "that this pull request changes" if marker else "that change"
    old, new = map(show, compared)
    intro = [f"### Numbers {whose}", "", f"{_count(changes)}, at {new}, compared with {old}.", ""]
    if marker:
        intro.insert(0, marker)
    if failed:
        intro += [f"{format_count(failed, 'table')} cannot be compared: the check says what is wrong.", ""]
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
    return "**No number changed, but other things did**" if changes else "**No number changed**"


def _describe(change: TableChange) -> Iterator[str]:
    """Yield a heading, a line for each cell that changed, came or went, then the notes."""
    state = {"came": " (new table)", "went": " (table gone)"}.get(change.state, "")
    yield from (f"#### {show(change.name)}{state}, {show(change.page)}, line {change.line}", "")
    rows = [_row(cell, "") for cell in change.cells]
    for labels, cells, said in (
        (change.came, change.came_cells, " **new row**"),
        (change.went, change.went_cells, " **row gone**"),
    ):
        for label in labels:
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
"""The most characters of a text that are shown."""
_POINT: Final = r"(?<=[0-9])\.(?=[0-9])"
_PLAIN: Final = rf"(?:[-−](?=[0-9]))?(?:[A-Za-z0-9 ,%()/µ×±→–−]|:(?= )|{_POINT})*"
"""Words and numbers, which have no special meaning in Markdown or on GitHub."""
_SAFE_IN_CODE: Final = re.compile(rf"[^\w ,%()/]|_|(?!{_POINT})\.")


def show(text: str) -> str:
    """Escape a text for a line or a cell of Markdown. Cut a very long one."""
    shown = escape_control_chars(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
    if re.fullmatch(_PLAIN, shown):
        return shown
    return f"<code>{_SAFE_IN_CODE.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"
