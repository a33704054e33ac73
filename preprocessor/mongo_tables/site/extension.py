"""The Python-Markdown extension: the same tables under Zensical and in any program that uses Python-Markdown.

Zensical runs Python-Markdown extensions and ignores MkDocs plugins it does not know, without a word. Listed
under ``markdown_extensions`` as ``mongo-tables``, this extension makes the tables while a page is
converted. Where the MkDocs plugin is active as well, it has taken the comments already and the extension
finds nothing to do.

A fault ends the conversion with ``MongoTablesError``: there is no other way to be heard from within a
conversion, and a page with a hole in it must not be published. In a preview of Zensical's it is a box in the page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from warnings import warn

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from mongo_tables.comments.frontmattercomments import front_matter_findings
from mongo_tables.comments.htmlcomments import Page as Lines
from mongo_tables.comments.search import may_have_comment
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.reporters import SEVERITIES, amounts, failing
from mongo_tables.findings.rules import finding
from mongo_tables.pages.generated import defer_findings
from mongo_tables.pages.placeholders import (
    LeftOver,
    figure_text,
    names,
    show_comments_again,
    swap_names,
    swap_tokens,
    take_out_live_comments,
    with_tokens,
)
from mongo_tables.pages.serverversion import is_version, not_a_version
from mongo_tables.results.limitoptions import OPTIONS, limits_of
from mongo_tables.results.opening import join_kinds
from mongo_tables.site.assets import inline
from mongo_tables.site.pageplace import PagePlace, find_place
from mongo_tables.site.source import results_source
from mongo_tables.site.takenin import with_comments
from mongo_tables.site.zensicalhost import show_error_alone
from mongo_tables.specs.sharedpipelines import SharedPipelines

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

    from mongo_tables.findings.finding import Finding, Severity
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page
    from mongo_tables.pages.otherpages import OtherPages
    from mongo_tables.results.answers import Answers
    from mongo_tables.results.model import Limits, ResultsError

# After pymdownx.snippets (32), so that included comments are seen; before the text is changed at all (30).
_BEFORE_PARSING: Final = 31
_LAST: Final = -100


class MongoTablesError(Exception):
    """Faults in the comments of a page: one line for each."""


class MongoTablesExtension(Extension):  # type: ignore[misc]
    """Options: ``results``, ``pipelines``, ``file``, ``server``, ``fail_on``, the limits of ``results.limitoptions``.

    ``results`` is a ``mongodb://`` URI, a folder, or files, by paths and patterns; the environment variable
    ``MONGO_TABLES_RESULTS`` comes before it. ``pipelines`` is the folder of shared stage lists. ``file`` is
    the page's path, for programs that convert one page; Zensical tells it. ``fail_on`` is the least grave finding
    that is refused; the linter is asked where that is no error. Paths are relative to Zensical's
    configuration file, elsewhere to the working folder.
    """

    def __init__(self, **settings: Any) -> None:
        self.config = {
            "results": ["fixtures", f"Where rows come from: {join_kinds()}"],
            "pipelines": ["docs/pipelines", "The folder of shared stage lists"],
            "file": ["", "The page's path"],
            "server": ["", "The version of MongoDB that pipelines are for, such as 8.0"],
            "fail_on": ["error", "The least grave finding that is refused: error, warning or note"],
            **{name: ["", option.help] for name, option in OPTIONS.items()},
        }
        super().__init__(**settings)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register tokens before the parser, figures after it, and in between the sign that it has ended."""
        conversion = _Conversion(md, self)
        md.preprocessors.register(_Tokens(md, conversion), "mongo-tables", _BEFORE_PARSING)
        md.treeprocessors.register(_Parsed(md, conversion), "mongo-tables", _LAST)
        md.postprocessors.register(_Figures(md, conversion), "mongo-tables", _LAST)


class _Source(NamedTuple):
    """A results source, what its queries may cost, and the version of MongoDB that pipelines are for."""

    where: str
    limits: Limits
    server: str


