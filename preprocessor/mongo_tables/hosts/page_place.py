"""The place of the page that Python-Markdown converts, as the calling program provides it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mongo_tables.site.site_config import NAME, ExclusionPatterns, results_source

if TYPE_CHECKING:
    from markdown import Markdown
    from mkdocs.config.defaults import MkDocsConfig


LeavesOut = Callable[[Path], bool]


@dataclass(frozen=True)
class PagePlace:
    """The page's path as shown, and the folder that other paths are relative to.

    Attributes:
        pages: The folder of all pages of the site, or None if only this page is known.
        refused_by: The error class of MkDocs that stops a build.
        left_out: Returns whether the build excludes a file.
        preview: Whether faults are shown in the page.
        options: The options of the plugin, if the site lists it as well.
    """

    shown: str
    folder: Path
    pages: Path | None = None
    refused_by: type[Exception] | None = None
    left_out: LeavesOut | None = None
    preview: bool = False
    options: Mapping[str, Any] | None = None

    def whole(self, text: str) -> str:
        """Return the page with the front matter that ``text`` lacks, so that lines are those on disk."""
        return self.on_disk if self.on_disk.rstrip("\n").endswith(text.rstrip("\n")) else text

    @cached_property
    def on_disk(self) -> str:
        """Return the content of the page's file, read once, or "" if it cannot be read."""
        file = self.folder / self.shown
        try:
            return file.read_text(encoding="utf-8-sig") if file.is_file() else ""
        except (OSError, ValueError):
            return ""


def find_place(md: Markdown, file: str) -> PagePlace:
    """Return the place of the page that ``md`` converts, from Zensical or MkDocs, or ``file``."""
    context = next((each for each in md.preprocessors if hasattr(each, "page")), None)
    if context is not None:
        return _place_in_zensical(context)
    links = next((each for each in md.treeprocessors if hasattr(each, "file")), None)
    if links is not None and hasattr(links, "config"):
        return _place_in_mkdocs(links)
    return PagePlace(file, Path())


def _place_in_zensical(context: Any) -> PagePlace:
    root = Path(context.config.get("root_dir") or "")
    pages = Path(context.config.get("docs_dir") or "docs")
    preview = next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "serve"
    drafts = "" if preview else context.config.get("draft_docs") or ""
    return PagePlace(
        (pages / context.page.path).as_posix(),
        root,
        pages,
        left_out=_leaves_out(context.config.get("exclude_docs") or "", drafts, root / pages),
        preview=preview,
    )


@cache
def _leaves_out(exclude: str, drafts: str, docs: Path) -> LeavesOut:
    """Return a function that says whether Zensical excludes a page; the same one for all pages of a build."""
    patterns = ExclusionPatterns(exclude, drafts)
    return lambda page: page.suffix != ".md" or patterns.has(page, docs)


def _place_in_mkdocs(links: Any) -> PagePlace:
    """Return the place of the page that MkDocs or ProperDocs converts, from its processor for links."""
    from mongo_tables.hosts.options import choose_shown_path  # only where MkDocs is installed

    host = type(links).__module__.partition(".")[0]
    docs = Path(links.config.docs_dir)
    known = docs.relative_to(Path.cwd()) if docs.is_relative_to(Path.cwd()) else None
    return PagePlace(
        choose_shown_path(links.file),
        Path(),
        known,
        refused_by=import_module(f"{host}.exceptions").PluginError,
        left_out=_leaves_out_of(links.files, docs),
        options=_options_of_plugin(links.config),
    )


def _options_of_plugin(config: MkDocsConfig) -> Mapping[str, Any] | None:
    """Return the options of the plugin, with paths from the root, or None if the site does not list it."""
    plugin: Any = config.plugins.get(NAME)
    if plugin is None:
        return None
    from mongo_tables.hosts.options import pipelines_of, root_of  # only where MkDocs is installed

    results = results_source(plugin.config["results"], root_of(config))
    return {**plugin.config, "results": results, "pipelines": str(pipelines_of(plugin.config, config))}


@lru_cache(maxsize=1)
def _leaves_out_of(files: Any, docs: Path) -> LeavesOut:
    """Return a function that says whether MkDocs excludes a page; the same one for all pages of a build."""

    def is_left_out(page: Path) -> bool:
        file = files.get_file_from_path(os.path.relpath(page, docs))
        return file is None or file.inclusion.is_excluded()

    return is_left_out
