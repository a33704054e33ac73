"""File changes that commands write or show as a diff, and the report on the files of a fixture folder."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mongo_tables.files import atomic
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.results.opening import is_fixture_folder
from mongo_tables.results.pull import FileChange
from mongo_tables.site.site_config import SiteConfig, results_of


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file with its old and its new text. ``before`` is None for a new file.

    ``name`` is the name of the file in messages; ``said`` describes the change.
    """

    name: str
    file: Path
    before: str | None
    after: str
    said: str = ""


def write_changes(changes: Sequence[FileEdit]) -> int:
    """Write all changed files or none, and print their names. Return the exit status 0."""
    atomic.write_texts({change.file: change.after for change in changes})
    for change in changes:
        print(f"{escape_control_chars(change.name)}: written", file=sys.stderr)
    return 0


def print_changes(changes: Sequence[FileEdit]) -> int:
    """Print the changes in each file as a unified diff. Return 1 if there are changes, else 0."""
    for change in changes:
        name = escape_control_chars(change.name)
        old, new = ((text or "").splitlines(keepends=True) for text in (change.before, change.after))
        for line in difflib.unified_diff(old, new, "/dev/null" if change.before is None else name, name):
            sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return 1 if changes else 0


# -- a fixture folder --


def find_fixture_folder(site: SiteConfig) -> str:
    """Return the results of the site if they are a fixture folder, or else the default folder."""
    where = results_of(site)
    return where if is_fixture_folder(where) else "fixtures"


def print_report(files: Sequence[FileChange], *, dry_run: bool) -> None:
    """Print a line for each changed file and each file that the source lacks, and the number of changed files."""
    for file in files:
        if file.kept:
            documents = format_count(file.documents, "document")
            print(
                f"kept {_shown(file)}: the source lacks its {documents}; delete the file if it is not needed"
            )
    changed = [_describe(file) for file in files if file.is_change]
    verb = "would change" if dry_run else "changed"
    print("\n".join(changed) if changed else "nothing changed")
    print(f"{len(changed)} of {len(files)} files {verb}")


def _describe(file: FileChange) -> str:
    documents = format_count(file.documents, "document")
    note = escape_control_chars(f", {file.note}" if file.note else "")
    return f"{_shown(file)}: {documents}, {file.added} new, {file.changed} changed, {file.removed} gone{note}"


def _shown(file: FileChange) -> str:
    return escape_control_chars(str(file.path))
