"""Whether a name beside a figure stands by itself: `rg`, and not `rg-wrapper`, `import rg` or `the rg repository`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.plainwords import (
    KINDS,
    is_action,
    is_measured,
    is_thing,
    list_words,
    read_words,
    stem,
)
from mongo_tables.pages.prose.quoted import CODE, blank_out

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.nameindex import NamePlace
    from mongo_tables.pages.prose.numbers import Figure

_GLUED_BEFORE: Final = re.compile(r"\w[-./@+#:=~]\Z|[-./@#$]\Z")
_GLUED_BEHIND: Final = re.compile(r"[-./@+#:=~]\w|[+#]|\(\)\.")
_BEFORE_NAME: Final = read_words("""
    and at average by currently for here in measured now of on or that the using via while with whereas but also
    both take takes took cost costs
""")
"""What may stand before a name that has a figure; `import`, `to` or `than` make it an object of something else."""
_LINKING: Final = read_words("by for in of on using via with")
_TELLING: Final = read_words("take takes took measure measured get have see saw need it we in at")
"""What may stand before these words: `we measured with rg 81.2 ms`."""
_SIGNS: Final = rf"[\s*_`\[\](){BLANK}]*"
_KIND: Final = rf"(?:{'|'.join(sorted(KINDS))})"
_KIND_BEFORE: Final = re.compile(rf"\b{_KIND}[\s*_`\[]+\Z", re.IGNORECASE)
_KIND_BEHIND: Final = re.compile(rf"[*_`\]{BLANK}]*\s{_KIND}\b", re.IGNORECASE)
_WORD_BEFORE: Final = re.compile(
    rf"(?P<sign>[,;:|()>–—=-]?){_SIGNS}(?:(?P<word>[\w'’]+)[\s*_`\[{BLANK}]+)?(?:the\s)?{_SIGNS}\Z",
    re.IGNORECASE,
)
_WORD_BEHIND: Final = re.compile(rf"{_SIGNS}(?P<owned>['’]s)?{_SIGNS}(?P<word>[^\W\d_]+)")
_BEGUN: Final = re.compile(
    r"\W*(?:in|on|for)\s(?:(?:our|this|these|the|a|an)\s)?(?:\w+\s)?"
    r"(?:tests?|benchmarks?|measurements?|runs?|machine|laptop|computer|hardware|setup|project|file|document|input|code|data|repository|image|workload|case|payload)\W+",
    re.IGNORECASE,
)
"""With what a clause begins that says where it was measured."""


def with_kind(place: NamePlace, words: str) -> tuple[int, int]:
    """From and to of a name with what it is: `the library ujson`, `the ujson library`."""
    before, behind = _KIND_BEFORE.search(words, 0, place.start), _KIND_BEHIND.match(words, place.end)
    return before.start() if before else place.start, behind.end() if behind else place.end


def find_whole(place: NamePlace, words: str) -> str:
    """What a name is a part of, as `ujson.dumps` or `python-ujson`; "" where it stands by itself."""
    for found in CODE.finditer(words):
        if found.start() < place.start and place.end < found.end():
            said = found["code"].strip()
            return "" if said == words[place.start : place.end] else said
    before, behind = words[: place.start], words[place.end :]
    if _GLUED_BEFORE.search(before) or _GLUED_BEHIND.match(behind):
        start = re.search(r"\S*\Z", before)
        end = re.match(r"\S*", behind)
        return f"{start[0] if start else ''}{place.name}{end[0] if end else ''}"
    return ""


class NamingClause(NamedTuple):
    """The clause of a figure, with all else that names its row: ``others`` are from and to of these.

    ``by_order``: of several names the order of words makes one its own. ``known`` are stems of words about the table.
    """

    figure: Figure
    clause: Clause
    others: Sequence[tuple[int, int]]
    by_order: bool
    known: Collection[str]


def find_owner(place: NamePlace, beside: NamingClause) -> str:
    """The word beside a name by which the figure is of another thing: `import rg`, `the rg repository`."""
    at, is_before = beside.clause.at, place.start < beside.clause.at
    spans = [one for one in beside.others if one != place[:2]]
    spans.append((at, at + len(beside.figure.written)))
    before = blank_out(beside.clause.words, spans, ";")[: place.start]
    if _BEGUN.fullmatch(before):
        return ""
    return _find_before(before, beside, is_before) or (
        _find_behind(place, beside.clause) if is_before else ""
    )


def _find_before(before: str, beside: NamingClause, is_before: bool) -> str:
    """The word before a name that makes it an object, or what the name says something of."""
    found = _WORD_BEFORE.search(before)
    word = (found["word"] or "").lower() if found else ""
    if word and word not in _BEFORE_NAME and word not in KINDS and stem(word) not in beside.known:
        return word
    is_listed = beside.by_order or re.search(r"\d", before) or before.strip(" *_`[").lower() == word
    if word in ("and", "or") and not is_listed:
        return word
    is_linked = found is not None and word in _LINKING and is_before
    return _find_head(before[: found.start("word")], beside.known) if found and is_linked else ""


def _find_behind(place: NamePlace, clause: Clause) -> str:
    """The word behind a name that is a thing of it."""
    found = _WORD_BEHIND.match(clause.words, place.end)
    if not found or found.start("word") > clause.at:
        return ""
    is_part = found["owned"] and not is_measured(found["word"])
    is_other = is_thing(found["word"]) and not is_action(found["word"])
    return found["word"] if is_part or is_other else ""


def _find_head(before: str, known: Collection[str]) -> str:
    """The word before `of`, `with` and the like that is neither what is measured nor what is done; "" without one."""
    words = list_words(before)
    if not words:
        return ""
    last = words[-1]
    is_done = is_action(last) and last.lower().endswith("ing")
    is_told = is_measured(last) or is_done or stem(last) in known or last.lower() in _TELLING
    return "" if is_told else last
