"""Stale numbers: open ones whose sentence names the cell that they were typed from, and their copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from typing import TYPE_CHECKING, Final

from mongo_tables.findings.finding import Finding, Place
from mongo_tables.findings.rules import finding
from mongo_tables.site.numbers.classes import is_within, unit_factors
from mongo_tables.site.numbers.prose import without_language
from mongo_tables.site.numbers.text import kind_of, normalized

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import Candidate, TextNumber
    from mongo_tables.site.numbers.tables import Table
    from mongo_tables.site.numbers.text import Number

_RULE: Final = "MT326"
_FAR: Final = 3.0
"""A number is not taken for one that is this many times as large, unless its column and its unit are named."""
_FARTHEST: Final = 10.0
"""A number with a named column is not, either, unless it is a factor: `fell by 12 ms` is another number."""
_TELLING: Final = 3
"""Digits of a number that is a copy of another one wherever it is."""
_LONGEST: Final = 8


@dataclass(frozen=True, slots=True)
class Target:
    """The cell that a sentence names: its row and column as messages name them, and its number as written.

    ``value`` is in the unit of the sentence. ``is_sure``: its column and its unit are named.
    """

    row: str
    column: str
    written: str
    value: float = field(compare=False)
    is_sure: bool = field(compare=False)


def find_stale(numbers: Sequence[TextNumber]) -> dict[int, Target]:
    """Return the cells of the stale numbers, by position in ``numbers``.

    A sentence that states a cell correctly, or has two numbers for it, says nothing about another number.
    """
    sentences: dict[tuple[str, int], list[int]] = {}
    for at, one in enumerate(numbers):
        if one.candidate:
            sentences.setdefault((one.file, one.candidate.begin), []).append(at)
    found: dict[int, Target] = {}
    for own in sentences.values():
        if all(numbers[at].kind != "open" for at in own):
            continue
        targets = {at: target for at in own if (target := _find_target_of(numbers[at]))}
        # An attribute of HTML and the text after it may say the same.
        values = {
            (target, typed.number.value) for at, target in targets.items() if (typed := numbers[at].candidate)
        }
        said = Counter(target for target, _ in values)
        found |= {
            at: target for at, target in targets.items() if numbers[at].kind == "open" and said[target] == 1
        }
    return found


def _find_target_of(one: TextNumber) -> Target | None:
    """Return the cell of an open number, or of another one if it has that value."""
    target = find_target(one.candidate) if one.candidate else None
    if target is None or one.candidate is None or one.kind == "open":
        return target
    number = one.candidate.number
    return target if any(is_within(number, each, target.value) for each in number.precisions) else None


def find_target(candidate: Candidate) -> Target | None:
    """Return the cell whose row and column, or row and unit, the sentence of a number names, if it is the only one.

    Names are compared as text.
    """
    number, words = candidate.number, f" {normalized(candidate.sentence)} "
    found = {target for table in candidate.tables.all for target in _targets_in(table, number, words)}
    if len(found) != 1:
        return None
    (target,) = found
    if target.is_sure and number.is_ratio:
        return target
    far = _FARTHEST if target.is_sure else _FAR
    return target if number.value / far <= target.value <= number.value * far else None


def _targets_in(table: Table, number: Number, words: str) -> Iterator[Target]:
    rows, said = table.rows.find_common(words)
    if not said and table.size == 1:
        rows = frozenset({0})  # The only row needs no name, but its column does.
    named = table.columns.find_any(words)
    cells = [
        (cell, factor)
        for row in sorted(rows)
        for cell in table.cells_of(row)
        if cell.column >= table.naming and cell.is_first
        for factor in unit_factors(number, cell, table)[:1]
    ]
    own = [one for one in cells if one[0].column in named and (one[0].units or not number.is_ratio)]
    if len({cell.column for cell, _ in own}) > 1:
        common, _ = table.columns.find_common(words)
        own = [one for one in own if one[0].column in common] or own
    if not own and table.is_main and (said or number.noun):
        known = [one for one in cells if number.noun or (one[0].units and number.has_unit)]
        own = [one for one in known if one[0].column == table.main] or known
    for cell, factor in own:
        written = cell.number.written if len(cell.number.written) <= _LONGEST else f"{cell.value:.6g}"
        is_sure = cell.column in named and bool(cell.units or number.noun)
        yield Target(", ".join(said), table.labels[cell.column], written, cell.value * factor, is_sure)


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
    if number.has_unit and own.units:
        is_same = not _amounts(number).isdisjoint(_amounts(own))
    else:
        is_same = number.value == own.value and not number.units and number.noun in ("", own.noun)
    return is_same and (
        number.precisions[-1].digits >= _TELLING
        or without_language(other.file) == without_language(one.file)
        or (target.row != "" and f" {target.row} " in f" {normalized(other.candidate.sentence)} ")
    )


def _amounts(number: Number) -> set[tuple[object, float]]:
    return {(kind_of(unit), round(number.value * unit.factor, 12)) for unit in number.units}


def rewrite(one: TextNumber, value: float) -> str:
    """Return a typed number with another value, with as many decimals and in its notation.

    A value that these decimals round to zero has more: two digits.
    """
    assert one.candidate is not None, "only typed numbers are stale"
    typed = one.candidate.number
    marks = [mark for mark in typed.written if not mark.isdigit()]
    decimals = round(-log10(2 * typed.precisions[0].half))
    group = marks[0] if len(marks) > bool(decimals) else ""
    decimal = marks[-1] if decimals else "."
    if value and not round(value, decimals):
        decimals = 1 - floor(log10(abs(value)))
    text = f"{value:{',' if group else ''}.{decimals}f}"
    text = text.replace(",", "\0").replace(".", decimal).replace("\0", group)
    start = typed.digits_at - typed.start
    return one.written[:start] + text + one.written[start + len(typed.written) :]
