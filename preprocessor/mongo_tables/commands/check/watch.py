"""``check --watch``: repeat the check whenever one of its input files changes."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from mongo_tables.commands.pages import request_of
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import CommandError, print_failure
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import is_uri, open_source
from mongo_tables.site.disk import page_folders, read_snapshots
from mongo_tables.site.settings_files import list_site_files
from mongo_tables.site.site_config import fill_in, from_here, list_places

Inputs = Mapping[Path, bytes]
"""The digest of each file that a check reads; missing files have no entry."""

_PAUSE: Final = 0.25
"""The minimum number of seconds between two readings of the files."""
_SHARE: Final = 10
"""Readings take at most one tenth of the time: the pause is ten times as long as a reading."""


def check_at_changes(arguments: Namespace, check: Callable[[Namespace], int]) -> int:
    """Check, wait for a change and check again, until an interrupt. Then return 0.

    Errors that the user can fix, including errors in the site's file, are printed, and the function waits for a change.
    """
    given, is_readable = arguments, True
    try:
        while True:
            before = read_inputs(given)
            if is_readable:
                try:
                    check(given)
                except CommandError as error:
                    print_failure(error)
                sys.stdout.flush()
            print("waiting for changes; Ctrl-C ends", file=sys.stderr, flush=True)
            pause, now = _PAUSE, before
            while now == before:
                time.sleep(pause)
                started = time.perf_counter()
                now = read_inputs(given)
                pause = max(_PAUSE, (time.perf_counter() - started) * _SHARE)
            changed = next(file for file in (*now, *before) if now.get(file) != before.get(file))
            print(f"{escape_control_chars(from_here(changed))} changed", file=sys.stderr, flush=True)
            # The site's file may have changed. While it cannot be read, no check runs.
            filled = Namespace(**vars(given.as_written), as_written=given.as_written)
            try:
                fill_in(filled)
                given, is_readable = filled, True
            except CommandError as error:
                print_failure(error)
                is_readable = False
    except KeyboardInterrupt:
        return 0


def read_inputs(given: Namespace) -> Inputs:
    """Return the digests of all files that a check reads: pages, includes, shared pipelines, results, site's file."""
    files = dict.fromkeys(list_places(Path()))
    with suppress(CommandError):
        files |= dict.fromkeys(list_site_files(given.site.file))
        paths = given.paths or page_folders(given.site)
        read = read_snapshots(paths, request_of(given)).files
        files |= dict.fromkeys([*map(Path, paths), *read])
        for folder in {file.parent for file in read}:
            files |= dict.fromkeys(list_places(folder))  # each page may belong to a different site
    if given.baseline:
        files[Path(given.baseline)] = None
    if not given.static:
        files |= dict.fromkeys(_list_results(given))
    digests: dict[Path, bytes] = {}
    for file in files:
        with suppress(OSError):
            digests[file] = b"folder" if file.is_dir() else sha256(file.read_bytes()).digest()
    return digests


def _list_results(given: Namespace) -> list[Path]:
    """Return the files of a results source, or [] for a database."""
    if is_uri(given.results):
        return []
    try:
        with closing(open_source(given.results, given.limits)) as source:
            local = source.local
            names = source.collections()
            return [*(file for name in names for file in local.files(name)), *local.unread()] if local else []
    except (ResultsError, CommandError):
        return []
