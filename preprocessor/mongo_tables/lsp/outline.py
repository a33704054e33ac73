"""The comments of a page as a list of its parts, which an editor shows as an outline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mongo_tables.directives.comments import Comment
from mongo_tables.lsp.bodies import body_of, read_value, value_at
from mongo_tables.lsp.tokens import Tokens, read_tokens


class Part(NamedTuple):
    """A part of a file, from ``start`` to ``end``, with its own parts; ``named`` is where its name stands."""

    name: str
    told: str
    start: int
    end: int
    named: tuple[int, int]
    parts: tuple[Part, ...] = ()


def list_parts(text: str, comments: Sequence[Comment]) -> list[Part]:
    """Each comment with its stages."""
    found = []
    for comment in comments:
        body = body_of(comment, text)
        tokens = read_tokens(text, body.start, body.end)
        name = (comment.start, body.start)
        found.append(
            Part(
                comment.keyword,
                _call(read_value(text, tokens)),
                comment.start,
                comment.end,
                name,
                tuple(_list_stages(text, tokens, ("pipeline",))),
            )
        )
    return found


def list_pipeline_parts(text: str) -> list[Part]:
    """The stages of a shared pipeline."""
    tokens = read_tokens(text)
    return [*_list_stages(text, tokens, ()), *_list_stages(text, tokens, ("pipeline",))]


def _call(value: object) -> str:
    """What a comment is about: its id, its title, or the table and column that it quotes."""
    said = [value_at(value, (key,)) for key in ("id", "title", "table", "column", "collection")]
    texts = [one for one in said if isinstance(one, str) and one]
    return texts[0] if texts and said[2] is None else " ".join(texts[:2])


def _list_stages(text: str, tokens: Tokens, path: tuple[str, ...]) -> Iterator[Part]:
    ends = {one.path: one.end for one in tokens.found if one.kind == "close"}
    for place, token in enumerate(tokens.found):
        if token.path[:-1] != path or not token.path or not isinstance(token.path[-1], int):
            continue
        if token.kind == "string":
            yield Part(text[token.start : token.end], "shared pipeline", token.start, token.end, token[:2])
        elif token.kind == "open":
            key = tokens.found[place + 1] if place + 1 < len(tokens.found) else token
            if key.kind == "key":
                end = max(ends.get(token.path, key.end), key.end)
                yield Part(str(key.path[-1]), f"stage {token.path[-1] + 1}", token.start, end, key[:2])
