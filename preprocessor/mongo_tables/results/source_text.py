"""The text that names files as a results source: ``runs=bench/*.json, startup.csv?version=text``.

Parts stand between commas. A part is a path or a pattern (https://docs.python.org/3/library/glob.html). Before it may
stand the name of a collection, which has all its files then; behind it, as in a URI, the types of columns. A text that
is the path of something is that path alone, whatever signs are in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from os.path import lexists
from pathlib import Path
from typing import Final, NamedTuple

_COMMA: Final = r",(?![^\[\]]*\])"
"""A comma that is not in the brackets of a pattern."""
_PART: Final = r"(?s)(?:(?P<name>[^=/\\?*\[]+)=)?(?P<pattern>.*?)(?:\?(?P<types>[^?/\\]*=[^?/\\]*))?"
_MAGIC: Final = re.compile(r"([*?\[,])")
"""What is no letter of a name in a pattern, or would end it."""


class Part(NamedTuple):
    """One part: a path or a pattern, the collection of all its files ("": each its own), and the types of columns.

    The types are as they are written: ``version=text&day=date``.
    """

    name: str
    pattern: str
    types: str

    @property
    def is_path(self) -> bool:
        """Whether it is the path of one file or folder, which need not be there."""
        return not has_magic(self.pattern) or lexists(self.pattern)

    def __str__(self) -> str:
        """The part as it is written."""
        return f"{self.name and f'{self.name}='}{self.pattern}{self.types and f'?{self.types}'}"


def has_magic(pattern: str) -> bool:
    """Whether there are signs in it that stand for other ones."""
    return _MAGIC.search(pattern) is not None


def split_parts(where: str, folder: Path = Path()) -> list[Part]:
    """The parts of a text, at least one; no more where it is the path of something, as seen from ``folder``."""
    whole = Part("", where.strip(), "")
    if lexists(folder / whole.pattern):
        return [whole]
    found = (re.fullmatch(_PART, text.strip()) for text in re.split(_COMMA, where))
    parts = [Part(*((one[name] or "").strip() for name in Part._fields)) for one in found if one and one[0]]
    return parts or [whole]


def move_parts(where: str, folder: Path, write: Callable[[Path], str]) -> str:
    """The text as it is written elsewhere: its paths are relative to ``folder``, which ``write`` writes."""
    parts = split_parts(where, folder)
    if len(parts) == 1 and str(parts[0]) == parts[0].pattern:
        pattern = parts[0].pattern
        if lexists(folder / pattern) or not has_magic(pattern):
            return write(folder / pattern)
    base = _MAGIC.sub(r"[\1]", write(folder))
    return ",".join(str(one._replace(pattern=_move(one.pattern, base))) for one in parts)


def _move(pattern: str, base: str) -> str:
    """The pattern as it is written elsewhere; not by pathlib, which drops the slash of "?=/" and leaves types."""
    return pattern if Path(pattern).is_absolute() else f"{base}/{pattern}"
