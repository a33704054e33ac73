"""The MkDocs plugin (ProperDocs runs it unchanged).

One build goes: ``on_files`` reads the pages and runs every distinct pipeline at once; ``on_page_markdown``
puts tokens for the comments; ``on_page_content`` swaps them for figures; ``on_env``, when all pages are
read and nothing is written yet, reports every fault and ends a build that has errors; ``on_page_context``
shows figures as words to search plugins, which come between. Under ``serve`` a fault is shown in the page
instead.

The class has ``on_startup``, which makes MkDocs keep the instance between rebuilds, and with it pages and
answers: https://www.mkdocs.org/dev-guide/plugins/#on_startup
"""

from __future__ import annotations

import logging
import math
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkdocs.config import config_options as c
from mkdocs.config.base import Config, ValidationError
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, PrefixedLogger, event_priority
from mkdocs.structure.files import File, InclusionLevel

from preprocessor.environment import today
from preprocessor.render.anchors import anchors_in
from preprocessor.results import Limits
from preprocessor.site import garbage
from preprocessor.site.answers import KeptAnswers
from preprocessor.site.assets import SCRIPT_FILE, STYLE_SHEET_FILE
from preprocessor.site.headings import headings_with_values
from preprocessor.site.keptsite import KeptPage, folder_state, key_of, load, may_be_kept, store
from preprocessor.site.searchtext import in_full, in_words
from preprocessor.site.shelf import Shelf, put
from preprocessor.site.source import results_source, watched_folder
from preprocessor.site.swap import left_over, shown_again, swapped, tokens, with_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page as SitePage
    from mkdocs.utils.templates import TemplateContext

    from preprocessor.findings import Finding
    from preprocessor.pages import Page
    from preprocessor.site.documents import Documents
    from preprocessor.site.figures import Known
    from preprocessor.site.pagereader import PageReader

log = PrefixedLogger("mongo-tables", logging.getLogger("mkdocs.plugins.mongo_tables"))

STYLE_SHEET = "assets/mongo-tables.css"
SCRIPT = "assets/mongo-tables.js"


class _AboveZero(c.Type):  # type: ignore[type-arg]
    """A number above 0 that has an end: -1 rows or infinitely many seconds are no limit."""

    def run_validation(self, value: object) -> object:
        number = super().run_validation(value)
        if not 0 < number < math.inf:
            raise ValidationError(f"Expected a number above 0, not {number}")
        return number


class MongoTablesConfig(Config):  # type: ignore[no-untyped-call]
    """The plugin's options in ``mkdocs.yml``."""

    results = c.Type(str, default="fixtures")
    """Where rows come from: a ``mongodb://`` URI, or a folder of fixtures relative to ``mkdocs.yml``. The
    environment variable ``MONGO_TABLES_RESULTS`` comes before it."""

    pipelines = c.Type(str, default="")
    """Folder of shared stage lists, relative to ``mkdocs.yml``; by default ``pipelines`` in the docs
    folder. It is not copied to the site."""

    documents = c.Type(str, default="")
    """A collection of the fixtures whose documents are published beside the pages, for the runs under figures to lead
    to; by default none is. Whoever reads the site reads all of them."""

    time_limit = _AboveZero((int, float), default=10)
    """Seconds that one pipeline may take on a server."""

    connect_limit = _AboveZero((int, float), default=2)
    """Seconds to find a server."""

    row_limit = _AboveZero(int, default=10_000)
    """Rows that one pipeline may give."""

    workers = _AboveZero(int, default=4)
    """Pipelines that run at the same time on a server."""


