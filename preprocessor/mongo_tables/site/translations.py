"""Pages that are one page in several languages, by their paths."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

_LANGUAGE: Final = r"[a-z]{2}(?:-[A-Za-z]{4})?(?:[-_][A-Z]{2})?"
_FOLDER: Final = re.compile(_LANGUAGE)
_SUFFIX: Final = rf"\.{_LANGUAGE}$"


def are_translations(one: str, other: str) -> bool:
    """Whether two paths differ in their language alone: ``index.md`` and ``index.de.md``, or in ``en/`` and ``de/``."""
    if one == other:
        return False
    first, second = PurePosixPath(one), PurePosixPath(other)
    if first.parent == second.parent:
        return (_without_language(first.stem), first.suffix) == (
            _without_language(second.stem),
            second.suffix,
        )
    pairs = zip(first.parts, second.parts, strict=False)
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    same_depth = len(first.parts) == len(second.parts)
    return same_depth and len(differing) == 1 and all(map(_FOLDER.fullmatch, differing[0]))


def _without_language(stem: str) -> str:
    return re.sub(_SUFFIX, "", stem)
