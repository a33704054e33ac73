"""Units of measure: their notation, and their arithmetic.

A unit is a factor to base units (bytes, seconds, …) and their powers. Counted things (documents, queries, pages) are
base units of their own name, so that pages per second are not taken for bytes per second. Decimal and binary prefixes:
IEC 80000-13, https://physics.nist.gov/cuu/Units/binary.html. ``KB``, ``MB`` and ``GB`` are used for both, so they
have two readings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

Powers = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """A unit, which is ``factor`` times its base units ``powers``.

    For example, a kilobyte per millisecond is 1,000,000 times ((byte, 1), (second, -1)).
    """

    factor: float
    powers: Powers

    @property
    def is_data(self) -> bool:
        """Whether the unit measures bytes, or bytes per time."""
        return any(base == "byte" for base, _ in self.powers)


_DECIMAL: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY: Final = {"K": 2.0**10, "k": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
_TIMES: Final = {
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "µs", "μs", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "millis", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
_A_SECOND: Final = ("second", -1)
_SMALL: Final = {"m": 1e-3, "": 1.0, "k": 1e3}
_LARGE: Final = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_OTHERS: Final = {"Hz": Unit(1.0, (_A_SECOND,))}
"""Units of energy and power, and one-word units of rates."""
for _unit, _one, _powers, _prefixes in (
    ("W", 1.0, (("watt", 1),), _SMALL),
    ("J", 1.0, (("joule", 1),), _SMALL),
    ("bps", 0.125, (("byte", 1), _A_SECOND), _LARGE),
    ("bit/s", 0.125, (("byte", 1), _A_SECOND), _LARGE),
    ("Hz", 1.0, (_A_SECOND,), _LARGE),
    ("FLOPS", 1.0, (("flop", 1), _A_SECOND), _LARGE),
):
    for _prefix, _factor in _prefixes.items():
        _OTHERS[_prefix + _unit] = Unit(_factor * _one, _powers)
_COUNTED: Final = {
    "docs": "document",
    "doc": "document",
    "ops": "operation",
    "op": "operation",
    "inserts": "insert",
    "queries": "query",
    "query": "query",
    **dict.fromkeys(("tok", "toks"), "token"),
    **dict.fromkeys(("req", "reqs"), "request"),
    **dict.fromkeys(("msg", "msgs"), "message"),
    **dict.fromkeys(("iter", "iters"), "iteration"),
}
_PLURALS: Final = ("rows", "tokens", "requests", "messages", "records", "events", "files", "images", "mops")
COUNTED: Final = frozenset((*_COUNTED, *_PLURALS))
"""Common words for counted things. A unit may have any other word, such as pages."""
_PREFIXED = re.compile(r"([kKMGT])(i?)(B|bytes)")


@lru_cache(maxsize=256)
def readings(text: str) -> tuple[Unit, ...]:
    """Return the units that a text can mean: two for ``KB`` and the like, none for a text that is not a word or unit.

    Example:
        >>> [unit.factor for unit in readings("KB/s")]
        [1000.0, 1024.0]
    """
    if text in _OTHERS:
        return (_OTHERS[text],)
    numerator, slash, denominator = text.strip().replace(" per ", "/").partition("/")
    found = _simple(numerator.strip())
    if not slash:
        return found
    under = _simple(denominator.strip())
    return tuple(divide_units(one, two) for one in found for two in under)


def _simple(word: str) -> tuple[Unit, ...]:
    if word in ("B", "byte", "bytes"):
        return (Unit(1.0, (("byte", 1),)),)
    prefixed = _PREFIXED.fullmatch(word)
    if prefixed:
        letter, binary, _ = prefixed.groups()
        factors = [_BINARY[letter]] if binary else [_DECIMAL[letter], _BINARY[letter]]
        return tuple(Unit(factor, (("byte", 1),)) for factor in (factors[:1] if letter == "k" else factors))
    if word in _TIMES:
        return (Unit(_TIMES[word], (("second", 1),)),)
    if word == "%" or word.lower() in ("percent", "% of time"):
        return (Unit(0.01, ()),)
    if word.isalpha():
        return (Unit(1.0, ((find_base_unit(word), 1),)),)
    return ()


def find_base_unit(word: str) -> str:
    """Return the base unit for a counted thing, such as ``operations``: the word in lower case, in the singular."""
    lower = word.lower()
    return _COUNTED.get(lower) or (lower[:-1] if lower.endswith("s") else lower)


_MEASURED: Final = ("byte", "io", "second", "watt", "joule")


def select_measured(unit: Unit) -> Powers:
    """Return the powers of bytes, disk operations (``io``), seconds, watts and joules, without counted things."""
    return tuple(power for power in unit.powers if power[0] in _MEASURED)


def multiply_units(one: Unit, other: Unit) -> Unit:
    """Return the unit of a product."""
    return Unit(one.factor * other.factor, _merge_powers(one.powers, other.powers, 1))


def divide_units(one: Unit, other: Unit) -> Unit:
    """Return the unit of a quotient."""
    return Unit(one.factor / other.factor, _merge_powers(one.powers, other.powers, -1))


def _merge_powers(one: Powers, other: Powers, sign: int) -> Powers:
    powers = dict(one)
    for base, power in other:
        powers[base] = powers.get(base, 0) + sign * power
    return tuple(sorted((base, power) for base, power in powers.items() if power))


def rescale_unit(unit: Unit, number: float) -> Unit:
    """Return the unit of a value that was multiplied by a plain number."""
    return Unit(unit.factor / number, unit.powers)


@lru_cache(maxsize=256)
def converts(number: float) -> bool:
    """Return whether a number converts between units: it is a product of powers of 10, 1024 and 60."""
    if not 1e-300 < number < math.inf:
        return False
    return any(
        math.isclose(math.log10(number / 1024**binary / 60**time) % 1, whole, abs_tol=1e-9)
        for binary in range(4)
        for time in range(3)
        for whole in (0.0, 1.0)
    )


def same_size(one: Unit, other: Unit) -> bool:
    """Return whether both units have the same size, within half a percent."""
    return math.isclose(one.factor, other.factor, rel_tol=0.005)


_IN_NAMES: Final[Mapping[str, str]] = {
    "KB": "KB",
    "KiB": "KiB",
    "MB": "MB",
    "MiB": "MiB",
    "GB": "GB",
    "GiB": "GiB",
    "Bytes": "B",
    "Millis": "ms",
    "Ms": "ms",
}
_NAME_UNIT = re.compile(
    r"(?<![A-Z])(KiB|KB|MiB|MB|GiB|GB|Bytes)(?![a-z])"
    r"|(?<![A-Z])(KiB|KB|MiB|MB|GiB|GB)(?=[pP]er)"
    r"|(?<=[a-z])(Millis|Ms)$"
    r"|_(kib|kb|mib|mb|gib|gb|ms|bytes)$"
)
_PER_SECOND = re.compile(r"[pP]er_?[sS](?:ec(?:ond)?)?(?![a-z])|/s\b")


@lru_cache(maxsize=512)
def of_name(name: str) -> tuple[Unit, ...]:
    """Return the units that a field's name can mean: megabytes per second for ``MBperSecond``, or none."""
    if " " in name:
        return _of_counter(name)
    found = _NAME_UNIT.search(name)
    if found is None:  # ``nQueries`` counts queries, ``totalDocsToInsert`` docs
        counted = _COUNT_NAME.match(name)
        return (Unit(1.0, ((find_base_unit(counted[1]), 1),)),) if counted else ()
    word = next(group for group in found.groups() if group)
    text = _IN_NAMES.get(word) or {"ms": "ms", "bytes": "B"}.get(word) or word[0].upper() + word[1:-1] + "B"
    return readings(f"{text}/s" if _PER_SECOND.search(name) and "B" in text else text)


def _of_counter(name: str) -> tuple[Unit, ...]:
    """Return the unit in a storage engine's counter name: "bytes written", "pages read into cache"."""
    for word, base in (("bytes", "byte"), ("size of", "byte"), ("pages", "page")):
        if word in name:
            return (Unit(1.0, ((base, 1),)),)
    return ()


_COUNT_NAME = re.compile(r"(?:n|num|number|numberOf|total)([A-Z][a-z]+)")


@lru_cache(maxsize=512)
def of_field(name: str) -> Unit | None:
    """Return the unit in the name of a document's field, or None.

    In a name, ``KB`` is 1024 bytes: programs size documents and caches in powers of two.

    Example:
        >>> of_field("cacheSizeKB")
        Unit(factor=1024.0, powers=(('byte', 1),))
    """
    found = of_name(name)
    return found[-1] if found else None
