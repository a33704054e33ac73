"""The files that a page includes when the site is built: with pymdownx.snippets, include-markdown or macros.

Only their names are read. The plugins decide which part of a file they include, and under which conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from os.path import normpath
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.directives.keywords import may_have_comment

_SNIPPET: Final = r"""(?m)^[ \t]*-+8<-+[ \t]+(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote)[ \t]*$"""
_SNIPPETS: Final = r"(?ms)^[ \t]*-+8<-+[ \t]*$\n(?P<names>.*?)^[ \t]*-+8<-+[ \t]*$"
# The length is limited, because a search for the end of many unclosed tags would take quadratic time.
_TAG: Final = (
    r"""(?s)\{%-?\s*include(?:-markdown)?\s+(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote).{0,2000}?%\}"""
)
_PART: Final = r":[\w,:-]*$"
"""The end of a snippet's name, which selects lines or a section of its file."""


class Inclusions(NamedTuple):
    """The files that a page includes, directly or through others.

    Attributes:
        unknown: The names for which there is no file.
        rest: The text of the page without the includes of existing files.
        missing: The paths at which the files of the unknown names would be.
    """

    files: tuple[Path, ...]
    unknown: tuple[str, ...]
    rest: str
    missing: tuple[Path, ...] = ()


def _read(file: Path) -> str:
    """Return the text of a file, or "" if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return ""


def may_include(text: str) -> bool:
    """Return whether a page may include files. This is a quick test."""
    return "8<-" in text or "{%" in text


def inclusions(page: Path, text: str, folders: Sequence[Path], read: Callable[[Path], str]) -> Inclusions:
    """Return the files that a page includes. Each name is searched in the folder of the page, then in ``folders``.

    ``read`` returns the text of a file.
    """
    found: dict[Path, None] = {}
    unknown: list[str] = []
    missing: list[Path] = []
    rest = _without_inclusions(text, page, folders)
    waiting = [(page, text)]
    while waiting:
        place, content = waiting.pop(0)
        for name in _names(content):
            files = _files(name, [place.parent, *folders])
            if not files:
                unknown.append(name)
                if "\0" not in name:  # No file name contains NUL.
                    missing += [
                        Path(normpath(folder / written))
                        for written in _spell(name)
                        for folder in (place.parent, *folders)
                    ]
            new = [file for file in files if file not in found and file.resolve() != page.resolve()]
            found |= dict.fromkeys(new)
            waiting += [(file, read(file)) for file in new]
    return Inclusions(tuple(found), tuple(dict.fromkeys(unknown)), rest, tuple(dict.fromkeys(missing)))


def read_with_comments(page: Path, text: str, folders: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return the included files that may have our comments, with their texts."""
    files = inclusions(page, text, folders, _read).files if may_include(text) else ()
    return [(file, content) for file in files if may_have_comment(content := _read(file))]


def _names(text: str) -> Iterator[str]:
    if not may_include(text):
        return
    for match in re.finditer(_TAG, text):
        yield match["name"]
    for match in re.finditer(_SNIPPET, text):
        yield match["name"]
    for match in re.finditer(_SNIPPETS, text):
        yield from (name for line in match["names"].splitlines() if (name := line.strip()) and name[0] != ";")


def _without_inclusions(text: str, page: Path, folders: Sequence[Path]) -> str:
    """Return the text without the includes of existing files."""
    places = [page.parent, *folders]

    def remove_found(match: re.Match[str]) -> str:
        return "" if all(_files(name, places) for name in _names(match[0])) else match[0]

    for pattern in (_TAG, _SNIPPETS, _SNIPPET):
        text = re.sub(pattern, remove_found, text)
    return text


def _files(name: str, folders: Sequence[Path]) -> list[Path]:
    """Return the files with a name or pattern in the first folder that has any."""
    for written in _spell(name):
        for folder in folders:
            if files := _matching(folder, written):
                return files
    return []


def _spell(name: str) -> Iterable[str]:
    """Return a name as written, and without the end that selects a part of the file."""
    return dict.fromkeys((name, re.sub(_PART, "", name)))


def _matching(folder: Path, name: str) -> list[Path]:
    try:
        if "*" in name and not Path(name).is_absolute():
            return sorted(Path(normpath(file)) for file in folder.glob(name) if file.is_file())
        file = Path(normpath(folder / name))
        return [file] if file.is_file() else []
    except (OSError, ValueError, NotImplementedError):
        return []
