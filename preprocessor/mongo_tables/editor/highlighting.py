"""The tokens of comments by their meaning: what an editor colours beside what its grammar knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from mongo_tables.comments.model import Comment
from mongo_tables.editor.outline import body_of
from mongo_tables.editor.tokens import Token, read_tokens

Meaning = Literal["keyword", "property", "function", "variable", "string", "number"]
MEANINGS: Final[tuple[Meaning, ...]] = get_args(Meaning)
"""The names of meanings, which are those of the protocol: functions are stages and operators, variables are paths."""


class Coloured(NamedTuple):
    """A piece of text and its meaning."""

    start: int
    end: int
    meaning: Meaning


def colour_comments(text: str, comments: Sequence[Comment], start: int, end: int) -> list[Coloured]:
    """The tokens of the comments that stand between two offsets, in their order."""
    found: list[Coloured] = []
    for comment in comments:
        if comment.end < start or comment.start > end:
            continue
        named = text.find(comment.keyword, comment.start)
        found.append(Coloured(named, named + len(comment.keyword), "keyword"))
        body = body_of(comment, text)
        found += _colour(text, read_tokens(text, body.start, body.end).found)
    return found


def colour_pipeline(text: str) -> list[Coloured]:
    """The tokens of a shared pipeline."""
    return list(_colour(text, read_tokens(text).found))


def _colour(text: str, tokens: Sequence[Token]) -> Iterator[Coloured]:
    for token in tokens:
        written = text[token.start : token.start + 2]
        if token.kind == "key":
            yield Coloured(token.start, token.end, "function" if "$" in written else "property")
        elif token.kind == "string":
            yield Coloured(token.start, token.end, "variable" if written == '"$' else "string")
        elif token.kind == "number":
            yield Coloured(token.start, token.end, "number")
        elif token.kind == "word":
            yield Coloured(token.start, token.end, "keyword")
