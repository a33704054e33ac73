"""The Python-Markdown extension: the same tables under Zensical and in any program that uses Python-Markdown.

Zensical runs Python-Markdown extensions and ignores MkDocs plugins it does not know, without a word. Listed
under ``markdown_extensions`` as ``mongo-tables``, this extension makes the tables while a page is
converted. Where the MkDocs plugin is active as well, it has taken the comments already and the extension
finds nothing to do.

A fault ends the conversion with ``MongoTablesError``: there is no other way to be heard from within a
conversion, and a page with a hole in it must not be published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from preprocessor.site.assets import inline
from preprocessor.site.headings import headings_with_values
from preprocessor.site.neighbours import neighbours
from preprocessor.site.source import results_source
from preprocessor.site.swap import left_over, swapped, tokens, with_tokens

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

    from preprocessor.findings import Finding
    from preprocessor.pages import Page
    from preprocessor.site.answers import KeptAnswers

# After pymdownx.snippets (32), so that included comments are seen; before the text is changed at all (30).
_BEFORE_PARSING: Final = 31
_LAST: Final = -100


class MongoTablesError(Exception):
    """What is wrong with the comments of a page: one line for each fault."""


class MongoTablesExtension(Extension):  # type: ignore[misc]
    """Options, all strings: ``results``, ``pipelines`` and ``file``.

    ``results`` is a ``mongodb://`` URI or a folder of fixtures; the environment variable
    ``MONGO_TABLES_RESULTS`` comes before it. ``pipelines`` is the folder of shared stage lists. ``file`` is
    the page's path, for programs that convert one page; Zensical tells it. Paths are relative to Zensical's
    configuration file, elsewhere to the working folder.
    """

    def __init__(self, **settings: Any) -> None:
        self.config = {
            "results": ["fixtures", "A mongodb:// URI, or a folder of fixtures"],
            "pipelines": ["docs/pipelines", "The folder of shared stage lists"],
            "file": ["", "The page's path"],
        }
        super().__init__(**settings)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register tokens before the parser, figures after it, and in between the sign that it has ended."""
        conversion = _Conversion(md, self)
        md.preprocessors.register(_Tokens(md, conversion), "mongo-tables", _BEFORE_PARSING)
        md.treeprocessors.register(_Parsed(md, conversion), "mongo-tables", _LAST)
        md.postprocessors.register(_Figures(md, conversion), "mongo-tables", _LAST)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the page is: its path as shown, and the folder that other paths are relative to.

    ``pages`` is the folder of all pages of the site, None where only one page is known.
    """

    shown: str
    folder: Path
    pages: Path | None = None

    def whole(self, text: str) -> str:
        """The page with the front matter that was cut off before ``text``: lines are then those on disk."""
        file = self.folder / self.shown
        try:
            on_disk = file.read_text(encoding="utf-8-sig") if file.is_file() else ""
        except (OSError, ValueError):
            return text
        return on_disk if on_disk.rstrip("\n").endswith(text.rstrip("\n")) else text


class _Conversion:
    """What the three processors share: the figures of the page that is being converted."""

    def __init__(self, md: Markdown, extension: MongoTablesExtension) -> None:
        self.parsed = False
        self._md = md
        self._extension = extension
        self._figures: dict[str, str] = {}

    def begin(self, text: str) -> str:
        """The page with tokens; its figures are ready. Raises ``MongoTablesError`` when it has an error."""
        self.parsed, self._figures = False, {}
        if "<!--" not in text:
            return text
        place = self._place()
        read = _reader(place, self._extension.getConfig("pipelines"))
        page = read(place.whole(text), place.shown)
        if not page.comments and not page.findings:
            return text
        others = neighbours(page, place.folder, place.pages, read) if place.pages else []
        source = results_source(self._extension.getConfig("results"), place.folder)
        self._figures = _figures(page, others, source)
        cut_off = len(page.text.rstrip("\n")) - len(text.rstrip("\n"))
        return with_tokens(page)[cut_off:]

    def end(self, html: str) -> str:
        """The HTML with the figures. Raises ``MongoTablesError`` when one has no place."""
        # Headings pass through here on their own before the page as a whole does. Their values are left out of
        # the anchors that are made then, lest links break when a result changes.
        if not self.parsed:
            return html
        html, lost = swapped(html, self._figures)
        if lost:
            count = f"{len(lost)} of {len(self._figures)}"
            raise MongoTablesError(f"{self._place().shown}: the page has no place for {count} figures")
        keywords = left_over(html)[1]
        if keywords:
            raise MongoTablesError(
                f"{self._place().shown}: MT119 a {keywords[0]} comment is left in the page"
            )
        _repeat_headings(getattr(self._md, "toc_tokens", []), html)
        with_figure = any("<figure" in each for each in self._figures.values())
        return f"{html}\n{inline()}" if with_figure else html

    def _place(self) -> _Place:
        """As told by the option, or by Zensical's context."""
        context = next((each for each in self._md.preprocessors if hasattr(each, "page")), None)
        if context is None:
            return _Place(self._extension.getConfig("file") or "page", Path())
        root = Path(context.config.get("root_dir") or "")
        pages = Path(context.config.get("docs_dir") or "docs")
        return _Place((pages / context.page.path).as_posix(), root, pages)


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


