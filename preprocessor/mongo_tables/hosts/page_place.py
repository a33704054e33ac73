"""Where a page is that Python-Markdown converts, as the program that has it converted tells."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mongo_tables.files.text import shorten_path
from mongo_tables.site.disk import find_folders
from mongo_tables.site.includes import read_with_comments
from mongo_tables.site.site_config import LeftOut
from mongo_tables.site.site_doors import list_unwatched
from mongo_tables.site.snapshot import PageText

if TYPE_CHECKING:
    from markdown import Markdown
    from mkdocs.structure.files import File


LeavesOut = Callable[[Path], bool]


@dataclass(frozen=True)
class PagePlace:
    """Where the page is: its path as shown, and the folder that other paths are relative to.

    Where the program tells it, ``pages`` is the folder of all pages of the site; else only one page is known, and it is
    None. ``refused_by`` is the error of MkDocs for what a build must not go on with. ``left_out`` says of files whether
    the build leaves them out. ``preview``: faults are shown in the page. ``watch`` are the paths that a preview of
    Zensical's follows besides pages. ``bases`` are the folders from which pymdownx.snippets takes files into pages.
    """

    shown: str
    folder: Path
    pages: Path | None = None
    refused_by: type[Exception] | None = None
    left_out: LeavesOut | None = None
    preview: bool = False
    watch: tuple[str, ...] = ()
    bases: tuple[Path, ...] = ()

    def whole(self, text: str) -> str:
        """The page with the front matter that was cut off before ``text``: lines are then those on disk."""
        return self.on_disk if self.on_disk.rstrip("\n").endswith(text.rstrip("\n")) else text

    @cached_property
    def on_disk(self) -> str:
        """The page's file, which is read once; nothing where there is none that can be read."""
        file = self.folder / self.shown
        try:
            return file.read_text(encoding="utf-8-sig") if file.is_file() else ""
        except (OSError, ValueError):
            return ""

    @cached_property
    def taken_in(self) -> list[PageText]:
        """The files that come into the page."""
        page = self.folder.absolute() / self.shown
        folders = [
            *self.bases,
            self.folder / (self.pages or ""),
            self.folder,
            Path.cwd(),
            *find_folders(page.parent),
        ]
        found = read_with_comments(page, self.on_disk, folders)
        return [PageText(self._name(file.absolute()), text, file) for file, text in found]

    def _name(self, file: Path) -> str:
        """The path of another file as that of the page is shown."""
        folder = self.folder.absolute()
        return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else shorten_path(file)


def find_place(md: Markdown, file: str) -> PagePlace:
    """The place of the page that ``md`` converts, as Zensical or MkDocs tell it; else it is ``file``."""
    named = [each.base_path for each in md.preprocessors if hasattr(each, "base_path")]
    bases = tuple(Path(each) for base in named for each in base)
    context = next((each for each in md.preprocessors if hasattr(each, "page")), None)
    if context is not None:
        return _place_in_zensical(context, bases)
    links = next((each for each in md.treeprocessors if hasattr(each, "file")), None)
    if links is not None and hasattr(links, "config"):
        return _place_in_mkdocs(links, bases)
    return PagePlace(file, Path(), bases=bases)


def _place_in_zensical(context: Any, bases: tuple[Path, ...]) -> PagePlace:
    root = Path(context.config.get("root_dir") or "")
    pages = Path(context.config.get("docs_dir") or "docs")
    preview = _is_preview()
    drafts = "" if preview else context.config.get("draft_docs") or ""
    return PagePlace(
        (pages / context.page.path).as_posix(),
        root,
        pages,
        left_out=_leaves_out(context.config.get("exclude_docs") or "", drafts, root / pages),
        preview=preview,
        watch=tuple(context.config.get("watch") or ()),
        bases=bases,
    )


@cache
def _leaves_out(exclude: str, drafts: str, docs: Path) -> LeavesOut:
    """Whether Zensical leaves a page out; the same function for all pages of a build."""
    patterns = LeftOut(exclude, drafts)
    return lambda page: page.suffix != ".md" or patterns.has(page, docs)


def _is_preview() -> bool:
    """Whether this process is ``zensical serve``."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "serve"


def _place_in_mkdocs(links: Any, bases: tuple[Path, ...]) -> PagePlace:
    """The page that MkDocs, or ProperDocs, is about to convert, by what resolves its links."""
    host = type(links).__module__.partition(".")[0]
    docs = Path(links.config.docs_dir)
    known = docs.relative_to(Path.cwd()) if docs.is_relative_to(Path.cwd()) else None
    return PagePlace(
        choose_shown_path(links.file),
        Path(),
        known,
        refused_by=import_module(f"{host}.exceptions").PluginError,
        left_out=_leaves_out_of(links.files, docs),
        bases=bases,
    )


@lru_cache(maxsize=1)
def _leaves_out_of(files: Any, docs: Path) -> LeavesOut:
    """Whether MkDocs leaves a page out; the same function for all pages of a build."""

    def is_left_out(page: Path) -> bool:
        file = files.get_file_from_path(os.path.relpath(page, docs))
        return file is None or file.inclusion.is_excluded()

    return is_left_out


@cache
def print_unwatched(watch: tuple[str, ...], folder: Path, results: str, pipelines: Path) -> None:
    """Say once which paths a preview of Zensical's does not follow: saving a page shows what changed there."""
    paths = list_unwatched(watch, folder, results, pipelines)
    if paths:
        listed = " and ".join(f"`{path}`" for path in paths)
        print(f"mongo-tables: list {listed} under `watch` for this preview to follow them", file=sys.stderr)


def choose_shown_path(file: File) -> str:
    """The path to show for a page: for one that another plugin generated, the path within the docs folder.

    What a plugin has put into a folder of its own is gone after the build, so nobody could look there.
    """
    if file.abs_src_path and file.generated_by:
        return f"{file.src_uri} (generated by {file.generated_by})"
    return shorten_path(Path(file.abs_src_path)) if file.abs_src_path else file.src_uri
