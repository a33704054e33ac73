"""Who reads the site is not observed: nothing is fetched from another host, and nothing goes wrong in the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.browsing import EVERY, Served, Witness

TABLES = ".mongo-table__scroll table"


@pytest.mark.parametrize("every", EVERY)
def test_no_page_asks_another_host_for_anything(every: int, site: Served, fresh: Page) -> None:
    witness = Witness.of(fresh)
    for path in site.pages[::every]:
        fresh.goto(site.url + path)
    assert len(witness.requests) > len(site.pages[::every])
    assert witness.outside(site.url) == []
    assert witness.complaints == []


@pytest.mark.parametrize("every", EVERY)
def test_the_site_works_from_a_folder_without_any_server(every: int, site: Served, fresh: Page) -> None:
    witness = Witness.of(fresh)
    sorting = 0
    for path in site.pages_with_tables[::every]:
        fresh.goto(site.file(path).as_uri())
        long = fresh.locator(f"{TABLES}:has(tbody tr:nth-child(3))").count()
        assert (fresh.locator(".mongo-table__sort").count() > 0) == (long > 0), path
        sorting += long > 0
    assert sorting > 2
    assert witness.outside(site.folder.as_uri()) == []
    assert [each for each in witness.complaints if not each.startswith("warning")] == []


def test_search_asks_no_other_host_and_finds_whole_numbers(site: Served, fresh: Page) -> None:
    witness = Witness.of(fresh)
    fresh.goto(
        site.url + next(path for path in site.pages_with_tables if path.startswith("experiments/insert"))
    )
    numbers = fresh.locator("td[data-v]").all_inner_texts()
    number = next(text for text in numbers if len(text) > 4 and text.replace(",", "").isdigit())
    fresh.locator(".md-search__input").click()
    fresh.keyboard.type(number)
    # While it is being typed, numbers that begin alike are found.
    expect(fresh.locator(".md-search-result__item mark").first).to_have_text(number, timeout=30_000)
    assert witness.outside(site.url) == []


@pytest.mark.parametrize("every", EVERY)
def test_without_a_script_every_table_is_complete(every: int, site: Served, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        for path in site.pages_with_tables[::every]:
            page.goto(site.url + path)
            assert page.locator(".mongo-table__sort").count() == 0
            named = page.locator(f'{TABLES} tbody th[scope="row"]').count()
            assert page.locator(f"{TABLES} tbody tr").count() == named
            # Plain tables have row headers, too.
            assert page.locator('tbody th[scope="row"]').count() == site.text(path).count('<th scope="row"')
