"""Any column of any table sorts by the values as they came, one way, the other way, and back."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from playwright.sync_api import Page

from mongo_tables.hosts.published_files import inline_assets
from mongo_tables.render.html import figure_html
from tests.browser.tables import Tables
from tests.render.specs import table


def is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+−]?(\d[\d,]*\.?\d*(e[-+]?\d+)?|Infinity)( ?%)?|NaN", text))


def number(text: str) -> tuple[bool, Decimal]:
    """NaN is the least number, as in MongoDB."""
    value = Decimal(text.replace(",", "").replace("−", "-").rstrip(" %"))
    return (False, Decimal()) if value.is_nan() else (True, value)


def is_date(text: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?", text))


MARKS = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
"""Signs in the order of Unicode's collation (https://www.unicode.org/charts/collation/), which browsers follow."""


def words(text: str) -> list[tuple[int, int, str]]:
    """Numbers inside of a text as numbers, letters without regard to case, blanks first, then signs."""
    parts = re.findall(r"\d+|\D", re.sub(r"(\d),(?=\d{3}(?!\d))", r"\1", text.casefold()))
    return [(2, int(part), "") if part.isdigit() else (kind(part), MARKS.find(part), part) for part in parts]


def kind(letter: str) -> int:
    return 0 if letter.isspace() else 3 if letter.isalpha() else 1


def ways(cells: list[dict[str, Any]]) -> list[tuple[str | None, list[int]]]:
    """What three clicks on the header have to give."""
    present = [
        at for at, cell in enumerate(cells) if not cell["absent"] and cell["raw"] not in ("", "n/a", "—")
    ]
    absent = [at for at in range(len(cells)) if at not in present]
    texts = [cells[at]["raw"] for at in present]
    measured = all(map(is_number, texts)) or all(map(is_date, texts))
    key: Any = number if all(map(is_number, texts)) else datetime.fromisoformat if measured else words
    up = sorted(present, key=lambda at: key(cells[at]["raw"]))
    down = sorted(present, key=lambda at: key(cells[at]["raw"]), reverse=True)
    both = [("ascending", up + absent), ("descending", down + absent)]
    return [*(reversed(both) if measured else both), (None, list(range(len(cells))))]


def judged(column: dict[str, Any]) -> bool:
    """Whether a column that can be sorted is sorted right, and one of few rows cannot be sorted."""
    if len(column["cells"]) < 3:
        return column["states"] == []
    return [tuple(state) for state in column["states"]] == ways(column["cells"])


def test_every_column_of_every_table_of_the_site_sorts_by_its_raw_values(tables: dict[str, Tables]) -> None:
    columns = [
        ((path, at, number), column)
        for path, found in tables.items()
        for at, headers in enumerate(found.columns)
        for number, column in enumerate(headers)
    ]
    assert [(place, column) for place, column in columns if not judged(column)] == []
    assert len(columns) > 10


def shown(page: Page, values: list[Any], **keys: Any) -> None:
    """A page without any theme that holds one table of these values, in which None leaves the field out."""
    rows = [{"k": f"row {at}"} | ({} if value is None else {"v": value}) for at, value in enumerate(values)]
    page.set_content(figure_html(table("k", "v", id="t", **keys), rows) + inline_assets())