def _reader(place: _Place, pipelines: str) -> Callable[[str, str], Page]:
    from preprocessor.pages import read_page
    from preprocessor.sharedpipelines import SharedPipelines

    shared = SharedPipelines(place.folder / pipelines)
    return lambda text, shown: read_page(text, shown, shared)


def _figures(page: Page, others: Sequence[Page], where: str) -> dict[str, str]:
    from preprocessor.pages import all_findings, queries
    from preprocessor.site.figures import Known, figures_of
    from preprocessor.site.shelf import data_address

    kept = _answers(where)
    kept.refresh()
    pages = [page, *others]
    kept.ask(queries(pages, with_sources=True))
    if kept.unreachable is not None:
        raise MongoTablesError(f"{page.file}: {kept.unreachable.message} {kept.unreachable.hint}".rstrip())
    found = all_findings(pages, kept.by_key, kept.collections)
    _refuse([_of_one_page(each) for each in found if each.file == page.file])
    figures = figures_of(page, Known.of(pages, kept.by_key), data_address)
    return dict(zip(tokens(page), figures, strict=True))


def _of_one_page(finding: Finding) -> Finding:
    """A table that is not there may be on another page, which only some programs tell."""
    if finding.rule != "MT139":
        return finding
    hint = f"{finding.hint} Where the site is not known, as it is under Zensical, the table must be on the same page."
    return replace(finding, hint=hint)


def _repeat_headings(items: list[dict[str, Any]], html: str) -> None:
    """Put the values of headings into the table of contents."""
    headings = headings_with_values(html)
    items = list(items) if headings else []
    while items:
        item = items.pop()
        items += item["children"]
        if item["id"] in headings:
            item["name"] = headings[item["id"]].whole


def _refuse(findings: list[Finding]) -> None:
    """Raise for errors, all of them at once; warn of the rest as Python does."""
    from warnings import warn

    from preprocessor.site.faults import line_of

    errors = [line_of(each) for each in findings if each.severity == "error"]
    if errors:
        raise MongoTablesError("\n".join(errors))
    for each in findings:
        if each.severity == "warning":
            warn(f"mongo-tables: {line_of(each)}", stacklevel=2)


_KEPT: dict[str, KeptAnswers] = {}


def _answers(where: str) -> KeptAnswers:
    """The answers of a source, shared by all pages that this process converts."""
    from preprocessor.results import Limits
    from preprocessor.site.answers import KeptAnswers

    if where not in _KEPT:
        _KEPT[where] = KeptAnswers(where, Limits(), workers=4)
    return _KEPT[where]


def makeExtension(**settings: Any) -> MongoTablesExtension:
    """The extension, as Python-Markdown asks for it by module name."""
    return MongoTablesExtension(**settings)
