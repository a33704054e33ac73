"""Figures in a sentence: what number is meant, how exactly, and of what.

A figure is as exact as its digits, rounded or cut off, and at most 5 percent off: ``22,000`` stands for 21,500 to
23,000. One of whole digits may be a percent off, one with decimals no more than its last digit. Years, dates,
versions, numbers that belong to a name (``M40``, ``p99``) and a bare power of ten or two are no figures. Units are
compared within their kind: bytes, time, rates of the same thing, shares, counts of the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

ABOUT = 0.10
"""How far a figure with a word such as "about" may be off, as a fraction of it."""
BEYOND = 0.25
"""How far a number may lie beyond the one that it is said to exceed or fall short of, as a fraction."""
_LEAST = 0.01
_MOST = 0.05
"""The least and the most that digits may be off, as a part of the number; the least is that of whole digits."""

_NOISE = 1e-9
"""How far off a number may be, as a part of it, because a double does not hold the digits that are written."""

LARGE = 1000
"""A number of that size is a figure without a unit."""
SHARES = ("%", "times")
"""The kinds of what may be the comparison of two rows."""
_LONGEST = 60
"""Characters of a figure: a longer one is a code."""

NUMBER = r"\d{1,3}(?:[,_\u202f\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
GROUPING = re.compile(r"[,_\u202f\u00a0]")
"""What stands between thousands."""
_MULTIPLIERS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_FIGURE = re.compile(
    rf"(?<![\w.,/#§:$€£])(?<!/\s)(?<![\d\w][-–])(?P<low>{NUMBER})(?:\s?(?:[-–—]|to)\s?(?P<high>{NUMBER}))?"
    r"(?P<times>(?-i:[kKM](?![A-Za-z])|\sk\b)|\s(?:thousand|million|billion)\b|e[-+]?\d{1,2}(?!\w))?(?!\d|[.,]\d)",
    re.IGNORECASE,
)
_SPREAD = r"(?:±|\+/-|\+-)"
_BEHIND_NUMBER = re.compile(
    rf"(?:\s*{_SPREAD}[\s\ue000]*(?:{NUMBER}))?[\s\ue000]*(?:\([^()]*\)[\s\ue000]*)?\Z"
)
_HAS_SPREAD = re.compile(_SPREAD)
_SPREADS = re.compile(rf"{_SPREAD}[\s\ue000]*\Z")
_SEPARATOR = re.compile(rf"{_SPREAD}|/")
_LISTED = rf"(?:\ue000*(?:{NUMBER})\ue000*|\ue000+)"
_LIST = re.compile(
    rf"(?<![\w.,/#§:$€£–\ue000-])(?<!/\s){_LISTED}(?:\s?(?:/|{_SPREAD})\s?{_LISTED})+(?!\d|[.,]\d)"
)
"""Numbers between slashes, or one and its spread, of which some may be values of comments."""
_ABOUT = re.compile(
    r"(?:[~≈]|\b(?:about|around|roughly|approximately|approx|nearly|almost|some))[\s\ue000]*$"
)
_MORE = re.compile(r"(?:[>≥]|\b(?:over|above|more than|at least))[\s\ue000]*$")
_LESS = re.compile(r"(?:[<≤]|\b(?:under|below|less than|at most|up to))[\s\ue000]*$")
_UP_TO = re.compile(r"\bup to[\s\ue000]*$")
"""What says how much the most is, and is no bound that anything may stay far below."""
_NO_FIGURE = re.compile(
    r"\b\d{4}-\d{2}(?:-\d{2})?\b|\b\d+(?:\.\d+){2,}\b|\bv\d[\d.]*"
    r"|\b\d{1,2}\s(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    rf"|\b(?:{NUMBER})\s?×\s?(?:{NUMBER})\b|\b(?:ISO|IEC|RFC|PEP|ANSI|IEEE)[\s-]\d[\d.:-]*"
    r"|\bports?\s\d+\b"
    r"|\b(?:Ryzen|Threadripper|EPYC|Xeon|Core)(?:[\s-](?:i?\d|Pro|Gold|Silver|Platinum))*[\s-]\w*\d{4}\w*"
    r"|\b(?:MongoDB|mongod|Python|version|Linux|Ubuntu|Debian|page|line|section|chapter|issue|step)s?\s\d[\d.]*\b",
    re.IGNORECASE,
)

_BINARY = re.compile("[kmgt]iB|(?:ki|me|gi|te)bi", re.IGNORECASE)
_BYTES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TIMES = {
    "ns": 1e-9,
    "nanosecond": 1e-9,
    "ms": 1e-3,
    "millisecond": 1e-3,
    "µs": 1e-6,
    "us": 1e-6,
    "microsecond": 1e-6,
    "s": 1.0,
    "sec": 1.0,
}
_TIMES |= {"second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0}
_TIMES |= {"nsec": 1e-9, "µsec": 1e-6, "usec": 1e-6, "msec": 1e-3, "milli": 1e-3, "micro": 1e-6}
_ALIKE = {
    "document": "document doc insert update write record replacement delete",
    "query": "query querie read lookup find",
    "operation": "operation op request req r 1",
    "transaction": "transaction txn t",
    "iteration": "iteration iter it",
    "message": "message msg",
    "token": "token tok",
    "frame": "frame f",
}
_THOUSANDS = {"k": 1e3, "m": 1e6, "g": 1e9}
"""What stands before the noun of a rate, as in `Mops/s`."""
_NOUNS = {word: noun for noun, words in _ALIKE.items() for word in words.split()}
_PER_SECOND = r"\s?/\s?s(?:ec(?:ond)?)?\b|ps\b|\s(?:per|a|each)\s(?:second|sec)\b"
_RUN = "op(?:eration)?|iter(?:ation)?|call|run|exec(?:ution)?|invocation|req(?:uest)?|query|command"
"""What a benchmark times: `77 ms/op`. A time for each row or byte is of another size than that of the whole."""
_UNIT = re.compile(
    rf"(?P<bytes>(?:[kmgt]i?)?B(?:ytes?)?|(?:kilo|mega|giga|tera|kibi|mebi|gibi|tebi)bytes?)(?P<flow>{_PER_SECOND})?"
    rf"(?:/(?:{_RUN})\b|(?![\w/]))"
    r"|(?P<share>%|per\s?cent\b)"
    r"|(?P<disk>IOPS?\b)"
    rf"|(?P<rated>qps\b|(?!O/S)(?P<noun>[a-z]+|1)(?:{_PER_SECOND}))"
    r"|(?P<time>(?:milli|micro|nano)?seconds?|millis|micros|[mµun]secs?|[mµun]?s|secs?|min(?:ute)?s?|h(?:our|r)?s?)\b"
    rf"(?:/(?:{_RUN})\b|(?!/| of))"
    r"|(?P<factor>times\b|×|(?<=[\d\ue000])x\b|fold\b)"
    r"|(?P<count>threads?|connections?|clients?|documents?|docs|inde(?:x|xe)s|members|processors?|cores?|vcpus?|batches)\b",
    re.IGNORECASE,
)
MORE_OR_LESS = (
    r"less|more|better|worse"
    r"|(?:fast|slow|quick|high|low|long|short|cheap|larg|small|bigg|great|few|heavi|light)er"
)
_TIMES_BEHIND = re.compile(
    rf"\ue000*\s(?:as|than|the(?!\ssame)|its|their|that|this|those|what|\S+['’]s|{MORE_OR_LESS}"
    r"|(?:speed|slow)[\s-]?(?:up|down)|improvement|increase|reduction|gain|overhead)\b",
    re.IGNORECASE,
)
_TIMES_BEFORE = re.compile(
    r"\b(?:by|gr[eo]w\w*|ris\w*|rose|improv\w+|increas\w+|gain\w*|drop\w*|f[ae]ll?\w*)\s(?:\w+\s)?[\s\ue000]*$",
    re.IGNORECASE,
)
"""What stands behind and before a whole number of times that compares; `each command 50 times` says how often."""
_BY_FACTOR = re.compile(
    r"\bby\s+(?:about\s|around\s)?an?\s+factor\s+(?:of\s+)?"
    r"(?:(?:about|around|roughly|almost|nearly|over|more\sthan|up\sto|at\sleast)\s+|~)?[\s\ue000]*$",
    re.IGNORECASE,
)
"""What makes a number behind it one of times."""
_SCALED = re.compile(
    r"\b(?:(?:scal(?:e|ed|ing)|multipl(?:y|ied))\s(?:the|our|its|all|each|every)"
    r"|(?:is|are|was|were)\s(?:scaled|multiplied))\s",
    re.IGNORECASE,
)
"""But where somebody set it."""
_SIZED = re.compile(r"\s\d+\s?[kmg]i?b(?=\s)", re.IGNORECASE)
_WORD = re.compile(r"[\s\ue000-]*")
_EACH = r"(?:\s?/\s?|\s(?:per|a|each)\s)"
_NOUN = re.compile(rf"[\s\ue000-]+([A-Za-z]+)\b(?:{_EACH}([A-Za-z]+)\b)?")
_PLURAL = re.compile(rf"\b([A-Za-z]{{2,}}[a-hj-rtv-z]s)(?:{_EACH}([A-Za-z]+))?\)?$")
"""The last word of a header, where it ends as nouns in the plural do; `Class`, `Status` and `Analysis` do not."""


@dataclass(frozen=True, slots=True)
class Unit:
    """``kind`` says what can be compared; a number of it times ``factor`` is in the kind's own unit.

    ``by_header``: it is a noun that only the header of a column makes a unit. ``is_binary``: its steps are of 1024, as
    those of MiB. A ``kind`` without a name is that of counts, of whatever: neither a time, a size nor a rate.
    """

    kind: str
    factor: float = 1.0
    by_header: bool = False
    is_binary: bool = False

    @property
    def steps(self) -> int:
        """How many steps of a thousand a unit of bytes is above the byte."""
        return (int(self.factor).bit_length() - 1) // 10

    def fits(self, other: Unit) -> bool:
        """Whether figures of both are of the same kind; operations a second are a rate of whatever is done."""
        rates = {self.kind, other.kind}
        return len(rates) == 1 or (
            "operation/s" in rates and all(rate.endswith("/s") for rate in rates - {"byte/s"})
        )


class Bound(NamedTuple):
    """What numbers are said to exceed, where ``is_least``, or else to fall short of."""

    limit: float
    is_least: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as it is ``written``, at ``start`` in its text; it stands for every number from ``low`` to ``high``.

    These are in the unit that is written; ``unit`` is None where none is known. ``ends`` are both ends of a range that
    is written with decimals, for who writes these means them; of any other range every number between them is said.
    ``rounded``: the same among numbers that are not whole, where a count stands for itself alone. ``bound``: words
    before it make it one. ``is_spread``: it says how far the figure before it spreads, as in `225 ± 2.1 ms`.
    """

    written: str
    start: int
    low: float
    high: float
    unit: Unit | None
    ends: tuple[Figure, ...] = ()
    rounded: tuple[float, float] | None = None
    bound: Bound | None = None
    is_spread: bool = False

    @property
    def kind(self) -> str:
        """That of its unit; "" where none is known."""
        return self.unit.kind if self.unit else ""

    @property
    def may_compare(self) -> bool:
        """Whether it is a share or a factor, which may be the comparison of two rows."""
        return self.kind in SHARES

    def move(self, by: int) -> Figure:
        """The same so many characters further on."""
        return replace(self, start=self.start + by, ends=tuple(one.move(by) for one in self.ends))

    def is_like(self, other: Figure) -> bool:
        """Whether both are of the same kind, as milliseconds and seconds are, or the other may be a rate as this is."""
        return self.kind == other.kind or (other.unit is None and self.kind.endswith("/s"))

    def span(self, *, whole: bool = True) -> tuple[float, float]:
        """From and to of the doubles that it stands for; ``whole``: among whole numbers."""
        low, high = (self.low, self.high) if whole or self.rounded is None else self.rounded
        noise = _NOISE * max(abs(low), abs(high))
        return low - noise, high + noise


