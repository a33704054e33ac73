"""Fixture files on disk: which there are, and where those of a collection are.

A collection is a folder of its name, percent-encoded where that must be. In it, each line of a ``*.jsonl``
file is one document in Extended JSON v2 (relaxed or canonical); a ``*.json`` file is an array of documents.
The collection's order is that of the file names, then that within the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from mongo_tables.files.text import leads_within, list_some
from mongo_tables.results.model import Fault, ResultsError, combine_faults

_ELSEWHERE_HINT = (
    "name a file of results, another folder or a mongodb:// URI as the results source, or fill it with "
    "`mongo-tables pull`"
)

SUFFIXES = (".jsonl", ".json")
_BLOCK = 2**20
_OTHER_DATA = frozenset((
    ".jsonl", ".json", ".ndjson", ".jsonlines", ".json5", ".csv", ".tsv", ".gz", ".bz2", ".xz", ".zst", ".zip",
    ".bson", ".parquet", ".xlsx", ".ods", ".yaml", ".yml", ".xml",
))  # fmt: skip
"""Endings of files that may hold documents but are not read; the first two only in capitals, as ``.JSONL``."""
_DATA = frozenset((".jsonl", ".json", ".ndjson", ".jsonlines", ".json5", ".csv", ".tsv", ".bson", ".parquet"))
"""Endings of files that always hold documents, also beside files that are read."""
_PACKED = frozenset((".gz", ".bz2", ".xz", ".zst", ".zip"))
_SHOWN = 4
_FORM_HINT = (
    "documents stand one a line in a file *.jsonl, unpacked, or as an array in a file *.json, "
    "in MongoDB Extended JSON; other forms are read beside the folders of collections"
)
_BESIDE_HINT = f"{_FORM_HINT}, in the folder itself; move what is not to be read out of it"


# What cannot stand in the name of a folder everywhere, or would be obeyed by a terminal; % because it escapes.
_UNSAFE = r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|%\u200e\u200f\u2028-\u202e\u2066-\u2069]|^\.|[. ]$'


def folder_of(folder: Path, collection: str) -> Path:
    """Where a collection's files are: the folder of its name, with unsafe characters percent-encoded."""
    return folder / re.sub(
        _UNSAFE, lambda found: "".join(f"%{one:02X}" for one in found[0].encode()), collection
    )


def collection_names(folder: Path) -> tuple[str, ...]:
    """Names of the collections in a fixture folder, sorted; folders that begin with a dot do not count."""
    return tuple(sorted(_folders(folder)))


def _folders(folder: Path) -> dict[str, Path]:
    """The folder of each collection by the collection's name."""
    try:
        found = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
        places = [p for p in found if p.is_dir()]
    except FileNotFoundError:
        raise _unusable(f"there is no fixture folder {folder}", _suggest_files(folder.parent)) from None
    except OSError as error:
        raise _unusable(f"the fixture folder {folder} cannot be read: {error.strerror}") from None
    refuse_broken_links(found)
    return {unquote(place.name): place for place in places}


def _suggest_files(folder: Path) -> str:
    """What to do where a folder has no fixture folder in it: it may hold results that nobody has named yet."""
    import shlex  # Needed where it went wrong, and it costs.

    from mongo_tables.results.likelyfiles import list_likely_files

    names = [(folder / name).as_posix() for name in list_likely_files(folder)]
    if not names:
        return f"{_ELSEWHERE_HINT}; `mongo-tables init` looks for results, and writes where they are"
    listed = list_some(names, _SHOWN)
    return (
        f"there is {listed}: `mongo-tables init` writes mongo-tables.toml, which says where results are; "
        f"for once, --results {shlex.quote(names[0])}"
    )


def files_of(folder: Path, collection: str) -> list[Path]:
    """The fixture files of a collection in their order; none for an unknown collection.

    Raises ``ResultsError`` when its folder cannot be listed.
    """
    place = _folders(folder).get(collection)
    if place is None:
        return []
    return files_in(place)


def files_in(place: Path) -> list[Path]:
    """The fixture files in the folder of a collection, in their order; none where there is no such folder."""
    return sorted((p for p in list_files(place) if p.suffix in SUFFIXES), key=lambda path: path.name)


