"""The place of the page that Python-Markdown converts, as the calling program provides it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mongo_tables.site.site_config import NAME, ExclusionPatterns, results_source

if TYPE_CHECKING:
    from markdown import Markdown
    from mkdocs.config.defaults import MkDocsConfig


@dataclass(frozen=True, eq=False)
class HostBuild:
    """One build of a host, equal for all its pages and for those of no other build.

    Attributes:
        made: What the host makes once for each build, and hands over with each page.
        leaves_out: Returns whether the build excludes a file.
    """

    made: object
    leaves_out: Callable[[Path], bool]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostBuild) and self.made is other.made

    def __hash__(self) -> int:
        return id(self.made)


@dataclass(frozen=True)
class PagePlace:
    """The page's path as shown, and the folder that other paths are relative to.

    Attributes:
        pages: The folder of all pages of the site, or None if only this page is known.
        refused_by: The error class of MkDocs that stops a build.
        build: The build that converts the page.
        preview: Whether faults are shown in the page.
        options: The options of the plugin, if the site lists it as well.
    """

    shown: str
    folder: Path
    pages: Path | None = None
    refused_by: type[Exception] | None = None
    build: HostBuild | None = None
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
    patterns = ExclusionPatterns(context.config.get("exclude_docs") or "", drafts)

    def leaves_out(page: Path) -> bool:
        return page.suffix != ".md" or patterns.has(page, root / pages)

    return PagePlace(
        (pages / context.page.path).as_posix(),
        root,
        pages,
        build=HostBuild(context.config, leaves_out),
        preview=preview,
    )


def _place_in_mkdocs(links: Any) -> PagePlace:
    """Return the place of the page that MkDocs or ProperDocs converts, from its processor for links."""
    from mongo_tables.hosts.options import choose_shown_path  # only where MkDocs is installed

    host = type(links).__module__.partition(".")[0]
    docs = Path(links.config.docs_dir)
    known = docs.relative_to(Path.cwd()) if docs.is_relative_to(Path.cwd()) else None

    def leaves_out(page: Path) -> bool:
        file = links.files.get_file_from_path(os.path.relpath(page, docs))
        return file is None or bool(file.inclusion.is_excluded())

    return PagePlace(
        choose_shown_path(links.file),
        Path(),
        known,
        refused_by=import_module(f"{host}.exceptions").PluginError,
        build=HostBuild(links.files, leaves_out),
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
