"""The Python-Markdown extension: the same tables in Zensical and in any program that uses Python-Markdown.

Zensical runs Python-Markdown extensions and ignores MkDocs plugins that it does not know. Listed under
``markdown_extensions`` as ``mongo-tables``, this extension makes the tables while a page is converted. If the
MkDocs plugin is also active, it has already replaced the comments, and the extension does nothing.

A fault ends the conversion with ``MongoTablesError``: a conversion has no other way to report it, and a page
with a hole in it must not be published. Zensical's preview shows the fault as a box in the page. Zensical
caches converted pages and does not convert them again when results change: the extension is for previews and
for builds without a cache.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from warnings import warn

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import Processor

from mongo_tables.build import Report, build
from mongo_tables.directives.html_comments import PageLines
from mongo_tables.directives.keywords import may_have_comment
from mongo_tables.directives.page_scan import front_matter_findings
from mongo_tables.files.memo import Memo
from mongo_tables.findings.reporters import SEVERITIES, amounts, failing
from mongo_tables.findings.usage import CommandError
from mongo_tables.hosts.page_place import HostBuild, PagePlace, find_place
from mongo_tables.hosts.published_files import inline_assets
from mongo_tables.render.downloads import data_address
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import OPTIONS, limits_of
from mongo_tables.results.opening import join_kinds
from mongo_tables.site.disk import read_folder
from mongo_tables.site.figures import fault_box, line_of, loose_findings, no_place, report_left_over
from mongo_tables.site.placeholders import (
    figure_text,
    names,
    show_comments_again,
    swap_names,
    swap_tokens,
    take_out_live_comments,
    with_tokens,
)
from mongo_tables.site.site import read_page_text
from mongo_tables.site.site_config import is_version, named_values, not_a_version, results_source
from mongo_tables.site.snapshot import PageText, Snapshot
from mongo_tables.site.versions import read_versions

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

    from mongo_tables.findings.finding import Finding, Severity
    from mongo_tables.results.guards import Limits
    from mongo_tables.site.pages import Page

# After pymdownx.snippets (32), so that included comments are seen; before the text is changed at all (30).
_BEFORE_PARSING: Final = 31
_LAST: Final = -100


class MongoTablesError(Exception):
    """Faults in the comments of a page, one per line."""


class MongoTablesExtension(Extension):  # type: ignore[misc]
    """Options: ``results``, ``pipelines``, ``file``, ``server``, ``fail_on``, the limits of ``results.limits``.

    ``results`` is a ``mongodb://`` URI, a folder, or files, by paths and patterns; the environment variable
    ``MONGO_TABLES_RESULTS`` overrides it. ``pipelines`` is the folder of shared stage lists. ``values`` are
    bodies of ``RESULT_VALUE`` by name. ``file`` is the
    path of the page, for programs that convert one page; Zensical provides it. ``fail_on`` is the lowest
    severity that is refused. Paths are relative to Zensical's configuration file, elsewhere to the working
    folder.
    """

    def __init__(self, **settings: Any) -> None:
        self.config = {
            "results": ["fixtures", f"Where rows come from: {join_kinds()}"],
            "pipelines": ["docs/pipelines", "The folder of shared stage lists"],
            "values": [{}, "Values by name, for <!-- RESULT: NAME --> on any page"],
            "file": ["", "The page's path"],
            "server": ["", "The version of MongoDB that pipelines are for, such as 8.0"],
            "fail_on": ["error", "The least grave finding that is refused: error, warning or note"],
            **{name: ["", option.help] for name, option in OPTIONS.items()},
        }
        super().__init__(**settings)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors for tokens (before parsing), for the end of parsing, and for figures."""
        conversion = _Conversion(md, self)
        md.preprocessors.register(_Tokens(md, conversion), "mongo-tables", _BEFORE_PARSING)
        md.treeprocessors.register(_Parsed(md, conversion), "mongo-tables", _LAST)
        md.postprocessors.register(_Figures(md, conversion), "mongo-tables", _LAST)


@dataclass(frozen=True, slots=True)
class _Settings:
    """A results source, the limits of its queries, the server version of pipelines, the shared lists.

    ``values`` is JSON, so that the settings can be a key.
    """

    results: str
    limits: Limits
    server: str
    pipelines: Path
    values: str


