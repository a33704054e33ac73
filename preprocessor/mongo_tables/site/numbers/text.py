"""Numbers with units in text and cells: ``1,234.5 ms``, ``66 %``, ``3×``, ``$5``, ``4–5 MiB/s``.

Units are those of ``lint.shape.units``. A noun is a unit, too, if a column counts it, or in a rate per second.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from mongo_tables.directives.columns import CONVENTIONS, convention_of, field_words
from mongo_tables.lint.shape.units import COUNTED, Powers, Unit, find_base_unit, readings, select_measured
from mongo_tables.site.numbers.paragraphs import BLANK

_CURRENCIES: Final = "$€£¥₹"
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
"""Ranges of characters of languages without spaces between words, or before a number."""
_WORD: Final = rf"[^\W\d_{_CJK}]+"
_SPACE: Final = r"[ \t\r\n\u00a0\u2009\u202f]"
_GAP: Final = rf"{BLANK}*+{_SPACE}?{BLANK}*+"
_PER: Final = rf"(?:/|{_SPACE}(?:per|an?|each|every){_SPACE})"
_UNIT: Final = re.compile(
    rf"{_GAP}(?P<sign>%|×|[{_CURRENCIES}]|(?:[pP]ercent|Prozent|(?:per|pour){_SPACE}cent|por{_SPACE}cien?to)\b|[xX](?!\w)|倍|배"
    r"|-?(?:fold|fach|times|fois|[mM]al|veces|vezes|volte|lần|раза?)\b)"
    rf"|{_GAP}-?(?P<word>{_WORD}|\w{{0,4}}秒|\w{{0,2}}초)(?:{_PER}(?P<per>{_WORD}))?"
    rf"(?:{_SPACE}(?P<next>{_WORD})(?:{_PER}(?P<next_per>{_WORD}))?)?"
)
_SCALES: Final = {
    **dict.fromkeys(("k", "thousand"), 1e3),
    **dict.fromkeys(("m", "million", "millions", "mio"), 1e6),
    **dict.fromkeys(("g", "billion", "billions", "mrd"), 1e9),
    "万": 1e4,
}
"""The factor of each letter or word between a number and its unit: ``96k requests/s``, ``3 million documents``."""
_SCALE: Final = re.compile(
    rf"(?:e|{_SPACE}?[·⋅×*]{_SPACE}?10\^)(?P<power>[+-]?\d{{1,2}})\b|{_SPACE}?[·⋅×]{_SPACE}?10(?P<raised>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,2}})"
    rf"|(?P<letter>[kmg])\b|{_GAP}(?P<word>(?:thousand|[mb]illions?|mio|mrd)\b|万)",
    re.IGNORECASE,
)
"""The pattern of a power of ten, or of a letter or word of ``_SCALES``, after a number: ``1.5·10⁹ documents``."""
_LOWERED: Final = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_JOINER: Final = re.compile(rf"{_SPACE}?[–-]{_SPACE}?|{_SPACE}(?:to|and|or){_SPACE}")
_UNCERTAIN: Final = re.compile(rf"{_SPACE}?(?:±|\+/?-){_SPACE}?")
_LONGEST: Final = 40
"""The maximum number of characters of a number. Longer numbers are not measurements."""
RATIO: Final = Unit(1.0, ())
"""The unit of a factor, such as ``3×``."""
_THIN: Final = "\u2009\u202f"
"""Thin spaces, which separate groups of digits in every language."""


_FEW_DECIMALS: Final = re.compile(r"(?<![\w.,:/-])\d{1,3}([.,])\d{1,2}(?![.,]?\d)")
_COMMA: Final = re.compile(r"\d,\d{1,2}(?!\d)")


class Notation(NamedTuple):
    """The signs that may separate groups of digits, the usual sign first, and the decimal sign."""

    group: str = ","
    decimal: str = "."

    @classmethod
    def of(cls, locale: str | None) -> Notation:
        """Return the notation of a language. If the language groups digits by a space, every kind of space is valid."""
        convention = convention_of(locale)
        spaces = "\u00a0 " if convention.group in ("\u00a0", "\u202f") else ""
        return cls("".join(dict.fromkeys(convention.group + spaces)), convention.decimal)


def notation_in(text: str) -> Notation:
    """Guess the notation of a text in an unknown language: the one that most of its numbers with few decimals and a
    unit have.
    """
    found = {",": 0, ".": 0}
    for one in _FEW_DECIMALS.finditer(text) if _COMMA.search(text) else ():
        found[one[1]] += _with_unit(_read(one, Notation()), text, (), _MEANINGS).has_unit
    return Notation.of("de" if found[","] > found["."] else None)


class Precision(NamedTuple):
    """The precision of a rounded number: the largest deviation ``half``, and the number of digits."""

    half: float
    digits: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    Attributes:
        start: The offset of the number.
        end: The offset after the number and its unit.
        digits_at: The offset of the first digit.
        written: The digits, as in the text.
        value: The value of the digits.
        precisions: The possible precisions. Zeros at the end may be exact, or due to rounding.
        units: The possible units.
        noun: The singular of a counted noun, such as ``document``, in place of units.
        scale: The factor of the value: 1000 in ``96k``.
    """

    start: int
    end: int
    digits_at: int
    written: str
    value: float
    precisions: tuple[Precision, ...]
    units: tuple[Unit, ...] = ()
    noun: str = ""
    scale: float = 1.0

    @property
    def has_unit(self) -> bool:
        """Return whether a unit or a counted noun is known."""
        return bool(self.units or self.noun)

    @property
    def is_ratio(self) -> bool:
        """Return whether the number is a share or a factor."""
        return any(not one.powers for one in self.units)