_FOLDED = str.maketrans({"μ": "µ", "ı": "i", "İ": "i", "ſ": "s"})
"""Letters that patterns without regard to case take for others, and that `str.lower` does not make those."""


def fold_case(word: str) -> str:
    """The word as tables of words have it."""
    return word.translate(_FOLDED).lower()


def blank_names(text: str) -> str:
    """The text without what is no figure though it has digits: dates, versions, numbers of pages; offsets stay."""
    return _NO_FIGURE.sub(lambda found: "\ue000" * len(found[0]), text)


def figures(text: str, nouns: Collection[str] = ()) -> Iterator[Figure]:
    """The figures of a text that say a quantity: with a unit, or of a thousand and more.

    ``nouns`` are units as well, each a singular, as `tool` in `a 63-tool test` and `63 tools`.
    """
    said = blank_names(text)
    text, shared = _join_lists(said)
    end = 0
    for found in _FIGURE.finditer(text):
        if found.start() < end or len(found[0]) > _LONGEST:
            continue  # The size of what was counted (100,000 documents of 1 KB are one figure), or no quantity.
        unit, end = unit_after(text, found.end())
        if unit is not None and unit.kind == "times" and _is_how_often(found, text, end):
            continue
        if unit is None and nouns:
            unit, end = _noun_after(text, found.end(), nouns)
        before = text[max(found.start() - 32, 0) : found.start()]
        if unit is None and _BY_FACTOR.search(before) and not _SCALED.search(text[: found.start()]):
            unit = Unit("times")
        unit, before = shared.get(found.start(), (unit, before))
        one = _read_figure(found, text[found.start() : end], unit, before)
        if unit is not None or (_is_large(found) and not _bare_name(found, one.low, one.high)):
            yield replace(one, is_spread=_is_spread(said, found.start()))


