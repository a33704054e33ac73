"""The MkDocs plugin (ProperDocs runs it unchanged).

One build goes: ``on_nav``, when all plugins have added their pages, reads them and runs every distinct pipeline at
once; ``on_page_markdown`` puts tokens for the comments; ``on_page_content`` swaps them for figures; ``on_env``, when
all pages are read and nothing is written yet, reports every fault and ends a build that has errors; ``on_page_context``
shows figures as words to search plugins, which come between, and fills the excerpts of blogs; ``on_post_page`` takes
large figures away again; ``on_post_build`` puts into the search index what waits for it, and looks for tokens in what
was written. Under ``serve`` a fault is shown in the page instead.

The class has ``on_startup``, which makes MkDocs keep the instance between rebuilds, and with it pages and
answers: https://www.mkdocs.org/dev-guide/plugins/#on_startup
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import File

from mongo_tables.comments.search import may_have_comment
from mongo_tables.files import gcpause
from mongo_tables.pages.build import Build
from mongo_tables.pages.faultboxes import report_left_over
from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.pages.placeholders import take_out_live_comments
from mongo_tables.results.limitoptions import limits_of
from mongo_tables.site import printed, untouchedtokens
from mongo_tables.site.assets import SCRIPT_FILE, STYLE_SHEET_FILE
from mongo_tables.site.documentsfile import announce_documents, fill_documents
from mongo_tables.site.excerpts import excerpt_of, excerpts_in, fill_excerpt, give_tokens
from mongo_tables.site.headings import repeat_headings
from mongo_tables.site.markdownreaders import content_is_read, markdown_is_read
from mongo_tables.site.options import MongoTablesConfig
from mongo_tables.site.pagefigures import list_published, put_figures, put_tokens
from mongo_tables.site.pagereader import PageReader
from mongo_tables.site.reporting import findings_of, log, report
from mongo_tables.site.searchindex import find_waiting
from mongo_tables.site.searchtext import rows_are_read
from mongo_tables.site.settling import settle
from mongo_tables.site.shownpath import choose_shown_path
from mongo_tables.site.sitebuild import SiteBuild, pipelines_of, root_of
from mongo_tables.site.sitereading import (
    keep,
    load_or_ask,
    look_for_missing,
    look_for_writes,
    read_files,
    text_of,
)
from mongo_tables.site.source import find_watched_path, results_source
from mongo_tables.site.takenin import where_taken_in, with_snippets
from mongo_tables.site.tokensleft import places_left
from mongo_tables.site.twodoors import two_sources
from mongo_tables.site.writes import sign_of_writes
from mongo_tables.site.writing import fill_index, put_away, show_figures, show_words, write_files

if TYPE_CHECKING:
    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page as SitePage
    from mkdocs.utils.templates import TemplateContext

STYLE_SHEET = "assets/mongo-tables.css"
SCRIPT = "assets/mongo-tables.js"
_UNREAD = "MT313"
"""The rule of findings that no page is the reason of: with them figures are as good."""


class MongoTablesPlugin(BasePlugin[MongoTablesConfig]):  # type: ignore[no-untyped-call]
    """Comments in Markdown, tables in the site: the events of MkDocs, each handed to what makes the ``SiteBuild``."""

    def __init__(self) -> None:
        self._serving = False
        self._running = ExitStack()
        self._build: SiteBuild | None = None

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
        self._running.enter_context(gcpause.seldom_collected(gcpause.OF_A_SITE))

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Find the results source, and add the style sheet and the script to every page."""
        if two := two_sources(self.config, config, root_of(config)):
            raise PluginError(f"mongo-tables: {two}")
        asked = self._answers_of(results_source(self.config.results, root_of(config)))
        reader = self._reader_of(pipelines_of(self.config, config))
        self._build = SiteBuild(config, self.config, asked, reader, self._serving, Build(asked, ()))
        config.markdown_extensions.append(untouchedtokens.NAME)
        config.extra_css.append(STYLE_SHEET)
        config.extra_javascript.append(SCRIPT)
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Look whether every page can be read, and add our files; shared pipelines stay out of the site."""
        read_files(self._site, files)
        for file in _inside(self._site.reader.folder, files):
            files.remove(file)
        # Other plugins take it for granted that a file has a path on disk.
        files.append(File.generated(config, STYLE_SHEET, abs_src_path=str(STYLE_SHEET_FILE)))
        files.append(File.generated(config, SCRIPT, abs_src_path=str(SCRIPT_FILE)))
        announce_documents(self._site, files)
        return files

    @event_priority(-100)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Run every pipeline of every page, those that other plugins generate as well, unless all figures are kept."""
        site = self._site
        read_files(site, files)
        site.writes = look_for_writes(site)
        site.asked.refresh()
        if self._serving:  # The languages of one build show the same.
            site.asked.let_go_fickle()
        site.markdown_is_read = markdown_is_read(config)
        site.rows_are_read = rows_are_read(config)
        site.content_is_read = site.markdown_is_read or self._serving or content_is_read(config)
        site.waiting = find_waiting(config, self)
        load_or_ask(site)
        log.debug("%d pipelines run", site.asked.ran)
        return nav

    def on_page_markdown(
        self, markdown: str, *, page: SitePage, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Put a token for each comment of the page, as the plugins before this one left it."""
        markdown = with_snippets(markdown, page.file, config)
        return put_tokens(self._site, markdown, page) if may_have_comment(markdown) else None

    def on_page_content(self, html: str, *, page: SitePage, config: MkDocsConfig, files: Files) -> str:
        """Swap the tokens for figures; a comment that is still there has come in from elsewhere."""
        site, name = self._site, page.file.src_uri
        made = put_figures(site, html, page)
        repeat_headings(page, made)
        made, left = take_out_live_comments(made)
        if left:
            hint = "list the Markdown extension `mongo-tables` beside the plugin: it sees such comments"
            at = where_taken_in(text_of(site, name))
            site.late += report_left_over(choose_shown_path(page.file), left, at, hint)
        return made

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Report every fault of every page; a build with an error ends here, before anything is written."""
        site = self._site
        look_for_missing(site)
        settle(site, _readers_of_content(self, config))
        findings = findings_of(site)
        report(site, findings, "nothing was built")
        if all(each.rule == _UNREAD for each in findings):
            keep(site)
        for name in site.excerpted:
            give_tokens(excerpt_of(site.given[name].page), site.tokens_in[name])
        if "print-site" in config.plugins:
            printed.lead_links_to_figures(each.page for each in site.given.values())
        fill_documents(site, files)
        site.copied = {file.abs_dest_path for file in files if not file.is_documentation_page()}
        write_files(site, {**site.downloads, **list_published(site).files})

    @event_priority(100)
    def _for_search(
        self, context: TemplateContext, *, page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Show search plugins the words of figures alone."""
        show_words(self._site, page)
        return context

    @event_priority(-100)
    def _for_readers(
        self, context: TemplateContext, *, page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Show readers the figures."""
        show_figures(self._site, page)
        return context

    @event_priority(-101)
    def _for_excerpts(
        self, context: TemplateContext, *, page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Show the figures of posts in their excerpts, which a plugin for blogs has made by now."""
        excerpted = self._site.excerpted
        for excerpt in excerpts_in(context) if excerpted else ():
            post = excerpt.post
            figures = excerpted.get(post.file.src_uri, {})
            excerpt.content = fill_excerpt(excerpt.content, figures, post.url, page.url)
            repeat_headings(excerpt, excerpt.content)
        return context

    on_page_context = CombinedEvent(_for_search, _for_readers, _for_excerpts)

    @event_priority(-200)
    def on_post_page(self, output: str, *, page: SitePage, config: MkDocsConfig) -> str:
        """Leave the page, which is written now, without its figures."""
        put_away(self._site, page)
        return output

    @event_priority(-50)
    def _put_in_words(self, *, config: MkDocsConfig) -> None:
        """Put the words of figures into the search index, before a plugin makes something else of it."""
        fill_index(self._site)

    @event_priority(-200)
    def _look_for_tokens(self, *, config: MkDocsConfig) -> None:
        """End a build where any file, whoever wrote it, has a placeholder or a comment instead of a figure."""
        site, folder = self._site, Path(config.site_dir)
        without = site.copied | {f"{folder}/{path}" for path in site.downloads}
        report(site, places_left(folder, without, site.tokens), "do not publish this site")

    on_post_build = CombinedEvent(_put_in_words, _look_for_tokens)

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Build again when a result or a shared pipeline changes."""
        where, pipelines = self._site.asked.where, self._site.reader.folder
        for path in map(find_watched_path, (where, str(pipelines))):
            # Two watches of one file would build twice.
            if path is not None and not Path(path).is_relative_to(config.docs_dir):
                server.watch(path)
        if find_watched_path(where) is None:
            sign = self._running.enter_context(sign_of_writes(lambda: self._site.asked.writes()))
            server.watch(str(sign))
        return server

    def on_shutdown(self) -> None:
        """Close the results source, and leave the process as it was."""
        self._running.close()
        if self._build is not None:
            self._build.asked.close()

    @property
    def _site(self) -> SiteBuild:
        assert self._build is not None, "on_config comes before every other event of a build"
        return self._build

    def _answers_of(self, where: str) -> KeptAnswers:
        """The answers of the last build, as long as source and limits are the same."""
        limits = limits_of(self.config)
        known = self._build.asked if self._build else None
        settings = where, limits, self.config.server
        if known is not None and (known.where, known.limits, known.server) == settings:
            return known
        if known is not None:
            known.close()
        return KeptAnswers(where, limits, self.config.workers, self.config.server)

    def _reader_of(self, pipelines: Path) -> PageReader:
        """The pages that the last build has read, as long as their shared stage lists are in the same folder."""
        known = self._build.reader if self._build else None
        return known if known is not None and known.folder == pipelines else PageReader(pipelines)


def _readers_of_content(plugin: BasePlugin[MongoTablesConfig], config: MkDocsConfig) -> list[str]:
    """The names of the plugins and hooks that read the HTML of pages after this plugin."""
    names = {id(each): name for name, each in config.plugins.items()}
    readers = config.plugins.events["page_content"]
    own = [index for index, each in enumerate(readers) if getattr(each, "__self__", None) is plugin]
    later = readers[own[-1] + 1 :] if own else []
    return [names.get(id(getattr(each, "__self__", None)), each.__module__) for each in later]


def _inside(folder: Path, files: Files) -> list[File]:
    return [file for file in files if file.abs_src_path and Path(file.abs_src_path).parent == folder]
