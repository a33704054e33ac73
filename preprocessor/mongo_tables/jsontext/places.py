"""Where every value and key of a faultless JSON text begins.

A text that ``json`` has read needs no second judgement: one pass over its tokens is enough, several times quicker
than the careful reader (``mongo_tables.jsontext.reader``), which finds the same places.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from mongo_tables.jsontext.model import Path


class Places(NamedTuple):
    """Offsets in characters: of each value, and of each key by the path of the value under it."""

    positions: dict[Path, int]
    key_positions: dict[Path, int]


# Blanks and colons lie between the matches.
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^\s{}\[\],:"]+')
_OBJECT: Final = -1


def places(text: str) -> Places:
    """The places in ``text``, which must be valid JSON in which no object has a key twice."""
    values: dict[Path, int] = {}
    keys: dict[Path, int] = {}
    above: list[tuple[Path, int]] = []
    container: Path = ()
    path: Path = ()
    index = 0
    wants_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if wants_key and token != "}":
            path = (*container, json.loads(token) if "\\" in token else token[1:-1])
            keys[path] = match.start()
            wants_key = False
        elif token in ("{", "["):
            values[path] = match.start()
            above.append((container, index))
            container = path
            wants_key = token == "{"
            index = _OBJECT if wants_key else 0
            path = (*container, 0)
        elif token in ("}", "]"):
            container, index = above.pop()
            wants_key = False
        elif token == ",":
            wants_key = index == _OBJECT
            if not wants_key:
                index += 1
                path = (*container, index)
        else:
            values[path] = match.start()
    return Places(values, keys)
