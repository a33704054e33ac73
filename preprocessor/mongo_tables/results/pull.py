"""Copies collections from a results source into a folder of fixtures, so that pages can be built without the source.

A document stays in its present file. A new document whose ``_id.testname`` is a string goes to
``COLLECTION/TESTNAME.jsonl``, any other new document to ``COLLECTION/COLLECTION.jsonl``. The documents of a file are in
the order in which a server sorts their ``_id``, so a second pull of the same documents writes the same bytes. A file
that becomes empty is removed. A file with any other name is kept if the source has none of its documents, because it
may be the only copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import bson
from bson.raw_bson import RawBSONDocument

from mongo_tables.aggregation.value_order import key as key_of
from mongo_tables.files import atomic
from mongo_tables.files.folders import leads_within
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_documents import fixture_documents
from mongo_tables.results.file_listing import ResultsFile, fixture_files, folder_of, list_results
from mongo_tables.results.guards import Limits
from mongo_tables.results.model import ResultsError, ResultsSource, unusable
from mongo_tables.results.rows import CODEC
from mongo_tables.results.source_text import SourcePart

_LINES: Final = ".jsonl"
PULL_LIMITS: Final = Limits(time_ms=120_000, rows=1_000_000, bytes=2**30)
"""The limits of a pull, which are higher than the limits of a table."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one fixture file: its documents, and how many of them are new, changed or removed.

    ``note`` describes another change. ``kept`` is true if the file stays although the source has none of its documents.
    """

    path: Path
    documents: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    note: str = ""
    kept: bool = False

    @property
    def is_change(self) -> bool:
        """Whether the file changes."""
        return bool(self.added or self.changed or self.removed or self.note)


def pull(
    source: ResultsSource, folder: Path, copied: Mapping[str, str] = {}, *, dry_run: bool = False
) -> list[FileChange]:
    """Copy collections of an open source into ``folder``, and close the source.

    ``copied`` maps the names of collections to their names in the files. If it is empty, all collections are copied.
    Before anything is written, all documents are read, and their new lines are decoded and compared with them. If one
    file cannot be written, no file is. Raises ``ResultsError``, also if a collection would be written over itself.
    """
    plans = _plan_files(source, folder, copied)
    contents = {path: _content(path, raws) for plan in plans for path, raws in plan.files.items()}
    changes = [change for plan in plans for change in _changes(plan, contents)]
    if not dry_run:
        stale = {path for plan in plans for path in plan.held if path not in contents}
        _write(contents, sorted(stale - {change.path for change in changes if change.kept}))
    return sorted(changes, key=lambda change: change.path)


@dataclass(frozen=True, slots=True)
class _PullPlan:
    """One collection: the documents of each new file, and the documents of each present file by ``_id``."""

    collection: str
    files: Mapping[Path, Sequence[bytes]]
    held: Mapping[Path, Mapping[bytes, bytes]]


def _plan_files(source: ResultsSource, folder: Path, copied: Mapping[str, str]) -> list[_PullPlan]:
    plans = []
    try:
        every = {} if copied else {one: one for one in source.collections() if not one.startswith("system.")}
        for collection, target in (copied or every).items():
            _refuse_places(source, folder, collection, target)
            if not collection:
                raise unusable("the name of a collection is empty")
            if not (raws := list(source.raws(collection))):
                named = f"the collection {collection!r} of {source.name}"
                raise unusable(f"{named} has no documents, so nothing is written")
            held = _read_files(folder_of(folder, target))
            plans.append(_PullPlan(target, _files(folder, target, raws, held), held))
    finally:
        source.close()
    return plans


def _refuse_places(source: ResultsSource, folder: Path, collection: str, target: str) -> None:
    """Raise ``ResultsError`` if the target is the source itself, is in another file already, or leaves the folder."""
    if target == collection and Path(source.name).resolve() == folder.resolve():
        raise unusable(
            f"the collection {collection!r} of {source.name} would be written over itself",
            "name another folder with --to, or another collection with --as",
        )
    there = list_results([SourcePart("", str(folder), "")]).collections if folder.is_dir() else {}
    place = there.get(target)
    if place and not place.folder:
        raise unusable(
            f"the collection {target!r} is already in {place.where}",
            "remove that file, or name another folder with --to, or another collection with --as",
        )
    home = folder_of(folder, target)
    if not leads_within(home, folder):
        message = f"{home}: a link leads out of the folder {folder}"
        raise unusable(message, "replace the link by the documents")


def _files(
    folder: Path, collection: str, raws: Sequence[bytes], held: Mapping[Path, Mapping[bytes, bytes]]
) -> dict[Path, list[bytes]]:
    """Return the documents of each file. A known document stays in its file. A new one goes to the file of its test."""
    place = folder_of(folder, collection)
    # Documents of an array in a .json file move to a .jsonl file with the same stem.
    homes = {key: path.with_suffix(_LINES) for path, documents in held.items() for key in documents}
    found: dict[Path, list[bytes]] = {}
    for raw in sorted(raws, key=lambda raw: key_of(_id_of(raw))):
        file = homes.get(_only_id(raw)) or place / f"{_stem(raw, collection)}{_LINES}"
        found.setdefault(file, []).append(raw)
    return found


def _only_id(raw: bytes) -> bytes:
    """Return the document without all fields but ``_id``."""
    return bson.encode({"_id": RawBSONDocument(raw)["_id"]})


def _id_of(raw: bytes) -> Any:
    return bson.decode(_only_id(raw), CODEC)["_id"]


def _stem(raw: bytes, collection: str) -> str:
    key = _id_of(raw)
    name = key.get("testname") if isinstance(key, dict) else None
    safe = quote(name if name and isinstance(name, str) else collection, safe=" ")
    return safe if not safe.startswith(".") else f"%2E{safe[1:]}"


def _content(path: Path, raws: Sequence[bytes]) -> bytes:
    content = "".join(f"{write_line(raw)}\n" for raw in raws).encode()
    for raw, back in zip(raws, _read(path, content), strict=True):
        if raw != back:
            raise unusable(
                f"the document {write_line(_only_id(raw))} has a value that Extended JSON cannot store"
            )
    return content


def _read(path: Path, content: bytes) -> list[bytes]:
    return [bson.encode(one) for one in fixture_documents(path, content)]


def _changes(plan: _PullPlan, contents: Mapping[Path, bytes]) -> list[FileChange]:
    old = {key: raw for documents in plan.held.values() for key, raw in documents.items()}
    everywhere = {_only_id(raw) for raws in plan.files.values() for raw in raws}
    changes = []
    for path, raws in plan.files.items():
        homes = [home for home in plan.held if home.with_suffix(_LINES) == path]
        removed = len({key for home in homes for key in plan.held[home]} - everywhere)
        new = _by_id(raws)
        added = sum(key not in old for key in new)
        changed = sum(key in old and old[key] != raw for key, raw in new.items())
        note = next((f"renamed from {home.name}" for home in homes if home != path), "")
        same = not (added or changed or removed or note) and path in plan.held
        if same and path.read_bytes() != contents[path]:
            note = "another order or notation"
        changes.append(FileChange(path, len(new), added, changed, removed, note))
    for path, documents in plan.held.items():
        if not {path, path.with_suffix(_LINES)} & plan.files.keys():
            named = all(_stem(raw, plan.collection) == path.stem for raw in documents.values())
            kept = bool(documents) and not named and everywhere.isdisjoint(documents)
            removed = 0 if kept else sum(key not in everywhere for key in documents)
            changes.append(FileChange(path, len(documents) if kept else 0, removed=removed, kept=kept))
    return changes


def _read_files(place: Path) -> dict[Path, dict[bytes, bytes]]:
    """Return the present documents of each file of a collection, by ``_id``. The first document with an ``_id`` counts.

    Raises ``ResultsError`` for a file that is not a fixture, because replacing it could lose documents.
    """
    found: dict[Path, dict[bytes, bytes]] = {}
    seen: set[bytes] = set()
    for path in fixture_files(place):
        try:
            documents = _by_id(_read(path, ResultsFile(path, place.parent).read()))
        except ResultsError as error:
            first = error.message.partition("\n")[0]
            raise unusable(
                f"{first}; the content of the file would be lost, so nothing is written",
                "correct or move the file",
            ) from None
        found[path] = {key: raw for key, raw in documents.items() if key not in seen}
        seen |= found[path].keys()
    return found


def _by_id(raws: Sequence[bytes]) -> dict[bytes, bytes]:
    return {_only_id(raw): raw for raw in raws}


def _write(contents: Mapping[Path, bytes], stale: Sequence[Path]) -> None:
    """Write the files that differ, either all or none. Then remove the ``stale`` files."""
    made: list[Path] = []
    try:
        different = {
            path: content
            for path, content in contents.items()
            if not path.exists() or path.read_bytes() != content
        }
        for folder in dict.fromkeys(path.parent for path in different):
            for place in reversed([folder, *folder.parents]):
                if not place.is_dir():
                    place.mkdir()
                    made.append(place)
        atomic.write_all(different)
        for path in stale:
            path.unlink()
    except OSError as error:
        for folder in reversed(made):
            with suppress(OSError):  # A folder with files stays.
                folder.rmdir()
        named = f"{error.filename}: " if error.filename else ""
        raise unusable(f"{named}cannot be written: {error.strerror or error}") from None
