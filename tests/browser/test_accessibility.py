"""The site can be used by keyboard and ear, in light and dark: no rule of axe-core is broken on any page."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Page, expect

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


def test_on_a_phone_what_scrolls_is_reached_by_keyboard_and_has_a_name(site: Served, phone: Page) -> None:
    marked = set()
    for path in ("experiments/schema-versions/", "sizing/", "reference/calibration/", "authors/readme/"):
        phone.goto(site.url + path)
        phone.evaluate(AXE)
        assert broken(phone, "scrollable-region-focusable", where="article") == [], path
        boxes = phone.locator("article [tabindex='0'][role=group]:is(.md-typeset__scrollwrap, pre > code)")
        marked |= set(boxes.evaluate_all("(all) => all.map((box) => box.ariaLabel)"))
        narrow = "(all) => all.filter((box) => box.scrollWidth <= box.clientWidth).length"
        assert boxes.evaluate_all(narrow) == 0, path
    assert {one.partition(": ")[0] for one in marked} == {"Code", "Table"}
    assert "Table: What differs between the versions" in marked


def test_what_fits_on_a_turned_phone_is_no_stop_of_the_keyboard(site: Served, phone: Page) -> None:
    phone.goto(f"{site.url}experiments/schema-versions/")
    boxes = phone.locator("article .md-typeset__scrollwrap[tabindex='0']")
    expect(boxes).to_have_count(1)
    phone.set_viewport_size({"width": 1600, "height": 844})
    expect(boxes).to_have_count(0)


@pytest.mark.parametrize(
    "path", ["experiments/schema-versions/", "experiments/", "targets/", "methodology/", "reference/rules/"]
)
def test_in_tables_written_by_hand_the_first_cell_names_the_row(path: str, site: Served, page: Page) -> None:
    page.goto(site.url + path)
    names = page.locator(
        "article .md-typeset__scrollwrap tbody tr:not(figure tr) > th[scope=row]:first-child"
    )
    assert names.count() > 1
    unnamed = page.locator("article table:not(figure table) tbody tr > td:first-child")
    assert [text for text in unnamed.all_inner_texts() if text.strip()] == []
    weights = "(all) => [...new Set(all.map((one) => getComputedStyle(one).fontWeight))]"
    assert names.evaluate_all(weights) == ["400"]


def test_a_chart_is_one_image_with_a_name_and_a_description(tables: dict[str, Tables]) -> None:
    assert any(found.charts for found in tables.values())
    for path, found in tables.items():
        for images in found.charts:
            assert len(images) == 1, path
            assert all(images[0]), path
