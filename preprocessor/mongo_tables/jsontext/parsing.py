"""JSON text → value, with the place of every value and key, and complaints in plain words.

Neither ``json`` nor ``jsonschema`` keeps positions. A text without any fault is read by ``json``'s C
scanner, and its places are worked out when one is asked for (``mongo_tables.jsontext.places``); only where something
must be explained does the careful reader (``mongo_tables.jsontext.reader``) run, over the same text. Both readers give
the same value and the same places for every text that has no problem.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from mongo_tables.jsontext.model import MAX_DEPTH, Path
from mongo_tables.jsontext.places import places

if TYPE_CHECKING:
    from mongo_tables.jsontext.model import Problem, Reading
    from mongo_tables.jsontext.places import Places


class Parsed:
    """What ``parse`` gives.

    ``value`` holds dicts, lists, strings, bools, None, ints of any size and finite floats; it is None when
    ``readable`` is false. ``problems`` are in the order of the text. Positions are offsets in characters,
    worked out on first use.
    """

    __slots__ = ("_places", "_reading", "problems", "readable", "text", "value")

    def __init__(self, text: str, value: Any, reading: Reading | None) -> None:
        self.text = text
        self.value = value
        self.problems: tuple[Problem, ...] = tuple(reading.problems) if reading else ()
        self.readable = reading.readable if reading else True
        self._reading = reading
        self._places: Places | None = None

    def _places_of_text(self) -> Reading | Places:
        if self._reading is not None:
            return self._reading
        if self._places is None:
            self._places = places(self.text)
        return self._places

    @property
    def positions(self) -> dict[Path, int]:
        """Give the offset at which each value begins, by path; the root is ``()``."""
        return self._places_of_text().positions

    @property
    def key_positions(self) -> dict[Path, int]:
        """Give the offset of each key's first character (its quote), by the path of the value under it."""
        return self._places_of_text().key_positions

    def is_guess(self, path: Path) -> bool:
        """Tell whether the value at ``path``, or one above it, stands for something unreadable."""
        guesses = self._reading.guesses if self._reading else ()
        return any(path[:depth] in guesses for depth in range(len(path) + 1)) if guesses else False


def parse(text: str) -> Parsed:
    """Read one JSON text (RFC 8259); never raises: faults are in ``problems``."""
    try:
        return Parsed(text, _quick(text), None)
    except (NotPlain, ValueError, RecursionError):
        reading = _careful(text)
        return Parsed(text, reading.value, reading)


def _careful(text: str) -> Reading:
    from mongo_tables.jsontext.reader import read  # a text without a fault does not pay for it

    return read(text)


class NotPlain(Exception):
    """The text has something that the careful reader must look at."""


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _quick(text: str) -> Any:
    """Read a faultless text; whatever looks odd raises, and is then left to the careful reader."""
    if _SURROGATE.search(text):
        raise NotPlain
    value = _DECODER.decode(text)
    if _deeper_than(value, MAX_DEPTH):
        raise NotPlain
    return value


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For ``json``: an object; raises ``NotPlain`` for a key that is given twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotPlain
    return found


def finite(token: str) -> float:
    """For ``json``: a double; raises ``NotPlain`` for a number beyond it."""
    value = float(token)
    if math.isinf(value):
        raise NotPlain
    return value


def _whole(token: str) -> int:
    # 309 digits can exceed the range of a double, in which such an integer would have to live.
    if len(token) > 308:
        raise NotPlain
    return int(token)


def constant(token: str) -> NoReturn:
    """For ``json``: raises ``NotPlain`` for ``NaN`` and infinities, which are no JSON."""
    raise NotPlain(token)


_DECODER = json.JSONDecoder(
    object_pairs_hook=members, parse_float=finite, parse_int=_whole, parse_constant=constant
)


def _deeper_than(value: Any, limit: int) -> bool:
    """Tell whether containers are nested more than ``limit`` deep, level by level, without recursion."""
    level = [value]
    for _ in range(limit + 1):
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            return False
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return True
