"""Which pages on disk a site is built from: those of its folders, without those that the build leaves out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mongo_tables.findings.usage import UsageError
from mongo_tables.site.site_config import OWN_FILE, Site, find_files, find_site, folder_in_site, from_here


class SitePages(NamedTuple):
    """A site with its folders of pages; each has the folder in which the build has its pages, "" for the first."""

    site: Site
    folders: tuple[tuple[Path, str], ...]

    def below(self, page: Path) -> list[tuple[Path, str]]:
        """The folders that a page stands in."""
        return [each for each in self.folders if page.is_relative_to(each[0])]

    def leave_out(self, page: Path) -> bool:
        """Whether the build leaves out a page of the site's folders. Raises UsageError for an invalid pattern."""
        try:
            return all(
                page != folder and self.site.left_out.has(page, folder, within)
                for folder, within in self.below(page)
            )
        except ValueError as error:
            raise UsageError(
                f"{self.site.file.name}: `exclude_docs` or `draft_docs`: {error}",
                "write patterns as .gitignore has them, one a line",
            ) from None


def pages_of(site: Site) -> SitePages:
    """The folders of a site, and single pages, with the folders of the sites that its ``nav`` includes.

    Raises UsageError for one of these that cannot be read.
    """
    own = ((_plain(folder), "") for folder in site.pages or (site.docs,))
    return SitePages(site, (*own, *_of_included(site)))


def _of_included(site: Site) -> Iterator[tuple[Path, str]]:
    if not site.includes:
        return
    from mongo_tables.site.settings_files import yaml_settings

    for file in site.includes:
        settings = yaml_settings(file)
        docs, name = settings.get("docs_dir", "docs"), settings.get("site_name")
        if isinstance(docs, str) and isinstance(name, str):  # Else the plugin says what is missing.
            yield _plain(file.parent / docs), folder_in_site(name)


def page_folders(site: Site) -> list[str]:
    """The folders of all pages that a site is built from, as one would write them from here."""
    return [from_here(folder) for folder, _ in pages_of(site).folders]


class Whereabouts:
    """Says of pages which site they are built with: the one that is asked about, else the nearest above them."""

    def __init__(self, asked: Site) -> None:
        self._asked = pages_of(asked) if asked.file.is_file() else None
        self._nearest: dict[Path, SitePages | None] = {}

    def of(self, file: str) -> SitePages | None:
        """The site of a page; None where no site is built from it."""
        page = _plain(Path(file))
        nearest = self._find_around(page)
        return nearest if nearest and nearest.below(page) else None

    def is_read_as_it_is(self, file: str) -> bool:
        """Whether a page is one that code hosts show as it is: ``mongo-tables.toml`` names it, and no site is there.

        Where none names pages, it is the README that hosts show of a repository. Of a page in a folder that is named,
        nobody knows: it may be what other pages are rendered from.
        """
        page = _plain(Path(file))
        nearest = self._find_around(page)
        if nearest is None:
            return _is_shown_first(page)
        if nearest.site.file.name != OWN_FILE:
            return False
        named = nearest.site.pages
        return any(_plain(each) == page for each in named) if named else _is_shown_first(page)

    def _find_around(self, page: Path) -> SitePages | None:
        """The site that is asked about where it has the page, else the one that is described nearest above it."""
        if self._asked and self._asked.below(page):
            return self._asked
        if page.parent not in self._nearest:
            self._nearest[page.parent] = self._find_nearest(page.parent)
        return self._nearest[page.parent]

    def _find_nearest(self, folder: Path) -> SitePages | None:
        if self._asked and self._asked.site.file in find_files(folder):
            return self._asked  # reading a configuration file takes as long as checking a page
        site = find_site(folder)
        return pages_of(site) if site else None

    def leave_out(self, page: Path) -> bool:
        """Whether the build of a page's site leaves it out."""
        built = self.of(str(page))
        return built is not None and built.leave_out(_plain(page))

    def folders_of(self, files: Iterable[str]) -> list[str]:
        """The folders of all pages that are built together with some of the pages ``files``."""
        sites = {id(built): built for file in files if (built := self.of(file))}
        return sorted({from_here(folder) for built in sites.values() for folder, _ in built.folders})


def _is_shown_first(page: Path) -> bool:
    """Whether a page is the README of its repository; where there is no repository around it, of its folder.

    https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-readmes
    """
    root = next((folder for folder in page.parents if (folder / ".git").exists()), page.parent)
    return page.stem.lower() == "readme" and page.parent in (root, root / ".github")


def _plain(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - without links followed, as MkDocs takes its folder
