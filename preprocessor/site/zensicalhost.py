"""What an extension that Zensical calls page by page has to look after by itself.

Zensical is a program of its own kind, which hands each page to Python on one thread. Four things follow. It keeps what
a page was turned into under ``.cache``, and does not ask again while the page and the files under ``watch`` are the
same: a page whose results changed, or one with the fault box of a preview, would be published from there. What is
raised to it ends the program, a preview as well, with a traceback around the message. And it copies every file of the
docs folder to the site.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Final

from preprocessor.comments.keywords import LIVE
from preprocessor.files.text import shorten_path
from preprocessor.findings.rules import finding

_ENTRY: Final = re.compile(rb'\{"data":\{"origin":\{"Source":("(?:[^"\\]|\\.)*")\}')
_LONGEST_HEAD: Final = 4096
_PAUSES: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds between two looks for the entry of a page that was handed back."""

_JSON_FEED: Final = b"jsonfeed.org/version"
_COMMENT: Final = LIVE.removeprefix("<").encode()
_LIVE: Final = {
    ".xml": re.compile(rb"(?:<|&lt;)" + _COMMENT),
    ".json": re.compile(rb"(?:<|\\u003[cC])" + _COMMENT),
}


def serving() -> bool:
    """Whether this process is a preview, ``zensical serve``."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "serve"


def forget(root: Path, page: str) -> None:
    """Have Zensical, whose configuration file is in ``root``, ask for the page again at its next build.

    The entry is written once the page is back in Zensical's hands: a thread looks for it, and the end of the process
    once more.
    """
    pages, changed = _start_remover(root / ".cache")
    pages.add(page)
    changed.set()


@cache
def _start_remover(folder: Path) -> tuple[set[str], Event]:
    """Start removing cache entries in the background: gives the pages to remove, and the event to wake it."""
    pages, changed = set[str](), Event()
    Thread(target=_remove_as_they_come, args=(folder, pages, changed), daemon=True).start()
    atexit.register(_remove, folder, pages)
    return pages, changed


def _remove_as_they_come(folder: Path, pages: set[str], changed: Event) -> None:
    while changed.wait():
        changed.clear()
        for pause in _PAUSES:
            if changed.wait(pause):
                break
            _remove(folder, pages)


def _remove(folder: Path, pages: set[str]) -> None:
    for file, page in _entries(folder):
        if page in pages:
            file.unlink(missing_ok=True)


def _entries(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files that keep what a page was turned into, and the page of each."""
    for file in list(folder.iterdir()) if folder.is_dir() else ():
        try:
            with file.open("rb") as opened:
                found = _ENTRY.match(opened.read(_LONGEST_HEAD))
        except OSError:
            continue
        if found:
            yield file, json.loads(found[1])


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
    from preprocessor.pages.faultboxes import line_of

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
    os._exit(1)


def _is_unmade(file: Path) -> bool:
    """Whether a feed has a comment outside of code samples, whose brackets are escaped once more."""
    content = file.read_bytes()
    return (file.suffix == ".xml" or _JSON_FEED in content) and bool(_LIVE[file.suffix].search(content))
