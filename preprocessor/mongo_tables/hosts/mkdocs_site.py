"""One build of a site by MkDocs: the pages that it reads, the report, and the figures of the pages that it writes."""

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
_GONE: Final = "plugins and hooks that change a page in `on_page_context` must keep its HTML comments"
_PRINTED: Final = 'id="print-site-page"'
_SHOWN: Final = ("MT313", "MT338")
"""The rules whose notes a build reports. It reports other notes only with ``fail_on: note``."""
_RENDERED: Final = 16
"""The number of pages whose figures are cached, for files in which tokens of several pages alternate."""


@dataclass
class SiteBuild:
    """One build.

    Attributes:
        config: The configuration of MkDocs.
        options: The options of the plugin.
        answers: The answers of the results source.
        shared: The shared pipelines.
        memo: The cache of a preview, None for other builds.
        machine_readable: Whether the build also writes files for programs.
        source: The current page, and its text on disk.
        given: The pages with comments, by the ``id`` of MkDocs's page.
        late: The faults that are only found during the conversion.
        gone: The faults of figures that were lost while their page was written.
        versions: The versions of the project that comments name.
        copied: The files that are not pages.
        linked: The anchors to which links lead, by page.
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
    """The current page, its HTML with tokens, and the names of these tokens."""

    # While MkDocs reads pages

    def read_source(self, page: SitePage) -> str:
        """Return the text of a page on disk. Raises ``PluginError`` if it cannot be read.

        The text is kept until the next page is read.
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
        if "\r" in text:  # MkDocs converts line ends.
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.source = page, text
        return text

    def put_tokens(self, markdown: str, page: SitePage) -> str:
        """Return the Markdown of a page with a token for each of its comments."""
        file = page.file
        on_disk = self.read_source(page)
        # The text is usually that of the file without its front matter.
        rest_has_comment = may_have_comment(on_disk.removesuffix(markdown))
        if rest_has_comment:
            self.late += front_matter_findings(PageLines(on_disk), choose_shown_path(file))
        if "8<-" in markdown:
            markdown = with_snippets(markdown, file, self.config)
        if not may_have_comment(markdown):
            return markdown
        shown, path = choose_shown_path(file), Path(file.abs_src_path or file.src_uri)
        # Without changes by other plugins, the text on disk gives the lines of findings.
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
        # Texts take memory, so keep only those that are needed later.
        held = read if read.rejected or file.generated_by else read._replace(text="")
        self.given[id(page)] = Given(page, held, named, PageText(shown, "", path, page=held))
        return with_tokens(read, named)[len(read.text) - len(markdown) :]

    def take_out_comments(self, html: str, page: SitePage) -> str:
        """Return the HTML without comments that were added during the conversion, and report these comments."""
        html, left = take_out_live_comments(html)
        if left:
            hint = "add the Markdown extension `mongo-tables` in addition to the plugin: it processes such comments"
            self.late += report_left_over(
                choose_shown_path(page.file), left, where_taken_in(self.read_source(page)), hint
            )
        return html

    # When all pages are converted

    @property
    def fail_on(self) -> Severity | None:
        """The lowest severity that ends a build, None in a preview."""
        return self.options.fail_on if self.memo is None else None

    @cached_property
    def report(self) -> Report:
        """The report on the whole site."""
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
        """Report the findings of all pages, and put values into titles. A build with errors ends here."""
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
        """Report the comments whose tokens are not in the HTML, and show comments in place of tokens in code."""
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

        Search plugins need no links and charts, and would take long to read the elements of tables.
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
        """Put the figures of a page in place of their texts, and write the files to which they link."""
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
        """Return the output of a page with the figures of other pages, for example in excerpts."""
        if self._without is not None:  # MkDocs keeps the HTML until the build ends.
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
        """Write the Markdown of a page and return a link to it, or "" if the site already has such a file."""
        path = page.file.src_uri
        if not is_markdown_file(path) or Path(self.config.site_dir, path).exists():
            return ""
        text = swap_markdown(page.markdown or "", self._figures_for())
        self.write({path: text})
        self.twins[path] = page.meta.get("description") or first_sentence(text)
        return alternate_link(page)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files into the site. Raises ``PluginError`` if a file cannot be written."""
        try:
            put(files, Path(self.config.site_dir))
        except OSError as error:
            raise _not_written(error) from None

    def finish(self) -> None:
        """Replace the tokens that other plugins copied. Report lost figures, and tokens that cannot be replaced."""
        try:
            left = swap_left(Path(self.config.site_dir), self.copied, self._figures_for_file)
        except OSError as error:
            raise _not_written(error) from None
        if self.gone or left:
            report([*self.gone, *left], self.fail_on, "do not publish this site")

    def write_index(self) -> None:
        """Write ``llms.txt``, unless the site has such a file."""
        site = Path(self.config.site_dir)
        if (site / LLMS).exists():
            return
        documents = [path_of_all(one.collection) for one in self.documents]
        data = {path: "the documents behind the tables" for path in documents if (site / path).is_file()}
        self.write({LLMS: llms_text(self.config, self.navigation, self.twins, data)})

    # Figures

    @cached_property
    def documents(self) -> Sequence[PublishedDocuments]:
        """The published result documents, one entry for each collection."""
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
            # Documents are only read for figures that link to them.
            made = render(given, self.report, lambda: self.documents, described=self.machine_readable)
            self._rendered.keep(id(given), made)
        return made

    def _figures_for_file(self, path: str, text: str) -> TokenFigures:
        """Return the figures for a file of the site with this path and this text."""
        if not path.endswith((".html", ".htm")):
            return self._figures_for()
        return self._figures_for(path, printed="print-site" in self.config.plugins and _PRINTED in text)

    def _figures_for(self, here: str | None = None, *, printed: bool = False) -> TokenFigures:
        """Return the figures for the page at ``here`` or, if it is None, for a file that is read outside the site."""
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
    """Return whether a generated page has nothing but a title, which contains no lost figure.

    Blog plugins generate such pages: the second and later pages of a list, from the first one.
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
    """Log findings. Raises ``PluginError`` if a finding is at least as severe as ``fail_on`` (None in a preview).

    Findings that end the build are logged as errors, which ``--quiet`` does not hide.
    """
    ending = failing(findings, fail_on) if findings and fail_on else []
    for one in findings:
        level = {"error": logging.ERROR, "warning": logging.WARNING}.get(one.severity, logging.INFO)
        log.log(logging.ERROR if one in ending else level, line_of(one))
    if ending:
        raise PluginError(f"mongo-tables: {amounts(ending)}, listed above; {end}.")