class MongoTablesPlugin(BasePlugin[MongoTablesConfig]):  # type: ignore[no-untyped-call]
    """Comments in Markdown, tables in the site."""

    def __init__(self) -> None:
        self._serving = False
        self._running = ExitStack()
        self._answers: KeptAnswers | None = None
        self._reader: PageReader | None = None
        self._pages: dict[str, Page] = {}
        self._on_disk: list[Page] = []
        self._known: Known | None = None
        self._late: list[Finding] = []
        self._key = ""
        self._kept: dict[str, KeptPage] | None = None
        self._fresh: dict[str, KeptPage] = {}
        self._downloads: dict[str, str] = {}
        self._documents: Documents | None = None
        self._drawn: dict[str, dict[str, str]] = {}

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Learn whether this is a preview, which shows faults in the page and goes on."""
        self._serving = command == "serve"
        self._running.enter_context(garbage.seldom_collected())

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Find the results source, and add the style sheet and the script to every page."""
        self._pages, self._late, self._fresh, self._downloads = {}, [], {}, {}
        self._on_disk, self._known, self._drawn, self._documents = [], None, {}, None
        self._answers = self._answers_of(results_source(self.config.results, _root(config)))
        config.extra_css.append(STYLE_SHEET)
        config.extra_javascript.append(SCRIPT)
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Run every pipeline of every page, unless all figures are kept; shared pipelines stay out of the site."""
        folder = self._pipelines(config)
        self._asked.refresh()
        level = InclusionLevel.is_in_serve if self._serving else InclusionLevel.is_included
        texts = [(file, _text(file)) for file in files.documentation_pages(inclusion=level)]
        if without := [file for file, text in texts if not text]:
            _refuse_unreadable(without)
        pages = [file for file, text in texts if "<!--" in text]
        self._key = self._site_key(folder, pages, config)
        self._kept = load(Path(self._asked.where), self._key) if self._key else None
        if self._kept is None:
            self._ask_all(folder, pages)
        log.debug("%d pipelines run", self._asked.ran)
        for file in _inside(folder, files):
            files.remove(file)
        # Other plugins take it for granted that a file has a path on disk.
        files.append(File.generated(config, STYLE_SHEET, abs_src_path=str(STYLE_SHEET_FILE)))
        files.append(File.generated(config, SCRIPT, abs_src_path=str(SCRIPT_FILE)))
        return files

    def on_page_markdown(
        self, markdown: str, *, page: SitePage, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Put a token for each comment of the page, as the plugins before this one left it."""
        if "<!--" not in markdown:
            return None
        kept = self._kept_page(page.file, markdown)
        if kept is not None:
            return kept.text[len(_text(page.file)) - len(markdown) :]
        return self._with_tokens(markdown, page, config)

    def on_page_content(self, html: str, *, page: SitePage, config: MkDocsConfig, files: Files) -> str:
        """Swap the tokens for figures; a comment that is still there has come in from elsewhere."""
        name = page.file.src_uri
        given = self._pages.get(name)
        if given is not None:
            html = self._with_figures(html, page, given)
        elif self._kept and name in self._kept:
            html = self._swapped(html, self._kept[name].figures, page)[0]
            self._downloads |= self._kept[name].files
        _repeat_headings(page, html)
        html, keywords = left_over(html)
        if keywords:
            self._late += _left_over_findings(page, keywords)
        return html

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Report every fault of every page; a build with an error ends here, before anything is written."""
        findings = self._findings(config)
        for finding in findings:
            _report(finding)
        errors = sum(finding.severity == "error" for finding in findings)
        if errors and not self._serving:
            count = f"{errors} error{'s' if errors > 1 else ''}"
            raise PluginError(f"mongo-tables: {count}, listed above; nothing was built.")
        if not findings:
            self._keep()
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

    on_page_context = CombinedEvent(_for_search, _for_readers)

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Build again when a result or a shared pipeline changes."""
        folders = (self._asked.where, str(self._pipelines(config)))
        for folder in map(watched_folder, folders):
            if folder is not None:
                server.watch(folder)
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
            from preprocessor.site.documents import Documents

            folder, collection = self._asked.where, self.config.documents
            self._documents = Documents.of(Path(folder), collection)
            if collection and not self._documents.files and watched_folder(folder):
                log.warning(
                    "documents: %s has no documents in lines of the collection %s", folder, collection
                )
        return self._documents

    def _answers_of(self, where: str) -> KeptAnswers:
        """The answers of the last build, as long as source and limits are the same."""
        limits = Limits(
            time_ms=round(self.config.time_limit * 1000),
            rows=self.config.row_limit,
            connect_ms=round(self.config.connect_limit * 1000),
        )
        known = self._answers
        if known is not None and (known.where, known.limits) == (where, limits):
            return known
        if known is not None:
            known.close()
        return KeptAnswers(where, limits, self.config.workers)

    def _site_key(self, folder: Path, pages: Sequence[File], config: MkDocsConfig) -> str:
        """A key of all that figures are made from; empty where that cannot be known, or need not (a preview)."""
        answers = self._asked
        if answers.state is None or self._serving or not pages:
            return ""
        texts = [part for file in pages for part in (file.src_uri, _text(file))]
        links = repr((config.use_directory_urls, self.config.documents))
        settings = [repr(answers.limits), links, _day_that_matters(texts)]
        return key_of([answers.state, folder_state(folder), *settings, *texts])

    def _ask_all(self, folder: Path, pages: Sequence[File]) -> None:
        """Read every page and run every distinct pipeline at once."""
        if not pages:
            return
        from preprocessor.pages import queries

        reader = self._page_reader(folder)
        reader.refresh()
        with garbage.nothing_collected():
            self._on_disk = [page for page in map(reader.on_disk, pages) if page is not None]
            self._asked.ask(queries(self._on_disk, with_sources=True))
            self._asked.forget()
        if not self._serving:  # A preview drops it all at the next change.
            garbage.kept()

    def _page_reader(self, folder: Path) -> PageReader:
        from preprocessor.site.pagereader import PageReader

        if self._reader is None or self._reader.folder != folder:
            self._reader = PageReader(folder)
        return self._reader

    def _kept_page(self, file: File, markdown: str) -> KeptPage | None:
        """The kept page, if the text given is the one it was made from."""
        kept = self._kept.get(file.src_uri) if self._kept else None
        return kept if kept is not None and _text(file).endswith(markdown) else None

    def _with_tokens(self, markdown: str, page: SitePage, config: MkDocsConfig) -> str | None:
        from preprocessor.pages import queries

        given = self._page_reader(self._pipelines(config)).as_given(page.file, markdown)
        if not given.comments and not given.findings:
            return None
        self._pages[page.file.src_uri] = given
        self._asked.ask(queries([given], with_sources=True))
        if given.text != _text(page.file):
            self._key = ""  # Another plugin's work is not part of the key.
        return with_tokens(given)[len(given.text) - len(markdown) :]

    def _pipelines(self, config: MkDocsConfig) -> Path:
        if self.config.pipelines:
            return _root(config) / self.config.pipelines
        return Path(config.docs_dir) / "pipelines"

    def _swapped(self, html: str, figures: Mapping[str, str], page: SitePage) -> tuple[str, list[str]]:
        """As ``swap.swapped``; MkDocs, which has looked for anchors already, learns of those in the figures."""
        self._drawn[page.file.src_uri] = {token: each for token, each in figures.items() if "<table" in each}
        if page.present_anchor_ids is not None:
            page.present_anchor_ids.update(*map(anchors_in, figures.values()))
        return swapped(html, figures)

    def _with_figures(self, html: str, page: SitePage, given: Page) -> str:
        from preprocessor.site.faults import fault_box
        from preprocessor.site.figures import Known, figures_of, loose_findings

        if self._known is None:
            collections = () if self._asked.unreachable else self._asked.collections
            self._known = Known.of(self._on_disk, self._asked.by_key, collections)
        shelf = Shelf(page.file.src_uri, page.url)
        find = partial(self._published.address, page.url)
        figures = dict(zip(tokens(given), figures_of(given, self._known, shelf.place, find), strict=True))
        self._downloads |= shelf.files
        if self._key:
            self._fresh[page.file.src_uri] = KeptPage(with_tokens(given), figures, shelf.files)
        self._late += _taken_anchors(given, page.present_anchor_ids or ())
        html, lost = self._swapped(html, figures, page)
        if lost:
            html = self._without(lost, html, given)
        box = fault_box(loose_findings(given))
        return f"{box}\n{html}" if box else html

    def _keep(self) -> None:
        """Keep the figures of a site without a single finding for the next build."""
        if self._key and self._kept is None and may_be_kept(self._pages.values()):
            store(Path(self._asked.where), self._key, self._fresh)

    def _without(self, lost: list[str], html: str, given: Page) -> str:
        from preprocessor.rules import finding

        comments = dict(zip(tokens(given), given.comments, strict=True))
        for token in lost:
            comment = comments[token]
            at = (comment.line, comment.column)
            hint = "give the comment lines of its own, outside code and raw HTML"
            self._late.append(finding("MT118", given.file, at, "the site has no place for this figure", hint))
        sources = {token: given.text[comments[token].start : comments[token].end] for token in lost}
        return shown_again(html, sources)

    def _findings(self, config: MkDocsConfig) -> list[Finding]:
        """All findings, sorted. A source out of reach is one fault, not one for each table."""
        if not self._pages and not self._late:
            return []
        from preprocessor.pages import all_findings
        from preprocessor.rules import finding

        assert self._answers is not None
        pages = list(self._pages.values())
        unreachable = self._answers.unreachable
        if unreachable is None:
            known = self._known
            collections, judged = (known.collections, known.judged) if known else ((), {})
            found = all_findings(pages, self._answers.by_key, collections, judged=judged)
            return sorted({*found, *self._late})
        file = Path(config.config_file_path or "mkdocs.yml").name
        one = finding("MT310", file, (0, 0), unreachable.message, unreachable.hint)
        return sorted({one, *all_findings(pages, None), *self._late})