class _Conversion:
    """The state that the three processors share: the current page, its figures and its faults."""

    def __init__(self, md: Markdown, extension: MongoTablesExtension) -> None:
        self.parsed = False
        self._md = md
        self._extension = extension
        self._place = PagePlace("page", Path())
        self._page: Page | None = None
        self._figures: dict[str, str] = {}
        self._loose = ""

    def begin(self, text: str) -> str:
        """Return the page with tokens and prepare its figures. Raises ``MongoTablesError`` for an error."""
        self.parsed, self._page, self._figures, self._loose = False, None, {}, ""
        self._place = place = find_place(self._md, self._extension.getConfig("file") or "page")
        whole = place.whole(text)
        if not may_have_comment(text):
            self._report(
                front_matter_findings(PageLines(whole), place.shown) if may_have_comment(whole) else []
            )
            return text
        settings = self._settings(place)
        report = self._build(whole, place, settings)
        page = next(each for each in report.pages if each.file == place.shown)
        if not page.comments and not page.findings:
            return text
        self._page = page
        figures = report.figures.html(page, data_address)
        self._figures = dict(zip(names(page), figures, strict=True))
        self._report(list(report.findings), settings)
        away = [each for each in report.findings if each.rule == "MT310"]
        self._loose = fault_box([*away, *loose_findings(page)])
        cut_off = len(page.text.rstrip("\n")) - len(text.rstrip("\n"))
        return with_tokens(page, names(page))[cut_off:]

    def _build(self, text: str, place: PagePlace, settings: _Settings, *, every: bool = False) -> Report:
        """Return the report on the page as handed over, within its site; ``every``: on all its pages."""
        if place.preview or place.pages is None:
            _read_once.cache_clear()  # The site and its results are read once for each build or preview page.
        site = _read_once(place.folder.absolute(), place.pages, place.build, settings)
        on_disk = place.on_disk if place.on_disk and place.on_disk != text else None
        path = (place.folder / place.shown).resolve()
        known = {one.path: one for one in site.pages}
        before = known.get(path, PageText(place.shown, text, path))
        handed = replace(before, file=place.shown, text=text, on_disk=on_disk)
        known[path] = replace(handed, page=read_page_text(handed, site.shared, memo=_memo()))
        pages = tuple(replace(one, asked=every or one.path == path) for one in known.values())
        source = _source(settings)
        versions = {**site.versions, **read_versions([handed])}
        site = replace(site, pages=pages, results=place.shown, versions=versions)
        return build(site, source, _memo())

    def end(self, html: str) -> str:
        """Return the HTML with the figures. Raises ``MongoTablesError`` if one has no place."""
        # Headings are processed separately before the whole page. Anchors of headings omit values, so that
        # links do not break when a result changes.
        if not self.parsed:
            return html
        html, met = swap_tokens(html, self._figures)
        lost = [name for name in self._figures if name not in met]
        html, left = take_out_live_comments(html)
        if lost or left:
            html = self._with_late_faults(html, lost, left)
        texts = {name: figure_text(figure) for name, figure in self._figures.items()}
        html = swap_names(f"{self._loose}{html}", texts.get)
        _repeat_headings(getattr(self._md, "toc_tokens", []), texts)
        drawn = (html, *self._figures.values())
        styled = any("<figure" in each or "mongo-table-fault" in each for each in drawn)
        return f"{html}\n{inline_assets()}" if styled else html

    def _settings(self, place: PagePlace) -> _Settings:
        """Return the settings of the options. Raises ``MongoTablesError`` for an invalid limit or version."""
        options = self._options
        try:
            limits = limits_of(options)
        except ValueError as error:
            raise MongoTablesError(f"mongo-tables: {error}") from None
        if options["server"] and not is_version(options["server"]):
            raise MongoTablesError(f"mongo-tables: {not_a_version(options['server'])}")
        folder = place.folder.absolute()
        results = results_source(options["results"], folder)
        try:
            values = json.dumps(named_values(options["values"], "mongo-tables"), default=str)
        except CommandError as error:
            raise MongoTablesError(f"{error.message}; {error.hint}") from None
        return _Settings(results, limits, options["server"], folder / options["pipelines"], values)

    @property
    def _options(self) -> Mapping[str, Any]:
        options: Mapping[str, Any] = self._place.options or self._extension.getConfigs()
        return options

    @property
    def _fail_on(self) -> Severity:
        """Return the option ``fail_on``. Raises ``MongoTablesError`` for an unknown word."""
        written = self._options["fail_on"]
        if written not in SEVERITIES:
            message = f"mongo-tables: fail_on is one of {', '.join(SEVERITIES)}, not {written}"
            raise MongoTablesError(message)
        return cast("Severity", written)

    def _report(self, found: Sequence[Finding], settings: _Settings | None = None) -> None:
        """Raise refused findings, with those of all other pages (a preview prints them); warn of the rest."""
        place = self._place
        refused = failing(found, self._fail_on)
        if refused and not place.preview:
            raise self._refusal(refused, settings)
        for each in refused:
            print(f"mongo-tables: {line_of(each)}", file=sys.stderr)
        for each in found:
            if each.severity == "warning" and each not in refused:
                warn(f"mongo-tables: {line_of(each)}", stacklevel=2)

    def _refusal(self, refused: Sequence[Finding], settings: _Settings | None) -> Exception:
        """Return the error for these faults and, if the site is known, for those of its other pages."""
        place = self._place
        if place.refused_by is not None:
            kind: type[Exception] = type("MongoTablesError", (MongoTablesError, place.refused_by), {})
            return kind("\n".join(map(line_of, refused)))
        if place.pages is None:
            return MongoTablesError("\n".join(map(line_of, refused)))
        whole = self._build(place.on_disk, place, settings, every=True).findings if settings else ()
        # Templates and included files are only known when their page is converted.
        elsewhere = [one for one in failing(whole, self._fail_on) if one.file != place.shown]
        every = sorted({*refused, *(one for one in elsewhere if one.rule not in ("MT175", "MT310"))})
        return MongoTablesError("\n".join(["", *map(line_of, every), f"mongo-tables: {amounts(every)}"]))

    def _with_late_faults(self, html: str, lost: Sequence[str], left: Sequence[str]) -> str:
        """Add a box of faults that only the converted page shows: figures without a place, other comments."""
        found = report_left_over(self._place.shown, left)
        if self._page is not None:
            page = self._page
            comments = dict(zip(names(page), zip(page.comments, page.specs, strict=True), strict=True))
            for name in lost:
                comment, spec = comments[name]
                found.append(no_place(spec.file, spec.comment) if spec else no_place(page.file, comment))
            written = {name: page.text[comments[name][0].start : comments[name][0].end] for name in lost}
            html = show_comments_again(html, written)
        self._report(found)
        return f"{fault_box(found)}\n{html}"


