"""The Python-Markdown extension ``mongo-tables``, for Zensical and other programs that use Python-Markdown.

The extension replaces comments by figures while a page is converted. Zensical runs it, because it ignores MkDocs
plugins that it does not know. If the MkDocs plugin is active, it has already replaced the comments, and the extension
does nothing.

A fault ends the conversion with ``MongoTablesError``, because a conversion has no other way to report it, and a page
without its figures must not be published. Zensical's preview shows faults as boxes in the page. Zensical caches
converted pages and does not convert them again when results change, so the extension is for previews and for builds
without a cache.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib import import_module
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
from mongo_tables.hosts.published_files import inline_assets
from mongo_tables.render.downloads import data_address
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import OPTIONS, Limits, limits_of
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
from mongo_tables.site.site_config import (
    NAME,
    ExclusionPatterns,
    is_version,
    named_values,
    not_a_version,
    results_source,
)
from mongo_tables.site.snapshot import PageText, Snapshot
from mongo_tables.site.versions import read_versions

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown
    from mkdocs.config.defaults import MkDocsConfig

    from mongo_tables.findings.finding import Finding, Severity
    from mongo_tables.site.pages import Page

# After pymdownx.snippets (32), which includes files with comments, and before other preprocessors (30).
_BEFORE_PARSING: Final = 31
_LAST: Final = -100


class MongoTablesError(Exception):
    """The faults in the comments of a page, one on each line."""


class MongoTablesExtension(Extension):  # type: ignore[misc]
    """The extension. Its options are the limits of ``results.guards``, and the options below.

    Paths are relative to Zensical's configuration file, or else to the working folder.

    * ``results``: a ``mongodb://`` URI, or a folder or files, also as patterns. The environment variable
      ``MONGO_TABLES_RESULTS`` overrides it.
    * ``pipelines``: the folder of shared pipelines.
    * ``values``: bodies of ``RESULT_VALUE`` by name.
    * ``file``: the path of the page, for programs that convert a single page. Zensical sets it.
    * ``server``: the version of MongoDB that pipelines are for.
    * ``fail_on``: the lowest severity with which a finding ends the conversion.
    """

    def __init__(self, **settings: Any) -> None:
        self.config = {
            "results": ["fixtures", f"The source of rows: {join_kinds()}"],
            "pipelines": ["docs/pipelines", "The folder of shared pipelines"],
            "values": [{}, "Values by name, for <!-- RESULT: NAME --> on all pages"],
            "file": ["", "The path of the page"],
            "server": ["", "The version of MongoDB that pipelines are for, such as 8.0"],
            "fail_on": ["error", "The lowest severity that ends a conversion: error, warning or note"],
            **{name: ["", option.help] for name, option in OPTIONS.items()},
        }
        super().__init__(**settings)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors that insert tokens, note the end of parsing, and replace tokens by figures."""
        conversion = _Conversion(md, self)
        md.preprocessors.register(_Tokens(md, conversion), "mongo-tables", _BEFORE_PARSING)
        md.treeprocessors.register(_Parsed(md, conversion), "mongo-tables", _LAST)
        md.postprocessors.register(_Figures(md, conversion), "mongo-tables", _LAST)


