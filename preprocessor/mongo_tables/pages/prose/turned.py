"""Factors between two rows that go the other way round: `A has twice the throughput of B`, said of the slower A.

The words beside a factor say what of the first row is more or less: its speed (`faster`, `beats`, `the throughput of`),
its time (`longer`, `the latency of`), or its size. By speed a row is ahead with the greater rate or the shorter time.
Where words say nothing of that, or a column is neither, nothing is judged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.directions import UNDECIDED
from mongo_tables.pages.prose.numbers import figures
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.ratios import Compared

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.evidence import Evidence
    from mongo_tables.pages.prose.numbers import Figure, Unit

_SIGN: Final = re.compile(
    r"\b(?:(?P<fast>faster|quicker|as\s(?:fast|quick)|speed[\s-]?ups?)"
    r"|(?P<slow>slower|as\sslow|slow[\s-]?downs?)"
    r"|(?P<long>longer|as\slong)|(?P<short>shorter)"
    r"|(?P<more>more|higher|larger|bigger|greater|heavier|as\s(?:much|many|high|large|big))"
    r"|(?P<less>less|lower|fewer|smaller|lighter))\b",
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(
    r"\b(?:beat(?:s|ing|en)?|outperform(?:s|ed|ing)?|out(?:runs?|paces?)|surpass(?:es|ed)?|leads|ahead\sof)\b",
    re.IGNORECASE,
)
_NOUN: Final = re.compile(
    r"\b(?:(?P<speed>throughput|speed|rates?|ops|(?:\w+\s)?per\ssecond)|(?P<time>time|latency|duration|runtime)"
    r"|(?P<size>memory|RAM|RSS|heap|footprint|sizes?|space))\b",
    re.IGNORECASE,
)
_REDUCES: Final = re.compile(
    r"\b(?:cut|cuts|reduc\w+|lower(?:s|ed|ing)|decreas\w+|shr[aiu]nk\w*|drop\w*|f[ae]ll\w*|sav\w+|halv\w+)\b",
    re.IGNORECASE,
)
_PER_SECOND: Final = re.compile(r"\b(?:per|a|each)\ssecond\b", re.IGNORECASE)
_OF_IT: Final = re.compile(rf"[\s{BLANK}]*(?:of\s)?(?:the|its|their|that|those|as|\S+['’]s)\b", re.IGNORECASE)
"""What stands behind a factor that says how much of the other the one has."""
_OF_THAT: Final = re.compile(rf"[\s{BLANK}]*(?:of\s)?(?:that|those)\b", re.IGNORECASE)
_SIGNS: Final = {
    "fast": ("speed", True),
    "slow": ("speed", False),
    "long": ("time", True),
    "short": ("time", False),
}


class _Said(NamedTuple):
    """What is said of the first of two rows: that its speed, time or size is ``more`` than that of the second."""

    quantity: str
    more: bool


def find_turned(figure: Figure, clause: Clause, known: Evidence) -> str:
    """What rows say where they are that factor apart the other way round; "" where they are not, or nothing decides.

    ``known`` is the evidence for the rows that are named.
    """
    said = _read_said(figure, clause)
    columns = [one for one in known.compared if isinstance(one, Compared) and one.pairs]
    others = _PER_SECOND.sub("", clause.prose.replace(figure.written, "", 1))
    if said is None or not columns or UNDECIDED.search(others):
        return ""
    against = ""
    for column in columns:
        way = _way_of(column.unit, said.quantity)
        for (one, other), (value, beside) in zip(column.list_rows(), column.list_pairs(), strict=True):
            if way and value != beside:
                if (way * (value - beside) > 0) is said.more:
                    return ""
                against = against or (
                    f"`{column.name}` is {value:g} in row {one + 1}, {beside:g} in row {other + 1}"
                )
    return against


def _way_of(unit: Unit | None, quantity: str) -> int:
    """1 where more of a column is more of a quantity, -1 where it is less, 0 where it has nothing to do with it."""
    kind = unit.kind if unit else ""
    if kind == "byte":
        return int(quantity == "size")
    way = 1 if kind.endswith("/s") else -1 if kind == "time" else 0
    return {"speed": way, "time": -way}.get(quantity, 0)


def _read_said(figure: Figure, clause: Clause) -> _Said | None:
    """What the words around a figure say; None where they say nothing, or not all of it."""
    end = clause.at + len(figure.written)
    following = next((one.start for one in figures(clause.words[end:]) if one.may_compare), None)
    behind = clause.words[end : None if following is None else end + following]
    before = clause.words[: clause.at]
    if _REDUCES.search(before) or (figure.kind == "%" and not (clause.differs or _OF_IT.match(behind))):
        return None
    said = _read_sign(behind, before) or _read_noun(behind, before) or _read_sign_before(before)
    if said is None:
        return None
    one = 100 if figure.kind == "%" else 1
    is_part = not clause.differs and figure.high < one
    return said._replace(more=not said.more) if is_part else said


def _read_sign(text: str, beside: str) -> _Said | None:
    """What the first word of a text says that compares; what is more or less may be ``beside`` it."""
    sign = _SIGN.search(text)
    if sign is None:
        return None
    if found := _SIGNS.get(sign.lastgroup or ""):
        return _Said(*found)
    noun = _NOUN.search(text, sign.end()) or _find_last_noun(beside)
    return _Said(noun.lastgroup or "", sign.lastgroup == "more") if noun else None


def _read_noun(behind: str, before: str) -> _Said | None:
    """Of what the first row has so many times as much."""
    if not _OF_IT.match(behind):
        return None
    noun = _find_last_noun(before) if _OF_THAT.match(behind) else _NOUN.search(behind)
    return _Said(noun.lastgroup or "", more=True) if noun else None


def _read_sign_before(before: str) -> _Said | None:
    if _AHEAD.search(before):
        return _Said("speed", more=True)
    return _read_sign(before, before)


def _find_last_noun(text: str) -> re.Match[str] | None:
    found = [*_NOUN.finditer(text)]
    return found[-1] if found else None
