"""Detection of files of results, by their contents and names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.results.formats import ONLY_NAMED, PLAIN, find_format, is_readable
from mongo_tables.results.formats.model import SourceFile, suffix_of

_SETTINGS: Final = re.compile(
    r"(package(-lock)?|tsconfig.*|jsconfig|composer|manifest|renovate|pyrightconfig|launch|settings|.*\.schema)\.json",
    re.IGNORECASE,
)
LARGEST: Final = 64 * 2**20
"""Files with more bytes are not examined."""
_TELLING: Final = re.compile(
    r"bench|perf|result|measur|timing|latenc|throughput|speed|metrics|(?<![a-z])counts?(?![a-z])",
    re.IGNORECASE,
)


class LikelyFile(NamedTuple):
    """A file with documents, the name of its format, and whether a benchmark tool wrote it."""

    path: Path
    format: str
    is_of_tool: bool


def look_at(path: Path) -> LikelyFile | None:
    """Return the format of a file, or None if it is unknown, holds settings, or cannot be read."""
    if not _may_have_rows(path.name):
        return None
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        found = find_format(SourceFile(path))
    except OSError:
        return None
    if found is None or (found.only_named and not any(map(has_telling_name, path.parts[-2:]))):
        return None
    return LikelyFile(path, found.name, bool(found.marks))


def _may_have_rows(name: str) -> bool:
    return is_readable(name) and not _SETTINGS.fullmatch(name)


def may_hold_results(path: Path) -> bool:
    """Return whether the name of a file suggests data. Most YAML, TOML and text files are settings."""
    by_suffix = suffix_of(path.name) in PLAIN - ONLY_NAMED
    return _may_have_rows(path.name) and (by_suffix or has_telling_name(path.name))


def has_telling_name(name: str) -> bool:
    """Return whether a name, or a path, suggests measurements."""
    return _TELLING.search(name) is not None


def list_likely_files(folder: Path) -> list[str]:
    """Return the names of a folder's files that a tool wrote or that have a telling name, or nothing without a
    folder.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return []
    looked = (look_at(path) for path in paths)
    return [one.path.name for one in looked if one and (one.is_of_tool or has_telling_name(one.path.name))]