def read_numbers(text: str, notation: Notation, nouns: Collection[str] = ()) -> list[Number]:
    """Return all numbers of a text. In ``4 to 5 ms`` both have the unit. In ``5 ± 1 ms`` the 1 is omitted.

    Example:
        >>> [(one.value, one.has_unit) for one in read_numbers("from 4 to 5 ms", Notation())]
        [(4.0, True), (5.0, True)]
    """
    matches = {one.start(): (one, notation) for one in _pattern(notation).finditer(text)}
    if notation.decimal != ".":  # Numbers that are only valid in English: ``1.9×`` in a German text.
        read = {at for one, _ in matches.values() for at in range(*one.span())}
        english = (one for one in _pattern(Notation()).finditer(text) if one.start() not in read)
        matches |= {one.start(): (one, Notation()) for one in english}
    found: list[Number] = []
    meanings = _MEANINGS if notation.decimal == "." else _WITH_COMMA
    for start in sorted(matches, reverse=True):
        match, own = matches[start]
        if len(match[0]) > _LONGEST:
            continue
        number = _with_unit(_read(match, own), text, nouns, meanings)
        while found and found[-1].start < number.end:  # the 10 and the exponent of a power
            found.pop()
        uncertain = _UNCERTAIN.match(text, number.end)
        joiner = uncertain or _JOINER.match(text, match.end())
        if joiner and found and found[-1].start == joiner.end():
            behind = found.pop() if uncertain else found[-1]
            if not number.has_unit:
                number = replace(number, units=behind.units, noun=behind.noun)
        found.append(number)
    return found[::-1]


@lru_cache(maxsize=8)
def _pattern(notation: Notation) -> re.Pattern[str]:
    group, decimal = re.escape(notation.group + _THIN), re.escape(notation.decimal)
    return re.compile(
        rf"(?<![^\W{_CJK}])(?<![.,:/])(?<!\d-)(?<!\d[eE][+-])(?:\d{{1,3}}(?:[{group}]{BLANK}*\d{{3}})+(?!\d)|\d+)(?:{decimal}\d+)?"
        r"(?![.,:]?\d|[-/]\d+[-/]\d)"
    )