def _is_spread(text: str, at: int) -> bool:
    return _SPREADS.search(text[max(at - 8, 0) : at]) is not None


def lone_number(cell: str, unit: Unit | None) -> Figure | None:
    """The number that a cell holds as a figure of a unit, if any; None where it holds none, or words beside it.

    A remark in brackets may stand behind it, and how far it spreads: `225 (slow)`, `55.8 ± 2.8`.
    """
    text = blank_names(_BEHIND_NUMBER.sub("", cell))
    found = _FIGURE.search(text)
    if found is None or re.search(r"\w", text[: found.start()] + text[found.end() :]):
        return None
    return _read_figure(found, found[0], unit, text[: found.start()])


def _read_figure(found: re.Match[str], written: str, unit: Unit | None, before: str) -> Figure:
    low, high = rounded = _read_range(found, before)
    if unit is not None and unit.by_header and "." not in found[0] and not _is_large(found):
        low, high = _read_counts(found, before)
    ends = _read_ends(found, unit, before)
    return Figure(
        written,
        found.start(),
        low,
        high,
        unit,
        ends,
        rounded if rounded != (low, high) else None,
        None if found["high"] else _read_bound(read_number(found["low"]) * _multiplier(found), before),
    )


def _read_bound(value: float, before: str) -> Bound | None:
    lead = before.lower()
    is_least = _MORE.search(lead) is not None
    is_most = _LESS.search(lead) is not None and not _UP_TO.search(lead)
    return Bound(value, is_least) if is_least or is_most else None


