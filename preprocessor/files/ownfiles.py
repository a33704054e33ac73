"""This program as it is installed: what is kept from one run to the next is right for the same program alone."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from preprocessor.files.states import list_states, state_of

_PACKAGE: Final = Path(__file__).parents[1]
_LIBRARIES: Final = ("bson", "markdown_it")
"""Those that pages and results are read with."""


def sign_of_program() -> str:
    """A text that is another one for another version of this program, of Python, or of what pages are read with."""
    total = hashlib.sha256(sys.version.encode())
    for part in (*_list_own(), *_list_libraries()):
        total.update(f"{part}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _list_own() -> list[tuple[str, str]]:
    """The files of the package with their states, but for what Python has compiled."""
    return sorted(each for each in list_states(str(_PACKAGE)) if "__pycache__/" not in each[0])


def _list_libraries() -> Iterator[tuple[str, str]]:
    for name in _LIBRARIES:
        found = PathFinder.find_spec(name)
        if found is not None and found.origin:
            yield found.origin, state_of(Path(found.origin).stat())
