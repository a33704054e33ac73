"""The core of the program: ``build`` computes a site from a snapshot and from the answers of one results source.

Every entry point (the MkDocs plugin, the Markdown extension, the commands that check pages, the language server) reads
a snapshot, calls ``build`` and writes the parts of the report that it needs. A build opens no file and does not read
the environment. Only ``$$NOW`` in a comment and the limits of evaluation read the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mongo_tables.site.checks import Judge, check_site, check_without_linter
from mongo_tables.site.site import Site, parse_site

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.files.memo import Memo
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.answers import Answers
    from mongo_tables.site.figures import Find, Place
    from mongo_tables.site.in_place import InPlace
    from mongo_tables.site.pages import AnswersByKey, Page, Tables
    from mongo_tables.site.snapshot import Snapshot


def build(snapshot: Snapshot, source: Answers, memo: Memo | None = None) -> Report:
    """Return the report on a site: its figures and its findings.

    Args:
        snapshot: The pages, shared pipelines, settings and date.
        source: Returns the rows or the error of each query. The build calls it once.
        memo: A cache, so that the next build computes only results whose texts or documents have changed.
    """
    site = parse_site(snapshot, memo)  # pages -> directives; faults become findings
    answers = source.answer(site.queries())  # each distinct query once
    figures = Figures(Judge(site, answers, memo))  # directive -> HTML, Markdown, SVG, files, on demand
    return Report(site, answers, figures)


@dataclass(eq=False)
class Figures:
    """The figures of a site. Each is rendered on demand."""

    judge: Judge

    def html(
        self, page: Page, place: Place, find: Find = lambda collection, key: "", described: bool = False
    ) -> list[str]:
        """Return the HTML for each comment of a page: its figure, or a box with its faults.

        Args:
            page: The page.
            place: Publishes a file with the rows of a figure and returns its address.
            find: Returns the address of a result document, or "" if it has none.
            described: Whether to publish a description of each CSV file as well.
        """
        from mongo_tables.site.figures import figures_of

        return figures_of(page, self.judge, place, find, described)

    def markdown(self, page: Page) -> str:
        """Return the Markdown of a page in which tables and values replace comments, and statements are removed."""
        from mongo_tables.site.markdown import render_markdown

        return render_markdown(page, self.judge.answers, self.judge.tables)

    def in_place(self, page: Page, path: Path) -> InPlace:
        """Return the figures to write into the page at ``path``, and the drawings to write next to it."""
        from mongo_tables.site.in_place import compose_in_place

        judge = self.judge
        return compose_in_place(page, path, judge.answers, judge.tables, judge.site.snapshot.address_of)


@dataclass(eq=False)
class Report:
    """The result of a build. Each part is computed once, when it is first used."""

    site: Site
    source: Answers
    figures: Figures

    @property
    def pages(self) -> tuple[Page, ...]:
        """Return the pages, and the files that they include."""
        return self.site.pages

    @property
    def answers(self) -> AnswersByKey:
        """Return the rows of each query, or its error, by ``Query.key``."""
        return self.source.by_key

    @property
    def tables(self) -> Tables:
        """Return all valid tables that have an id, by id."""
        return self.site.tables

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """Return all findings, sorted: faults of comments, ids and rows, and findings of the linter."""
        return check_site(self.figures.judge)

    @cached_property
    def faults(self) -> Sequence[Finding]:
        """Return the findings without those of the linter, sorted."""
        return check_without_linter(self.figures.judge)
