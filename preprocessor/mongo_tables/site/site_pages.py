"""The pages on disk from which a site is built: those of its folders, except excluded ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mongo_tables.directives.keywords import RST
from mongo_tables.files.folders import plain_path
from mongo_tables.site.site_config import (
    OWN_FILE,
    SiteConfig,
    find_files,
    find_site,
    from_here,
)


def page_folders(site: SiteConfig) -> list[str]:
    """Return the folders of all pages of a site, as paths from the working folder."""
    return list(map(from_here, site.folders))


class Whereabouts:
    """Finds the site of a page's build: the one that is asked about, else the nearest above the page."""

    def __init__(self, asked: SiteConfig) -> None:
        self._asked = asked if asked.file.is_file() else None
        self._nearest: dict[Path, SiteConfig | None] = {}

    def of(self, file: str) -> SiteConfig | None:
        """Return the site of a page, or None if no site is built from it."""
        page = plain_path(Path(file))
        nearest = self._find_around(page)
        return nearest if nearest and nearest.has(page) else None

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
        if nearest.file.name != OWN_FILE:
            return False
        return page in nearest.folders if nearest.pages else _is_shown_first(page)

    def _find_around(self, page: Path) -> SiteConfig | None:
        """Return the site that is asked about if it contains the page, else the nearest site above it."""
        if self._asked and self._asked.has(page):
            return self._asked
        if page.parent not in self._nearest:
            self._nearest[page.parent] = self._find_nearest(page.parent)
        return self._nearest[page.parent]

    def _find_nearest(self, folder: Path) -> SiteConfig | None:
        if self._asked and self._asked.file in find_files(folder):
            return self._asked  # Reading a configuration file takes as long as checking a page.
        return find_site(folder)

    def leave_out(self, page: Path) -> bool:
        """Return whether the build of a page's site excludes it."""
        built = self.of(str(page))
        return built is not None and built.leaves_out(plain_path(page))

    def folders_of(self, files: Iterable[str]) -> list[str]:
        """Return the folders of all pages that are built together with any of ``files``."""
        sites = {id(built): built for file in files if (built := self.of(file))}
        return sorted({from_here(folder) for built in sites.values() for folder in built.folders})


def _is_shown_first(page: Path) -> bool:
    """Return whether a page is the README of its repository, or of its folder if there is no repository.

    https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-readmes
    """
    root = next((folder for folder in page.parents if (folder / ".git").exists()), page.parent)
    return page.stem.lower() == "readme" and page.parent in (root, root / ".github")
