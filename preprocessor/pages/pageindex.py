"""Which pages of a folder may name a table, without reading all of them.

Whoever looks at one page wants to know which others have its tables, or speak of them. Of a site of many pages an index
is kept: for each page the names that stand in it as the id of a table, or as the table that a comment quotes. It only
spares reading: pages that are found by it are read as they are.

A page is known by what the system says of its file: size, node, and the times at which its bytes and its state changed.
The latter is nobody's to set, and moves with every write; a file that changed a moment ago is not entered, because it
may change again within one tick of that clock (https://git-scm.com/docs/racy-git). Windows keeps no such time, and has
no index. It lies where other copies do, and is believed as they are (``results.cachefolder``, ``results.bsoncache``).
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from preprocessor import __version__
from preprocessor.comments.search import may_have_comment
from preprocessor.pages.files import PAGE_SUFFIXES
from preprocessor.pages.inclusions import may_include
from preprocessor.results import bsoncache, cachefolder

WORTH: Final = 200
"""So many pages are worth an index, and so many that had to be read a new one: fewer are read sooner than it."""

_SETTLED: Final = 2 * 10**9
"""Nanoseconds without a change after which a file is entered."""

_NAMED: Final = r"""\b(?:id|table)["']?[\s>]*:[\s>]*"([^"\n]*)\""""
"""An id, or the table of a value or a statement, in whatever container its comment stands."""

_LATE: Final = r'\{\{|\{%|8<-|"generated"'
"""What may bring in tables that nobody knows before the site is built."""

_FORMAT: Final = "names in pages 1"


class Known(NamedTuple):
    """What is known of a page: the state of its file, the names in it, and what it may bring in besides.

    ``is_open``: it may have other names too, of files that it takes in. ``is_late``: tables may come in with it that
    nobody knows before the site is built.
    """

    state: str
    names: tuple[str, ...]
    is_open: bool
    is_late: bool


def find_pages_naming(folder: Path, ids: Collection[str]) -> list[Path]:
    """The pages below ``folder`` in which a table may have one of ``ids``, or a comment may quote it; sorted.

    Pages that take in files are among them: these may have the names.
    """
    wanted, written = frozenset(ids), [f'"{name}"' for name in ids]
    return _select(
        folder,
        lambda text: any(name in text for name in written) or _is_open(text),
        lambda page: page.is_open or not wanted.isdisjoint(page.names),
    )


def find_late_pages(folder: Path) -> list[Path]:
    """The pages below ``folder`` by which tables may come in that nobody knows before the site is built; sorted."""
    return _select(folder, _is_late, lambda page: page.is_late)


def _select(folder: Path, has: Callable[[str], bool], wanted: Callable[[Known], bool]) -> list[Path]:
    """The pages that are wanted; of few pages those whose text ``has`` what is looked for."""
    if folder.is_file():
        return [folder]
    pages = list(_list_pages(str(folder), ""))
    if len(pages) >= WORTH:
        return sorted(folder / name for name, page in _look(folder, pages).items() if wanted(page))
    texts = ((folder / name, _text(folder / name)) for name, _ in pages)
    return sorted(file for file, text in texts if text is not None and has(text))


def _look(folder: Path, pages: Sequence[tuple[str, os.stat_result]]) -> Mapping[str, Known]:
    """What is known of each page, by its path in the folder; those that the index does not know are read."""
    kept = _load(folder)
    found: dict[str, Known] = {}
    new = 0
    for name, status in pages:
        state = f"{status.st_size} {status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns}"
        page = kept.get(name)
        if page is None or page.state != state:
            is_settled = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED
            page = _read(folder / name, state if is_settled else "")
            new += 1
        found[name] = page
    if new >= WORTH:
        _store(folder, found)
    return found


def _list_pages(folder: str, within: str) -> Iterator[tuple[str, os.stat_result]]:
    """The pages in a folder and those below it, as ``pages.files.pages_under`` has them, with the state of each."""
    below = []
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(PAGE_SUFFIXES) and entry.name not in PAGE_SUFFIXES:
            with suppress(OSError):
                status = entry.stat()
                if stat.S_ISREG(status.st_mode):
                    yield f"{within}{entry.name}", status
                    continue
        if entry.is_dir(follow_symlinks=False):
            below.append(entry)
    for entry in below:
        yield from _list_pages(entry.path, f"{within}{entry.name}/")


def _read(file: Path, state: str) -> Known:
    text = _text(file)
    if text is None:
        return Known(state, (), is_open=False, is_late=False)
    names = tuple(dict.fromkeys(re.findall(_NAMED, text))) if may_have_comment(text) else ()
    return Known(state, names, _is_open(text) or any("\\" in name for name in names), _is_late(text))


def _text(file: Path) -> str | None:
    """A page; None where it cannot be read: it has no tables then, and whoever builds the site complains of it."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None


def _is_open(text: str) -> bool:
    """Whether a page may have names that do not stand in it: of a file that it takes in, or written by their codes."""
    return may_include(text) or "\\u" in text


def _is_late(text: str) -> bool:
    return re.search(_LATE, text) is not None


def _key() -> str:
    return bsoncache.key_of(f"{_FORMAT} {__version__}".encode())


def _place(folder: Path) -> Path | None:
    return None if sys.platform == "win32" else cachefolder.folder_for(folder)


def _load(folder: Path) -> Mapping[str, Known]:
    payload = bsoncache.get(_place(folder), _key())
    if payload is None:
        return {}
    try:
        return {name: Known(*page) for name, page in json.loads(payload).items()}
    except (ValueError, TypeError, AttributeError):  # No text of ours, whatever its digest says.
        return {}


def _store(folder: Path, pages: Mapping[str, Known]) -> None:
    settled = {name: page for name, page in pages.items() if page.state}
    with suppress(UnicodeEncodeError):  # Names of files that are no text.
        bsoncache.put(_place(folder), {_key(): json.dumps(settled, ensure_ascii=False).encode()})
