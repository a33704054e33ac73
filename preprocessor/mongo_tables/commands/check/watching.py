"""``check --watch``: a check at each change of what it reads."""

from __future__ import annotations

import glob
import os
import stat
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from mongo_tables.files.folders import walk
from mongo_tables.files.states import state_of
from mongo_tables.files.ways import is_hidden, look_at_ways
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import CommandError, UsageError, print_failure
from mongo_tables.pages.files import pages_under, read_text
from mongo_tables.pages.included import forget_sites, list_taken_in
from mongo_tables.pages.inclusions import may_include
from mongo_tables.pages.model import Page
from mongo_tables.pages.siteconfig import fill_in, from_here, list_places, list_site_files
from mongo_tables.pages.sitepages import page_folders
from mongo_tables.pages.watching import places_of_source
from mongo_tables.results.opening import is_uri
from mongo_tables.results.sourcetext import split_parts

Seen = Mapping[str, str]
"""The states of files, and of the ways to them, by their paths; that of a way ends with a slash."""

_PAUSE: Final = 0.25
_SETTLED: Final = 0.05
"""Seconds between two looks; a file that is still being written differs between two with the second between them."""
_SHARE: Final = 10
"""Looking takes no more than one part in so many of the time."""


def check_at_changes(arguments: Namespace, check: Callable[[Namespace], int]) -> int:
    """Check, wait for a change and check again, until an interrupt; give 0 then.

    What a user can mend, in the site's file as well, is told, and is waited for.
    """
    given = arguments
    try:
        while True:
            given, can_be_read, look, before = _look_around(given)
            if can_be_read:
                _check_or_tell(given, check)
            print("waiting for changes; Ctrl-C ends", file=sys.stderr, flush=True)
            changed = _wait(look, before)
            print(f"{escape_control_chars(from_here(changed))} changed", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return 0


def _check_or_tell(given: Namespace, check: Callable[[Namespace], int]) -> None:
    try:
        check(given)
    except CommandError as error:
        print_failure(error)
    sys.stdout.flush()


def _look_around(given: Namespace) -> tuple[Namespace, bool, Callable[[], Seen], Seen]:
    """What to check, how to look at the places that it reads, and how these were before any of it was read.

    What was asked for is read again after the look: it says where to look. Where the site's file cannot be read, which
    is told, there is nothing to check: pages were judged by what it said before.
    """
    while True:
        places, pages = list(_list_places(given)), list(map(Path, _list_page_places(given)))
        sites = list(dict.fromkeys(_list_site_places(given)))
        seen = _look_at(given, places, pages, sites)
        now = _fill_in_anew(given.as_written)
        if now is not None:
            forget_sites()
        if now is None or now == given:
            break
        given = now
    taken_in = list(_list_taken_in(given))
    look = partial(_look_at, given, [*places, *taken_in], pages, sites)
    return given, now is not None, look, {**take_look(taken_in), **seen}


def _fill_in_anew(as_written: Namespace) -> Namespace | None:
    """The arguments with what the site's file says now; None, and what is wrong is told, where that cannot be read."""
    given = Namespace(**vars(as_written), as_written=as_written)
    try:
        fill_in(given)
    except CommandError as error:
        print_failure(error)
        return None
    return given


def _list_places(given: Namespace) -> Iterator[Path]:
    """The files and folders that a check reads, but for pages and files that these take in."""
    yield Path(given.pipelines)
    yield from places_of_source(given.results, Path())
    yield from given.site.snippets
    yield from list_site_files(given.site)
    if given.baseline:
        yield Path(given.baseline)


def _list_page_places(given: Namespace) -> Iterable[str]:
    """Pages and folders of them: those that are named, and all of the site, of which these may quote tables.

    As long as the file of a site that it includes cannot be read, its own folder is all that is known.
    """
    try:
        folders = page_folders(given.site)
    except UsageError:
        folders = [from_here(given.site.docs)]
    return dict.fromkeys([*given.paths, *folders])


def _list_site_places(given: Namespace) -> Iterator[str]:
    """Where a site's file, or a repository, is looked for from here and from pages that are named.

    Whether they are there or not: one that there was not may be there now.
    """
    named = (path if path.is_dir() else path.parent for path in map(Path, given.paths))
    for start in dict.fromkeys(each.absolute() for each in (Path(), *named)):
        yield from map(str, list_places(start))
        yield from (str(folder / ".git") for folder in (start, *start.parents))


def _list_hidden(results: str) -> Iterator[Path]:
    """The hidden folders through which patterns of results lead, such as those of pytest-benchmark."""
    for part in () if is_uri(results) else split_parts(results, Path()):
        names = Path(part.pattern).parts
        hidden = (number for number, name in enumerate(names, 1) if is_hidden(name) and name != "..")
        patterns = [str(Path(*names[:number])) for number in hidden]
        yield from (Path(found) for each in patterns for found in glob.iglob(each, recursive=True))  # noqa: PTH207


def _list_taken_in(given: Namespace) -> Iterator[Path]:
    """The files that come into pages, wherever they lie, and those that would if they were there."""
    for place in _list_page_places(given):
        for file in pages_under(Path(place)):
            with suppress(OSError, UsageError):  # The check tells what is wrong.
                text = read_text(file)
                if may_include(text):
                    yield from list_taken_in(Page(file.as_posix(), text, (), (), ()))


def _look_at(given: Namespace, places: Sequence[Path], pages: Sequence[Path], sites: Sequence[str]) -> Seen:
    """The same as ``take_look``, with the hidden folders that there are by now, and what is at ``sites``.

    Of a folder among these, a repository, it is told that it is there.
    """
    seen = take_look([*places, *_list_hidden(given.results)], pages)
    repositories = {f"{place}/": "" for place in sites if os.path.isdir(place)}  # noqa: PTH112
    return {**seen, **dict(_look(sites)), **repositories}


def take_look(places: Sequence[Path], pages: Sequence[Path] = ()) -> Seen:
    """The files at some places, those in folders there, and the ways to them, without what is hidden in folders.

    Of ``pages`` also those that are hidden, and the drawings beside them: a check reads these, too.
    """
    there = [*pages, *places]
    files = (each for place in there for each in _list_files(place))
    seen = dict(_look(chain(files, (each for place in pages for each in _list_of_pages(place)))))
    return seen | dict(way for place in there for way in look_at_ways(place))


def _list_of_pages(place: Path) -> Iterator[str]:
    """The pages at a place, and the drawings beside it, or beside those that are hidden; others are listed anyway."""
    pages = with_drawings = [place]
    if place.is_dir():
        pages = pages_under(place)
        with_drawings = list(filter(_is_in_hidden, pages))
    yield from map(str, pages)
    for page in with_drawings:
        drawn = page.resolve()  # Where a link leads, there its drawings are.
        yield from map(str, drawn.parent.glob(f"{glob.escape(drawn.stem)}.*.svg"))


def _is_in_hidden(page: Path) -> bool:
    return any(is_hidden(part) and part != ".." for part in page.parts)


def _list_files(place: Path) -> Iterator[str]:
    if not place.is_dir():
        yield str(place)
    for _, entries in walk(str(place), leaves_out=is_hidden):
        yield from (entry.path for entry in entries if not is_hidden(entry.name))


def _look(files: Iterable[str]) -> Iterator[tuple[str, str]]:
    for file in files:
        try:
            found = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        if not stat.S_ISDIR(found.st_mode):
            yield file, state_of(found)


def _wait(look: Callable[[], Seen], before: Seen) -> Path:
    """Return once something is not as it was before, and has settled; give the first path that changed."""
    while True:
        began = time.monotonic()
        now = look()
        if now != before and (now := _settle(look, now)) != before:
            break
        time.sleep(max(_PAUSE, _SHARE * (time.monotonic() - began)))
    others = (path for path in {*before, *now} if before.get(path) != now.get(path))
    return Path(min(others, key=lambda path: (path.endswith("/"), path)))


def _settle(look: Callable[[], Seen], now: Seen) -> Seen:
    """What is there once nothing changes for a moment."""
    while True:
        time.sleep(_SETTLED)
        after = look()
        if after == now:
            return now
        now = after
