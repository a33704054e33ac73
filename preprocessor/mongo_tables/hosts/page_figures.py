"""The figures of one page: rendered when it is written, or when another file quotes it, and not held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.hosts.downloads import Shelf
from mongo_tables.pages.faultboxes import fault_box
from mongo_tables.pages.figures import loose_findings
from mongo_tables.pages.placeholders import figure_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.hosts.site_report import SiteReport
    from mongo_tables.pages.model import Page

_FOLD: Final = '<div class="mongo-table__source"'
_END: Final = "\n</figure>"


@dataclass(frozen=True, slots=True)
class Given:
    """A page that came with comments of ours: as MkDocs has it, as we read it, and the names of its tokens."""

    page: SitePage
    read: Page
    names: Sequence[str]


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


def render(given: Given, report: SiteReport, address: Callable[[str, str, Any], str]) -> PageFigures:
    """Render the figures of a page; ``address`` is that of ``Documents``."""
    url = given.page.url
    shelf = Shelf(given.page.file.src_uri, url)
    made = report.figures(given.read, shelf.place, lambda collection, key: address(url, collection, key))
    figures, folds = {}, {}
    for name, html in zip(given.names, made, strict=True):
        head, mark, fold = html.partition(_FOLD)
        if mark and fold.endswith(_END):
            folds[name] = f"{mark}{fold.removesuffix(_END)}"
            html = f"{head}<!--{name}-->{_END}"
        figures[name] = html
    loose = [*(report.loose if given.read.pipeline_specs else ()), *loose_findings(given.read)]
    return PageFigures(figures, folds, shelf.files, fault_box(loose))