def _day_that_matters(texts: Sequence[str]) -> str:
    """The day, where a table may be too old tomorrow though nothing changes."""
    return today().isoformat() if any('"max_age"' in text for text in texts) else ""


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent if config.config_file_path else Path.cwd()


def _text(file: File) -> str:
    """A page as it is on disk; nothing when it cannot be read (``_refuse_unreadable``)."""
    try:
        return file.content_string
    except (OSError, ValueError):
        return ""


def _refuse_unreadable(files: Iterable[File]) -> None:
    """End the build for pages that MkDocs could not read either, with the place of each fault."""
    from preprocessor.site.pagereader import unreadable

    faults = [fault for fault in map(unreadable, files) if fault is not None]
    for fault in faults:
        _report(fault)
    if faults:
        raise PluginError("mongo-tables: a page cannot be read, see above; nothing was built.")


def _repeat_headings(page: SitePage, html: str) -> None:
    """Put the values of headings into the table of contents and, where it comes from a heading, the title."""
    headings = headings_with_values(html)
    items = list(page.toc) if headings else []
    while items:
        item = items.pop()
        items += item.children
        if item.id in headings:
            item.title = headings[item.id].whole
            if item.level == 1 and page.title == headings[item.id].bare:
                page.title = headings[item.id].whole


