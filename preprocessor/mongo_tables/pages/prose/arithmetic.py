"""What rows say together: that all keep a bound, how far two are apart, and which is what others are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.columnnumbers import ColumnNumbers, factors_between
from mongo_tables.pages.prose.ratios import Compared

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.evidence import Evidence
    from mongo_tables.pages.prose.naming import Named
    from mongo_tables.pages.prose.numbers import Bound, Figure, Unit

_ALL: Final = re.compile(
    r"(?<!in )(?<!at )(?<!above )(?<!after )(?<!almost )(?<!nearly )(?<!not )\b(?:all|every|each|both)\b"
    r"(?!\s(?:but|except|(?:of\s)?(?:the\s)?(?:other|rest)))",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"\b(?:none|no|not|never|neither|nor|nobody|nothing)\b|n['’]t\b", re.IGNORECASE)
_ONLY: Final = re.compile(r"\bonly\b", re.IGNORECASE)
_ITSELF: Final = re.compile(
    r"\b(?:baseline|reference|relative|speed[\s-]?up|slow[\s-]?down)\b", re.IGNORECASE
)
_ONCE: Final = re.compile(r"1(?:[.,]0+)?\s?[x×]", re.IGNORECASE)
_BEHIND_FIGURE: Final = re.compile(r"\d[^()\d]*\($")
_BUT: Final = re.compile(r"\b(?:all|every|each)\b.*?\b(?:but|except|apart\sfrom)\b", re.IGNORECASE)
_MOST: Final = re.compile(r"(?<!at )\bmost\b", re.IGNORECASE)
_APART: Final = re.compile(
    r"\b(?:by|sav\w+|difference\sof|gap\sof)\s(?:about\s|around\s|roughly\s|only\s|just\s)?$", re.IGNORECASE
)
_APART_BEHIND: Final = re.compile(
    r"\s(?:apart|ahead|behind|sooner|earlier|later|difference)\b", re.IGNORECASE
)
_TOGETHER: Final = re.compile(
    r"\b(?:together|altogether|combined|in (?:all|total|sum)|the sum)\b", re.IGNORECASE
)
_NOISE: Final = 1e-9


def judge_bound(figure: Figure, clause: Clause, known: Evidence, named: Mapping[int, Named]) -> bool | None:
    """Whether rows keep what a figure is said to bound; None where that does not decide about it.

    Those that are named, or all. Where words say that all do, or that only the named ones do, one that does not
    decides; else what they keep in every column of that unit is true however far off it is.
    """
    bound, unit = figure.bound, figure.unit
    columns = _list_meant(figure, known, named)
    if bound is None or not columns:
        return None
    rows = {key: one.rows for key, one in named.items() if one.rows}
    if _ONLY.search(clause.prose) and rows:
        return any(
            _keep_alone(one, rows[id(one.spec)], unit, bound) for one in columns if id(one.spec) in rows
        )
    if _BUT.search(clause.prose) and rows:
        return any(_keep(_others(one, rows), unit, bound) for one in columns)
    if _MOST.search(clause.prose) and any(_keep_mostly(one, unit, bound) for one in columns):
        return True
    is_denied = _NOT.search(clause.prose) is not None
    if is_denied:
        bound = bound._replace(is_least=not bound.is_least)
    kept = [_keep(one.of_rows(rows.get(id(one.spec), _all_rows(one))), unit, bound) for one in columns]
    if _ALL.search(clause.prose) and not is_denied:
        return any(kept)
    return True if all(kept) else None


def _list_meant(figure: Figure, known: Evidence, named: Mapping[int, Named]) -> list[ColumnNumbers]:
    """The columns of a figure's unit: those that are named, of the tables whose rows are, or all."""
    unit = figure.unit
    found = [one for one in known.columns if one.name and unit is not None and one.has_unit(unit)]
    by_rows = [one for one in found if id(one.spec) in named and named[id(one.spec)].rows] or found
    by_name = [one for one in by_rows if id(one.spec) in named and one.name in named[id(one.spec)].columns]
    return by_name or by_rows


def _others(column: ColumnNumbers, rows: Mapping[int, frozenset[int]]) -> ColumnNumbers:
    return column.of_rows(_all_rows(column) - rows.get(id(column.spec), frozenset()))


