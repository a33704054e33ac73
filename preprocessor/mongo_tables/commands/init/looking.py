"""What there is in a repository that a set-up has to fit: its pages, and the folder of its hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.directives.keywords import may_have_comment
from mongo_tables.directives.page_scan import find
from mongo_tables.findings.usage import UsageError
from mongo_tables.site.disk import PAGE_SUFFIXES, pages_under, read_text
from mongo_tables.site.site_config import OWN_FILE, Site
from mongo_tables.site.site_pages import pages_of

_ON_HOST: Final = ("benchmarks", "readme")
"""Pages that a code host shows, the likeliest first."""


class ChosenPage(NamedTuple):
    """The page that the first table goes to; ``is_built``: a site shows it, which makes the table by itself."""

    path: Path
    is_built: bool


def choose_page(folder: Path, site: Site | None) -> ChosenPage:
    """Where a first table is seen: a page of the site, else one that a code host shows."""
    if site is None:
        return ChosenPage(_page_on_host(folder), is_built=False)
    named = [path for path in site.pages if path.suffix.lower() in PAGE_SUFFIXES]
    path = named[0] if named else (*site.pages, site.docs)[0] / "results.md"
    return ChosenPage(path, is_built=site.file.name != OWN_FILE)


def _page_on_host(folder: Path) -> Path:
    names = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
    for stem in _ON_HOST:
        for suffix in PAGE_SUFFIXES:
            if found := names.get(f"{stem}{suffix}"):
                return found
    # Beside a README of another markup, which the host shows, a second one would hide.
    has_other = any(name.partition(".")[0] == "readme" for name in names)
    return folder / ("BENCHMARKS.md" if has_other else "README.md")


def find_pages_with_comments(site: Site | None, page: ChosenPage) -> list[Path]:
    """The pages that have a comment of ours already, of all that are checked, and the one that is chosen."""
    folders = [folder for folder, _ in pages_of(site).folders] if site else []
    checked = (path for folder in folders for path in pages_under(folder))
    return [path for path in dict.fromkeys((*checked, page.path)) if path.is_file() and _has_comment(path)]


def _has_comment(path: Path) -> bool:
    try:
        text = read_text(path)
    except (UsageError, OSError):  # The check says so.
        return False
    return may_have_comment(text) and bool(find(text, path.name).comments)


def repository_of(folder: Path) -> Path | None:
    """The outermost folder of the Git repository that a folder is in; None where it is in none."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
