"""Words that readers search for find the page that answers first."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import Served


@pytest.mark.parametrize(
    ("word", "page"),
    {
        "GUID": "insert-idtype",
        "failover": "failover",
        "insertMany": "insert-batchsize",
        "cache": "memory-disk",
        "pool": "concurrency",
        "retry": "failover",
        "IOPS": "insert-iops",
        "bulk": "insert-batchsize",
        "index": "insert-nindexes",
        "skip": "query-full",
    }.items(),
)
def test_a_word_that_readers_search_for_finds_the_page_about_it_first(
    word: str, page: str, site: Served, fresh: Page
) -> None:
    fresh.goto(site.url)
    asked = fresh.locator("[data-md-component=search-query]")
    asked.click()
    expect(fresh.locator(".md-search-result__meta")).to_have_text("Type to start searching")
    asked.fill(word)
    first = fresh.locator(".md-search-result__item > .md-search-result__link").first
    expect(first).to_have_attribute("href", f"{site.url}experiments/{page}/")
