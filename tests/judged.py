"""Pages over a folder of fixtures, judged as every door does it."""

from __future__ import annotations

import os
from pathlib import Path

from mongo_tables.build import Figures, Report
from mongo_tables.results.answers import Answers
from mongo_tables.site.checks import Judge
from mongo_tables.site.disk import snapshot_of
from mongo_tables.site.in_place import InPlace, compose_in_place
from mongo_tables.site.pages import AnswersByKey, Page, Tables, tables_by_id
from mongo_tables.site.site import Site
from mongo_tables.site.snapshot import Needs


def report_on(source: Answers, *pages: Page, needs: Needs = "rows", server: str = "") -> Report:
    """The report on pages that were read, as `build` makes it of their texts."""
    snapshot = snapshot_of({page.file: page.text for page in pages}, needs, server=server)
    site = Site(snapshot, pages, (), (), tables_by_id(pages))
    answers = source.answer(site.queries())
    return Report(site, answers, Figures(Judge(site, answers)))


def unasked(folder: Path | str, *pages: Page) -> Report:
    """A report on the pages for which nothing was run."""
    return report_on(Answers(str(folder)), *pages, needs="nothing")


def asked(folder: Path | str, *pages: Page) -> Report:
    """A report on the pages for which everything was run."""
    return report_on(Answers(str(folder)), *pages)


def composed_in_place(page: Page, answers: AnswersByKey, tables: Tables) -> InPlace:
    """What belongs behind the comments of a page, and beside the file that it leads to."""
    return compose_in_place(page, Path(os.path.realpath(page.file)), answers, tables)
