"""One build of a site by MkDocs: its pages as they come, the report, and the figures of written pages."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from mkdocs.exceptions import PluginError
from mkdocs.plugins import PrefixedLogger
from mkdocs.utils import is_markdown_file

from mongo_tables.build import Report, build
from mongo_tables.directives.html_comments import PageLines
from mongo_tables.directives.keywords import may_have_comment
from mongo_tables.directives.page_scan import front_matter_findings
from mongo_tables.files.folders import bad_byte, may_be_file, shorten_path
from mongo_tables.files.memo import Memo
from mongo_tables.files.process import today
from mongo_tables.findings.finding import Finding, Severity
from mongo_tables.findings.reporters import amounts, failing
from mongo_tables.findings.rules import finding
from mongo_tables.hosts.machine_readable import (
    LLMS,
    alternate_link,
    dataset_script,
    first_sentence,
    llms_text,
)
from mongo_tables.hosts.options import MongoTablesConfig, choose_shown_path
from mongo_tables.hosts.page_figures import (
    Given,
    PageFigures,
    PlainFigure,
    elsewhere,
    in_feed,
    plain_figures,
    print_figure,
    render,
    without_fold,
)
from mongo_tables.hosts.published_files import PublishedDocuments, collections_of, path_of_all, put
from mongo_tables.hosts.snippets import read_taken_in, where_taken_in, with_snippets
from mongo_tables.hosts.written_site import TokenFigures, swap_left, swap_markdown, swap_markup
from mongo_tables.render.markup import ANCHOR
from mongo_tables.results.model import FilesChanged
from mongo_tables.site.figures import line_of, no_place, report_left_over
from mongo_tables.site.includes import may_include
from mongo_tables.site.pages import no_text
from mongo_tables.site.placeholders import (
    BEGIN,
    met_names,
    names,
    show_comments_again,
    swap_marked,
    swap_names,
    swap_tokens,
    take_out_live_comments,
    with_tokens,
)
from mongo_tables.site.site import read_page_text
from mongo_tables.site.snapshot import PageText, ProjectVersion, Snapshot
from mongo_tables.site.versions import read_versions

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.directives.pipelines import SharedPipelines
    from mongo_tables.results.answers import Answers


_UNREADABLE: Final = "the page cannot be read"
_GONE: Final = (
    "a plugin or hook that changes the page's content in `on_page_context` must keep its HTML comments"
)
_PRINTED: Final = 'id="print-site-page"'
_SHOWN: Final = ("MT313", "MT338")
"""Notes that a build prints; the others need ``fail_on: note``."""
_RENDERED: Final = 16
"""Number of pages whose figures are cached, for files that quote several pages in turns."""


@dataclass
class SiteBuild:
    """One build. A preview has a ``memo``.

    Attributes:
        machine_readable: Whether the build writes for programs too.
        source: The current page and its text on disk.
        given: The pages that have comments, by ``id`` of MkDocs's page.
        late: The faults that only the conversion shows.
        gone: The figures that a page lost while it was written.
        versions: The versions of the project that comments ask for.
        copied: The files that are not pages.
        linked: The anchors that links lead to, by page. MkDocs asks for no other.
        navigation: The entries of the site's navigation.
        twins: A sentence about each page whose Markdown was written, by its path.
    """

    config: MkDocsConfig
    options: MongoTablesConfig
    answers: Answers
    shared: SharedPipelines
    memo: Memo | None
    machine_readable: bool
    source: tuple[SitePage | None, str] = None, ""
    given: dict[int, Given] = field(default_factory=dict)
    late: list[Finding] = field(default_factory=list)
    gone: list[Finding] = field(default_factory=list)
    versions: dict[tuple[str, str], ProjectVersion] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    linked: dict[str, set[str]] = field(default_factory=dict)
    navigation: Sequence[Any] = ()
    twins: dict[str, str] = field(default_factory=dict)
    _rendered: Memo = field(default_factory=partial(Memo, _RENDERED))
    _without: tuple[SitePage, str, Collection[str]] | None = None
    """The current page, its HTML with tokens, and the names of those that got a figure."""

    # While MkDocs reads pages

    def read_source(self, page: SitePage) -> str:
        """Return the page as on disk. Raises ``PluginError`` with the place of what cannot be read.

        Each page is read once, when MkDocs announces it or, if a plugin read it by itself, when it is converted.
        """
        if self.source[0] is page:
            return self.source[1]
        file, text, why, bad = page.file, "", "", None
        path = Path(file.abs_src_path or "")
        if not file.abs_src_path:
            text = file.content_string
        elif not may_be_file(path):
            why = "the file does not exist, or is not a regular file"
        else:
            try:
                content = path.read_bytes()
                text = content.decode("utf-8-sig")
            except OSError as error:
                why = str(error.strerror)
            except UnicodeDecodeError:
                bad = bad_byte(content)
        if bad or why:  # MkDocs would show a traceback.
            shown = choose_shown_path(file)
            fault = no_text(shown, bad) if bad else finding("MT100", shown, (0, 0), f"{_UNREADABLE}: {why}")
            report([fault], "error", "nothing was built")
        if "\r" in text:  # MkDocs gives line feeds.
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.source = page, text
        return text

    def put_tokens(self, markdown: str, page: SitePage) -> str:
        """Return the Markdown of a page with a token for each of its comments."""
        file = page.file
        on_disk = self.read_source(page)
        # Usually the text is the end of the file, below its front matter.
        rest_has_comment = may_have_comment(on_disk.removesuffix(markdown))
        if rest_has_comment:
            self.late += front_matter_findings(PageLines(on_disk), choose_shown_path(file))
        if "8<-" in markdown:
            markdown = with_snippets(markdown, file, self.config)
        if not may_have_comment(markdown):
            return markdown
        shown, path = choose_shown_path(file), Path(file.abs_src_path or file.src_uri)
        # If another plugin changed the text, or removed tables, so that the rest contains comments, the text is what
        # was handed over.
        if on_disk.endswith(markdown) and not rest_has_comment:
            text = PageText(shown, on_disk, path)
        else:
            text = PageText(shown, markdown, path, on_disk=on_disk)
        taken_in = []
        if may_include(on_disk):
            for included, content in read_taken_in(file, on_disk, self.config):
                taken_in.append(PageText(shorten_path(included), content, included))
        read = read_page_text(text, self.shared, taken_in, self.memo)
        if not (read.comments or read.findings):
            return markdown
        named = names(read, page.url)
        if "measured_of" in markdown:
            self.versions |= read_versions([text, *taken_in])
        # Keep the text only if it is needed later.
        held = read if read.rejected or file.generated_by else read._replace(text="")
        self.given[id(page)] = Given(page, held, named, PageText(shown, "", path, page=held))
        return with_tokens(read, named)[len(read.text) - len(markdown) :]

    def take_out_comments(self, html: str, page: SitePage) -> str:
        """Return the HTML without comments that came in during the conversion. These become faults."""
        html, left = take_out_live_comments(html)
        if left:
            hint = "list the Markdown extension `mongo-tables` as well as the plugin: it sees such comments"
            self.late += report_left_over(
                choose_shown_path(page.file), left, where_taken_in(self.read_source(page)), hint
            )
        return html

    # When all pages are converted

    @property
    def fail_on(self) -> Severity | None:
        """The severity that ends a build; None in a preview."""
        return self.options.fail_on if self.memo is None else None

    @cached_property
    def report(self) -> Report:
        """Return the report on the whole site."""
        snapshot = Snapshot(
            tuple(given.text for given in self.given.values()),
            self.shared,
            today(),
            "figures",
            built=True,
            server=self.options.server,
            limits=self.answers.limits.files,
            results=Path(self.config.config_file_path or "mkdocs.yml").name,
            versions=self.versions,
        )
        return build(snapshot, self.answers, self.memo)

    def judge(self) -> None:
        """Report every fault of every page. A build with an error ends here. Titles get their values."""
        for given in self.given.values():
            met = met_names(given.page.content or "")
            if not met.issuperset(given.names):
                self._show_lost(given, met)
        found = set(self.late)
        for one in self.report.findings:
            if one.severity != "note" or one.rule in _SHOWN or self.options.fail_on == "note":
                found.add(one)
        log.debug("%d pipelines run", self.answers.ran)
        if found:
            report(sorted(found), self.fail_on, "nothing was built")
        for given in self.given.values():
            page, items = given.page, list(given.page.toc)
            if BEGIN in str(page.title):
                page.title = self._with_texts(given, str(page.title))
            while items:
                item = items.pop()
                items += item.children
                if BEGIN in item.title:
                    item.title = self._with_texts(given, item.title)

    def _show_lost(self, given: Given, met: Collection[str]) -> None:
        """Report the comments whose token is not in the HTML, and show their text where it became code."""
        comments = zip(given.names, given.read.comments, strict=True)
        lost = {name: comment for name, comment in comments if name not in met}
        if _has_title_alone(given, lost):
            return
        self.late += [no_place(given.read.file, comment) for comment in lost.values()]
        sources = {name: f"<!-- {comment.keyword}:{comment.body}-->" for name, comment in lost.items()}
        given.page.content = show_comments_again(given.page.content or "", sources)

    def _with_texts(self, given: Given, text: str) -> str:
        return " ".join(swap_names(text, self._figures_of(given).text).split())

    # While MkDocs writes pages

    def show_texts(self, page: SitePage) -> None:
        """Put the text of each figure into the HTML of a page, between two marks, for search plugins.

        They read neither links nor charts, and take longer for the elements of a table than it takes to draw it.
        """
        given = self.given.get(id(page))
        if given is None:
            return
        figures, html = self._figures_of(given), page.content or ""
        texts = {name: f"<!--{name}-->{figures.text(name) or ''}<!--{name}-->" for name in given.names}
        with_texts, met = swap_tokens(html, texts)
        self._without = page, html, met
        page.content = swap_names(with_texts, figures.text)

    def show_figures(self, page: SitePage) -> None:
        """Put the figures of a page into the place of their texts, and write the files that they link to."""
        given = self.given.get(id(page))
        if given is None:
            return
        figures, texts = self._figures_of(given), page.content or ""
        met = self._without[2] if self._without else ()
        for name, comment in zip(given.names, given.read.comments, strict=True):
            if name in met and name not in texts:
                self.gone.append(no_place(given.read.file, comment, _GONE))
        html = swap_marked(texts, figures.figures)
        page.content = f"{figures.box}\n{html}" if figures.box else html
        linked, present = self.linked.get(page.file.src_uri), page.present_anchor_ids
        if linked and present is not None:
            for figure in figures.figures.values():
                present.update(linked.intersection(ANCHOR.findall(figure)))
        self.write(figures.files)

    def fill_output(self, output: str, page: SitePage) -> str:
        """Return the whole page with the figures of other pages in it, as in excerpts.

        MkDocs keeps the HTML of a page until the end of the build: restore its tokens.
        """
        if self._without is not None:
            self._without[0].content, self._without = self._without[1], None
        given = self.given.get(id(page))
        if BEGIN in output:
            output = swap_markup(output, self._figures_for(page.url))
        if not self.machine_readable:
            return output
        head = self._write_markdown(page)
        if given is not None:
            text = self.twins.get(page.file.src_uri, "")
            head += dataset_script(given, self.report, self._figures_of(given).files, self.config, text)
        return output.replace("</head>", f"{head}</head>", 1)

    def _write_markdown(self, page: SitePage) -> str:
        """Write the Markdown of a page, unless there is such a file. Return the link to it, or ""."""
        path = page.file.src_uri
        if not is_markdown_file(path) or Path(self.config.site_dir, path).exists():
            return ""
        text = swap_markdown(page.markdown or "", self._figures_for())
        self.write({path: text})
        self.twins[path] = page.meta.get("description") or first_sentence(text)
        return alternate_link(page)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files into the site. Raises ``PluginError`` if that fails."""
        try:
            put(files, Path(self.config.site_dir))
        except OSError as error:
            raise _not_written(error) from None

    def finish(self) -> None:
        """Replace the tokens that other plugins copied. The build ends if one cannot be replaced, or is gone."""
        try:
            left = swap_left(Path(self.config.site_dir), self.copied, self._figures_for_file)
        except OSError as error:
            raise _not_written(error) from None
        if self.gone or left:
            report([*self.gone, *left], self.fail_on, "do not publish this site")

    def write_index(self) -> None:
        """Write the index of the Markdown of all pages, unless there is such a file."""
        site = Path(self.config.site_dir)
        if (site / LLMS).exists():
            return
        documents = [path_of_all(one.collection) for one in self.documents]
        data = {path: "the documents behind the tables" for path in documents if (site / path).is_file()}
        self.write({LLMS: llms_text(self.config, self.navigation, self.twins, data)})

    # Figures

    @cached_property
    def documents(self) -> Sequence[PublishedDocuments]:
        """Return the result documents that are published with the pages, by collection."""
        found = []
        for collection in collections_of(self.options.documents):
            try:
                found.append(PublishedDocuments.of(self.answers.local, collection))
            except FilesChanged as error:
                shown = shorten_path(Path(self.answers.where))
                told = finding("MT310", shown, (0, 0), error.message, error.hint)
                report([told], self.fail_on, "nothing was built")
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Given, int]]:
        return {
            name: (given, number) for given in self.given.values() for number, name in enumerate(given.names)
        }

    def _figures_of(self, given: Given) -> PageFigures:
        made = self._rendered.find(id(given))
        if not isinstance(made, PageFigures):
            # The documents are only read for figures that link to them.
            made = render(given, self.report, lambda: self.documents, described=self.machine_readable)
            self._rendered.keep(id(given), made)
        return made

    def _figures_for_file(self, path: str, text: str) -> TokenFigures:
        """Return the figures for a file of the site, by its path and its text."""
        if not path.endswith((".html", ".htm")):
            return self._figures_for()
        return self._figures_for(path, printed="print-site" in self.config.plugins and _PRINTED in text)

    def _figures_for(self, here: str | None = None, *, printed: bool = False) -> TokenFigures:
        """Return the figures for a place in the site; without an address, they fit any place."""
        by_name = self._by_name

        def html(name: str) -> str:
            given, home = by_name[name][0], by_name[name][0].page.url
            made = self._figures_of(given)
            if here is None:
                return in_feed(without_fold(made.figures[name]), urljoin(self.config.site_url or "", home))
            figure = made.figures[name]
            if printed:
                from mkdocs_print_site_plugin.urls import get_page_key

                return print_figure(figure, home, here, get_page_key(home))
            return elsewhere(figure, home, here)

        def markdown(name: str) -> PlainFigure:
            given, number = by_name[name]
            key = "Markdown", id(given)
            return self._rendered.get(key, lambda: plain_figures(given.read, self.report))[number]

        return TokenFigures(
            by_name.keys(),
            html,
            lambda name: self._figures_of(by_name[name][0]).text(name) or "",
            markdown,
        )


