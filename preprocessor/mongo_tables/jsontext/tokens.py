"""The tokens of a JSON text, each with its path, and with what a valid text would have in its place.

The text may be incomplete or invalid. It raises no error, because editors ask about texts that are being typed.
Containers nested deeper than twice ``MAX_DEPTH`` have no tokens, because the paths of the tokens would take too much
memory.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from mongo_tables.jsontext import MAX_DEPTH, Path

Kind = Literal["key", "string", "number", "word", "open", "close", "comma", "colon", "skipped"]
"""The kinds of tokens.

``word`` is any other scalar, such as ``true`` or ``ISODate("…")``. Comments and surplus brackets are ``skipped``.
"""
Awaited = Literal["key", "colon", "value", "comma", "end"]

CLOSERS: Final = {"{": "}", "[": "]"}
_DEEPEST: Final = 2 * MAX_DEPTH
_NUMBER: Final = re.compile(r"-?[0-9][0-9.eE+-]*")
# A quoted comment has ``>`` at the beginning of its lines. Invisible characters belong to no token. A quote after a
# word ends a string whose first quote is missing.
_TOKEN: Final = re.compile(
    r"""(?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*(?:"|\\?(?=[\r\n]|$)))
    | (?P<structure>[{}\[\],:])
    | (?P<comment>//[^\r\n]*|/\*(?s:.*?)(?:\*/|\Z))
    | '(?:[^'\\\r\n]|\\[^\r\n])*'
    | (?:new[ \t]+)?[^\W\d][\w.$]*[ \t]*\((?:[^()"'\r\n]|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|\([^()\r\n]*\))*\)
    | /(?:[^/\\\[\r\n]|\\.|\[(?:[^\]\\\r\n]|\\.)*\])+/[a-z]*
    | -?[0-9][0-9.eE+-]*(?=")
    | [^\s{}\[\],:">\ufeff\u200b\u2060]+"?""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A token between two offsets.

    ``path`` leads to the token's value. For a key, this is the value after the key; for a bracket, it is the container.
    ``awaited`` says what a valid text would have in place of the token.
    """

    start: int
    end: int
    kind: Kind
    path: Path
    awaited: Awaited


class OpenContainer(NamedTuple):
    """An open container: its path and bracket, the key or index of its next member, and what the text expects next."""

    path: Path
    bracket: str
    place: str | int
    awaits: Awaited

    @property
    def inner(self) -> Path:
        """The path of the container's next member."""
        return (*self.path, self.place)


class Tokens(NamedTuple):
    """The tokens of a text, and the containers that are still open at its end, outermost first."""

    found: tuple[Token, ...]
    open: tuple[OpenContainer, ...]


def read_tokens(text: str, start: int = 0, end: int | None = None) -> Tokens:
    """Return the tokens of a text between two offsets."""
    reader = _TokenReader()
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        reader.take(match)
    return Tokens(tuple(reader.found), tuple(reader.frames))


def end_of_scalar(text: str, at: int) -> int | None:
    """Return the end of the unquoted key or value that begins at an offset, or None if none begins there."""
    match = _TOKEN.match(text, at)
    return match.end() if match and match.lastgroup is None else None


def unquote(token: str) -> str:
    """Return the text of a string token without its quotes, one of which may be missing. Other tokens are unchanged."""
    if not token.startswith('"'):
        return token.removesuffix('"')
    closed = len(token) > 1 and token.endswith('"') and not re.search(r'(?<!\\)(?:\\\\)*\\"$', token)
    inner = token[1:-1] if closed else token[1:]
    if "\\" not in inner:
        return inner
    try:
        read = json.loads(f'"{inner}"')
    except ValueError:
        return inner
    return str(read)


@dataclass
class _TokenReader:
    found: list[Token] = field(default_factory=list)
    frames: list[OpenContainer] = field(default_factory=list)
    at_root: Awaited = "value"
    beyond: int = 0  # the number of open containers that are nested too deep

    def take(self, match: re.Match[str]) -> None:
        """Add a token, and record what the text expects next."""
        first = match[0][0]
        if self.beyond or (first in "{[" and len(self.frames) == _DEEPEST):
            self.beyond += (first in "{[") - (first in "}]")
            return
        top = self.frames[-1] if self.frames else None
        awaited = top.awaits if top else self.at_root
        kind: Kind = "skipped"
        path: Path = ()
        if match["comment"]:
            pass
        elif not match["structure"]:
            kind, path = self._place_scalar(match, top)
        elif first == "{":
            kind, path = "open", self._begin_value()
            self.frames.append(OpenContainer(path, first, "", "key"))
        elif first == "[":
            kind, path = "open", self._begin_value()
            self.frames.append(OpenContainer(path, first, 0, "value"))
        elif first in "}]":
            for depth in reversed(range(len(self.frames))):
                if CLOSERS[self.frames[depth].bracket] == first:
                    kind, path = "close", self.frames[depth].path
                    del self.frames[depth:]
                    break
        elif top and first == ",":
            kind, path, in_object = "comma", top.path, top.bracket == "{"
            place = "" if in_object else int(top.place) + 1
            self.frames[-1] = top._replace(place=place, awaits="key" if in_object else "value")
        elif top and top.bracket == "{":
            kind, path = "colon", top.inner
            self.frames[-1] = top._replace(awaits="value")
        self.found.append(Token(match.start(), match.end(), kind, path, awaited))

    def _place_scalar(self, match: re.Match[str], top: OpenContainer | None) -> tuple[Kind, Path]:
        if top and top.bracket == "{" and top.awaits in ("key", "comma"):
            name = unquote(match[0])
            self.frames[-1] = top._replace(place=name, awaits="colon")
            return "key", (*top.path, name)
        if match["string"]:
            return "string", self._begin_value()
        return "number" if _NUMBER.fullmatch(match[0]) else "word", self._begin_value()

    def _begin_value(self) -> Path:
        """Return the path of the value that begins here. Its container then expects a comma."""
        if not self.frames:
            self.at_root = "end"
            return ()
        top = self.frames[-1]
        if top.bracket == "[" and top.awaits == "comma":
            top = top._replace(place=int(top.place) + 1)
        self.frames[-1] = top._replace(awaits="comma")
        return top.inner
