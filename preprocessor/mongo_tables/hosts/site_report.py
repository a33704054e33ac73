"""All that is known of a site once its pages are read: what is wrong with them, and their figures on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.comments.keywords import place_of
from mongo_tables.pages.build import Build
from mongo_tables.pages.figures import figures_of
from mongo_tables.pages.kinds import KINDS
from mongo_tables.pages.markdowntext import MarkdownContext

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.drawing import Find, Place
    from mongo_tables.pages.model import Page
    from mongo_tables.results.answers import Answers


class PlainFigure(NamedTuple):
    """A figure as Markdown: its lines, and whether they have to be a block of their own."""

    lines: Sequence[str]
    is_block: bool


class SiteReport(NamedTuple):
    """What a door needs of a site.

    ``findings`` are about pages, ``loose`` about the results source. ``figures`` gives the HTML in the place of each
    comment of a page, ``markdown`` the same as Markdown.
    """

    findings: Sequence[Finding]
    loose: Sequence[Finding]
    figures: Callable[[Page, Place, Find], Sequence[str]]
    markdown: Callable[[Page], Sequence[PlainFigure]]


def report_on(pages: Sequence[Page], answers: Answers, settings: str, *, notes: bool) -> SiteReport:
    """Ask what the pages ask and judge them. ``settings`` is the file that names the results source.

    With ``notes`` those of the linter are among the findings.
    """
    build = Build(answers, pages)
    build.ask(with_sources=True)
    linted = build.lint()
    left_out = {each for each in linted or () if each.severity == "note" and not notes}
    findings = [each for each in build.findings(linted) if each not in left_out]

    def markdown(page: Page) -> list[PlainFigure]:
        context = MarkdownContext(build.answers, build.tables)
        return [
            PlainFigure(
                KINDS[type(spec)].markdown(spec, context) if spec else (),
                place_of(comment.keyword) == "block",
            )
            for comment, spec in zip(page.comments, page.specs, strict=True)
        ]

    return SiteReport(
        findings,
        build.source_findings(settings),
        lambda page, place, find: figures_of(page, build, place, find),
        markdown,
    )
