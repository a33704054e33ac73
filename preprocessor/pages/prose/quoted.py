"""The cell that a figure may quote, what its row is called in a text, and what is known of its column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from preprocessor.pages.prose.nameindex import NamePlace, name_pattern
from preprocessor.pages.prose.naming import TableNames, header_words
from preprocessor.pages.prose.paragraphs import BLANK
from preprocessor.pages.prose.plainwords import list_words, read_measure, stem
from preprocessor.render.column import column_value
from preprocessor.specs.fieldwords import field_words

if TYPE_CHECKING:
    from preprocessor.pages.prose.columnnumbers import Number
    from preprocessor.pages.prose.evidence import Evidence
    from preprocessor.results.model import Rows
    from preprocessor.specs.model import TableSpec

_FIELD_WORD: Final = re.compile(r"[\W_]+")
CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(?P<code>.+?)(?<!`)\1(?!`)")
_NO_WORD: Final = re.compile(r"\A[\s>]*\d+[.)](?=\s)|</?(?!(?:s|del|strike|q)\b)[a-zA-Z][^>]*>")
"""The number of a list item, and tags but for those of what is struck or quoted."""
_OPTION: Final = re.compile(r"\s--?\w")
"""Where the options of a command begin: `rg` and `git grep` are what `rg -n x` and `git grep -n x` are called."""


@dataclass(frozen=True, eq=False)
class CalledRows:
    """The rows of a table, and what each is called."""

    names: TableNames
    rows: Rows

    @cached_property
    def _by_name(self) -> Mapping[str, frozenset[int]]:
        """The rows of each name in small letters."""
        found: dict[str, set[int]] = {}
        for name, rows in (*self.names.rows.items(), *self.common.items()):
            found.setdefault(name.lower(), set()).update(rows)
        return {name: frozenset(rows) for name, rows in found.items()}

    @cached_property
    def leads(self) -> Mapping[str, frozenset[int]]:
        """The beginnings of commands before their options that are those of one, as `rg` of `rg -n pattern`."""
        begun = [(name[: found.start()], name) for name in self.names.rows if (found := _OPTION.search(name))]
        count = Counter(lead for lead, _ in begun)
        alone = [(lead, name) for lead, name in begun if count[lead] == 1 and lead not in self.names.rows]
        return {lead: self.names.rows[name] for lead, name in sorted(alone, key=lambda one: -len(one[0]))}

    @cached_property
    def common(self) -> Mapping[str, frozenset[int]]:
        """The rows of the names that are words of any sentence, in small letters: they name rows in code alone."""
        found: dict[str, set[int]] = {}
        for number, row in enumerate(self.rows):
            for name in (column_value(row, column) for column in self.names.calling):
                if isinstance(name, str) and name not in self.names.rows:
                    found.setdefault(name.lower(), set()).add(number)
        return {name: frozenset(rows) for name, rows in found.items()}

    def find_names(self, text: str) -> list[NamePlace]:
        """Where a text has what rows are called."""
        taken = self.names.names.find_places(text)
        for found in CODE.finditer(text):
            if found["code"].lower() in self.common:
                taken.append(NamePlace(*found.span("code"), found["code"]))
        for lead in self.leads:
            for found in re.finditer(name_pattern(lead), text):
                if not any(one.start < found.end() and found.start() < one.end for one in taken):
                    taken.append(NamePlace(*found.span(), lead))
        return sorted(taken)

    def rows_of(self, name: str) -> frozenset[int]:
        """The rows that a name is that of."""
        return self._by_name.get(name.lower()) or self.leads.get(name, frozenset())


class Quoted(NamedTuple):
    """The cell that a figure may quote, in the ``table`` of its row.

    ``known`` is what all tables say, ``nouns`` are units by their headers, ``headings`` are those above the table.
    """

    cell: Number
    table: CalledRows
    known: Evidence
    nouns: Collection[str]
    headings: str = ""

    @property
    def spec(self) -> TableSpec:
        """The comment of the table."""
        return self.table.names.spec

    @property
    def header(self) -> str:
        """The words above the cell."""
        return header_words(self.spec).get(self.cell.column, self.cell.column)

    @property
    def said(self) -> str:
        """What the column is called, by its header and its field."""
        return f"{self.header} {' '.join(_FIELD_WORD.split(field_words(self.cell.column)))}"

    @property
    def topic(self) -> str:
        """What the table is called, and the headings above it."""
        spec = self.spec
        return " ".join(filter(None, (spec.title, spec.caption, self.headings)))

    @property
    def measures(self) -> frozenset[str]:
        """The measures that the column is one of."""
        return frozenset(filter(None, map(read_measure, list_words(self.said))))

    @property
    def stems(self) -> frozenset[str]:
        """The words that are about the table, which are all known beside a figure of it."""
        return frozenset(map(stem, list_words(f"{self.said} {self.topic}")))


def blank_names_of_rows(text: str, quoted: Quoted) -> str:
    """The text without what rows are called; offsets stay."""
    return blank_out(text, [(one.start, one.end) for one in quoted.table.find_names(text)])


def blank_out(text: str, spans: Sequence[tuple[int, int]], sign: str = BLANK) -> str:
    """The text with a sign for what stands from and to somewhere, for tags, and for the number of a list item."""
    for start, end in spans:
        text = text[:start] + sign * (end - start) + text[end:]
    return _NO_WORD.sub(lambda found: BLANK * len(found[0]), text)