class _Conversion:
    """The state that the three processors share: the page being converted, its figures and its faults."""

    def __init__(self, md: Markdown, extension: MongoTablesExtension) -> None:
        self.parsed = False
        self._md = md
        self._extension = extension
        self._place = PagePlace("page", Path())
        self._page: Page | None = None
        self._figures: dict[str, str] = {}
        self._loose = ""
        self._ask_again = self._is_all = False

    def begin(self, text: str) -> str:
        """The page with tokens; its figures are ready. Raises ``MongoTablesError`` when it has an error."""
        self.parsed, self._page, self._figures, self._loose = False, None, {}, ""
        file = self._extension.getConfig("file") or "page"
        self._place = place = find_place(self._md, file)
        self._ask_again, self._is_all = False, place.is_all(text)
        if "<!--" not in text:
            self._report(_in_front_matter(place.whole(text), place.shown))
            return text
        pipelines = self._extension.getConfig("pipelines")
        read = _reader(place, pipelines)
        page = self._read(text, read)
        if not page.comments and not page.findings:
            return text
        self._page, self._ask_again = page, True
        source = self._source(place)
        place.look_after(place.folder / pipelines, source.where)
        others = place.others(pipelines)
        build = _build([page], source, others.tables_for([page]) if others else ())
        files = {page.file, *(spec.file for spec in page.specs if spec), *(one.file for one in page.findings)}
        found = [one for one in _findings(build, self._speakers_of(page, others)) if one.file in files]
        self._figures = _figures(page, build)
        self._report([each if place.pages else _of_one_page(each) for each in found])
        away = [each for each in found if each.rule == "MT310"]
        self._loose = _loose_faults(page, away)
        cut_off = len(page.text.rstrip("\n")) - len(text.rstrip("\n"))
        return with_tokens(page, names(page))[cut_off:]

    def _read(self, text: str, read: Callable[[str, str], Page]) -> Page:
        """The page; a comment that came into it from a file has its place there."""
        place = self._place
        page = read(place.whole(text), place.shown)
        on_disk = place.on_disk
        if not on_disk or page.text == on_disk or not (page.comments or page.findings):
            return page
        from mongo_tables.site.placing import place_findings

        # Those of pymdownx.snippets, as it has them: what takes in files here is mostly that.
        bases = [each.base_path for each in self._md.preprocessors if hasattr(each, "base_path")]
        folders = [*(Path(each) for base in bases for each in base), place.folder / (place.pages or "")]
        files = with_comments(
            place.folder.absolute() / place.shown, on_disk, [*folders, place.folder, Path.cwd()]
        )
        others = [read(content, place.of_file(file.absolute())) for file, content in files]
        return place_findings(page, read(on_disk, place.shown), others)

    def end(self, html: str) -> str:
        """The HTML with the figures. Raises ``MongoTablesError`` when one has no place."""
        # Headings pass through here on their own before the page as a whole does. Their values are left out of
        # the anchors that are made then, lest links break when a result changes.
        if not self.parsed:
            return html
        html, lost = swap_tokens(html, self._figures)
        html, left = take_out_live_comments(html)
        if lost or left:
            html = self._with_late_faults(html, lost, left)
        html = f"{self._loose}{html}"
        contents = getattr(self._md, "toc_tokens", [])
        texts = {name: figure_text(figure) for name, figure in self._figures.items()}
        html = swap_names(html, texts.get)
        _repeat_headings(contents, texts)
        if self._ask_again:  # What was converted by itself within a page has contents of its own.
            self._place.keep_none(contents if self._is_all else [])
        styled = any(
            "<figure" in each or "mongo-table-fault" in each for each in (html, *self._figures.values())
        )
        return f"{html}\n{inline()}" if styled else html

    def _source(self, place: PagePlace) -> _Source:
        """Where rows come from. Raises ``MongoTablesError`` for a limit or a version that is none."""
        options = self._extension.getConfigs()
        try:
            limits = limits_of(options)
        except ValueError as error:
            raise self._wrong_option(str(error)) from None
        if options["server"] and not is_version(options["server"]):
            raise self._wrong_option(not_a_version(options["server"]))
        return _Source(results_source(options["results"], place.folder), limits, options["server"])

    @property
    def _fail_on(self) -> Severity:
        """The option ``fail_on``. Raises ``MongoTablesError`` for an unknown word."""
        written = self._extension.getConfig("fail_on")
        if written not in SEVERITIES:
            raise self._wrong_option(f"fail_on is one of {', '.join(SEVERITIES)}, not {written}")
        return cast("Severity", written)

    def _wrong_option(self, message: str) -> Exception:
        refusal = MongoTablesError(f"mongo-tables: {message}")
        return show_error_alone(refusal) if self._place.zensical else refusal

    def _report(self, found: Sequence[Finding]) -> None:
        """Raise for what is to be refused, all at once; in a preview tell it only. Warn of the rest as Python does."""
        from mongo_tables.pages.faultboxes import line_of

        self._ask_again |= bool(found)
        refused = failing(found, self._fail_on)
        if refused and not self._place.preview:
            raise self._refusal(refused)
        for each in refused:
            print(f"mongo-tables: {line_of(each)}", file=sys.stderr)
        for each in found:
            if each.severity == "warning" and each not in refused:
                warn(f"mongo-tables: {line_of(each)}", stacklevel=2)

    def _speakers_of(self, page: Page, others: OtherPages | None) -> Sequence[Page] | None:
        """The pages of the site that speak of tables of ``page``, for the linter; None where it is not asked."""
        if self._fail_on == "error":
            return None
        return others.speakers_of([page]) if others else []

    def _refusal(self, refused: list[Finding]) -> Exception:
        """The error for these faults and, where the site is known, for those of its other pages."""
        from mongo_tables.pages.faultboxes import line_of

        place = self._place
        others = place.others(self._extension.getConfig("pipelines"))
        if others is None or not place.zensical:
            return _error_for(place.refused_by)("\n".join(map(line_of, refused)))
        build = _build(others.on_disk(), self._source(place))
        # What a template writes into, or what comes into a page, is known when its turn comes.
        # A site as a whole has its speakers among its pages.
        found = _findings(build, None if self._fail_on == "error" else ())
        found = defer_findings(found, build.pages, open_ended=True)
        found = [each for each in found if each.rule != "MT175"]
        elsewhere = [each for each in failing(found, self._fail_on) if each.file != place.shown]
        # A source out of reach is one fault, not one of each page.
        every = sorted({*refused, *(each for each in elsewhere if each.rule != "MT310")})
        count = f"mongo-tables: {amounts(every)}, listed above"
        return show_error_alone(MongoTablesError("\n".join([*map(line_of, every), count])))

    def _with_late_faults(self, html: str, lost: Sequence[str], left: Sequence[LeftOver]) -> str:
        """Add a box of faults that only the converted page shows: figures without a place, other comments."""
        from mongo_tables.pages.faultboxes import fault_box, no_place, report_left_over

        found = report_left_over(self._place.shown, left)
        if self._page is not None:
            comments = dict(zip(names(self._page), self._page.comments, strict=True))
            specs = dict(zip(comments, self._page.specs, strict=True))
            found += [
                no_place(spec.file, spec.comment)
                if (spec := specs[token])
                else no_place(self._page.file, comments[token])
                for token in lost
            ]
            written = {token: self._page.text[comments[token].start : comments[token].end] for token in lost}
            html = show_comments_again(html, written)
        self._report(found)
        return f"{fault_box(found)}\n{html}"


