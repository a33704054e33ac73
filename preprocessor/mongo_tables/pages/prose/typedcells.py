"""The cells of tables that somebody typed: where each is, what stands above it, and its figures.

A number without a unit has that of its header, as `98.7` below `Time (ms)`. Where that has a setting, as `16 threads`,
it is a figure without one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.clauses import Clause, clause_of, row_clause
from mongo_tables.pages.prose.numbers import (
    NUMBER,
    Figure,
    Unit,
    figures,
    has_setting,
    header_unit,
    list_set_apart,
    lone_number,
    noun_in,
    noun_unit,
)

if TYPE_CHECKING:
    from mongo_tables.pages.model import Page
    from mongo_tables.pages.prose.paragraphs import Paragraph

_DELIMITER_ROW: Final = re.compile(r"(?:[ \t>|:]*-[ \t>|:-]*\r?\n?)?")
"""What stands between a header and its rows, and nothing between rows."""
_BORDER: Final = re.compile(r"\|")


class Headers:
    """What stands above the cells of a page's typed rows."""

    def __init__(self, page: Page, rows: Sequence[Paragraph]) -> None:
        self._by_row = {row.start: table[0].text for table in group_rows(page, rows) for row in table[1:]}

    def header_of(self, row: Paragraph, at: int) -> str:
        """The header above an offset of a row; "" where there is none."""
        header = self.above(row)
        column = bisect_right([start for start, _ in split_cells(row.text)], at) - 1
        cells = split_cells(header)
        return header[slice(*cells[column])].strip() if 0 <= column < len(cells) else ""

    def above(self, row: Paragraph) -> str:
        """The headers above a row; "" where there are none."""
        return self._by_row.get(row.start, "")

    def words_beside(self, row: Paragraph, at: int) -> str:
        """What names a cell beside its row: the header above it, and of which setting a bare number is.

        `Threads` above the names of rows says it of the numbers above the cells, above numbers of these.
        """
        header, (first, *_) = self.header_of(row, at), split_cells(row.text)
        label, corner = row.text[slice(*first)].strip(" *_`"), self.header_of(row, first[0])
        if not corner or at < first[1]:
            return header
        called = (one for one in (header, label) if re.fullmatch(NUMBER, one))
        return " ".join((header, *(f"; {corner} = {one}" for one in called)))

    def clause_of(self, figure: Figure, paragraph: Paragraph, words: str) -> Clause:
        """What a figure stands in: its clause, or its typed row with the header above; ``words`` are as in clauses."""
        if paragraph.in_table:
            said = f"{words} {self.words_beside(paragraph, figure.start)}"
            return row_clause(figure, paragraph, said, self.header_of(paragraph, figure.start))
        return clause_of(figure, paragraph, words)

    def figures(self, row: Paragraph, nouns: Collection[str]) -> list[Figure]:
        """The figures of a row; ``nouns`` are units as well."""
        own = {one.start: one for one in self._list_lone_numbers(row, nouns)}
        return [*(one for one in figures(row.text, nouns) if one.start not in own), *own.values()]

    def _list_lone_numbers(self, row: Paragraph, nouns: Collection[str]) -> Iterator[Figure]:
        for start, end in split_cells(row.text) if row.start in self._by_row else ():
            header = self.header_of(row, start)
            unit = header_unit(header) or noun_unit(noun_in(header), nouns) or self._unit_of_label(row)
            is_read = unit is not None or has_setting(header)
            if is_read and (found := lone_number(row.text[start:end], unit)):
                yield found.move(start)

    def _unit_of_label(self, row: Paragraph) -> Unit | None:
        """The unit in brackets of the first cell of a row, as `p99 (ms)`, where headers name what was measured."""
        first, *_ = split_cells(row.text)
        return next(filter(None, map(header_unit, list_set_apart(row.text[slice(*first)]))), None)


def split_cells(row: str) -> list[tuple[int, int]]:
    """From and to of the cells of a row."""
    first = re.match(r"[ \t>]*\|?", row)
    begin = first.end() if first else 0
    borders = [begin - 1, *(one.start() for one in _BORDER.finditer(row, begin)), len(row)]
    return [(start + 1, end) for start, end in pairwise(borders)]


def group_rows(page: Page, rows: Sequence[Paragraph]) -> list[list[Paragraph]]:
    """The typed rows of a page by their tables; nothing but what is below a header stands between two of one."""
    found: list[list[Paragraph]] = []
    for row in rows:
        between = page.text[found[-1][-1].end : row.start] if found else ""
        if found and _DELIMITER_ROW.fullmatch(between):
            found[-1].append(row)
        else:
            found.append([row])
    return found
