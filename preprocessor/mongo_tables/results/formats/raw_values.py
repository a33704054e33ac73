"""Texts and values of other programs: which texts are numbers or versions, and which values documents can store.

The texts of a column are examined together. ``1.0``, ``1.5`` and ``10.0`` are numbers with the same number of decimals.
``0.25`` and ``1.0`` are numbers as Java writes doubles. ``3.9`` and ``3.10`` are versions. Versions stay texts. For
each, the field ``_sort`` has a key with digits of equal length, so that versions are sorted correctly on files and on a
server.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import bson
from bson.decimal128 import Decimal128

from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext.extended import INT64
from mongo_tables.results.extended_json import read_documents, write_line

_DIGITS: Final = 34
"""The maximum number of digits of a Decimal128."""
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_VERSION: Final = re.compile(r"[vV]?\d+(?:\.\d+)*(?:[-+.]?[A-Za-z][\w.+-]*)?", re.ASCII)
_DECIMAL: Final = re.compile(r"\d{1,4}(?:\.\d{1,4})?", re.ASCII)
VERSION_NAME: Final = re.compile(
    r"(?P<surely>version|release)$|(?:^|[\W_])(?:[cm]?python|pypy|py|node(?:[._]?js)?|deno|bun|go(?:lang)?|rust|java|jdk"
    r"|openjdk|ruby|php|perl|kotlin|scala|swift|julia|elixir|dotnet|typescript|gcc|clang|llvm|kernel|linux|ubuntu|debian"
    r"|mongo(?:db)?|postgres(?:ql)?|mysql|mariadb|redis|valkey|sqlite|django|rails|numpy|pandas|scipy|(?:py)?torch"
    r"|tensorflow|cuda|react|vue|angular)$",
    re.IGNORECASE,
)
"""The ends of the names of columns that have versions. The names in the group ``surely`` need no further test."""
_MEASURE_NAME: Final = re.compile(
    r"(?:^|[\W_]|(?-i:(?<=[a-z])(?=[A-Z])))(?:[num\u00b5]?s(?:ecs?)?|(?:micro|milli|nano)?seconds?|millis|min(?:utes?)?"
    r"|h(?:ours?)?|[kmgt]?i?b|(?:[kmg]ibi|kilo|mega|giga)?bytes?|[kmg]?hz|percent|pct|ops|rps|qps|times?|duration"
    r"|latency|speed)\W*$",
    re.IGNORECASE,
)
"""The end of the name of a column of measurements: a unit, or the measured quantity."""
_MINOR: Final = re.compile(r"0|[1-9]\d*", re.ASCII)
_MOST_MINORS: Final = 20
_MOST_SKIPPED: Final = 2
_RUN: Final = re.compile(r"\d+")
_WIDTH: Final = 10


def are_numbers(texts: Collection[str]) -> bool:
    """Return whether the texts of a column are numbers, and not versions.

    Example:
        >>> are_numbers(["1.0", "1.5", "10.0"]), are_numbers(["3.9", "3.10"]), are_numbers(["0.05", "0.1"])
        (True, False, True)
    """
    found = [_NUMBER.fullmatch(text) for text in texts]
    if not all(found) or not all(map(_fits, texts)):
        return False
    decimals = [(one[1], one[2]) for one in found if one and one[2]]
    if len({len(digits) for _, digits in decimals}) > 1:
        # Doubles as programs write them. A fraction below 1 is not a version.
        return all(len(digits) == 1 or (whole == "0" and digits[-1] != "0") for whole, digits in decimals)
    return not any(len(digits) > 1 and digits[-1] == "0" and whole != "0" for whole, digits in decimals)


def are_versions(texts: Collection[str]) -> bool:
    """Return whether the texts of a column are versions, at least one of them with a dot."""
    return "." in "".join(texts) and all(map(_VERSION.fullmatch, texts))


def are_version_numbers(
    name: str, texts: Collection[str], names: Sequence[str], *, repeated: bool = False
) -> bool:
    """Return whether the numbers of a column are versions, such as 3.9 and 3.10, which have different decimals.

    ``names`` are the names of all columns, in order. ``repeated`` says that each number occurs several times, as for
    several benchmarks.

    The numbers are versions if the name of their column is that of a version or a tool. They are also versions if the
    place of the column suggests it: it is the first column, or its numbers are ``repeated``. In both cases, the numbers
    must be near each other.

    The numbers are measurements if the name has a unit, if another column has versions, or if all numbers have the same
    number of significant digits, such as 1.50 and 12.5. If no decimals end in zero, all numbers must have a minor
    version. If only the place suggests versions, the numbers must then also be sorted as versions.
    """
    if not all(map(_DECIMAL.fullmatch, texts)):
        return False
    minors = {text: text.partition(".")[2] for text in texts}
    if len(set(map(len, minors.values()))) < 2:
        return False
    named, is_first = VERSION_NAME.search(name), name == names[0]
    others = [found for one in names if one != name and (found := VERSION_NAME.search(one))]
    is_tool = named is not None and all(one["surely"] for one in others)
    is_open = not named and not _MEASURE_NAME.search(name) and not any(one["surely"] for one in others)
    ends = any(len(one) > 1 and one.endswith("0") for one in minors.values())
    if all(map(_MINOR.fullmatch, minors.values())):
        if named and named["surely"]:
            return True
        keys = [*map(version_key, texts)]
        is_sorted = len(keys) > 2 and keys in (sorted(keys), sorted(keys, reverse=True))
        is_placed = is_open and ((repeated and not others) or (is_first and (is_sorted or ends)))
        if (is_tool or is_placed) and _are_releases(minors, is_first and (is_tool or ends)):
            return True
    says = (named and (named["surely"] or is_tool)) or name.lower() == "v"
    return bool(says) and ends and len({len(text.replace(".", "").lstrip("0")) for text in texts}) > 1


def _are_releases(minors: Mapping[str, str], is_first: bool) -> bool:
    """Return whether numbers can be releases of a tool, because they are near each other.

    Outside of the first column, a release with a minor version of two digits must follow a release with one digit, as
    3.11 follows 3.9.
    """
    found: dict[str, list[int]] = {}
    for text, minor in minors.items():
        found.setdefault(text.partition(".")[0], []).append(int(minor or 0))
    few = "0" not in found and 2 * len(found) <= len(minors) + 1
    if not few or any(max(some) - min(some) >= _MOST_MINORS for some in found.values()):
        return False
    steps = [step for some in found.values() for step in pairwise(sorted(some))]
    return is_first or any(one < 10 <= after <= one + _MOST_SKIPPED for one, after in steps)


def version_key(text: str) -> str:
    """Return a sort key for a version: the order of its letters is the order of versions.

    Example:
        >>> version_key("3.9") < version_key("3.10")
        True
    """
    return _RUN.sub(lambda run: run[0].zfill(_WIDTH), text)


def to_number(text: str) -> int | float:
    """Return a whole number as int, and any other number as double."""
    return int(text) if _RUN.fullmatch(text.removeprefix("-")) else float(text)


def _fits(text: str) -> bool:
    number = to_number(text)
    return math.isfinite(number) and (isinstance(number, float) or number in INT64)


def hold_name(name: str) -> str:
    """Return the name as the name of a field: without a leading ``$``, and without NUL."""
    held = name.replace("\0", "_")
    return f"_{held[1:]}" if held.startswith("$") else held


def hold_digits(value: Any) -> Any:
    """Return the value with whole numbers beyond 64 bits as Decimal128, or as text if they are too long for it."""
    if isinstance(value, Mapping):
        return {name: hold_digits(one) for name, one in value.items()}
    if isinstance(value, list):
        return [hold_digits(one) for one in value]
    if type(value) is int and value not in INT64:
        return Decimal128(str(value)) if len(str(abs(value))) <= _DIGITS else str(value)
    return value


def hold_value(value: Any) -> Any:
    """Return a value of another program as documents store it.

    A list or an object that Extended JSON would read as another value, such as ``{"$date": "yesterday"}``, becomes its
    JSON text.
    """
    if not isinstance(value, Mapping | list):
        return hold_digits(value)
    try:
        raw = bson.encode({"": hold_digits(value)})
        read = list(read_documents(write_line(raw), needs_id=False))
        if not any(isinstance(one, Complaint) for one in read) and bson.encode(read[0]) == raw:  # type: ignore[arg-type]
            return bson.decode(raw)[""]
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError, RecursionError):
        pass
    return json.dumps(value, ensure_ascii=True)
