"""What a check says of a page, wherever it stands in it: to tell what a change of the page brings up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mongo_tables.pages.inplace import region_findings
from mongo_tables.pages.prose.unsupported import page_findings

if TYPE_CHECKING:
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page


def complaints(page: Page, build: Build, *, in_place: bool = False) -> Counter[tuple[str, str]]:
    """The rules and messages about one of the pages of a build, those about its sentences included.

    ``in_place``: what keeps figures from being written into the page is told as well.
    """
    found = [one for one in build.findings() if one.file == page.file]
    found += page_findings(page, build.tables, build.answers)
    found += region_findings(page) if in_place else ()
    return Counter((one.rule, one.message) for one in found)
