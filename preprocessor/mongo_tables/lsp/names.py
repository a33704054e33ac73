"""The definitions and uses of names: ids of tables, and names of shared pipelines."""

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
    """The id of a table, or the file name of a shared pipeline (``list``)."""

    sort: Sort
    word: str


class Mention(NamedTuple):
    """An occurrence of a name: its file, its offsets without quotes, and whether it defines the name (``gives``)."""

    file: str
    start: int
    end: int
    name: Name
    gives: bool


Texts = Mapping[str, tuple[str, Sequence[Body]]]
"""The text and the JSON bodies of each page and each shared pipeline, by file."""

_QUOTED: Final[Mapping[str, Sequence[Path]]] = {
    "value": [("table",)],
    "check": [("table",)],
    "chart": [("title", "table")],
}
"""The paths at which a comment names a table that it quotes, by kind of comment."""


def mentions_in_body(text: str, file: str, body: Body) -> Iterator[Mention]:
    """Yield the mentions of names in a body."""
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
    """Yield the mentions of names in all texts. The start of a shared pipeline counts as its definition."""
    for file, (text, bodies) in texts.items():
        for body in bodies:
            if body.kind == PIPELINE:
                yield Mention(file, 0, 0, Name("list", PurePath(file).stem), gives=True)
            yield from mentions_in_body(text, file, body)


_ID: Final = re.compile(r"[a-z][a-z0-9-]*")


def refuse_id(new: str, texts: Texts) -> str:
    """Return why ``new`` cannot be the id of a table, or "" if it can."""
    if not _ID.fullmatch(new):
        return "an id consists of small letters, digits and hyphens, and begins with a letter"
    taken = any(one.name == Name("table", new) and one.gives for one in mentions(texts))
    return f"the id `{new}` is already used" if taken else ""
