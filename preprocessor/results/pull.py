"""Copies collections from a deployment into a fixture folder, so that pages can be built without a server.

A document whose ``_id.testname`` is a string goes to ``COLLECTION/TESTNAME.jsonl``, any other to
``COLLECTION/COLLECTION.jsonl``; within a file documents stand in the order in which a server sorts their
``_id``. A second pull of the same documents therefore writes the same bytes. Files that nothing is left for
are removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from preprocessor import atomic
from preprocessor.aggregation.ordering import Key, key
from preprocessor.results import Limits, ResultsError, fixturefiles, fixturetext, open_source, rawbson
from preprocessor.results.limits import OPTIONS
from preprocessor.results.mongodb import MongoSource
from preprocessor.results.readpaths import Tree

PULL_LIMITS = Limits(time_ms=120_000, rows=1_000_000, bytes=2**30)
"""A whole collection is allowed to cost more than a table."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One fixture file: how many documents it holds now, and how many of them are new, different, or gone."""

    path: Path
    documents: int
    added: int
    changed: int
    removed: int

    @property
    def is_change(self) -> bool:
        """Whether the file differs from before in any document."""
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class PullReport:
    """What a pull did, or with ``dry_run`` would do, file by file in order of their paths."""

    files: tuple[FileChange, ...]


def pull(
    source_uri: str,
    folder: Path,
    collections: Sequence[str] = (),
    prune_paths: Mapping[str, Tree | None] | None = None,
    *,
    dry_run: bool = False,
    limits: Limits = PULL_LIMITS,
) -> PullReport:
    """Make ``folder`` hold the documents of the named collections (none named: all of the database).

    With ``prune_paths`` (see ``readpaths.trees_by_collection``) only what pipelines read is kept of each
    document; a collection that it does not name, or names with None, is kept whole. Nothing is written
    before everything is read and has been proven to come back from the files byte for byte; where the files
    cannot be written, none is. Raises ``ResultsError``.
    """
    planned, stale = _planned(_deployment(source_uri, limits), folder, collections, prune_paths or {})
    contents = {path: _content(path, raws) for path, raws in planned.items()}
    changes = tuple(_change(path, planned.get(path, [])) for path in sorted(planned.keys() | stale))
    if not dry_run:
        _write(contents, sorted(stale - planned.keys()))
    return PullReport(changes)


def _deployment(uri: str, limits: Limits) -> MongoSource:
    source = open_source(uri, limits)
    if not isinstance(source, MongoSource):
        raise _impossible("a pull copies from a database: give mongodb://HOST/DATABASE, not a folder")
    return source


def _planned(
    source: MongoSource, folder: Path, collections: Sequence[str], trees: Mapping[str, Tree | None]
) -> tuple[dict[Path, list[bytes]], set[Path]]:
    """The documents of each file that shall be, and the files of the same collections that are. Closes the source."""
    planned: dict[Path, list[bytes]] = {}
    try:
        names = sorted(set(collections)) or [
            name for name in source.collections() if not name.startswith("system.")
        ]
        for name in names:
            planned |= _files(folder, name, _pruned(source, name, trees.get(name)))
    finally:
        source.close()
    return planned, {path for name in names for path in fixturefiles.folder_of(folder, name).glob("*.jsonl")}


def _pruned(source: MongoSource, collection: str, tree: Tree | None) -> list[bytes]:
    if not collection:
        raise _impossible("the name of a collection is empty")
    raws = list(source.documents(collection))
    if not raws:
        raise _impossible(
            f"the collection {collection!r} of {source.name} has no documents; nothing is changed"
        )
    return raws if tree is None else [rawbson.pruned(raw, tree, 0) for raw in raws]


def _files(folder: Path, collection: str, raws: Sequence[bytes]) -> dict[Path, list[bytes]]:
    found: dict[Path, list[bytes]] = {}
    for raw in sorted(raws, key=_order):
        file = fixturefiles.folder_of(folder, collection) / f"{_stem(raw, collection)}.jsonl"
        found.setdefault(file, []).append(raw)
    return found


def _order(raw: bytes) -> Key:
    import bson

    return key(bson.decode(_only_id(raw), OPTIONS)["_id"])


def _only_id(raw: bytes) -> bytes:
    return rawbson.pruned(raw, {"_id": {}}, 0)


def _stem(raw: bytes, collection: str) -> str:
    try:
        name = rawbson.string_at(raw, ("_id", "testname"))
    except rawbson.Unclear:
        name = None
    safe = quote(name or collection, safe=" ")
    return safe if not safe.startswith(".") else f"%2E{safe[1:]}"


def _content(path: Path, raws: Sequence[bytes]) -> bytes:
    from preprocessor.results.typedjson import line

    content = "".join(f"{line(raw)}\n" for raw in raws).encode()
    for raw, back in zip(raws, fixturetext.documents(path, content), strict=True):
        if raw != back:
            raise _impossible(
                f"the document {line(_only_id(raw))} holds a value that Extended JSON cannot carry"
            )
    return content


def _change(path: Path, raws: Sequence[bytes]) -> FileChange:
    new, old = _by_id(raws), _by_id(_held(path))
    return FileChange(
        path,
        documents=len(new),
        added=sum(key not in old for key in new),
        changed=sum(key in old and old[key] != raw for key, raw in new.items()),
        removed=sum(key not in new for key in old),
    )


def _held(path: Path) -> list[bytes]:
    """The file's documents so far; none when it is not there or cannot be read as a fixture."""
    try:
        return list(fixturetext.documents(path, fixturefiles.read(path)))
    except ResultsError:
        return []


def _by_id(raws: Sequence[bytes]) -> dict[bytes, bytes]:
    return {_only_id(raw): raw for raw in raws}


def _write(contents: Mapping[Path, bytes], stale: Sequence[Path]) -> None:
    """Write what differs, all or none, then remove what is stale."""
    made: list[Path] = []
    try:
        different = {
            path: content
            for path, content in contents.items()
            if not path.exists() or path.read_bytes() != content
        }
        for folder in dict.fromkeys(path.parent for path in different):
            _make(folder, made)
        atomic.write_all(different)
        for path in stale:
            path.unlink()
    except OSError as error:
        for folder in reversed(made):
            with suppress(OSError):  # one that holds files stays
                folder.rmdir()
        place = f"{error.filename}: " if error.filename else ""
        raise _impossible(f"{place}cannot be written: {error.strerror or error}") from None


def _make(folder: Path, made: list[Path]) -> None:
    """Make the folder and those above it; each is entered in ``made`` as soon as it is there."""
    for place in reversed([folder, *folder.parents]):
        if not place.is_dir():
            place.mkdir()
            made.append(place)


def _impossible(message: str) -> ResultsError:
    return ResultsError(message, environment=True)
