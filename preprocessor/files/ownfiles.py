"""This program as it is installed: what is kept from one run to the next is right for the same program alone.

Of an installed package its list of files says what is in them, so that what was kept on one machine is of use on
another, as in a workflow. A checkout, and a package that was edited where it is, are known by the states of their
files.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from preprocessor.files.states import list_states, state_of

_PACKAGE: Final = Path(__file__).parents[1]
_LIST: Final = "mkdocs_mongo_tables-*.dist-info/RECORD"
"""The files of an installed package with their digests, which is written when all of them are there:
https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""
_LIBRARIES: Final = (
    "bson",
    "jsonschema",
    "markdown",
    "markdown_it",
    "pathspec",
    "pcre2",
    "pyarrow",
    "tzdata",
    "yaml",
)
"""Those that pages and results are read with."""


@cache
def sign_of_program() -> str:
    """A text that is another one for another version of this program, of Python, or of what pages are read with."""
    total = hashlib.sha256(sys.version.encode())
    for part in (*_list_own(), *_list_installed(), *_list_libraries()):
        total.update(f"{part}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _list_own() -> list[str]:
    """What tells the package from another one; what Python has compiled is no part of it."""
    states = sorted(list_states(str(_PACKAGE), leaves_out="__pycache__".__eq__))
    for listed in _PACKAGE.parent.glob(_LIST):
        installed = _last_change(state_of(listed.stat()))
        lines = [line for line in _read(listed).splitlines() if _is_own(line)]
        sizes = {name: size for name, _, size in (line.rsplit(",", 2) for line in lines)}
        here = {f"{_PACKAGE.name}/{name}": state.split()[0] for name, state in states}
        if here == sizes and all(_last_change(state) <= installed for _, state in states):
            return lines
    return [str(each) for each in states]


def _last_change(state: str) -> int:
    """When a file or its state was changed last: a copy may have the time of what it was copied from."""
    return max(map(int, state.split()[-2:]))


def _is_own(listed: str) -> bool:
    """Whether a line is that of a file of the package; the programs beside it have the path of Python in them."""
    is_below = listed.startswith(f"{_PACKAGE.name}/") and "/__pycache__/" not in listed
    return is_below and listed.count(",") > 1


def _list_installed() -> Iterator[str]:
    """The versions of all that is installed, and where what is none of an index was taken from."""
    for place in sys.path:
        try:
            names = sorted(entry.name for entry in os.scandir(place) if entry.name.endswith(".dist-info"))
        except OSError:
            continue
        yield from names
        yield from (_read(Path(place, name, "direct_url.json")) for name in names)


def _list_libraries() -> Iterator[str]:
    for name in _LIBRARIES:
        found = PathFinder.find_spec(name)
        if found is not None and found.origin:
            yield _read(Path(found.origin))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