def after_clicks(page: Page, times: int = 1) -> list[int]:
    for _ in range(times):
        page.locator(".mongo-table__sort").nth(1).click()
    return [int(text.removeprefix("row ")) for text in page.locator("tbody th").all_inner_texts()]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        pytest.param([980, 14850, 102400, 5980], [2, 1, 3, 0], id="integers"),
        pytest.param([-1.5, 1e-7, -2, 1e21], [3, 1, 0, 2], id="signs and exponents"),
        pytest.param([Int64(2**53), Int64(2**53 + 1), Int64(2**53 - 1)], [1, 0, 2], id="beyond doubles"),
        pytest.param([Decimal128("0.10"), Decimal128("0.9"), 0.5], [1, 2, 0], id="decimals"),
        pytest.param([float("nan"), float("-inf"), 0, float("inf")], [3, 2, 0, 1], id="not finite"),
        pytest.param(["1,508", "8", "980"], [0, 2, 1], id="numbers that a pipeline wrote as text"),
        pytest.param([1, None, 3, None, 2], [2, 4, 0, 1, 3], id="missing values last"),
        pytest.param([2, 1, 2, 1], [0, 2, 1, 3], id="equal values keep their order"),
        pytest.param(
            [datetime(2026, 11, day, 9, 30, 0, part, UTC) for day, part in [(2, 0), (2, 500_000), (10, 0)]],
            [2, 1, 0],
            id="dates, newest first",
        ),
        pytest.param(["M200", "M30", "m40"], [1, 2, 0], id="numbers in words"),
        pytest.param(
            ["batches of 1,000", "batches of 10", "batches of 100"], [1, 2, 0], id="groups of digits in words"
        ),
        pytest.param(["8.0.10", "8.0.4", "6.0"], [2, 1, 0], id="versions"),
        pytest.param(["n/a", "b", "", "a"], [3, 1, 0, 2], id="texts that stand for nothing"),
        pytest.param(["constructor", "__proto__", "toString"], [1, 0, 2], id="names of the language"),
    ],
)
def test_the_first_click_sorts(values: list[Any], first: list[int], page: Page) -> None:
    shown(page, values)
    assert after_clicks(page) == first


def test_missing_values_are_last_and_equal_ones_in_order_the_other_way_as_well(page: Page) -> None:
    shown(page, [2, None, 1, 2])
    assert after_clicks(page, 2) == [2, 0, 3, 1]


def test_a_formatted_number_sorts_by_its_raw_value(page: Page) -> None:
    shown(page, [1999.4, 1999.6, 20.1], format={"v": {"decimals": 0, "thousands": True, "unit": "ms"}})
    assert after_clicks(page) == [1, 0, 2]


def test_the_third_click_restores_the_order_of_the_experiment(page: Page) -> None:
    shown(page, [2, 3, 1])
    assert after_clicks(page, 3) == [0, 1, 2]
    assert page.locator("[aria-sort]").count() == 0


def test_another_column_begins_anew(page: Page) -> None:
    shown(page, [2, 3, 1])
    after_clicks(page)
    page.locator(".mongo-table__sort").first.click()
    assert page.locator("[aria-sort]").all_inner_texts() == ["k"]
    assert after_clicks(page) == [1, 0, 2]


def test_the_row_of_the_baseline_keeps_its_mark(page: Page) -> None:
    shown(page, [2, 3, 1], baseline={"row": 1, "column": "v"})
    after_clicks(page)
    assert page.locator(".mongo-table__baseline th").inner_text() == "row 0"


def test_a_table_of_two_rows_has_nothing_to_sort(page: Page) -> None:
    shown(page, [1, 2])
    assert page.locator("button").count() == 0


def test_the_keyboard_is_enough(page: Page) -> None:
    shown(page, [2, 3, 1])
    for _ in range(3):
        page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert focused.inner_text().strip() == "v"
    for key, way in (("Enter", "descending"), ("Space", "ascending"), ("Enter", None)):
        page.keyboard.press(key)
        assert page.locator("th:has(:focus)").get_attribute("aria-sort") == way
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_what_a_header_is_called_is_its_text(page: Page) -> None:
    shown(page, [2, 3, 1], format={"v": {"unit": "ms"}}, headers=["K", "Wait"])
    assert page.get_by_role("columnheader", name="Wait ms").get_by_role("button", name="Wait ms").count() == 1


