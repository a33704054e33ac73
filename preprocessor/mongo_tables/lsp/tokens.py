"""The tokens of a JSON text that may be broken, as it is while it is being typed, and where each belongs.

Nothing is judged here, and nothing fails: a bracket too many is passed over, what lacks is taken to be there. What
is nested deeper than any reader takes it is passed over too: each token has its path, which would be as long.
"""

from __future__ import annotations

import json
import re
from typing import Final, Literal, NamedTuple

from mongo_tables.jsontext.reader import MAX_DEPTH, Path

Kind = Literal["key", "string", "number", "word", "open", "close", "comma", "colon"]

# A ``>`` begins the lines of a quotation, in which a comment may stand.
_TOKEN: Final = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*(?:"|\\?(?=[\r\n]|$))|[{}\[\],:]|[^\s{}\[\],:">]+')
_NUMBER: Final = re.compile(r"-?[0-9][0-9.eE+-]*")
_DEEPEST: Final = 2 * MAX_DEPTH
_CLOSERS: Final = {"{": "}", "[": "]"}


class Token(NamedTuple):
    """A token from ``start`` to ``end``; ``path`` is that of the value it is, opens or closes, or whose key it is."""

    start: int
    end: int
    kind: Kind
    path: Path


class Frame(NamedTuple):
    """A container that is open: its path and bracket, the place of what comes next in it, and what that may be."""

    path: Path
    bracket: str
    place: str | int
    awaits: Literal["key", "colon", "value", "comma"]

    @property
    def inner(self) -> Path:
        """The path of the value that stands, or would stand, at its place."""
        return (*self.path, self.place)


class Tokens(NamedTuple):
    """The tokens of a text, and the containers that are open at its end, the outermost first."""

    found: tuple[Token, ...]
    open: tuple[Frame, ...]


def read_tokens(text: str, start: int = 0, end: int | None = None) -> Tokens:
    """The tokens of a text between two offsets."""
    reader = _Reader(text)
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        reader.take(match.start(), match.end())
    return Tokens(tuple(reader.found), tuple(reader.frames))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Token] = []
        self.frames: list[Frame] = []
        self.beyond = 0
        """How many containers are open that are nested too deep."""

    def take(self, start: int, end: int) -> None:
        first = self.text[start]
        if self.beyond or (first in "{[" and len(self.frames) == _DEEPEST):
            self.beyond += (first in "{[") - (first in "}]")
        elif first in "{[":
            path = self._begin_value()
            self.found.append(Token(start, end, "open", path))
            self.frames.append(
                Frame(path, first, "" if first == "{" else 0, "key" if first == "{" else "value")
            )
        elif first in "}]":
            self._close(start, end, first)
        elif first == ",":
            self._separate(start, end)
        elif first == ":":
            self._turn_to_value(start, end)
        else:
            self._take_scalar(start, end, first)

    def _take_scalar(self, start: int, end: int, first: str) -> None:
        top = self.frames[-1] if self.frames else None
        if top and top.bracket == "{" and top.awaits in ("key", "comma"):
            name = unquote(self.text[start:end])
            self.frames[-1] = top._replace(place=name, awaits="colon")
            self.found.append(Token(start, end, "key", (*top.path, name)))
            return
        kind: Kind = "string" if first == '"' else "word"
        if kind == "word" and _NUMBER.fullmatch(self.text, start, end):
            kind = "number"
        self.found.append(Token(start, end, kind, self._begin_value()))

    def _begin_value(self) -> Path:
        """The path of the value that begins; the container around it then awaits a comma."""
        if not self.frames:
            return ()
        top = self.frames[-1]
        if top.bracket == "[" and top.awaits == "comma":
            top = top._replace(place=int(top.place) + 1)
        self.frames[-1] = top._replace(awaits="comma")
        return top.inner

    def _close(self, start: int, end: int, closer: str) -> None:
        depth = next(
            (at for at in reversed(range(len(self.frames))) if _CLOSERS[self.frames[at].bracket] == closer),
            None,
        )
        if depth is not None:
            self.found.append(Token(start, end, "close", self.frames[depth].path))
            del self.frames[depth:]

    def _separate(self, start: int, end: int) -> None:
        if not self.frames:
            return
        top = self.frames[-1]
        self.found.append(Token(start, end, "comma", top.path))
        if top.bracket == "{":
            self.frames[-1] = top._replace(place="", awaits="key")
        else:
            self.frames[-1] = top._replace(place=int(top.place) + 1, awaits="value")

    def _turn_to_value(self, start: int, end: int) -> None:
        if self.frames and self.frames[-1].bracket == "{":
            self.found.append(Token(start, end, "colon", self.frames[-1].inner))
            self.frames[-1] = self.frames[-1]._replace(awaits="value")


def unquote(token: str) -> str:
    """The text that a token stands for: a string without its quotes, closed or not, any other as it is."""
    if not token.startswith('"'):
        return token
    closed = len(token) > 1 and token.endswith('"') and not re.search(r'(?<!\\)(?:\\\\)*\\"$', token)
    inner = token[1:-1] if closed else token[1:]
    if "\\" not in inner:
        return inner
    try:
        read = json.loads(f'"{inner}"')
    except ValueError:
        return inner
    return str(read)
