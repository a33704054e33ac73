"""Every figure and every row can be linked to, and the link leads there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.browsing import Served, served
from tests.browser.tables import Tables
from tests.hosts.builds import build, sample

RUNS = 'class="mongo-table__runs"'
NOT_MEASURED = {
    "experiments/insert-iops/",
    "experiments/insert-instancesize/",
    "experiments/insert-shardkey/",
}
"""They ask for several machines, of which this site has one, or for a cluster with shards, of which it has none."""


def test_no_id_is_there_twice_and_every_link_within_a_page_leads_somewhere(tables: dict[str, Tables]) -> None:
    for path, found in tables.items():
        assert {name: count for name, count in Counter(found.ids).items() if count > 1} == {}, path
        assert set(found.links) <= set(found.ids), path
        assert found.without_id == 0, path


def test_a_link_to_a_row_shows_the_row_and_marks_it(site: Served, page: Page) -> None:
    path = next(each for each in site.pages_with_tables if each.startswith("experiments/"))
    page.goto(site.url + path)
    link = page.locator(".mongo-table__scroll tbody tr:last-child th a").last
    page.goto(f"{site.url}{path}{link.get_attribute('href')}")
    page.wait_for_function("document.querySelector('tr:target')")
    row = page.locator("tr:target").bounding_box()
    bar = page.locator(".md-header").bounding_box()
    assert row and bar and bar["y"] + bar["height"] <= row["y"] < 900
    assert page.locator("tr:target td").first.evaluate("(cell) => getComputedStyle(cell).boxShadow") != "none"


def test_a_row_leads_to_its_runs_and_they_to_their_document(site: Served, page: Page) -> None:
    page.goto(f"{site.url}experiments/insert-docsize/")
    row = page.locator("#insert-docsize-latency--32-kib")
    row.get_by_role("link", name="The runs behind this row").click()
    run = page.locator("tr:target")
    run.wait_for()
    assert run.is_visible()
    assert run.locator("th").inner_text().startswith("docSizeKB 32")
    assert run.locator("td").first.inner_text() in ("0", "1")  # The first block, or the first repeat.
    done = page.request.get(page.url.partition("#")[0] + str(run.locator("td a").get_attribute("href")))
    found = done.json()
    assert (found["_id"]["docSizeKB"], found["_id"]["testname"]) == (32, "insert_docsize")
    assert "before_status" in found


def test_every_row_of_a_table_of_each_experiment_leads_to_its_runs(site: Served) -> None:
    wanted = (
        {path for path in site.pages if path.startswith("experiments/")} - {"experiments/"} - NOT_MEASURED
    )
    assert len(wanted) > 18
    without = []
    for path in wanted:
        figures = site.text(path).split('<figure class="mongo-table"')[1:]
        tables = [one.partition("<tbody>")[2].partition("</tbody>")[0] for one in figures]
        if not any("<tr" in rows and rows.count("<tr") == rows.count(RUNS) for rows in tables):
            without.append(path)
    assert without == []


def test_a_caption_has_a_link_to_its_figure_that_the_keyboard_reaches(site: Served, page: Page) -> None:
    path = next(each for each in site.pages_with_tables if each.startswith("experiments/"))
    page.goto(site.url + path)
    link = page.locator("figcaption .mongo-table__link").first
    assert link.evaluate("(one) => getComputedStyle(one).opacity") == "0"
    link.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert link.evaluate("(one) => getComputedStyle(one).opacity") == "1"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{link.get_attribute('href')}")
    assert page.locator("figure:target").count() == 1


LINKED = """\
# Second

[one table](index.md#all-runs), [a row of it](index.md#all-runs--8)
"""


def test_mkdocs_knows_the_anchors_of_figures(tmp_path: Path) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    strict = "validation:\n  links:\n    anchors: warn\n"
    config.write_text(config.read_text(encoding="utf-8") + strict, encoding="utf-8")
    page = site / "docs" / "second.md"
    page.write_text(LINKED, encoding="utf-8")
    done = build(site, "--strict")
    assert done.returncode == 0, done.stderr
    again = build(site, "--strict")
    assert again.returncode == 0, again.stderr
    page.write_text(LINKED.replace("--8", "--9"), encoding="utf-8")
    assert "does not contain an anchor '#all-runs--9'" in build(site, "--strict").stderr


def test_tables_of_a_page_that_came_in_later_sort_as_well(tmp_path: Path, page: Page) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    with served(site / "site") as instant:
        instantly = f"  features: [navigation.instant]\nsite_url: {instant.url}\n"
        config.write_text(text.replace("  font: false\n", f"  font: false\n{instantly}"), encoding="utf-8")
        done = build(site)
        assert done.returncode == 0, done.stderr
        page.goto(f"{instant.url}guide.html")
        page.evaluate("window.sameDocument = true")
        page.get_by_role("link", name="Home", exact=True).click()
        button = page.locator("#all-runs .mongo-table__sort").first
        for way in ("descending", "ascending", None):
            button.click()
            assert page.locator("#all-runs th").first.get_attribute("aria-sort") == way
        button.click()
        assert page.evaluate("location.search") == "?view=all-runs.1d."
        page.get_by_role("link", name="Guide", exact=True).click()
        page.locator("#all-runs").wait_for(state="detached")
        assert page.evaluate("location.search") == ""
        page.go_back()
        page.locator("#all-runs th[aria-sort=descending]").wait_for()
        assert page.evaluate("window.sameDocument"), "the page was loaded anew: nothing was tested"


def test_under_zensical_tables_look_and_sort_the_same(tmp_path: Path, page: Page) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    extension = "  - tables\n  - mongo-tables:\n      results: fixtures\n"
    config.write_text(text.replace("  - tables\n", extension), encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode == 0, done.stdout + done.stderr
    with served(site / "site") as zensical:
        page.goto(f"{zensical.url}index.html")
        page.locator(".mongo-table__sort").first.click()
        assert page.locator("tbody th").all_inner_texts() == ["64", "8", "1"]
        position = page.locator("tbody th").first.evaluate("(cell) => getComputedStyle(cell).position")
        assert position == "sticky"
