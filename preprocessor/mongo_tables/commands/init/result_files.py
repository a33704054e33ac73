"""The files of a repository that hold results, the likeliest first: by their content and their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mongo_tables.aggregation.values import is_number
from mongo_tables.results.likely_files import LikelyFile, has_telling_name, look_at
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.opening import open_source

_DEEPEST: Final = 4
"""Folders within folders that are looked into."""
_MOST: Final = 20_000
"""Files that are looked at; in a larger folder a person names the file."""
_LARGEST: Final = 64 * 2**20
"""Bytes of a file that is opened to see its content."""
_TRIED: Final = 20
"""Files that are opened, at most."""
_OTHERS: Final = re.compile(
    r"node_modules|site-packages|__pycache__|venv|env|dist|build|target|site|vendor|third[-_]party|_site",
    re.IGNORECASE,
)
"""Folders of what others wrote, or programs made."""


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Files of results, the likeliest first.

    Of others whose names are as telling: why they cannot be read, and those that hold no two documents with numbers.
    """

    results: list[LikelyFile] = field(default_factory=list)
    unreadable: list[ResultsError] = field(default_factory=list)
    poor: list[Path] = field(default_factory=list)


def find_result_files(folder: Path) -> FoundFiles:
    """Find the files below a folder that hold several documents with numbers.

    Files of tools come first, then those with a telling name, then those that are nearest.
    """

    def rank(one: LikelyFile) -> tuple[bool, bool, int, str]:
        within = one.path.relative_to(folder)
        return not one.is_of_tool, not has_telling_name(str(within)), len(within.parts), str(within)

    found = FoundFiles()
    likely = [one for path in _walk(folder) if (one := look_at(path))]
    for one in sorted(likely, key=rank)[:_TRIED]:
        of_no_tool, of_no_name, *_ = rank(one)
        is_meant = not (of_no_tool and of_no_name)
        try:
            if _has_rows(one):
                found.results.append(one)
            elif is_meant:
                found.poor.append(one.path)
        except ResultsError as error:
            if is_meant:
                found.unreadable.append(error)
    return found


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, without those that are not written in this repository."""
    seen = 0
    for place, folders, names in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if deep < _DEEPEST and not _is_of_others(here / name))
        seen += len(names)
        yield from (here / name for name in sorted(names) if not name.startswith("."))
        if seen > _MOST:
            return


def _is_of_others(folder: Path) -> bool:
    hidden = folder.name.startswith(".")
    return hidden or bool(_OTHERS.fullmatch(folder.name)) or (folder / "pyvenv.cfg").is_file()


def _has_rows(one: LikelyFile) -> bool:
    """Tell whether the file has several documents, and numbers in them: settings are one document. A tool may have one.

    Raises ResultsError for a file that cannot be read.
    """
    if not 0 < one.path.stat().st_size <= _LARGEST:
        return False
    with closing(open_source(str(one.path))) as source:
        names = source.collections()
        rows = source.aggregate(Query(names[0], ({"$limit": 2},))) if names else []
    numbers = (_has_number(value) for row in rows for name, value in row.items() if name != "_id")
    return (one.is_of_tool or len(rows) > 1) and any(numbers)


def _has_number(value: object) -> bool:
    return is_number(value) or (isinstance(value, dict) and any(map(_has_number, value.values())))
