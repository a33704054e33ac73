"""JSON that may be incomplete because it is being typed: bodies of comments, the token at an offset, and values."""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.directives.comments import Comment
from mongo_tables.directives.keywords import HTML, KEYWORDS, LIVE, MDX, OPEN, marks_at
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.tokens import Token, Tokens, read_tokens, unquote

PIPELINE: Final = "pipeline"
"""The kind of a body that is a shared pipeline. The other kinds are those of comments."""

_KEYWORD: Final = re.compile(LIVE)
_REST: Final = re.compile(r'(?:[^"\\\r\n,:{}\[\]]|\\[^\r\n])*"')
"""The rest of a string up to its closing quote, if there is no comma, colon or bracket before the quote."""
_WORD: Final = re.compile(r"[\w$.-]*")


class Body(NamedTuple):
    """The JSON of a comment, or of a shared pipeline.

    Attributes:
        kind: The kind of the comment, or ``PIPELINE``.
        start: The offset of the JSON in its file.
        end: The offset of its end.
        opened: The offset of the comment.
        keyword: The keyword of the comment.
    """

    kind: str
    start: int
    end: int
    opened: int = 0
    keyword: str = ""


class Cursor(NamedTuple):
    """A position in a body.

    Attributes:
        body: The body.
        path: The path of the value at the position. For a key, this is the path of the key's value; without a token,
            the path that a new key or value would have.
        role: Whether the position is in or before a key, in or before a value, or neither.
        typed: The part of the token before the position.
        start: The offset of the token's text, without its quote.
        end: The offset of the end of the token's text, without its quote.
        quoted: Whether the token has an opening quote.
        closed: Whether the token has a closing quote.
        token: The token at the position, or None.
        ends: Whether the token is complete, and followed by something that can follow a key.
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
    """Return the body of a comment in the text of its page."""
    start = text.find(":", comment.start, comment.end) + 1
    end = text.rfind(comment.marks.close, start, comment.end)
    return Body(comment.kind, start, end if end >= 0 else comment.end, comment.start, comment.keyword)


def comment_body(text: str, offset: int) -> Body | None:
    """Return the body of the comment around an offset, or None. An unclosed comment ends before the next comment."""
    opened = max(text.rfind(each.open, 0, offset + len(each.open)) for each in (HTML, MDX))
    close = marks_at(text, max(opened, 0)).close
    if opened < 0 or opened > offset or text.find(close, opened, offset) >= 0:
        return None
    match = _KEYWORD.match(text, opened)
    if match is None:
        return None
    end = re.compile(rf"{re.escape(close)}|{OPEN}").search(text, match.end())
    return Body(KEYWORDS[match[1]], match.end(), end.start() if end else len(text), opened, match[1])


def cursor_at(text: str, body: Body, offset: int) -> Cursor:
    """Return the position at an offset of a body."""
    before = read_tokens(text, body.start, offset)
    last = before.found[-1] if before.found else None
    if last is not None and last.end == offset and last.kind in ("key", "string", "word", "number"):
        written = text[last.start : last.end]
        if not re.fullmatch(r'"(?:[^"\\]|\\.)*"', written):
            return _in_token(text, body, last, offset)
    following = read_tokens(text, offset, min(body.end, offset + 1))
    if following.found and following.found[0].start == offset and text[offset] not in '{}[],:"':
        return _in_token(text, body, _with_path(before, following.found[0]), offset)
    path, role = _expected(before)
    return Cursor(body, path, role, "", offset, offset, False, False, None)


def token_at(text: str, body: Body, offset: int) -> Token | None:
    """Return the key or the scalar at an offset, or None. An offset at either end of a token belongs to the token."""
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
    # The path of a key contains the whole key, including the part after the position.
    path = (*token.path[:-1], unquote(text[full.start : full.end])) if role == "key" else token.path
    return Cursor(body, path, role, typed, token.start + quoted, end, quoted, rest is not None, full, ends)


def _with_path(before: Tokens, token: Token) -> Token:
    path, role = _expected(before)
    return token._replace(path=path, kind="key" if role == "key" else token.kind)


def _expected(before: Tokens) -> tuple[Path, Literal["key", "value", "none"]]:
    """Return the path and the role of a token that would follow the tokens ``before``."""
    if not before.open:
        return (), "none" if before.found else "value"
    top = before.open[-1]
    if top.bracket == "{" and top.awaits == "key":
        return (*top.path, ""), "key"
    return top.inner, "value" if top.awaits == "value" else "none"


def read_value(text: str, tokens: Tokens) -> Any:
    """Return the value that the tokens form. Unclosed objects and arrays end at the end of the text."""
    containers: dict[Path, Any] = {}
    root: list[Any] = []
    for token in tokens.found:
        if token.kind not in ("open", "string", "number", "word"):
            continue
        if token.kind == "open":
            value = containers[token.path] = {} if text[token.start] == "{" else []
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
    """Return the value of a scalar token. An invalid word is a string."""
    try:
        return unquote(written) if written.startswith('"') else json.loads(written)
    except ValueError:
        return written
