"""YAML and TOML: one object, which is one document, or in YAML a list of objects. Tags are ignored.

https://yaml.org/spec/1.2.2/ and https://toml.io/en/v1.0.0
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from mongo_tables.results.formats.model import Document, SourceFile

_MOST_VALUES = 1_000_000
"""The maximum number of values of a file. Aliases in YAML can repeat a value very often."""


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the documents of the file. Raises ``ResultsError`` at the first fault."""
    value = _parse_toml(file) if file.suffix == ".toml" else _parse_yaml(file)
    listed = value if isinstance(value, list) else [] if value is None else [value]
    counter = iter(range(_MOST_VALUES))
    for number, one in enumerate(listed, 1):
        if not isinstance(one, Mapping):
            raise file.refuse(
                f"entry {number} is not an object", hint="write one object, or a list of objects"
            )
        try:
            yield _plain(one, counter)
        except (StopIteration, RecursionError):
            raise file.refuse("too many values, or an alias that contains itself") from None


def _parse_toml(file: SourceFile) -> Any:
    try:
        return tomllib.loads(file.text())
    except (ValueError, RecursionError) as error:
        raise file.refuse(f"not TOML: {error}") from None


def _parse_yaml(file: SourceFile) -> Any:
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """The safe loader, without tags: no code of the file runs."""

    Loader.add_multi_constructor("", lambda loader, suffix, node: None)
    try:
        read = list(yaml.load_all(file.text(), Loader=Loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise file.refuse(
            f"not YAML: {problem}", mark.line + 1 if mark else 0, mark.column + 1 if mark else 0
        ) from None
    except (ValueError, RecursionError) as error:  # such as a date in month 13
        raise file.refuse(f"not YAML: {error}") from None
    return read[0] if len(read) == 1 else [one for one in read if one is not None]


def _plain(value: Any, counter: Iterator[int]) -> Any:
    """Return a value that BSON can store. Keys become texts, days become dates, times of day become texts."""
    next(counter)
    if isinstance(value, Mapping):
        return {str(key): _plain(one, counter) for key, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(one, counter) for one in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return value.isoformat() if isinstance(value, time) else value
