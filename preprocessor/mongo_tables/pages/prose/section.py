"""What the sentences of a section are held against: what its tables and charts say, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mongo_tables.pages.prose.directions import SpeedRows, read_speeds
from mongo_tables.pages.prose.evidence import Evidence, evidence
from mongo_tables.pages.prose.naming import Named, TableNames, find_names, read_names

if TYPE_CHECKING:
    from mongo_tables.pages.prose.directions import Shown


@dataclass(frozen=True)
class Section:
    """The tables and charts of a section with their rows, and what they say.

    ``nouns`` are units by the headers of the tables, ``names`` what rows and columns are called.
    """

    shown: Shown
    evidence: Evidence
    nouns: frozenset[str]
    names: tuple[TableNames, ...]

    @cached_property
    def speeds(self) -> Sequence[SpeedRows]:
        """The rows whose speeds sentences may compare by their names."""
        return tuple(read_speeds(self.shown))

    def find_names(self, text: str, *, loosely: bool = False) -> dict[int, Named]:
        """What a text names in each of the tables."""
        return find_names(text, self.names, self.nouns, loosely=loosely)


def read_section(shown: Shown) -> Section:
    """What tables and charts of a section say together."""
    said = evidence(shown)
    return Section(tuple(shown), said, said.nouns, read_names(shown))
