"""The figures of a page for as long as it is written: as words for search plugins first, then as readers get them."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mkdocs.exceptions import PluginError

from mongo_tables.site.buildcache import forget
from mongo_tables.site.downloads import put
from mongo_tables.site.keptpages import Broken
from mongo_tables.site.searchtext import in_full, in_words, search_words, with_words
from mongo_tables.site.sitebuild import Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.site.sitebuild import SiteBuild

_T = TypeVar("_T")


def show_words(site: SiteBuild, page: SitePage) -> None:
    """Let the HTML of a page have the words of its figures alone."""
    name, html = page.file.src_uri, page.content or ""
    packed = site.bodies.pop(name, None)
    if packed is None:
        figures = site.figures.get(name, {})
        words = {token: search_words(figure, rows=site.rows_are_read) for token, figure in figures.items()}
        page.content = in_words(html, figures, site.waiting.mark(words) if site.waiting and words else words)
        return
    site.written = Written(_open(site, packed.open_body), html)
    if site.waiting:
        shown = site.waiting.mark_packed(site.written.body.figures, packed.words)
    else:
        shown = _open(site, packed.open_words)
    page.content = with_words(html, shown)


def show_figures(site: SiteBuild, page: SitePage) -> None:
    """Let the HTML of a page have its figures, and write the files that they link to."""
    html = page.content or ""
    if site.written is None:
        page.content = in_full(html, site.figures.pop(page.file.src_uri, {}))
        return
    body = site.written.body
    page.content = in_full(html, body.figures)
    site.downloads |= dict.fromkeys(body.files, "")
    write_files(site, body.files)


def put_away(site: SiteBuild, page: SitePage) -> None:
    """Take the figures out of a page that is written: MkDocs holds its HTML to the end, and nobody reads it."""
    if site.written is not None:
        page.content, site.written = site.written.html, None


def write_files(site: SiteBuild, files: Mapping[str, str | bytes]) -> None:
    """Write files into the site. Raises ``PluginError`` where that cannot be done."""
    with _writing():
        put(files, Path(site.config.site_dir))


def fill_index(site: SiteBuild) -> None:
    """Put the words of figures into the index of the site's search, where they wait for it. Raises ``PluginError``."""
    if site.waiting is not None:
        with _writing():
            _open(site, partial(site.waiting.fill_index, Path(site.config.site_dir)))


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PluginError(f"mongo-tables: {error.filename}: {error.strerror}") from None


def _open(site: SiteBuild, unpack: Callable[[], _T]) -> _T:
    try:
        return unpack()
    except Broken:
        forget(Path(site.asked.where), site.key)
        raise PluginError(
            "mongo-tables: kept figures were broken, and are dropped; build once more"
        ) from None
