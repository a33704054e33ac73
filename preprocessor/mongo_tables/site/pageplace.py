"""Where a page is that Python-Markdown converts, as the program that has it converted tells."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mongo_tables.files.text import shorten_path
from mongo_tables.pages.leftout import LeftOut, none_left_out
from mongo_tables.pages.watching import list_unwatched
from mongo_tables.site.shownpath import choose_shown_path
from mongo_tables.site.zensicalhost import (
    ask_again,
    has_own_theme,
    keep_out_of,
    look_through_feeds,
    serving,
    tell_unwatched,
)

if TYPE_CHECKING:
    from markdown import Markdown

    from mongo_tables.pages.otherpages import OtherPages


@dataclass(frozen=True)
class PagePlace:
    """Where the page is: its path as shown, and the folder that other paths are relative to.

    Where the program tells it, ``pages`` is the folder of all pages of the site; else only one page is known, and it is
    None. Under Zensical ``page`` is the path of this one in it, and ``site`` the folder that is written. ``refused_by``
    is the error of MkDocs for what a build must not go on with. ``left_out`` says of files whether the build leaves
    them out. ``watch`` are the paths that a preview follows besides pages. ``front_matter`` is what Zensical takes back
    with the page, and ``own_theme`` whether it shows the page in its own theme.
    """

    shown: str
    folder: Path
    pages: Path | None = None
    page: str = ""
    site: Path = Path()
    refused_by: type[Exception] | None = None
    left_out: Callable[[Path], bool] = none_left_out
    watch: tuple[str, ...] = ()
    front_matter: dict[str, Any] = field(default_factory=dict)
    own_theme: bool = False

    @property
    def zensical(self) -> bool:
        """Whether Zensical converts the page."""
        return bool(self.page)

    @property
    def preview(self) -> bool:
        """Whether faults are to be shown in the page."""
        return self.zensical and serving()

    def look_after(self, pipelines: Path, results: str) -> None:
        """See to what Zensical does on its own account with this page, with shared pipelines and with results."""
        if self.pages is None or not self.zensical:
            return
        # Registered before what else waits for the end of the process, so that it comes last: it may end it at once.
        look_through_feeds(self.site)
        if pipelines.parent == self.folder / self.pages:
            keep_out_of(self.site, pipelines)
        if self.preview:
            tell_unwatched(tuple(list_unwatched(self.watch, self.folder, results, pipelines)))

    def keep_none(self, contents: list[dict[str, Any]]) -> None:
        """Have the page, with this table of contents, converted at each build also where Zensical would not."""
        if self.zensical:
            ask_again(self.front_matter, contents if self.own_theme else [])

    def others(self, pipelines: str) -> OtherPages | None:
        """The pages of the site beside this one; None where only one page is known."""
        if self.pages is None:
            return None
        from mongo_tables.pages.otherpages import OtherPages

        apart = self.left_out(self.folder / self.shown)  # A preview shows it: it knows the tables of all.
        left_out = none_left_out if apart else self.left_out
        return OtherPages(self.folder, [str(self.pages)], pipelines, left_out)

    def whole(self, text: str) -> str:
        """The page with the front matter that was cut off before ``text``: lines are then those on disk."""
        return self.on_disk if self.is_all(text) else text

    def is_all(self, text: str) -> bool:
        """Whether the page's file says this text, and no more than front matter besides."""
        return self.on_disk.rstrip("\n").endswith(text.rstrip("\n"))

    @cached_property
    def on_disk(self) -> str:
        """The page's file, which is read once; nothing where there is none that can be read."""
        file = self.folder / self.shown
        try:
            return file.read_text(encoding="utf-8-sig") if file.is_file() else ""
        except (OSError, ValueError):
            return ""

    def of_file(self, file: Path) -> str:
        """The path of another file as that of the page is shown."""
        folder = self.folder.absolute()
        return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else shorten_path(file)


def find_place(md: Markdown, file: str) -> PagePlace:
    """The place of the page that ``md`` converts, as Zensical or MkDocs tell it; else it is ``file``."""
    context = next((each for each in md.preprocessors if hasattr(each, "page")), None)
    if context is None:
        links = next((each for each in md.treeprocessors if hasattr(each, "file")), None)
        if links is not None and hasattr(links, "config"):
            return _place_in_mkdocs(links)
        return PagePlace(file, Path())
    root = Path(context.config.get("root_dir") or "")
    pages = Path(context.config.get("docs_dir") or "docs")
    shown = (pages / context.page.path).as_posix()
    site = root / (context.config.get("site_dir") or "site")
    drafts = "" if serving() else context.config.get("draft_docs") or ""
    patterns = LeftOut(context.config.get("exclude_docs") or "", drafts)

    def is_left_out(page: Path) -> bool:
        return page.suffix != ".md" or patterns.has(page, root / pages)

    watch = tuple(context.config.get("watch") or ())
    return PagePlace(
        shown,
        root,
        pages,
        context.page.path,
        site,
        left_out=is_left_out,
        watch=watch,
        front_matter=context.page.meta,
        own_theme=has_own_theme(context.config, root),
    )


def _place_in_mkdocs(links: Any) -> PagePlace:
    """The page that MkDocs, or ProperDocs, is about to convert, by what resolves its links."""
    host = type(links).__module__.partition(".")[0]
    docs = Path(links.config.docs_dir)
    known = docs.relative_to(Path.cwd()) if docs.is_relative_to(Path.cwd()) else None
    refused_by = import_module(f"{host}.exceptions").PluginError

    def is_left_out(page: Path) -> bool:
        file = links.files.get_file_from_path(os.path.relpath(page, docs))
        return file is None or file.inclusion.is_excluded()

    return PagePlace(
        choose_shown_path(links.file), Path(), known, refused_by=refused_by, left_out=is_left_out
    )
