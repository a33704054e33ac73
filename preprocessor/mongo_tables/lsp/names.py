"""Ids of tables and names of shared pipelines: their definitions and their uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final, Literal, NamedTuple

from mongo_tables.jsontext import Path
from mongo_tables.jsontext.tokens import Token, read_tokens, unquote
from mongo_tables.lsp.typed_json import PIPELINE, Body

Sort = Literal["table", "list"]


class Name(NamedTuple):
    """The name of a table (its id) or of a list of stages (its file name)."""

    sort: Sort
    word: str


class Mention(NamedTuple):
    """An occurrence of a name: its file, its offsets without quotes, and whether it is the definition."""

    file: str
    start: int
    end: int
    name: Name
    gives: bool


Texts = Mapping[str, tuple[str, Sequence[Body]]]
"""The texts of pages and shared pipelines, each with its bodies, by file."""

_QUOTED: Final[Mapping[str, Sequence[Path]]] = {
    "value": [("table",)],
    "check": [("table",)],
    "chart": [("title", "table")],
}
"""The paths of the name of a table that a comment quotes, by kind."""


def mentions_in_body(text: str, file: str, body: Body) -> Iterator[Mention]:
    """Yield the names in a body."""
    for token in read_tokens(text, body.start, body.end).found:
        if token.kind == "string" and (name := _name_of(token, text, body)):
            quoted = text[token.start : token.end]
            end = token.end - (len(quoted) > 1 and quoted.endswith('"'))
            gives = token.path == ("id",)
            yield Mention(file, token.start + 1, end, name, gives)


def _name_of(token: Token, text: str, body: Body) -> Name | None:
    word = unquote(text[token.start : token.end])
    if token.path in _QUOTED.get(body.kind, ()):
        return Name("table", word)
    if token.path == ("id",) and body.kind != PIPELINE:
        return Name("table", word)
    in_list = len(token.path) == 1 and body.kind == PIPELINE
    if token.path and isinstance(token.path[-1], int) and (in_list or token.path[:-1] == ("pipeline",)):
        return Name("list", word)
    return None


def mentions(texts: Texts) -> Iterator[Mention]:
    """Yield the names in all comments and shared pipelines. The start of a shared pipeline defines its name."""
    for file, (text, bodies) in texts.items():
        for body in bodies:
            if body.kind == PIPELINE:
                yield Mention(file, 0, 0, Name("list", PurePath(file).stem), gives=True)
            yield from mentions_in_body(text, file, body)


_ID: Final = re.compile(r"[a-z][a-z0-9-]*")


def refuse_id(new: str, texts: Texts) -> str:
    """Return why an id cannot be changed to another one, or "" if it can."""
    if not _ID.fullmatch(new):
        return "an id has small letters, digits and hyphens, and begins with a letter"
    taken = any(one.name == Name("table", new) and one.gives for one in mentions(texts))
    return f"the id `{new}` is already used" if taken else ""
