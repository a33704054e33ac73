"""The cell that a figure may quote, what its row is called in a text, and what is known of its column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.nameindex import NameIndex, NamePlace
from mongo_tables.pages.prose.naming import TableNames, header_words, naming_columns
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.plainwords import list_words, read_measure, stem
from mongo_tables.render.column import column_value
from mongo_tables.specs.fieldwords import field_words

if TYPE_CHECKING:
    from mongo_tables.pages.prose.columnnumbers import Number
    from mongo_tables.pages.prose.evidence import Evidence
    from mongo_tables.results.model import Rows
    from mongo_tables.specs.model import TableSpec

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
    def headers(self) -> Mapping[str, str]:
        """The header of each column without its unit."""
        return header_words(self.names.spec)

    @cached_property
    def naming(self) -> Sequence[str]:
        """The columns that name a row."""
        return naming_columns(self.names.spec, self.rows)

    @cached_property
    def _by_name(self) -> Mapping[str, frozenset[int]]:
        """The rows of each name in small letters."""
        found: dict[str, set[int]] = {}
        for name, rows in self.names.rows.items():
            found.setdefault(name.lower(), set()).update(rows)
        return {name: frozenset(rows) for name, rows in found.items()}

    @cached_property
    def _leads(self) -> Mapping[str, frozenset[int]]:
        """The beginnings of commands before their options that no other row has, as `rg` of `rg -n pattern`."""
        first = Counter(name.split(" ", 1)[0] for name in self.names.rows)
        begun = {name[: found.start()]: name for name in self.names.rows if (found := _OPTION.search(name))}
        alone = {
            lead: name
            for lead, name in begun.items()
            if first[lead] == 1 or (" " in lead and sum(one.startswith(lead) for one in self.names.rows) == 1)
        }
        return {lead: self.names.rows[name] for lead, name in alone.items()}

    @cached_property
    def _common(self) -> Mapping[str, frozenset[int]]:
        """The names that are words of any sentence, in small letters: they count in code, or behind their header."""
        found: dict[str, set[int]] = {}
        for column in self.names.calling:
            header = self.headers.get(column, column)
            for number, row in enumerate(self.rows):
                name = column_value(row, column)
                if isinstance(name, str) and name not in self.names.rows:
                    for called in (name, f"{header} {name}"):
                        found.setdefault(called.lower(), set()).add(number)
        return {name: frozenset(rows) for name, rows in found.items()}

    @cached_property
    def _headed(self) -> NameIndex:
        """What is a name by two words and more, as `workload A`."""
        return NameIndex(name for name in self._common if " " in name)

    @cached_property
    def _begun(self) -> NameIndex:
        return NameIndex(self._leads)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words above the names of rows."""
        headers = (self.headers.get(one, one) for one in self.names.calling)
        return frozenset(stem(word) for one in headers for word in list_words(one))

    def find_names(self, text: str) -> list[NamePlace]:
        """Where a text has what rows are called."""
        taken = self.names.names.find_places(text)
        for found in CODE.finditer(text):
            if found["code"].lower() in self._common:
                taken.append(NamePlace(*found.span("code"), found["code"]))
        leads = (one for one in self._begun.find_places(text) if text[one.start : one.end] == one.name)
        for place in (*self._headed.find_places(text), *leads):
            if not any(one.start < place.end and place.start < one.end for one in taken):
                taken.append(place)
        return sorted(taken)

    def rows_of(self, name: str) -> frozenset[int]:
        """The rows that a name is that of."""
        key = name.lower()
        return self._by_name.get(key) or self._common.get(key) or self._leads.get(name, frozenset())

    def is_plain(self, name: str) -> bool:
        """Whether a name is told by its words wherever they stand."""
        return name.lower() in self._by_name


@dataclass(frozen=True, eq=False)
class Quoted:
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
        return self.table.headers.get(self.cell.column, self.cell.column)

    @cached_property
    def said(self) -> str:
        """What the column is called, by its header and its field."""
        return f"{self.header} {' '.join(_FIELD_WORD.split(field_words(self.cell.column)))}"

    @cached_property
    def topic(self) -> str:
        """What the table is called, and the headings above it."""
        spec = self.spec
        return " ".join(filter(None, (spec.title, spec.caption, self.headings)))

    @cached_property
    def measures(self) -> frozenset[str]:
        """The measures that the column is one of."""
        return frozenset(filter(None, map(read_measure, list_words(self.said))))

    @cached_property
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
