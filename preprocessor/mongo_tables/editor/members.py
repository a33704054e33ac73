"""Members of objects and elements of lists, put into a JSON text and taken out of it, laid out like neighbours."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mongo_tables.editor.tokens import Token
from mongo_tables.jsontext.model import Path
from mongo_tables.pages.rewrites import Edit


def add_member(text: str, tokens: Sequence[Token], path: Path, key: str, value: str) -> Edit | None:
    """A new last member of an object; None where it has none to stand behind, or one of this name."""
    keys = [one for one in tokens if one.kind == "key" and one.path[:-1] == path]
    if not keys or any(one.path[-1] == key for one in keys):
        return None
    end = end_of(tokens, keys[-1].path)
    return Edit(end, end, f",{_gap_before(text, keys[-1].start)}{json.dumps(key)}: {value}")


def append_element(text: str, tokens: Sequence[Token], path: Path, value: str) -> Edit | None:
    """A new last element of a list; None where it has none to stand behind."""
    elements = [one for one in tokens if one.path[:-1] == path and one.path != path and one.kind != "close"]
    if not elements or not isinstance(elements[-1].path[-1], int):
        return None
    end = end_of(tokens, elements[-1].path)
    return Edit(end, end, f",{_gap_before(text, elements[-1].start)}{value}")


def insert_before(text: str, tokens: Sequence[Token], path: Path, value: str) -> Edit:
    """A new element of a list, before the one at a path."""
    start = next(one.start for one in tokens if one.path == path)
    return Edit(start, start, f"{value},{_gap_before(text, start)}")


def remove_member(tokens: Sequence[Token], key: Token) -> Edit:
    """A member taken out, with the comma that parts it from its neighbours."""
    end = end_of(tokens, key.path)
    following = [one for one in tokens if one.start >= end]
    if following and following[0].kind == "comma":
        return Edit(key.start, following[1].start if len(following) > 1 else following[0].end, "")
    before = [one for one in tokens if one.end <= key.start]
    return Edit(before[-1].start if before and before[-1].kind == "comma" else key.start, end, "")


def end_of(tokens: Sequence[Token], path: Path) -> int:
    """Where the value at a path ends."""
    return max(one.end for one in tokens if one.path[: len(path)] == path)


def _gap_before(text: str, at: int) -> str:
    """What parts an element from the one before it: a line break with blanks where it begins its line, else a blank."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    lead = text[start:at]
    if not start or lead.strip("> \t"):
        return " "
    return ("\r\n" if text[max(start - 2, 0) : start] == "\r\n" else text[start - 1]) + lead
