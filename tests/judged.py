"""Pages over a folder of fixtures, judged as every door does it."""

from __future__ import annotations

from pathlib import Path

from mongo_tables.pages.build import Build
from mongo_tables.pages.model import Page
from mongo_tables.results.answers import Answers


def unasked(folder: Path | str, *pages: Page) -> Build:
    """A build of the pages that has run nothing."""
    return Build(Answers(str(folder)), pages)


def asked(folder: Path | str, *pages: Page) -> Build:
    """A build of the pages that has run what they ask."""
    build = unasked(folder, *pages)
    build.ask()
    return build
