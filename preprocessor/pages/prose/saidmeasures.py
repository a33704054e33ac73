"""Whether words name a measure that the column of a cell is not one of, or leave out one that they have to say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from preprocessor.pages.prose.evidence import number_unit
from preprocessor.pages.prose.naming import header_words
from preprocessor.pages.prose.plainwords import list_words, read_measure, read_words, stem
from preprocessor.specs.fieldwords import field_words

if TYPE_CHECKING:
    from preprocessor.pages.prose.columnnumbers import Number
    from preprocessor.pages.prose.quoted import Quoted

_SPECIAL: Final = frozenset({"min", "max", "deviation", "percentile", "user", "system", "total"})
"""Measures that a sentence has to name where another column has figures of its unit as well."""
_READING: Final = frozenset(
    map(
        stem,
        read_words(
            "read load decode deserialize deserialise parse decompress unpack extract find query search scan"
        ),
    )
)
_WRITING: Final = frozenset(
    map(
        stem,
        read_words(
            "write dump encode serialize serialise compress pack zip insert update delete format print render"
        ),
    )
)


def find_other_measure(text: str, quoted: Quoted, *, is_part: bool = False) -> str:
    """What words name that the column is not one of, or what they would have to; "" where they are about it.

    ``is_part``: they need not name it.
    """
    words = list_words(text)
    for word in words:
        measure = read_measure(word)
        if measure and measure not in quoted.measures and not _is_of_unit(measure, quoted):
            return f"`{word}` is another measure"
    stems = frozenset(map(stem, words))
    own = frozenset(map(stem, list_words(f"{quoted.header} {field_words(quoted.cell.column)}")))
    for one, other in ((_READING, _WRITING), (_WRITING, _READING)):
        if stems & one and not stems & other and own & other and not own & one:
            return f"`{next(word for word in words if stem(word) in one)}` is not what the column is about"
    return "" if is_part else _find_missing(stems, frozenset(filter(None, map(read_measure, words))), quoted)


def _is_of_unit(measure: str, quoted: Quoted) -> bool:
    """Whether any column of the unit is of a measure: times are latencies, rates a throughput."""
    unit = quoted.cell.unit
    kind = unit.kind if unit else ""
    is_plain = not quoted.measures & _SPECIAL
    return is_plain and (
        (measure == "latency" and kind == "time") or (measure == "throughput" and kind.endswith("/s"))
    )


def _find_missing(stems: frozenset[str], measures: frozenset[str], quoted: Quoted) -> str:
    """What words would have to say of a column beside others of its unit; "" where they say it."""
    spec, column = quoted.names.spec, quoted.cell.column
    headers = header_words(spec)
    unit = quoted.cell.unit
    others = [
        name
        for name in spec.columns
        if name != column
        and unit is not None
        and (own := number_unit(spec, name, quoted.rows))
        and own.fits(unit)
    ]
    is_special = {one for one in quoted.measures if one in _SPECIAL or (one[0] == "p" and one[1:2].isdigit())}
    if others and is_special and not is_special & measures:
        return f"other columns have its unit, and nothing beside it says `{quoted.header}`"
    plain = [one for one in others if not _is_special(quoted._replace(cell=_at(quoted.cell, one)))]
    apart = frozenset(map(stem, list_words(quoted.header))) - {
        stem(word) for one in plain for word in list_words(headers.get(one, one))
    }
    if plain and not stems & apart:
        return f"other columns have its unit, and nothing beside it says `{quoted.header}`"
    return ""


def _is_special(quoted: Quoted) -> bool:
    return any(one in _SPECIAL or re.match(r"p\d", one) for one in quoted.measures)


def _at(cell: Number, column: str) -> Number:

    return replace(cell, column=column)
