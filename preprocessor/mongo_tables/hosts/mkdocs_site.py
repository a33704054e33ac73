"""One build of a site by MkDocs: its pages as they come, the report, and the figures of written pages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from io import BytesIO, TextIOWrapper
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
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import amounts, failing
from mongo_tables.findings.rules import finding
from mongo_tables.hosts.machine_readable import (
    LLMS,
    alternate_link,
    dataset_script,
    first_sentence,
    llms_text,
)
from mongo_tables.hosts.options import choose_shown_path
from mongo_tables.hosts.page_figures import (
    Given,
    PageFigures,
    elsewhere,
    in_feed,
    plain_figures,
    print_figure,
    render,
)
from mongo_tables.hosts.published_files import PublishedDocuments, collections_of, path_of_all, put
from mongo_tables.hosts.snippets import read_taken_in, where_taken_in, with_snippets
from mongo_tables.hosts.written_site import TokenFigures, swap_left, swap_markdown, swap_markup
from mongo_tables.render.markup import ANCHOR
from mongo_tables.site.figures import line_of, no_place, report_left_over
from mongo_tables.site.includes import may_include
from mongo_tables.site.pages import no_text
from mongo_tables.site.placeholders import (
    BEGIN,
    met_names,
    names,
    show_comments_again,
    swap_names,
    swap_tokens,
    take_out_live_comments,
    with_tokens,
)
from mongo_tables.site.site import read_page_text
from mongo_tables.site.site_config import find_watched_path
from mongo_tables.site.snapshot import PageText, ProjectVersion, Snapshot
from mongo_tables.site.versions import read_versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File
    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.directives.pipelines import SharedPipelines
    from mongo_tables.findings.finding import Severity
    from mongo_tables.hosts.options import MongoTablesConfig
    from mongo_tables.hosts.page_figures import PlainFigure
    from mongo_tables.results.answers import Answers


_PRINTED: Final = 'id="print-site-page"'
_SHOWN: Final = ("MT313", "MT338")
"""Notes that a build prints; the others need ``fail_on: note``."""
_RENDERED: Final = 16
"""Number of pages whose figures are cached, for files that quote several pages in turns."""


@dataclass
class SiteBuild:
    """One build. A preview has a ``memo``.

    Attributes:
        source: The current page and its text on disk.
        given: The pages that have comments, by ``id`` of MkDocs's page.
        late: The faults that only the conversion shows.
        versions: The versions of the project that comments ask for.
        copied: The files that are not pages.
        navigation: The entries of the site's navigation.
        twins: A sentence about each page whose Markdown was written, by its path.
    """

    config: MkDocsConfig
    options: MongoTablesConfig
    answers: Answers
    shared: SharedPipelines
    memo: Memo | None
    source: tuple[SitePage | None, str] = None, ""
    given: dict[int, Given] = field(default_factory=dict)
    late: list[Finding] = field(default_factory=list)
    versions: dict[tuple[str, str], ProjectVersion] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    navigation: Sequence[Any] = ()
    twins: dict[str, str] = field(default_factory=dict)
    _rendered: Memo = field(default_factory=partial(Memo, _RENDERED))
    _without: tuple[SitePage, str] | None = None

    # While MkDocs reads pages

    def read_source(self, page: SitePage) -> str:
        """Return the page as on disk. Raises ``PluginError`` with the place of what cannot be read."""
        text = read_page_file(page.file)
        if isinstance(text, Finding):
            report([text], "error", "nothing was built")
            return ""
        if may_have_comment(text):
            self.late += front_matter_findings(PageLines(text), choose_shown_path(page.file))
        self.source = page, text
        return text

    def put_tokens(self, markdown: str, page: SitePage) -> str:
        """Return the Markdown of a page with a token for each of its comments."""
        if "8<-" in markdown:
            markdown = with_snippets(markdown, page.file, self.config)
        if not may_have_comment(markdown):
            return markdown
        on_disk = self._on_disk(page)
        text = text_of(page.file, markdown, on_disk)
        found = read_taken_in(page.file, on_disk, self.config) if may_include(on_disk) else ()
        taken_in = [PageText(shorten_path(path), content, path) for path, content in found]
        read = read_page_text(text, self.shared, taken_in, self.memo)
        if not (read.comments or read.findings):
            return markdown
        named = names(read, page.url)
        if "measured_of" in markdown:
            self.versions |= read_versions([text, *taken_in])
        # Keep the text only if it is needed later.
        needed = read.rejected or page.file.generated_by
        held = read if needed else read._replace(text="")
        self.given[id(page)] = Given(page, held, named, replace(text, text="", on_disk=None, page=held))
        return with_tokens(read, named)[len(read.text) - len(markdown) :]

    def take_out_comments(self, html: str, page: SitePage) -> str:
        """Return the HTML without comments that came in during the conversion. These become faults."""
        html, left = take_out_live_comments(html)
        if left:
            hint = "list the Markdown extension `mongo-tables` as well as the plugin: it sees such comments"
            self.late += report_left_over(
                choose_shown_path(page.file), left, where_taken_in(self._on_disk(page)), hint
            )
        return html

    def _on_disk(self, page: SitePage) -> str:
        """Return the text of the current page. Pages that plugins read by themselves are not announced."""
        return self.source[1] if self.source[0] is page else self.read_source(page)

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
            self._look_for_lost(given)
        notes = self.options.fail_on == "note"
        of_pages = self.report.findings
        shown = (one for one in of_pages if notes or one.severity != "note" or one.rule in _SHOWN)
        found = {*self.late, *shown}
        log.debug("%d pipelines run", self.answers.ran)
        report(sorted(found), self.fail_on, "nothing was built")
        for given in self.given.values():
            self._fill_titles(given)

    def _look_for_lost(self, given: Given) -> None:
        met = met_names(given.page.content or "")
        if met.issuperset(given.names):
            return
        comments = zip(given.names, given.read.comments, strict=True)
        lost = {name: comment for name, comment in comments if name not in met}
        if _has_title_alone(given, lost):
            return
        self.late += [no_place(given.read.file, comment) for comment in lost.values()]
        sources = {name: f"<!-- {comment.keyword}:{comment.body}-->" for name, comment in lost.items()}
        given.page.content = show_comments_again(given.page.content or "", sources)

    def _fill_titles(self, given: Given) -> None:
        page, items = given.page, list(given.page.toc)
        if BEGIN in str(page.title):
            page.title = self._with_texts(given, str(page.title))
        while items:
            item = items.pop()
            items += item.children
            if BEGIN in item.title:
                item.title = self._with_texts(given, item.title)

    def _with_texts(self, given: Given, text: str) -> str:
        return " ".join(swap_names(text, self._figures_of(given).text).split())

    def release(self) -> None:
        """Release data that figures do not need: on thousands of pages it takes more memory than MkDocs."""
        self.answers.release()
        for given in self.given.values():
            for comment in given.read.comments:
                comment.release()

    # While MkDocs writes pages

    def show_figures(self, page: SitePage) -> None:
        """Put the figures into the HTML of a page, and write the files that they link to."""
        given = self.given.get(id(page))
        if given is None:
            return
        figures, html = self._figures_of(given), page.content or ""
        self._without = page, html
        html, _ = swap_tokens(html, figures.figures)
        html = swap_names(html, figures.text)
        page.content = f"{figures.box}\n{html}" if figures.box else html
        if page.present_anchor_ids is not None:
            for figure in figures.figures.values():
                page.present_anchor_ids.update(ANCHOR.findall(figure))
        self.write(figures.files)

    def fill_output(self, output: str, page: SitePage) -> str:
        """Return the whole page with the parts below its figures, and figures of other pages, as in excerpts.

        MkDocs keeps the HTML of a page until the end of the build: restore its tokens.
        """
        if self._without is not None:
            self._without[0].content, self._without = self._without[1], None
        output = swap_markup(output, self._figures_for(page.url, page)) if BEGIN in output else output
        if not self._is_machine_readable:
            return output
        head, given = self._write_markdown(page), self.given.get(id(page))
        if given is not None:
            files, text = self._figures_of(given).files, self.twins.get(page.file.src_uri, "")
            head += dataset_script(given, self.report, files, self.config, text)
        return output.replace("</head>", f"{head}</head>", 1)

    def _write_markdown(self, page: SitePage) -> str:
        """Write the Markdown of a page, unless there is such a file. Return the link to it, or ""."""
        path = page.file.src_uri
        if not is_markdown_file(path) or Path(self.config.site_dir, path).exists():
            return ""
        text = swap_markdown(page.markdown or "", self._figures_for("", None))
        self.write({path: text})
        self.twins[path] = page.meta.get("description") or first_sentence(text)
        return alternate_link(page)

    @property
    def _is_machine_readable(self) -> bool:
        return self.options.machine_readable and self.memo is None

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files into the site. Raises ``PluginError`` if that fails."""
        with _writing():
            put(files, Path(self.config.site_dir))

    def finish(self) -> None:
        """Replace the tokens that other plugins copied. The build ends if one cannot be replaced."""
        with _writing():
            found = swap_left(Path(self.config.site_dir), self.copied, self._figures_for_file)
        report(found, self.fail_on, "do not publish this site")

    def write_index(self) -> None:
        """Write the index of the Markdown of all pages, unless there is such a file."""
        site = Path(self.config.site_dir)
        if not self.twins or (site / LLMS).exists():
            return
        documents = [path_of_all(one.collection) for one in self.documents]
        data = {path: "the documents behind the tables" for path in documents if (site / path).is_file()}
        self.write({LLMS: llms_text(self.config, self.navigation, self.twins, data)})

    # Figures

    @cached_property
    def documents(self) -> Sequence[PublishedDocuments]:
        """Return the result documents that are published with the pages, by collection."""
        where, collections = self.answers.where, collections_of(self.options.documents)
        found = [PublishedDocuments.of(self.answers.local, one) for one in collections]
        for one in found:
            if not one.files and find_watched_path(where):
                log.warning(
                    "documents: %s has no documents in lines of the collection %s", where, one.collection
                )
        return found

    def _address_document(self, page: str, collection: str, key: Any) -> str:
        """Return the relative path from a page's address to a document, or "" if it is not published."""
        return "".join(one.address(page, collection, key) for one in self.documents)

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Given, int]]:
        return {
            name: (given, number) for given in self.given.values() for number, name in enumerate(given.names)
        }

    def _figures_of(self, given: Given) -> PageFigures:
        return self._rendered.get(
            id(given),
            lambda: render(given, self.report, self._address_document, described=self._is_machine_readable),
        )

    def _figures_for_file(self, path: str, text: str) -> TokenFigures:
        """Return the figures for a file of the site, by its path and its text."""
        if path.endswith((".html", ".htm")):
            return self._figures_for(
                path, None, printed="print-site" in self.config.plugins and _PRINTED in text
            )
        return self._figures_for("", None)

    def _figures_for(self, here: str, page: SitePage | None, *, printed: bool = False) -> TokenFigures:
        """Return the figures for a place in the site; without an address, they fit any place."""
        by_name = self._by_name

        def html(name: str) -> str:
            given, home = by_name[name][0], by_name[name][0].page.url
            made = self._figures_of(given)
            if not here and page is None:
                return in_feed(made.without_fold(name), urljoin(self.config.site_url or "", home))
            figure = made.with_fold(name)
            if printed:
                from mkdocs_print_site_plugin.urls import get_page_key

                return print_figure(figure, home, here, get_page_key(home))
            return elsewhere(figure, home, here)

        def fold(name: str) -> str:
            given = by_name[name][0]
            return self._figures_of(given).folds.get(name, "") if given.page is page else ""

        def markdown(name: str) -> PlainFigure:
            given, number = by_name[name]
            key = "Markdown", id(given)
            return self._rendered.get(key, lambda: plain_figures(given.read, self.report))[number]

        return TokenFigures(
            by_name.keys(),
            html,
            lambda name: self._figures_of(by_name[name][0]).text(name) or "",
            markdown,
            fold,
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


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PluginError(f"mongo-tables: {error.filename}: {error.strerror}") from None


def text_of(file: File, markdown: str, on_disk: str) -> PageText:
    """Return the text of a page as handed over: usually the end of the file, below its front matter.

    If another plugin changed the text that is ``on_disk``, the text is ``markdown``.
    """
    shown, path = choose_shown_path(file), Path(file.abs_src_path or file.src_uri)
    # The rest is front matter; if it contains comments, another plugin removed tables from the page.
    if on_disk.endswith(markdown) and not may_have_comment(on_disk[: len(on_disk) - len(markdown)]):
        return PageText(shown, on_disk, path)
    return PageText(shown, markdown, path, on_disk=on_disk)


def read_page_file(file: File) -> str | Finding:
    """Return the text of a page, read once, or the fault that prevents it (MkDocs would show a traceback)."""
    shown, path = choose_shown_path(file), Path(file.abs_src_path or "")
    if not file.abs_src_path:
        return file.content_string
    if not may_be_file(path):
        return finding(
            "MT100",
            shown,
            (0, 0),
            "the page cannot be read: the file does not exist, or is not a regular file",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        return finding("MT100", shown, (0, 0), f"the page cannot be read: {error.strerror}")
    if bad := bad_byte(content):
        return no_text(shown, bad)
    return TextIOWrapper(BytesIO(content), "utf-8-sig").read()  # with the line ends that MkDocs gives


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
