"""The kinds of results sources, and the function that opens the source that a text names.

To add a kind, add a row to ``KINDS`` and a module with its source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.results.model import ResultsError, ResultsSource, unusable
from mongo_tables.results.source_text import escape_magic, has_magic, split_parts

if TYPE_CHECKING:
    from mongo_tables.results.guards import Limits

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class SourceKind(NamedTuple):
    """A kind of results source.

    Attributes:
        form: The text to write, for the help of a command.
        meaning: The meaning of the form, for the help.
        short: The name of the kind in a sentence.
        give: The text that a hint asks to write.
        is_named: Whether a text names a source of this kind, if no earlier kind accepts it.
        opener: Module and function that open the source. The module is imported on demand.
    """

    form: str
    meaning: str
    short: str
    give: str
    is_named: Callable[[str], object]
    opener: str


def is_uri(where: str, folder: Path = Path()) -> bool:
    """Return whether ``where`` is a URI, or a mistyped URI that may contain a password. Any other text is a path.

    Paths are relative to ``folder``. A text that has an ``@`` or begins with ``mongodb`` is a path only if this file or
    folder exists: ``mongodb:/user:password@host`` is a URI that lacks a slash.
    """
    if _SCHEME.match(where.strip()):
        return True
    for part in split_parts(where, folder):
        path = folder / part.pattern
        there = path
        while not lexists(there) and there != there.parent:
            there = there.parent
        absent = str(path.relative_to(there)) if path != there else ""
        begins = f"{part.name}:" if ":" in part.name else absent
        is_like_uri = "@" in f"{part.name}{absent}{absent and part.types}"
        if is_like_uri or _SCHEME.match(part.pattern.strip()) or begins.lower().startswith("mongodb"):
            return True
    return False


def _names_files(where: str) -> bool:
    """Return whether a text names files, and not a folder or a URI."""
    if is_uri(where):
        return False
    parts = split_parts(where)
    if len(parts) != 1 or parts[0].name or parts[0].types or not parts[0].is_path:
        return True
    path = Path(parts[0].pattern)
    if lexists(path):
        return not path.is_dir()
    from mongo_tables.results.formats import is_readable  # the help of a command needs only the table

    return is_readable(path.name)


_FIXTURES: Final = SourceKind(
    form="FOLDER",
    meaning="such files in a folder, and fixture files FOLDER/COLLECTION/*.jsonl",
    short="a folder",
    give="the path of a folder (. for this one)",
    is_named=lambda where: not is_uri(where),
    opener="mongo_tables.results.file_source:open_fixtures",
)

KINDS: Final = (
    SourceKind(
        form="mongodb://HOST/DATABASE",
        meaning="a MongoDB deployment; nothing is ever written to it",
        short="a mongodb:// URI",
        give="mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE",
        is_named=re.compile(r"mongodb(\+srv)?://", re.IGNORECASE).match,
        opener="mongo_tables.results.mongodb:MongoSource",
    ),
    SourceKind(
        form="[NAME=]FILE[?COLUMN=TYPE],…",
        meaning="files of results, or patterns: JSON, JSON Lines, CSV, TSV, YAML, TOML, Parquet, also packed (.gz)",
        short="a file",
        give="the path of a file (bench.json), a pattern (runs=bench/*.csv)",
        is_named=_names_files,
        opener="mongo_tables.results.file_source:open_files",
    ),
    _FIXTURES,
)
"""Every kind of results source, in the order of the search. Any text that is not a URI can name a folder."""


def list_kinds(more: Iterable[tuple[str, str]] = ()) -> str:
    """Return the help on sources: a line for each kind, and for each form and meaning of ``more``."""
    meanings: dict[str, str] = {}
    for kind in KINDS:
        meanings[kind.form] = kind.meaning
    meanings.update(more)
    width = max(map(len, meanings))
    lines = []
    for form, meaning in meanings.items():
        lines.append(f"  {form:<{width}}   {meaning}")
    return "\n".join(lines)


def join_kinds() -> str:
    """Return the names of all kinds, joined with "or"."""
    *first, last = (kind.short for kind in KINDS)
    return f"{', '.join(first)} or {last}"


def open_source(where: str, limits: Limits | None = None) -> ResultsSource:
    """Open the source that ``where`` names, without connecting or reading.

    Raises ``ResultsError`` for a text that names no source.
    """
    where = where.strip()
    if not where:
        raise _unusable("an empty text names no results source")
    kind = _kind_of(where)
    if kind is None:  # The rest of the text may contain a password.
        scheme = _SCHEME.match(where)
        shown = f"{scheme[0].lower() if scheme else 'mongodb://'}***"
        raise _unusable(f"the results source {shown} is not {join_kinds()} that exists")
    module, function = kind.opener.split(":")
    source: ResultsSource = getattr(import_module(module), function)(where, limits)
    return source


def move_source(where: str, folder: Path, write: Callable[[Path], str]) -> str:
    """Return ``where``, whose paths are relative to ``folder``, for use in another place.

    ``write`` returns the text of a path in that place.
    """
    if is_uri(where, folder):
        return where
    parts = split_parts(where, folder)
    name, path, types = parts[0]
    is_path = lexists(folder / path) or not has_magic(path)
    if len(parts) == 1 and is_path and not name and not types:
        return write(folder / path)
    base = escape_magic(write(folder))
    moved = []
    for one in parts:  # A pathlib path would change patterns such as "?=/".
        pattern = one.pattern if Path(one.pattern).is_absolute() else f"{base}/{one.pattern}"
        moved.append(str(one._replace(pattern=pattern)))
    return ",".join(moved)


def is_fixture_folder(where: str) -> bool:
    """Return whether ``where`` names a folder of fixtures, into which ``pull`` can write."""
    return _kind_of(where.strip()) is _FIXTURES


def _kind_of(where: str) -> SourceKind | None:
    for kind in KINDS:
        if kind.is_named(where):
            return kind
    return None


def _unusable(message: str) -> ResultsError:
    return unusable(message, f"give {', or '.join(kind.give for kind in KINDS)}")
