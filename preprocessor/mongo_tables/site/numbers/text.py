"""Numbers with units in text and cells: ``1,234.5 ms``, ``66 %``, ``3×``, ``$5``, ``4–5 MiB/s``.

The grammar of units is that of ``lint.shape.units``. A noun is a unit if it heads a column, or in a rate per
second.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.directives.columns import convention_of
from mongo_tables.directives.specs import PipelineSpec, ValueSpec
from mongo_tables.lint.shape.units import Powers, Unit, find_base_unit, readings, select_measured
from mongo_tables.site.numbers.prose import BLANK, CJK, Span, blank, read_prose

if TYPE_CHECKING:
    from mongo_tables.site.pages import Page


_CURRENCIES: Final = "$€£¥₹"
_WORD: Final = rf"[^\W\d_{CJK}]+"
_SPACE: Final = r"[ \t\r\n\u00a0\u2009\u202f]"
_GAP: Final = rf"{BLANK}*+{_SPACE}?{BLANK}*+"
_UNIT: Final = re.compile(
    rf"(?P<sign>{_GAP}(?:%|×|[{_CURRENCIES}]|percent\b|per{_SPACE}cent\b|[xX](?!\w)|-?fold\b|倍|배"
    r"|(?:times|fois|mal|veces|vezes|volte)\b))"
    rf"|{_GAP}-?(?P<word>{_WORD})"
    rf"(?:(?:/|{_SPACE}(?:per|an?|each|every){_SPACE})(?P<per>{_WORD}))?"
    rf"(?:{_SPACE}(?P<next>{_WORD})(?:(?:/|{_SPACE}(?:per|an?|each|every){_SPACE})(?P<next_per>{_WORD}))?)?"
)
_JOINER: Final = re.compile(rf"{_SPACE}?[–-]{_SPACE}?|{_SPACE}(?:to|and|or){_SPACE}")
_UNCERTAIN: Final = re.compile(rf"{_SPACE}?(?:±|\+/?-){_SPACE}?")
_LONGEST: Final = 40
"""Maximum characters of a number; longer ones are not measurements, and exceed the range of doubles."""
RATIO: Final = Unit(1.0, ())
"""The unit of a factor, such as ``3×``."""
_THIN: Final = "\u2009\u202f"
"""Thin spaces separate groups of digits in every language."""
_PERCENT: Final = Unit(0.01, ())


class Notation(NamedTuple):
    """The group separators, the preferred one first, and the decimal separator of numbers."""

    group: str = ","
    decimal: str = "."

    @classmethod
    def of(cls, locale: str | None) -> Notation:
        """Return the notation of a language. Where it has spaces, any space separates groups."""
        convention = convention_of(locale)
        spaces = "\u00a0 " if convention.group in ("\u00a0", "\u202f") else ""
        return cls("".join(dict.fromkeys(convention.group + spaces)), convention.decimal)


class Precision(NamedTuple):
    """A rounded number's precision: the maximum deviation ``half``, and the number of digits."""

    half: float
    digits: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its span with the unit, its digits as ``written``, and its possible ``units``.

    ``noun`` is the base unit of a counted noun, such as ``document``; then ``units`` is empty. ``digits_at``
    is the offset of the first digit.
    """

    start: int
    end: int
    digits_at: int
    written: str
    value: float
    precisions: tuple[Precision, ...]
    units: tuple[Unit, ...] = ()
    noun: str = ""

    @property
    def has_unit(self) -> bool:
        """Return whether a unit or a counted noun is known."""
        return bool(self.units or self.noun)

    @property
    def is_ratio(self) -> bool:
        """Return whether the number is a share or a factor."""
        return any(not one.powers for one in self.units)


def read_numbers(text: str, notation: Notation, nouns: Collection[str] = ()) -> list[Number]:
    """Return all numbers of a text. In ``4 to 5 ms`` both have the unit; in ``5 ± 1 ms`` the 1 is left out.

    Example:
        >>> [(one.value, one.has_unit) for one in read_numbers("from 4 to 5 ms", Notation())]
        [(4.0, True), (5.0, True)]
    """
    found: list[Number] = []
    for match, own in reversed(_matches(text, notation)):
        if len(match[0]) > _LONGEST:
            continue
        number = _read(match[0], match.start(), own)
        number = _with_unit(number, text, nouns)
        uncertain = _UNCERTAIN.match(text, number.end)
        joiner = uncertain or _JOINER.match(text, match.end())
        if joiner and found and found[-1].start == joiner.end():
            behind = found.pop() if uncertain else found[-1]
            if not number.has_unit:
                number = replace(number, units=behind.units, noun=behind.noun)
        found.append(number)
    return found[::-1]


@lru_cache(maxsize=512)
def kind_of(unit: Unit) -> Powers:
    """Return the measured quantity without counted nouns: inserts/s and documents/s are of one kind."""
    return select_measured(unit) or unit.powers


def _matches(text: str, notation: Notation) -> list[tuple[re.Match[str], Notation]]:
    """Return the numbers in a notation, and those that only the English one can read: ``1.9×`` in German."""
    found = [(match, notation) for match in _pattern(notation).finditer(text)]
    if notation.decimal == ".":
        return found
    read = {at for match, _ in found for at in range(*match.span())}
    english = _pattern(Notation()).finditer(text)
    found += ((match, Notation()) for match in english if match.start() not in read)
    return sorted(found, key=lambda one: one[0].start())


@lru_cache(maxsize=8)
def _pattern(notation: Notation) -> re.Pattern[str]:
    group, decimal = re.escape(notation.group + _THIN), re.escape(notation.decimal)
    return re.compile(
        rf"(?<![^\W{CJK}])(?<![.,:/])(?<!\d-)(?:\d{{1,3}}(?:[{group}]\d{{3}})+(?!\d)|\d+)(?:{decimal}\d+)?"
        r"(?![.,:]?\d|[-/]\d+[-/]\d)"
    )


def _read(written: str, start: int, notation: Notation) -> Number:
    separators = str.maketrans("", "", notation.group + _THIN)
    whole, _, fraction = written.translate(separators).partition(notation.decimal)
    value = float(f"{whole}.{fraction or 0}")
    digits = len((whole + fraction).lstrip("0")) or 1
    precisions = [Precision(0.5 * 10 ** -len(fraction), digits)]
    zeros = len(whole) - len(whole.rstrip("0"))
    if zeros and value and not fraction:
        precisions.append(Precision(0.5 * 10**zeros, digits - zeros))
    return Number(start, start + len(written), start, written, value, tuple(precisions))


def _with_unit(number: Number, text: str, nouns: Collection[str]) -> Number:
    before = text[number.start - 1 : number.start]
    if before and before in _CURRENCIES:
        return replace(number, start=number.start - 1, units=(_sign_unit(before),))
    found = _UNIT.match(text, number.end)
    if found is None:
        return number
    if found["sign"]:
        return replace(number, end=found.end("sign"), units=(_sign_unit(found["sign"]),))
    # A unit directly follows its number; a noun, or a rate of it, may be the second word, as in `20 large
    # files`.
    for word, per, is_first in (("word", "per", True), ("next", "next_per", False)):
        if not found[word]:
            break
        end = max(found.end(word), found.end(per))
        units = _measured_units(found[word], found[per])
        if units and (is_first or found[per]):
            return replace(number, end=end, units=units)
        if not units and find_base_unit(found[word]) in nouns:
            return replace(number, end=end, noun=find_base_unit(found[word]))
    return number


def _sign_unit(sign: str) -> Unit:
    plain = sign.strip()
    if plain in _CURRENCIES:
        return Unit(1.0, ((plain, 1),))
    return _PERCENT if plain[0] in "%p" else RATIO


@lru_cache(maxsize=512)
def _measured_units(word: str, per: str | None) -> tuple[Unit, ...]:
    """Return the units of a text that measure something, or none for a counted noun by itself."""
    if per:
        units = readings(f"{word}/{per}")
        return units if any(base == "second" for unit in units for base, _ in unit.powers) else ()
    return tuple(unit for unit in readings(word) if select_measured(unit))


@dataclass(frozen=True, slots=True)
class Heading:
    """A column header: its words in lower case, its units, and the base units of its plural nouns."""

    words: str
    units: tuple[Unit, ...]
    nouns: frozenset[str]


@lru_cache(maxsize=2048)
def read_heading(header: str) -> Heading:
    """Parse a header such as ``Speed (documents/s)``, ``Files/s`` or ``Threads``."""
    named, _, unit = header.partition("(") if header.endswith(")") else header.partition("[")
    units = _header_units(unit.rstrip(")]").strip()) if unit else _header_units(header.strip())
    nouns = frozenset(
        find_base_unit(one) for one in re.findall(_WORD, header) if one[-1] == "s" and len(one) > 3
    )
    return Heading(normalized(named), units, nouns)


def _header_units(text: str) -> tuple[Unit, ...]:
    if text in ("×", "x", "times", *_CURRENCIES):
        return (_sign_unit(text),)
    return tuple(unit for unit in readings(text) if select_measured(unit) or not unit.powers)


def normalized(text: str) -> str:
    """Return words and numbers in lower case with single blanks: ``4KB`` and ``4 KB`` become equal.

    Example:
        >>> normalized("At 4KB: 16 Threads")
        'at 4 kb 16 threads'
    """
    parted = re.sub(rf"[{CJK}]+", r" \g<0> ", text.lower())
    parted = re.sub(r"(?<![\w.,])(\d[\d.,]*)(?=[^\W\d_])", r"\1 ", parted)
    return " ".join(re.findall(r"[\w%×.,+#-]*[\w%×+#]", parted))


_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"<!--.*?-->|\{\s*/\*.*?\*/\s*\}", re.DOTALL)
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MARKUP: Final = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|\{[:#.][^}\n]*\}"
    r"|(?:https?|mongodb(?:\+srv)?)://\S+"
    r"|<[/!a-zA-Z][^>]*>"
    r"|\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\S)|(?<=[^\s_])_+(?!\w)"
    r"|^[ \t>]*(?:#{1,6}[ \t]+)?(?:\d+(?:\.\d+)*[.)]|[-*+])[ \t]",
    re.MULTILINE,
)
_PARAGRAPHS: Final = frozenset({"paragraph_open", "heading_open", "tr_open", "html_block"})
_OPAQUE: Final = re.compile(r"\s*<(?:script|style|pre|svg|textarea)\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(rf"[.!?][\s{BLANK}]+|[。！？]")
_FIGURE_TEXT: Final = re.compile(
    r'"(?:title|caption|slower|faster|no difference|not known)"[\s>]*:[\s>]*"((?:[^"\\]|\\.)*)"'
)

_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
_DIGIT: Final = re.compile(r"\d")
_DEEPEST: Final = 6
_REACH: Final = 400


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that begins at ``start`` in the page, without markup.

    ``words`` is the same text with its code, which may contain names. ``sections`` has the spans of the
    enclosing sections, innermost first; the section of the page's title is only included if it is the
    innermost. ``header`` is the first row of a typed table, for its other rows.
    """

    text: str
    words: str
    start: int
    sections: tuple[Span, ...]
    header: str = ""

    @property
    def end(self) -> int:
        """Return the offset of its end."""
        return self.start + len(self.text)

    def header_of(self, number: Number) -> str:
        """Return the header above a number that is the first one in a cell of a typed table, else ""."""
        before = _BETWEEN_CELLS.split(self.text[: number.start])
        headers = _BETWEEN_CELLS.split(self.header)
        # Both rows may begin with a bar or not.
        column = len(before) - (not before[0].strip()) - 1 + (not headers[0].strip())
        is_first = not _DIGIT.search(before[-1]) and column < len(headers)
        return headers[column].replace(BLANK, " ").strip() if is_first and self.header else ""

    def sentence_span(self, at: int) -> Span:
        """Return the span of the sentence around an offset in ``text``, up to ``_REACH`` characters away."""
        first, last = max(at - _REACH, 0), min(at + _REACH, len(self.text))
        start = max((one.end() for one in _SENTENCE_END.finditer(self.text, first, at)), default=first)
        found = _SENTENCE_END.search(self.text, at, last)
        return start, found.end() if found else last


