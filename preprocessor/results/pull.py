"""Copies collections from a deployment into a fixture folder, so that pages can be built without a server.

A document whose ``_id.testname`` is a string goes to ``COLLECTION/TESTNAME.jsonl``, any other to
``COLLECTION/COLLECTION.jsonl``; within a file documents stand in the order of their ``_id`` as text. A
second pull of the same documents therefore writes the same bytes. Files that nothing is left for are
removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from preprocessor import atomic
from preprocessor.results import Limits, ResultsError, fixturefiles, fixturetext, rawbson
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
    before everything is read and has been proven to come back from the files byte for byte. Raises
    ``ResultsError``.
    """
    source = MongoSource(source_uri, limits)
    try:
        names = sorted(collections) or [
            name for name in source.collections() if not name.startswith("system.")
        ]
        planned: dict[Path, list[bytes]] = {}
        for name in names:
            planned |= _files(folder, name, _pruned(source, name, (prune_paths or {}).get(name)))
    finally:
        source.close()
    contents = {path: _content(path, raws) for path, raws in planned.items()}
    changes = tuple(
        _change(path, planned.get(path, [])) for path in sorted(planned.keys() | _stale(folder, names))
    )
    if not dry_run:
        _write(contents, [change.path for change in changes if change.path not in contents])
    return PullReport(changes)


def _pruned(source: MongoSource, collection: str, tree: Tree | None) -> list[bytes]:
    if collection.startswith(".") or set(collection) & set('/\\:*?"<>|'):
        raise _impossible(f"the collection {collection!r} cannot be the name of a folder")
    raws = list(source.documents(collection))
    if not raws:
        raise _impossible(
            f"the collection {collection!r} of {source.name} has no documents; nothing is changed"
        )
    return raws if tree is None else [rawbson.pruned(raw, tree, 0) for raw in raws]


def _files(folder: Path, collection: str, raws: Sequence[bytes]) -> dict[Path, list[bytes]]:
    found: dict[Path, list[bytes]] = {}
    for raw in sorted(raws, key=_order):
        found.setdefault(folder / collection / f"{_stem(raw, collection)}.jsonl", []).append(raw)
    return found


def _order(raw: bytes) -> str:
    from preprocessor.results.typedjson import line

    return line(rawbson.pruned(raw, {"_id": {}}, 0))


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
            raise _impossible(f"the document {_order(raw)} holds a value that Extended JSON cannot carry")
    return content


def _stale(folder: Path, collections: Sequence[str]) -> set[Path]:
    return {path for name in collections for path in (folder / name).glob("*.jsonl")}


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
    return {rawbson.pruned(raw, {"_id": {}}, 0): raw for raw in raws}


def _write(contents: Mapping[Path, bytes], stale: Sequence[Path]) -> None:
    try:
        for path, content in contents.items():
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                atomic.write(path, content)
        for path in stale:
            path.unlink()
    except OSError as error:
        raise _impossible(
            f"the fixture folder cannot be written: {error.strerror}: {error.filename}"
        ) from None


def _impossible(message: str) -> ResultsError:
    return ResultsError(message, environment=True)
