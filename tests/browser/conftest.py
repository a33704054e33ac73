"""A browser and the built site of this repository, for as long as the tests of this folder run.

No longer than that: while Playwright is at work in a process, nothing else there can use ``asyncio.run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.browser.browsing import EVERY, FLAGS, STILL, Served, chromium, served
from tests.browser.tables import Tables, look_at_tables
from tests.madeonce import made_once

SCREEN: Final = ViewportSize(width=1280, height=900)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium(), args=FLAGS)


@pytest.fixture
def fresh(browser: Browser) -> Iterator[Page]:
    """A page of its own, for a test that sets its clock, stops requests or listens to what happens in it."""
    with _opened(browser) as page:
        yield page


@pytest.fixture(scope="package")
def _kept(browser: Browser) -> Iterator[Page]:
    with _opened(browser) as page:
        yield page


@pytest.fixture
def page(_kept: Page) -> Page:
    """A page that one test after the other is given: a new one takes a second of the processor. It is empty."""
    if _kept.url.startswith("http"):
        # Themes keep what a reader chose.
        _kept.evaluate("localStorage.clear(), sessionStorage.clear()")
    _kept.goto("about:blank")
    _kept.set_viewport_size(SCREEN)
    _kept.emulate_media(media="null", color_scheme="null", reduced_motion="null")
    return _kept


@contextmanager
def _opened(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport=SCREEN) as context:
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

    def look() -> dict[str, Tables]:
        with _opened(browser) as page:
            return {path: look_at_tables(page, site.url + path) for path in paths}

    paths = site.pages_with_tables[:: request.param]
    return made_once(site.folder.parent / f"tables-{request.param}", look)
