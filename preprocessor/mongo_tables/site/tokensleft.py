"""The last look at a built site: no file of it may hold a placeholder or a comment instead of a figure."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.comments.keywords import PREFIXES
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.rules import finding
from mongo_tables.pages.placeholders import take_out_live_comments

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding

# Whether it stands in HTML, in XML or JSON, or in a text in which its brackets are escaped.
NAME: Final = re.compile(rb"mongo-tables:[0-9a-f]{16}-\d+")
_BEGINNING: Final = b"mongo-tables:"
_COMMENT_HINT: Final = "write it in a page: hooks behind the plugin, themes and copied HTML make no figures"
_HINT: Final = "a plugin took the page too early: list mongo-tables before the plugin that wrote this file"


def names_in(text: str) -> set[bytes]:
    """The names of the tokens in a text, in any notation."""
    return set(NAME.findall(text.encode("utf-8", "surrogatepass")))


def places_left(site: Path, without: Collection[str], given: Set[bytes]) -> list[Finding]:
    """One finding for each file of the site with a token in it, or with a comment that nobody has read.

    Files ``without`` any token need no look for one: those copied as they are, and the rows behind figures. Only tokens
    that were ``given`` to a page are any: a result document may hold a text that looks like one. A comment may come
    into HTML by a hook, a theme or a file that is copied.
    """
    found = []
    for file in _files(site):
        for_tokens, for_comments = bool(given) and file not in without, file.endswith(".html")
        content = _content(file) if for_tokens or for_comments else b""
        if for_tokens and _has_any(content, given):
            found.append(_finding(file, "the place of a figure is left in this file", _HINT))
        elif for_comments and (keyword := _live_keyword(content)):
            found.append(_finding(file, f"nobody has read a {keyword} comment in this file", _COMMENT_HINT))
    return found


def _finding(file: str, message: str, hint: str) -> Finding:
    return finding("MT170", shorten_path(Path(file)), (0, 0), message, hint)


def _live_keyword(content: bytes) -> str:
    """The keyword of the first comment that ought to be a figure; nothing where there is none."""
    if not any(prefix.encode() in content for prefix in PREFIXES):
        return ""
    _, live = take_out_live_comments(content.decode("utf-8", "replace"))
    return live[0].keyword if live else ""


def _has_any(content: bytes, given: Set[bytes]) -> bool:
    # Looking for a text is much cheaper than for a pattern, and hardly a file has it.
    return _BEGINNING in content and not given.isdisjoint(NAME.findall(content))


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