@dataclass(frozen=True, slots=True)
class _Settings:
    """The settings of a conversion. ``values`` is JSON, so that settings are hashable."""

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
        """Return the text of a page with tokens, and render its figures. Raises ``MongoTablesError`` for faults."""
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
        """Return the report on the page with this text or, with ``every``, on all pages of its site."""
        if place.preview or place.pages is None:
            _read_once.cache_clear()  # A build reads the site and its results once, a preview for each page.
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
        """Return the HTML with the figures. Raises ``MongoTablesError`` if a figure has no place."""
        if (
            not self.parsed
        ):  # Python-Markdown first processes headings, whose anchors must not contain values.
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
        """Return the settings that the options give. Raises ``MongoTablesError`` for invalid options."""
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
        """The option ``fail_on``. Raises ``MongoTablesError`` for an unknown word."""
        written = self._options["fail_on"]
        if written not in SEVERITIES:
            message = f"mongo-tables: fail_on must be one of {', '.join(SEVERITIES)}, not {written}"
            raise MongoTablesError(message)
        return cast("Severity", written)

    def _report(self, found: Sequence[Finding], settings: _Settings | None = None) -> None:
        """Raise an error for findings that end the conversion, which a preview only prints. Log all other warnings."""
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
        """Return the error for these findings and, if the site is known, for the findings of its other pages."""
        place = self._place
        if place.refused_by is not None:
            kind: type[Exception] = type("MongoTablesError", (MongoTablesError, place.refused_by), {})
            return kind("\n".join(map(line_of, refused)))
        if place.pages is None:
            return MongoTablesError("\n".join(map(line_of, refused)))
        whole = self._build(place.on_disk, place, settings, every=True).findings if settings else ()
        # Comments of templates and included files are only known when their page is converted.
        elsewhere = [one for one in failing(whole, self._fail_on) if one.file != place.shown]
        every = sorted({*refused, *(one for one in elsewhere if one.rule not in ("MT175", "MT310"))})
        return MongoTablesError("\n".join(["", *map(line_of, every), f"mongo-tables: {amounts(every)}"]))

    def _with_late_faults(self, html: str, lost: Sequence[str], left: Sequence[str]) -> str:
        """Return the HTML below a box of faults: figures that are ``lost``, and comments that were not processed.

        ``left`` has the keywords of these comments.
        """
        found = report_left_over(self._place.shown, left)
        if self._page is not None:
            comments = dict(zip(names(self._page), self._page.comments, strict=True))
            found += [no_place(self._page.file, comments[name]) for name in lost]
            written = {name: self._page.text[comments[name].start : comments[name].end] for name in lost}
            html = show_comments_again(html, written)
        self._report(found)
        return f"{fault_box(found)}\n{html}"


class _SiteProcessor(Processor):  # type: ignore[misc]
    def __init__(self, md: Markdown, conversion: _Conversion) -> None:
        super().__init__(md)
        self._conversion = conversion


class _Tokens(_SiteProcessor, Preprocessor):  # type: ignore[misc]
    def run(self, lines: list[str]) -> list[str]:
        return self._conversion.begin("\n".join(lines)).split("\n")


class _Parsed(_SiteProcessor, Treeprocessor):  # type: ignore[misc]
    def run(self, root: Element) -> None:
        self._conversion.parsed = True


class _Figures(_SiteProcessor, Postprocessor):  # type: ignore[misc]
    def run(self, text: str) -> str:
        return self._conversion.end(text)


def _repeat_headings(items: Sequence[dict[str, Any]], texts: Mapping[str, str]) -> None:
    """Put values into the headings of the table of contents."""
    for item in items:
        for key in ("name", "html", "data-toc-label"):
            if item.get(key):
                item[key] = swap_names(item[key], texts.get)
        _repeat_headings(item["children"], texts)


@lru_cache(maxsize=1)
def _read_once(folder: Path, pages: Path | None, build: HostBuild | None, settings: _Settings) -> Snapshot:
    """Return the snapshot of a build. Only the latest snapshot is cached."""
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
    """Return the answers of a results source, which all pages of this process share."""
    return Answers(settings.results, settings.limits, server=settings.server)


@cache
def _memo() -> Memo:
    return Memo()


def makeExtension(**settings: Any) -> MongoTablesExtension:
    """Return the extension. Python-Markdown calls this function."""
    return MongoTablesExtension(**settings)


# -- the page that is converted, as the calling program provides it --