def _join_lists(text: str) -> tuple[str, dict[int, tuple[Unit, str]]]:
    """The text without the signs of lists that share a unit, and by the place of each number that and what is before.

    `1.2/3.4/5.6 ms` is one, and so is `225 ± 2.1 ms`; two whole numbers may be a fraction, and numbers of what is
    counted a set that was chosen.
    """
    shared: dict[int, tuple[Unit, str]] = {}
    for found in _LIST.finditer(text):
        unit, _ = unit_after(text, found.end())
        is_list = "." in found[0] or found[0].count("/") > 1
        is_measured = unit is not None and (unit.kind in ("time", "byte") or unit.kind.endswith("/s"))
        if unit is None or not (_HAS_SPREAD.search(found[0]) or (is_list and is_measured)):
            continue
        before = text[max(found.start() - 32, 0) : found.start()]
        for number in re.finditer(NUMBER, found[0]):
            shared[found.start() + number.start()] = unit, before
        text = (
            text[: found.start()]
            + _SEPARATOR.sub(lambda one: "\ue000" * len(one[0]), found[0])
            + text[found.end() :]
        )
    return text, shared


def _is_large(found: re.Match[str]) -> bool:
    """Whether a number is a figure without a unit; `1e6` and `10_000` may be names, as programs have them."""
    if "_" in found[0] or _is_power(found["times"]):
        return False
    return read_number(found["high"] or found["low"]) >= LARGE or found["times"] is not None


def _is_power(times: str | None) -> bool:
    return times is not None and times[0] in "eE"


def _multiplier(found: re.Match[str]) -> float:
    """How many of one its digits are: of `5 k` a thousand, of `7.7e1` ten."""
    times = found["times"]
    if _is_power(times):
        return 10.0 ** int(times[1:])
    return _MULTIPLIERS[fold_case(times.strip())] if times else 1.0


def _is_how_often(found: re.Match[str], text: str, end: int) -> bool:
    """Whether a figure with `times` says how often something is done, as a whole number may where nothing compares."""
    is_word = text[found.end() : end].strip().lower() == "times"
    compares = _TIMES_BEHIND.match(text, end) or _TIMES_BEFORE.search(
        text[max(found.start() - 32, 0) : found.start()]
    )
    return is_word and "." not in found[0] and not compares


