"""What each command does; ``preprocessor.cli`` says what can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from preprocessor.pages import Answers, Page
    from preprocessor.sharedpipelines import SharedPipeline

PAGE_SUFFIXES = (".md", ".markdown")
PIPELINES_FOLDER = "docs/pipelines"


class Unusable(Exception):
    """The command cannot be done as asked: one line for the user, exit status 2."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def page_files(paths: Iterable[str]) -> Iterator[Path]:
    """The pages that ``paths`` name: files as they are, of folders every Markdown file, in order, once.

    Raises Unusable for a path that does not exist.
    """
    seen: set[Path] = set()
    for path in map(Path, paths):
        for file in _pages_of(path):
            if file not in seen:
                seen.add(file)
                yield file


def _pages_of(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix in PAGE_SUFFIXES and file.is_file())
    if not path.exists():
        raise Unusable(f"{path}: no such file or folder")
    return [path]


def read_text(file: Path) -> str:
    """A page as it is on disk, line ends and all. Raises Unusable when it is not UTF-8."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(f"{file}: not UTF-8 (byte {error.start})", "save the page as UTF-8") from None


def shared_pipelines(folder: str | None) -> Callable[[str], SharedPipeline | None]:
    """The shared stage lists of a folder, read when a page first names one."""
    from preprocessor.sharedpipelines import SharedPipelines

    if folder is not None and not Path(folder).is_dir():
        raise Unusable(f"{folder}: no such folder", "--pipelines names the folder of shared pipelines")
    return SharedPipelines(Path(folder or PIPELINES_FOLDER))


def read_pages(paths: Iterable[str], pipelines: str | None) -> list[Page]:
    """All pages that ``paths`` name, read and checked without running anything."""
    from preprocessor.pages import read_page

    shared = shared_pipelines(pipelines)
    return [read_page(read_text(file), file.as_posix(), shared) for file in page_files(paths)]


def ask(pages: Sequence[Page], where: str) -> tuple[Answers, Sequence[str]]:
    """What the results source ``where`` answers to the pages' pipelines, and the collections that it has.

    Raises ResultsError when the source cannot be used at all.
    """
    if not any(page.asking for page in pages):
        return {}, ()
    from preprocessor.pages import answer
    from preprocessor.results import ResultsError, open_source

    source = open_source(where)
    try:
        answers = answer(pages, source)
        return answers, source.collections()
    except ResultsError as error:
        if error.environment:
            raise
        return answers, ()  # A user may read a collection without the right to list them.
    finally:
        source.close()
