"""Copies collections from a results source into a fixture folder, so that pages can be built without it.

A document whose ``_id.testname`` is a string goes to ``COLLECTION/TESTNAME.jsonl``, any other to
``COLLECTION/COLLECTION.jsonl``; within a file documents stand in the order in which a server sorts their
``_id``. A second pull of the same documents therefore writes the same bytes. Files that nothing is left for
are removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from preprocessor import atomic
from preprocessor.aggregation.ordering import Key, key
from preprocessor.results import (
    Limits,
    Query,
    ResultsError,
    ResultsSource,
    fixturefiles,
    fixturetext,
    open_source,
    rawbson,
)
from preprocessor.results.limits import OPTIONS
from preprocessor.results.readpaths import Tree

PULL_LIMITS = Limits(time_ms=120_000, rows=1_000_000, bytes=2**30)
"""A whole collection is allowed to cost more than a table."""


@dataclass(frozen=True, slots=True)
class Copied:
    """One collection to copy: what it is called there, and in the files where that is not the same.

    ``pipeline``: stages, with the variables ``let``, that its documents go through; None copies them as they are.
    """

    collection: str
    name: str = ""
    pipeline: tuple[Mapping[str, Any], ...] | None = None
    let: Mapping[str, Any] = field(default_factory=dict)

    @property
    def written(self) -> str:
        """The name of the collection in the files."""
        return self.name or self.collection


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
    where: str,
    folder: Path,
    copied: Sequence[Copied] = (),
    prune_paths: Mapping[str, Tree | None] | None = None,
    *,
    dry_run: bool = False,
    limits: Limits = PULL_LIMITS,
) -> PullReport:
    """Make ``folder`` hold the documents of collections (none named: all) of the results source ``where``.

    With ``prune_paths`` (see ``readpaths.trees_by_collection``) only what pipelines read is kept of each
    document; a collection that it does not name, or names with None, is kept whole. Nothing is written
    before everything is read and has been proven to come back from the files byte for byte; where the files
    cannot be written, none is. Raises ``ResultsError``, also where a collection would replace itself.
    """
    planned, stale = _planned(open_source(where, limits), folder, copied, prune_paths or {})
    contents = {path: _content(path, raws) for path, raws in planned.items()}
    changes = tuple(_change(path, planned.get(path, [])) for path in sorted(planned.keys() | stale))
    if not dry_run:
        _write(contents, sorted(stale - planned.keys()))
    return PullReport(changes)


def _planned(
    source: ResultsSource, folder: Path, copied: Sequence[Copied], trees: Mapping[str, Tree | None]
) -> tuple[dict[Path, list[bytes]], set[Path]]:
    """The documents of each file that shall be, and the files of the same collections that are. Closes the source."""
    planned: dict[Path, list[bytes]] = {}
    try:
        copied = copied or [Copied(one) for one in source.collections() if not one.startswith("system.")]
        for one in copied:
            _refuse_itself(source, folder, one)
            fixturefiles.refuse_outside(fixturefiles.folder_of(folder, one.written) / "any")
            planned |= _files(folder, one.written, _pruned(_made(source, one), trees.get(one.written)))
    finally:
        source.close()
    places = {fixturefiles.folder_of(folder, one.written) for one in copied}
    return planned, {path for place in places for path in place.glob("*.jsonl")}


def _refuse_itself(source: ResultsSource, folder: Path, one: Copied) -> None:
    """A second pull would make its documents of what the first has made of them."""
    if one.written == one.collection and Path(source.name).resolve() == folder.resolve():
        raise _impossible(
            f"the collection {one.collection!r} of {source.name} would be written over itself",
            "name another folder with --to, or another collection with --as",
        )


def _pruned(raws: Sequence[bytes], tree: Tree | None) -> Sequence[bytes]:
    return raws if tree is None else [rawbson.pruned(raw, tree, 0) for raw in raws]


def _made(source: ResultsSource, one: Copied) -> list[bytes]:
    """The documents to write, as BSON."""
    if not one.collection:
        raise _impossible("the name of a collection is empty")
    raws = list(source.raws(one.collection)) if one.pipeline is None else _rows(source, one, one.pipeline)
    if not raws:
        of = "has no documents" if one.pipeline is None else "gives no documents by that pipeline"
        raise _impossible(f"the collection {one.collection!r} of {source.name} {of}; nothing is changed")
    return raws


def _rows(source: ResultsSource, one: Copied, pipeline: tuple[Mapping[str, Any], ...]) -> list[bytes]:
    """What the pipeline makes of the collection: documents, each with an ``_id`` of its own."""
    import bson

    rows = source.aggregate(Query(one.collection, pipeline, one.let))
    if any("_id" not in row for row in rows):
        raise _impossible("a row of the pipeline has no _id", "keep the one of its document, or make one")
    raws = [bson.encode(row) for row in rows]
    if len({_only_id(raw) for raw in raws}) < len(raws):
        raise _impossible(
            "several rows of the pipeline have the same _id", "a collection holds each _id once"
        )
    return raws


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


def _impossible(message: str, hint: str = "") -> ResultsError:
    return ResultsError(message, hint=hint, environment=True)
