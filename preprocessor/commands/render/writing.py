"""Rendered pages on disk: all of them, or none."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from preprocessor.files import atomic
from preprocessor.files.changes import changed_lines
from preprocessor.findings.reporters import escape_control_chars
from preprocessor.findings.usage import UsageError
from preprocessor.pages.model import Page


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
    _save(dict(zip(files, texts, strict=True)))


def write_in_place(changed: Sequence[tuple[Page, str]]) -> int:
    """Write the pages that have a new text, and name them; give the exit status."""
    _save({Path(page.file): text for page, text in changed})
    for page, _ in changed:
        print(f"{escape_control_chars(page.file)}: tables written", file=sys.stderr)
    return 0


def print_changes(changed: Sequence[tuple[Page, str]]) -> int:
    """Print what a new text would change in each page; give 1 when there is any, else 0."""
    for page, text in changed:
        sys.stdout.writelines(changed_lines(page.text, text, page.file, f"{page.file} (as it should be)"))
    return 1 if changed else 0


def _place_under(folder: Path, file: str) -> Path:
    """Where a page goes under ``folder``: its relative path, or its name when that leads elsewhere."""
    path = Path(file)
    inside = not path.is_absolute() and ".." not in path.parts
    return folder / (path if inside else path.name)


def _save(texts: Mapping[Path, str]) -> None:
    """Write all pages or none; a link stays a link, to a file with the new text."""
    contents = {file.resolve(): text.encode("utf-8") for file, text in texts.items()}
    for file in contents:
        file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_all(contents)