def _read(found: re.Match[str], notation: Notation) -> Number:
    written = found[0].replace(BLANK, "")
    separators = str.maketrans("", "", notation.group + _THIN)
    whole, _, fraction = written.translate(separators).partition(notation.decimal)
    value = float(f"{whole}.{fraction or 0}")
    digits = len((whole + fraction).lstrip("0")) or 1
    precisions = [Precision(0.5 * 10 ** -len(fraction), digits)]
    zeros = len(whole) - len(whole.rstrip("0"))
    if zeros and value and not fraction:
        precisions.append(Precision(0.5 * 10**zeros, digits - zeros))
    return Number(found.start(), found.end(), found.start(), written, value, tuple(precisions))


def _with_unit(number: Number, text: str, nouns: Collection[str], meanings: Mapping[str, str]) -> Number:
    before = text[number.start - 1 : number.start]
    if before and before in _CURRENCIES:
        return replace(number, start=number.start - 1, units=(_sign_unit(before),))
    if scaled := _SCALE.match(text, number.end):
        word = (scaled["letter"] or scaled["word"] or "").lower()
        power = scaled["power"] or (scaled["raised"] or "").translate(_LOWERED)
        scale = 10.0 ** int(power) if power else _SCALES[word]
        number = replace(number, end=scaled.end(), scale=scale)
    found = _UNIT.match(text, number.end)
    if found and found["sign"]:
        return replace(number, end=found.end("sign"), units=(_sign_unit(found["sign"]),))
    # A unit directly follows its number. A noun, or a rate, may be the second word, as in `20 large files`.
    for word, per in (("word", "per"), ("next", "next_per")) if found else ():
        if found is None or not found[word]:
            break
        end = max(found.end(word), found.end(per))
        said = _meaning_of(found[word], meanings)
        each = "s" if found[per] == "с" else _meaning_of(found[per] or "", meanings)
        units = tuple(one for one in readings(f"{said}/{each}" if each else said) if select_measured(one))
        if units and (word == "word" or found[per]):
            return replace(number, end=end, units=units)
        if not units and find_base_unit(found[word]) in nouns:
            return replace(number, end=end, noun=find_base_unit(found[word]))
    return number


def _meaning_of(word: str, meanings: Mapping[str, str]) -> str:
    is_bit = word.istitle() and word.endswith("b")  # `12 Mb`
    return meanings.get(word.lower() if word.isupper() or (word.istitle() and not is_bit) else word, word)


def _sign_unit(sign: str) -> Unit:
    if sign in _CURRENCIES:
        return Unit(1.0, ((sign, 1),))
    return Unit(0.01, ()) if sign[0] in "%pP" else RATIO


@lru_cache(maxsize=512)
def kind_of(unit: Unit) -> Powers:
    """Return the measured quantity without counted nouns, so that inserts/s and documents/s are of the same kind."""
    return select_measured(unit) or unit.powers


