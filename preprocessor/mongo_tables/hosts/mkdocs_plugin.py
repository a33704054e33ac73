"""The MkDocs plugin (ProperDocs runs it unchanged).

``on_page_markdown`` replaces each comment by a token, in the text that earlier plugins left. ``on_env``, when all
pages are converted and none is written, queries the results and judges the whole site at once; a build with
errors ends there. While MkDocs writes, ``on_page_context`` puts the texts of figures into one page after the
other, before search plugins read it, and then the figures. ``on_post_page`` swaps tokens of other pages.
``on_post_build`` searches the written site once for tokens that other plugins copied. Under ``serve``, faults
are shown in the page.

The class has ``on_startup``, which makes MkDocs keep the instance between rebuilds, and with it the answers
of the results source: https://www.mkdocs.org/dev-guide/plugins/#on_startup
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Literal

from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import File, Files

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.files.memo import Memo
from mongo_tables.files.process import seldom_collected
from mongo_tables.findings.usage import CommandError
from mongo_tables.hosts.mkdocs_site import SiteBuild, log
from mongo_tables.hosts.options import MongoTablesConfig, pipelines_of, root_of
from mongo_tables.hosts.published_files import SCRIPT_FILE, collections_of, path_of_all
from mongo_tables.render.charts.svg_file import STYLE_SHEET_FILE
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import limits_of
from mongo_tables.site.site_config import find_watched_path, from_here, named_values, results_source

if TYPE_CHECKING:
    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext


STYLE_SHEET: Final = "assets/mongo-tables.css"
SCRIPT: Final = "assets/mongo-tables.js"
_OBJECTS: Final = 10_000
"""Allocations between garbage collections.