def _inside(folder: Path, files: Files) -> list[File]:
    return [file for file in files if file.abs_src_path and Path(file.abs_src_path).parent == folder]


def _taken_anchors(given: Page, taken: Collection[str]) -> list[Finding]:
    """A link to such a table would lead to the heading."""
    from preprocessor.rules import finding
    from preprocessor.specs import PipelineSpec

    hint = "give the table another id, for links lead to the first of the two"
    return [
        finding("MT144", given.file, spec.locate(("id",)), f"the page has a `{spec.id}` already", hint)
        for spec in given.specs
        if isinstance(spec, PipelineSpec) and spec.id in taken
    ]


def _left_over_findings(page: SitePage, keywords: Sequence[str]) -> list[Finding]:
    from preprocessor.rules import finding
    from preprocessor.site.pagereader import shown_path

    hint = (
        "it came in after the page was read, from an included file for example: write it in the page itself"
    )
    return [
        finding("MT119", shown_path(page.file), (0, 0), f"a {keyword} comment is left in the page", hint)
        for keyword in dict.fromkeys(keywords)
    ]


def _report(finding: Finding) -> None:
    from preprocessor.site.faults import line_of

    level = {"error": logging.ERROR, "warning": logging.WARNING}.get(finding.severity, logging.INFO)
    log.log(level, line_of(finding))
