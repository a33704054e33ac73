"""The JSON in which a place of a file is: the body of a comment, or a shared pipeline; whole, or still being typed."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.directives.comments import Comment
from mongo_tables.directives.keywords import KEYWORDS, LIVE
from mongo_tables.jsontext.reader import Path
from mongo_tables.lsp.tokens import Token, Tokens, read_tokens, unquote

PIPELINE: Final = "pipeline"
"""The kind of the file of a shared pipeline; other kinds are those of comments."""

_KEYWORD: Final = re.compile(LIVE)
_REST: Final = re.compile(r'(?:[^"\\\r\n,:{}\[\]]|\\[^\r\n])*"')
"""The rest of a string up to its end; where structure comes first, the next quote begins another one."""
_WORD: Final = re.compile(r"[\w$.-]*")


class Body(NamedTuple):
    """A JSON text within a file, from ``start`` to ``end``, and what kind of comment it is the body of.

    ``opened`` is where its comment begins, ``keyword`` what the comment is called.
    """

    kind: str
    start: int
    end: int
    opened: int = 0
    keyword: str = ""


class Cursor(NamedTuple):
    """A place in a body: of which value, or of the key of which value, and the token there.

    Where no token is, ``path`` is what a key or a value written there would have. ``typed`` is what of the token
    stands before the place, ``start`` and ``end`` are where its text begins and ends, its quotes left out. ``ends``:
    something that ends a key stands behind it.
    """

    body: Body
    path: Path
    role: Literal["key", "value", "none"]
    typed: str
    start: int
    end: int
    quoted: bool
    closed: bool
    token: Token | None
    ends: bool = True


def body_of(comment: Comment, text: str) -> Body:
    """The body of a comment of a page as it stands in the text."""
    start = text.find(":", comment.start, comment.end) + 1
    end = text.rfind("-->", start, comment.end)
    return Body(comment.kind, start, end if end >= 0 else comment.end, comment.start, comment.keyword)


def comment_body(text: str, offset: int, *, whole: bool = False) -> Body | None:
    """The body of the comment around an offset; of one that is not closed, up to the next or to the end.

    ``whole``: also where the offset is in the name of the comment.
    """
    opened = text.rfind("<!--", 0, offset + 4 if whole else offset)
    if opened < 0 or opened > offset or text.find("-->", opened, offset) >= 0:
        return None
    match = _KEYWORD.match(text, opened)
    if match is None or (offset < match.end() and not whole):
        return None
    ends = [at for at in (text.find("-->", match.end()), text.find("<!--", match.end())) if at >= 0]
    return Body(KEYWORDS[match[1]], match.end(), min(ends, default=len(text)), opened, match[1])


def cursor_at(text: str, body: Body, offset: int) -> Cursor:
    """What is at an offset of a body."""
    before = read_tokens(text, body.start, offset)
    last = before.found[-1] if before.found else None
    if last is not None and last.end == offset and last.kind in ("key", "string", "word", "number"):
        written = text[last.start : last.end]
        if not written.startswith('"') or not _is_closed(written):
            return _in_token(text, body, last, offset)
    following = read_tokens(text, offset, min(body.end, offset + 1))
    if following.found and following.found[0].start == offset and text[offset] not in '{}[],:"':
        return _in_token(text, body, _with_path(before, following.found[0]), offset)
    path, role = _expected(before)
    return Cursor(body, path, role, "", offset, offset, False, False, None)


def token_at(text: str, body: Body, offset: int) -> Token | None:
    """The key or the value that an offset is in, or at an end of."""
    found = read_tokens(text, body.start, body.end).found
    scalars = (one for one in found if one.kind in ("key", "string", "word", "number"))
    return next((one for one in scalars if one.start <= offset <= one.end), None)


def _in_token(text: str, body: Body, token: Token, offset: int) -> Cursor:
    quoted = text[token.start] == '"'
    rest = _REST.match(text, offset) if quoted else None
    word = _WORD.match(text, offset)
    end = rest.end() - 1 if rest else word.end() if word else offset
    role: Literal["key", "value"] = "key" if token.kind == "key" else "value"
    typed = unquote(text[token.start : offset]) if quoted else text[token.start : offset]
    full = token._replace(end=end + (rest is not None))
    behind = text[full.end : body.end].lstrip()[:1]
    ends = (rest is not None or not quoted) and behind in (":", "}", ",", "")
    # The path of a key ends with all of it, also behind the place.
    path = (*token.path[:-1], unquote(text[full.start : full.end])) if role == "key" else token.path
    return Cursor(body, path, role, typed, token.start + quoted, end, quoted, rest is not None, full, ends)


def _is_closed(written: str) -> bool:
    return len(written) > 1 and re.fullmatch(r'"(?:[^"\\]|\\.)*"', written) is not None


def _with_path(before: Tokens, token: Token) -> Token:
    path, role = _expected(before)
    return token._replace(path=path, kind="key" if role == "key" else token.kind)


def _expected(before: Tokens) -> tuple[Path, Literal["key", "value", "none"]]:
    """The path and the role of what may stand behind some tokens."""
    if not before.open:
        return (), "none" if before.found else "value"
    top = before.open[-1]
    if top.bracket == "{":
        if top.awaits == "key":
            return (*top.path, ""), "key"
        return top.inner, "value" if top.awaits == "value" else "none"
    return top.inner, "value" if top.awaits == "value" else "none"


def read_value(text: str, tokens: Tokens) -> Any:
    """What the tokens say, as far as they go: containers that nothing closes end with the text."""
    containers: dict[Path, Any] = {}
    root: list[Any] = []
    for token in tokens.found:
        if token.kind not in ("open", "string", "number", "word"):
            continue
        value: Any
        if token.kind == "open":
            value = {} if text[token.start] == "{" else []
            containers[token.path] = value
        else:
            value = scalar(text[token.start : token.end])
        if not token.path:
            root.append(value)
        else:
            _put(containers.get(token.path[:-1]), token.path[-1], value)
    return root[0] if root else None


def _put(container: Any, place: str | int, value: Any) -> None:
    if isinstance(container, dict) and isinstance(place, str):
        container[place] = value
    elif isinstance(container, list) and isinstance(place, int):
        while len(container) < place:
            container.append(None)
        container[place:] = [value]


def scalar(written: str) -> Any:
    """The value of a token; of a word that is none its text."""
    if written.startswith('"'):
        return unquote(written)
    words = {"true": True, "false": False, "null": None}
    if written in words:
        return words[written]
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written


def value_at(value: Any, path: Path) -> Any:
    """What a path leads to; None where it leads to nothing."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value
