"""The figures of one page: tokens in its Markdown, figures in its HTML, and texts in its Markdown for its readers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mongo_tables.pages.faultboxes import fault_box, find_taken_anchors, no_place
from mongo_tables.pages.placeholders import show_comments_again, swap_tokens, tokens, with_tokens
from mongo_tables.render.anchors import anchors_in
from mongo_tables.site.amending import Told, find_tables_elsewhere, with_numbers
from mongo_tables.site.buildcache import hash_given
from mongo_tables.site.documents import Documents
from mongo_tables.site.downloads import Shelf
from mongo_tables.site.excerpts import excerpt_of
from mongo_tables.site.keptpages import Broken, KeptPage, Made, large_figures
from mongo_tables.site.pagebypage import is_sound, let_go, read_alone, take_over, with_names
from mongo_tables.site.plainmarkdown import plain_figures, with_plain_figures
from mongo_tables.site.reporting import log
from mongo_tables.site.searchtext import search_words
from mongo_tables.site.sitebuild import Given
from mongo_tables.site.sitereading import make_anew, markdown_of, read_given
from mongo_tables.site.source import find_watched_path
from mongo_tables.site.tokensleft import names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page
    from mongo_tables.site.plainmarkdown import Plain
    from mongo_tables.site.sitebuild import SiteBuild


def put_tokens(site: SiteBuild, markdown: str, page: SitePage) -> str:
    """The Markdown of a page with a token for each of its comments."""
    name = page.file.src_uri
    altered = markdown != page.markdown or site.config.plugins.events["page_read_source"]
    site.given[name] = Given(page, len(markdown), markdown if altered else None)
    given = hash_given(markdown, page.url) if site.key else ""
    text = _kept_text(site, name, given)
    if text is None:
        if site.kept is not None:
            make_anew(site)
        read = _read(site, markdown, page)
        text = _text_with_tokens(read, len(markdown))
        if site.key:
            # With figures it is packed when they are there.
            site.fresh[name] = (
                KeptPage(given, (), b"", b"", b"")
                if name in site.pages
                else _pack(site, read, given, Made(text))
            )
    site.tokens |= names_in(text)
    return text


def _read(site: SiteBuild, markdown: str, page: SitePage) -> Page:
    if (alone := read_alone(site, markdown, page)) is not None:
        return alone
    if site.apart is not None:
        make_anew(site)
    return read_given(site, markdown, page)


def _kept_text(site: SiteBuild, name: str, given: str) -> str | None:
    """The text with tokens that was kept of a page, where it was made from the same; None where nothing is of use."""
    kept = take_over(site, name, given) if site.kept is None else site.kept.get(name)
    if kept is None or kept.given != given:
        return None
    try:
        site.opened = name, kept.open_head()
    except Broken:
        return None
    return site.opened[1].text


def _text_with_tokens(given: Page, length: int) -> str:
    return with_tokens(given)[len(given.text) - length :]


def put_figures(site: SiteBuild, html: str, page: SitePage) -> str:
    """The HTML of a page with the figures in the places of their tokens."""
    name = page.file.src_uri
    known = site.apart.taken_over if site.apart is not None else site.kept
    kept = known.get(name) if known is not None and name in site.given else None
    if kept is not None:
        if (made := _with_kept(site, html, page, kept)) is not None:
            return made
        make_anew(site)
    given = site.pages.get(name)
    if given is None:
        return html
    if site.apart is not None and not is_sound(site, given):
        make_anew(site)
        given = read_given(site, markdown_of(site, site.given[name]), page)
    made = _with_figures(site, html, page, given)
    if site.apart is not None:
        let_go(site, name)
    return made


def _with_kept(site: SiteBuild, html: str, page: SitePage, kept: KeptPage) -> str | None:
    """The page's HTML with the figures that were kept; None where they do not fit what other plugins made of it."""
    opened, site.opened = site.opened, None
    try:
        head = opened[1] if opened and opened[0] == page.file.src_uri else kept.open_head()
        body = kept.open_body() if site.content_is_read else None
    except Broken:
        return None
    large = body.figures if body else dict(zip(head.large, head.large, strict=True))
    figures = {**head.figures, **large}
    html, lost = swap_tokens(html, with_numbers(figures, kept.told))
    if lost or not set(head.anchors).isdisjoint(page.present_anchor_ids or ()):
        return None
    if body:
        site.downloads |= body.files
    _note_figures(site, page, large if body else kept, head.anchors)
    _put_plain(site, page, figures, head.plain, bool(kept.told))
    return html


