"""Whether words name a measure that the column of a cell is not one of, or leave out one that they have to say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.evidence import number_unit
from mongo_tables.pages.prose.plainwords import is_action, list_words, read_measure, stem

if TYPE_CHECKING:
    from mongo_tables.pages.prose.quoted import Quoted

_SPECIAL: Final = frozenset({"median", "min", "max", "deviation", "percentile", "user", "system", "total"})
"""Measures that a sentence has to name where another column has figures of its unit as well."""
_OF_A_RUN: Final = re.compile(r"\b(?:B|bytes)/op\b", re.IGNORECASE)
_PERCENTILE: Final = re.compile(r"p\d")
_ALIKE: Final = (
    "read load decode deserialize deserialise parse",
    "write dump encode serialize serialise print",
    "find query search scan match lookup filter",
    "check verify validate lint",
    "compute calculate evaluate solve",
    "write insert",
)
"""Words for the same work."""
_ALIKE_BY_STEM: Final = {
    stem(word): frozenset(stem(other) for words in _ALIKE if word in words.split() for other in words.split())
    for listed in _ALIKE
    for word in listed.split()
}


def find_other_measure(text: str, quoted: Quoted) -> str:
    """What words name that the column is not one of; "" where they are about it."""
    words, own = list_words(text), {*quoted.measures, _read_statistic(quoted)}
    for word in words:
        measure = read_measure(word)
        if measure and measure not in own and not _is_of_unit(measure, quoted):
            return f"`{word}` is another measure"
    other = next((word for word in words if is_action(word) and not _is_done(word, quoted)), "")
    return f"`{other}` is not what the table is about" if other else ""


def find_missing_measure(texts: Iterable[str], quoted: Quoted) -> str:
    """What words would have to say of a column beside others of its unit; "" where they do.

    ``texts`` are those around a figure, the nearest first; of which column one speaks, that counts.
    """
    headers, others = quoted.table.headers, _list_like(quoted)
    apart = _stems(quoted.header) - _stems(" ".join(headers.get(one, one) for one in others))
    if special := _list_special(quoted):
        apart = frozenset(special)
        others = others if special == {"median"} else [quoted.cell.column]
    for text in texts if others else ():
        said = _stems(text) | frozenset(map(read_measure, list_words(text)))
        if not said.isdisjoint(apart):
            return ""
        if any(not said.isdisjoint(_stems(headers.get(one, one)) - _stems(quoted.header)) for one in others):
            break
    return f"nothing beside it says `{quoted.header}`" if others else ""


def _list_like(quoted: Quoted) -> list[str]:
    """The other columns with figures of its unit, but for those of measures that nobody takes for granted."""
    unit, spec, rows = quoted.cell.unit, quoted.spec, quoted.table.rows
    units = {name: number_unit(spec, name, rows) for name in spec.columns if name != quoted.cell.column}
    like = [name for name, own in units.items() if unit is not None and own is not None and own.fits(unit)]
    beside = {one: replace(quoted, cell=replace(quoted.cell, column=one)) for one in like}
    return [name for name, one in beside.items() if not _list_special(one)]


def _is_done(word: str, quoted: Quoted) -> bool:
    """Whether a table is about the work that a word is for, or is not known to be about another one."""
    names = (name for name, rows in quoted.table.names.rows.items() if quoted.cell.row in rows)
    about = " ".join((quoted.topic, quoted.spec.id or "", quoted.spec.collection, *names))
    done = (frozenset(map(stem, filter(is_action, list_words(one)))) for one in (quoted.said, about))
    own = next(filter(None, done), frozenset[str]())
    alike = _ALIKE_BY_STEM.get(stem(word), frozenset[str]()) | {stem(word)}
    return not own or not own.isdisjoint(alike)


def _read_statistic(quoted: Quoted) -> str:
    """The measure that a benchmark tool gives as the value of a document, if that is the cell; "" otherwise."""
    row = quoted.table.rows[quoted.cell.row]
    return read_measure(str(row.get("statistic", ""))) if quoted.cell.column == "value" else ""


def _is_of_unit(measure: str, quoted: Quoted) -> bool:
    """Whether any column of the unit is of a measure: times are latencies, rates a throughput, `B/op` is memory."""
    unit = quoted.cell.unit
    kind = unit.kind if unit else ""
    is_plain = not quoted.measures & _SPECIAL
    return is_plain and (
        (measure == "latency" and kind == "time")
        or (measure == "throughput" and kind.endswith("/s"))
        or (measure == "memory" and _OF_A_RUN.search(quoted.header) is not None)
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, list_words(text)))


def _list_special(quoted: Quoted) -> frozenset[str]:
    """The measures of a column that nobody takes for granted."""
    return frozenset(one for one in quoted.measures if one in _SPECIAL or _PERCENTILE.match(one))
