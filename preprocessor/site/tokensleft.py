"""The last look at a built site: no file of it may hold the place of a figure instead of the figure."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from preprocessor.findings import Finding

# Whether it stands in HTML, in XML or JSON, or in a text in which its brackets are escaped.
_TOKEN: Final = re.compile(rb"mongo-tables:[0-9a-f]{16}-\d+")
_BEGINNING: Final = b"mongo-tables:"
_HINT: Final = "a plugin took the page too early: list mongo-tables before the plugin that wrote this file"


def names_in(text: str) -> set[bytes]:
    """What the tokens in a text are called, in whatever notation they stand."""
    return set(_TOKEN.findall(text.encode("utf-8", "surrogatepass")))


def tokens_left(site: Path, without: Collection[str], given: Set[bytes]) -> list[Finding]:
    """One finding for each file of the site with a token in it.

    Files ``without`` any need no look: those copied as they are, and the rows behind figures. Only tokens that were
    ``given`` to a page are any: a result document may hold a text that looks like one.
    """
    if not given:
        return []
    left = [file for file in _files(site) if file not in without and _has_any(_content(file), given)]
    return [_finding(Path(file)) for file in left]


def _finding(file: Path) -> Finding:
    from preprocessor.rules import finding
    from preprocessor.site.shownpath import shown

    return finding("MT170", shown(file), (0, 0), "the place of a figure is left in this file", _HINT)


def _has_any(content: bytes, given: Set[bytes]) -> bool:
    # Looking for a text is much cheaper than for a pattern, and hardly a file has it.
    return _BEGINNING in content and not given.isdisjoint(_TOKEN.findall(content))


def _files(site: Path) -> Iterator[str]:
    """Every file but those that MkDocs leaves alone when it cleans the folder, such as a Git repository."""
    for folder, folders, names in os.walk(site):
        top = folder == str(site)
        folders[:] = sorted(name for name in folders if not (top and name.startswith(".")))
        yield from (os.path.join(folder, name) for name in sorted(names))  # noqa: PTH118 (thousands of them)


def _content(file: str) -> bytes:
    try:
        with open(file, "rb", buffering=0) as opened:  # noqa: PTH123
            return opened.read()
    except OSError:  # Gone again, or no plain file: nothing that could be published.
        return b""
