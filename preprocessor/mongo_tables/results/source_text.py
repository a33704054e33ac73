"""Text that names files as a results source: ``runs=bench/*.json, startup.csv?version=text``.

Commas separate the parts. A part is a path or a pattern (https://docs.python.org/3/library/glob.html). An optional
prefix is the name of a collection, which gets all of its files; an optional suffix, as in a URI, has the types of
columns. A text that is an existing path is only that path, whatever characters it has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from os.path import lexists
from pathlib import Path
from typing import Final, NamedTuple

_COMMA: Final = r",(?![^\[\]]*\])"
"""A comma outside the brackets of a pattern."""
_PART: Final = r"(?s)(?:(?P<name>[^=/\\?*\[]+)=)?(?P<pattern>.*?)(?:\?(?P<types>[^?/\\]*=[^?/\\]*))?"
_MAGIC: Final = re.compile(r"([*?\[,])")
"""Characters that have a meaning in a pattern, or would end it."""


class SourcePart(NamedTuple):
    """One part: a path or a pattern, the collection of all its files ("": each its own), and the types of columns.

    The types are the source text: ``version=text&day=date``.
    """

    name: str
    pattern: str
    types: str

    @property
    def is_path(self) -> bool:
        """Whether the part is the path of one file or folder, existing or not."""
        return not has_magic(self.pattern) or lexists(self.pattern)

    def __str__(self) -> str:
        """Return the part as source text."""
        return f"{self.name and f'{self.name}='}{self.pattern}{self.types and f'?{self.types}'}"


def has_magic(pattern: str) -> bool:
    """Return whether the text has wildcards."""
    return _MAGIC.search(pattern) is not None


def split_parts(where: str, folder: Path = Path()) -> list[SourcePart]:
    """Return the parts of a text, at least one; exactly one if it is an existing path relative to ``folder``.

    Example:
        >>> [part.pattern for part in split_parts("runs=bench/*.json, startup.csv?version=text")]
        ['bench/*.json', 'startup.csv']
    """
    whole = SourcePart("", where.strip(), "")
    if lexists(folder / whole.pattern):
        return [whole]
    found = (re.fullmatch(_PART, text.strip()) for text in re.split(_COMMA, where))
    parts = [
        SourcePart(*((one[name] or "").strip() for name in SourcePart._fields))
        for one in found
        if one and one[0]
    ]
    return parts or [whole]


def move_parts(where: str, folder: Path, write: Callable[[Path], str]) -> str:
    """Return the text for another place: its paths are relative to ``folder``, and ``write`` writes them."""
    parts = split_parts(where, folder)
    if len(parts) == 1 and str(parts[0]) == parts[0].pattern:
        pattern = parts[0].pattern
        if lexists(folder / pattern) or not has_magic(pattern):
            return write(folder / pattern)
    base = _MAGIC.sub(r"[\1]", write(folder))
    return ",".join(str(one._replace(pattern=_move(one.pattern, base))) for one in parts)


def _move(pattern: str, base: str) -> str:
    """Return the pattern for another place. Pathlib would drop the slash of "?=/" and keep the types."""
    return pattern if Path(pattern).is_absolute() else f"{base}/{pattern}"
