"""Plain files on disk: which there are, to which collection each belongs, and which are there and not read.

A file's collection is its name without the ending, or the one that its author names for all files of a part.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from mongo_tables.results.formats import FORMATS, HEAD, find_format, is_plain, may_be_read
from mongo_tables.results.formats.model import TYPES, SourceFile, stem_of
from mongo_tables.results.model import ResultsError
from mongo_tables.results.sourcetext import Part, has_magic

_ENDINGS: Final = ", ".join(suffix for one in FORMATS if one.recognise is None for suffix in one.suffixes)
_NAMES_HINT: Final = (
    f"name a file ({_ENDINGS}, most of them also packed: .gz), a pattern of such, or a folder"
)


class PlainFile(NamedTuple):
    """A file of a collection, and the types of its columns; links may not lead out of the folder ``within``.

    ``name`` tells it from the other files of its collection; "" where there cannot be any.
    """

    path: Path
    within: Path
    name: str
    types: Mapping[str, str]


class PlainCollection(NamedTuple):
    """The files of a collection, in their order. ``is_meant``: their author put them together."""

    files: tuple[PlainFile, ...]
    is_meant: bool


class Found(NamedTuple):
    """The collections there are, by their names, and the files that are there and not read."""

    collections: Mapping[str, PlainCollection]
    unread: tuple[Path, ...]


def find_files(parts: Sequence[Part]) -> Found:
    """What the parts name on disk. Raises ``ResultsError`` for a part that names nothing."""
    found: dict[str, dict[Path, PlainFile]] = {}
    own: set[str] = set()
    there: set[Path] = set()
    for part in parts:
        paths = _list_paths(part)
        there.update(paths.others)
        for path in paths.read:
            name = part.name or stem_of(path.name)
            found.setdefault(name, {})[path] = _file_of(part, path, paths.folder)
            own.update([] if part.name else [name])
    collections = {
        name: PlainCollection(_with_names([*found[name].values()]), name not in own) for name in sorted(found)
    }
    read = {file.path for one in collections.values() for file in one.files}
    return Found(collections, tuple(sorted(there - read)))


def _file_of(part: Part, path: Path, folder: Path) -> PlainFile:
    alone = part.is_path and path == Path(part.pattern)
    name = path.relative_to(folder).as_posix() if part.name and not alone else ""
    return PlainFile(path, folder, name, read_types(part.types))


def _with_names(files: list[PlainFile]) -> tuple[PlainFile, ...]:
    """The files, each with a name of its own where they are several."""
    if len(files) == 1:
        return tuple(files)
    return tuple(file if file.name else file._replace(name=file.path.as_posix()) for file in files)


class _Paths(NamedTuple):
    """The files of a part that are read, others that are there, and the folder in which all of them are."""

    folder: Path
    read: Sequence[Path]
    others: Set[Path] = frozenset()


def _list_paths(part: Part) -> _Paths:
    path = Path(part.pattern)
    if not part.pattern:
        raise ResultsError(f"`{part}` names no file", hint=_NAMES_HINT, environment=True)
    if not part.is_path:
        return _match(part.pattern)
    if path.is_dir():
        return _list_folder(path)
    if not path.exists() and not path.is_symlink():
        raise ResultsError(f"there is no file {part.pattern}", hint=_NAMES_HINT, environment=True)
    return _Paths(path.parent, [path])


def _list_folder(folder: Path) -> _Paths:
    """The plain files in a folder; of others those that may hold data."""
    from mongo_tables.results.fixturefiles import (  # a file that is named needs neither
        is_like_data,
        list_files,
    )

    files = sorted(list_files(folder), key=lambda path: path.name)
    read = [path for path in files if is_plain(path.name) or (may_be_read(path.name) and _is_known(path))]
    others = {path for path in files if may_be_read(path.name) or is_like_data(path.name)}
    return _Paths(folder, read, others.difference(read))


def _match(pattern: str) -> _Paths:
    """The files that a pattern names. Raises ``ResultsError`` where there are none."""
    from glob import iglob  # pathlib's own takes hidden files, too

    from mongo_tables.results.fixturefiles import refuse_broken_links

    *above, _ = Path(pattern).parts
    folder = Path(*takewhile(lambda part: not has_magic(part), above))
    found = sorted(path for path in map(Path, iglob(pattern, recursive=True)) if not path.is_dir())  # noqa: PTH207
    if not found:
        raise ResultsError(f"no file is named like {pattern}", hint=_NAMES_HINT, environment=True)
    refuse_broken_links(found)
    read = [path for path in found if is_plain(path.name) or _is_known(path)]
    return _Paths(folder, read, frozenset(found).difference(read))


def _is_known(path: Path) -> bool:
    """Whether the first bytes of a file show a format that is read."""
    try:
        return path.is_file() and find_format(path.name, SourceFile(path).head(HEAD)) is not None
    except OSError:
        return False


def read_types(text: str) -> Mapping[str, str]:
    """The types of columns that ``version=text&day=date`` states. Raises ``ResultsError`` for one that is none."""
    pairs = (pair.partition("=") for pair in text.split("&") if pair)
    types = {unquote(name): kind for name, _, kind in pairs}
    for name, kind in types.items():
        if kind not in TYPES:
            hint = f"the types of columns are {', '.join(TYPES[:-1])} and {TYPES[-1]}"
            raise ResultsError(f"`{name}` cannot be of the type `{kind}`", hint=hint, environment=True)
    return types
