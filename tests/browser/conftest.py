"""A browser and the built site of this repository, for as long as the tests of this folder run.

No longer than that: while Playwright is at work in a process, nothing else there can use ``asyncio.run``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.browsing import FLAGS, ROOT, STILL, Served, chromium, served
from tests.site.builds import build


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
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The site of this repository as readers get it, on a loopback port."""
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, "--quiet", "--site-dir", str(folder), MONGO_TABLES_CACHE=str(folder.parent / "cache"))
    assert done.returncode == 0, done.stderr
    with served(folder) as site:
        yield site
