"""A reader sees that results have grown too old, even on a page that nobody has made anew since."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from preprocessor.aggregation import aggregate
from preprocessor.render.html import html_table
from preprocessor.render.provenanceblock import ProvenanceBlock, provenance_html
from preprocessor.results.provenance import provenance_of
from preprocessor.site.assets import inline
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
    page.set_content(
        html_table(spec, rows, notes=provenance_html(spec, ProvenanceBlock(source, {}))) + inline()
    )


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
    keys: dict[str, str], now: str, told: list[str], page: Page
) -> None:
    page.clock.set_fixed_time(now)
    shown(page, max_age=10, **keys)
    assert page.locator(WARNING).all_inner_texts() == told
    assert page.locator(f"{WARNING} ~ .mongo-table__scroll").count() == len(told)
    assert page.locator(f"figcaption ~ {WARNING}").count() == (len(told) if keys else 0)


def test_without_a_limit_results_never_grow_too_old(page: Page) -> None:
    page.clock.set_fixed_time("2031-01-01T12:00:00Z")
    shown(page)
    assert page.locator(WARNING).count() == 0


def test_without_a_script_the_day_is_there_to_read(site: Served, page: Page) -> None:
    page.context.route("**/mongo-tables.js", lambda route: route.abort())
    page.goto(f"{site.url}experiments/insert-docsize/")
    due = page.locator("#insert-docsize-speed .mongo-table__due")
    assert due.inner_text() == f"to be measured again by {due.get_attribute('datetime')}"


def test_the_warning_is_shown_on_this_site_once_the_day_is_past(site: Served, page: Page) -> None:
    page.clock.set_fixed_time("2099-01-01T12:00:00Z")
    page.goto(f"{site.url}experiments/insert-docsize/")
    assert page.locator(f"#insert-docsize-speed > {WARNING}").is_visible()
    assert page.locator(WARNING).count() == page.locator(".mongo-table__due").count() == 1