def _with_figures(site: SiteBuild, html: str, page: SitePage, given: Page) -> str:
    from mongo_tables.pages.figures import figures_of, loose_findings  # what is kept does not pay for drawing

    name, places = page.file.src_uri, tokens(given)
    shelf = Shelf(name, page.url)
    find = partial(list_published(site).address, page.url)
    figures = dict(zip(places, figures_of(given, site.known, shelf.place, find), strict=True))
    plain = plain_of(site, given, site.known)
    told = find_tables_elsewhere(given)
    if told and site.apart is None:  # Where pages are let go of, each came as it is quoted here.
        tables = {table: site.known.tables.get(table) for table in told.values()}
        site.told[name] = Told({index: figures[places[index]] for index in told}, tables)
    site.late += find_taken_anchors(given, page.present_anchor_ids or ())
    shown = _take_in(site, page, given, figures, Made("", figures, plain, shelf.files, told=tuple(told)))
    html, lost = swap_tokens(html, with_numbers(shown, told))
    _put_plain(site, page, figures, plain, bool(told))
    if lost and not _title_alone(page, with_tokens(given), lost):
        html = _without(site, lost, html, given)
    box = fault_box([*(site.source_findings() if given.pipeline_specs else ()), *loose_findings(given)])
    return f"{box}\n{html}" if box else html


def _take_in(
    site: SiteBuild, page: SitePage, given: Page, figures: Mapping[str, str], made: Made
) -> Mapping[str, str]:
    """Keep what was made for a page; gives what its HTML has in the place of each token for now."""
    name = page.file.src_uri
    anchors = [anchor for html in figures.values() for anchor in anchors_in(html)]
    large = {token: figures[token] for token in large_figures(figures, made.told)}
    if site.key or not site.content_is_read:
        text = _text_with_tokens(given, site.given[name].length)
        words = {token: search_words(html, rows=site.rows_are_read) for token, html in large.items()}
        before = site.fresh.get(name)
        whole = made._replace(text=text, words=words, anchors=anchors)
        kept = _pack(site, given, before.given if before else "", whole)
        if before:
            site.fresh[name] = kept
        if not site.content_is_read:
            _note_figures(site, page, kept, anchors)
            return {**figures, **{token: token for token in large}}
    site.downloads |= made.files
    _note_figures(site, page, large, anchors)
    return figures


def _pack(site: SiteBuild, read: Page, given: str, made: Made) -> KeptPage:
    """Pack what was made of a page; with its names where it was made by itself, and may be taken over."""
    kept = KeptPage.of(given, made)
    return kept if site.apart is None else with_names(read, kept).spooled(site.apart.spool)


def _note_figures(
    site: SiteBuild, page: SitePage, large: Mapping[str, str] | KeptPage, anchors: Iterable[str]
) -> None:
    """Hold large figures until the page is written; tell MkDocs, which has looked for anchors already, of those."""
    if isinstance(large, KeptPage):
        site.bodies[page.file.src_uri] = large
    else:
        site.figures[page.file.src_uri] = dict(large)
    if page.present_anchor_ids is not None:
        page.present_anchor_ids.update(anchors)


def _without(site: SiteBuild, lost: list[str], html: str, given: Page) -> str:
    comments = dict(zip(tokens(given), given.comments, strict=True))
    site.late += [no_place(given.file, comments[token]) for token in lost]
    sources = {token: given.text[comments[token].start : comments[token].end] for token in lost}
    return show_comments_again(html, sources)


def _title_alone(page: SitePage, text: str, lost: Sequence[str]) -> bool:
    """Whether the plugin that generated a page has left nothing of ``text`` but its title, none of it being lost.

    Blogs do so with the further pages of a list, which are made from a copy of the first one.
    """
    left = (page.markdown or "").strip()
    if not page.file.generated_by or not left.startswith("# ") or "\n" in left:
        return False
    titles = [line for line in text.split("\n") if line.startswith("#")]
    return not any(token in line for line in titles for token in lost)


def plain_of(site: SiteBuild, given: Page, known: Build) -> Mapping[str, Plain]:
    """The Markdown text in place of each figure, by token; empty when nothing reads the page's Markdown."""
    if not site.markdown_is_read:
        return {}
    return dict(zip(tokens(given), plain_figures(given, known), strict=True))


def _put_plain(
    site: SiteBuild, page: SitePage, figures: Mapping[str, str], plain: Mapping[str, Plain], told: bool
) -> None:
    """Leave the page's Markdown, which is converted by now, without tokens for its later readers."""
    if not site.markdown_is_read:
        return
    name, markdown = page.file.src_uri, page.markdown or ""
    page.markdown = with_plain_figures(markdown, plain)
    if excerpt_of(page) is not None:
        site.excerpted[name] = figures
    if told or name in site.excerpted:
        site.tokens_in[name] = markdown


def list_published(site: SiteBuild) -> Documents:
    """The result documents that are published beside the pages."""
    if site.documents is None:
        where, collection = site.asked.where, site.options.documents
        site.documents = Documents.of(site.asked.local, collection)
        if collection and not site.documents.files and find_watched_path(where):
            log.warning("documents: %s has no documents in lines of the collection %s", where, collection)
    return site.documents
