"""Numbers that rows are called by, and where a text says them: `with 1 and 16 threads`, `for n = 10`, `one thread`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mongo_tables.pages.prose.numbers import NUMBER, Figure, Unit, figures, read_number, unit_after
from mongo_tables.pages.prose.numberwords import spelled_figures
from mongo_tables.render.values import finite_decimal

_AND: Final = r"(?:,\s(?:and\s|or\s)?|\s(?:and|or)\s)"
_LISTED_BEFORE: Final = re.compile(rf"(?<![\w.,])(?:(?:{NUMBER}){_AND})+\Z")
_LISTED_BEHIND: Final = re.compile(rf"(?:{_AND}(?:{NUMBER})(?![\w%]|[.,]\d))+")
"""More numbers of one unit or column: `with 1, 4 and 16 threads`, `for n = 10 and 100`."""
_LONGEST_NOUN: Final = 40
_ONE: Final = re.compile(r"\b(?:one|a\ssingle)[\s-]+(?=\w)", re.IGNORECASE)


class Setting(NamedTuple):
    """Where a text says a number that rows are called by, from and to, and these rows."""

    start: int
    end: int
    rows: frozenset[int]


class Measure(NamedTuple):
    """A column of numbers that rows are called by, with its unit or noun: the rows of each, and all in order.

    ``words`` are what the column is called, as in `n = 10`.
    """

    unit: Unit | None
    rows: Mapping[float, frozenset[int]]
    values: Sequence[float]
    words: tuple[str, ...]

    def find(self, text: str, said: Sequence[Figure], bare: Sequence[float]) -> Iterator[int]:
        """The rows that are called by a figure of that unit, by the column and a number, or by a bare number."""
        yield from (row for value in bare for row in self.rows.get(value, ()))
        yield from (row for one in self.find_settings(text, said) for row in one.rows)

    def find_settings(self, text: str, said: Sequence[Figure]) -> list[Setting]:
        """Where a text says one of the numbers, with the unit or the column, each once and in order."""
        return sorted({*self._find_with_unit(text, said), *self._find_called(text)})

    def _find_with_unit(self, text: str, said: Sequence[Figure]) -> Iterator[Setting]:
        for figure in said:
            if figure.unit != self.unit:
                continue
            low, high = figure.span()
            values = self.values[bisect_left(self.values, low) : bisect_right(self.values, high)]
            rows = frozenset(row for value in values for row in self.rows[value])
            if rows:
                yield Setting(figure.start, figure.start + len(figure.written), rows)
            if before := _LISTED_BEFORE.search(text[: figure.start]):
                yield from self._find_listed(text, *before.span())

    def _find_called(self, text: str) -> Iterator[Setting]:
        for word in self.words:
            for found in re.finditer(
                rf"(?<!\w){re.escape(word)}\s*[=:]\s*({NUMBER})(?!\w)", text, re.IGNORECASE
            ):
                if rows := self.rows.get(read_number(found[1])):
                    yield Setting(*found.span(), rows)
                if behind := _LISTED_BEHIND.match(text, found.end()):
                    yield from self._find_listed(text, *behind.span())

    def _find_listed(self, text: str, start: int, end: int) -> Iterator[Setting]:
        for found in re.finditer(NUMBER, text[start:end]):
            first, last = start + found.start(), start + found.end()
            rows = self.rows.get(read_number(found[0]))
            if rows and unit_after(text, last)[0] in (None, self.unit):
                yield Setting(first, last, rows)


def list_said(text: str, nouns: Collection[str]) -> list[Figure]:
    """The figures of a text with a unit, be they spelled."""
    return [
        one
        for one in (*figures(text, nouns), *spelled_figures(text), *_list_single(text, nouns))
        if one.unit is not None
    ]


def _list_single(text: str, nouns: Collection[str]) -> Iterator[Figure]:
    """`One thread` and `a single thread`, which call a row as `1 thread` does, though they are no figures."""
    for found in _ONE.finditer(text):
        written = text[found.start() : found.end()]
        one = next(figures(f"1 {text[found.end() : found.end() + _LONGEST_NOUN]}", nouns), None)
        if one and one.unit and one.start == 0:
            yield Figure(written + one.written[2:], found.start(), 1.0, 1.0, one.unit)


def measure_of(unit: Unit | None, values: Sequence[object], words: tuple[str, ...]) -> Measure:
    """The measure of a column with these values, from the first row to the last."""
    found: dict[float, set[int]] = {}
    for row, value in enumerate(values):
        if (number := finite_decimal(value)) is not None:
            found.setdefault(float(number), set()).add(row)
    by_value = {value: frozenset(rows) for value, rows in found.items()}
    return Measure(unit, by_value, sorted(found), tuple(filter(None, dict.fromkeys(words))))
