"""The MkDocs plugin (ProperDocs runs it unchanged).

One build goes: ``on_nav``, when all plugins have added their pages, reads them and runs every distinct pipeline at
once; ``on_page_markdown`` puts tokens for the comments; ``on_page_content`` swaps them for figures; ``on_env``, when
all pages are read and nothing is written yet, reports every fault and ends a build that has errors; ``on_page_context``
shows figures as words to search plugins, which come between, and fills the excerpts of blogs; ``on_post_build`` looks
for tokens in what was written. Under ``serve`` a fault is shown in the page instead.

The class has ``on_startup``, which makes MkDocs keep the instance between rebuilds, and with it pages and
answers: https://www.mkdocs.org/dev-guide/plugins/#on_startup
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, PrefixedLogger, event_priority
from mkdocs.structure.files import File, InclusionLevel

from preprocessor.comments.frontmattercomments import front_matter_findings
from preprocessor.comments.htmlcomments import Page as Lines
from preprocessor.comments.search import may_have_comment
from preprocessor.files import gcpause
from preprocessor.files.text import may_be_file
from preprocessor.findings.reporters import amounts, failing
from preprocessor.pages.build import Build
from preprocessor.pages.faultboxes import fault_box, left_over_faults, line_of, no_place, taken_anchors
from preprocessor.pages.figures import figures_of, loose_findings
from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.pages.placeholders import (
    shown_again,
    swap_tokens,
    take_out_live_comments,
    tokens,
    with_tokens,
)
from preprocessor.render.anchors import anchors_in
from preprocessor.results.limitoptions import limits_of
from preprocessor.site import printed
from preprocessor.site.amending import (
    Amended,
    Told,
    amend_page,
    told_elsewhere,
    too_late,
    with_amendments,
    with_numbers,
    without_numbers,
)
from preprocessor.site.assets import SCRIPT_FILE, STYLE_SHEET_FILE
from preprocessor.site.buildcache import KeptPage, folder_state, given_key, key_of, load, may_be_kept, store
from preprocessor.site.documents import Documents
from preprocessor.site.downloads import Shelf, put
from preprocessor.site.excerpts import excerpt_of, excerpts_in, filled, give_tokens
from preprocessor.site.headings import headings_with_values
from preprocessor.site.markdownreaders import markdown_is_read
from preprocessor.site.options import MongoTablesConfig
from preprocessor.site.pagereader import PageReader, unreadable
from preprocessor.site.plainmarkdown import plain_figures, with_plain_figures
from preprocessor.site.searchtext import in_full, in_words
from preprocessor.site.shownpath import shown_path
from preprocessor.site.source import results_source, watched_path
from preprocessor.site.takenin import taken_in, where_taken_in, with_snippets
from preprocessor.site.tokensleft import names_in, places_left
from preprocessor.site.twodoors import two_sources
from preprocessor.site.writes import sign_of_writes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page as SitePage
    from mkdocs.utils.templates import TemplateContext

    from preprocessor.findings.finding import Finding
    from preprocessor.pages.model import Page
    from preprocessor.site.plainmarkdown import Plain

log = PrefixedLogger("mongo-tables", logging.getLogger("mkdocs.plugins.mongo_tables"))

STYLE_SHEET = "assets/mongo-tables.css"
SCRIPT = "assets/mongo-tables.js"


class MongoTablesPlugin(BasePlugin[MongoTablesConfig]):  # type: ignore[no-untyped-call]
    """Comments in Markdown, tables in the site."""

    def __init__(self) -> None:
        self._serving = False
        self._running = ExitStack()
        self._answers: KeptAnswers | None = None
        self._reader: PageReader | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._files: dict[str, tuple[File, str]] = {}
        self._given: dict[str, tuple[SitePage, str]] = {}
        self._pages: dict[str, Page] = {}
        self._known: Build | None = None
        self._told: dict[str, Told] = {}
        self._markdown: dict[str, str] = {}
        self._markdown_is_read = True
        self._late: list[Finding] = []
        self._key = ""
        self._kept: dict[str, KeptPage] | None = None
        self._fresh: dict[str, KeptPage] = {}
        self._downloads: dict[str, str] = {}
        self._documents: Documents | None = None
        self._drawn: dict[str, dict[str, str]] = {}
        self._excerpted: dict[str, Mapping[str, str]] = {}
        self._copied: set[str] = set()
        self._tokens: set[bytes] = set()

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Learn whether this is a preview, which shows faults in the page and goes on.

        Raises ``PluginError`` for ``--dirty``: of a page that is left as it is nobody knows what it shows by now.
        """
        if dirty:
            raise PluginError(
                "mongo-tables: --dirty leaves pages as they are whose tables or values changed elsewhere; run "
                f"`mkdocs {command}` without it, which keeps the figures that did not change anyway"
            )
        self._serving = command == "serve"
        self._running.enter_context(gcpause.seldom_collected())

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Find the results source, and add the style sheet and the script to every page."""
        self._begin_anew()
        if two := two_sources(self.config, config, _root(config)):
            raise PluginError(f"mongo-tables: {two}")
        self._answers = self._answers_of(results_source(self.config.results, _root(config)))
        config.extra_css.append(STYLE_SHEET)
        config.extra_javascript.append(SCRIPT)
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Look whether every page can be read, and add our files; shared pipelines stay out of the site."""
        self._read_files(files)
        self._tokens.clear()
        for file in _inside(self._pipelines(config), files):
            files.remove(file)
        # Other plugins take it for granted that a file has a path on disk.
        files.append(File.generated(config, STYLE_SHEET, abs_src_path=str(STYLE_SHEET_FILE)))
        files.append(File.generated(config, SCRIPT, abs_src_path=str(SCRIPT_FILE)))
        return files

    @event_priority(-100)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Run every pipeline of every page, those that other plugins generate as well, unless all figures are kept."""
        self._read_files(files)
        self._asked.refresh()
        self._markdown_is_read = markdown_is_read(config)
        self._key = self._site_key(config)
        self._kept = load(Path(self._asked.where), self._key) if self._key else None
        if self._kept is None:
            self._ask_all(config)
        log.debug("%d pipelines run", self._asked.ran)
        return nav

    def on_page_markdown(
        self, markdown: str, *, page: SitePage, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Put a token for each comment of the page, as the plugins before this one left it."""
        markdown = with_snippets(markdown, page.file, config)
        if not may_have_comment(markdown):
            return None
        self._given[page.file.src_uri] = page, markdown
        if self._kept is not None:
            kept = self._kept.get(page.file.src_uri)
            if kept is not None and kept.given == given_key(markdown, page.url):
                self._tokens |= names_in(kept.text)
                return kept.text
            self._make_anew(config)
        text = self._with_tokens(markdown, page, config)
        self._tokens |= names_in(text)
        return text

    def on_page_content(self, html: str, *, page: SitePage, config: MkDocsConfig, files: Files) -> str:
        """Swap the tokens for figures; a comment that is still there has come in from elsewhere."""
        name = page.file.src_uri
        kept = self._kept.get(name) if self._kept is not None and name in self._given else None
        made = self._with_kept(html, page, kept) if kept is not None else None
        if kept is not None and made is None:
            self._make_anew(config)
        given = self._pages.get(name)
        if made is None:
            made = html if given is None else self._with_figures(html, page, given, config)
        _repeat_headings(page, made)
        made, left = take_out_live_comments(made)
        if left:
            hint = "list the Markdown extension `mongo-tables` beside the plugin: it sees such comments"
            at = where_taken_in(self._files[name][1]) if name in self._files else (0, 0)
            self._late += left_over_faults(shown_path(page.file), left, at, hint)
        return made

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Report every fault of every page; a build with an error ends here, before anything is written."""
        if self._kept is not None and self._kept.keys() != self._given.keys():
            self._make_anew(config)  # A page did not come, and others may speak of its tables.
        self._settle(config)
        findings = self._findings(config)
        self._end_with(findings, "nothing was built")
        if not findings:
            self._keep()
        self._give_excerpts()
        if "print-site" in config.plugins:
            printed.lead_links_to_figures(page for page, _ in self._given.values())
        self._copied = {file.abs_dest_path for file in files if not file.is_documentation_page()}
        try:
            put({**self._downloads, **self._published.files}, Path(config.site_dir))
        except OSError as error:
            raise PluginError(f"mongo-tables: {error.filename}: {error.strerror}") from None

    @event_priority(100)
    def _for_search(
        self, context: TemplateContext, *, page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Show search plugins the words of figures alone."""
        page.content = in_words(page.content or "", self._drawn.get(page.file.src_uri, {}))
        return context

    @event_priority(-100)
    def _for_readers(
        self, context: TemplateContext, *, page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Show readers the figures."""
        page.content = in_full(page.content or "", self._drawn.pop(page.file.src_uri, {}))
        return context

    @event_priority(-101)
    def _for_excerpts(
        self, context: TemplateContext, *, page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Show the figures of posts in their excerpts, which a plugin for blogs has made by now."""
        for excerpt in excerpts_in(context) if self._excerpted else ():
            post = excerpt.post
            figures = self._excerpted.get(post.file.src_uri, {})
            excerpt.content = filled(excerpt.content, figures, post.url, page.url)
            _repeat_headings(excerpt, excerpt.content)
        return context

    on_page_context = CombinedEvent(_for_search, _for_readers, _for_excerpts)

    @event_priority(-200)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """End a build where any file, whoever wrote it, has a placeholder or a comment instead of a figure."""
        site = Path(config.site_dir)
        without = self._copied | {f"{site}/{path}" for path in self._downloads}
        left = places_left(site, without, self._tokens)
        self._end_with(left, "do not publish this site")

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Build again when a result or a shared pipeline changes."""
        paths = (self._asked.where, str(self._pipelines(config)))
        for path in map(watched_path, paths):
            # Two watches of one file would build twice.
            if path is not None and not Path(path).is_relative_to(config.docs_dir):
                server.watch(path)
        if watched_path(self._asked.where) is None:
            sign = self._running.enter_context(sign_of_writes(lambda: self._asked.writes()))
            server.watch(str(sign))
        return server

    def on_shutdown(self) -> None:
        """Close the results source, and leave the process as it was."""
        self._running.close()
        if self._answers is not None:
            self._answers.close()

    @property
    def _asked(self) -> KeptAnswers:
        assert self._answers is not None, "on_config comes before every other event of a build"
        return self._answers

    @property
    def _published(self) -> Documents:
        if self._documents is None:
            where, collection = self._asked.where, self.config.documents
            self._documents = Documents.of(self._asked.local, collection)
            if collection and not self._documents.files and watched_path(where):
                log.warning("documents: %s has no documents in lines of the collection %s", where, collection)
        return self._documents

    def _answers_of(self, where: str) -> KeptAnswers:
        """The answers of the last build, as long as source and limits are the same."""
        limits = limits_of(self.config)
        known = self._answers
        if known is not None and (known.where, known.limits) == (where, limits):
            return known
        if known is not None:
            known.close()
        return KeptAnswers(where, limits, self.config.workers)

    def _read_files(self, files: Files) -> None:
        """Read the pages that there are by now, each once. Ends the build for one that cannot be read."""
        level = InclusionLevel.is_in_serve if self._serving else InclusionLevel.is_included
        before, without = self._files, []
        self._files = {}
        for file in files.documentation_pages(inclusion=level):
            read = before.get(file.src_uri)
            text = read[1] if read is not None and read[0] is file else _text(file)
            self._files[file.src_uri] = file, text
            if not text:
                without.append(file)
        if without:
            _refuse_unreadable(without)

    def _site_key(self, config: MkDocsConfig) -> str:
        """A key of what is known before the first page comes; empty where that is not all, or need not be (a preview).

        Of pages this is how they are on disk, or were generated: what they come as is for each of them to compare.
        """
        pages = [(name, text) for name, (_, text) in self._files.items() if may_have_comment(text)]
        answers = self._asked
        if answers.state is None or self._serving or not pages:
            return ""
        links = repr((config.use_directory_urls, self.config.documents, self._markdown_is_read))
        # A site that no linter has looked at is not one to believe where its warnings are to fail the build.
        settings = [repr(answers.limits), links, repr((config.strict, self.config.fail_on))]
        texts = [part for page in pages for part in page]
        return key_of([answers.state, folder_state(self._pipelines(config)), *settings, *texts])

    def _ask_all(self, config: MkDocsConfig) -> None:
        """Read every page and run every distinct pipeline at once."""
        pages = [(file, text) for file, text in self._files.values() if may_have_comment(text)]
        if not pages:
            return
        reader = self._page_reader(config)
        reader.refresh()
        with gcpause.nothing_collected():
            found = (reader.on_disk(file, text) for file, text in pages)
            self._known = Build(self._asked, [page for page in found if page is not None])
            self._known.ask(with_sources=True)
            self._asked.forget()
        if not self._serving:  # A preview drops it all at the next change.
            gcpause.freeze_objects()

    def _make_anew(self, config: MkDocsConfig) -> None:
        """Go on without what was kept: a page came as another one than it was made from, and others may speak of it.

        Pages that have their figures already keep them, but what they tell of other pages is looked at again.
        """
        kept, self._kept = self._kept or {}, None
        self._ask_all(config)
        for name, (page, markdown) in self._given.items():
            before = kept.get(name)
            if before is None or before.given != given_key(markdown, page.url):
                continue
            self._fresh[name] = before
            self._read_page(markdown, page, config)
            if before.told:
                figures = list(before.figures.values())
                self._told[name] = Told({index: figures[index] for index in before.told})

    def _page_reader(self, config: MkDocsConfig) -> PageReader:
        folder = self._pipelines(config)
        if self._reader is None or self._reader.folder != folder:
            self._reader = PageReader(folder)
        return self._reader

    def _read_page(self, markdown: str, page: SitePage, config: MkDocsConfig) -> Page:
        """The page as it was given, with answers to what it asks; pages that come later may speak of its tables."""
        name = page.file.src_uri
        on_disk = self._files[name][1] if name in self._files else _text(page.file)
        included = taken_in(page.file, on_disk, config)
        given = self._page_reader(config).as_given(page.file, markdown, on_disk, included)
        if given.comments or given.findings:
            self._pages[name] = given
            self._known_now.take_in(given)
        return given

    def _with_tokens(self, markdown: str, page: SitePage, config: MkDocsConfig) -> str:
        given = self._read_page(markdown, page, config)
        text = with_tokens(given)[len(given.text) - len(markdown) :]
        if self._key:
            made_from = given_key(markdown, page.url)
            self._fresh[page.file.src_uri] = KeptPage(made_from, text, {}, {}, {}, ())
        return text

    def _pipelines(self, config: MkDocsConfig) -> Path:
        if self.config.pipelines:
            return _root(config) / self.config.pipelines
        return Path(config.docs_dir) / "pipelines"

    @property
    def _known_now(self) -> Build:
        """What is known of all pages so far: as they were given, those that did not come yet as they are on disk."""
        if self._known is None:
            self._known = Build(self._asked, ())
        return self._known

    def _note_figures(self, page: SitePage, figures: Mapping[str, str]) -> None:
        """MkDocs, which has looked for anchors already, learns of those in the figures."""
        self._drawn[page.file.src_uri] = {token: each for token, each in figures.items() if "<table" in each}
        if page.present_anchor_ids is not None:
            page.present_anchor_ids.update(*map(anchors_in, figures.values()))

    def _with_kept(self, html: str, page: SitePage, kept: KeptPage) -> str | None:
        """The page's HTML with the figures that were kept; None where they do not fit what other plugins made of it."""
        anchors = {anchor for figure in kept.figures.values() for anchor in anchors_in(figure)}
        html, lost = swap_tokens(html, with_numbers(kept.figures, kept.told))
        if lost or not anchors.isdisjoint(page.present_anchor_ids or ()):
            return None
        self._note_figures(page, kept.figures)
        self._downloads |= kept.files
        self._put_plain(page, kept.figures, kept.plain, bool(kept.told))
        return html

    def _with_figures(self, html: str, page: SitePage, given: Page, config: MkDocsConfig) -> str:
        name, places = page.file.src_uri, tokens(given)
        shelf = Shelf(name, page.url)
        find = partial(self._published.address, page.url)
        figures = dict(zip(places, figures_of(given, self._known_now, shelf.place, find), strict=True))
        plain = self._plain(given, self._known_now)
        self._downloads |= shelf.files
        told = told_elsewhere(given)
        if told:
            tables = {table: self._known_now.tables.get(table) for table in told.values()}
            self._told[name] = Told({index: figures[places[index]] for index in told}, tables)
        if name in self._fresh:
            self._fresh[name] = replace(
                self._fresh[name], figures=figures, plain=plain, files=shelf.files, told=tuple(told)
            )
        self._late += taken_anchors(given, page.present_anchor_ids or ())
        html, lost = swap_tokens(html, with_numbers(figures, told))
        self._note_figures(page, figures)
        self._put_plain(page, figures, plain, bool(told))
        if lost and not _title_alone(page, with_tokens(given), lost):
            html = self._without(lost, html, given)
        box = fault_box([*(self._source_away(config) if given.asking else ()), *loose_findings(given)])
        return f"{box}\n{html}" if box else html

    def _plain(self, given: Page, known: Build) -> Mapping[str, Plain]:
        """What stands for the figures of a page in its Markdown, by token; nothing where nobody reads it."""
        if not self._markdown_is_read:
            return {}
        return dict(zip(tokens(given), plain_figures(given, known), strict=True))

    def _put_plain(
        self, page: SitePage, figures: Mapping[str, str], plain: Mapping[str, Plain], told: bool
    ) -> None:
        """Leave the page's Markdown, which was converted by now, as a text without tokens to whoever reads it."""
        if not self._markdown_is_read:
            return
        name, markdown = page.file.src_uri, page.markdown or ""
        page.markdown = with_plain_figures(markdown, plain)
        if excerpt_of(page) is not None:
            self._excerpted[name] = figures
        if told or name in self._excerpted:
            self._markdown[name] = markdown

    def _settle(self, config: MkDocsConfig) -> None:
        """Hold what pages tell of others' tables against the tables that there are, now that all pages are read."""
        if self._kept is not None:
            for name in (name for name, kept in self._kept.items() if kept.told):
                page = self._given[name][0]
                page.content = without_numbers(page.content or "")
            return
        if not self._told:
            return
        now = self._known_now.of(self._pages.values())
        for name, told in self._told.items():
            changes = amend_page(self._pages[name], told, now)
            if changes:
                self._amend(self._given[name][0], changes, now, config)
            page = self._given[name][0]
            page.content = without_numbers(page.content or "")

    def _amend(self, page: SitePage, changes: Sequence[Amended], now: Build, config: MkDocsConfig) -> None:
        name = page.file.src_uri
        given, places = self._pages[name], tokens(self._pages[name])
        page.content, lost = with_amendments(page.content or "", changes)
        _repeat_headings(page, page.content)
        readers = _readers_of_content(self, config)
        self._late += too_late(given, changes if readers else lost, readers)
        new = {places[change.number]: change.now for change in changes}
        plain = self._plain(given, now)
        if plain:
            page.markdown = with_plain_figures(self._markdown[name], plain)
        if name in self._fresh:
            kept = self._fresh[name]
            self._fresh[name] = replace(kept, figures={**kept.figures, **new}, plain=plain)
        if name in self._excerpted:
            self._excerpted[name] = {**self._excerpted[name], **new}

    def _give_excerpts(self) -> None:
        for name in self._excerpted:
            give_tokens(excerpt_of(self._given[name][0]), self._markdown[name])

    def _keep(self) -> None:
        """Keep the figures of a site without a single finding for the next build."""
        if self._key and self._kept is None and may_be_kept(self._pages.values()):
            store(Path(self._asked.where), self._key, self._fresh)

    def _end_with(self, findings: Sequence[Finding], end: str) -> None:
        """Report findings; a build with one as grave as ``fail_on`` among them ends here."""
        ending = [] if self._serving else failing(findings, self.config.fail_on)
        for finding in findings:
            _report(finding, ends=finding in ending)
        if ending:
            raise PluginError(f"mongo-tables: {amounts(ending)}, listed above; {end}.")

    def _without(self, lost: list[str], html: str, given: Page) -> str:
        comments = dict(zip(tokens(given), given.comments, strict=True))
        self._late += [no_place(given.file, comments[token]) for token in lost]
        sources = {token: given.text[comments[token].start : comments[token].end] for token in lost}
        return shown_again(html, sources)

    def _findings(self, config: MkDocsConfig) -> list[Finding]:
        """All findings, sorted. A source out of reach is one fault, not one for each table."""
        loose = {*self._late, *self._in_front_matter()}
        if not self._pages:
            return sorted(loose)
        build, fail_on = self._known_now.of(self._pages.values()), self.config.fail_on
        linted = build.lint() if config.strict or fail_on != "error" else None
        found = [*self._source_away(config), *build.findings(linted)]
        # The linter's notes are left to whoever asks for them.
        notes = {each for each in linted or () if each.severity == "note" and fail_on != "note"}
        return sorted({*found, *loose} - notes)

    def _in_front_matter(self) -> list[Finding]:
        """The comments in what MkDocs cuts off the pages before it hands them over."""
        found: list[Finding] = []
        for file, text in self._files.values():
            if may_have_comment(text):
                found += front_matter_findings(Lines(text), shown_path(file))
        return found

    def _source_away(self, config: MkDocsConfig) -> list[Finding]:
        """Why no pipeline can be run at all, if so."""
        return self._known_now.source_findings(Path(config.config_file_path or "mkdocs.yml").name)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent if config.config_file_path else Path.cwd()


def _text(file: File) -> str:
    """A page as it is on disk; nothing when it cannot be read (``_refuse_unreadable``)."""
    if file.abs_src_path and not may_be_file(Path(file.abs_src_path)):
        return ""  # a pipe would be waited for, a device read without end
    try:
        return file.content_string
    except (OSError, ValueError):
        return ""


def _refuse_unreadable(files: Iterable[File]) -> None:
    """End the build for pages that MkDocs could not read either, with the place of each fault."""
    faults = [fault for fault in map(unreadable, files) if fault is not None]
    for fault in faults:
        _report(fault)
    if faults:
        raise PluginError("mongo-tables: a page cannot be read, see above; nothing was built.")


def _title_alone(page: SitePage, text: str, lost: Sequence[str]) -> bool:
    """Whether the plugin that generated a page has left nothing of ``text`` but its title, none of it being lost.

    Blogs do so with the further pages of a list, which are made from a copy of the first one.
    """
    left = (page.markdown or "").strip()
    if not page.file.generated_by or not left.startswith("# ") or "\n" in left:
        return False
    titles = [line for line in text.split("\n") if line.startswith("#")]
    return not any(token in line for line in titles for token in lost)


def _repeat_headings(page: SitePage, html: str) -> None:
    """Put the values of headings into the table of contents and, where it comes from a heading, the title."""
    headings = headings_with_values(html)
    items = list(page.toc) if headings else []
    while items:
        item = items.pop()
        items += item.children
        if item.id in headings:
            before = {item.title, headings[item.id].bare}
            item.title = headings[item.id].whole
            if item.level == 1 and page.title in before:
                page.title = item.title


def _readers_of_content(plugin: BasePlugin[MongoTablesConfig], config: MkDocsConfig) -> list[str]:
    """The names of the plugins and hooks that read the HTML of pages after this plugin."""
    names = {id(each): name for name, each in config.plugins.items()}
    readers = config.plugins.events["page_content"]
    own = [index for index, each in enumerate(readers) if getattr(each, "__self__", None) is plugin]
    later = readers[own[-1] + 1 :] if own else []
    return [names.get(id(getattr(each, "__self__", None)), each.__module__) for each in later]


def _inside(folder: Path, files: Files) -> list[File]:
    return [file for file in files if file.abs_src_path and Path(file.abs_src_path).parent == folder]


def _report(finding: Finding, *, ends: bool = False) -> None:
    """Log a finding by how grave it is; one that ends the build is shown by ``--quiet`` as well."""
    level = {"error": logging.ERROR, "warning": logging.WARNING}.get(finding.severity, logging.INFO)
    log.log(logging.ERROR if ends else level, line_of(finding))
