"""A reader sees that results have grown too old, even on a page that nobody has made anew since."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from mongo_tables.aggregation import aggregate
from mongo_tables.hosts.published_files import inline_assets
from mongo_tables.render.html import figure_html
from mongo_tables.render.provenance_html import provenance_html
from mongo_tables.results.provenance import provenance_of
from tests.browser.browsing import Served
from tests.measured import document, speeds

DUE = "to be measured again by 2026-12-01"
WARNING = ".mongo-table__old"


def shown(page: Page, **keys: object) -> None:
    """A table of results of 2026-11-21, on a page without any theme."""
    spec = speeds(id="t", **keys)
    documents = [document(1), document(2)]
    source = provenance_of(aggregate(documents, spec.source_query.pipeline))
    rows = aggregate(documents, spec.pipeline)
    page.goto("about:blank")
    page.set_content(figure_html(spec, rows, notes=provenance_html(spec, source, {})) + inline_assets())


@pytest.fixture(scope="module")
def later(browser: Browser) -> Iterator[Page]:
    """A page whose clock each test sets."""
    with browser.new_context() as context:
        yield context.new_page()


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("2026-12-01T23:59:59Z", []),
        ("2026-12-02T00:00:00Z", [f"Out of date: these results were {DUE}."]),
        ("2031-01-01T12:00:00Z", [f"Out of date: these results were {DUE}."]),
    ],
)
@pytest.mark.parametrize("keys", [{"title": "Speed"}, {}], ids=["with a caption", "without"])
def test_a_reader_after_the_day_is_warned_above_the_table(
    keys: dict[str, str], now: str, told: list[str], later: Page
) -> None:
    later.clock.set_fixed_time(now)
    shown(later, max_age=10, **keys)
    assert later.locator(WARNING).all_inner_texts() == told
    assert later.locator(f"{WARNING} ~ .mongo-table__scroll").count() == len(told)
    assert later.locator(f"figcaption ~ {WARNING}").count() == (len(told) if keys else 0)


def test_without_a_limit_results_never_grow_too_old(later: Page) -> None:
    later.clock.set_fixed_time("2031-01-01T12:00:00Z")
    shown(later)
    assert later.locator(WARNING).count() == 0


def test_without_a_script_the_day_is_there_to_read(site: Served, fresh: Page) -> None:
    fresh.context.route("**/mongo-tables.js", lambda route: route.abort())
    fresh.goto(f"{site.url}experiments/insert-docsize/")
    due = fresh.locator("#insert-docsize-speed .mongo-table__due")
    assert due.inner_text() == f"to be measured again by {due.get_attribute('datetime')}"


def test_the_warning_is_shown_on_this_site_once_the_day_is_past(site: Served, later: Page) -> None:
    later.clock.set_fixed_time("2099-01-01T12:00:00Z")
    later.goto(f"{site.url}experiments/insert-docsize/")
    assert later.locator(f"#insert-docsize-speed > {WARNING}").is_visible()
    assert later.locator(WARNING).count() == later.locator(".mongo-table__due").count() == 1