def unread_in(folder: Path, collection: str) -> tuple[str, ...]:
    """Files in a collection's folder that hold documents but are not read, sorted: other formats, or deeper folders.

    Where no file is read at all, more is taken for documents than beside files that are: a note may stand there.
    """
    place = _folders(folder).get(collection)
    if place is None:
        return ()
    files = list_files(place)
    alone = not any(p.suffix in SUFFIXES for p in files)
    found = {p.name for p in files if _is_data(p.name) or (alone and is_like_data(p.name))}
    return tuple(sorted({*found, *_deeper(place)}))


def refuse_unread(folder: Path, collection: str) -> None:
    """Raise ``ResultsError`` when a collection's folder has files with documents that are never read."""
    others = unread_in(folder, collection)
    if not others:
        return
    place, more = folder_of(folder, collection).as_posix(), list_some(others, _SHOWN)
    if files_of(folder, collection):
        raise ResultsError(f"{place} has documents that are not read: {more}", hint=_BESIDE_HINT)
    raise ResultsError(f"no *.jsonl in {place}; there is {more}", hint=_FORM_HINT)


def _is_data(name: str) -> bool:
    """Whether a file's name says that it holds documents in a format that is not read, compressed or not."""
    path = Path(name)
    if path.suffix in SUFFIXES:
        return False
    suffix = path.suffix.lower()
    return (Path(path.stem).suffix.lower() if suffix in _PACKED else suffix) in _DATA


def is_like_data(name: str) -> bool:
    """Whether a file's name says that it may hold documents in a format that is not read from fixture folders."""
    path = Path(name)
    return path.suffix not in SUFFIXES and path.suffix.lower() in _OTHER_DATA


def _deeper(place: Path) -> Iterator[str]:
    """The first file with documents in each folder below the folder of a collection."""
    try:
        inner = [p for p in place.iterdir() if p.is_dir() and not p.name.startswith(".")]
    except OSError as error:
        raise _unusable(f"the folder {place} cannot be read: {error.strerror}") from None
    for one in inner:
        if first := _first_below(one):
            yield first.relative_to(place).as_posix()


def _first_below(place: Path) -> Path | None:
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and (Path(name).suffix in SUFFIXES or _is_data(name)):
                return Path(folder, name)
    return None


def list_files(place: Path) -> list[Path]:
    """The files in a folder, without those whose names begin with a dot."""
    try:
        if not place.is_dir():
            return []
        found = [p for p in place.iterdir() if not p.name.startswith(".")]
        files = [p for p in found if p.is_file()]
    except OSError as error:
        raise _unusable(f"the folder {place} cannot be read: {error.strerror}") from None
    refuse_broken_links(found)
    return files


def refuse_broken_links(places: Sequence[Path]) -> None:
    """Raise ``ResultsError`` for links to nothing, which might stand for documents; it names all of them."""
    hint = "put the documents there, or remove the link"
    broken = sorted(p for p in places if p.is_symlink() and not p.exists())
    if broken:
        raise combine_faults(
            [Fault(p, 0, 0, f"a link to {p.readlink()}, where there is nothing", hint) for p in broken]
        )


def read(path: Path) -> bytes:
    """The bytes of a fixture file. Raises ``ResultsError`` as ``blocks`` does."""
    return b"".join(blocks(path))


def blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a fixture file, some whole lines at a time.

    Raises ``ResultsError`` for one that cannot be read, or is none: a link that leads out of the fixture folder.
    """
    try:
        refuse_outside(path)
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block + file.readline()
    except OSError as error:
        raise combine_faults([Fault(path, 0, 0, f"cannot be read: {error.strerror}")]) from None


def refuse_outside(path: Path) -> None:
    """Raise ``ResultsError`` for a path in a collection that leads, by links, out of the fixture folder."""
    folder = path.parent.parent
    if not leads_within(path, folder):
        hint = "put the documents themselves into the folder; a link may lead only to another file in it"
        raise combine_faults([Fault(path, 0, 0, f"a link leads out of the folder {folder}", hint)])


def _unusable(message: str, hint: str = "") -> ResultsError:
    return ResultsError(message, hint=hint, environment=True)
