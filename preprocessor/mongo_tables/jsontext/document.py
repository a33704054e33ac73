"""A JSON text within a file, and findings about it with their line and column.

Comments and the files of shared pipelines both use this module. Each provides its own function from an offset in the
JSON text to a line and column of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mongo_tables.findings import rules
from mongo_tables.findings.finding import Complaint, Finding
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.extended import decode
from mongo_tables.jsontext.reader import Parsed


class Document(NamedTuple):
    """A parsed JSON text and its file. ``place`` maps an offset in the text to line and column of the file."""

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
        """Return the finding for a complaint. A path in the complaint begins at the value at ``base``."""
        if isinstance(one.at, int):
            place = self.place(one.at)
        else:
            place = (self.at_key if one.on_key else self.at)((*base, *one.at))
        return rules.finding(one.rule, self.file, place, one.message, one.hint)

    def locate_within(self, path: Path, one: Complaint[int]) -> Finding:
        """Return the finding for a complaint whose place is an offset in the string at ``path``."""
        place = self.place(offset_in_string(self.parsed, path, one.at))
        return rules.finding(one.rule, self.file, place, one.message, one.hint)


def offset_in_string(parsed: Parsed, path: Path, at: int) -> int:
    """Return the offset in the JSON text of character number ``at`` of the string at ``path``."""
    text, offset = parsed.text, parsed.positions[path] + 1
    for _ in range(at):
        offset += 6 if text.startswith("\\u", offset) else 2 if text.startswith("\\", offset) else 1
    return offset


def nearest(positions: dict[Path, int], path: Path) -> int:
    """Return the offset of the value at ``path`` or, if it is missing, of its nearest ancestor, else 0."""
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