def _error_for(refused_by: type[Exception] | None) -> type[Exception]:
    """Our error, which is one of MkDocs as well where that converts the page: it then shows the message alone."""
    return type("MongoTablesError", (MongoTablesError, refused_by), {}) if refused_by else MongoTablesError


class _Tokens(Preprocessor):  # type: ignore[misc]
    def __init__(self, md: Markdown, conversion: _Conversion) -> None:
        super().__init__(md)
        self._conversion = conversion

    def run(self, lines: list[str]) -> list[str]:
        return self._conversion.begin("\n".join(lines)).split("\n")


class _Parsed(Treeprocessor):  # type: ignore[misc]
    def __init__(self, md: Markdown, conversion: _Conversion) -> None:
        super().__init__(md)
        self._conversion = conversion

    def run(self, root: Element) -> None:
        self._conversion.parsed = True


class _Figures(Postprocessor):  # type: ignore[misc]
    def __init__(self, md: Markdown, conversion: _Conversion) -> None:
        super().__init__(md)
        self._conversion = conversion

    def run(self, text: str) -> str:
        return self._conversion.end(text)


def _reader(place: PagePlace, pipelines: str) -> Callable[[str, str], Page]:
    from mongo_tables.pages.reading import read_page

    shared = SharedPipelines(place.folder / pipelines)
    return lambda text, shown: read_page(text, shown, shared)


