"""The tables of other pages: a page that is named alone may take its numbers from them.

Where a documentation ends, the file beside its folder says: the one that its site is built from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from preprocessor.pages.files import read_paths
from preprocessor.pages.ids import ids_of, written_ids
from preprocessor.pages.included import Included, included
from preprocessor.pages.model import Page
from preprocessor.pages.siteconfig import Site
from preprocessor.pages.sitepages import Whereabouts
from preprocessor.specs.model import QuotingSpec


def companions(pages: Sequence[Page], pipelines: str, site: Site, *, apart: bool = False) -> list[Page]:
    """The pages of the same documentation with tables that ``pages`` name and do not have, and with those alone.

    ``site`` is the one that is asked about, ``apart`` as in ``built_together``.
    A page on which such a table is faulty comes with all its findings: they say why a number is missing.
    """
    if not any(page.specs for page in pages):
        return []
    wanted = _named(pages) - {each for page in pages for each in written_ids(page)}
    if not wanted:
        return []
    others = built_together(pages, pipelines, site, apart=apart).pages
    return [_narrowed(page, wanted) for page in others if not wanted.isdisjoint(written_ids(page))]


def built_together(pages: Sequence[Page], pipelines: str, site: Site, *, apart: bool = False) -> Included:
    """The other pages that a site is built from together with ``pages``, and what comes into them.

    A build leaves some pages out, whose tables are none of the site's. ``apart``: it leaves out ``pages`` themselves,
    which a preview may show; they know the tables of all.
    """
    where = Whereabouts(site)
    asked = {Path(page.file).resolve() for page in pages}
    others = _without(asked, read_paths(where.folders(pages), pipelines).pages)
    others = others if apart else [page for page in others if not where.leave_out(page)]
    taken_in = included(others, pipelines)
    return Included([*others, *_without(asked, taken_in.pages)], taken_in.open_ended)


def _without(asked: set[Path], pages: Sequence[Page]) -> list[Page]:
    return [page for page in pages if Path(page.file).resolve() not in asked]


def _named(pages: Sequence[Page]) -> set[str]:
    """The ids that values and statements name."""
    return {spec.table for page in pages for spec in page.specs if isinstance(spec, QuotingSpec)}


def _ids(page: Page) -> list[list[str]]:
    """The ids of each comment, none where it has none."""
    return [ids_of(*pair) for pair in zip(page.comments, page.specs, strict=True)]


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
