"""Of which row a figure is among several that its clause names, where the order of words tells it.

`alpha takes 98.7 ms and beta 120 ms` has a name before each figure, `98.7 ms for alpha and 120 ms for beta` one
behind each, `alpha and beta take 98.7 ms and 120 ms` as many of both, each listed. Beside the only name the first
figure behind it is its own, and so are those listed with that, as in `alpha takes 98.7 ms warm and 120 ms cold`; else
the one right before it, as in `98.7 ms for alpha`. Of any other order nothing is said. The numbers that rows are
called by are such names, and so are the names of a column by themselves: `alpha takes 98.7 ms with one thread and 25
ms with 4 threads`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.clauses import WHEN
from mongo_tables.pages.prose.naming import find_settings
from mongo_tables.pages.prose.numbers import Figure, figures
from mongo_tables.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.nameindex import NamePlace
    from mongo_tables.pages.prose.naming import TableNames

_SIGNS: Final = rf"[\s{BLANK}`*_\[\]]*"
"""The signs of code, emphasis and links, which words have around them."""
_LISTING: Final = re.compile(rf"{_SIGNS}(?:,|,?\s*(?:and|or)\b)?{_SIGNS}(?:the\s+)?{_SIGNS}", re.IGNORECASE)
"""What stands between names, or figures, of one list."""
_OF: Final = re.compile(
    rf"{_SIGNS}(?<!\w)(?:of|for|by|with|in|from|on|under|at)[\s{BLANK}]+(?:the\s+)?{_SIGNS}", re.IGNORECASE
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
    rf"\b(?:from|to|against|over|instead\sof|rather\sthan|vs\.?|versus|baseline(?:\sof)?|the){_SIGNS}\Z",
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


class _Figures(NamedTuple):
    """The figures of one kind in the ``words`` of a clause, of which the one ``at`` a place is meant."""

    numbers: Sequence[_Word]
    at: int
    words: str
    compares: bool


_NONE: Final = frozenset[int]()


def find_rows_meant(
    figure: Figure,
    clause: Clause,
    table: TableNames,
    nouns: Collection[str],
    strangers: Sequence[NamePlace] = (),
) -> frozenset[int] | None:
    """The rows of a table that a figure is about by the order of words; None where that tells nothing.

    None of them where it is of another name: of one of ``strangers``, or of a number that is not said beside it.
    A factor compares rows, wherever their names stand, and so does a share where the clause compares: of which it is,
    settings tell, and names behind each of several.
    """
    settings = [
        [_Word(*one) for one in found]
        for unit, found in find_settings(clause.words, table, nouns)
        if unit is None or figure.unit is None or not unit.fits(figure.unit)
    ]
    numbers = [
        _Word(one.start, one.start + len(one.written))
        for one in figures(clause.words, nouns)
        if one.is_like(figure) and not one.is_spread and not _is_within(one.start, settings)
    ]
    at = next((number for number, one in enumerate(numbers) if one.start == clause.at), None)
    if at is None or len(numbers) < 2:
        return None
    said = _Figures(numbers, at, clause.words, clause.compares)
    names = [_Word(one.start, one.end, table.rows[one.name]) for one in table.names.find_places(clause.words)]
    names += [_Word(one.start, one.end, _NONE) for one in strangers]
    labels = [] if strangers else _list_by_column(clause.words, table)
    if figure.kind == "times" or (figure.kind == "%" and clause.compares):
        found = [_find_behind(one, said) for one in labels]
    else:
        found = [_find_by_name(sorted(names), said), *(_find_in_order(one, said) for one in labels)]
    found += [_find_by_setting(one, said) for one in settings]
    told = [rows for rows in found if rows is not None]
    rows = [one for one in told if one]
    return (frozenset.intersection(*rows) or rows[0]) if rows else (_NONE if told else None)


def _list_by_column(words: str, table: TableNames) -> list[list[_Word]]:
    """The names of each column that has several of them in a clause."""
    places = table.names.find_places(words)
    found = (
        [_Word(one.start, one.end, label[one.name]) for one in places if one.name in label]
        for label in table.labels
    )
    return [one for one in found if len(one) > 1]


def _is_within(at: int, settings: Sequence[Sequence[_Word]]) -> bool:
    return any(one.start <= at < one.end for found in settings for one in found)


def _find_by_name(names: Sequence[_Word], said: _Figures) -> frozenset[int] | None:
    """The rows of the name that a figure has; None of a single name that several rows have.

    None of them where words say that it is of something else, as in `alpha wins with 98.7 ms against 120 ms`.
    """
    if len(names) == 1:
        (name,) = names
        if _OF_ANOTHER.search(said.words, name.end, max(name.end, said.numbers[said.at].start)):
            return _NONE
        is_own = name.rows and len(name.rows) == 1 and _is_of_only(name, said)
        return name.rows if is_own else None
    return _find_in_order(names, said) if names else None


def _find_by_setting(settings: Sequence[_Word], said: _Figures) -> frozenset[int] | None:
    """The rows of the number that a figure stands beside; none of them where another figure does."""
    if len(settings) > 1:
        return _find_in_order(settings, said)
    (setting,) = settings
    if _is_of_only(setting, said):
        return setting.rows
    is_of_other = any(_is_of_only(setting, said._replace(at=at)) for at in range(len(said.numbers)))
    return _NONE if is_of_other else None


def _find_in_order(names: Sequence[_Word], said: _Figures) -> frozenset[int] | None:
    runs = [[*run] for _, run in groupby(sorted((*names, *said.numbers), key=lambda one: one[:2]), _is_name)]
    return (_find_beside if len(runs) > 2 else _find_in_list)(runs, said)


def _is_name(word: _Word) -> bool:
    return word.is_name


def _is_of_only(name: _Word, said: _Figures) -> bool:
    """Whether a figure is that of the only name."""
    if said.compares:
        return False
    before = [one for one in said.numbers if one.start < name.start]
    if before:
        own = said.numbers[said.at]
        return own is before[-1] and _OF.fullmatch(said.words, own.end, name.start) is not None
    if _NOT_WITH.search(said.words, 0, name.start) or _OF_ANOTHER.search(
        said.words, name.end, said.numbers[0].start
    ):
        return False
    return _is_listed_with_first(said.numbers[: said.at + 1], said.words)


def _is_listed_with_first(numbers: Sequence[_Word], words: str) -> bool:
    """Whether a figure, the last of some, is the first or says of the same row when else or what else it takes."""
    between = all(_WITH_IT.fullmatch(words, one.end, other.start) for one, other in pairwise(numbers))
    return between and (len(numbers) == 1 or _NO_MORE.match(words, numbers[-1].end) is not None)


def _find_beside(runs: Sequence[Sequence[_Word]], said: _Figures) -> frozenset[int] | None:
    """Of names and figures in turn: the names before the figure, or behind it where the clause begins with one."""
    named, numbers = ([run for run in runs if run[0].is_name is kind] for kind in (True, False))
    if len(named) != len(numbers) or any(len(run) > 1 for run in numbers):
        return None
    if runs[0][0].is_name and any(
        _OF.fullmatch(said.words, one[0].end, other[0].start)
        for one, other in zip(numbers, named[1:], strict=False)
    ):
        return None
    return _NONE.union(*(one.rows or () for one in named[said.at]))


def _find_behind(names: Sequence[_Word], said: _Figures) -> frozenset[int] | None:
    """Of factors and names in turn, a factor first: the name behind it, as in `by 2× in reads and by 3× in writes`."""
    words = sorted((*names, *said.numbers), key=lambda one: one[:2])
    is_in_turn = all(one.is_name is bool(number % 2) for number, one in enumerate(words))
    return names[said.at].rows if is_in_turn and len(names) == len(said.numbers) else None


def _find_in_list(runs: Sequence[Sequence[_Word]], said: _Figures) -> frozenset[int] | None:
    """Of names that are listed before as many figures: the one in the same place of its list."""
    names, numbers = sorted(runs, key=lambda run: not run[0].is_name)
    if len(names) != len(numbers) or not all(_is_listed(run, said.words) for run in runs):
        return None
    return names[said.at].rows


def _is_listed(run: Sequence[_Word], words: str) -> bool:
    return all(_LISTING.fullmatch(words, one.end, other.start) for one, other in pairwise(run))
