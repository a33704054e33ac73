"""Fixture files on disk: which there are, and their text as BSON documents.

A collection is a folder. In it, each line of a ``*.jsonl`` file is one document in Extended JSON v2
(relaxed or canonical); a ``*.json`` file is an array of documents. The collection's order is that of the
file names, then that within the files.
"""

from __future__ import annotations

from pathlib import Path

from preprocessor.results import ResultsError

_PULL_HINT = (
    "name another folder or a mongodb:// URI as the results source, or fill it with `mongo-tables pull`"
)

SUFFIXES = (".jsonl", ".json")


def collection_names(folder: Path) -> tuple[str, ...]:
    """Names of the collections in a fixture folder, sorted; a folder that begins with a dot is none."""
    try:
        return tuple(sorted(p.name for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")))
    except FileNotFoundError:
        raise _unusable(f"there is no fixture folder {folder}", _PULL_HINT) from None
    except OSError as error:
        raise _unusable(f"the fixture folder {folder} cannot be read: {error.strerror}") from None


def files_of(folder: Path, collection: str) -> list[Path]:
    """The fixture files of a collection in their order; none for an unknown collection."""
    place = folder / collection
    if collection not in collection_names(folder):
        return []
    found = (
        p for p in place.iterdir() if p.suffix in SUFFIXES and not p.name.startswith(".") and p.is_file()
    )
    return sorted(found, key=lambda path: path.name)


def read(path: Path) -> bytes:
    """The bytes of a fixture file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unusable(f"{path}: cannot be read: {error.strerror}") from None


def _unusable(message: str, hint: str = "") -> ResultsError:
    return ResultsError(message, hint=hint, environment=True)
