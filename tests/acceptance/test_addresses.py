"""What was published once can be reached where it was: every page, and every figure on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
PUBLISHED = Path(__file__).parent / "addresses.txt"
FIGURE = re.compile(r'<figure class="mongo-table" id="([^"]+)"')
ID = re.compile(r' id="([^"]+)"')


@pytest.fixture(scope="module")
def pages(own_site: Path) -> dict[str, str]:
    """The HTML of each page of this site, by its address."""
    found = {path.parent.relative_to(own_site): path for path in own_site.rglob("index.html")}
    return {f"{place.as_posix()}/": path.read_text("utf-8") for place, path in found.items()}


def published() -> list[str]:
    return PUBLISHED.read_text("utf-8").split()


def test_every_address_that_was_published_answers(pages: dict[str, str]) -> None:
    reached = {f"{page}#{one}" for page, html in pages.items() for one in ID.findall(html)}
    gone = [one for one in published() if one not in reached and one not in pages]
    assert gone == [], "let them answer again: docs/authors/trust.md says how"


def test_every_page_and_figure_is_on_the_list(pages: dict[str, str]) -> None:
    figures = [f"{page}#{one}" for page, html in pages.items() for one in FIGURE.findall(html)]
    new = sorted({*pages, *figures} - {*published()})
    assert new == [], f"these are new: add them to {PUBLISHED.relative_to(HERE)}"
