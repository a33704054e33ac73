"""The comments of a page as a list of its parts: what an editor shows as an outline, and what it can fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mongo_tables.comments.model import Comment
from mongo_tables.editor.bodies import Body, read_value, value_at
from mongo_tables.editor.positions import Lines
from mongo_tables.editor.tokens import Token, Tokens, read_tokens


class Part(NamedTuple):
    """A part of a file, from ``start`` to ``end``, with its own parts; ``named`` is where its name stands."""

    name: str
    told: str
    start: int
    end: int
    named: tuple[int, int]
    parts: tuple[Part, ...] = ()


class Fold(NamedTuple):
    """Lines, from 0, that may be shown as their first one alone; ``generated``: of text that was written there."""

    first: int
    last: int
    generated: bool = False


def body_of(comment: Comment, text: str) -> Body:
    """The body of a comment of a page as it stands in the text."""
    start = text.find(":", comment.start, comment.end) + 1
    end = text.rfind("-->", start, comment.end)
    return Body(comment.kind, start, end if end >= 0 else comment.end, comment.start, comment.keyword)


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


def list_folds(text: str, comments: Sequence[Comment], lines: Lines) -> list[Fold]:
    """The comments, their containers, and the text that was written behind them, where they have several lines."""
    found = []
    for comment in comments:
        found.append(Fold(lines.line_at(comment.start), lines.line_at(max(comment.end - 1, 0))))
        body = body_of(comment, text)
        found += _fold_containers(read_tokens(text, body.start, body.end).found, lines)
        if comment.region is not None:
            last = lines.line_at(max(comment.region.end - 1, 0))
            found.append(Fold(lines.line_at(comment.region.start), last, generated=True))
    return _without_short(found)


def list_pipeline_folds(text: str, lines: Lines) -> list[Fold]:
    """The containers of a shared pipeline."""
    return _without_short(list(_fold_containers(read_tokens(text).found, lines)))


def _fold_containers(tokens: Sequence[Token], lines: Lines) -> Iterator[Fold]:
    opened: dict[tuple[str | int, ...], int] = {}
    for token in tokens:
        if token.kind == "open":
            opened[token.path] = token.start
        elif token.kind == "close" and token.path in opened:
            yield Fold(lines.line_at(opened.pop(token.path)), lines.line_at(token.start) - 1)


def _without_short(found: Sequence[Fold]) -> list[Fold]:
    """Of folds that begin at one line the longest, and none of a single line."""
    longest: dict[int, Fold] = {}
    for one in found:
        known = longest.get(one.first)
        if one.last > one.first and (known is None or one.last > known.last):
            longest[one.first] = one
    return [longest[first] for first in sorted(longest)]
