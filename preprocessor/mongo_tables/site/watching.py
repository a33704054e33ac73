"""What a preview by Zensical follows only when the site's file names it under ``watch``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from mongo_tables.results.opening import is_uri
from mongo_tables.results.sourcetext import has_magic, split_parts


def list_unwatched(watch: Sequence[str], root: Path, results: str, pipelines: Path) -> list[str]:
    """The paths to add to ``watch``, relative to ``root``, the folder of the site's file, where they are below it.

    ``results`` names the results source as seen from there, ``pipelines`` is the folder of shared pipelines. What does
    not exist need not be watched, and a database cannot be.
    """
    followed = [_plain(root / each) for each in watch]
    needed = [*places_of_source(results, root), pipelines]
    missing = (
        path
        for path in map(_plain, needed)
        if path.exists() and not any(path.is_relative_to(each) for each in followed)
    )
    return list(dict.fromkeys(_as_seen(path, _plain(root)) for path in missing))


def places_of_source(results: str, root: Path) -> Iterator[Path]:
    """The files and folders of a results source, seen from ``root``; of a pattern the folder around all it may name."""
    if is_uri(results, root):
        return
    for part in split_parts(results, root):
        path = root / part.pattern
        fixed = Path(*takewhile(lambda name: not has_magic(name), path.parts))
        yield path if path.exists() else fixed


def _as_seen(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _plain(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - a link is watched as the link that it is
