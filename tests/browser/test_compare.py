"""Two rows side by side have the ratio, the interval and the differences that the program finds in their documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from mongo_tables.results.conclusions import block_speeds, find_interval, pair_blocks
from mongo_tables.results.conditions import list_differences
from mongo_tables.results.intervals import RANKS_FROM
from tests.browser.browsing import ROOT, Served

PAGE = "compare/"
SELECTS = "#compare-form select"
SHOWN = """() => ({
    figures: { ...document.querySelector("#compare-form [data-ratio]")?.dataset },
    why: [...document.querySelectorAll("#compare-form > div > p")].at(-1).textContent,
    fields: [...[...document.querySelectorAll("#compare-form .compare-answer")].at(-1).querySelectorAll("tbody tr")]
        .map((row) => [row.querySelector("span").title, ...[...row.cells].map((cell) => cell.innerText)]),
})"""
CHOOSE = """([one, other]) => {
    const [experiment, first, second] = document.querySelectorAll("#compare-form select");
    experiment.value = one.split("/")[0].replace(/_control$/, "");
    experiment.dispatchEvent(new Event("change", { bubbles: true }));
    [first.value, second.value] = [one, other];
    second.dispatchEvent(new Event("change", { bubbles: true }));
}"""


@pytest.fixture(scope="module")
def choices(site: Served) -> list[tuple[str, dict[str, Any]]]:
    """The key of each row to choose, and its document: both are in the order of the table."""
    rows = json.loads((site.folder / "rows/compare.compare-rows.json").read_text("utf-8"))["rows"]
    lines = (
        line
        for path in sorted((ROOT / "fixtures/results").glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    )
    documents = [one for one in map(json.loads, lines) if "comparison" in one and one.get("campaign")]
    documents.sort(key=lambda one: (one["_id"]["testname"], one["experiment"]["in_turn"]))
    assert [one["experiment"] for one in rows] == [one["_id"]["testname"] for one in documents]
    assert len({one["key"] for one in rows}) == len(rows)
    return [(row["key"], document) for row, document in zip(rows, documents, strict=True)]


def pairs_of(choices: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[Any, Any]]:
    """The first row of each experiment and the last one."""
    for _, some in groupby(choices, lambda one: one[1]["_id"]["testname"]):
        rows = list(some)
        yield rows[0], rows[-1]


def show(page: Page, one: str, other: str) -> dict[str, Any]:
    page.evaluate(CHOOSE, [one, other])
    return read(page)


def follow(page: Page, one: str, other: str) -> dict[str, Any]:
    """Open the page with an address that names two rows, which may be of two experiments."""
    page.goto(f"{page.url.partition('?')[0]}?{urlencode({'one': one, 'other': other})}")
    expect(page.locator(SELECTS)).to_have_count(3)
    return read(page)


def read(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(SHOWN)
    return found


@pytest.fixture
def opened(site: Served, page: Page) -> Page:
    page.goto(f"{site.url}{PAGE}")
    expect(page.locator(SELECTS)).to_have_count(3)
    return page


def test_a_pair_has_the_interval_of_the_program(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    counts = set()
    for (one, row), (other, reference) in pairs_of(choices):
        shown = show(opened, one, other)
        pairs = pair_blocks(row, reference)
        found = find_interval(pairs)
        assert found is not None
        counts.add(found.blocks)
        figures = {name: float(value) for name, value in shown["figures"].items()}
        expected = {name: getattr(found, name) for name in ("ratio", "low", "high")}
        assert figures == pytest.approx(expected, rel=1e-9), (one, other)
        assert (
            f"Paired: both rows were measured in {found.blocks} blocks of campaign {row['campaign']['id']}"
            in shown["why"]
        )
    assert min(counts) < RANKS_FROM <= max(counts) or len(counts) > 2


def test_what_differs_is_what_the_program_lists(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    (one, first), (other, second) = choices[0], choices[-1]
    assert first["campaign"]["id"] == second["campaign"]["id"] or first["_id"] != second["_id"]
    shown = follow(opened, one, other)
    listed = [name for name, *_ in shown["fields"]]
    for field, _ in list_differences(first, second):
        assert any(each == field or each.startswith(f"{field}.") for each in listed), field


def test_what_a_window_did_is_not_called_asked(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    """Rows that were to insert the same amount differ in what their windows inserted, not in what was asked."""
    keys = [key for key, _ in choices if key.startswith("insert_nindexes/")]
    one, other = keys[-1], keys[0]
    shown = {name: values for name, *values in show(opened, one, other)["fields"]}
    assert {name for name in shown if name.startswith("asked.")} == {"asked.nSecondaryIndexes"}
    assert {"window.inserted", "window.milliseconds"} <= shown.keys()
    said = opened.locator("#compare-form > div > p").first.inner_text()
    assert ("based on few requests): " in said) == ("window.few_requests" in shown)


def test_an_address_may_name_an_experiment(opened: Page) -> None:
    opened.goto(f"{opened.url}?experiment=insert_nindexes")
    expect(opened.locator('select[name="experiment"]')).to_have_value("insert_nindexes")


def test_rows_of_two_experiments_have_their_speeds_and_no_ratio(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    (one, row), (other, reference) = choices[0], choices[-1]
    shown = follow(opened, one, other)
    assert (shown["figures"], shown["why"].partition(":")[0]) == ({}, "Not compared")
    assert opened.locator("#compare-form strong").count() == 0
    said = opened.locator("#compare-form > div > p").first.inner_text()
    speeds = [float(text.replace(",", "")) for text in re.findall(r"([\d,.]+) operations/s", said)]
    assert speeds == pytest.approx([each["speed"]["median"] for each in (row, reference)], rel=0.005)
    assert show(opened, one, one)["why"] == "You chose the same row twice."


def test_three_clicks_compare_any_two_rows_of_an_experiment(opened: Page) -> None:
    for name, value in (
        ("experiment", "insert_nindexes"),
        ("one", "insert_nindexes/4 secondary indexes"),
        ("other", "insert_nindexes/1 secondary index"),
    ):
        opened.locator(f'select[name="{name}"] option[value="{value}"]').click()
        expect(opened.locator("#compare-form [data-ratio]")).to_have_count(1)
    assert opened.url.endswith(
        "?"
        + urlencode(
            {"one": "insert_nindexes/4 secondary indexes", "other": "insert_nindexes/1 secondary index"}
        )
    )
    assert "4 secondary indexes" in opened.locator("#compare-form > div > p").first.inner_text()


def test_rows_of_a_control_are_called_controls_and_belong_to_their_experiment(opened: Page) -> None:
    experiments = opened.locator('select[name="experiment"] option')
    assert not [text for text in experiments.all_inner_texts() if "everything in the cache" in text]
    experiments.and_(opened.locator('[value="insert_idtype"]')).click()
    groups = opened.locator('select[name="one"] optgroup')
    assert groups.count() == 2
    assert str(groups.last.get_attribute("label")).startswith("Control: ")
    named = [str(text).endswith(" (control)") for text in groups.locator("option").all_text_contents()]
    assert named == [False] * 3 + [True] * 3


def test_an_experiment_opens_with_its_last_variant_and_its_reference(opened: Page) -> None:
    opened.locator('select[name="experiment"] option[value="insert_idtype"]').click()
    chosen = [opened.locator(f'select[name="{name}"]').input_value() for name in ("one", "other")]
    assert chosen == ["insert_idtype/random UUIDs", "insert_idtype/ObjectIds"]


def test_a_row_and_its_control_have_a_ratio_that_does_not_stand_out(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    keys = dict(choices)
    one, other = "insert_idtype/random UUIDs", "insert_idtype_control/random UUIDs"
    shown = show(opened, one, other)
    assert shown["why"].startswith("Not paired")
    ratio = keys[one]["speed"]["median"] / keys[other]["speed"]["median"]
    assert {name: float(value) for name, value in shown["figures"].items()} == {"ratio": pytest.approx(ratio)}
    assert opened.locator("#compare-form strong").count() == 0


def test_fields_have_words_that_stay_whole_and_no_amount_is_a_fraction_of_a_document(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    reference = next(key for key, _ in choices if key.startswith("memory_disk/"))
    fields = follow(opened, "insert_docsize/documents of 2048 KiB", reference)["fields"]
    shown = {name: values for name, *values in fields}
    assert shown["asked.numberOfThreads"][0] == "asked: number of threads"
    assert shown["window.inserted"][:2] == ["window: inserted", "78"]
    assert shown["asked.readproportion"][0] == "asked: read proportion"
    assert not any(re.search("[._][a-z]|[a-z][A-Z]", label) for label, *_ in shown.values())
    cells = opened.locator("#compare-form .compare-answer").last.locator("tbody th")
    assert cells.evaluate_all(
        "(cells) => cells.every((cell) => getComputedStyle(cell).overflowWrap !== 'anywhere')"
    )


def test_no_figure_of_one_campaign_stands_out_where_another_campaign_disagrees(
    opened: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    seen = set()
    for (one, row), (other, reference) in pairs_of(choices):
        figures = show(opened, one, other)["figures"]
        low, high = float(figures["low"]), float(figures["high"])
        each, others = (
            {run["id"]: run for run in document["campaigns"]["each"]} for document in (row, reference)
        )
        ratios = [
            run["ratio"] / (1 if reference["campaigns"]["against"] == "itself" else others[name]["ratio"])
            for name, run in each.items()
        ]
        if row["campaigns"]["against"] == "itself":
            ratios = [1 / others[name]["ratio"] for name in each]
        open_ended = low <= 1 <= high or min(ratios) < 1 < max(ratios)
        apart = min(ratios) < low or max(ratios) > high
        shown = opened.locator("#compare-form [data-ratio] strong").inner_text()
        seen.add(kind := "open" if open_ended else "apart" if apart else "told")
        assert (shown == "Not known", ", by campaign" in shown) == (kind == "open", kind == "apart"), one
    assert seen == {"open", "apart", "told"}


def test_ranks_are_used_from_as_many_blocks_on_as_in_the_program(
    fresh: Page, site: Served, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    """Two rows of the page are given more blocks than the runs of today have."""
    (one, row), (other, reference) = next(pairs_of(choices))
    for document, factor in ((row, 1.0), (reference, 1.1)):
        speeds = list(block_speeds(document).values())
        document["repeats"] = [
            {
                "block": block,
                "operations_per_second": factor * speeds[block % len(speeds)] * (1 + block**2 / 999),
            }
            for block in range(RANKS_FROM + 3)
        ]

    def answer(route: Any) -> None:
        body = json.loads((site.folder / "rows/compare.compare-rows.json").read_text("utf-8"))
        for each in body["rows"]:
            document = {one: row, other: reference}.get(each["key"])
            if document:
                each["windows"] = [
                    {"block": window["block"], "speed": window["operations_per_second"]}
                    for window in document["repeats"]
                ]
        route.fulfill(json=body)

    fresh.route("**/compare.compare-rows.json", answer)
    fresh.goto(f"{site.url}{PAGE}")
    expect(fresh.locator(SELECTS)).to_have_count(3)
    figures = show(fresh, one, other)["figures"]
    found = find_interval(pair_blocks(row, reference))
    assert found is not None
    expected = {name: getattr(found, name) for name in ("ratio", "low", "high")}
    assert {name: float(value) for name, value in figures.items()} == pytest.approx(expected, rel=1e-9)


def test_the_answer_fits_on_a_phone_and_names_its_rows(
    site: Served, phone: Page, choices: list[tuple[str, dict[str, Any]]]
) -> None:
    phone.goto(f"{site.url}{PAGE}")
    expect(phone.locator(SELECTS)).to_have_count(3)
    control = ("insert_idtype/random UUIDs", "insert_idtype_control/random UUIDs")
    beyond = {}
    for one, other in [*((one, other) for (one, _), (other, _) in pairs_of(choices)), control]:
        show(phone, one, other)
        answers = phone.locator("#compare-form .compare-answer")
        beyond[one, other] = answers.evaluate_all(
            "(all) => Math.max(...all.map((box) => box.scrollWidth - box.clientWidth))"
        )
        assert answers.locator("tbody tr > :first-child:not(th[scope=row])").count() == 0
    assert {pair: pixels for pair, pixels in beyond.items() if pixels > 0} == {}


def test_the_choice_is_in_the_address_and_examples_are_rows_that_there_are(site: Served, page: Page) -> None:
    page.goto(f"{site.url}{PAGE}")
    for number in range(page.locator("article a[href^='?one=']").count()):
        page.locator("article a[href^='?one=']").nth(number).click()
        expect(page.locator("#compare-form [data-ratio]")).to_have_count(1)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("#compare-form [data-ratio]")).to_have_count(1)


def test_without_the_script_the_page_says_what_it_takes_and_leads_to_the_rows(
    site: Served, browser: Browser
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.url}{PAGE}")
        said = page.locator("#compare-form")
        expect(said).to_contain_text("The form needs JavaScript")
        assert said.locator("a").first.get_attribute("href") == "#compare-rows"
        assert page.locator("#compare-rows tbody tr").count() > 100
