"""Typed access to the parts of a JSON file. Errors name the position of the part.

Some tools write ``NaN`` and infinity, which JSON does not have. They are read as None.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from mongo_tables.files.folders import place_at
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.extended import INT64, kind_of
from mongo_tables.jsontext.reader import Parsed, nearest, parse
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import ResultsError

_NOT_FINITE: Final = re.compile(r'("(?:[^"\\]|\\.)*")|-?\b(?:NaN|Infinity)\b')
"""Matches numbers that JSON does not have. It also matches strings, so that numbers within them are skipped."""
LARGEST_COUNT: Final = INT64[-1]
_NUMBERS: Final = frozenset({"NaN", "Infinity", "-Infinity", "+Infinity", "Inf", "-Inf", "+Inf"})
"""Strings that a tool writes in place of numbers that JSON does not have."""


class JsonPart(NamedTuple):
    """A value of a JSON file, and its position. Every method raises ``ResultsError`` for a value of another type.

    ``tool`` is the name of the tool in messages. ``line`` is the line of the file in which the JSON text begins.
    """

    file: SourceFile
    tool: str
    line: int
    parsed: Parsed
    path: Path
    value: Any

    def find(self, key: str) -> JsonPart | None:
        """Return the member of this object, or None if it is missing or null."""
        value = self.fields().get(key)
        return None if value is None else self._at(key, value)

    def need(self, key: str) -> JsonPart:
        """Return the member of this object. It must not be missing or null."""
        found = self.find(key)
        if found is None:
            raise self._lacks(key)
        return found

    def need_keys(self, *keys: str) -> None:
        """Raise ``ResultsError`` if this object lacks one of the keys. Their values may be null."""
        for key in keys:
            if key not in self.fields():
                raise self._lacks(key)

    def refuse_renamed(self, always: Collection[str], others: Collection[str]) -> None:
        """Raise ``ResultsError`` if one key of ``always`` is missing and an unknown key may replace it.

        An object that lacks several keys, or has no unknown key, was probably shortened by its author, so it is
        accepted.

        Args:
            always: The keys that the tool always writes.
            others: The other keys that the tool writes.
        """
        absent = [key for key in always if key not in self.fields()]
        if len(absent) == 1 and self.fields().keys() - {*always, *others}:
            raise self._lacks(absent[0])

    def members(self) -> Iterator[tuple[str, JsonPart]]:
        """Yield each member of this object."""
        return ((key, self._at(key, one)) for key, one in self.fields().items())

    def elements(self) -> Iterator[JsonPart]:
        """Yield each element of this list."""
        return (self._at(number, one) for number, one in enumerate(self.values()))

    def fields(self) -> dict[str, Any]:
        """Return this object."""
        if not isinstance(self.value, dict):
            raise self._unlike("an object")
        return self.value

    def values(self) -> list[Any]:
        """Return this list."""
        if not isinstance(self.value, list):
            raise self._unlike("a list")
        return self.value

    def text(self) -> str:
        """Return this string."""
        if not isinstance(self.value, str):
            raise self._unlike("a string")
        return self.value

    def text_at(self, key: str) -> str:
        """Return the string member of this object, or "" if it is missing or null."""
        found = self.find(key)
        return found.text() if found else ""

    def is_number(self) -> bool:
        """Return whether this value is a number, or a string for a number that JSON does not have."""
        return type(self.value) in (int, float) or (isinstance(self.value, str) and self.value in _NUMBERS)

    def number(self) -> float | None:
        """Return this number, or None if it is not finite."""
        if not self.is_number():
            raise self._unlike("a number")
        if isinstance(self.value, str):
            return None
        return float(self.value) if abs(self.value) <= sys.float_info.max else None

    def numbers(self) -> list[float]:
        """Return the finite numbers of this list. ``lost_numbers`` counts the other values."""
        found = self.values()
        if set(map(type, found)) <= {int, float} and all(map(math.isfinite, found)):
            return [float(one) for one in found]
        return [
            number
            for one in self.elements()
            if one.value is not None and (number := one.number()) is not None
        ]

    def named_numbers(self, names: Mapping[str, str]) -> dict[str, float]:
        """Return the finite numbers of this object. ``names`` maps its keys to our names."""
        found = {name: part.number() for key, name in names.items() if (part := self.find(key))}
        return {name: value for name, value in found.items() if value is not None}

    def lost_numbers(self) -> str:
        """Return how many values of this list are not finite, in words, or "". JavaScript writes them as null."""
        lost = len(self.values()) - len(self.numbers())
        return f"{lost} of {len(self.values())} values are not finite" if lost else ""

    def whole(self) -> int:
        """Return this whole number, which must not be negative."""
        if type(self.value) is not int or self.value < 0:
            raise self._unlike("a whole number")
        if self.value > LARGEST_COUNT:
            raise self.refuse("the number has more than 64 bits")
        return self.value

    def whole_or_none(self) -> int | None:
        """Return this whole number, or None if it has more than 64 bits."""
        return None if type(self.value) is int and self.value > LARGEST_COUNT else self.whole()

    def refuse(self, message: str, hint: str = "") -> ResultsError:
        """Return the error at the position of this part."""
        above, column = place_at(self.parsed.text, nearest(self.parsed.positions, self.path))
        return self.file.refuse(message, self.line + above - 1, column, hint)

    def _at(self, step: str | int, value: Any) -> JsonPart:
        return self._replace(path=(*self.path, step), value=value)

    def _lacks(self, key: str) -> ResultsError:
        return self.refuse(f"`{key}` is missing, which {self.tool} always writes")

    def _unlike(self, wanted: str) -> ResultsError:
        name = f"`{self.path[-1]}`" if self.path and isinstance(self.path[-1], str) else "this"
        return self.refuse(f"{name} must be {wanted}, not {kind_of(self.value)}")


def read_whole(file: SourceFile, tool: str) -> JsonPart:
    """Parse a file that is one JSON text, which lines of a log may precede.

    Raises ``ResultsError`` for the first fault.
    """
    file.text()  # It raises the error for text that is not UTF-8.
    log, text = file.seen[: file.json_start], file.seen[file.json_start :]
    return _read(file, tool, text.decode(), log.count(b"\n") + 1)


def read_lines(file: SourceFile, tool: str, keys: Collection[str]) -> Iterator[JsonPart]:
    """Yield the value of each line that begins with ``{``. Skip the lines of other programs.

    Raises ``ResultsError`` for broken JSON. A line that does not begin with ``{`` is also broken JSON if it has one of
    the ``keys`` of the tool, or ends with ``"}``.
    """
    for number, line in enumerate(file.lines(), 1):
        if line.lstrip().startswith("{"):
            yield _read(file, tool, line, number)
        elif line.rstrip().endswith('"}') or any(f'"{key}"' in line for key in keys):
            raise file.refuse(f"the line looks like one of {tool}, but is not JSON", number, 1)


def _read(file: SourceFile, tool: str, text: str, line: int) -> JsonPart:
    """Parse a text that begins in this line of the file."""
    parsed = parse(text)
    if parsed.problems:  # Numbers that JSON does not have become strings.
        finite = _NOT_FINITE.sub(lambda found: found[1] or json.dumps(found[0]), text)
        parsed = parse(finite) if finite != text else parsed
    if parsed.problems:
        # The hints of faults are for people who write JSON, and a program wrote this file.
        first = parsed.problems[0]
        above, column = place_at(parsed.text, first.at)
        raise file.refuse(first.message, line + above - 1, column)
    return JsonPart(file, tool, line, parsed, (), parsed.value)
