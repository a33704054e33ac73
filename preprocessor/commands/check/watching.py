"""``check --watch``: a check at each change of what it reads."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from preprocessor.files.states import state_of
from preprocessor.findings.reporters import escape_control_chars
from preprocessor.findings.usage import CommandError, print_failure
from preprocessor.pages.siteconfig import fill_in, from_here
from preprocessor.pages.sitepages import page_folders
from preprocessor.pages.watching import places_of_source

Seen = Mapping[str, str]
"""The states of files, by their paths."""

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
            places = list(_list_places(given))
            before = take_look(places)
            _check_or_tell(given, check)
            print("waiting for changes; Ctrl-C ends", file=sys.stderr, flush=True)
            changed = _wait(places, before)
            print(f"{escape_control_chars(from_here(changed))} changed", file=sys.stderr, flush=True)
            given = _fill_in_anew(arguments.as_written) or given
    except KeyboardInterrupt:
        return 0


def _check_or_tell(given: Namespace, check: Callable[[Namespace], int]) -> None:
    try:
        check(given)
    except CommandError as error:
        print_failure(error)
    sys.stdout.flush()


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
    """The files and folders that a check reads."""
    yield from map(Path, given.paths or page_folders(given.site))
    yield Path(given.pipelines)
    yield from places_of_source(given.results, Path())
    yield from given.site.snippets
    yield given.site.file
    if given.baseline:
        yield Path(given.baseline)


def take_look(places: Iterable[Path]) -> Seen:
    """The files at some places, and those in folders there, without what is hidden in these."""
    return dict(_look(each for place in places for each in _list_files(place)))


def _list_files(place: Path) -> Iterator[str]:
    if not place.is_dir():
        yield str(place)
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if not name.startswith(".")]
        shown = (name for name in files if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in shown)  # noqa: PTH118 - a Path for each takes long


def _look(files: Iterable[str]) -> Iterator[tuple[str, str]]:
    for file in files:
        try:
            found = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        yield file, state_of(found)


def _wait(places: Iterable[Path], before: Seen) -> Path:
    """Return once something is not as it was before, and has settled; give the first path that changed."""
    while True:
        began = time.monotonic()
        now = take_look(places)
        if now != before:
            break
        time.sleep(max(_PAUSE, _SHARE * (time.monotonic() - began)))
    changed = min(path for path in {*before, *now} if before.get(path) != now.get(path))
    while True:
        time.sleep(_SETTLED)
        after = take_look(places)
        if after == now:
            return Path(changed)
        now = after