@dataclass(frozen=True, eq=False)
class HostBuild:
    """One build of a host. Two objects are equal if they stand for the same build.

    Attributes:
        made: An object that the host creates once for each build.
        leaves_out: Returns whether the build excludes a file.
    """

    made: object
    leaves_out: Callable[[Path], bool]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostBuild) and self.made is other.made

    def __hash__(self) -> int:
        return id(self.made)


@dataclass(frozen=True)
class PagePlace:
    """The place of the page that is being converted.

    Attributes:
        shown: The path of the page as messages show it.
        folder: The folder to which paths are relative.
        pages: The folder of all pages of the site, or None if only this page is known.
        refused_by: The error class with which a plugin ends a build of MkDocs.
        build: The build of which the conversion is a part.
        preview: Whether faults are shown in the page.
        options: The options of the MkDocs plugin, if the site has it.
    """

    shown: str
    folder: Path
    pages: Path | None = None
    refused_by: type[Exception] | None = None
    build: HostBuild | None = None
    preview: bool = False
    options: Mapping[str, Any] | None = None

    def whole(self, text: str) -> str:
        """Return the text of the page including its front matter, so that line numbers fit the file."""
        return self.on_disk if self.on_disk.rstrip("\n").endswith(text.rstrip("\n")) else text

    @cached_property
    def on_disk(self) -> str:
        """The content of the page's file, or "" if it cannot be read."""
        file = self.folder / self.shown
        try:
            return file.read_text(encoding="utf-8-sig") if file.is_file() else ""
        except (OSError, ValueError):
            return ""


def find_place(md: Markdown, file: str) -> PagePlace:
    """Return the place of the page that ``md`` converts, from Zensical or MkDocs, or else from the option ``file``."""
    context = next((each for each in md.preprocessors if hasattr(each, "page")), None)
    if context is not None:
        return _place_in_zensical(context)
    links = next((each for each in md.treeprocessors if hasattr(each, "file")), None)
    if links is not None and hasattr(links, "config"):
        return _place_in_mkdocs(links)
    return PagePlace(file, Path())


def _place_in_zensical(context: Any) -> PagePlace:
    root = Path(context.config.get("root_dir") or "")
    pages = Path(context.config.get("docs_dir") or "docs")
    preview = next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "serve"
    drafts = "" if preview else context.config.get("draft_docs") or ""
    patterns = ExclusionPatterns(context.config.get("exclude_docs") or "", drafts)

    def leaves_out(page: Path) -> bool:
        return page.suffix != ".md" or patterns.has(page, root / pages)

    return PagePlace(
        (pages / context.page.path).as_posix(),
        root,
        pages,
        build=HostBuild(context.config, leaves_out),
        preview=preview,
    )


def _place_in_mkdocs(links: Any) -> PagePlace:
    """Return the place of the page that MkDocs or ProperDocs converts, from its processor for links."""
    from mongo_tables.hosts.options import choose_shown_path  # This module also works without MkDocs.

    host = type(links).__module__.partition(".")[0]
    docs = Path(links.config.docs_dir)
    known = docs.relative_to(Path.cwd()) if docs.is_relative_to(Path.cwd()) else None

    def leaves_out(page: Path) -> bool:
        file = links.files.get_file_from_path(os.path.relpath(page, docs))
        return file is None or bool(file.inclusion.is_excluded())

    return PagePlace(
        choose_shown_path(links.file),
        Path(),
        known,
        refused_by=import_module(f"{host}.exceptions").PluginError,
        build=HostBuild(links.files, leaves_out),
        options=_options_of_plugin(links.config),
    )


def _options_of_plugin(config: MkDocsConfig) -> Mapping[str, Any] | None:
    """Return the options of the plugin with absolute paths, or None if the site does not have the plugin."""
    plugin: Any = config.plugins.get(NAME)
    if plugin is None:
        return None
    from mongo_tables.hosts.options import pipelines_of, root_of  # This module also works without MkDocs.

    results = results_source(plugin.config["results"], root_of(config))
    return {**plugin.config, "results": results, "pipelines": str(pipelines_of(plugin.config, config))}