def _in_front_matter(text: str, shown: str) -> list[Finding]:
    """The comments in what the program cuts off a page before it converts it."""
    if not may_have_comment(text):
        return []
    return front_matter_findings(Lines(text), shown)


def _figures(page: Page, build: Build) -> dict[str, str]:
    """The figures of a page by token."""
    from mongo_tables.pages.figures import figures_of
    from mongo_tables.render.downloads import data_address

    return dict(zip(names(page), figures_of(page, build, data_address), strict=True))


def _loose_faults(page: Page, away: Sequence[Finding]) -> str:
    """A box with the faults of the page that no comment's box shows, and those of a source that is ``away``."""
    from mongo_tables.pages.faultboxes import fault_box
    from mongo_tables.pages.figures import loose_findings

    return fault_box([*away, *loose_findings(page)])


def _build(pages: Sequence[Page], where: _Source, others: Sequence[Page] = ()) -> Build:
    """The pages with what they ask answered."""
    from mongo_tables.pages.build import Build

    asked = _answers(where)
    asked.refresh()
    build = Build(asked, pages, others)
    build.ask(with_sources=True)
    return build


def _findings(build: Build, speakers: Sequence[Page] | None) -> list[Finding]:
    """The findings on the pages. A source out of reach is one fault of each, not one for each table.

    The linter is asked as well where ``speakers`` are given, who show columns of the pages' tables.
    """
    found = build.findings(None if speakers is None else build.lint(speakers))
    if (away := build.away) is None:
        return found
    silent = (
        finding("MT310", page.file, (0, 0), line, away.hint) for page in build.pages for line in _lines(away)
    )
    return [*silent, *found]


def _lines(error: ResultsError) -> list[str]:
    """The findings about a results source, in one line for each fault of a fixture file."""
    faults = [f"{shorten_path(each.file)}:{each.line}:{each.column}: {each.message}" for each in error.faults]
    return faults or [error.message]


def _of_one_page(finding: Finding) -> Finding:
    """Adapt a finding of a missing table: it may be on another page, which only some programs tell."""
    if finding.rule != "MT139":
        return finding
    hint = f"{finding.hint}; where only one page is known, as it is here, the table must be on the same page"
    return finding._replace(hint=hint)


def _repeat_headings(items: Sequence[dict[str, Any]], texts: Mapping[str, str]) -> None:
    """Put the values of headings into the table of contents."""
    for item in items:
        for key in ("name", "html", "data-toc-label"):
            if item.get(key):
                item[key] = swap_names(item[key], texts.get)
        _repeat_headings(item["children"], texts)


_KEPT: dict[_Source, Answers] = {}


def _answers(source: _Source) -> Answers:
    """The answers of a source, shared by all pages that this process converts."""
    from mongo_tables.results.answers import Answers

    if source not in _KEPT:
        _KEPT[source] = Answers(source.where, source.limits, workers=4, server=source.server)
    return _KEPT[source]


def makeExtension(**settings: Any) -> MongoTablesExtension:
    """The extension, as Python-Markdown asks for it by module name."""
    return MongoTablesExtension(**settings)