def read_paragraphs(page: Page) -> list[Paragraph]:
    """Return the paragraphs of a page or another text, in order, without generated text."""
    prose = read_prose(page.file, page.text)
    if prose.spans is None:
        return _read_markdown(page, prose.shown)
    own = [(start, prose.shown[start:end]) for start, end in prose.spans]
    return [
        Paragraph(_without_markup(text), text, start, ((0, len(page.text)),))
        for start, text in own
        if _DIGIT.search(text)
    ]


def _read_markdown(page: Page, text: str) -> list[Paragraph]:
    from markdown_it import MarkdownIt

    hidden = [*_spans(_FRONT_MATTER, text), *_spans(_COMMENT, text)]
    hidden += [(one.region.start, one.region.end) for one in page.comments if one.region]
    shown = blank(text, hidden)
    starts = list(accumulate((len(line) for line in shown.splitlines(keepends=True)), initial=0))
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    blocks = [(one.type, one.tag, one.map) for one in parser.parse(_with_plain_ends(shown)) if one.map]
    headings = [(int(tag[1]), starts[lines[0]]) for kind, tag, lines in blocks if kind == "heading_open"]
    spans = [
        (starts[first], starts[min(last, len(starts) - 1)])
        for kind, _, (first, last) in blocks
        if kind in _PARAGRAPHS and not _OPAQUE.match(shown, starts[first])
    ]
    found = [(start, shown[start:end]) for start, end in spans]
    found += [(start, text[start:end]) for start, end in _figure_texts(page)]
    tables = [lines for kind, _, lines in blocks if kind == "table_open"]
    rows = {starts[line]: starts[first] for first, last in tables for line in range(first + 1, last)}
    return [
        Paragraph(
            _without_markup(own),
            own,
            start,
            tuple(_sections(start, headings, len(text))),
            _without_markup(shown[rows[start] :].partition("\n")[0]) if start in rows else "",
        )
        for start, own in sorted(found)
    ]


