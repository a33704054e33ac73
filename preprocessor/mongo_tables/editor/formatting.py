"""JSON laid out anew: what fits into a line stands on one, the tokens stay as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.comments.model import Comment
from mongo_tables.editor.outline import body_of
from mongo_tables.editor.tokens import Token, read_tokens
from mongo_tables.jsontext.parsing import parse
from mongo_tables.pages.rewrites import Edit

WIDTH: Final = 100
_INDENT: Final = "  "


class _Node(NamedTuple):
    """A value as it is written: a token, or a container with its members, each behind its key where it has one."""

    opener: str
    members: tuple[tuple[str, _Node], ...]
    closer: str

    @property
    def flat(self) -> str:
        """The value on one line."""
        if not self.closer:
            return self.opener
        inner = ", ".join(f"{key}{node.flat}" for key, node in self.members)
        return f"{self.opener}{inner}{self.closer}"


def format_comment(text: str, comment: Comment) -> Edit | None:
    """The body of a comment laid out anew; None where it is so, where it is not sound, and in a sentence."""
    body = body_of(comment, text)
    written = text[body.start : body.end]
    if comment.inline or comment.parsed.problems or not comment.parsed.readable:
        return None
    lines = format_json(text, body.start, body.end, flat="\n" not in written and "\r" not in written)
    if lines is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    between = newline + comment.prefix
    # Where the object begins on a line of its own it stays there.
    gap = between if len(lines) > 1 and not written.splitlines()[0].strip() else " "
    laid = f"{gap}{between.join(lines)}{gap}"
    return Edit(body.start, body.end, laid) if laid != written else None


def format_pipeline(text: str) -> Edit | None:
    """A shared pipeline laid out anew; None where it is so, and where it is not sound."""
    if parse(text).problems:
        return None
    lines = format_json(text, 0, len(text))
    if lines is None:
        return None
    laid = ("\r\n" if "\r\n" in text else "\n").join([*lines, ""])
    return Edit(0, len(text), laid) if laid != text else None


def format_json(
    text: str, start: int, end: int, *, flat: bool = False, width: int = WIDTH
) -> list[str] | None:
    """The lines of a JSON text, which must be sound; None for one that is not.

    ``flat``: all of it may stand on one line.
    """
    found = read_tokens(text, start, end)
    if found.open or not found.found:
        return None
    reader = _Reader(text, found.found)
    node = reader.value()
    if node is None or reader.at != len(found.found):
        return None
    if flat and len(node.flat) <= width:
        return [node.flat]
    return list(_lines(node, "", width))


class _Reader:
    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    def value(self) -> _Node | None:
        if self.at >= len(self.tokens):
            return None
        token = self.tokens[self.at]
        written = self.text[token.start : token.end]
        self.at += 1
        if token.kind != "open":
            return _Node(written, (), "") if token.kind in ("string", "number", "word") else None
        members: list[tuple[str, _Node]] = []
        while self.at < len(self.tokens) and self.tokens[self.at].kind != "close":
            if self.tokens[self.at].kind == "comma":
                self.at += 1
                continue
            key = ""
            if self.tokens[self.at].kind == "key":
                named = self.tokens[self.at]
                key = self.text[named.start : named.end] + ": "
                self.at += 2
            inner = self.value()
            if inner is None:
                return None
            members.append((key, inner))
        self.at += 1
        return _Node(written, tuple(members), "}" if written == "{" else "]")


def _lines(node: _Node, indent: str, width: int, key: str = "", end: str = "") -> Iterator[str]:
    flat = f"{indent}{key}{node.flat}{end}"
    if not node.members or (len(flat) <= width and indent):
        yield flat
        return
    yield f"{indent}{key}{node.opener}"
    last = len(node.members) - 1
    for number, (name, inner) in enumerate(node.members):
        yield from _lines(inner, indent + _INDENT, width, name, "" if number == last else ",")
    yield f"{indent}{node.closer}{end}"
