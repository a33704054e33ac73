"""The pages that paths name, as files on disk and on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.files.folders import walk
from mongo_tables.files.text import bad_byte, may_be_file
from mongo_tables.findings.usage import UsageError
from mongo_tables.pages.model import Page
from mongo_tables.pages.reading import no_text, read_page
from mongo_tables.specs.sharedpipelines import SharedPipelines

if TYPE_CHECKING:
    from mongo_tables.pages.reading import ReadComment
    from mongo_tables.specs.sharedpipelines import SharedPipeline


PAGE_SUFFIXES = (".md", ".markdown", ".mdown", ".mkdn", ".mkd")
"""The ends of the names of pages, as MkDocs has them: https://www.mkdocs.org/user-guide/writing-your-docs/."""


STDIN = "-"
"""What stands on a command line for the page on standard input."""


class ReadPages(NamedTuple):
    """The pages that paths name, in order and each once, and a line for each path that names none."""

    pages: list[Page]
    faults: list[str]


def read_paths(
    paths: Iterable[str], pipelines: str, stdin_name: str = "", read: ReadComment | None = None
) -> ReadPages:
    """All pages that ``paths`` name, read and checked without running anything, whatever is wrong with others.

    Files are taken as they are, of folders every Markdown file. A page that is not UTF-8 has a finding that says so.
    With ``stdin_name``, ``STDIN`` is the page on standard input, which has this name; a file of this name is not read.
    ``read`` is that of ``read_page``.
    """
    shared = open_shared_pipelines(pipelines)
    pages: dict[Path, Page] = {}
    faults: list[str] = []
    asked, written = list(dict.fromkeys(paths)), None
    if stdin_name and STDIN in asked:
        asked.remove(STDIN)
        written = Path(stdin_name).resolve()
        file, content = Path(stdin_name), sys.stdin.buffer.read()
        pages[file] = page_of_no_text(content, file.as_posix()) or read_page(
            content.decode(), file.as_posix(), shared
        )
    for path in asked:
        for file in _page_files(path, faults):
            if file in pages or (written and file.resolve() == written):
                continue
            try:
                name, content = file.as_posix(), file.read_bytes()
            except OSError as error:
                faults.append(_describe_error(error, path))
            else:
                pages[file] = page_of_no_text(content, name) or read_page(
                    content.decode(), name, shared, read=read
                )
    return ReadPages(list(pages.values()), faults)


def _describe_error(error: OSError, path: str) -> str:
    return f"{error.filename or path}: {error.strerror or error}"


def read_pages(paths: Iterable[str], pipelines: str) -> list[Page]:
    """The pages of ``gather``. Raises UsageError when a path names none, with all such paths."""
    gathered = read_paths(paths, pipelines)
    if gathered.faults:
        raise UsageError("; ".join(gathered.faults))
    return gathered.pages


def _page_files(written: str, faults: list[str]) -> list[Path]:
    """The pages that a path names; what it names in vain, and folders that cannot be read, go to ``faults``."""
    path = Path(written)
    try:
        if not written:
            faults.append("an empty path names no page")
        elif path.is_dir():
            return pages_under(path, lambda error: faults.append(_describe_error(error, written)))
        elif not path.exists():
            faults.append(f"{path}: no such file or folder")
        elif path.is_file() and path.suffix.lower() not in PAGE_SUFFIXES:
            faults.append(f"{path}: no Markdown page, whose name ends in {' or '.join(PAGE_SUFFIXES)}")
        else:
            return [path]
    except OSError as error:
        faults.append(_describe_error(error, written))
    return []


def pages_under(folder: Path, failed: Callable[[OSError], None] | None = None) -> list[Path]:
    """The pages in a folder and those below it, or the page that it is; ``failed`` is called for unreadable ones.

    Links to folders are followed, as MkDocs follows them.
    """
    if folder.is_file():
        return [folder]
    files = (Path(entry.path) for _, entries in walk(str(folder), failed) for entry in entries)
    return sorted(file for file in files if file.suffix in PAGE_SUFFIXES and may_be_file(file))


def page_of_no_text(content: bytes, file: str) -> Page | None:
    """The page without a comment, and with a finding at its first bad byte; None when it is UTF-8."""
    bad = bad_byte(content)
    if bad is None:
        return None
    return Page(file, content.decode(errors="replace"), (), (), (no_text(file, bad),))


def read_text(file: Path) -> str:
    """A file as it is on disk, line ends and all. Raises UsageError when it is not UTF-8."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8 (byte {error.start})", "save the page as UTF-8") from None


def open_shared_pipelines(
    folder: str, texts: Mapping[str, str] | None = None
) -> Callable[[str], SharedPipeline | None]:
    """The shared stage lists of a folder, read when a page first names one; ``texts`` as in `SharedPipelines`."""
    return SharedPipelines(Path(folder), texts or {})
