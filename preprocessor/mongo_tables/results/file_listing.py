"""Files of results on disk: the collections, the files of each, and the files that are not read.

A subfolder of a fixture folder is a collection. Its name is the name of the collection, percent-encoded where
necessary. In it, each line of a ``*.jsonl`` file is one document in Extended JSON v2 (relaxed or canonical), and a
``*.json`` file is an array of documents. Any other file is a plain file, written by another program. Its collection has
the name of the file without the suffix, or the name that the author gives. The files of a collection are sorted by
name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import iglob
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from mongo_tables.files.folders import leads_within, list_some
from mongo_tables.findings.finding import nearest_word
from mongo_tables.results.formats import ENDINGS, ONLY_NAMED, PLAIN, find_format, is_readable
from mongo_tables.results.formats.model import TYPES, SourceFile, stem_of, suffix_of
from mongo_tables.results.model import ResultsError, combine_faults, file_fault, unusable
from mongo_tables.results.source_text import SourcePart, has_magic

SUFFIXES: Final = (".jsonl", ".json")
"""The suffixes of fixture files."""
_DATA: Final = (PLAIN - ONLY_NAMED) | {".bson", ".json5", ".xlsx", ".ods", ".xml"}
"""Suffixes of files that hold documents, in lower case. Suffixes of packed files, such as ``.gz``, are not included."""
_PACKED: Final = frozenset((".gz", ".bz2", ".xz", ".zst", ".zip"))
_SHOWN: Final = 4

_ELSEWHERE_HINT: Final = (
    "name a file of results, another folder or a mongodb:// URI as the results source, or fill the folder with "
    "`mongo-tables pull`"
)
_FORM_HINT: Final = (
    "write MongoDB Extended JSON, not compressed: a document in each line of a file *.jsonl, or an array in a file "
    "*.json; put files of other formats next to the folders of collections, not into them"
)
_BESIDE_HINT: Final = f"{_FORM_HINT}; a folder below the folder of a collection is not read"
_NAMES_HINT: Final = (
    f"name a file ({', '.join(ENDINGS)}, most of them also packed: .gz), a pattern of files, or a folder"
)

# Characters that a file system forbids, that control a terminal, and %, which begins an escape.
_UNSAFE: Final = r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|%\u200e\u200f\u2028-\u202e\u2066-\u2069]|^\.|[. ]$'


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A file of a collection, and the types of its columns. Links may not lead out of the folder ``within``.

    ``name`` distinguishes the file from the other files of its collection. It is "" if the collection can have only one
    file.
    """

    path: Path
    within: Path
    name: str = ""
    types: Mapping[str, str] = field(default_factory=dict)

    def read(self) -> bytes:
        """Return the content. Raises ``ResultsError`` if the file does not exist or a link leads out of ``within``."""
        path, refuse = self.path, SourceFile(self.path).refuse
        if not leads_within(path, self.within):
            hint = "replace the link by the file; links may only lead to files in the folder"
            raise refuse(f"a link leads out of the folder {self.within}", hint=hint)
        if not path.is_file():
            if path.is_symlink() and not path.exists():
                raise refuse(f"a link to {path.readlink()}, which does not exist")
            raise refuse("not a file" if path.exists() else "there is no such file")
        try:
            return path.read_bytes()
        except OSError as error:
            raise refuse(f"cannot be read: {error.strerror or error}") from None


