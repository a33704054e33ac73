"""Stale numbers: open ones whose sentence names the cell that they were typed from, and their copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log10
from typing import TYPE_CHECKING, Final

from mongo_tables.findings.finding import Finding, Place
from mongo_tables.findings.rules import finding
from mongo_tables.site.numbers.classes import is_within, unit_factors
from mongo_tables.site.numbers.prose import without_language
from mongo_tables.site.numbers.text import kind_of, normalized

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import Candidate, TextNumber
    from mongo_tables.site.numbers.tables import Cell, Table
    from mongo_tables.site.numbers.text import Number

_RULE: Final = "MT326"
_FAR: Final = 10.0
"""A number is not taken for one that is this many times as large, unless its column and its unit are named."""
_TELLING: Final = 3
"""Digits of a number that is a copy of another one wherever it is."""
_LONGEST: Final = 8


@dataclass(frozen=True, slots=True)
class Target:
    """The cell that a sentence names: its row and column as messages name them, and its value.

    ``value`` is in the unit of the sentence.
    """

    row: str
    column: str
    written: str
    value: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A cell with the factor from its unit to that of a number, and whether its column is named."""

    cell: Cell
    factor: float
    is_named: bool


def find_stale(numbers: Sequence[TextNumber]) -> dict[int, Target]:
    """Return the cells of the stale numbers, by position in ``numbers``.

    A sentence that states a cell correctly, or has two numbers for it, says nothing about another number.
    """
    named = {
        at: target
        for at, one in enumerate(numbers)
        if one.kind == "open" and one.candidate and (target := find_target(one.candidate))
    }
    asked = Counter((_sentence_of(numbers[at]), target) for at, target in named.items())
    stated = {
        (_sentence_of(one), target)
        for one in numbers
        if one.kind != "open"
        and one.candidate
        and (target := find_target(one.candidate))
        and _states(one.candidate.number, target)
    }
    return {
        at: target
        for at, target in named.items()
        if asked[key := (_sentence_of(numbers[at]), target)] == 1 and key not in stated
    }


def _states(number: Number, target: Target) -> bool:
    return any(is_within(number, precision, target.value) for precision in number.precisions)


def _sentence_of(one: TextNumber) -> tuple[str, int]:
    return one.file, one.candidate.begin if one.candidate else -1


def find_target(candidate: Candidate) -> Target | None:
    """Return the cell whose row and column, or row and unit, the sentence of a number names, if it is the only one.

    Names are compared as text.
    """
    words = f" {normalized(candidate.sentence)} "
    found = {
        target for table in candidate.tables.all for target in _targets_in(table, candidate.number, words)
    }
    return found.pop() if len(found) == 1 else None


def _targets_in(table: Table, number: Number, words: str) -> Iterator[Target]:
    rows, said = table.rows.find_common(words)
    if not said and table.size == 1:
        rows = frozenset({0})
    elif not rows:
        return
    choices = [
        _Choice(cell, factor, cell.column in table.columns.find_any(words))
        for cell in table.cells
        if cell.row in rows and cell.column >= table.naming and cell.is_first
        for factor in unit_factors(number, cell, table)[:1]
    ]
    for one in _choose(choices, table, number, words):
        is_unit_known = bool(one.cell.units or number.noun)
        if not said and not (one.is_named or number.noun):
            continue  # The only row needs no name, but its column does.
        value = one.cell.value * one.factor
        if not (one.is_named and is_unit_known) and not number.value / _FAR <= value <= number.value * _FAR:
            continue
        written = one.cell.number.written
        shown = written if len(written) <= _LONGEST else f"{one.cell.value:.6g}"
        yield Target(", ".join(said), table.labels[one.cell.column], shown, value)


def _choose(choices: list[_Choice], table: Table, number: Number, words: str) -> list[_Choice]:
    """Return the cells of named columns, else those whose unit is known."""
    named = [one for one in choices if one.is_named and (one.cell.units or not number.is_ratio)]
    if len({one.cell.column for one in named}) > 1:
        columns, _ = table.columns.find_common(words)
        named = [one for one in named if one.cell.column in columns] or named
    if named:
        return named
    known = [one for one in choices if (one.cell.units and number.has_unit) or number.noun]
    return [one for one in known if one.cell.column == table.main] or known


def stale_findings(numbers: Sequence[TextNumber], targets: Mapping[int, Target]) -> list[Finding]:
    """Return a finding for each stale number. Its copies in other places are related places of the first.

    ``targets`` are those of ``find_stale``.
    """
    found, told = list[Finding](), set[int]()
    for at, target in targets.items():
        if at in told:
            continue
        one = numbers[at]
        copies = [
            other
            for other in range(len(numbers))
            if other != at and targets.get(other, target) == target and _is_copy(numbers[other], one, target)
        ]
        told.update(copies)
        row = f"row `{target.row}`, " if target.row else ""
        fault = finding(
            _RULE,
            one.file,
            one.at,
            f"`{one.written}`: {row}column `{target.column}` is {target.written} now",
            f"write `{rewrite(one, target.value)}`, or give the reason in mongo-tables.toml: [[numbers.exempt]]",
        )
        places = (Place(numbers[other].file, *numbers[other].at) for other in copies)
        found.append(fault._replace(related=tuple(sorted(places))))
    return found


def _is_copy(other: TextNumber, one: TextNumber, target: Target) -> bool:
    """Return whether an open number says the same as a stale one, in a translation or with a telling number."""
    if other.kind != "open" or other.candidate is None or one.candidate is None:
        return False
    number, own = other.candidate.number, one.candidate.number
    kinds = {(kind_of(unit), round(number.value * unit.factor, 12)) for unit in number.units}
    own_kinds = {(kind_of(unit), round(own.value * unit.factor, 12)) for unit in own.units}
    is_same = number.value == own.value and (number.noun == own.noun or not number.has_unit)
    if not (kinds & own_kinds or (is_same and not (kinds and own_kinds))):
        return False
    return (
        number.precisions[-1].digits >= _TELLING
        or without_language(other.file) == without_language(one.file)
        or (target.row != "" and f" {target.row} " in f" {normalized(other.candidate.sentence)} ")
    )


def rewrite(one: TextNumber, value: float) -> str:
    """Return a typed number with another value, with as many decimals and in its notation."""
    assert one.candidate is not None, "only typed numbers are stale"
    typed = one.candidate.number
    marks = [mark for mark in typed.written if not mark.isdigit()]
    decimals = round(-log10(2 * typed.precisions[0].half))
    decimal = marks[-1] if decimals else ""
    group = marks[0] if len(marks) > bool(decimals) else ""
    text = f"{value:{',' if group else ''}.{decimals}f}"
    text = text.replace(",", "\0").replace(".", decimal).replace("\0", group)
    start = typed.digits_at - typed.start
    return one.written[:start] + text + one.written[start + len(typed.written) :]
