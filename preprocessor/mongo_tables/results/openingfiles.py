"""Opens the results source that a text of files names."""

from __future__ import annotations

from pathlib import Path

from mongo_tables.results.filesource import FileCollections, FileSource
from mongo_tables.results.model import Limits
from mongo_tables.results.plaincollections import PlainCollections
from mongo_tables.results.sourcetext import Part, split_parts


def open_files(where: str, limits: Limits | None = None) -> FileSource:
    """The files that a text names as a results source; of a folder among them the fixture files as well."""
    parts = split_parts(where)
    folders = [_fixture_folder(Path(one.pattern)) for one in parts if _is_folder(one)]
    return FileSource(where, (*folders, PlainCollections(parts)), limits)


def _is_folder(part: Part) -> bool:
    return not part.name and part.is_path and Path(part.pattern).is_dir()


def _fixture_folder(folder: Path) -> FileCollections:
    from mongo_tables.results.fixtures import FixtureFolder  # a file alone needs no cache

    return FixtureFolder(folder)