@dataclass(frozen=True, slots=True)
class CollectionFiles:
    """The place of a collection: the ``folder`` of its fixture files, or its ``plain`` files.

    ``places`` is not empty if several places have the name of the collection, which is an error.
    """

    plain: tuple[ResultsFile, ...] = ()
    folder: Path | None = None
    places: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The folder or the files, for messages."""
        places = [self.folder] if self.folder else [file.path for file in self.plain]
        return " and in ".join(place.as_posix() for place in places)

    def files(self) -> Sequence[ResultsFile]:
        """Return the files, in order. Raises ``ResultsError`` if the folder cannot be listed."""
        if self.folder is None:
            return self.plain
        return [ResultsFile(path, self.folder.parent) for path in fixture_files(self.folder)]

    def add(self, other: CollectionFiles) -> CollectionFiles:
        """Return the collection with the files of another place. Reading such a collection is an error."""
        return CollectionFiles((*self.files(), *other.files()), places=(self.where, other.where))


@dataclass(frozen=True, slots=True)
class Listing:
    """The place of each collection, sorted by name, and the existing files that are not read."""

    collections: Mapping[str, CollectionFiles]
    unread: Sequence[Path] = ()


def list_results(parts: Sequence[SourcePart]) -> Listing:
    """List the files that the parts name. Raises ``ResultsError`` for a part that names nothing."""
    collections: dict[str, CollectionFiles] = {}  # those of fixtures, then those of plain files
    plain: dict[str, dict[Path, ResultsFile]] = {}
    own: set[str] = set()  # collections that have the name of a file
    others: set[Path] = set()
    for part in parts:
        there = _list_part(part, is_only=len(parts) == 1)
        for name, folder in there.fixtures.items():
            found = CollectionFiles(folder=folder)
            collections[name] = collections[name].add(found) if name in collections else found
        others.update(there.others)
        types = read_types(part.types) if part.types else {}
        for path in there.files:
            name = part.name or stem_of(path.name)
            alone = part.is_path and path == Path(part.pattern)
            told = path.relative_to(there.folder).as_posix() if part.name and not alone else ""
            plain.setdefault(name, {})[path] = ResultsFile(path, there.folder, told, types)
            if not part.name:
                own.add(name)
    for name, by_path in plain.items():
        found = CollectionFiles(tuple(by_path.values()))
        if len(by_path) > 1:  # The names tell the files apart.
            paths = [path.as_posix() for path in by_path]
            files = [
                replace(one, name=one.name or path) for one, path in zip(found.plain, paths, strict=True)
            ]
            found = CollectionFiles(tuple(files), places=tuple(paths) if name in own else ())
        collections[name] = collections[name].add(found) if name in collections else found
    return Listing(dict(sorted(collections.items())), sorted(others.difference(*plain.values())))


class _Found(NamedTuple):
    """The files that a part of the source names: those to read, and all ``others`` that may hold data.

    ``folder`` contains the files. ``fixtures`` are the folders of collections, by name.
    """

    folder: Path
    files: list[Path]
    others: list[Path]
    fixtures: dict[str, Path]


def _list_part(part: SourcePart, *, is_only: bool) -> _Found:
    path = Path(part.pattern)
    if not part.pattern:
        raise unusable(f"`{part}` names no file", _NAMES_HINT)
    if not part.is_path:
        return _match(part.pattern)
    if path.is_dir():
        return _list_folder(path, part.name)
    if not path.exists():
        if is_only and not part.name and not is_readable(path.name):
            return _list_folder(path, part.name)  # It raises the error for a missing fixture folder.
        if not path.is_symlink():
            is_type = part.name and part.pattern in TYPES
            hint = f"join the types of one file by &: FILE?COLUMN=TYPE&{part}" if is_type else _NAMES_HINT
            raise unusable(f"there is no file {path}", _suggest_name(path) or hint)
    return _Found(path.parent, [path], [], {})


def _list_folder(folder: Path, collection: str) -> _Found:
    """List the plain files of a folder. If no ``collection`` is named, also list its folders of fixtures."""
    found = _Found(folder, [], [], {})
    rest: list[Path] = []
    try:
        for path in sorted(folder.iterdir(), key=attrgetter("name")):
            if path.name.startswith("."):
                continue
            if path.is_file():
                suffix = suffix_of(path.name)
                may_be_read = is_readable(path.name) and suffix not in ONLY_NAMED
                if may_be_read or _is_data(path):
                    found.others.append(path)
                if may_be_read and (suffix in PLAIN or _is_known(path)):
                    found.files.append(path)
            elif not collection and path.is_dir():
                found.fixtures[unquote(path.name)] = path
            else:
                rest.append(path)
    except FileNotFoundError:
        hint = _suggest_name(folder) or _suggest_files(folder.parent)
        raise unusable(f"there is no fixture folder {folder}", hint) from None
    except OSError as error:
        kind = "folder" if collection else "fixture folder"
        raise unusable(f"the {kind} {folder} cannot be read: {error.strerror}") from None
    if rest:
        _refuse_broken_links(rest)
    return found


# -- fixture folders --


def folder_of(folder: Path, collection: str) -> Path:
    """Return the folder of a collection's fixture files. Unsafe characters of its name are percent-encoded."""
    return folder / re.sub(
        _UNSAFE, lambda found: "".join(f"%{one:02X}" for one in found[0].encode()), collection
    )


def fixture_files(place: Path) -> list[Path]:
    """Return the fixture files of a collection, in order, or nothing if the folder does not exist."""
    return [path for path in _list_files(place) if path.suffix in SUFFIXES]


def _suggest_name(path: Path) -> str:
    """Return "did you mean `…`?" for results with a similar name in the same folder, or ""."""
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    names = [one.name for one in beside if is_readable(one.name) or any(one.glob("*/*.jsonl"))]
    near = nearest_word(path.name, names)
    return f"did you mean `{path.with_name(near).as_posix()}`?" if near else ""


