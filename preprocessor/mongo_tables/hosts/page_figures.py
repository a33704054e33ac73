"""The figures of one page: rendered when it is written, or when another file quotes it, and not held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.directives.keywords import place_of
from mongo_tables.hosts.downloads import Shelf
from mongo_tables.site.faultboxes import fault_box
from mongo_tables.site.figures import loose_findings
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.markdowntext import MarkdownContext
from mongo_tables.site.placeholders import figure_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.build import Report
    from mongo_tables.site.model import Page
    from mongo_tables.site.snapshot import PageText

_FOLD: Final = '<div class="mongo-table__source"'
_END: Final = "\n</figure>"


@dataclass(frozen=True, slots=True)
class Given:
    """A page that came with comments of ours: as MkDocs has it, as we read it, the names of its tokens, its text."""

    page: SitePage
    read: Page
    names: Sequence[str]
    text: PageText


@dataclass(frozen=True, slots=True)
class PlainFigure:
    """A figure as Markdown: its lines, and whether they have to be a block of their own."""

    lines: Sequence[str]
    is_block: bool


@dataclass(frozen=True, slots=True)
class PageFigures:
    """What goes into one page, by the names of tokens.

    ``figures`` have a comment with their name where ``folds``, the HTML below a table, goes: search plugins read no
    comments. ``files`` are what figures link to, ``box`` has the faults that belong to no comment.
    """

    figures: Mapping[str, str]
    folds: Mapping[str, str]
    files: Mapping[str, str]
    box: str

    def text(self, name: str) -> str | None:
        """A figure as escaped text in one line; None for the name of none."""
        return figure_text(self.without_fold(name)) if name in self.figures else None

    def with_fold(self, name: str) -> str:
        """A figure with the HTML below it."""
        return self.figures[name].replace(f"<!--{name}-->", self.folds.get(name, ""))

    def without_fold(self, name: str) -> str:
        """A figure without the HTML below it."""
        return self.figures[name].replace(f"<!--{name}-->\n", "")


def render(given: Given, report: Report, address: Callable[[str, str, Any], str]) -> PageFigures:
    """Render the figures of a page; ``address`` is that of ``Documents``."""
    url = given.page.url
    shelf = Shelf(given.page.file.src_uri, url)
    made = report.figures.html(given.read, shelf.place, lambda collection, key: address(url, collection, key))
    figures, folds = {}, {}
    for name, html in zip(given.names, made, strict=True):
        head, mark, fold = html.partition(_FOLD)
        if mark and fold.endswith(_END):
            folds[name] = f"{mark}{fold.removesuffix(_END)}"
            html = f"{head}<!--{name}-->{_END}"
        figures[name] = html
    away = report.figures.judge.source_findings() if given.read.pipeline_specs else []
    loose = [*away, *loose_findings(given.read)]
    return PageFigures(figures, folds, shelf.files, fault_box(loose))


def plain_figures(page: Page, report: Report) -> list[PlainFigure]:
    """The figures of a page as Markdown."""
    context = MarkdownContext(report.answers, report.tables)
    return [
        PlainFigure(
            KINDS[type(spec)].markdown(spec, context) if spec else (), place_of(comment.keyword) == "block"
        )
        for comment, spec in zip(page.comments, page.specs, strict=True)
    ]
