"""Figures that a sentence spells: `a third of the speed`, `twice as many`, `four indexes`.

A fraction is a share in percent, and only where it is one of something, or compares: `by a third`, `half the speed`. It
stands for whatever nobody would call by another one. Small counts are figures where a unit follows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mongo_tables.pages.prose.numbers import Figure, Unit, fold_case, read_bounds, unit_after
from mongo_tables.pages.prose.paragraphs import BLANK

_COUNTS: Final = {
    word: float(number)
    for number, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=2
    )
} | {"sixteen": 16.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0}
_PARTS: Final = {
    word: number
    for number, words in enumerate(
        ("half", "third", "quarter fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), start=2
    )
    for word in words.split()
}
_COUNT: Final = "|".join(_COUNTS)
_COMPARES: Final = r"(?:less|lower|fewer|slower|faster|higher|longer|cheaper)\b"
MEASURED: Final = (
    r"(?:the|its|their|that|this)\s(?:\w+\s)?"
    r"(?:speeds?|throughput|rates?|latency|performance|median|memory)\b"
)
"""What a share is of, where rows can tell: `a quarter of an hour` and `half of the operations` are other shares."""
_FRACTION: Final = re.compile(
    rf"(?P<by>\bby\s(?:about\s)?)?\b(?:(?P<count>an?|one|{_COUNT})\s)?(?P<part>{'|'.join(_PARTS)})s?\b"
    rf"(?P<of>\s(?:of\s{MEASURED}|as\s(?:fast|slow|long)\b|{_COMPARES})|(?<=half)\s{MEASURED}"
    r"|(?:(?<=takes\shalf)|(?<=needs\shalf)|(?<=in\shalf))\s(?:the|its)\stime\b)?",
    re.IGNORECASE,
)
_AS: Final = r"as\s(?:(?:fast|slow|long)\b|(?:much|many|high|large|big|small|low)\s(?:\S+\s){0,3}?as\b)"
_OF_WHAT: Final = (
    rf"(?:{MEASURED}|(?:the|its|their)\s(?:\w+\s)?(?:time\b(?!\slimit)|ops\b|\w+(?:/s|\sper\ssecond)\b)"
    r"|\S+['’]s\s(?:speed|throughput)\b)"
)
_FACTOR: Final = re.compile(
    rf"\b(?:(?P<word>twice|thrice)|(?P<count>{_COUNT})[\s{BLANK}]+times)[\s{BLANK}]+(?={_AS}|{_OF_WHAT}|{_COMPARES})"
    rf"|\b(?P<fold>{_COUNT})[\s-]?fold\b|(?<=by\sa\sfactor\sof\s)(?P<by>{_COUNT})\b"
    rf"|\b(?P<verb>doubl|tripl)(?:e|es|ed|ing)[\s{BLANK}]+(?={MEASURED})",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(rf"\b(?P<count>{_COUNT})(?=[\s{BLANK}-])", re.IGNORECASE)
_DURATION: Final = re.compile(
    rf"\b(?:(?:(?P<count>an?|one|{_COUNT})\s)?(?P<part>{'|'.join(_PARTS)})s?\sof|(?P<half>half))\s(?:an?|one)(?=\s)",
    re.IGNORECASE,
)
_FACTORS: Final = {"twice": 2.0, "thrice": 3.0, "doubl": 2.0, "tripl": 3.0}
_OFF: Final = 0.12
"""How far off a spelled share or factor may be, as a part of it."""


def spelled_figures(text: str) -> Iterator[Figure]:
    """The figures that a text spells, those of each kind in order."""
    yield from _fractions(text)
    yield from _factors(text)
    for found in _COUNTED.finditer(text):
        unit, end = unit_after(text, found.end())
        if unit is not None and unit.kind != "times":
            count = _COUNTS[fold_case(found["count"])]
            yield Figure(text[found.start() : end], found.start(), count, count, unit)


def _fractions(text: str) -> Iterator[Figure]:
    for found in _FRACTION.finditer(text):
        part = _PARTS[fold_case(found["part"])]
        if not (found["by"] or found["of"]) or not (found["count"] or part == 2):
            continue
        start = found.start("count" if found["count"] else "part")
        share = 100 * _COUNTS.get(fold_case(found["count"] or ""), 1.0) / part
        slack = min(_OFF * share, 50 / part)
        yield _figure(text, start, found.end("part"), share, slack, Unit("%"))


def spelled_durations(text: str) -> Iterator[Figure]:
    """The parts of a second, a minute or an hour that a text spells: `a tenth of a second`, `half an hour`.

    Most of them say when something was done; only what holds rows against a duration beside them makes them figures.
    """
    for found in _DURATION.finditer(text):
        unit, end = unit_after(text, found.end())
        if unit is None or unit.kind != "time":
            continue
        part = _PARTS[fold_case(found["part"] or found["half"])]
        value = _COUNTS.get(fold_case(found["count"] or ""), 1.0) / part
        yield _figure(text, found.start(), end, value, _OFF * value, unit)


def _factors(text: str) -> Iterator[Figure]:
    for found in _FACTOR.finditer(text):
        word = fold_case(found[found.lastgroup or 0])
        factor = _FACTORS.get(word) or _COUNTS[word]
        yield _figure(text, found.start(), found.end(), factor, _OFF * factor, Unit("times"))


def _figure(text: str, start: int, end: int, value: float, slack: float, unit: Unit) -> Figure:
    low, high = read_bounds((value - slack, value, value, value + slack), text[max(start - 32, 0) : start])
    return Figure(text[start:end].strip(), start, low, high, unit)
