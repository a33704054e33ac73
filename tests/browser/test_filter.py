"""Long tables have a box that filters their rows; what a reader made of a table can be sent on as a link."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from mongo_tables.hosts.published_files import inline_assets
from mongo_tables.render.html import figure_html
from tests.browser.browsing import Served, Witness, served
from tests.browser.test_accessibility import AXE, broken
from tests.render.specs import chart, table

ROWS: Final = [
    {"n": f"{kind} number {at}", "v": 12_000 + at, "w": -at}
    for at in range(1, 24)
    for kind in ("Insert", "Update")
]
FORMAT: Final = {"v": {"thousands": True}}


def long(name: str = "long", rows: int = 46) -> str:
    return figure_html(table("n", "v", "w", id=name, format=FORMAT), ROWS[:rows])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A page with two long tables, a short one and a chart."""
    folder = tmp_path_factory.mktemp("long")
    parts = [
        long(),
        long("other"),
        long("short", 40),
        figure_html(chart("n", "v", id="drawn", mark="dot"), ROWS),
    ]
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>x</title><main><h1>x</h1>'
    (folder / "index.html").write_text(
        head + "\n".join(parts) + "</main>" + inline_assets(), encoding="utf-8"
    )
    with served(folder) as site:
        yield site


def labels(page: Page, name: str = "long") -> list[str]:
    return page.locator(f"#{name} tbody th:visible").all_inner_texts()


def typed(page: Page, text: str, name: str = "long") -> None:
    page.locator(f"#{name} .mongo-table__filter input").fill(text)


def counted(page: Page, name: str = "long") -> str:
    return page.locator(f"#{name} output").inner_text()


def address(page: Page) -> str:
    return str(page.evaluate("location.href"))


def views(page: Page) -> list[str]:
    return parse_qs(urlsplit(address(page)).query).get("view", [])


def test_rows_that_have_all_words_in_any_cell_stay(pages: Served, page: Page) -> None:
    page.goto(pages.url)
    assert counted(page) == "46 of 46 rows"
    typed(page, "  INSERT 7 ")
    assert labels(page) == ["Insert number 7", "Insert number 17"]
    assert counted(page) == "2 of 46 rows"
    typed(page, "nothing has this")
    assert (labels(page), counted(page)) == ([], "0 of 46 rows")


@pytest.mark.parametrize("number", ["12,005", "12005", "-5", "−5"])
def test_a_number_is_found_as_it_is_shown_and_as_it_came(number: str, pages: Served, page: Page) -> None:
    page.goto(pages.url)
    typed(page, f"update {number}")
    assert labels(page) == ["Update number 5"]


def test_escape_clears_and_sorting_keeps_the_filter(pages: Served, page: Page) -> None:
    page.goto(pages.url)
    typed(page, "insert 3")
    page.locator("#long th").nth(1).get_by_role("button").click()
    assert labels(page) == [f"Insert number {at}" for at in (23, 13, 3)]
    page.locator("#long input").press("Escape")
    assert len(labels(page)) == 46
    assert page.locator("#long input").input_value() == ""


def test_tables_of_forty_rows_have_no_box_and_values_of_a_chart_have_one(pages: Served, page: Page) -> None:
    page.goto(pages.url)
    assert page.locator("#short input").count() == 0
    assert page.locator("#drawn details input").count() == 1


def test_the_box_has_a_name_and_breaks_no_rule(pages: Served, page: Page) -> None:
    page.goto(pages.url)
    assert page.get_by_role("searchbox", name="Filter rows").count() == 2
    typed(page, "insert 1")
    page.evaluate(AXE)
    assert broken(page, where="#long") == []


def test_the_box_is_not_printed_but_what_was_left_out_is_told(pages: Served, page: Page) -> None:
    page.goto(pages.url)
    typed(page, "insert")
    page.emulate_media(media="print")
    assert page.locator("#long input").is_hidden()
    assert page.locator("#long output").is_visible()
    said = page.locator("#long output").evaluate("(one) => getComputedStyle(one, '::after').content")
    assert "with" in said
    assert page.locator("#other output").is_hidden()


def test_order_and_filter_stand_in_the_address_and_come_back_with_it(pages: Served, page: Page) -> None:
    page.goto(f"{pages.url}?keep=me#other")
    button = page.locator("#long th").nth(1).get_by_role("button")
    button.click()
    button.click()
    typed(page, "update number. 1")
    typed(page, "update 1")
    typed(page, "insert", "other")
    assert views(page) == ["long.2a.update 1", "other..insert"]
    assert address(page).endswith("#other")
    assert "keep=me" in address(page)
    shown = labels(page), labels(page, "other")
    with page.context.new_page() as again:
        again.goto(address(page))
        assert (labels(again), labels(again, "other")) == shown
        assert counted(again) == counted(page)
        assert again.locator("#long th[aria-sort=ascending]").inner_text() == "v"


def test_a_table_as_it_was_made_leaves_the_address_as_it_was(pages: Served, page: Page) -> None:
    page.goto(f"{pages.url}?keep=me")
    button = page.locator("#long th").first.get_by_role("button")
    for _ in range(3):
        button.click()
    typed(page, "x")
    page.locator("#long input").press("Escape")
    assert address(page) == f"{pages.url}?keep=me"


def test_no_step_back_is_added_to_the_history(pages: Served, page: Page) -> None:
    page.goto(pages.url)
    before = page.evaluate("history.length")
    page.evaluate("history.replaceState({theme: 'own'}, '')")
    typed(page, "insert")
    assert page.evaluate("[history.length, history.state]") == [before, {"theme": "own"}]


@pytest.mark.parametrize(
    "view", ["long.99a.", "long.2x.", "nobody.1a.x", "short.1a.x", "%3Cimg%20src=x%3E.1a", "long", "..", ""]
)
def test_an_address_that_fits_no_table_changes_nothing_that_is_not_there(
    view: str, pages: Served, fresh: Page
) -> None:
    witness = Witness.of(fresh)
    fresh.goto(f"{pages.url}?view={view}")
    assert witness.complaints == []
    assert len(labels(fresh)) == 46


def test_a_link_to_a_row_that_the_filter_hides_shows_the_row(pages: Served, page: Page) -> None:
    page.goto(f"{pages.url}?view=long..insert#long--update-number-5")
    row = page.locator("tr:target")
    expect(row).to_be_visible()
    expect(row).to_be_in_viewport()
    assert counted(page) == "46 of 46 rows"
    typed(page, "insert")
    page.evaluate("location.hash = 'long--update-number-7'")
    expect(page.locator("tr:target")).to_be_visible()


def test_a_link_to_a_row_of_a_sorted_table_leads_to_where_the_row_is_then(pages: Served, page: Page) -> None:
    page.goto(f"{pages.url}?view=long.2d.#long--insert-number-1")
    expect(page.locator("tr:target")).to_be_in_viewport()


def test_from_a_folder_without_a_server_it_works_as_well(pages: Served, fresh: Page) -> None:
    witness = Witness.of(fresh)
    fresh.goto(Path(pages.folder / "index.html").as_uri())
    typed(fresh, "insert 7")
    assert len(labels(fresh)) == 2
    fresh.reload()
    assert len(labels(fresh)) == 2
    assert witness.complaints == []


def test_without_a_script_there_is_no_box_and_every_row(pages: Served, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(pages.url)
        assert page.locator("input").count() == 0
        assert len(labels(page)) == 46