def _all_rows(column: ColumnNumbers) -> frozenset[int]:
    return frozenset(one.row for one in column.numbers)


def _values(column: ColumnNumbers, unit: Unit | None) -> Iterator[tuple[int, float]]:
    """The numbers of a column in a unit, each with its row."""
    for one in column.numbers:
        factor = next(iter(factors_between(one.unit, unit)), None)
        if one.row >= 0 and factor is not None and one.unit is not None:
            yield one.row, one.value * factor


def _keep(column: ColumnNumbers, unit: Unit | None, bound: Bound) -> bool:
    return all(_is_kept(value, bound) for _, value in _values(column, unit))


def _keep_mostly(column: ColumnNumbers, unit: Unit | None, bound: Bound) -> bool:
    kept = [_is_kept(value, bound) for _, value in _values(column, unit)]
    return sum(kept) > len(kept) / 2


def _keep_alone(column: ColumnNumbers, rows: frozenset[int], unit: Unit | None, bound: Bound) -> bool:
    """Whether rows keep a bound and no others do."""
    return all(_is_kept(value, bound) is (row in rows) for row, value in _values(column, unit))


def _is_kept(value: float, bound: Bound) -> bool:
    noise = _NOISE * abs(bound.limit)
    return value >= bound.limit - noise if bound.is_least else value <= bound.limit + noise


def exceeds_factor(figure: Figure, known: Evidence) -> bool:
    """Whether rows that are compared with others by their names are that many times apart, or more."""
    if figure.bound is None or not figure.bound.is_least or figure.kind != "times":
        return False
    least = figure.bound.limit * (1 - _NOISE)
    return any(_are_apart(one, least) for one in known.compared if isinstance(one, Compared) and one.pairs)


def _are_apart(column: Compared, least: float) -> bool:
    pairs = column.list_pairs()
    return bool(pairs) and all(max(one / other, other / one) >= least for one, other in pairs)


def is_difference(figure: Figure, clause: Clause, known: Evidence, named: Mapping[int, Named]) -> bool:
    """Whether a figure says how far a named row is from another, or from those that the clause names beside it."""
    behind = clause.at + len(figure.written)
    says_so = (
        clause.differs
        or _APART.search(clause.words[: clause.at])
        or _APART_BEHIND.match(clause.words, behind)
    )
    if not says_so or figure.unit is None or figure.may_compare:
        return False
    low, high = figure.span(whole=False)
    return any(
        low <= one - other <= high
        for column in known.columns
        if column.name and id(column.spec) in named and column.has_unit(figure.unit)
        for one, other in _pairs(column, named[id(column.spec)], figure.unit)
    )


def is_sum(figure: Figure, clause: Clause, known: Evidence, named: Mapping[int, Named]) -> bool:
    """Whether a figure says what the rows that are named, or all of them, take together."""
    if figure.unit is None or figure.may_compare or not _TOGETHER.search(clause.prose):
        return False
    low, high = figure.span(whole=False)
    for column in _list_meant(figure, known, named):
        values = dict(_values(column, figure.unit))
        rows = named[id(column.spec)].rows if id(column.spec) in named else frozenset()
        if low <= sum(values[row] for row in (values.keys() & rows or values)) <= high:
            return True
    return False


def _pairs(column: ColumnNumbers, named: Named, unit: Unit) -> Iterator[tuple[float, float]]:
    values = dict(_values(column, unit))
    for one, other in permutations(values, 2):
        if {one, other} <= named.rows or (len(named.rows) == 1 and not named.rows.isdisjoint((one, other))):
            yield values[one], values[other]


def is_itself(figure: Figure, clause: Clause) -> bool:
    """Whether a figure is what a row has that others are compared with: `1.00x`, `100 %`, beside words of that.

    In brackets behind another figure a row is compared with itself: `46.0 ns (1.00x)`.
    """
    before, behind = clause.words[: clause.at], clause.words[clause.at + len(figure.written) :]
    if _BEHIND_FIGURE.search(before) and behind.startswith(")") and _ONCE.fullmatch(figure.written):
        return True
    low, high = figure.span()
    one = {"times": 1.0, "%": 100.0}.get(figure.kind)
    return one is not None and low <= one <= high and bool(_ITSELF.search(clause.sentence))
