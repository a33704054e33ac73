"""Of which row a figure is among several that its clause names, where the order of words tells it.

`alpha takes 98.7 ms and beta 120 ms` has a name before each figure, `98.7 ms for alpha and 120 ms for beta` one behind
each, `alpha and beta take 98.7 ms and 120 ms` as many of both, each listed. Beside the only name the first figure
behind it is its own, and so are those listed with that, as in `alpha takes 98.7 ms warm and 120 ms cold`; else the one
right before it, as in `98.7 ms for alpha`. Of any other order nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from preprocessor.pages.prose.clauses import WHEN
from preprocessor.pages.prose.numbers import Figure, figures
from preprocessor.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from preprocessor.pages.prose.clauses import Clause
    from preprocessor.pages.prose.naming import TableNames

_SIGNS: Final = rf"[\s{BLANK}`*_\[\]]*"
"""The signs of code, emphasis and links, which words have around them."""
_LISTING: Final = re.compile(rf"{_SIGNS}(?:,|,?\s*(?:and|or)\b)?{_SIGNS}(?:the\s+)?{_SIGNS}", re.IGNORECASE)
"""What stands between names, or figures, of one list."""
_OF: Final = re.compile(
    rf"{_SIGNS}(?<!\w)(?:of|for|by|with|in|from|on|under)[\s{BLANK}]+(?:the\s+)?{_SIGNS}", re.IGNORECASE
)
"""What makes the name behind a figure its own: `in alpha the 120 ms of beta became 98.7 ms`."""

_WITH_IT: Final = re.compile(
    rf"{_SIGNS}(?:{WHEN})?{_SIGNS}(?:,|[,(]?\s*(?:and|or)\b|[(/–-])?{_SIGNS}(?:{WHEN})?{_SIGNS}",
    re.IGNORECASE,
)
"""What stands between a figure of a name and another that is its own too."""
_NO_MORE: Final = re.compile(
    rf"{_SIGNS}(?:{WHEN})?{_SIGNS}(?:[.,;:!?)(/–-]|\b(?:and|or)\b|\Z)", re.IGNORECASE
)
"""What stands behind such a one; `41,821 with sixteen` may be of any row."""
_OF_ANOTHER: Final = re.compile(
    rf"\b(?:from|to|against|over|instead\sof|rather\sthan|vs\.?|versus|baseline(?:\sof)?){_SIGNS}\Z",
    re.IGNORECASE,
)
"""What stands before a figure that need not be of the row that is named before it."""
_NOT_WITH: Final = re.compile(
    rf"\b(?:without|unlike|than|instead\sof|rather\sthan|from|before|except|besides?|replac\w+){_SIGNS}(?:the\s)?{_SIGNS}\Z",
    re.IGNORECASE,
)
"""What stands before a name of which a clause gives no figure, or not at once."""


class _Word(NamedTuple):
    """A name, or a figure where ``rows`` are None, from and to in the words of a clause."""

    start: int
    end: int
    rows: frozenset[int] | None = None

    @property
    def is_name(self) -> bool:
        return self.rows is not None


def find_rows_meant(
    figure: Figure, clause: Clause, table: TableNames, nouns: Collection[str]
) -> frozenset[int]:
    """The rows of a table that a figure is about by the order of words; none where that tells nothing.

    A factor compares rows, wherever their names stand, and so does a share where the clause compares.
    """
    if figure.kind == "times" or (figure.kind == "%" and clause.compares):
        return frozenset()
    names = [_Word(one.start, one.end, table.rows[one.name]) for one in table.names.find_places(clause.words)]
    numbers = [
        _Word(one.start, one.start + len(one.written))
        for one in figures(clause.words, nouns)
        if one.is_like(figure) and not one.is_spread
    ]
    at = next((number for number, one in enumerate(numbers) if one.start == clause.at), None)
    if at is None or len(numbers) < 2 or not names:
        return frozenset()
    if len(names) == 1:
        return _rows_of_only(names[0], numbers, at, clause)
    runs = [[*run] for _, run in groupby(sorted((*names, *numbers), key=lambda one: one[:2]), _is_name)]
    return _rows_beside(runs, at, clause.words) if len(runs) > 2 else _rows_in_list(runs, at, clause.words)


def _is_name(word: _Word) -> bool:
    return word.is_name


def _rows_of_only(name: _Word, numbers: Sequence[_Word], at: int, clause: Clause) -> frozenset[int]:
    """The one row of the only name, where a figure is its own; none of a name that several rows have."""
    before = [one for one in numbers if one.start < name.start]
    rows = name.rows if name.rows and len(name.rows) == 1 and not clause.compares else frozenset[int]()
    if before:
        is_own = numbers[at] is before[-1] and _OF.fullmatch(clause.words, numbers[at].end, name.start)
        return rows if is_own else frozenset()
    if _NOT_WITH.search(clause.words, 0, name.start) or _OF_ANOTHER.search(
        clause.words, name.end, numbers[0].start
    ):
        return frozenset()
    return rows if _is_listed_with_first(numbers[: at + 1], clause.words) else frozenset()


def _is_listed_with_first(numbers: Sequence[_Word], words: str) -> bool:
    """Whether a figure, the last of some, is the first or says of the same row when else or what else it takes."""
    between = all(_WITH_IT.fullmatch(words, one.end, other.start) for one, other in pairwise(numbers))
    return between and (len(numbers) == 1 or _NO_MORE.match(words, numbers[-1].end) is not None)


def _rows_beside(runs: Sequence[Sequence[_Word]], at: int, words: str) -> frozenset[int]:
    """Of names and figures in turn: the names before the figure, or behind it where the clause begins with one."""
    named, said = ([run for run in runs if run[0].is_name is kind] for kind in (True, False))
    if len(named) != len(said) or any(len(run) > 1 for run in said):
        return frozenset()
    if runs[0][0].is_name and any(
        _OF.fullmatch(words, one[0].end, other[0].start) for one, other in zip(said, named[1:], strict=False)
    ):
        return frozenset()
    return frozenset[int]().union(*(one.rows or () for one in named[at]))


def _rows_in_list(runs: Sequence[Sequence[_Word]], at: int, words: str) -> frozenset[int]:
    """Of names that are listed before as many figures: the one in the same place of its list."""
    names, numbers = sorted(runs, key=lambda run: not run[0].is_name)
    if len(names) != len(numbers) or not all(_is_listed(run, words) for run in runs):
        return frozenset()
    return names[at].rows or frozenset()


def _is_listed(run: Sequence[_Word], words: str) -> bool:
    return all(_LISTING.fullmatch(words, one.end, other.start) for one, other in pairwise(run))
