"""Pages with a new text, and files beside them: shown as a diff, or put on disk, all of them or none."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.files import atomic
from mongo_tables.files.changes import changed_lines
from mongo_tables.findings.reporters import escape_control_chars, report
from mongo_tables.findings.usage import UsageError

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import Page


def write_to_folder(folder: Path, pages: Sequence[Page], texts: Sequence[str]) -> None:
    """Write each page under ``folder``. Raises UsageError when two would become one file."""
    files: dict[Path, str] = {}
    for page in pages:
        file = _place_under(folder, page.file)
        if file in files:
            raise UsageError(
                f"{files[file]} and {page.file} would both become {file}", "render them one by one"
            )
        files[file] = page.file
    save_texts(dict(zip(files, texts, strict=True)))


def tell_findings(findings: Sequence[Finding], pages: Iterable[Page]) -> bool:
    """Print findings about pages on standard error; whether one of them is an error."""
    if findings:
        sources = {page.file: page.text for page in pages}
        sys.stderr.write(report(findings, "text", color=sys.stderr.isatty(), sources=sources))
    return any(one.severity == "error" for one in findings)


class Change(NamedTuple):
    """A file that is to have another text; ``before`` is "" where there is none yet. Messages have its ``name``."""

    name: str
    file: Path
    before: str
    after: str


def write_changes(changes: Sequence[Change]) -> int:
    """Write the files that are to change, all or none, and name them; give the exit status."""
    save_texts({change.file: change.after for change in changes})
    for change in changes:
        print(f"{escape_control_chars(change.name)}: written", file=sys.stderr)
    return 0


def print_changes(changes: Sequence[Change]) -> int:
    """Print what is to change in each file, as a unified diff; give 1 when there is any, else 0."""
    for change in changes:
        name = escape_control_chars(change.name)
        lines = changed_lines(change.before, change.after, name, f"{name} (as it should be)")
        sys.stdout.writelines(lines)
    return 1 if changes else 0


def _place_under(folder: Path, file: str) -> Path:
    """Where a page goes under ``folder``: its relative path, or its name when that leads elsewhere."""
    path = Path(file)
    inside = not path.is_absolute() and ".." not in path.parts
    return folder / (path if inside else path.name)


def save_texts(texts: Mapping[Path, str]) -> None:
    """Write all files or none, with the folders that they need; a link stays a link, to a file with the new text."""
    contents = {file.resolve(): text.encode("utf-8") for file, text in texts.items()}
    for file in contents:
        file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_all(contents)
