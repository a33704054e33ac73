"""Corrects figures that quote tables on other pages, once all pages are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mongo_tables.pages.placeholders import tokens
from mongo_tables.site.amending import amend_page, too_late, with_amendments, without_numbers
from mongo_tables.site.headings import repeat_headings
from mongo_tables.site.pagefigures import plain_of
from mongo_tables.site.plainmarkdown import with_plain_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.pages.build import Build
    from mongo_tables.site.amending import Amended
    from mongo_tables.site.sitebuild import SiteBuild


def settle(site: SiteBuild, readers: Sequence[str]) -> None:
    """Amend figures that have changed since; ``readers`` are plugins that have read the HTML of pages before."""
    if site.kept is not None or site.apart is not None:
        pages = site.fresh if site.kept is None else site.kept
        for name in (name for name, kept in pages.items() if kept.told):
            _take_numbers_out(site.given[name].page)
        return
    now = site.known.of(site.pages.values())
    for name, told in site.told.items():
        page = site.given[name].page
        if changes := amend_page(site.pages[name], told, now):
            _amend(site, page, changes, now, readers)
        _take_numbers_out(page)


def _take_numbers_out(page: SitePage) -> None:
    page.content = without_numbers(page.content or "")


def _amend(
    site: SiteBuild, page: SitePage, changes: Sequence[Amended], now: Build, readers: Sequence[str]
) -> None:
    name = page.file.src_uri
    given, places = site.pages[name], tokens(site.pages[name])
    page.content, lost = with_amendments(page.content or "", changes)
    repeat_headings(page, page.content)
    site.late += too_late(given, changes if readers else lost, readers)
    new = {places[change.number]: change.now for change in changes}
    plain = plain_of(site, given, now)
    if plain:
        page.markdown = with_plain_figures(site.tokens_in[name], plain)
    if name in site.fresh:
        site.fresh[name] = site.fresh[name].with_changes(new, plain)
    if name in site.excerpted:
        site.excerpted[name] = {**site.excerpted[name], **new}
