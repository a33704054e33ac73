"""Which columns a share or a factor may compare: `2x the memory` those of bytes, `2x faster` those of times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.numbers import nouns_of
from mongo_tables.pages.prose.ratios import Compared

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.evidence import Evidence
    from mongo_tables.pages.prose.naming import Named

_SUBJECT: Final = re.compile(
    r"\b(?:(?P<size>memory|RAM|RSS|heap|footprint|sizes?|space|larger|smaller|bigger|lighter"
    r"|heavier)"
    r"|(?P<speed>(?:fast|slow|quick|long|short)er|as\s(?:fast|slow|quick|long)|speed\w*|throughput|latency|rates?|time"
    r"|tak(?:es?|ing)|took|runs?|per\ssecond|performance))\b",
    re.IGNORECASE,
)


def comparing(known: Evidence, named: Mapping[int, Named], clause: Clause) -> Evidence:
    """The evidence with those columns alone to compare that a clause may speak of.

    Of bytes where its words are about sizes, of what is counted where they have its noun, and of either where they name
    the column and no speed. Where it is about sizes, no times and rates.
    """
    subject = _find_subject(clause)

    def is_meant(one: Compared) -> bool:
        kind = one.unit.kind if one.unit else ""
        if subject == "size" and kind == "byte":
            return True
        is_named = id(one.spec) in named and one.name in named[id(one.spec)].columns
        return subject != "speed" and (is_named or kind in nouns_of(clause.prose))

    compared = known.compared
    if subject == "size":
        compared = tuple(one for one in compared if isinstance(one, Compared) and one.unit is None)
    return replace(known, compared=(*compared, *filter(is_meant, known.sizes)))


def _find_subject(clause: Clause) -> str:
    """Whether the word nearest to a figure, first of those behind it, is of `size` or of `speed`; "" without one."""
    behind = next(_SUBJECT.finditer(clause.words, clause.at), None)
    before = [*_SUBJECT.finditer(clause.words[: clause.at])]
    found = behind or (before[-1] if before else None)
    return (found.lastgroup or "") if found else ""
