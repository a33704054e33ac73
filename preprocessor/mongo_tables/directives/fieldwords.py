"""The names of fields as words for readers: what stands above a column that has no header of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z_\s-]+|[A-Z]")


def field_words(name: str) -> str:
    """A field's name in words: "docSizeKB" becomes "Doc size KB"."""
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(name)]
    text = " ".join(words)
    return text[:1].upper() + text[1:] or name.strip() or "–"


def short_names(paths: Sequence[str]) -> list[str]:
    """A name for each path, no two alike: its last part, or the whole path where several end alike."""
    last = [path.rpartition(".")[2] for path in paths]
    wanted = [
        name if last.count(name) == 1 else path.replace(".", "_").strip("_") or "id"
        for name, path in zip(last, paths, strict=True)
    ]
    return [name if name not in wanted[:at] else f"{name}_{at + 1}" for at, name in enumerate(wanted)]


def column_headers(columns: Sequence[str]) -> tuple[str, ...]:
    """The headers of columns that have none of their own, made of their names."""
    return tuple(map(field_words, short_names(columns)))
