"""The one pass over a written site: no file of it may hold a token or a comment in the place of a figure."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.keywords import PREFIXES
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.rules import finding
from mongo_tables.hosts.downloads import FOLDER
from mongo_tables.hosts.tokens import names_left, swap_json, swap_markdown, swap_markup
from mongo_tables.site.placeholders import take_out_live_comments

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.hosts.tokens import Figures

# The characters of names in UTF-8, JSON, XML and addresses.
_MARKS: Final = re.compile(
    rb"\xee\xa6[\xa0-\xb1]|\\u[eE]9[aAbB]|#x0*[eE]9[aAbB]|#598[0-2]\d|%[eE][eE]%[aA]6%[aAbB]"
)
_SWAPS: Final = {
    **dict.fromkeys((".html", ".htm", ".xhtml", ".xml", ".rss", ".atom", ".svg"), swap_markup),
    **dict.fromkeys((".json", ".js", ".webmanifest"), swap_json),
}
_COMMENT_HINT: Final = "write it in a page: hooks behind the plugin, themes and copied HTML make no figures"
_HINT: Final = "the plugin that wrote this file has put it in a notation that is not known here"


def swap_left(
    site: Path, without: Collection[str], figures_for: Callable[[str, str], Figures]
) -> list[Finding]:
    """Swap the tokens that other plugins took along; one finding for each file where one is left, or a comment.

    Files ``without`` any token need no look for one: those copied as they are. ``figures_for`` gives the figures for a
    file, by its path in the site and its text.
    """
    found = []
    for file in _files(site):
        is_html = file.endswith((".html", ".htm"))
        content = _content(file) if file not in without or is_html else b""
        if file not in without and _MARKS.search(content):
            text = content.decode("utf-8", "surrogateescape")
            path = Path(file)
            figures = figures_for(path.relative_to(site).as_posix(), text)
            after = (
                _SWAPS.get(path.suffix.lower(), swap_markdown)(text, figures) if "\0" not in text else text
            )
            if after != text:
                content = after.encode("utf-8", "surrogateescape")
                path.write_bytes(content)
            if names_left(after, figures):
                found.append(_finding(file, "the place of a figure is left in this file", _HINT))
        if is_html and (keyword := _live_keyword(content)):
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


def _files(site: Path) -> Iterator[str]:
    """Every file but our own rows, and those that MkDocs leaves alone when it cleans the folder (a Git repository)."""
    for folder, folders, names in os.walk(site):
        top = folder == str(site)
        folders[:] = sorted(name for name in folders if not (top and name.startswith(".")))
        rows = folder == f"{site}/{FOLDER}" or folder.startswith(f"{site}/{FOLDER}/")
        for name in sorted(names):
            if not (rows and name.endswith((".csv", ".json"))):
                yield f"{folder}/{name}"


def _content(file: str) -> bytes:
    try:
        with open(file, "rb", buffering=0) as opened:  # noqa: PTH123 (thousands of them)
            return opened.read()
    except OSError:  # Gone again, or no plain file: nothing that could be published.
        return b""
