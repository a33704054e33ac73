"""This program as it is installed: what is kept from one run to the next is right for the same program alone.

It is known by the bytes of its files, so that what was kept on one machine is of use on another, as in a workflow. To
read them all takes longer than many a check. So their digest is kept under the states of the files, and they are read
when one has another state. It is believed as other copies are (``results.bsoncache``).
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from mongo_tables.files.states import is_settled, list_states
from mongo_tables.results import bsoncache, cachefolder

_PACKAGE: Final = Path(__file__).parents[1]
_FORMAT: Final = "own files 1"
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
    total = hashlib.sha256(sys.version.encode() + _digest_of_own())
    for part in (*_list_installed(), *_list_libraries()):
        total.update(f"{part}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _digest_of_own() -> bytes:
    """What tells the package from another one; what Python has compiled is no part of it.

    Where nothing is kept, or a file cannot be read, the states of its files do. Of a file that changed a moment ago
    the state does not tell whether it will change again.
    """
    now = time.time_ns()
    states = sorted(list_states(str(_PACKAGE), follows=True, leaves_out="__pycache__".__eq__))
    seen = f"{_FORMAT} {states}".encode("utf-8", "surrogateescape")
    folder = cachefolder.folder_for(_PACKAGE)
    if folder is None:
        return seen
    key = bsoncache.key_of(seen)
    kept = bsoncache.get(folder, key)
    if kept is not None:
        return kept
    try:
        digest = _hash_files(name for name, _ in states)
    except OSError:
        return seen
    if all(is_settled(state, now) for _, state in states):
        bsoncache.put(folder, {key: digest})
    return digest


def _hash_files(names: Iterable[str]) -> bytes:
    """A digest of files of the package, with their names. Raises ``OSError`` where one cannot be read."""
    total = hashlib.sha256()
    for name in names:
        content = (_PACKAGE / name).read_bytes()
        total.update(f"{name}\0{len(content)}\n".encode("utf-8", "surrogateescape") + content)
    return total.digest()


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