_MEANINGS: Final[Mapping[str, str]] = {
    "pct": "%", "percentage": "%", "usd": "$", "eur": "€", "rps": "requests/s", "qps": "queries/s",
    "tps": "transactions/s", "msec": "ms", "usec": "µs", "nanos": "ns", "micros": "µs", "kb": "KB", "mb": "MB",
    "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "secs": "s", "mins": "min",
    "fps": "frames/s", "iops": "IO/s", "hz": "Hz", "mhz": "MHz", "ghz": "GHz", "mbps": "Mbps", "gbps": "Gbps",
    "gflops": "GFLOPS", "tflops": "TFLOPS", "watts": "W", "joules": "J", "us": "µs",
    "秒": "s", "毫秒": "ms", "微秒": "µs", "ミリ秒": "ms", "マイクロ秒": "µs", "초": "s", "밀리초": "ms",
    "нс": "ns", "мкс": "µs", "мс": "ms", "сек": "s", "мин": "min", "кб": "KB", "мб": "MB", "гб": "GB",
    **dict.fromkeys(("sekunde", "sekunden", "seconde", "secondes", "segundos", "secondi", "секунд", "секунды"), "s"),
    **dict.fromkeys(("millisekunden", "millisecondes", "milisegundos", "millisecondi", "миллисекунд"), "ms"),
    **dict.fromkeys(("mikrosekunden", "microsecondes", "microsegundos", "microsecondi", "микросекунд"), "µs"),
    **dict.fromkeys(("nanosekunden", "nanosecondes", "nanosegundos", "nanosecondi", "наносекунд"), "ns"),
    **dict.fromkeys(("minuten", "minutos", "minuti"), "min"), **dict.fromkeys(("stunden", "heures", "horas"), "h"),
}  # fmt: skip
"""Other ways to write a unit."""
_WITH_COMMA: Final = {**_MEANINGS, "ko": "KB", "mo": "MB", "go": "GB"}
"""Other ways to write a unit in texts with a decimal comma. There, bytes may be octets (``Go``); in English, Go is a
language.
"""
_SAID: Final = {"gzip": "gzipped", "zip": "zipped", "minify": "minified", "compress": "compressed"}
"""Names of fields, and their words in texts: ``0.84 kB gzipped``."""
_EACH: Final = ("s", "sec", "second", "op", "iter")
"""The last words in the names of rates: ``decode_tok_s``, ``ns_op``."""
COUNTS: Final = frozenset({"count", "total", "number", "n", "passed", "failed"})
RATIOS: Final = frozenset({"ratio", "factor", "speedup", "share", "fraction"})
_BRACKETS: Final = str.maketrans("（）", "()")
_NO_UNITS: Final = COUNTS | {"min", "h", "x", "times"}
"""Last words of names that are no units: ``min`` is a minimum."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: its label for messages, its names in lower case, and its units or the singulars of its nouns."""

    label: str
    names: tuple[str, ...]
    units: tuple[Unit, ...]
    nouns: frozenset[str]


@lru_cache(maxsize=2048)
def read_heading(name: str) -> Heading:
    """Parse a header, or a part of the path of a field: ``Mean time (ms)``, ``Files/s``, ``Threads``, ``mean_ms``.

    Example:
        >>> heading = read_heading("median_ms")
        >>> heading.names, heading.units[0].factor
        (('median_ms', 'median'), 0.001)
    """
    plain = name.translate(_BRACKETS)
    base, _, unit = plain.partition("(" if plain.endswith(")") else "[")
    words = field_words(base).lower().split()
    units = read_unit(unit.rstrip(")] ")) if unit or words[-1] in _NO_UNITS else read_unit(base.strip())
    names = [normalized(base)]
    before, _, last = base.strip().rpartition(" ")
    if (
        before
        and not (units or unit or " per " in base)
        and last not in _NO_UNITS
        and (len(last) > 1 or last in "%×")
    ):
        units = read_unit(_meaning_of(last, _MEANINGS))
        names += [normalized(before)] if units else []
    if " " not in name:  # A field, with its unit at the end.
        for tail in (max(words.index("per") - 1, 0) if "per" in words else -1, -1):
            if not units and words[-1] not in _NO_UNITS:
                units = _read_rate(words) if tail == -1 else ()
                tail -= bool(units)
                units = units or read_unit(" ".join(_MEANINGS.get(word, word) for word in words[tail:]))
                words = words[:tail] if units else words
        names += [" ".join(words), *(_SAID[word] for word in words[-1:] if word in _SAID)]
    said = re.findall(_WORD, f"{' '.join(words)} {unit.lower()}")
    plural = (one for one in said if one[-1] == "s" and len(one) > len("abc"))
    counted = words[-2:-1] if words and words[-1] in COUNTS else []
    nouns = frozenset(map(find_base_unit, (*plural, *counted)))
    return Heading(name, tuple(names), units, frozenset() if units else nouns)


def name_with_unit(name: str) -> str:
    """Return the name of a field in words, with the unit at its end in its usual notation.

    Example:
        >>> name_with_unit("mean_ms"), name_with_unit("mb_s")
        ('Mean (ms)', 'MB/s')
    """
    heading, words = read_heading(name), field_words(name).lower().split()
    kept = heading.names[-1].split() if len(words) > 1 else []
    unit = "/".join(_MEANINGS.get(word, word) for word in words[len(kept) :] if word != "per")
    if not heading.units or (not kept and len(unit) > len("ops/s") and unit == words[0]):
        return field_words(name)
    return f"{field_words(' '.join(kept))} ({unit})" if kept else unit


