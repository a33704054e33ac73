"""The tables of other pages: a page that is named alone may take its numbers from them.

Where a documentation ends, the file beside its folder says: the one that its site is built from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from preprocessor.commands import gather
from preprocessor.commands.included import Included, included
from preprocessor.commands.siteconfig import find_site, from_here
from preprocessor.pages import Page, ids_of, written_ids


def companions(pages: Sequence[Page], pipelines: str) -> list[Page]:
    """The pages of the same documentation with tables that ``pages`` name and do not have, and with those alone.

    A page on which such a table is faulty comes with all its findings: they say why a number is missing.
    """
    if not any(page.specs for page in pages):
        return []
    wanted = _named(pages) - {each for page in pages for each in written_ids(page)}
    if not wanted:
        return []
    others = built_together(pages, pipelines).pages
    return [_narrowed(page, wanted) for page in others if not wanted.isdisjoint(written_ids(page))]


def built_together(pages: Sequence[Page], pipelines: str) -> Included:
    """The other pages that a site is built from together with ``pages``, and what comes into them."""
    folders = {folder for page in pages if (folder := _documentation(Path(page.file)))}
    asked = {Path(page.file).resolve() for page in pages}
    others = _without(asked, gather(sorted(folders), pipelines).pages)
    taken_in = included(others, pipelines)
    return Included([*others, *_without(asked, taken_in.pages)], taken_in.open_ended)


def _without(asked: set[Path], pages: Sequence[Page]) -> list[Page]:
    return [page for page in pages if Path(page.file).resolve() not in asked]


def _named(pages: Sequence[Page]) -> set[str]:
    """The ids that values and statements name."""
    from preprocessor.specs import CheckSpec, ValueSpec

    return {spec.table for page in pages for spec in page.specs if isinstance(spec, ValueSpec | CheckSpec)}


def _ids(page: Page) -> list[list[str]]:
    """The ids of each comment, none where it has none."""
    return [ids_of(*pair) for pair in zip(page.comments, page.specs, strict=True)]


def _documentation(page: Path) -> str | None:
    """The folder of all pages that are built together with this one; None where no site is built from it."""
    place = page.absolute()
    site = find_site(place.parent)
    return from_here(site.docs) if site and place.is_relative_to(site.docs) else None


def _narrowed(page: Page, wanted: set[str]) -> Page:
    kept = [number for number, ids in enumerate(_ids(page)) if wanted.intersection(ids)]
    specs = tuple(page.specs[number] for number in kept)
    return replace(
        page,
        comments=tuple(page.comments[number] for number in kept),
        specs=specs,
        findings=page.findings if None in specs else (),
        server_only=tuple(page.server_only[number] for number in kept),
    )