class _Step(Processor):  # type: ignore[misc]
    def __init__(self, md: Markdown, conversion: _Conversion) -> None:
        super().__init__(md)
        self._conversion = conversion


class _Tokens(_Step, Preprocessor):  # type: ignore[misc]
    def run(self, lines: list[str]) -> list[str]:
        return self._conversion.begin("\n".join(lines)).split("\n")


class _Parsed(_Step, Treeprocessor):  # type: ignore[misc]
    def run(self, root: Element) -> None:
        self._conversion.parsed = True


class _Figures(_Step, Postprocessor):  # type: ignore[misc]
    def run(self, text: str) -> str:
        return self._conversion.end(text)


def _repeat_headings(items: Sequence[dict[str, Any]], texts: Mapping[str, str]) -> None:
    """Put the values of headings into the table of contents."""
    for item in items:
        for key in ("name", "html", "data-toc-label"):
            if item.get(key):
                item[key] = swap_names(item[key], texts.get)
        _repeat_headings(item["children"], texts)


@lru_cache(maxsize=1)
def _read_once(folder: Path, pages: Path | None, build: HostBuild | None, settings: _Settings) -> Snapshot:
    """Return the snapshot of one build. Only that of the latest build is cached."""
    _source(settings).refresh()
    return read_folder(
        folder,
        pages,
        build.leaves_out if build else None,
        pipelines=settings.pipelines,
        server=settings.server,
        limits=settings.limits.files,
        results=settings.results,
        values=json.loads(settings.values),
    )


@cache
def _source(settings: _Settings) -> Answers:
    """Return the answers of a source, shared by all pages that this process converts."""
    return Answers(settings.results, settings.limits, server=settings.server)


@cache
def _memo() -> Memo:
    return Memo()


def makeExtension(**settings: Any) -> MongoTablesExtension:
    """Return the extension. Python-Markdown calls this by module name."""
    return MongoTablesExtension(**settings)
