"""Three inputs lead to the published machines that bear a load; without the script the table has the same shares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.browsing import Served

ROWS = "rows/sizing.sizing-inserts.json"
PAGE = "sizing/"


def bearing(site: Served, load: float, kib: float, indexes: int) -> dict[str, set[str]]:
    """Machines by what the rows alone say of a load: they bear it, are too slow for it, or that is not known."""
    rows = json.loads(Path(site.folder, ROWS).read_text("utf-8"))["rows"]
    like = [one for one in rows if one["kib"] >= kib and one["indexes"] >= indexes]
    nearest = {one["machine"]: one for one in sorted(like, key=far_to_near)}.values()
    bear = {one["machine"] for one in nearest if one["speed"] >= load}
    short = {one["machine"] for one in nearest} - bear
    less = [one for one in rows if one["kib"] <= kib and one["indexes"] <= indexes]
    slow = short & {one["machine"] for one in less if one["speed"] < load}
    return {"bear": bear, "slow": slow, "open": short - slow}


def far_to_near(one: dict[str, float]) -> tuple[float, float, float]:
    return -one["indexes"], -one["kib"], -one["speed"]


@pytest.mark.parametrize(
    ("load", "kib", "indexes"),
    [(20_000, 4, 4), (20_000, 2.5, 1), (100_000, 1, 0), (60_000, 4, 3), (500, 200, 0)],
)
def test_the_machines_that_bear_a_load_are_listed_with_their_share(
    site: Served, page: Page, load: int, kib: float, indexes: int
) -> None:
    page.goto(f"{site.url}{PAGE}?load={load}&kib={kib}&indexes={indexes}")
    found = bearing(site, load, kib, indexes)
    listed = page.locator("#sizing-inserts-form tbody tr th[scope=row]").all_inner_texts()
    assert sorted(listed) == sorted(found["bear"])
    said = page.locator("#sizing-inserts-form > div").inner_text()
    assert all(f"{machine} (" in said for machine in found["slow"])


@pytest.mark.parametrize("load", [28_000, 60_000, 150_000])
@pytest.mark.parametrize(("kib", "indexes"), [(1, 0), (2.5, 1), (4, 4), (32, 0)])
def test_no_machine_is_in_two_sentences_and_one_of_which_nothing_is_known_is_not_too_slow(
    site: Served, page: Page, load: int, kib: float, indexes: int
) -> None:
    page.goto(f"{site.url}{PAGE}?load={load}&kib={kib}&indexes={indexes}")
    answer = page.locator("#sizing-inserts-form > div")
    listed = answer.locator("tbody tr th[scope=row]").all_inner_texts()
    sentences = answer.locator("p").all_inner_texts()
    every = {one["machine"] for one in json.loads(Path(site.folder, ROWS).read_text("utf-8"))["rows"]}

    def named(beginning: str) -> list[str]:
        texts = " ".join(one for one in sentences if one.startswith(beginning))
        return [machine for machine in every if machine in texts]

    found = bearing(site, load, kib, indexes)
    assert sorted(listed) == sorted(found["bear"])
    assert sorted(named("Too slow")) == sorted(found["slow"] if listed else ())
    assert sorted(named("Not known")) == sorted(found["open"])
    used, published_for = (
        answer.locator(f"tbody tr td:nth-child({number})").all_inner_texts() for number in (2, 5)
    )
    for share, about in zip(used, published_for, strict=True):
        assert share.startswith("at most") != about.startswith(f"{kib} KiB, {indexes} index")
        assert not ("at most" in share and "no room" in share)


def test_a_machine_with_room_is_recommended_and_the_page_recommends_the_same(
    site: Served, page: Page
) -> None:
    page.goto(f"{site.url}{PAGE}")
    answer = page.locator("#sizing-inserts-form strong").first.inner_text()
    assert answer == "M50 io2 3000/s, 200 GB: 64\u00a0%"
    assert "64\u00a0%" in page.locator("h1 ~ p:not([hidden])").first.inner_text()
    page.goto(f"{site.url}{PAGE}?load=60000&kib=4&indexes=4")
    assert "No machine is known to have room" in page.locator("#sizing-inserts-form").inner_text()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("load=1&kib=8&indexes=1", "No published row fits"),
        ("load=70000&kib=4&indexes=4", "the fastest, M80 io2 3000/s, 512 GB, inserted 60,153"),
        ("load=none&kib=4&indexes=4", "Give three numbers"),
    ],
)
def test_what_nothing_published_answers_is_said(site: Served, page: Page, asked: str, said: str) -> None:
    page.goto(f"{site.url}{PAGE}?{asked}")
    assert said in page.locator("#sizing-inserts-form").inner_text()
    assert page.locator("#sizing-inserts-form tbody").count() == 0


def test_inputs_are_in_the_address_and_a_row_leads_to_what_was_published(site: Served, page: Page) -> None:
    page.goto(f"{site.url}{PAGE}")
    page.get_by_label("Documents a second").fill("30000")
    page.wait_for_url("**load=30000&kib=4&indexes=4")
    assert "M80 io2 3000/s, 512 GB: 50\u00a0%" in page.locator("#sizing-inserts-form").inner_text()
    assert "95\u00a0%, no room" in page.locator("#sizing-inserts-form").inner_text()
    page.locator("#sizing-inserts-form a").first.click()
    assert page.locator("#sizing-inserts tr:target td").first.inner_text() == "M50 io2 3000/s, 200 GB"


def test_without_the_script_links_lead_to_rows_with_the_shares(site: Served, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.url}{PAGE}")
        page.get_by_role("link", name="with four").click()
        cells = page.locator("#sizing-inserts tr:target td").all_inner_texts()
        assert cells[0].startswith("M30")
        assert cells[6] == "815"
