"""Figures of how something was measured, which no row has: `95 % confidence intervals`, `30 runs of 5 s`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from preprocessor.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from preprocessor.pages.prose.clauses import Clause
    from preprocessor.pages.prose.numbers import Figure

_LEVEL: Final = re.compile(
    rf"[\s{BLANK}-]*(?:(?:bootstrap\w*|two-sided|simultaneous)\s)?(?:confidence|credible|significance|CIs?\b)",
    re.IGNORECASE,
)
_NOISE: Final = re.compile(
    rf"\b(?:differences?|changes|deviations?)\s(?:(?:of\s)?(?:less|smaller)\sthan|below|under|within|up\sto)[\s{BLANK}]*$"
    rf"|\b(?:threshold|tolerance|noise|margin|significance\slevel)\s(?:of|is|was)[\s{BLANK}]*$",
    re.IGNORECASE,
)
_REPEATED: Final = re.compile(
    rf"\b\d+\s(?:\w+\s)?(?:runs|repetitions|repeats|rounds|samples|iterations|windows)\s(?:of|for|lasting)(?:\sabout)?[\s{BLANK}]*$"
    rf"|\bwarm(?:ed|ing)?[\s-]?up\s(?:of|for)(?:\sabout)?[\s{BLANK}]*$",
    re.IGNORECASE,
)


def is_of_method(figure: Figure, clause: Clause) -> bool:
    """Whether a share is a level of confidence or a threshold, or a time that of each run or of warming up."""
    before, behind = clause.words[: clause.at], clause.at + len(figure.written)
    if figure.kind == "%":
        return bool(_LEVEL.match(clause.words, behind) or _NOISE.search(before))
    return figure.kind == "time" and bool(_REPEATED.search(before))
