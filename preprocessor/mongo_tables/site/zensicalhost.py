"""What an extension that Zensical calls page by page has to look after by itself.

Zensical is a program of its own kind, which hands each page to Python on one thread. Three things follow. It keeps what
a page was turned into under ``.cache``, and does not ask again while the page and the files under ``watch`` are the
same: a page whose results changed, or one with the fault box of a preview, would be published from there. What is
raised to it ends the program, a preview as well, with a traceback around the message. And it copies every file of the
docs folder to the site.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from mongo_tables.comments.keywords import LIVE
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.rules import finding

_READ: Final = 128
"""Levels of JSON that Zensical reads; it writes any number."""

_JSON_FEED: Final = b"jsonfeed.org/version"
_COMMENT: Final = LIVE.removeprefix("<").encode()
_LIVE: Final = {
    ".xml": re.compile(rb"(?:<|&lt;)" + _COMMENT),
    ".json": re.compile(rb"(?:<|\\u003[cC])" + _COMMENT),
}


def serving() -> bool:
    """Whether this process is a preview, ``zensical serve``."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "serve"


def ask_again(front_matter: dict[str, Any], contents: list[dict[str, Any]]) -> None:
    """Have Zensical ask for a page again at each build, given its front matter and its table of contents.

    There is no word for that. But what Zensical cannot read of what it kept, it asks for again; and it keeps a page as
    JSON, which may be too deep for it. Such an entry is of no use from when it is written, however the process ends.
    Its theme shows no headings beside the one that the page begins with, so there is the place for what is too deep.
    Front matter does for any page and, with no ``contents`` given, for any theme; but each entry of each page's
    navigation costs time for it.
    """
    nested: list[Any] = []
    first = contents[0] if contents else {}
    if first.get("level") == 1:
        unseen = {**first, "id": "", "name": "", "html": "", "data-toc-label": ""}
        for _ in range(_READ // 2):
            nested = [{**unseen, "children": nested}]
        contents += nested
    else:
        for _ in range(_READ):
            nested = [nested]
        front_matter["mongo-tables: ask again"] = nested


def has_own_theme(config: dict[str, Any], root: Path) -> bool:
    """Whether a site with this configuration, which is in ``root``, shows tables of contents as Zensical's theme does.

    It may have templates of its own beside that, as long as none speaks of them.
    """
    theme = config.get("theme") or {}
    own = theme.get("custom_dir")
    return theme.get("name") in (None, "material", "zensical") and not (own and _shows_contents(root / own))


@cache
def _shows_contents(templates: Path) -> bool:
    """Whether a template in a folder may show the table of contents of a page."""
    files = templates.rglob("*.html")
    return any(b"toc" in file.read_bytes() for file in files if file.is_file())


def show_error_alone(error: Exception) -> Exception:
    """Give the error to raise, and have only its own lines shown of all that Zensical prints as it ends."""
    _collect_messages(type(error).__name__).append(str(error))
    return error


@cache
def _collect_messages(name: str) -> list[str]:
    """The messages of errors of a name, the last of which is shown in the place of a traceback."""
    messages: list[str] = []
    usual: Callable[..., None] = sys.excepthook

    def show(kind: type[BaseException], raised: BaseException, trace: object) -> None:
        if messages and name in str(raised):
            print(messages[-1], file=sys.stderr)
        else:
            usual(kind, raised, trace)

    sys.excepthook = show
    return messages


@cache
def tell_unwatched(paths: tuple[str, ...]) -> None:
    """Say once which paths a preview does not follow: what is saved there shows when a page is saved."""
    if paths:
        listed = " and ".join(f"`{path}`" for path in paths)
        print(f"mongo-tables: list {listed} under `watch` for this preview to follow them", file=sys.stderr)


@cache
def keep_out_of(site: Path, folder: Path) -> None:
    """Take copies of the JSON files in ``folder`` out of the site when the process ends."""
    atexit.register(_take_out, site / folder.name, folder)


def _take_out(copies: Path, originals: Path) -> None:
    for copy in list(copies.glob("*.json")):
        original = originals / copy.name
        if original.is_file() and original.read_bytes() == copy.read_bytes():
            copy.unlink()
    if copies.is_dir() and not any(copies.iterdir()):
        copies.rmdir()


@cache
def look_through_feeds(site: Path) -> None:
    """When the process ends, say which feeds of the site have comments in the place of figures, and fail if one has."""
    if not serving():
        atexit.register(_fail_for, site)


def _fail_for(site: Path) -> None:
    feeds = [file for file in sorted(site.rglob("*")) if file.suffix in _LIVE and _is_unmade(file)]
    if not feeds:
        return
    from mongo_tables.pages.faultboxes import line_of

    hint = "Zensical makes feeds from Markdown: give the posts a `description`, or leave the plugin rss out"
    for file in feeds:
        one = finding(
            "MT170", shorten_path(file), (0, 0), "a feed has comments in the place of figures", hint
        )
        print(line_of(one), file=sys.stderr)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    # Zensical has ended well; at this point there is no other way left to say that the site must not be published.
    # What was registered before this is not run; of ours it is the first, by ``PagePlace.look_after``.
    os._exit(1)


def _is_unmade(file: Path) -> bool:
    """Whether a feed has a comment outside of code samples, whose brackets are escaped once more."""
    content = file.read_bytes()
    return (file.suffix == ".xml" or _JSON_FEED in content) and bool(_LIVE[file.suffix].search(content))