def _suggest_files(folder: Path) -> str:
    """Return a hint for a missing folder. It names files next to it that may hold results."""
    names = [(folder / name).as_posix() for name in list_likely_files(folder)]
    if not names:
        return f"{_ELSEWHERE_HINT}; `mongo-tables init` searches for results"
    return (
        f"there is {list_some(names, _SHOWN)}: `mongo-tables init` writes the place of results into "
        f"mongo-tables.toml; for one command, give --results {shlex.quote(names[0])}"
    )


def refuse_unread(place: Path) -> None:
    """Raise ``ResultsError`` if a collection's folder has files with documents that are not read."""
    read = {path for path in _list_files(place) if path.suffix in SUFFIXES}
    below = (path.relative_to(place) for path in place.rglob("*") if path not in read and _is_data(path))
    others = sorted(path.as_posix() for path in below if not any(part.startswith(".") for part in path.parts))
    if others and not read:
        raise ResultsError(
            f"no *.jsonl in {place.as_posix()}; there is {list_some(others, _SHOWN)}", hint=_FORM_HINT
        )
    if others:
        message = f"{place.as_posix()} has documents that are not read: {list_some(others, _SHOWN)}"
        raise ResultsError(message, hint=_BESIDE_HINT)


def _is_data(path: Path) -> bool:
    """Return whether the name of a file suggests documents, packed or not."""
    suffix = path.suffix.lower()
    if suffix in _PACKED:
        suffix = Path(path.stem).suffix.lower()
    return suffix in _DATA and path.is_file()


def _list_files(place: Path) -> list[Path]:
    """Return the files in a folder, except hidden ones."""
    found: list[Path] = []
    rest: list[Path] = []
    try:
        for path in sorted(place.iterdir(), key=attrgetter("name")) if place.is_dir() else ():
            if not path.name.startswith("."):
                (found if path.is_file() else rest).append(path)
    except OSError as error:
        raise unusable(f"the folder {place} cannot be read: {error.strerror}") from None
    _refuse_broken_links(rest)
    return found


def _refuse_broken_links(places: Sequence[Path]) -> None:
    """Raise ``ResultsError`` that names all broken links, because their targets may be documents."""
    hint = "correct the link, or remove it"
    broken = sorted(p for p in places if p.is_symlink() and not p.exists())
    if broken:
        raise combine_faults(
            [file_fault(p, (0, 0), f"a link to {p.readlink()}, which does not exist", hint) for p in broken]
        )


# -- plain files --


def _match(pattern: str) -> _Found:
    """Return the files that a pattern matches. Raises ``ResultsError`` if there are none."""
    *above, _ = Path(pattern).parts
    folder = Path(*takewhile(lambda part: not has_magic(part), above))
    # The glob of pathlib also matches hidden files.
    found = sorted(path for path in map(Path, iglob(pattern, recursive=True)) if not path.is_dir())  # noqa: PTH207
    if not found:
        raise unusable(f"no file matches {pattern}", _NAMES_HINT)
    _refuse_broken_links(found)
    read = [one for one in found if suffix_of(one.name) in PLAIN or _is_known(one)]
    return _Found(folder, read, found, {})


def _is_known(path: Path) -> bool:
    """Return whether a file has a known format."""
    try:
        return path.is_file() and find_format(SourceFile(path)) is not None
    except OSError:
        return False


def read_types(text: str) -> Mapping[str, str]:
    """Parse the types of columns, such as ``version=text&day=date``. Raises ``ResultsError`` for an unknown type.

    ``comment=#`` means that lines beginning with ``#`` are skipped, ``decimal=comma`` that decimals have commas.

    Example:
        >>> read_types("version=text&day=date")
        {'version': 'text', 'day': 'date'}
    """
    pairs = (pair.partition("=") for pair in text.split("&") if pair)
    types = {unquote(name): unquote(kind) for name, _, kind in pairs}
    for name, kind in types.items():
        is_sign = name == "comment" and len(kind) == 1 and not kind.isalnum()
        if kind not in TYPES and not is_sign and (name, kind) != ("decimal", "comma"):
            hint = f"the types of columns are {', '.join(TYPES[:-1])} and {TYPES[-1]}"
            raise unusable(f"`{name}` cannot be of the type `{kind}`", hint)
    return types


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
    """Return the names of a folder's files that a benchmark tool wrote, or whose names suggest measurements.

    Without a folder, return nothing.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return []
    looked = (look_at(path) for path in paths)
    return [one.path.name for one in looked if one and (one.is_of_tool or has_telling_name(one.path.name))]