def _has_title_alone(given: Given, lost: Mapping[str, Any]) -> bool:
    """Return whether only the title is left of a generated page, and no figure in the title is lost.

    Blogs do so with the further pages of a list, which are made from a copy of the first one.
    """
    left = (given.page.markdown or "").strip()
    if not given.page.file.generated_by or not left.startswith("# ") or "\n" in left:
        return False
    titles = [line for line in with_tokens(given.read, given.names).split("\n") if line.startswith("#")]
    return not any(name in line for line in titles for name in lost)


def _not_written(error: OSError) -> PluginError:
    return PluginError(f"mongo-tables: {error.filename}: {error.strerror}")


log = PrefixedLogger("mongo-tables", logging.getLogger("mkdocs.plugins.mongo_tables"))


def report(findings: Sequence[Finding], fail_on: Severity | None, end: str) -> None:
    """Log findings. Raises ``PluginError`` for one at least as severe as ``fail_on`` (None in a preview).

    Findings that end the build are shown with ``--quiet`` as well.
    """
    ending = failing(findings, fail_on) if findings and fail_on else []
    for one in findings:
        level = {"error": logging.ERROR, "warning": logging.WARNING}.get(one.severity, logging.INFO)
        log.log(logging.ERROR if one in ending else level, line_of(one))
    if ending:
        raise PluginError(f"mongo-tables: {amounts(ending)}, listed above; {end}.")
