"""The texts around a table that may be Markdown: title, caption, headers, headings above headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mongo_tables.directives.inline_markdown import Piece, plain_text, read_inline
from mongo_tables.jsontext.reader import Path

_ALONE = ("title", "caption")


@dataclass(frozen=True, slots=True)
class HeaderGroup:
    """A heading above the headers of ``columns``: its plain text and, for Markdown, its pieces."""

    text: str
    columns: tuple[str, ...]
    pieces: tuple[Piece, ...] = ()


def read_marked(body: Mapping[str, Any]) -> dict[Path, tuple[Piece, ...]]:
    """Return the pieces of title, caption and headers, by path, if a comment declares them as Markdown."""
    return {path: read_inline(text) for path, text in _written(body)} if body.get("markdown") else {}


def _written(body: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    yield from (((key,), body[key]) for key in _ALONE if isinstance(body.get(key), str))
    yield from ((("headers", index), text) for index, text in enumerate(body.get("headers", ())))


def headers_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headers as plain text. By default they are made from the names of columns."""
    if "headers" in body:
        return tuple(plain_text(_pieces(body, text)) or text for text in body["headers"])

    return column_headers(body["columns"])


def header_groups_of(body: Mapping[str, Any]) -> tuple[HeaderGroup, ...]:
    """Return the headings that span several headers."""
    found = []
    for text, columns in body.get("header_groups", {}).items():
        pieces = _pieces(body, text)
        found.append(HeaderGroup(plain_text(pieces) or text, tuple(columns), pieces))
    return tuple(found)


def _pieces(body: Mapping[str, Any], text: str) -> tuple[Piece, ...]:
    return read_inline(text) if body.get("markdown") else ()


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z_\s-]+|[A-Z]")


def field_words(name: str) -> str:
    """Return the name of a field in words.

    Example:
        >>> field_words("docSizeKB")
        'Doc size KB'
    """
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(name)]
    text = " ".join(words)
    return text[:1].upper() + text[1:] or name.strip() or "–"


def short_names(paths: Sequence[str]) -> list[str]:
    """Return a distinct name for each path: its last part, or the whole path if several share the last part."""
    last = [path.rpartition(".")[2] for path in paths]
    wanted = [
        name if last.count(name) == 1 else path.replace(".", "_").strip("_") or "id"
        for name, path in zip(last, paths, strict=True)
    ]
    return [name if name not in wanted[:at] else f"{name}_{at + 1}" for at, name in enumerate(wanted)]


def column_headers(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the default headers of columns, made from their names."""
    return tuple(map(field_words, short_names(columns)))
