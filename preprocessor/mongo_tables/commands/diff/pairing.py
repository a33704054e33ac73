"""Which row of one table is which of another: rows belong together by what tells them apart on both sides.

That is what a key says, of a chart its horizontal axis and its series, else as few columns as it takes: the first, and
of the others those that can name a row. Measured figures name nothing, for they change. Rows that nothing tells apart
are paired in their order, and their names are given as unclear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from mongo_tables.commands.diff.states import Cell, Cells, Table

_MOST_KEYS: Final = 3
"""Of more columns than these no choice is made: all that can name a row do."""

Columns = tuple[tuple[int, int], ...]
"""Columns of both tables: the number of each in the old, and in the new."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of the new table and the same one of the old, by number; None where that side has none."""

    name: str
    old: int | None
    new: int | None


@dataclass(frozen=True, slots=True)
class Pairing:
    """All rows: those of the new table in its order, then those that went.

    ``unclear``: labels that several rows have, which are not the same on both sides.
    """

    pairs: tuple[Pair, ...]
    unclear: tuple[str, ...]


def pair_rows(old: Table, new: Table) -> Pairing:
    """The rows of two tables, held against each other."""
    key = _find_key(old, new)
    before = _group_rows([_identity(row, [i for i, _ in key]) for row in old.rows])
    after = _group_rows([_identity(row, [j for _, j in key]) for row in new.rows])
    found: list[Pair] = []
    unclear: list[str] = []
    for identity in dict.fromkeys([*after, *before]):
        olds, news = before.get(identity, []), after.get(identity, [])
        row, at = (new.rows[news[0]], 1) if news else (old.rows[olds[0]], 0)
        label = ", ".join(row[columns[at]].text for columns in key)
        rest = _unlike(old, new, olds, news)
        if rest and max(len(olds), len(news)) > 1 and olds and news:
            unclear.append(label)
        found += _match_rows(label, old, new, olds, news)
    inside = sorted((pair for pair in found if pair.new is not None), key=lambda pair: pair.new or 0)
    gone = sorted((pair for pair in found if pair.new is None), key=lambda pair: pair.old or 0)
    return Pairing((*inside, *gone), tuple(unclear))


def _match_rows(
    label: str, old: Table, new: Table, olds: Sequence[int], news: Sequence[int]
) -> Iterator[Pair]:
    """The rows of one label: equal ones are the same, the others go with each other in their order if as many."""
    equal: dict[Cells, list[int]] = {}
    for one in reversed(olds):
        equal.setdefault(old.rows[one], []).append(one)
    partner = {one: equal[new.rows[one]].pop() if equal.get(new.rows[one]) else None for one in news}
    taken = set(partner.values())
    rest, free = [one for one in news if partner[one] is None], [one for one in olds if one not in taken]
    if len(rest) == len(free):
        partner.update(zip(rest, free, strict=True))
        free = []
    yield from (Pair(_number_label(label, place), partner[one], one) for place, one in enumerate(news, 1))
    left = set(free)
    yield from (
        Pair(_number_label(label, place), one, None) for place, one in enumerate(olds, 1) if one in left
    )


def _unlike(old: Table, new: Table, olds: Sequence[int], news: Sequence[int]) -> bool:
    """Whether the rows of one name are not the same on both sides."""
    return sorted(map(repr, (old.rows[one] for one in olds))) != sorted(
        map(repr, (new.rows[one] for one in news))
    )


def _number_label(label: str, number: int) -> str:
    return label if number == 1 else f"{label} (number {number} of this label)"


def _group_rows(identities: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    for number, identity in enumerate(identities):
        found.setdefault(identity, []).append(number)
    return found


def _identity(row: Cells, key: Sequence[int]) -> tuple[str, ...]:
    return tuple(_value(row[column]) for column in key)


def _value(cell: Cell) -> str:
    return cell.text if cell.raw is None else cell.raw


def _find_key(old: Table, new: Table) -> Columns:
    """The columns that name the rows of both tables."""
    naming = _find_shared_columns(old, new)
    if old.stated or new.stated or not naming:
        return naming or ((0, 0),)
    first, *others = naming
    for count in range(min(_MOST_KEYS, len(naming))):
        for more in combinations(others, count):
            if _tells_apart(old, new, (first, *more)):
                return (first, *more)
    return naming if _tells_apart(old, new, naming) else _widest(old, new, naming)


def _widest(old: Table, new: Table, naming: Columns) -> Columns:
    """Of columns that do not tell all rows apart those that add something to the ones before them."""
    kept: Columns = ()
    for column in naming:
        if not kept or _count_names(old, new, (*kept, column)) > _count_names(old, new, kept):
            kept = (*kept, column)
    return kept


def _count_names(old: Table, new: Table, key: Columns) -> int:
    return sum(len(set(each)) for each in _identify_rows(old, new, key))


def _tells_apart(old: Table, new: Table, key: Columns) -> bool:
    return all(len(set(each)) == len(each) for each in _identify_rows(old, new, key))


def _identify_rows(old: Table, new: Table, key: Columns) -> Iterator[list[tuple[str, ...]]]:
    yield [_identity(row, [i for i, _ in key]) for row in old.rows]
    yield [_identity(row, [j for _, j in key]) for row in new.rows]


def _find_shared_columns(old: Table, new: Table) -> Columns:
    """The columns that can name rows on both sides; the first stays the first, whatever its header."""
    if not (old.columns and new.columns):
        return ()
    named = {old.columns[one] for one in old.naming} | {new.columns[one] for one in new.naming}
    stated = old.stated or new.stated
    found = [] if stated else [(0, 0)]
    for number, header in enumerate(new.columns):
        if header in named and header in old.columns:
            found.append((old.columns.index(header), number))
    return tuple(dict.fromkeys(found))
