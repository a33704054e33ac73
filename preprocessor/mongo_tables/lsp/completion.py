"""What may be written at a place of a comment, as an editor offers it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mongo_tables.directives.comments import keep_in_comment
from mongo_tables.lint.shape.values import Shape
from mongo_tables.lsp.bodies import Cursor, read_value
from mongo_tables.lsp.completion_offers import KEYS, Asked, Offer, Sort
from mongo_tables.lsp.completion_values import VALUES
from mongo_tables.lsp.knowledge import Knowledge
from mongo_tables.lsp.slots import way_to
from mongo_tables.lsp.tokens import read_tokens


class Suggestion(NamedTuple):
    """One thing that may be written: its name, its kind, a remark, a text about it, and what to write.

    ``text`` is put between ``start`` and ``end`` of the ``Completion``; ``sought`` is what the typed text is compared
    with.
    """

    label: str
    sort: Sort
    remark: str
    about: str
    text: str
    sought: str


class Completion(NamedTuple):
    """What may be written in the place of what stands between two offsets."""

    start: int
    end: int
    found: Sequence[Suggestion]


def complete(text: str, cursor: Cursor, known: Knowledge, start: Shape | None = None) -> Completion:
    """What may be written at a place; ``start`` is what a pipeline reads that says nothing of it itself."""
    body = cursor.body
    value = read_value(text, read_tokens(text, body.start, body.end))
    certain = value
    if not cursor.ends:  # What follows an open key is read as its neighbours.
        certain = read_value(text, read_tokens(text, body.start, cursor.start - cursor.quoted))
    if cursor.role == "key":
        asked = Asked(cursor, way_to(body.kind, cursor.path[:-1]), value, certain, known, start)
        offers = list(KEYS.get(asked.way.slot.role, _no_offers)(asked))
        offered = [one for one in offers if one.label not in asked.beside]
        return _write_keys(text, cursor, offered)
    if cursor.role == "value":
        asked = Asked(cursor, way_to(body.kind, cursor.path), value, certain, known, start)
        return _write_values(cursor, list(VALUES.get(asked.way.slot.role, _no_offers)(asked)))
    return Completion(cursor.start, cursor.start, ())


def _no_offers(asked: Asked) -> Iterable[Offer]:
    return ()


def _write_keys(text: str, cursor: Cursor, offers: Sequence[Offer]) -> Completion:
    """Keys with what is missing around them: quotes, and a colon unless their closing quote stands there."""
    has_colon = text[cursor.end : cursor.body.end].lstrip().startswith(":")
    opening = "" if cursor.quoted else '"'
    closing = "" if cursor.closed else '"' if has_colon else '": '
    found = []
    for one in offers:
        written = opening + _write_json(one.label)[1:-1] + closing
        found.append(Suggestion(one.label, one.sort, one.remark, one.about, written, opening + one.label))
    return Completion(cursor.start, cursor.end, found)


def _write_values(cursor: Cursor, offers: Sequence[Offer]) -> Completion:
    if cursor.quoted:
        texts = [one for one in offers if isinstance(one.value, str) and not one.opens]
        return Completion(
            cursor.start, cursor.end, [_within_quotes(one, closed=cursor.closed) for one in texts]
        )
    found = []
    for one in offers:
        written = f"{{{_write_json(one.label)}: " if one.opens else _write_json(one.value)
        sought = one.label if one.opens else json.dumps(one.value, ensure_ascii=False)
        found.append(Suggestion(one.label, one.sort, one.remark, one.about, written, sought))
    return Completion(cursor.start, cursor.end, found)


def _within_quotes(one: Offer, *, closed: bool) -> Suggestion:
    """The text of a value up to its closing quote, and with that where none stands there."""
    written = _write_json(one.value)
    inner = written[1:-1] if closed else written[1:]
    return Suggestion(one.label, one.sort, one.remark, one.about, inner, str(one.value))


def _write_json(value: Any) -> str:
    """JSON that ends no comment, whatever is in a value."""
    return keep_in_comment(json.dumps(value, ensure_ascii=False))
