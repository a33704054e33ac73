"""What a sentence is about that no table has: a name in code, in a link, or before a colon, of no row and no column.

`ugrep` beside a table of `rg` and `git grep`: a figure of it may be that of a row by chance alone. A part of what a
row is called is that row, as `rg` of `rg -n pattern`; an option, a setting or a figure in code is no name, nor is what
a row that is named before it was measured with, as in `rg takes 81 ms in linux`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.clauses import WHEN
from mongo_tables.pages.prose.nameindex import NameIndex, NamePlace, name_pattern
from mongo_tables.pages.prose.naming import find_settings
from mongo_tables.pages.prose.numbers import NUMBER, figures
from mongo_tables.pages.prose.pairs import read_sides
from mongo_tables.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.naming import TableNames
    from mongo_tables.pages.prose.numbers import Figure

_CODE: Final = re.compile(r"(?<!`)(`+)(?!`)\s*(?P<name>.+?)\s*(?<!`)\1(?!`)")
_LINK: Final = re.compile(rf"\[(?P<name>[^\]\s`]+)\](?={BLANK})")
_ITEM: Final = rf"\A[\s>{BLANK}]*(?:[-*+]|\d+[.)])\s+[\s*_\[{BLANK}]*"
_LINKING: Final = r"(?:an?|the|of|for|in|on|at|by|with|to|from|and|or|our|its|is|are|we)\b"
_HEAD: Final = re.compile(
    rf"{_ITEM}(?:(?P<name>[^\s`:(*_\]{BLANK}|=][^`:(*\]{BLANK}|=]*?)[\s*_\]{BLANK}]*(?::|\s[–—-]\s|—|\(|=)"
    rf"|(?P<first>[^\s`*_\]]+)[\s*_\]{BLANK}]+(?={NUMBER}))"
    rf"|\A[\s*_\[{BLANK}]*(?P<word>(?:(?!{_LINKING})[^\s`:*_\]{BLANK}]+ ){{0,2}}[^\s`:*_\]{BLANK}]+)[*_\]{BLANK}]*:"
)
"""The head of a list item before a colon, a dash or a bracket, or its one word before a figure; words and a colon."""
_NAME: Final = re.compile(r"(?:@|\.{1,2}/|\d+(?=[a-z]))?[^\W\d_].*")
_MOST_WORDS: Final = 4
"""Those of a head that is a name."""
_WITHIN: Final = re.compile(
    rf"\b(?:with|without|in|on|over|using|via|under|through|from|to|by|against|than)\s(?:the\s)?[\s`*_\[{BLANK}]*\Z",
    re.IGNORECASE,
)
"""What stands before code that says where or how a row was measured."""


def find_strangers(text: str, tables: Sequence[TableNames], nouns: Collection[str]) -> list[NamePlace]:
    """The names in a text that none of some tables has, in order."""
    candidates = [one for one in _list_candidates(text) if not _is_known(one.name, tables, nouns)]
    if not candidates:
        return []
    first = min((one.start for table in tables for one in table.names.find_places(text)), default=len(text))
    return [one for one in candidates if one.start < first or not _WITHIN.search(text, 0, one.start)]


def find_stranger_meant(clause: Clause, tables: Sequence[TableNames], nouns: Collection[str]) -> str:
    """The name that none of some tables has and that the figure of a clause is about, by its place; "" without one.

    It is the last name before the figure in its sentence; where none is there, the first behind it in its clause.
    """
    text = clause.sentence
    strangers = find_strangers(text, tables, nouns)
    at = len(text) - len(clause.words) + clause.at
    names = sorted({*strangers, *(one for table in tables for one in table.names.find_places(text))})
    before, behind = [one for one in names if one.start < at], [one for one in names if one.start > at]
    meant = before[-1] if before else behind[0] if behind else None
    return meant.name if meant in strangers else ""


def compares_stranger(
    figure: Figure, clause: Clause, tables: Sequence[TableNames], nouns: Collection[str]
) -> bool:
    """Whether one side of what a figure compares is a name that none of some tables has."""
    sides = next(read_sides(figure, clause), ())
    return any(
        find_strangers(side, tables, nouns) and not any(one.names.find(side, whole=True) for one in tables)
        for side in sides
    )


def _list_candidates(text: str) -> Iterator[NamePlace]:
    head = _HEAD.match(text)
    if head and len(head[head.lastgroup or 0].split()) > _MOST_WORDS:
        head = None
    for found in (*([head] if head else ()), *_CODE.finditer(text), *_LINK.finditer(text)):
        group = found.lastgroup or ""
        if _NAME.fullmatch(found[group]):
            yield NamePlace(found.start(group), found.end(group), found[group])


def _is_known(name: str, tables: Sequence[TableNames], nouns: Collection[str]) -> bool:
    """Whether a name has to do with the tables, or is none: a figure, or a word for when."""
    if any(figures(name, nouns)) or re.fullmatch(WHEN, name, re.IGNORECASE):
        return True
    # A path of benchmarks without its settings: `Set/arc/n=100` is not known for its 100.
    path = re.sub(r"/\w+=[^/]*", "", name)
    if "/" in path and path != name and not any(_is_of(path, one) for one in tables):
        return False
    return any(_is_of(name, one) or find_settings(name, one, nouns) for one in tables)


def _is_of(name: str, table: TableNames) -> bool:
    """Whether a name has that of a row or a column of a table in it, or is a part of such a one."""
    columns = (*table.spec.columns, *table.spec.headers, *table.columns.values())
    if table.names.find(name, whole=False) or NameIndex(columns).find(name, whole=False):
        return True
    return re.search(name_pattern(name), "\n".join((*table.rows, *columns)), re.IGNORECASE) is not None
