"""Which files of a repository hold results, the likeliest first: by what they hold and by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.results.likelyfiles import LikelyFile, has_telling_name, look_at
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mongo_tables.results.model import Rows

_DEEPEST: Final = 4
"""Folders within folders that are looked into."""
_MOST: Final = 20_000
"""Files that are looked at; in a folder with more, a person says which is meant."""
_LARGEST: Final = 64 * 2**20
"""Bytes of a file that is opened to see what is in it."""
_TRIED: Final = 20
"""Files that are opened, at most."""
_OTHERS: Final = re.compile(
    r"node_modules|site-packages|__pycache__|venv|env|dist|build|target|site|vendor|third[-_]party|_site",
    re.IGNORECASE,
)
"""Folders of what others wrote, or programs made."""


class FoundFiles(NamedTuple):
    """Files of results, the likeliest first.

    Of others whose names are as telling: why they cannot be read, and those that hold no two documents with numbers.
    """

    results: Sequence[LikelyFile]
    unreadable: Sequence[ResultsError]
    poor: Sequence[Path]


def find_result_files(folder: Path) -> FoundFiles:
    """The files below a folder that hold several documents with numbers in them.

    Tools' files come first, then those with a telling name, then those that are nearest.
    """
    found: list[LikelyFile] = []
    unreadable: list[ResultsError] = []
    poor: list[Path] = []
    for one in sorted(_look(folder), key=lambda one: _rank(one, folder))[:_TRIED]:
        is_meant = one.is_of_tool or _is_telling(one, folder)
        try:
            if _has_rows(one):
                found.append(one)
            elif is_meant:
                poor.append(one.path)
        except ResultsError as error:
            unreadable += [error] if is_meant else []
    return FoundFiles(found, unreadable, poor)


def _look(folder: Path) -> Iterator[LikelyFile]:
    for path in _walk(folder):
        if found := look_at(path):
            yield found


def _walk(folder: Path) -> Iterator[Path]:
    """The files below a folder, without those that nobody of this repository wrote."""
    seen = 0
    for place, folders, names in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if deep < _DEEPEST and not _is_of_others(here / name))
        for name in sorted(names):
            seen += 1
            if not name.startswith("."):
                yield here / name
        if seen > _MOST:
            return


def _is_of_others(folder: Path) -> bool:
    hidden = folder.name.startswith(".")
    return hidden or bool(_OTHERS.fullmatch(folder.name)) or (folder / "pyvenv.cfg").is_file()


def _rank(one: LikelyFile, folder: Path) -> tuple[bool, bool, int, str]:
    within = one.path.relative_to(folder)
    return not one.is_of_tool, not _is_telling(one, folder), len(within.parts), str(within)


def _is_telling(one: LikelyFile, folder: Path) -> bool:
    return has_telling_name(str(one.path.relative_to(folder)))


def _has_rows(one: LikelyFile) -> bool:
    """Whether the file has several documents, and numbers in them: settings are one document. A tool may have one.

    Raises ResultsError for a file that cannot be read.
    """
    if not 0 < one.path.stat().st_size <= _LARGEST:
        return False
    rows = _first_rows(one.path)
    numbers = (_has_number(value) for row in rows for name, value in row.items() if name != "_id")
    return (one.is_of_tool or len(rows) > 1) and any(numbers)


def _first_rows(path: Path) -> Rows:
    from mongo_tables.results.model import Query
    from mongo_tables.results.opening import open_source

    with closing(open_source(str(path))) as source:
        names = source.collections()
        return source.aggregate(Query(names[0], ({"$limit": 2},))) if names else []


def _has_number(value: object) -> bool:
    return is_number(value) or (isinstance(value, dict) and any(map(_has_number, value.values())))
