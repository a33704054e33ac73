"""Figures of how something was measured, which no row has: `95 % confidence intervals`, `30 runs of 5 s`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.numbers import Figure

_LEVEL: Final = re.compile(
    rf"[\s{BLANK}-]*(?:(?:bootstrap\w*|two-sided|simultaneous)\s)?(?:confidence|credible|significance|CIs?\b)",
    re.IGNORECASE,
)
_NOISE: Final = re.compile(
    rf"\b(?:differences?|changes|deviations?)\s(?:(?:of\s)?(?:less|smaller)\sthan|below|under|within|up\sto)[\s{BLANK}]*$"
    rf"|\b(?:threshold|tolerance|noise|margin|significance\slevel)\s(?:of|is|was)[\s{BLANK}]*$",
    re.IGNORECASE,
)
_VARY: Final = r"(?:var(?:y|ies|ied)|differ(?:s|ed)?|deviat\w+|scatter\w*|fluctuat\w+)"
_RUNS: Final = r"(?:runs?|repetitions?|rounds?|samples?|measurements?)"
_SCATTERED: Final = re.compile(
    rf"(?:\b{_RUNS}\s(?:\w+\s)?{_VARY}|\b{_VARY}\s(?:\w+\s)?(?:between|from|across|among)\s(?:\w+\s)?{_RUNS}"
    r"|\b(?:(?:standard|relative)\s(?:deviations?|errors?)|coefficients?\sof\svariation|variance|jitter|stddev))"
    rf"\b(?:\s\w+){{0,6}}[\s{BLANK}~≈±<≤]*$",
    re.IGNORECASE,
)
"""What says before a share how far one run lies from the next."""
_REPEATED: Final = re.compile(
    r"\b\d+\s(?:\w+\s)?(?:runs|repetitions|repeats|rounds|samples|iterations|windows)(?:,?\seach)?\s"
    rf"(?:of|for|lasting)(?:\sabout)?[\s{BLANK}]*$"
    r"|\b(?:each|every)\s(?:\w+\s)?(?:benchmark|case|command|configuration|experiment|measurement|run|sample|test|variant"
    r"|window|workload)\s(?:(?:is|was)\s)?(?:runs?|ran|lasts?|lasted|repeat(?:s|ed)|measured|timed|executed)\s(?:for|over)"
    rf"(?:\s(?:about|at\sleast))?[\s{BLANK}]*$"
    r"|\b(?:benchmarks|cases|experiments|measurements|tests|workloads)\s(?:(?:are|were)\s)?(?:run|ran|last|lasted|repeated"
    rf"|measured|timed|executed)\s(?:for|over)(?:\s(?:about|at\sleast))?[\s{BLANK}]*$"
    rf"|\bwarm(?:ed|ing)?[\s-]?up\s(?:of|for)(?:\sabout)?[\s{BLANK}]*$",
    re.IGNORECASE,
)


def is_of_method(figure: Figure, clause: Clause, *, names_column: bool) -> bool:
    """Whether a share is a level of confidence, a threshold or of noise, or a time that of each run or of warming up.

    ``names_column``: the clause names a column of the figure's unit, which may itself say how far runs scatter.
    """
    before, behind = clause.words[: clause.at], clause.at + len(figure.written)
    if figure.kind == "%":
        is_noise = _NOISE.search(before) or (not names_column and _SCATTERED.search(before))
        return bool(is_noise or _LEVEL.match(clause.words, behind))
    until = len(clause.sentence) - len(clause.words) + clause.at
    return figure.kind == "time" and bool(_REPEATED.search(clause.sentence[:until]))
