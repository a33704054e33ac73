"""Nothing is cut off: from a phone to a wide screen, on paper, in light and dark."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.browsing import EVERY, Served
from tests.browser.tables import PAGE_TOO_WIDE, PAPER, TOO_WIDE, Tables
from tests.madeonce import made_once

# For each text of each chart its size on the screen, in CSS pixels: drawings are scaled.
TEXT_SIZES = """() => [...document.querySelectorAll(".mongo-chart text")].filter((text) => text.getScreenCTM())
    .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)"""
# How much of each chart is beyond its right edge.
HIDDEN_OF_CHARTS = """() => [...document.querySelectorAll(".mongo-chart")].filter((box) => box.checkVisibility())
    .map((box) => box.scrollWidth - box.clientWidth)"""
# For each drawing of each chart whether it is shown.
SHOWN = """() => [...document.querySelectorAll(".mongo-chart")].map((chart) =>
    [...chart.querySelectorAll("svg")].map((drawing) => getComputedStyle(drawing).display !== "none"))"""
# Scrolls each wide table to its end: how far the first cell of its last row is then from the box's left edge.
STICKING = """() => [...document.querySelectorAll(".mongo-table__scroll")]
    .filter((box) => box.scrollWidth > box.clientWidth + 40)
    .map((box) => {
        box.scrollLeft = 9999;
        const cell = [...box.querySelectorAll("tr > :first-child")].at(-1);
        return Math.round(cell.getBoundingClientRect().left - box.getBoundingClientRect().left);
    })"""

# How far the picture of each comparison in a sentence is below the last word of the sentence.
BELOW = """() => [...document.querySelectorAll(".mongo-beside")].map((one) => {
    const word = document.createRange();
    word.selectNodeContents(one.firstChild);
    return Math.abs(one.querySelector("svg").getBoundingClientRect().bottom - word.getBoundingClientRect().bottom);
})"""


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_a_picture_in_a_sentence_is_on_the_line_of_the_last_word(
    site: Served, page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{site.url}experiments/delete/")
    below = page.evaluate(BELOW)
    assert len(below) > 2
    assert max(below) < 12


def test_from_768_pixels_on_no_table_is_wider_than_its_box(tables: dict[str, Tables]) -> None:
    wide = {(path, width): boxes for path, one in tables.items() for width, boxes in one.too_wide.items()}
    assert {where: boxes for where, boxes in wide.items() if boxes} == {}


@pytest.fixture(scope="module", params=EVERY)
def on_phone(request: pytest.FixtureRequest, site: Served, browser: Browser) -> dict[str, Any]:
    """What was measured on a phone on pages with tables."""
    settings = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}

    def look() -> dict[str, Any]:
        found = {}
        with browser.new_context(**settings) as context:
            page = context.new_page()
            for path in site.pages_with_tables[:: request.param]:
                page.goto(site.url + path)
                found[path] = {name: page.evaluate(script) for name, script in ON_PHONE.items()}
        return found

    return made_once(site.folder.parent / f"phone-{request.param}", look)


ON_PHONE = {
    "too wide": PAGE_TOO_WIDE,
    # Beside values: a label may also stand above them.
    "label": "Math.max(0, ...[...document.querySelectorAll('.mongo-table tbody th')]"
    ".filter((one) => getComputedStyle(one).display == 'table-cell').map((one) => one.offsetWidth))",
    "text": TEXT_SIZES,
    "hidden": HIDDEN_OF_CHARTS,
    "sticking": STICKING,
}


def test_a_phone_never_scrolls_a_page_sideways(on_phone: dict[str, Any]) -> None:
    assert {path: found["too wide"] for path, found in on_phone.items() if found["too wide"]} == {}


def test_a_phone_keeps_the_labels_of_rows_in_sight(on_phone: dict[str, Any]) -> None:
    offsets = [offset for found in on_phone.values() for offset in found["sticking"]]
    assert offsets
    assert [offset for offset in offsets if abs(offset) > 2] == []


def test_a_label_leaves_most_of_a_phone_to_the_values(on_phone: dict[str, Any]) -> None:
    assert {path: found["label"] for path, found in on_phone.items() if found["label"] >= 200} == {}


def test_text_in_charts_has_ten_pixels_on_a_phone(on_phone: dict[str, Any]) -> None:
    sizes = [size for found in on_phone.values() for size in found["text"]]
    assert sizes
    assert min(sizes) >= 10


def test_on_a_phone_no_part_of_a_chart_is_out_of_sight(on_phone: dict[str, Any]) -> None:
    beyond = [pixels for found in on_phone.values() for pixels in found["hidden"]]
    assert beyond
    assert max(beyond) <= 0


@pytest.mark.parametrize(
    ("width", "media", "shown"),
    [
        (599, "screen", [False, True]),
        (600, "screen", [True, False]),
        (390, "print", [True, False]),
    ],
)
def test_of_two_drawings_the_one_that_fits_is_shown(
    width: int, media: Any, shown: list[bool], site: Served, page: Page
) -> None:
    page.goto(site.url + site.pages_with_charts[0])
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media=media)
    found = page.evaluate(SHOWN)
    assert found
    assert all(each == shown for each in found)


def experiments(site: Served) -> list[str]:
    return [path for path in site.pages_with_tables if path.startswith("experiments/")]


def test_a_table_with_more_to_the_right_says_so_until_its_end_is_seen(site: Served, phone: Page) -> None:
    wide = None
    for path in experiments(site):
        phone.goto(site.url + path)
        found = phone.evaluate(TOO_WIDE)
        if found:
            wide = phone.locator(f"#{found[0].split(':')[0]} > .mongo-table__scroll")
            break
    assert wide, "no table is wider than a phone: nothing was tested"
    wide.evaluate("""(box) => window.scrollTo({
        top: window.scrollY + box.getBoundingClientRect().top - 200, behavior: "instant" })""")
    box = wide.bounding_box()
    assert box
    # Above the words of the header there is nothing but the hint.
    clip = {"x": box["x"] + box["width"] - 13, "y": box["y"] + 2, "width": 12, "height": 3}
    before = phone.screenshot(clip=clip)
    wide.evaluate("(box) => { box.scrollLeft = 9999; }")
    assert phone.screenshot(clip=clip) != before
    assert "local, scroll" in wide.evaluate("(box) => getComputedStyle(box).backgroundAttachment")


@pytest.fixture
def paper(page: Page) -> Page:
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    return page


def test_on_paper_nothing_is_cut_off(tables: dict[str, Tables]) -> None:
    wide = {
        path: found.too_wide_on_paper for path, found in tables.items() if path.startswith("experiments/")
    }
    assert {path: boxes for path, boxes in wide.items() if boxes} == {}
    assert wide


@pytest.mark.parametrize("size", ["A4", "Letter"])
def test_an_experiment_fits_on_five_sheets_of_paper(size: str, site: Served, paper: Page) -> None:
    sheets = {}
    for folder in sorted((site.folder / "experiments").glob("*/")):
        paper.goto(f"{site.url}experiments/{folder.name}/")
        printed = paper.pdf(format=size, prefer_css_page_size=True)
        sheets[folder.name] = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert len(sheets) > 20
    assert {name: number for name, number in sheets.items() if number > 5} == {}


def test_on_paper_the_words_in_charts_have_six_points(site: Served, paper: Page) -> None:
    small = {}
    for path in site.pages_with_charts:
        paper.goto(site.url + path)
        points = paper.evaluate(
            "Math.min(...[...document.querySelectorAll('.mongo-chart__wide')].map((one) => 0.75"
            " * parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a))"
        )
        if points < 6:
            small[path] = points
    assert small == {}


def test_on_paper_titles_units_and_sources_have_seven_points(site: Served, paper: Page) -> None:
    small = {}
    for path in experiments(site)[::4]:
        paper.goto(site.url + path)
        sizes = paper.evaluate(
            "['figcaption', '.mongo-table__unit', '.mongo-table__source', '.mongo-table__note'].map((part) => [part,"
            " Math.min(...[...document.querySelectorAll(`.mongo-table ${part}`)]"
            " .map((one) => 0.75 * parseFloat(getComputedStyle(one).fontSize)))])"
        )
        small |= {(path, part): points for part, points in sizes if points < 6.99}
    assert small == {}


def test_on_paper_nothing_offers_to_sort(site: Served, paper: Page) -> None:
    paper.goto(site.url + experiments(site)[-1])
    signs = "getComputedStyle(document.querySelector('.mongo-table__sort'), '::after').display"
    assert paper.evaluate(signs) == "none"
    # Chromium leaves buttons out of headers that it repeats on the next page of paper.
    boxes = "new Set([...document.querySelectorAll('.mongo-table__sort')].map((one) => getComputedStyle(one).display))"
    assert paper.evaluate(f"[...{boxes}]") == ["contents"]


FIRST_COLOUR = "getComputedStyle(document.querySelector('.mongo-chart')).getPropertyValue('--mongo-1').trim()"
SHADE = "getComputedStyle(document.body).backgroundColor"


def test_who_reads_in_the_dark_prints_on_white(site: Served, paper: Page) -> None:
    paper.emulate_media(media="print", color_scheme="dark")
    paper.goto(site.url + site.pages_with_charts[-1])
    assert paper.evaluate(FIRST_COLOUR) == "#3f51b5"
    assert paper.evaluate(SHADE) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    paper.emulate_media(media="screen")
    assert paper.evaluate(FIRST_COLOUR) == "#9fa8ff"
    assert paper.evaluate(SHADE) not in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")


def test_nothing_moves_for_who_wants_no_motion(site: Served, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(site.url + experiments(site)[-1])
    page.locator(".mongo-table__sort:visible").first.click()
    moving = "document.querySelector('article').getAnimations({ subtree: true }).length"
    assert page.evaluate(moving) == 0
