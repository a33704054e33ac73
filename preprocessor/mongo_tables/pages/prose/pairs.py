"""Which two rows a share or a factor compares, by the words around it: `A is 3× faster than B`, `A beats B by 3×`.

What is compared stands before `than` and the like, what it is compared with behind; `beats` and `over` part the two
before the figure, and so do `from B to A`, `replacing B with A` and `A instead of B`. A sentence may begin with the one
that it compares with: `Compared to B, A is 3× faster`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.numbers import NUMBER, Figure, figures
from mongo_tables.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.naming import TableNames

_AGAINST: Final = re.compile(
    r"\b(?:than|as\s(?:\w+\s){1,3}as|(?:that|those|the\s(?:\w+\s)?\S+)\sof|compared\s(?:to|with)|relative\sto|against"
    r"|over|vs\.?|versus)\s",
    re.IGNORECASE,
)
"""What stands behind a figure between two rows of which the one is compared with the other."""
_OWNED: Final = re.compile(rf"[\s{BLANK}`*_\[]*(?=\S+?[`*_\]{BLANK}]*['’]s\s)")
"""Or the name of the other, in `3 times the speed` said as `3 times B's speed`."""
_PARTED_BEFORE: Final = re.compile(
    r"\b(?:than|compared\s(?:to|with)|relative\sto|against|over|vs\.?|versus|ahead\sof|instead\sof|rather\sthan|in\splace\sof"
    r"|beat(?:s|ing)?|outperform(?:s|ed|ing)?|out(?:runs?|ran|paces?|paced)|surpass(?:es|ed)?|improve[sd]?\s(?:on|upon)|leads?|trails?)\s",
    re.IGNORECASE,
)
"""What parts them before the figure: `A beats B by 3×`, `faster than B by a factor of 3`."""
_BEATEN: Final = re.compile(r"\b(?:beaten|outperformed|outrun|outpaced|surpassed)\sby\s", re.IGNORECASE)
_FROM_TO: Final = re.compile(r"\bfrom\s(?P<against>.+?)\sto\s(?P<of>.+)", re.IGNORECASE)
_TO_FROM: Final = re.compile(r"\bto\s(?P<of>.+?)\sfrom\s(?P<against>.+)", re.IGNORECASE)
_REPLACED: Final = re.compile(r"\breplac\w+\s(?P<against>.+?)\s(?:with|by)\s(?P<of>.+)", re.IGNORECASE)
_BEGINNING: Final = re.compile(
    rf"[\s{BLANK}]*(?:compared\s(?:to|with)|relative\sto|against|versus)\s(?P<against>[^,]+),", re.IGNORECASE
)
_MOST: Final = 10_000
"""Pairs that are looked at."""


class Sides(NamedTuple):
    """The words for what is compared, and for what it is compared with."""

    of: str
    against: str


def read_sides(figure: Figure, clause: Clause) -> Iterator[Sides]:
    """What a figure may compare by the words of its clause, the likeliest first."""
    words, start, end = clause.words, clause.at, clause.at + len(figure.written)
    others = [
        one for one in figures(words) if one.kind == figure.kind and one.start != start and not one.is_spread
    ]
    last = max((one.start + len(one.written) for one in others if one.start < start), default=0)
    behind = words[: min((one.start for one in others if one.start > start), default=len(words))]
    if found := _OWNED.match(behind, end) or _AGAINST.search(behind, start):
        before = _AGAINST.search(words, 0, start) if last else None
        yield Sides(words[: before.start() if before else found.start()], behind[found.end() :])
        if before:
            yield Sides(words[: found.start()], behind[found.end() :])
    yield from _read_before(words[:start], last)
    if found := _BEGINNING.match(clause.sentence):
        yield Sides(words, found["against"])


def _read_before(words: str, last: int) -> Iterator[Sides]:
    """The same of words before a figure; another one of them ends at ``last``."""
    for pattern in (_FROM_TO, _TO_FROM, _REPLACED):
        if found := pattern.search(words):
            yield Sides(found["of"], _with_noun(found["against"], found["of"]))
    if found := _BEATEN.search(words):
        yield Sides(words[found.end() :], words[: found.start()])
    elif found := _PARTED_BEFORE.search(words):
        if last > found.end():
            yield Sides(words[: found.start()], words[last:])
        yield Sides(words[: found.start()], words[found.end() :])


def _with_noun(against: str, of: str) -> str:
    """The words with the noun that the other side has for both: `from 1 to 16 threads`."""
    noun = re.match(rf"(?:{NUMBER})(\s\w+)", of)
    return against + noun[1] if noun and re.fullmatch(NUMBER, against) else against


def pair_alike(table: TableNames, of: frozenset[int], against: frozenset[int]) -> frozenset[tuple[int, int]]:
    """The rows that are compared, each with those that have most in common with it: the same name, or setting."""
    pairs = [*product(sorted(of), sorted(against - of))]
    if not 1 < len(pairs) <= _MOST:
        return frozenset(pairs)
    called = _list_called(table)
    apart = {pair: sum(one.get(pair[0]) != one.get(pair[1]) for one in called) for pair in pairs}
    least = min(apart.values())
    return frozenset(pair for pair in pairs if apart[pair] == least)


def _list_called(table: TableNames) -> list[Mapping[int, object]]:
    """What the rows are called in each of the columns that call them anything."""
    labels = (label.items() for label in table.labels)
    measures = (measure.rows.items() for measure in table.measures)
    return [{row: name for name, rows in called for row in rows} for called in (*labels, *measures)]
