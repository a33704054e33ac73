"""The pages on disk from which a site is built: those of its folders, except excluded ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mongo_tables.directives.keywords import RST
from mongo_tables.files.folders import plain_path
from mongo_tables.findings.usage import CommandError
from mongo_tables.site.site_config import (
    OWN_FILE,
    SiteConfig,
    find_files,
    find_site,
    folder_in_site,
    from_here,
)


class SitePages(NamedTuple):
    """A site with its folders of pages, each with the path of its pages in the build, "" for the first."""

    site: SiteConfig
    folders: tuple[tuple[Path, str], ...]

    def below(self, page: Path) -> list[tuple[Path, str]]:
        """Return the folders that contain a page."""
        return [each for each in self.folders if page.is_relative_to(each[0])]

    def leave_out(self, page: Path) -> bool:
        """Return whether the build excludes a page of the site.

        Raises CommandError for an invalid pattern.
        """
        try:
            return all(
                page != folder and self.site.left_out.has(page, folder, within)
                for folder, within in self.below(page)
            )
        except ValueError as error:
            raise CommandError(
                f"{self.site.file.name}: `exclude_docs` or `draft_docs`: {error}",
                "write patterns as .gitignore has them, one a line",
            ) from None


def pages_of(site: SiteConfig) -> SitePages:
    """Return the folders and single pages of a site, with the folders of the sites that its ``nav`` includes.

    Raises:
        CommandError: If an included site cannot be read.
    """
    own = ((plain_path(folder), "") for folder in site.pages or (site.docs,))
    return SitePages(site, (*own, *_of_included(site)))


def _of_included(site: SiteConfig) -> Iterator[tuple[Path, str]]:
    if not site.includes:
        return
    from mongo_tables.site.settings_files import yaml_settings

    for file in site.includes:
        settings = yaml_settings(file)
        docs, name = settings.get("docs_dir", "docs"), settings.get("site_name")
        if isinstance(docs, str) and isinstance(name, str):  # Otherwise the plugin reports what is missing.
            yield plain_path(file.parent / docs), folder_in_site(name)


def page_folders(site: SiteConfig) -> list[str]:
    """Return the folders of all pages of a site, as paths from the working folder."""
    return [from_here(folder) for folder, _ in pages_of(site).folders]


class Whereabouts:
    """Finds the site of a page's build: the one that is asked about, else the nearest above the page."""

    def __init__(self, asked: SiteConfig) -> None:
        self._asked = pages_of(asked) if asked.file.is_file() else None
        self._nearest: dict[Path, SitePages | None] = {}

    def of(self, file: str) -> SitePages | None:
        """Return the site of a page, or None if no site is built from it."""
        page = plain_path(Path(file))
        nearest = self._find_around(page)
        return nearest if nearest and nearest.below(page) else None

    def is_read_as_it_is(self, file: str) -> bool:
        """Return whether code hosts show a page as it is: ``mongo-tables.toml`` lists it, without a site.

        Without such a list, this is the README that hosts show for a repository. Pages in a listed folder do
        not count, because other pages may be rendered from them, nor does reStructuredText, whose figures only
        Sphinx shows.
        """
        page = plain_path(Path(file))
        if page.suffix == RST:
            return False
        nearest = self._find_around(page)
        if nearest is None:
            return _is_shown_first(page)
        if nearest.site.file.name != OWN_FILE:
            return False
        named = nearest.site.pages
        return any(plain_path(each) == page for each in named) if named else _is_shown_first(page)

    def _find_around(self, page: Path) -> SitePages | None:
        """Return the site that is asked about if it contains the page, else the nearest site above it."""
        if self._asked and self._asked.below(page):
            return self._asked
        if page.parent not in self._nearest:
            self._nearest[page.parent] = self._find_nearest(page.parent)
        return self._nearest[page.parent]

    def _find_nearest(self, folder: Path) -> SitePages | None:
        if self._asked and self._asked.site.file in find_files(folder):
            return self._asked  # Reading a configuration file takes as long as checking a page.
        site = find_site(folder)
        return pages_of(site) if site else None

    def leave_out(self, page: Path) -> bool:
        """Return whether the build of a page's site excludes it."""
        built = self.of(str(page))
        return built is not None and built.leave_out(plain_path(page))

    def folders_of(self, files: Iterable[str]) -> list[str]:
        """Return the folders of all pages that are built together with any of ``files``."""
        sites = {id(built): built for file in files if (built := self.of(file))}
        return sorted({from_here(folder) for built in sites.values() for folder, _ in built.folders})


def _is_shown_first(page: Path) -> bool:
    """Return whether a page is the README of its repository, or of its folder if there is no repository.

    https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-readmes
    """
    root = next((folder for folder in page.parents if (folder / ".git").exists()), page.parent)
    return page.stem.lower() == "readme" and page.parent in (root, root / ".github")