def _figure_texts(page: Page) -> Iterator[Span]:
    """Yield the spans of titles, captions and sentences in comments. A `title` in a pipeline is a field."""
    for spec in filter(None, page.specs):
        own = (spec.title, spec.caption) if isinstance(spec, PipelineSpec) else ()
        said = [text for one in spec.quotes if isinstance(one, ValueSpec) for text in one.say.values()]
        for found in _FIGURE_TEXT.finditer(page.text, spec.comment.start, spec.comment.end):
            if found[1] in (*own, *said):
                yield found.span(1)


def _without_markup(text: str) -> str:
    return blank(blank(text, _spans(_CODE, text)), _spans(_MARKUP, text))


def _with_plain_ends(text: str) -> str:
    """Return the text with line feeds only: markdown-it ends lines at fewer characters than Python."""
    ends = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    return "".join(f"{line.rstrip(ends)}\n" for line in text.splitlines())


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    return (one.span() for one in pattern.finditer(text))


def _sections(offset: int, headings: Sequence[tuple[int, int]], end: int) -> Iterator[Span]:
    """Yield the sections around an offset: each extends to the next heading of its level or above."""
    level = _DEEPEST + 1
    for number in range(len(headings) - 1, -1, -1):
        own, start = headings[number]
        if start > offset or own >= level or (own == 1 and level <= _DEEPEST):
            continue
        level = own
        yield start, next((at for other, at in headings[number + 1 :] if other <= own), end)
    if level > _DEEPEST:
        yield 0, end