def _bare_name(found: re.Match[str], low: float, high: float) -> bool:
    """Whether a number without a unit is a year, or a power of ten or two: a size that was chosen, no result."""
    grouped = "," in found["low"] or found["times"] is not None
    number = read_number(found["low"])
    power = re.fullmatch("1[0,]*", found["low"]) or (number.is_integer() and int(number).bit_count() == 1)
    return (not grouped and 1900 <= low <= high <= 2121) or bool(power)


_UNIT_AT_END = re.compile(r"\s*[(\[][^()\[\]]*[)\]]$")
_SET_NUMBER = re.compile(rf"(?<![\w.,-])(?:{NUMBER})(?![\w.,%]\d)")
"""A number in a header by itself, which is no part of a name as in `p99`."""
_CALLED_NUMBER = re.compile(rf"[\w.]+\s*[=:]\s*(?:{NUMBER})(?!\w)")
_SET_APART = re.compile(r"\(([^)]*)\)|\[([^\]]*)\]|\bin\s(\S+)\s*\Z")
"""Where a header has a unit by itself, which may be a single letter there."""


@lru_cache(maxsize=512)
def unit_of(text: str) -> Unit | None:
    """The unit that a header or a format names: ``Speed (MB/s)``, ``Mean [s]``, ``Time in s``, ``Disk IOPS``."""
    for part in (*list_set_apart(text), text):
        found = _UNIT.fullmatch(part.strip()) or (part is text and _find_unit(part))
        if found:
            return _unit(found)
    return None


def header_unit(header: str) -> Unit | None:
    """The unit that a header names; `Min` is the least one there, and no minute.

    What stands behind a number is of a setting, as in `16 threads` and `Insert of 4 KB`.
    """
    return None if header.strip().lower() == "min" else unit_of(_drop_settings(header))


def _drop_settings(header: str) -> str:
    """The header without its numbers that have a unit or a name."""
    header = _CALLED_NUMBER.sub("", header)
    for found in reversed([*_SET_NUMBER.finditer(header)]):
        _, end = unit_after(header, found.end())
        if end > found.end():
            header = header[: found.start()] + header[end:]
    return header


def has_setting(header: str) -> bool:
    """Whether a header has a number that something was set to, as `16 threads`, `n = 10` or `10`."""
    return _SET_NUMBER.search(header) is not None


def drop_unit(header: str) -> str:
    """The header without what is in brackets at its end, as a unit is."""
    return _UNIT_AT_END.sub("", header)


def list_set_apart(header: str) -> list[str]:
    """What stands in a header where units do: in brackets, and behind `in` at its end."""
    return [found[1] or found[2] or found[3] or "" for found in _SET_APART.finditer(header)]


def _find_unit(header: str) -> re.Match[str] | None:
    """Find a unit that is a word of a header; a single letter does not count as one."""
    found = (
        one for one in _UNIT.finditer(header) if one.start() == 0 or not header[one.start() - 1].isalnum()
    )
    return next((one for one in found if len(one[0]) > 1 or one[0] == "%"), None)


def _read_counts(found: re.Match[str], before: str) -> tuple[float, float]:
    """The same of fewer than a thousand that were counted: who writes it says how many there are."""
    first = read_number(found["low"])
    last = read_number(found["high"]) if found["high"] else first
    return read_bounds((first, first, last, last), before)


def _read_range(found: re.Match[str], before: str) -> tuple[float, float]:
    """The lowest and the highest number that a figure may mean, from its digits and the words before it."""
    times = _multiplier(found)
    first = read_number(found["low"])
    last = read_number(found["high"]) if found["high"] else first
    low, high = first - _slack(found["low"], 0.5), last + _slack(found["high"] or found["low"], 1)
    low, high = read_bounds((low, first, last, high), before)
    return low * times, high * times


def read_bounds(said: tuple[float, float, float, float], before: str) -> tuple[float, float]:
    """The lowest and the highest number that is meant, by the words before it.

    ``said`` is what it may be for its own digits, around what it says: least, first, last, most.
    """
    low, first, last, high = said
    lead = before.lower()
    if _ABOUT.search(lead):
        low, high = min(low, first * (1 - ABOUT)), max(high, last * (1 + ABOUT))
    if _MORE.search(lead):
        low, high = first, max(high, last * (1 + BEYOND))
    if _LESS.search(lead):
        low, high = min(low, first * (1 - BEYOND)), high if _UP_TO.search(lead) else last
    return low, high


