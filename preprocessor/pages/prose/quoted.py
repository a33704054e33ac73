"""The cell that a figure may quote, what its row is called in a text, and what is known of its column."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from preprocessor.pages.prose.nameindex import NamePlace, name_pattern
from preprocessor.pages.prose.naming import TableNames, header_words
from preprocessor.pages.prose.paragraphs import BLANK
from preprocessor.pages.prose.plainwords import list_words, read_measure, stem
from preprocessor.render.column import column_value
from preprocessor.specs.fieldwords import field_words

if TYPE_CHECKING:
    from preprocessor.pages.prose.columnnumbers import Number
    from preprocessor.pages.prose.evidence import Evidence

    Rows = Sequence[Mapping[str, Any]]

CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(?P<code>.+?)(?<!`)\1(?!`)")
_NO_WORD: Final = re.compile(r"\A[\s>]*\d+[.)](?=\s)|</?(?!(?:s|del|strike|q)\b)[a-zA-Z][^>]*>")
"""The number of a list item, and tags but for those of what is struck or quoted."""
_OPTION: Final = re.compile(r"\s--?\w")
"""Where the options of a command begin: `rg` and `git grep` are what `rg -n x` and `git grep -n x` are called."""


class Quoted(NamedTuple):
    """The cell that a figure may quote, with the rows of its table and what they are called.

    ``known`` is what all tables say, ``headings`` are those above the table.
    """

    cell: Number
    names: TableNames
    rows: Rows
    known: Evidence
    nouns: Collection[str]
    headings: str = ""

    @property
    def common(self) -> Mapping[str, frozenset[int]]:
        """The rows of the names that are words of any sentence, in small letters: they name rows in code alone."""
        found: dict[str, set[int]] = {}
        for number, row in enumerate(self.rows):
            for name in (column_value(row, column) for column in self.names.calling):
                if isinstance(name, str) and name not in self.names.rows:
                    found.setdefault(name.lower(), set()).add(number)
        return {name: frozenset(rows) for name, rows in found.items()}

    @property
    def header(self) -> str:
        """The words above the cell."""
        return header_words(self.names.spec).get(self.cell.column, self.cell.column)

    @property
    def measures(self) -> frozenset[str]:
        """The measures that the column is one of."""
        words = (*list_words(self.header), *re.split(r"[\W_]+", field_words(self.cell.column)))
        return frozenset(filter(None, map(read_measure, words)))

    @property
    def stems(self) -> frozenset[str]:
        """The words that are about the table, which are all known beside a figure of it."""
        spec = self.names.spec
        text = " ".join(
            (self.header, field_words(self.cell.column), spec.title or "", spec.caption or "", self.headings)
        )
        return frozenset(map(stem, list_words(text)))


def list_names(text: str, quoted: Quoted) -> list[NamePlace]:
    """Where a text has what rows are called, be it the beginning of a command that no other row has."""
    places = quoted.names.names.find_places(text)
    taken = [*places]
    for found in CODE.finditer(text):
        if found["code"].lower() in quoted.common:
            taken.append(NamePlace(*found.span("code"), found["code"]))
    for lead in _list_leads(quoted.names):
        for found in re.finditer(name_pattern(lead), text):
            if not any(one.start < found.end() and found.start() < one.end for one in taken):
                taken.append(NamePlace(*found.span(), lead))
    return sorted(taken)


def _list_leads(names: TableNames) -> list[str]:
    leads = [name[: found.start()] for name in names.rows if (found := _OPTION.search(name))]
    return sorted(
        {one for one in leads if leads.count(one) == 1 and one not in names.rows}, key=len, reverse=True
    )


def rows_of(name: str, quoted: Quoted) -> frozenset[int]:
    """The rows that a name is that of."""
    whole = next(
        (one for one in quoted.names.rows if re.match(rf"{re.escape(name)}{_OPTION.pattern}", one)), name
    )
    found = (rows for one, rows in quoted.names.rows.items() if one.lower() in (name.lower(), whole.lower()))
    return quoted.common.get(name.lower(), frozenset[int]()).union(*found)


def blank_names_of_rows(text: str, quoted: Quoted) -> str:
    """The text without what rows are called; offsets stay."""
    return blank_out(text, [(one.start, one.end) for one in list_names(text, quoted)])


def blank_out(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with blanks for what stands from and to somewhere, for tags, and for the number of a list item."""
    for start, end in spans:
        text = text[:start] + BLANK * (end - start) + text[end:]
    return _NO_WORD.sub(lambda found: BLANK * len(found[0]), text)