A build of 300 pages with 900 tables takes 12 % less time than with 700.
"""


class MongoTablesPlugin(BasePlugin[MongoTablesConfig]):  # type: ignore[no-untyped-call]
    """The plugin: passes each event of MkDocs to the current ``SiteBuild``.

    Plugins for several languages build one site within the end of another build, so the builds form a stack.
    """

    def __init__(self) -> None:
        self._serving = False
        self._running = ExitStack()
        self._answers: Answers | None = None
        self._memo = Memo()
        self._builds: list[SiteBuild] = []

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember whether this is a preview, which shows faults in the page and continues.

        Raises:
            PluginError: For ``--dirty``, because skipped pages may show outdated figures.
        """
        if dirty:
            raise PluginError(
                "mongo-tables: --dirty leaves pages as they are whose tables or values changed elsewhere; run "
                f"`mkdocs {command}` without it"
            )
        self._serving = command == "serve"
        self._running.enter_context(seldom_collected(_OBJECTS))

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Find the results source, and add the style sheet and the script to every page."""
        answers = self._open_answers(config)
        if not self._builds:  # All languages of one site show the same results.
            answers.refresh()
        folder, named = Path(from_here(pipelines_of(self.config, config))), self.config.values
        try:
            shared = SharedPipelines(folder, values=named_values(named, "mongo-tables"))
        except CommandError as error:
            raise PluginError(f"{error.message}; {error.hint}") from None
        memo = self._memo if self._serving else None
        for_programs = self.config.machine_readable and not self._serving
        self._builds.append(SiteBuild(config, self.config, answers, shared, memo, for_programs))
        config.extra_css.append(STYLE_SHEET)
        config.extra_javascript.append(SCRIPT)
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add our files. Remove shared pipelines from the site."""
        folder = pipelines_of(self.config, config)
        for file in list(files):
            if file.abs_src_path and Path(file.abs_src_path).parent == folder:
                files.remove(file)
        # Other plugins rely on each file having a path on disk.
        files.append(File.generated(config, STYLE_SHEET, abs_src_path=str(STYLE_SHEET_FILE)))
        files.append(File.generated(config, SCRIPT, abs_src_path=str(SCRIPT_FILE)))
        for collection in collections_of(self.config.documents):
            # Pages may link to it; it is filled when the documents are read.
            path = path_of_all(collection)
            files.append(File.generated(config, path, abs_src_path=str(STYLE_SHEET_FILE)))
        return files

    @event_priority(-100)
    def on_page_read_source(self, *, page: Page, config: MkDocsConfig) -> str | None:
        """Read the page, unless another plugin may have done so."""
        text = self._builds[-1].read_source(page)
        return text if len(config.plugins.events["page_read_source"]) == 1 else None

    def on_page_markdown(self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Replace each comment of the page by a token, in the text that earlier plugins left."""
        return self._builds[-1].put_tokens(markdown, page)

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Remove comments that came in during the conversion, and report them."""
        return self._builds[-1].take_out_comments(html, page)

    @event_priority(100)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Query and judge the whole site. A build with an error ends here, before anything is written."""
        site = self._builds[-1]
        documents = site.documents if self.config.documents else ()  # before queries let go of what they read
        site.judge()
        # The file of all documents of a collection is filled, or removed if there are none.
        for one in documents:
            if not one.files and find_watched_path(site.answers.where):
                text = "documents: %s has no documents in lines of the collection %s"
                log.warning(text, site.answers.where, one.collection)
            path = path_of_all(one.collection)
            file = files.get_file_from_path(path)
            if file and (content := one.together):
                file.content_bytes = content
            elif file:
                log.info("documents: there is no %s, links to it are broken", path)
                files.remove(file)
            site.write(one.files)
            site.copied.update(f"{config.site_dir}/{path}" for path in one.files)
        for file in files:
            if not file.is_documentation_page():
                site.copied.add(file.abs_dest_path)
            links = file.page.links_to_anchors if file.page else None
            for linked, anchors in links.items() if links else ():
                site.linked.setdefault(linked.src_uri, set()).update(anchors)
        if not self._serving:
            # No queries follow. On thousands of pages, what figures do not need takes more memory than MkDocs.
            site.answers.release()

    @event_priority(200)
    def _before_search(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Put the texts of figures into the page, before search plugins read it."""
        self._builds[-1].navigation = nav.items  # for the index of the site
        self._builds[-1].show_texts(page)
        return context

    @event_priority(-50)
    def _after_search(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Put the figures into the page, before a template shows it."""
        self._builds[-1].show_figures(page)
        return context

    on_page_context = CombinedEvent(_before_search, _after_search)

    @event_priority(200)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put figures of other pages into the output."""
        return self._builds[-1].fill_output(output, page)

    @event_priority(-200)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Replace the tokens that other plugins copied. The index is that of the whole site, not of a language."""
        site = self._builds[-1]
        site.finish()
        if len(self._builds) == 1 and site.twins:
            site.write_index()
        self._builds.pop()

    def on_build_error(self, *, error: Exception) -> None:
        """Forget the builds that failed."""
        self._builds.clear()

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Rebuild when a result or a shared pipeline changes."""
        answers = self._open_answers(config)
        for path in map(find_watched_path, (answers.where, str(pipelines_of(self.config, config)))):
            # Two watches of one file would build twice.
            if path is not None and not Path(path).is_relative_to(config.docs_dir):
                server.watch(path)
        if find_watched_path(answers.where) is None:
            sign = self._running.enter_context(sign_of_writes(answers.writes))
            server.watch(str(sign))
        return server

    def on_shutdown(self) -> None:
        """Close the results source."""
        self._running.close()
        if self._answers is not None:
            self._answers.close()

    def _open_answers(self, config: MkDocsConfig) -> Answers:
        """Return the answers of the last build, as long as source and limits are the same."""
        where, limits = results_source(self.config.results, root_of(config)), limits_of(self.config)
        known = self._answers
        if known is None or (known.where, known.limits, known.server) != (where, limits, self.config.server):
            if known is not None:
                known.close()
            once = not self._serving
            self._answers = known = Answers(where, limits, self.config.workers, self.config.server, once)
        return known


SECONDS: Final = 2.0
"""Seconds between two polls."""


@contextmanager
def sign_of_writes(writes: Callable[[], str | None], seconds: float = SECONDS) -> Iterator[Path]:
    """Yield a file that is touched whenever the result of ``writes`` changes, while the context lasts.

    ``seconds`` is the time between two polls.
    """
    with TemporaryDirectory(prefix="mongo-tables-") as folder:
        file, ended = Path(folder, "writes"), Event()
        file.touch()
        Thread(target=_look, args=(writes, file, seconds, ended), daemon=True).start()
        try:
            yield file
        finally:
            ended.set()


def _look(writes: Callable[[], str | None], file: Path, seconds: float, ended: Event) -> None:
    before = writes()
    while not ended.wait(seconds):
        now = writes()
        if now != before and not ended.is_set():
            before = now
            file.touch()
