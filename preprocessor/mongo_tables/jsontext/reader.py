"""A JSON text within a file: its value, the positions of values and keys, and findings about it with line and column.

``json``, which is written in C, parses valid text: the 723 comments of our own site in 11 ms. Positions and faults come
from the tokens of the text, which are read on demand.

A ``Document`` belongs to a file: its ``place`` function turns an offset in the JSON text into a line and column of the
comment or of the file with the shared pipeline.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from mongo_tables.findings import rules
from mongo_tables.findings.finding import Complaint, Finding
from mongo_tables.jsontext import MAX_DEPTH, Path
from mongo_tables.jsontext.extended import decode

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Complaint
    from mongo_tables.jsontext.tokens import Tokens


@dataclass(eq=False)
class Parsed:
    """The result of ``parse``.

    Attributes:
        value: Dicts, lists, strings, bools, None, ints of any size and finite floats; None if ``readable`` is false.
        problems: The faults in the order of their offsets.
        readable: Whether the text has no syntax error. It may have other faults, such as duplicate keys.
    """

    text: str
    value: Any = None
    problems: tuple[Complaint[int], ...] = ()
    readable: bool = True

    @cached_property
    def tokens(self) -> Tokens:
        """The tokens of the text."""
        from mongo_tables.jsontext.tokens import read_tokens  # for few texts

        return read_tokens(self.text)

    @cached_property
    def positions(self) -> dict[Path, int]:
        """The offset of the first character of each value, by path. The root is ``()``."""
        values = ("open", "string", "number", "word")
        return {one.path: one.start for one in self.tokens.found if one.kind in values}

    @cached_property
    def key_positions(self) -> dict[Path, int]:
        """The offset of the opening quote of each key, by the path of its value."""
        return {one.path: one.start for one in self.tokens.found if one.kind == "key"}


def parse(text: str) -> Parsed:
    """Read one JSON text (RFC 8259). Never raises: faults are in ``problems``.

    Example:
        >>> parse('{"a": [1, 2,]}').problems[0].message
        'there is a comma before `]`'
    """
    parsed = Parsed(text)
    try:
        if (not text.isascii() or "\\u" in text) and _SURROGATE.search(text):
            raise NotPlain
        parsed.value = _DECODER.decode(text)
        # Most texts have too few brackets to be nested too deep.
        if text.count("{") + text.count("[") > MAX_DEPTH and _is_too_deep(parsed.value):
            raise NotPlain
    except (NotPlain, ValueError, RecursionError):
        from mongo_tables.jsontext.faults import SYNTAX, find_faults  # for few texts

        parsed.problems = tuple(find_faults(text, parsed.tokens))
        parsed.readable = all(one.rule != SYNTAX for one in parsed.problems)
        parsed.value = json.loads(text) if parsed.readable else None
    return parsed


# -- a sound text --


class NotPlain(Exception):
    """The text may have a fault that ``json`` does not find, or a value that ``json`` does not preserve."""


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with these members. Raises ``NotPlain`` for a duplicate key. It is a hook for ``json``."""
    found: dict[str, Any] = {}
    # Interning saves memory, because the comments of a site share names and values.
    for name, value in pairs:
        found[intern(name)] = intern(value) if type(value) is str else value
    if len(found) != len(pairs):
        raise NotPlain
    return found


def constant(token: str) -> NoReturn:
    """Raise ``NotPlain`` for ``NaN`` and infinities, which are not JSON. It is a hook for ``json``."""
    raise NotPlain(token)


def _finite(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise NotPlain
    return value


def _whole(token: str) -> int:
    # An integer of 309 digits can exceed the range of a double.
    if len(token) > 308:
        raise NotPlain
    return int(token)


_DECODER = json.JSONDecoder(
    object_pairs_hook=members, parse_float=_finite, parse_int=_whole, parse_constant=constant
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            return False
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return True


class Document(NamedTuple):
    """A parsed JSON text and its file. ``place`` maps an offset in the text to a line and a column of the file."""

    file: str
    parsed: Parsed
    place: Callable[[int], tuple[int, int]]

    def at(self, path: Path) -> tuple[int, int]:
        """Return the position of the value at ``path``, or of its nearest existing ancestor."""
        return self.place(nearest(self.parsed.positions, path))

    def at_key(self, path: Path) -> tuple[int, int]:
        """Return the position of the key of the value at ``path``, or of the value itself if it has no key."""
        offset = self.parsed.key_positions.get(path)
        return self.at(path) if offset is None else self.place(offset)

    def finding(self, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False) -> Finding:
        """Return a finding about the value at ``path``, or about its key."""
        return self.locate(Complaint(message, hint, path, rule, key))

    def locate(self, one: Complaint[int] | Complaint[Path], base: Path = ()) -> Finding:
        """Return the finding for a complaint. A path in the complaint is relative to the value at ``base``."""
        if isinstance(one.at, int):
            place = self.place(one.at)
        else:
            place = (self.at_key if one.on_key else self.at)((*base, *one.at))
        return rules.finding(one.rule, self.file, place, one.message, one.hint)

    def locate_within(self, path: Path, one: Complaint[int]) -> Finding:
        """Return the finding for a complaint about a character of the string at ``path``."""
        place = self.place(offset_in_string(self.parsed, path, one.at))
        return rules.finding(one.rule, self.file, place, one.message, one.hint)


def offset_in_string(parsed: Parsed, path: Path, at: int) -> int:
    """Return the offset, in the JSON text, of a character of the string at ``path``.

    ``at`` is the number of the character, from 0. An escape such as ``\\n`` stands for one character.
    """
    text, offset = parsed.text, parsed.positions[path] + 1
    for _ in range(at):
        offset += 6 if text.startswith("\\u", offset) else 2 if text.startswith("\\", offset) else 1
    return offset


def nearest(positions: dict[Path, int], path: Path) -> int:
    """Return the offset of the value at ``path``. If it is missing, return that of its nearest ancestor, or 0."""
    found = (positions.get(path[:depth]) for depth in range(len(path), -1, -1))
    return next((offset for offset in found if offset is not None), 0)


def decode_at(document: Document, base: Path, value: Any) -> tuple[Any, list[Finding]]:
    """Return the BSON value of the Extended JSON at ``base``, and a finding for each malformed wrapper."""
    result, malformed = decode(value)
    return result, [document.locate(one, base) for one in malformed] if malformed else []


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, or None if it does not exist.

    Example:
        >>> value_at({"a": [1, 2]}, ("a", 1))
        2
    """
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value
