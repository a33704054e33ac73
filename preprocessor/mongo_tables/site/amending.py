"""Values and statements about tables that were added or changed after their own page was made.

Pages are made one after the other. What a page says of a table on a later one is made from that page as it was before
the first was read; another plugin may then write into it. So what is said of tables on other pages bears a number until
all pages are read, and is then held against the tables that there are.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.findings.rules import finding
from mongo_tables.specs.model import QuotingSpec

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page
    from mongo_tables.specs.model import TableSpec

_NUMBER: Final = re.compile(r' data-mongo-number="\d+"')


class Amended(NamedTuple):
    """A figure of a page, by the number of its comment on it (from 0), as it was put there and as it must be."""

    number: int
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a page tells of tables on other pages: figures by the indexes of their comments, as they were put.

    ``tables`` are those that were known then; without one that was, what is told of it is made again in any case.
    """

    figures: Mapping[int, str]
    tables: Mapping[str, TableSpec | None] = field(default_factory=dict)


def find_tables_elsewhere(page: Page) -> dict[int, str]:
    """The ids of tables on other pages that the page quotes, by the index of the quoting comment."""
    told = {index: spec.table for index, spec in enumerate(page.specs) if isinstance(spec, QuotingSpec)}
    own = {table.id for table in page.tables} if told else ()
    return {index: name for index, name in told.items() if name not in own}


def with_numbers(figures: Mapping[str, str], told: Container[int]) -> Mapping[str, str]:
    """The figures of a page by token; figures that quote other pages are numbered until all pages are read."""
    return {
        token: _number_figure(figure, index) if index in told else figure
        for index, (token, figure) in enumerate(figures.items())
    }


def _number_figure(figure: str, index: int) -> str:
    return figure.replace(">", f' data-mongo-number="{index}">', 1)


def without_numbers(html: str) -> str:
    """The page's HTML as readers get it."""
    return _NUMBER.sub("", html) if " data-mongo-number=" in html else html


def amend_page(page: Page, told: Told, now: Build) -> list[Amended]:
    """The figures of a page that must change because a quoted table is different ``now``."""
    from mongo_tables.pages.figures import render_spoken_figures

    names = find_tables_elsewhere(page).values()
    other = {
        name for name in names if name not in told.tables or told.tables[name] is not now.tables.get(name)
    }
    new = render_spoken_figures(page, now, other) if other else {}
    return [
        Amended(index, told.figures[index], html)
        for index, html in new.items()
        if html != told.figures[index]
    ]


def with_amendments(html: str, changes: Iterable[Amended]) -> tuple[str, list[Amended]]:
    """The page's HTML with figures as they must be, and the changes that found no place, in order."""
    lost = []
    for change in changes:
        was = _number_figure(change.was, change.number)
        if not was:  # A statement that held: it shows nothing, and has no place.
            html = f"{change.now}\n{html}"
        elif html.count(was) == 1:
            html = html.replace(was, change.now)
        else:
            lost.append(change)
    return html, lost


def too_late(page: Page, changes: Iterable[Amended], readers: Sequence[str]) -> list[Finding]:
    """The finding about values that other plugins have already read, or have written themselves."""
    hint = "put the value on the page of its table, or the table on a page that no plugin changes"
    by = " and ".join(readers) or "another plugin"
    message = f"the table of this value was written after {by} had read the value"
    return [
        finding("MT171", page.file, (comment.line, comment.column), message, hint)
        for comment in (page.comments[change.number] for change in changes)
    ]
