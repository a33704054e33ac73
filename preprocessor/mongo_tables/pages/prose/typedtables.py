"""Tables that somebody typed into a page: which of their columns repeat numbers of its own tables, and what they add.

A column, or all those of several settings, repeats a table where a cell of it is a value, or where most of the figures
in rows that are called as rows of ours, two at least, are the numbers of its rows, all digits or three and more. What
stands in such a column and row is held against rows as sentences are; the other cells may be of any other measurement,
and sentences may speak of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.clauses import keep_code
from mongo_tables.pages.prose.columnnumbers import is_the_number
from mongo_tables.pages.prose.numbers import NUMBER, Figure, has_setting, read_number
from mongo_tables.pages.prose.support import names_for
from mongo_tables.pages.prose.typedcells import Headers, split_cells

if TYPE_CHECKING:
    from mongo_tables.pages.model import Page
    from mongo_tables.pages.prose.naming import Named
    from mongo_tables.pages.prose.paragraphs import Paragraph
    from mongo_tables.pages.prose.section import Section

_FEWEST: Final = 2
"""As many figures at least are the same in a table that repeats another."""


class Cell(NamedTuple):
    """A cell of a typed row, from and to in the page; ``named`` is what these and its header name in our tables."""

    row: Paragraph
    column: int
    start: int
    end: int
    named: Mapping[int, Named]


@dataclass(frozen=True, eq=False)
class TypedTable:
    """The rows of a table that somebody typed, with what stands above their cells, and all tables of its page."""

    page: Page
    rows: Sequence[Paragraph]
    headers: Headers
    ours: Section

    def holds(self, offset: int) -> bool:
        """Whether a place of the page is in the table."""
        return self.rows[0].start <= offset < self.rows[-1].end

    @cached_property
    def repeating(self) -> frozenset[int]:
        """The columns that repeat numbers of the page's tables, from 0."""
        columns = {cell.column for cell in self._cells}
        return frozenset(column for column in columns if self._repeats(column))

    def _repeats(self, column: int) -> bool:
        family = self._family_of(column)
        cells = [
            one
            for one in self._cells
            if one.row is not self.rows[0] and self._family_of(one.column) == family
        ]
        if any(
            cell.start <= spec.comment.start < cell.end for spec in self.page.specs if spec for cell in cells
        ):
            return True
        same = [one for cell in cells if cell.named for one in self._compare(cell)]
        return sum(same) >= _FEWEST and 2 * sum(same) > len(same)

    def _family_of(self, column: int) -> str | int:
        """What columns of several settings have in common: `1 thread` and `16 threads`."""
        header = self._headings[column] if column < len(self._headings) else ""
        return re.sub(NUMBER, "#", header).rstrip("s") if has_setting(header) else column

    @cached_property
    def _headings(self) -> Sequence[str]:
        text = self.rows[0].text
        return [text[slice(*one)].strip() for one in split_cells(text)]

    def _compare(self, cell: Cell) -> Iterator[bool]:
        """For each figure that the rows which are named could have: whether it is the number of any row beside them.

        Two rows that were mixed up repeat a table as well.
        """
        known = self.ours.evidence
        for figure in self.headers.figures(cell.row, self.ours.nouns):
            if cell.start <= cell.row.start + figure.start < cell.end and names_for(
                known, cell.named, figure
            ):
                found = (one for one in known.cells_of(figure) if id(one.spec) in cell.named)
                yield any(is_the_number(figure, one) for one in found)

    def adds(self, figure: Figure, offset: int) -> bool:
        """Whether the table itself may say a figure at a place of the page, in a cell that repeats no other.

        A share or a factor may compare such a cell with another one.
        """
        if self.holds(offset):
            return any(cell.start <= offset < cell.end for cell in self._own_cells)
        if figure.may_compare and self._own_numbers:
            return True
        low, high = figure.span(whole=False)
        return any(low <= number <= high for number in self._own_numbers)

    @cached_property
    def _own_cells(self) -> Sequence[Cell]:
        return [cell for cell in self._cells if cell.column not in self.repeating or not cell.named]

    @cached_property
    def _own_numbers(self) -> Sequence[float]:
        texts = (self._text_of(cell) for cell in self._own_cells)
        return [read_number(found[0]) for text in texts for found in re.finditer(NUMBER, text)]

    def _text_of(self, cell: Cell) -> str:
        return cell.row.text[cell.start - cell.row.start : cell.end - cell.row.start]

    @cached_property
    def _cells(self) -> Sequence[Cell]:
        return [cell for row in self.rows for cell in self._split(row)]

    def _split(self, row: Paragraph) -> Iterator[Cell]:
        words = keep_code(self.page.text, row)
        for column, (start, end) in enumerate(split_cells(row.text)):
            found = self.ours.find_names(f"{words} {self.headers.words_beside(row, start)}")
            named = {key: one for key, one in found.items() if one.rows}
            yield Cell(row, column, row.start + start, row.start + end, named)
