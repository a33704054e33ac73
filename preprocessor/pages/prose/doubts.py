"""Why a typed figure may not be that of the one cell that has it: it stays as it is typed, and its author decides.

A value in its place is written anew by the next run. The sentence must then still say what it says: a bound, a target,
the most of several rows or a figure of last year is not the cell's, though it has the same digits today.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from preprocessor.pages.prose.nameindex import name_pattern
from preprocessor.pages.prose.paragraphs import BLANK

if TYPE_CHECKING:
    from preprocessor.pages.prose.clauses import Clause
    from preprocessor.pages.prose.numbers import Figure

_BOUND: Final = re.compile(
    r"\b(?:than|within|over|under|above|below|beyond|exceeds?|beats?|(?:up|down) to|at (?:the )?(?:least|most))"
    rf"[\s*_{BLANK}]*\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND: Final = re.compile(
    rf"[\s*_{BLANK})]*(?:or (?:less|more|fewer|better|worse|below|above|so)|at (?:most|least|best|worst)|tops|±|\+/-)",
    re.IGNORECASE,
)
_EARLIER: Final = (
    r"last (?:year|month|week|release|version)|years? ago|previous(?:ly)?|formerly|used to|back then|originally"
    r"|initially|earlier|later|before|after|since|until|today|old|new|baseline|unchanged|any ?more|no longer"
    r"|(?:version|release) \d|v\d|(?:19|20)\d\d(?:-\d\d)*|(?:down|up) from"
)
_SEVERAL: Final = (
    r"(?:fast|slow|quick|low|high|larg|small|long|short|cheap|bigg)est|best|worst|most|least|peak|winner|wins|won|top"
    r"|between|rang(?:e|es|ing)|all|every(?:thing|one)?|none|nothing|always|never"
)
_WANTED: Final = (
    r"targets?|goals?|budgets?|limits?|SLOs?|SLAs?|gates?|should|must|shall|if|timeouts?|deadlines?|expect(?:s|ed)?|aims?"
    r"|allow(?:s|ed)?|quotas?|thresholds?|caps?"
)
_MEASURES: Final = r"mean|median|average|min(?:imum)?|max(?:imum)?|p\d\d+|percentile|deviation"
_WORDS: Final = {
    "its words speak of another time": _EARLIER,
    "its words speak of several rows": _SEVERAL,
    "its words speak of what is wanted": _WANTED,
    "its words name another measure": _MEASURES,
}
_PATTERNS: Final = {
    reason: re.compile(rf"(?<![\w.,-])(?:{words})(?![\w-])", re.IGNORECASE)
    for reason, words in _WORDS.items()
}


def find_doubt(figure: Figure, clause: Clause, known: str) -> str:
    """The reason to leave a figure that a cell has; "" without one.

    ``known`` is how the row and the column of the cell are called: words that are a part of it say nothing else.
    """
    behind = clause.words[clause.at + len(figure.written) :]
    if figure.bound is not None or _BOUND.search(clause.words[: clause.at]) or _BOUND_BEHIND.match(behind):
        return "it bounds what a cell has"
    for reason, pattern in _PATTERNS.items():
        if any(not _is_part(found, known) for found in pattern.findall(clause.words)):
            return reason
    return ""


def _is_part(words: str, known: str) -> bool:
    return re.search(name_pattern(words), known, re.IGNORECASE) is not None
