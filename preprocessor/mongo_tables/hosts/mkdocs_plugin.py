"""The MkDocs plugin, which ProperDocs runs, too.

``on_page_markdown`` replaces each comment by a token. ``on_env`` runs when all pages are converted and none is written:
it queries the results and checks the whole site, and a build with errors ends there. While MkDocs writes pages,
``on_page_context`` first puts the texts of figures into the page, which search plugins read, and then the figures.
``on_post_page`` replaces the tokens of other pages, and ``on_post_build`` replaces tokens that other plugins copied
into files. ``mkdocs serve`` shows faults in the page.

MkDocs keeps the plugin between rebuilds, and with it the answers of the results source, because the class has
``on_startup``: https://www.mkdocs.org/dev-guide/plugins/#on_startup
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
"""The number of allocations between garbage collections.

A build of 300 pages with 900 tables takes 12 % less time than with Python's 700.
"""


class MongoTablesPlugin(BasePlugin[MongoTablesConfig]):  # type: ignore[no-untyped-call]
    """The plugin, which passes the events of MkDocs to the current ``SiteBuild``.

    Plugins for several languages start further builds at the end of the first build, so the builds form a stack.
    """

    def __init__(self) -> None:
        self._serving = False
        self._running = ExitStack()
        self._answers: Answers | None = None
        self._memo = Memo()
        self._builds: list[SiteBuild] = []

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Store whether this is a preview, which shows faults in the page and continues.

        Raises:
            PluginError: For ``--dirty``, because skipped pages may show outdated figures.
        """
        if dirty:
            raise PluginError(
                "mongo-tables: with --dirty, MkDocs skips pages although their tables or values may have changed; run "
                f"`mkdocs {command}` without this option"
            )
        self._serving = command == "serve"
        self._running.enter_context(seldom_collected(_OBJECTS))

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Begin a build, and add the style sheet and the script to all pages."""
        answers = self._open_answers(config)
        if not self._builds:  # All languages of a site show the same results.
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
        """Add our files to the site, and remove shared pipelines from it."""
        folder = pipelines_of(self.config, config)
        for file in list(files):
            if file.abs_src_path and Path(file.abs_src_path).parent == folder:
                files.remove(file)
        # Other plugins expect that each file has a path on disk.
        files.append(File.generated(config, STYLE_SHEET, abs_src_path=str(STYLE_SHEET_FILE)))
        files.append(File.generated(config, SCRIPT, abs_src_path=str(SCRIPT_FILE)))
        for collection in collections_of(self.config.documents):
            # Pages may link to the file, whose content `on_env` sets.
            path = path_of_all(collection)
            files.append(File.generated(config, path, abs_src_path=str(STYLE_SHEET_FILE)))
        return files

    @event_priority(-100)
    def on_page_read_source(self, *, page: Page, config: MkDocsConfig) -> str | None:
        """Return the text of a page, or None if another plugin may provide the text."""
        text = self._builds[-1].read_source(page)
        return text if len(config.plugins.events["page_read_source"]) == 1 else None

    def on_page_markdown(self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Replace each comment of a page by a token."""
        return self._builds[-1].put_tokens(markdown, page)

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Remove comments that were added during the conversion, and report them."""
        return self._builds[-1].take_out_comments(html, page)

    @event_priority(100)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Query and check the whole site. A build with errors ends here, before any page is written."""
        site = self._builds[-1]
        documents = (
            site.documents if self.config.documents else ()
        )  # Queries release the documents that they read.
        site.judge()
        # Set the content of the file with all documents of a collection, or remove the file if there are none.
        for one in documents:
            if not one.files and find_watched_path(site.answers.where):
                text = "documents: %s has no lines with documents of the collection %s"
                log.warning(text, site.answers.where, one.collection)
            path = path_of_all(one.collection)
            file = files.get_file_from_path(path)
            if file and (content := one.together):
                file.content_bytes = content
            elif file:
                log.info("documents: %s is not published, so links to it are broken", path)
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
            # No queries follow, and documents that figures do not need would take more memory than MkDocs.
            site.answers.release()

    @event_priority(200)
    def _before_search(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Put the texts of figures into a page before search plugins read it."""
        self._builds[-1].navigation = nav.items
        self._builds[-1].show_texts(page)
        return context

    @event_priority(-50)
    def _after_search(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Put the figures into a page before the template shows it."""
        self._builds[-1].show_figures(page)
        return context

    on_page_context = CombinedEvent(_before_search, _after_search)

    @event_priority(200)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put figures of other pages into the output of a page."""
        return self._builds[-1].fill_output(output, page)

    @event_priority(-200)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Replace the tokens that other plugins copied, and write the index of the site."""
        site = self._builds[-1]
        site.finish()
        if len(self._builds) == 1 and site.twins:  # The first build, not that of a further language.
            site.write_index()
        self._builds.pop()

    def on_build_error(self, *, error: Exception) -> None:
        """Discard the builds, which have failed."""
        self._builds.clear()

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Rebuild when a result or a shared pipeline changes."""
        answers = self._open_answers(config)
        for path in map(find_watched_path, (answers.where, str(pipelines_of(self.config, config)))):
            # MkDocs watches the docs folder itself, and two watches would build twice.
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
        """Return the answers of the last build, or new ones if the source or the limits have changed."""
        where, limits = results_source(self.config.results, root_of(config)), limits_of(self.config)
        known = self._answers
        if known is None or (known.where, known.limits, known.server) != (where, limits, self.config.server):
            if known is not None:
                known.close()
            once = not self._serving
            self._answers = known = Answers(where, limits, self.config.workers, self.config.server, once)
        return known


SECONDS: Final = 2.0
"""The seconds between two polls of a database."""


@contextmanager
def sign_of_writes(writes: Callable[[], str | None]) -> Iterator[Path]:
    """Yield a file that is touched whenever the result of ``writes`` changes, until the context ends."""
    with TemporaryDirectory(prefix="mongo-tables-") as folder:
        file, ended = Path(folder, "writes"), Event()
        file.touch()
        Thread(target=_look, args=(writes, file, ended), daemon=True).start()
        try:
            yield file
        finally:
            ended.set()


def _look(writes: Callable[[], str | None], file: Path, ended: Event) -> None:
    before = writes()
    while not ended.wait(SECONDS):
        now = writes()
        if now != before and not ended.is_set():
            before = now
            file.touch()
