"""The site can be used by keyboard and ear, in light and dark: no rule of axe-core is broken on any page."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import Served
from tests.browser.tables import Tables

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RUN = """([where, rules]) => axe.run(where, {
    resultTypes: ["violations"], preload: false, iframes: false, ...(rules.length ? { runOnly: rules } : {})
})"""
# Further rows look like those above them: what is not there costs no time.
FEW_ROWS = "document.querySelectorAll('tbody tr:nth-child(n+4)').forEach((one) => one.remove())"
WITHOUT_SURROUNDINGS = (
    "document.querySelectorAll('.md-tabs, .md-sidebar, .md-footer').forEach((one) => one.remove())"
)
OF_COLOUR = ["color-contrast", "link-in-text-block"]
AROUND = ("", "404.html")
"""On these what stands around the article is looked at as well: it is the same on every page."""
PARTS = 24
EACH_TWELFTH = [
    part if part % 12 == 0 else pytest.param(part, marks=pytest.mark.exhaustive) for part in range(PARTS)
]


def broken(page: Page, *rules: str, where: str = "html") -> list[str]:
    found: list[dict[str, Any]] = page.evaluate(RUN, [where, rules])["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def some_pages(site: Served, part: int) -> list[str]:
    """A part of the pages: of those with tables, of AROUND, and of the others, which are text alone."""
    with_tables = [*AROUND, *site.pages_with_tables]
    others = [path for path in site.pages if path not in with_tables]
    return [*dict.fromkeys(with_tables), *others][part::PARTS]


# A part at a time is looked at, so that no single test is so long that a slow machine runs into its time limit.
@pytest.mark.parametrize("part", EACH_TWELFTH)
def test_no_rule_is_broken_on_any_kind_of_page_in_light_or_dark(part: int, site: Served, page: Page) -> None:
    faults = {}
    for path in some_pages(site, part):
        page.emulate_media(color_scheme="light")
        page.goto(site.url + path)
        page.evaluate(AXE)
        page.evaluate(FEW_ROWS)
        if path not in AROUND:
            page.evaluate(WITHOUT_SURROUNDINGS)
        where = "html" if path in AROUND else "article"
        faults[path] = broken(page, where=where)
        page.emulate_media(color_scheme="dark")
        page.wait_for_selector("body[data-md-color-scheme=slate]", state="attached")
        faults[f"{path}, dark"] = broken(page, *OF_COLOUR, where=where)
    assert {path: found for path, found in faults.items() if found} == {}


def test_no_rule_is_broken_where_it_is_narrow_and_everything_is_unfolded(site: Served, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for path in [each for each in site.pages_with_tables if each.startswith("experiments/")][:1]:
        page.goto(site.url + path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.locator(".mongo-table__sort").first.click()
        page.evaluate(FEW_ROWS)
        page.evaluate(AXE)
        assert broken(page) == [], path


def test_a_chart_is_one_image_with_a_name_and_a_description(tables: dict[str, Tables]) -> None:
    assert any(found.charts for found in tables.values())
    for path, found in tables.items():
        for images in found.charts:
            assert len(images) == 1, path
            assert all(images[0]), path
