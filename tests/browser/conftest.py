"""A browser and the built site of this repository, for as long as the tests of this folder run.

No longer than that: while Playwright is at work in a process, nothing else there can use ``asyncio.run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.browsing import EVERY, FLAGS, STILL, Served, chromium, served
from tests.browser.tables import Tables, look_at_tables


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium(), args=FLAGS)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a fresh context: themes keep what a reader chose."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.add_init_script(STILL)
        yield context.new_page()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    settings = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with browser.new_context(**settings) as context:
        context.add_init_script(STILL)
        yield context.new_page()


@pytest.fixture(scope="package")
def site(own_site: Path) -> Iterator[Served]:
    """The site of this repository as readers get it, on a loopback port."""
    with served(own_site) as site:
        yield site


@pytest.fixture(scope="package", params=EVERY)
def tables(request: pytest.FixtureRequest, site: Served, browser: Browser) -> dict[str, Tables]:
    """What pages show of their tables to who opens them on screens of all sizes and clicks every header."""
    with browser.new_context() as context:
        context.add_init_script(STILL)
        page = context.new_page()
        return {
            path: look_at_tables(page, site.url + path) for path in site.pages_with_tables[:: request.param]
        }