def _read_rate(words: Sequence[str]) -> tuple[Unit, ...]:
    """Return the units of a name that ends in the words of a rate, or nothing.

    Such names end in ``mb s``, ``req s`` or ``ns op``, but ``pandas s`` is no rate.
    """
    if len(words) < 2 or words[-1] not in _EACH:
        return ()
    counted, each = "B" if words[-2] == "b" else _MEANINGS.get(words[-2], words[-2]), words[-1]
    is_unit = counted in COUNTED or (counted not in _NO_UNITS and read_unit(counted))
    return read_unit(f"{counted}/{each}") if is_unit else ()


def read_unit(text: str) -> tuple[Unit, ...]:
    """Return the units that a text can mean: of a quantity, a share or a factor. For a counted noun, return nothing."""
    if text in ("×", "x", "times", *_CURRENCIES):
        return (_sign_unit(text),)
    return tuple(one for one in readings(text) if select_measured(one) or not one.powers)


def normalized(text: str) -> str:
    """Return words and numbers in lower case, separated by single spaces. So ``4KB`` and ``4 KB`` become equal.

    Example:
        >>> normalized("At 4KB: 16 Threads")
        'at 4 kb 16 threads'
    """
    parted = re.sub(rf"[{_CJK}]+", r" \g<0> ", text.lower())
    parted = re.sub(r"(?<![\w.,])(\d[\d.,]*)(?=[^\W\d_])", r"\1 ", parted)
    return " ".join(re.findall(r"[\w%×.,+#-]*[\w%×+#]", parted))


# -- languages --

_LIKE: Final[Mapping[str, str]] = {
    "pt": "pt-BR",
    **dict.fromkeys(("ru", "uk", "cs", "sk", "fi", "no", "nb", "hu", "bg"), "pl"),
    **dict.fromkeys(("da", "tr", "id", "el", "ro", "ca", "vi", "hr", "sl", "sr"), "de"),
    **dict.fromkeys(("en", "zh", "ko"), "en"),
}
"""Languages that write numbers like another language."""
_CODE_OF: Final = r"([a-z]{2}(?:[-_][a-z]{2,4})?)"
_IN_TEXT: Final = re.compile(
    rf"\A---\r?\n(?:.*\n)*?(?:lang|language|locale)\s*:\s*[\"']?{_CODE_OF}\b|<html\b[^>]*\slang=[\"']?{_CODE_OF}\b",
    re.IGNORECASE,
)
_IN_PATH: Final = re.compile(
    rf"(?:^|(?<=/)){_CODE_OF}/|(?:\.|(?<=readme)[_-]|(?<=index)[_-]){_CODE_OF}(?=\.[^./]+$)", re.IGNORECASE
)
_HEAD: Final = 2000
"""Only this many characters at the start of a file are searched for the name of its language."""


def language_of(file: str, text: str) -> str | None:
    """Return the locale of a text from its front matter, its ``lang``, its name or its folder, or None.

    Example:
        >>> language_of("docs/README.fr.md", ""), language_of("docs/de/index.md", ""), language_of("a.md", "")
        ('fr', 'de', None)
    """
    found = [*_IN_PATH.finditer(file), *_IN_TEXT.finditer(text[:_HEAD])]
    return next(filter(None, map(_locale_of, reversed(found))), None)


def _locale_of(found: re.Match[str]) -> str | None:
    base, _, region = (found[1] or found[2]).lower().replace("_", "-").partition("-")
    full = f"{base}-{region.upper()}"
    return next((one for one in (full, base) if one in CONVENTIONS), _LIKE.get(base))


def without_language(file: str) -> str:
    """Return the name of a file without its language. Translations have the same name then.

    Example:
        >>> without_language("README.zh-CN.md"), without_language("docs/de/speed.md")
        ('README.md', 'docs/speed.md')
    """
    return _IN_PATH.sub(lambda found: "" if _locale_of(found) else found[0], file)
