"""Values of an experiment file that TOML can say, and that no result document could hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from mongo_tables.runner.tomlplaces import Path

LANGUAGE = frozenset({"query", "pipeline"})
"""Parameters in MongoDB's own language, where infinity and what is no number mean something."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def unstorable(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, str]]:
    """Everything below ``value`` that is of this kind: its path, what, and a hint."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from unstorable(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from unstorable(inner, (*path, number))
    elif isinstance(value, float) and not isfinite(value) and LANGUAGE.isdisjoint(path):
        yield path, f"{value} is no number that anything can be measured with", "give a finite one"
    elif isinstance(value, int) and not _LEAST <= value <= _MOST:
        yield path, f"{value} has more than 64 bits", "MongoDB has no larger whole numbers"
    elif isinstance(value, time) or (isinstance(value, date) and not isinstance(value, datetime)):
        yield path, f"{value} is half a date", "MongoDB has dates with a time alone, as 2020-01-31T00:00:00Z"