# What tablesort does, by the snippet of Material's manual: it sorts by a click on the header itself, unless that says
# otherwise when the script begins, and writes its own state into `aria-sort`.
SORT_ALL = """(skips) => document.querySelectorAll("table").forEach((table) => table.querySelectorAll("thead th").forEach((th) => {
    if (skips && th.dataset.sortMethod === "none") return;
    const sort = () => {
        const way = th.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
        table.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", way);
        const text = (row) => row.cells[th.cellIndex].textContent;
        const sign = way === "descending" ? -1 : 1;
        table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => sign * text(a).localeCompare(text(b))));
    };
    th.addEventListener("click", sort);
    th.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
}))"""


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("by", ["click", "Enter"])
def test_a_script_that_sorts_all_tables_of_a_site_leaves_ours_alone(skips: bool, by: str, page: Page) -> None:
    shown(page, [9, 100, 20, None])
    page.evaluate(SORT_ALL, skips)
    header = page.locator("thead th").nth(1)
    found = []
    for _ in range(3):
        if by == "click":
            header.locator("button").click()
        else:
            header.locator("button").press(by)
        rows = page.locator("tbody th").all_inner_texts()
        found.append((header.get_attribute("aria-sort"), [int(text.removeprefix("row ")) for text in rows]))
    assert found == [("descending", [1, 2, 0, 3]), ("ascending", [0, 2, 1, 3]), (None, [0, 1, 2, 3])]


def test_a_script_that_writes_its_state_into_headers_does_not_change_ours(page: Page) -> None:
    """DataTables marks the first column as sorted when it begins."""
    shown(page, [9, 100, 20])
    page.evaluate("document.querySelector('thead th').setAttribute('aria-sort', 'ascending')")
    assert after_clicks(page) == [1, 2, 0]
    assert page.locator("[aria-sort]").count() == 1


# -- folds and tabs around a figure

TABBED = """<div class="tabbed-set tabbed-alternate" data-tabs="1:2">
<input checked="checked" id="__tabbed_1_1" name="__tabbed_1" type="radio"><input id="__tabbed_1_2" name="__tabbed_1" type="radio">
<div class="tabbed-labels"><label for="__tabbed_1_1">A</label><label for="__tabbed_1_2">B</label></div>
<div class="tabbed-content"><div class="tabbed-block">a</div><div class="tabbed-block">{}</div></div></div>"""
OLD_TABS = """<div class="tabbed-set" data-tabs="1:2">
<input checked="checked" id="__tabbed_1_1" name="__tabbed_1" type="radio"><label for="__tabbed_1_1">A</label>
<div class="tabbed-content">a</div>
<input id="__tabbed_1_2" name="__tabbed_1" type="radio"><label for="__tabbed_1_2">B</label>
<div class="tabbed-content">{}</div></div>"""
# As https://facelessuser.github.io/pymdown-extensions/extensions/tabbed/ shows the block of the button that is pressed.
STYLES = """<style>.tabbed-block, label + .tabbed-content { display: none }
input:nth-of-type(1):checked ~ .tabbed-content > .tabbed-block:nth-child(1),
input:nth-of-type(2):checked ~ .tabbed-content > .tabbed-block:nth-child(2),
input:checked + label + .tabbed-content { display: block }</style>"""
FOLD = "<details><summary>More</summary>{}</details>"
AROUND = {"tab": TABBED, "old tab": OLD_TABS, "fold": FOLD, "fold in a tab": TABBED.replace("{}", FOLD)}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("link", ["#t", "#t--row-2", "?view=t.2d.", "?view=t.2d.#t"])
def test_a_link_opens_the_tab_and_the_fold_that_it_leads_into(around: str, link: str, page: Page) -> None:
    rows = [{"k": f"row {at}", "v": at} for at in range(4)]
    figure = figure_html(table("k", "v", id="t"), rows)
    html = f"<!doctype html>{STYLES}{AROUND[around].replace('{}', figure)}{inline_assets()}"
    page.route("https://site.example/*", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(f"https://site.example/{link}")
    page.locator("figure#t tbody tr").first.wait_for(state="visible")
    page.goto(f"https://site.example/{'' if '#' in link else link}")
    if "#" in link:
        assert not page.locator("figure#t").is_visible()
        page.evaluate("(link) => { location.hash = link }", link.partition("#")[2])
    page.locator("figure#t tbody tr").first.wait_for(state="visible")