def _read_ends(found: re.Match[str], unit: Unit | None, before: str) -> tuple[Figure, ...]:
    """Both ends of a range that is written with decimals."""
    if not found["high"] or "." not in found["low"] or "." not in found["high"]:
        return ()
    times = _multiplier(found)
    ends = list[Figure]()
    for name in ("low", "high"):
        value = read_number(found[name])
        said = (value - _slack(found[name], 0.5), value, value, value + _slack(found[name], 1))
        low, high = read_bounds(said, before)
        ends.append(Figure(found[name], found.start(name), low * times, high * times, unit))
    return tuple(ends)


def read_number(digits: str) -> float:
    """The number that digits write, grouped or not."""
    return float(GROUPING.sub("", digits))


def _slack(digits: str, part: float) -> float:
    """A part of the last digit that counts (of five where it is 5), at most 5 percent of the number.

    Of whole digits at least 1 percent; who writes decimals means them.
    """
    plain = GROUPING.sub("", digits)
    _, point, decimals = plain.partition(".")
    zeros = 0 if point else len(plain) - len(plain.rstrip("0"))
    off = part * 10.0 ** (zeros - len(decimals)) * (5 if re.fullmatch(r"\d+5", plain) else 1)
    value = float(plain)
    least = 0.0 if point else _LEAST * value
    return min(max(off, least), max(_MOST * value, part * 10.0 ** -len(decimals)))


def unit_after(text: str, at: int) -> tuple[Unit | None, int]:
    """The unit that follows a number, and where it ends; an adjective of size may stand between (4 million 1 KB …)."""
    sized = _SIZED.match(text, at)
    start = _WORD.match(text, sized.end() if sized else at)
    found = _UNIT.match(text, start.end()) if start else None
    return (_unit(found), found.end()) if found else (None, at)


def _noun_after(text: str, at: int, nouns: Collection[str]) -> tuple[Unit | None, int]:
    found = _NOUN.match(text, at)
    if found is None:
        return None, at
    noun, last = _nouns(found), 0
    if noun not in nouns:
        noun, last = _noun(found[1]), 1
    unit = noun_unit(noun, nouns)
    return (unit, found.end(last)) if unit else (None, at)


def noun_unit(noun: str, nouns: Collection[str]) -> Unit | None:
    """What numbers are counts of, where it is one of the nouns that are units; else None."""
    return Unit(noun, by_header=True) if noun in nouns else None


def noun_in(header: str) -> str:
    """What the numbers of a column are counts of, by the last word of its header; "" where it is none.

    A noun in the plural, and no unit itself: `tool` of Tools, `point` of Lead (points), `row/batch` of Rows per batch;
    not where a number before it makes it a setting, as in `8 jobs`.
    """
    found = _PLURAL.search(header)
    if found is None or re.search(rf"(?:{NUMBER})\s\Z", header[: found.start()]):
        return ""
    return _nouns(found) if header_unit(header) is None else ""


def _nouns(found: re.Match[str]) -> str:
    return f"{_noun(found[1])}/{_noun(found[2])}" if found[2] else _noun(found[1])


def _unit(found: re.Match[str]) -> Unit | None:
    if found["bytes"]:
        factor = _BYTES.get(found["bytes"][0].lower(), 1)
        is_binary = _BINARY.match(found["bytes"]) is not None
        return Unit("byte/s" if found["flow"] else "byte", factor, is_binary=is_binary)
    if found["rated"]:
        noun = "query" if fold_case(found["rated"]) == "qps" else _noun(found["noun"])
        if noun[:1] in ("k", "m", "g") and _noun(noun[1:]) in _ALIKE:
            return Unit(f"{_noun(noun[1:])}/s", _THOUSANDS[noun[0]])
        return Unit(f"{noun}/s")
    if found["time"]:
        return Unit("time", _time(fold_case(found["time"])))
    if found["count"]:
        return Unit(_noun(found["count"]))
    return Unit("%" if found["share"] else "IOPS" if found["disk"] else "times")


def _time(word: str) -> float:
    return _TIMES.get(word) or _TIMES[word.rstrip("s")]


def _noun(word: str) -> str:
    single = fold_case(word)
    single = single[:-2] if single.endswith(("xes", "ches")) else single.removesuffix("s")
    return _NOUNS.get(single, single)


def nouns_of(text: str) -> frozenset[str]:
    """The words of a text as kinds of units have nouns."""
    return frozenset(_noun(word) for word in re.findall(r"[A-Za-z]+", text))
