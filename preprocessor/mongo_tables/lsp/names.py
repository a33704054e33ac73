"""The definitions and uses of names: ids of tables, and names of shared pipelines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final, Literal, NamedTuple

from mongo_tables.jsontext import Path
from mongo_tables.jsontext.tokens import read_tokens, unquote
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

_TABLES: Final[Mapping[str, Sequence[Path]]] = {
    "table": [("id",)],
    "chart": [("id",), ("title", "table")],
    "value": [("table",)],
    "check": [("table",)],
}
"""The paths at which a comment has the id of a table, by kind of comment."""


def mentions(texts: Texts) -> Iterator[Mention]:
    """Yield the mentions of names in all texts. The start of a shared pipeline counts as its definition."""
    for file, (text, bodies) in texts.items():
        for body in bodies:
            if body.kind == PIPELINE:
                yield Mention(file, 0, 0, Name("list", PurePath(file).stem), gives=True)
            for token in read_tokens(text, body.start, body.end).found:
                if token.kind == "string" and (sort := _sort_of(token.path, body.kind)):
                    written = text[token.start : token.end]
                    end = token.end - (len(written) > 1 and written.endswith('"'))
                    name = Name(sort, unquote(written))
                    yield Mention(file, token.start + 1, end, name, token.path == ("id",))


def _sort_of(path: Path, kind: str) -> Sort | None:
    if path in _TABLES.get(kind, ()):
        return "table"
    in_pipeline = path[:-1] == ("pipeline",) or (kind == PIPELINE and len(path) == 1)
    return "list" if in_pipeline and isinstance(path[-1], int) else None


_ID: Final = re.compile(r"[a-z][a-z0-9-]*")


def refuse_id(new: str, texts: Texts) -> str:
    """Return why ``new`` cannot be the id of a table, or "" if it can."""
    if not _ID.fullmatch(new):
        return "an id consists of small letters, digits and hyphens, and begins with a letter"
    taken = any(one.name == Name("table", new) and one.gives for one in mentions(texts))
    return f"the id `{new}` is already used" if taken else ""
