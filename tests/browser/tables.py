"""What a page shows of its tables: their ids and links, whether they have room, and how they sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from playwright.sync_api import Page

# The boxes whose table is wider than they are, as pairs of the figure's id and the difference.
TOO_WIDE: Final = """() => [...document.querySelectorAll(".mongo-table__scroll")]
    .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth)
    .map((box) => `${box.closest("figure").id}: ${box.scrollWidth - box.clientWidth}px`)"""
# What scripts do at another width is done when a frame has been drawn.
DRAWN: Final = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
PAGE_TOO_WIDE: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SIZES: Final = [1280, 768, 1024, 1920]
PAPER: Final = 717
"""A4: 210 mm are 793 pixels, less margins of a centimetre."""
# Clicks every header three times; gives, for each table and column, the cells in the order of the pipeline and the
# order of rows (as numbers of that order) after each click.
CLICK_ALL: Final = """() => [...document.querySelectorAll(".mongo-table__scroll table")].map((table) => {
    const rows = [...table.tBodies[0].rows];
    const cell = (one) => ({ raw: one.dataset.v ?? one.textContent, absent: "t" in one.dataset });
    const state = (th) => [th.getAttribute("aria-sort"), [...table.tBodies[0].rows].map((row) => rows.indexOf(row))];
    return [...table.tHead.rows[0].cells].map((th, index) => ({
        cells: rows.map((row) => cell(row.cells[index])),
        states: th.querySelector("button") ? [1, 2, 3].map(() => (th.querySelector("button").click(), state(th))) : [],
    }));
})"""
# For each chart its images, each with its name and its description. Of its drawings one is shown.
CHARTS: Final = """() => [...document.querySelectorAll(".mongo-chart")].map((chart) =>
    [...chart.querySelectorAll("img, [role=img]")].filter((image) => getComputedStyle(image).display !== "none")
        .map((image) => [image.ariaLabel ?? "", image.querySelector("desc")?.textContent ?? ""]))"""
IDS: Final = "[...document.querySelectorAll('[id]')].map((one) => one.id)"
LINKS: Final = "[...document.querySelectorAll('.mongo-table a[href^=\"#\"]')].map((one) => one.hash.slice(1))"
# The single runs behind a row, folded away, are no rows of the table.
WITHOUT: Final = (
    "document.querySelectorAll('figure.mongo-table:not([id]), "
    "figure.mongo-table > .mongo-table__scroll tbody tr:not([id])').length"
)


@dataclass(frozen=True)
class Tables:
    """Of one page: all ids, where links of figures lead, how much has no id, what is too wide, charts, and clicks."""

    ids: list[str]
    links: list[str]
    without_id: int
    too_wide: dict[int, list[str]]
    too_wide_on_paper: list[str]
    charts: list[list[list[str]]]
    columns: list[list[dict[str, Any]]]


def look_at_tables(page: Page, url: str) -> Tables:
    page.goto(url)
    ids, links, without_id = page.evaluate(IDS), page.evaluate(LINKS), page.evaluate(WITHOUT)
    too_wide = {width: what_is_too_wide(page, width) for width in SIZES}
    page.emulate_media(media="print")
    on_paper = what_is_too_wide(page, PAPER)
    page.emulate_media(media="screen")
    charts, columns = page.evaluate(CHARTS), page.evaluate(CLICK_ALL)
    return Tables(ids, links, without_id, too_wide, on_paper, charts, columns)


def what_is_too_wide(page: Page, width: int) -> list[str]:
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(DRAWN)
    found: list[str] = page.evaluate(TOO_WIDE)
    return found + (["the page itself"] if page.evaluate(PAGE_TOO_WIDE) else [])
