"""The site can be used by keyboard and ear, in light and dark: no rule of axe-core is broken on any page."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import Served

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
# Further rows look like those above them.
RUN = """([where, rules]) => axe.run({ include: where, exclude: "tbody tr:nth-child(n+4)" }, {
    resultTypes: ["violations"], preload: false, iframes: false, ...(rules.length ? { runOnly: rules } : {})
})"""
OF_COLOUR = ["color-contrast", "link-in-text-block"]
PARTS = 4


def broken(page: Page, *rules: str, where: str = "html") -> list[str]:
    found: list[dict[str, Any]] = page.evaluate(RUN, [where, rules])["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


# A part of the pages at a time: no single test is so long that a slow machine runs into its time limit.
@pytest.mark.parametrize("part", range(PARTS))
def test_no_rule_is_broken_on_any_page_in_light_or_dark(part: int, site: Served, page: Page) -> None:
    faults = {}
    for path in site.pages[part::PARTS]:
        page.emulate_media(color_scheme="light")
        page.goto(site.url + path)
        page.evaluate(AXE)
        # What stands around the article is the same on every page.
        around = path in ("", "404.html")
        faults[path] = broken(page, where="html" if around else "article")
        page.emulate_media(color_scheme="dark")
        page.wait_for_selector("body[data-md-color-scheme=slate]", state="attached")
        faults[f"{path}, dark"] = broken(page, *OF_COLOUR, where="html" if around else "article")
    assert {path: found for path, found in faults.items() if found} == {}


def test_no_rule_is_broken_where_it_is_narrow_and_everything_is_unfolded(site: Served, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for path in [each for each in site.pages_with_tables if each.startswith("experiments/")][:3]:
        page.goto(site.url + path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.locator(".mongo-table__sort").first.click()
        page.evaluate(AXE)
        assert broken(page) == [], path


def test_a_chart_is_one_image_with_a_name_and_a_description(site: Served, page: Page) -> None:
    assert site.pages_with_charts
    for path in site.pages_with_charts:
        page.goto(site.url + path)
        charts = page.locator(".mongo-chart").all()
        images = [chart.get_by_role("img") for chart in charts]
        assert [image.count() for image in images] == [1] * len(charts), path
        for image in images:
            assert image.evaluate("(one) => one.querySelector('title').textContent"), path
            assert image.evaluate("(one) => one.querySelector('desc').textContent"), path
