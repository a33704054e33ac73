"""Which pages of a folder may name a table, without reading all of them.

Whoever looks at one page wants to know which others have its tables, or speak of them. Of a site of many pages an index
is kept: for each page the names that stand in it as the id of a table, or as the table that a comment quotes. It only
spares reading: pages that are found by it are read as they are.

A page is known by the state of its file (``files.states``); one that changed a moment ago is not entered, and Windows
has no index. It lies where other copies do, and is believed as they are (``results.cachefolder``,
``results.bsoncache``).
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.comments.search import may_have_comment
from mongo_tables.files.states import (
    is_behind_link,
    is_settled,
    list_folders,
    list_states,
    state_of,
    state_of_way,
    ways_to,
)
from mongo_tables.pages.files import PAGE_SUFFIXES
from mongo_tables.pages.inclusions import may_include
from mongo_tables.results import bsoncache, cachefolder
from mongo_tables.results.ownfiles import sign_of_program

WORTH: Final = 200
"""So many pages are worth an index, and so many that it does not know a new one: fewer are read sooner than it."""

_NAMED: Final = r"""\b(?:id|table)["']?[\s>]*:[\s>]*"([^"\n]*)\""""
"""An id, or the table of a value or a statement, in whatever container its comment stands."""

_LATE: Final = r'\{\{|\{%|8<-|"generated"'
"""What may bring in tables that nobody knows before the site is built."""

_FORMAT: Final = "names in pages 2"
_OF_PARTS, _OF_TEXTS, _OF_NAMES = "\x01", "\0", "\n"
"""What stands between the parts of an index as it is kept, between texts, and between the names of tables."""


class Index(NamedTuple):
    """What is known of pages by their paths in a folder: the state of each file, and the pages that have a name.

    ``names`` has a line for each name of a table, with the pages behind it, and begins and ends with a line end: of
    thousands a few are looked for, so that they are not taken apart. ``open``: pages that may have other names too, of
    files that they take in. ``late``: tables may come in with them that nobody knows before the site is built.
    """

    states: Mapping[str, str]
    names: str
    open: Sequence[str]
    late: Sequence[str]

    def find(self, name: str) -> Sequence[str]:
        """The pages that have a name."""
        sought = f"{_OF_NAMES}{name}{_OF_TEXTS}"
        at = self.names.find(sought)
        end = self.names.find(_OF_NAMES, at + 1)
        return self.names[at + len(sought) : end].split(_OF_TEXTS) if at >= 0 else ()


_NOTHING: Final = Index({}, _OF_NAMES, (), ())


class PagesBelow:
    """The pages of a folder and those below it, as they are when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failures: list[OSError] = []

    def find_naming(self, ids: Collection[str]) -> list[Path]:
        """The pages in which a table may have one of ``ids``, or a comment may quote it; sorted.

        Pages that take in files are among them: these may have the names.
        """
        written = [f'"{name}"' for name in ids]
        known = (page for name in ids for page in self._index.find(name))
        return self._select(
            {*self._index.open, *known}, lambda text: any(name in text for name in written) or _is_open(text)
        )

    def find_late(self) -> list[Path]:
        """The pages by which tables may come in that nobody knows before the site is built; sorted."""
        return self._select(set(self._index.late), _is_late)

    def _select(self, known: set[str], has: Callable[[str], bool]) -> list[Path]:
        """The pages that are ``known`` to be wanted and did not change, and others whose text ``has`` it."""
        if self._folder.is_file():
            return [self._folder]
        changed = self._changed
        kept = [self._folder / name for name in known if name in self.states and name not in changed]
        texts = ((self._folder / name, _text(self._folder / name)) for name in changed)
        return sorted([*kept, *(file for file, text in texts if text is not None and has(text))])

    @cached_property
    def states(self) -> Mapping[str, str]:
        """The state of the file of each page, by its path in the folder; of a single page by ""."""
        if self._folder.is_file():
            return {"": state_of(self._folder.stat())}
        return dict(list_states(str(self._folder), PAGE_SUFFIXES, follows=True, failed=self._failures.append))

    @property
    def are_all(self) -> bool:
        """Whether every folder could be read."""
        _ = self.states  # which are looked at once
        return not self._failures

    def look_at_ways(self) -> dict[str, str]:
        """The folders and links by which the pages are found, with their states as they are now."""
        root = os.path.abspath(self._folder)  # noqa: PTH100 - without links followed
        found: dict[str, str] = {}
        for way in (root, *(f"{root}/{name}" for name in self._links)):
            found |= ways_to(way)
        for folder in self._folders:
            found |= state_of_way(f"{root}/{folder}")
        return found

    @cached_property
    def _folders(self) -> Collection[str]:
        return list_folders(self.states)

    @cached_property
    def _links(self) -> Sequence[str]:
        """The pages that are behind links."""
        return [name for name, state in self.states.items() if is_behind_link(state)]

    @cached_property
    def _index(self) -> Index:
        """The index, made anew where it does not know many pages; of few pages there is none."""
        if len(self.states) < WORTH:
            return _NOTHING
        kept = _load(self._folder)
        if kept.states == self.states or len(_list_changed(self.states, kept)) < WORTH:
            return kept
        ways = self.look_at_ways()
        made = _make(self._folder, self.states)
        now = PagesBelow(self._folder)
        # What was another page meanwhile may have been read, though all is by now what it was.
        if made.states and (now.states, now.look_at_ways()) == (self.states, ways):
            _store(self._folder, made)
        return made

    @cached_property
    def _changed(self) -> frozenset[str]:
        return frozenset(_list_changed(self.states, self._index))


def _list_changed(states: Mapping[str, str], index: Index) -> list[str]:
    """The pages that are another one than the index knows, or that it does not know."""
    if states == index.states:
        return []
    return [name for name, state in states.items() if index.states.get(name) != state]


def _make(folder: Path, states: Mapping[str, str]) -> Index:
    """An index of the pages with these states; without those that changed a moment ago, or cannot be read."""
    now = time.time_ns()
    settled = {}
    names: dict[str, list[str]] = {}
    is_open, late = [], []
    for name, state in states.items():
        text = _text(folder / name) if is_settled(state, now) else None
        if text is None:
            continue
        settled[name] = state
        written = dict.fromkeys(re.findall(_NAMED, text)) if may_have_comment(text) else {}
        for one in written:
            names.setdefault(one, []).append(name)
        is_open += [name] if _is_open(text) or any("\\" in one for one in written) else []
        late += [name] if _is_late(text) else []
    lines = (_OF_TEXTS.join([one, *pages]) for one, pages in names.items())
    index = Index(settled, _OF_NAMES.join(["", *lines, ""]), is_open, late)
    return _NOTHING if any(map(_has_separator, [*settled, *names])) else index


def _has_separator(text: str) -> bool:
    """Whether a text could not be told from two of them."""
    return any(one in text for one in (_OF_PARTS, _OF_TEXTS, _OF_NAMES))


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
    return bsoncache.key_of(f"{_FORMAT} {sign_of_program()}".encode())


def _place(folder: Path) -> Path | None:
    return None if sys.platform == "win32" else cachefolder.folder_for(folder)


def _load(folder: Path) -> Index:
    payload = bsoncache.get(_place(folder), _key())
    try:
        states, names, is_open, late = (payload or b"").decode().split(_OF_PARTS)
        told = states.split(_OF_TEXTS)
        return Index(dict(zip(told[::2], told[1::2], strict=True)), names, _split(is_open), _split(late))
    except ValueError:  # There is none, or it is no text of ours, whatever its digest says.
        return _NOTHING


def _split(texts: str) -> Sequence[str]:
    return texts.split(_OF_TEXTS) if texts else ()


def _store(folder: Path, index: Index) -> None:
    states = _OF_TEXTS.join(chain.from_iterable(index.states.items()))
    parts = states, index.names, _OF_TEXTS.join(index.open), _OF_TEXTS.join(index.late)
    with suppress(UnicodeEncodeError):  # Names of files that are no text.
        bsoncache.put(_place(folder), {_key(): _OF_PARTS.join(parts).encode()})
