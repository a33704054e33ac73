"""The pages of a site as MkDocs has them: on disk at first, then as other plugins hand them over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import InclusionLevel
from mkdocs.utils import meta

from mongo_tables.comments.search import may_have_comment
from mongo_tables.files import gcpause
from mongo_tables.files.states import list_states, list_ways
from mongo_tables.files.text import may_be_file
from mongo_tables.pages.build import Build
from mongo_tables.results.opening import is_uri
from mongo_tables.site.amending import Told
from mongo_tables.site.buildcache import (
    folder_state,
    hash_given,
    key_of,
    load,
    load_latest,
    may_be_kept,
    note_latest,
    store,
)
from mongo_tables.site.keptpages import Broken
from mongo_tables.site.pagebypage import begin
from mongo_tables.site.reporting import refuse_unreadable
from mongo_tables.site.sitebuild import Given, SiteBuild
from mongo_tables.site.source import find_watched_path
from mongo_tables.site.takenin import read_taken_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mkdocs.structure.files import File, Files
    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.pages.model import Page


def read_files(site: SiteBuild, files: Files) -> None:
    """Read the pages that there are by now, each once. Raises ``PluginError`` for one that cannot be read."""
    level = InclusionLevel.is_in_serve if site.serving else InclusionLevel.is_included
    before, without = site.files, []
    site.files = {}
    for file in files.documentation_pages(inclusion=level):
        read = before.get(file.src_uri)
        text = read[1] if read is not None and read[0] is file else _text(file)
        site.files[file.src_uri] = file, text
        if not text:
            without.append(file)
    if without:
        refuse_unreadable(without)


def _text(file: File) -> str:
    """A page as it is on disk; nothing when it cannot be read (``refuse_unreadable``)."""
    if file.abs_src_path and not may_be_file(Path(file.abs_src_path)):
        return ""  # a pipe would be waited for, a device read without end
    try:
        return file.content_string
    except (OSError, ValueError):
        return ""


def load_or_ask(site: SiteBuild) -> None:
    """Take the figures that an earlier build kept, where nothing changed since; else run every pipeline."""
    site.key = _site_key(site)
    site.kept = load(Path(site.asked.where), site.key) if site.key else None
    if site.kept is None:
        if not begin(site, lambda: load_latest(Path(site.asked.where), _key_of_site(site, ()))):
            ask_all(site)
    else:  # The key has seen the texts; thousands of them are not held for a page that may come otherwise.
        site.files = {name: (file, "") for name, (file, _) in site.files.items()}


def look_for_writes(site: SiteBuild) -> str:
    """A text that is another one once a file of results, or a shared pipeline, was written to; a database is not asked.

    Of one nothing is kept.
    """
    if is_uri(site.asked.where):
        return ""
    folder = str(site.reader.folder)
    shared = sorted(list_states(folder, (".json",)))
    # Where results are those of several files, or of a pattern, the source tells the ways to each.
    results = find_watched_path(site.asked.where)
    ways = sorted(way for place in (results, folder) if place for way in list_ways(place))
    return f"{site.asked.writes()}\n{shared}\n{ways}"


def text_of(site: SiteBuild, name: str) -> str:
    """A page as it is on disk; nothing where there is none of this name."""
    file, text = site.files.get(name, (None, ""))
    return _text(file) if file is not None and not text else text


def markdown_of(site: SiteBuild, given: Given) -> str:
    """The Markdown of a page as it came."""
    if given.markdown is not None:
        return given.markdown
    return str(meta.get_data(text_of(site, given.page.file.src_uri))[0])


def _site_key(site: SiteBuild) -> str:
    """A key of what is known before the first page comes; empty where that is not all, or need not be (a preview).

    Of pages this is how they are on disk, or were generated: what they come as is for each of them to compare.
    """
    pages = [(name, text) for name, (_, text) in site.files.items() if may_have_comment(text)]
    if site.asked.state is None or site.serving or not pages:
        return ""
    return _key_of_site(site, (part for page in pages for part in page))


def _key_of_site(site: SiteBuild, texts: Iterable[str]) -> str:
    config, options = site.config, site.options
    links = repr((config.use_directory_urls, options.documents, site.markdown_is_read, site.rows_are_read))
    # A site that no linter has looked at is not one to believe where its warnings are to fail the build.
    settings = [repr(site.asked.limits), links, repr((config.strict, options.fail_on, options.server))]
    return key_of([site.asked.state or "", folder_state(site.reader.folder), *settings, *texts])


def ask_all(site: SiteBuild) -> None:
    """Read every page and run every distinct pipeline at once."""
    pages = [(file, text) for file, text in site.files.values() if may_have_comment(text)]
    if not pages:
        return
    site.reader.refresh()
    with gcpause.nothing_collected():
        found = (site.reader.on_disk(file, text) for file, text in pages)
        site.known = Build(site.asked, [page for page in found if page is not None])
        site.known.ask(with_sources=True)
        site.asked.forget()
    if not site.serving:  # A preview drops it all at the next change.
        gcpause.freeze_objects()


def look_for_missing(site: SiteBuild) -> None:
    """Go on with all pages where one of those that are kept, or are made one by one, did not come.

    Others may speak of its tables.
    """
    if site.apart is not None and not site.apart.waiting:
        site.pages.clear()  # All are done, and none has a finding.
    elif site.apart is not None or (site.kept is not None and site.kept.keys() != site.given.keys()):
        make_anew(site)


def make_anew(site: SiteBuild) -> None:
    """Go on with all pages: one came as another than it was made from, or has a finding, and others may speak of it.

    Pages that have their figures already keep them, but what they tell of other pages is looked at again.
    """
    site.files = {name: (file, text_of(site, name)) for name, (file, _) in site.files.items()}
    site.key = _site_key(site)  # Of the texts as they are by now: what is made is made of these.
    kept, site.kept, site.apart = site.kept or dict(site.fresh), None, None
    site.pages.clear()  # In the order in which they came: of two with an id the later one is at fault.
    ask_all(site)
    for name, given in site.given.items():
        before, page, markdown = kept.get(name), given.page, markdown_of(site, given)
        if before is None or before.given != hash_given(markdown, page.url):
            continue
        try:
            figures = list(before.open_head().figures.values())
        except Broken:  # It is this page that has to be made.
            continue
        site.fresh[name] = before
        read_given(site, markdown, page)
        if before.told:
            site.told[name] = Told({index: figures[index] for index in before.told})


def read_given(site: SiteBuild, markdown: str, page: SitePage) -> Page:
    """The page as it was given, with answers to what it asks; pages that come later may speak of its tables."""
    name = page.file.src_uri
    on_disk = site.files[name][1] if name in site.files else _text(page.file)
    included = read_taken_in(page.file, on_disk, site.config)
    given = site.reader.as_given(page.file, markdown, on_disk, included)
    if given.comments or given.findings:
        site.pages[name] = given
        site.known.take_in(given)
    return given


def keep(site: SiteBuild) -> None:
    """Keep the figures of a site without a single finding for the next build.

    They are read when they are asked for: of what was written to meanwhile nobody knows what they were made from.
    """
    lasting = may_be_kept(site.pages.values()) if site.apart is None else site.apart.lasting
    if site.key and site.kept is None and lasting and site.writes == look_for_writes(site):
        store(Path(site.asked.where), site.key, site.fresh)
        if site.apart is not None:
            note_latest(Path(site.asked.where), _key_of_site(site, ()), site.key)
