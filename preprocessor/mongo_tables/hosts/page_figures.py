"""The figures of one page, rendered for the page itself and for other files that contain its tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from posixpath import relpath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from mongo_tables.directives.keywords import place_of
from mongo_tables.hosts.published_files import PublishedDocuments, Shelf
from mongo_tables.render.markup import text_html
from mongo_tables.site.figures import fault_box, loose_findings
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.markdown import MarkdownContext
from mongo_tables.site.pages import Page, source_findings
from mongo_tables.site.placeholders import figure_text

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.build import Report
    from mongo_tables.site.snapshot import PageText


_FOLD: Final = '<div class="mongo-table__source"'
_END: Final = "\n</figure>"


@dataclass(frozen=True, slots=True)
class Given:
    """A page with comments: MkDocs's page, the parsed page, the names of its tokens, and its text."""

    page: SitePage
    read: Page
    names: Sequence[str]
    text: PageText


@dataclass(frozen=True, slots=True)
class PlainFigure:
    """A figure as Markdown: its lines, and whether they must be a separate block."""

    lines: Sequence[str]
    is_block: bool


@dataclass(frozen=True, slots=True)
class PageFigures:
    """The rendered figures of a page.

    Attributes:
        figures: The HTML of each figure, by the name of its token.
        files: The texts of the files that figures link to, by path.
        box: A box with the faults that belong to no single comment, or "".
    """

    figures: Mapping[str, str]
    files: Mapping[str, str]
    box: str

    def text(self, name: str) -> str | None:
        """Return the figure of a token as escaped text on one line, or None for an unknown name."""
        return figure_text(without_fold(self.figures[name])) if name in self.figures else None


def render(
    given: Given,
    report: Report,
    published: Callable[[], Iterable[PublishedDocuments]],
    *,
    described: bool = False,
) -> PageFigures:
    """Return the figures of a page.

    Args:
        given: The page.
        report: The report on the site.
        published: Returns the published documents, which figures link to.
        described: Whether to publish a description of each CSV file.
    """
    url = given.page.url
    shelf = Shelf(given.page.file.src_uri, url)

    def find(collection: str, key: Any) -> str:
        return "".join(one.address(url, collection, key) for one in published())

    made = report.figures.html(given.read, shelf.place, find, described)
    loose = loose_findings(given.read) if given.read.findings else ()
    if report.source.unreachable and given.read.pipeline_specs:
        loose = [*source_findings(report.source.unreachable, report.site.snapshot.results), *loose]
    figures = dict(zip(given.names, made, strict=True))
    return PageFigures(figures, shelf.files, fault_box(loose) if loose else "")


def without_fold(figure: str) -> str:
    """Return a figure without the block below it, which says where its rows come from."""
    above, fold, _ = figure.partition(_FOLD)
    return f"{above.rstrip()}{_END}" if fold else figure


def plain_figures(page: Page, report: Report) -> list[PlainFigure]:
    """Return the figures of all comments of a page as Markdown."""
    context = MarkdownContext(report.answers, report.tables)
    return [
        PlainFigure(
            KINDS[type(spec)].markdown(spec, context) if spec else (), place_of(comment.keyword) == "block"
        )
        for comment, spec in zip(page.comments, page.specs, strict=True)
    ]


_ID: Final = re.compile('(<(?:figure|tr)[^>]*?) id="([^"]+)"')
_LINK: Final = re.compile('(<a\\b[^>]*? href=")([^"]+)(")')


def elsewhere(figure: str, home: str, here: str) -> str:
    """Return a figure of the page at ``home`` for the page at ``here``. Both are addresses within the site."""
    return _with_links(_ID.sub(r"\1", figure), lambda address: _moved(address, home, here))


def in_feed(figure: str, home: str) -> str:
    """Return a figure of the page at ``home`` with absolute addresses, for a file that is read outside the site."""
    return _with_links(_ID.sub(r"\1", figure), lambda address: urljoin(home, address))


def print_figure(figure: str, home: str, here: str, key: str) -> str:
    """Return a figure of the page at ``home`` for the print page, whose anchors begin with the ``key`` of the page."""

    def to(address: str) -> str:
        return f"#{key}-{address[1:]}" if address.startswith("#") else _moved(address, home, here)

    return _with_links(_ID.sub(rf'\1 id="{key}-\2"', figure), to)


def _with_links(figure: str, to: Callable[[str], str]) -> str:
    return _LINK.sub(lambda link: f"{link[1]}{text_html(to(unescape(link[2])))}{link[3]}", figure)


def _moved(address: str, home: str, here: str) -> str:
    """Convert an address that is relative to the page at ``home`` into one relative to the page at ``here``."""
    if urlsplit(address).scheme or address.startswith("/"):
        return address
    path, mark, anchor = urljoin(f"/{home}", address).partition("#")
    folder = f"/{here}" if here.endswith("/") or not here else f"/{here}".rpartition("/")[0]
    way = relpath(path, folder or "/")
    return f"{way}/{mark}{anchor}" if path.endswith("/") else f"{way}{mark}{anchor}"
