"""What a point of a chart, a header or a small picture tells: by mouse, by touch and by keyboard alike, and once."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from mongo_tables.hosts.published_files import inline_assets
from mongo_tables.render.conclusions import Conclusion, interval_picture
from mongo_tables.render.html import figure_html
from tests.browser.test_accessibility import AXE, broken
from tests.render.specs import chart, table

TIP: Final = ".mongo-tip"
ROWS: Final = [{"t": t, "a": t * 100, "low": t * 90, "high": t * 120, "runs": 5} for t in (1, 2, 3, 4)]
MEANING: Final = "Documents that were inserted in a second"
PAGE: Final = (
    '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title><main>'
)


def told(number: int) -> str:
    return f"t {number}: {number}00 ({number * 90}–{number * 120}), 5 repeats – a"


def drawn(**keys: Any) -> str:
    return figure_html(chart("t", "a", id="c", spread={"a": ["low", "high", "runs"]}, **keys), ROWS)


def explained(rows: int = 4) -> str:
    return figure_html(table("t", "a", id="t"), ROWS[:rows], meanings={"a": MEANING})


def picture() -> str:
    one = Conclusion(
        Decimal("0.5"), (Decimal("0.45"), Decimal("0.56")), 20, Decimal("0.1"), "reference", "slower"
    )
    return f"<p>half&nbsp;{interval_picture(one)}</p>"


def opened(page: Page, *parts: str) -> None:
    page.goto("about:blank")
    page.set_content(PAGE + "".join(parts) + inline_assets())


def points(page: Page) -> Locator:
    return page.locator("svg:visible > g > .mongo-chart__area")


@pytest.fixture
def hand(browser: Browser) -> Iterator[Page]:
    """A page on a phone."""
    settings = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with browser.new_context(**settings) as context:
        yield context.new_page()


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"mark": "bar"},
        {"mark": "dot"},
        {"mark": "area"},
        {"mark": "bar", "stack": True},
        {"mark": "bar", "horizontal": True},
        {"mark": "bar", "horizontal": True, "stack": True},
    ],
    ids=str,
)
def test_resting_on_a_point_tells_it_with_its_range_and_its_repeats(keys: dict[str, Any], page: Page) -> None:
    opened(page, drawn(**keys))
    points(page).nth(2).hover()
    expect(page.locator(TIP)).to_have_text(told(3))
    page.mouse.move(2, 2)
    expect(page.locator(TIP)).to_be_hidden()


def test_there_is_no_second_tip_beside_it(page: Page) -> None:
    opened(page, drawn(), explained(), picture())
    assert page.locator("svg title").count() == 4, "without the script titles tell the same"
    points(page).first.hover()
    assert page.locator("svg title").count() == 0
    for named in (page.locator("th abbr"), page.locator(".mongo-drawn")):
        title = named.get_attribute("title")
        named.hover()
        expect(page.locator(TIP)).to_have_text(title or "")
        assert named.get_attribute("title") is None
        page.mouse.move(2, 2)
        assert named.get_attribute("title") == title


def test_a_tip_stays_while_the_pointer_goes_onto_it_and_escape_closes_it(page: Page) -> None:
    opened(page, explained())
    page.locator("th abbr").hover()
    page.locator(TIP).hover()
    expect(page.locator(TIP)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(TIP)).to_be_hidden()


def test_a_chart_is_one_stop_of_the_keyboard_and_arrows_go_from_point_to_point(page: Page) -> None:
    opened(page, drawn())
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.locator(".mongo-chart").focus()
    tip = page.locator(TIP)
    expect(tip).to_contain_text(told(1))
    expect(tip).to_contain_text("Arrow keys")
    assert page.locator(".mongo-chart").get_attribute("aria-describedby") == "mongo-tip"
    for key, number in (("ArrowRight", 2), ("ArrowDown", 3), ("ArrowLeft", 2), ("End", 4), ("Home", 1)):
        page.keyboard.press(key)
        expect(tip).to_have_text(told(number))
        assert page.locator("svg:visible .mongo-chart__here").count() == 1
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(tip).to_have_text(told(1))
    page.keyboard.press("Tab")
    expect(tip).to_be_hidden()
    assert page.locator(".mongo-chart :focus").count() == 0, "points are no stops of their own"


PANELS: Final = [{**row, "m": m} for m in ("first", "second") for row in ROWS[:2]]


def in_panels(**keys: Any) -> str:
    return figure_html(
        chart("t", "a", id="c", facets="m", reference=[{"from": 100, "to": 150}], **keys), PANELS
    )


def test_arrows_go_from_panel_to_panel_and_each_point_says_in_which_it_is(page: Page, hand: Page) -> None:
    for one in (page, hand):
        opened(one, in_panels())
        one.locator(".mongo-chart").focus()
        tip = one.locator(TIP)
        for number, panel in ((2, "first"), (1, "second"), (2, "second")):
            one.keyboard.press("ArrowRight")
            expect(tip).to_have_text(f"t {number}: {number}00 – a – {panel}")
        assert one.locator("svg:visible .mongo-chart__here").count() == 1
        box = one.locator("svg:visible g .mongo-chart__area").nth(3).bounding_box()
        here = tip.bounding_box()
        assert box and here and here["x"] < box["x"] + 4 < here["x"] + here["width"]
    assert page.get_by_role("img").count() == 1


@pytest.mark.parametrize("mark", ["bar", "area", "line"])
def test_resting_on_a_point_of_any_panel_tells_it(mark: str, page: Page) -> None:
    opened(page, in_panels(mark=mark))
    page.locator("svg:visible g .mongo-chart__area").last.hover()
    expect(page.locator(TIP)).to_have_text("t 2: 200 – a – second")


def test_a_marker_that_waited_is_seen_while_its_point_is_told(page: Page) -> None:
    opened(page, figure_html(chart("t", "a"), [{"t": t, "a": t % 7} for t in range(200)]))
    page.locator(".mongo-chart").focus()
    seen = page.locator("svg:visible .mongo-chart__area").evaluate_all(
        "all => all.filter((one) => getComputedStyle(one).opacity === '1').length"
    )
    assert seen == 1


def test_a_tap_near_a_point_tells_it_and_a_tap_elsewhere_closes_it(hand: Page) -> None:
    opened(hand, drawn(), "<p>elsewhere</p>")
    box = points(hand).nth(1).bounding_box()
    assert box
    hand.touchscreen.tap(box["x"] + 14, box["y"] + 10)
    expect(hand.locator(TIP)).to_have_text(told(2))
    tip = hand.locator(TIP).bounding_box()
    assert tip and tip["x"] >= 0 and tip["x"] + tip["width"] <= 390
    hand.locator("p", has_text="elsewhere").tap()
    expect(hand.locator(TIP)).to_be_hidden()


def test_a_tap_on_a_header_sorts_and_tells_what_it_means(hand: Page) -> None:
    opened(hand, explained())
    hand.get_by_role("button", name="a", exact=True).tap()
    expect(hand.locator(TIP)).to_have_text(MEANING)
    assert hand.locator("th[aria-sort=descending]").inner_text() == "a"


def test_a_header_tells_what_it_means_to_the_keyboard(page: Page) -> None:
    opened(page, explained())
    for _ in range(3):
        page.keyboard.press("Tab")
    button = page.get_by_role("button", name="a", exact=True)
    expect(page.locator(TIP)).to_have_text(MEANING)
    assert button.get_attribute("aria-describedby") == "mongo-tip"
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=descending]").inner_text() == "a"


def test_a_header_of_a_table_that_is_too_short_to_sort_is_reached_too(page: Page) -> None:
    opened(page, explained(rows=2), picture())
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(TIP)).to_have_text(MEANING)
    assert page.locator("button").count() == 0


def test_a_small_picture_is_reached_by_keyboard_and_finger(page: Page, hand: Page) -> None:
    for one in (page, hand):
        opened(one, picture())
    page.keyboard.press("Tab")
    hand.locator(".mongo-drawn").tap()
    for one in (page, hand):
        expect(one.locator(TIP)).to_have_text("2.0 times slower (1.8 to 2.2 times), 20 blocks")
    assert page.get_by_role("img", name="2.0 times slower (1.8 to 2.2 times), 20 blocks").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_open_tip_breaks_no_rule_of_accessibility(scheme: Any, page: Page) -> None:
    page.emulate_media(color_scheme=scheme)
    opened(
        page,
        "<style>:root { color-scheme: light dark; background: Canvas }</style><h1>x</h1>",
        drawn(),
        explained(),
        picture(),
    )
    page.evaluate(AXE)
    for one in (points(page).first, page.locator("th abbr"), page.locator(".mongo-drawn")):
        one.hover()
        expect(page.locator(TIP)).to_be_visible()
        assert broken(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "keys",
    [{"mark": "bar", "stack": True}, {"mark": "bar", "stack": True, "horizontal": True}, {"mark": "area", "stack": True}],
    ids=str,
)  # fmt: skip
def test_stacks_and_panels_break_no_rule_of_accessibility(
    keys: dict[str, Any], scheme: Any, page: Page
) -> None:
    page.emulate_media(color_scheme=scheme)
    reference = [{"value": 150, "label": "asked for"}, {"from": 10, "to": 50, "label": "target"}]
    rows = [{"t": t, "p": p, "m": m, "a": 40 * t} for t in (1, 2) for p in "abcd" for m in (1, 2)]
    whole = figure_html(chart("t", "a", series="p", reference=reference, **keys), rows[::2])
    panels = figure_html(chart("t", "a", series="p", facets="m", reference=reference, **keys), rows)
    root = "<style>:root { color-scheme: light dark; background: Canvas }</style><h1>x</h1>"
    opened(page, root, whole, panels)
    page.evaluate(AXE)
    assert broken(page) == []
    assert page.get_by_role("img").count() == 2


def test_hostile_texts_of_a_tip_are_text(page: Page) -> None:
    opened(page, figure_html(chart("t", "a"), [{"t": "<img src=x onerror=alert(1)>", "a": 1}]))
    points(page).first.hover()
    expect(page.locator(TIP)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator(f"{TIP} *").count() == 0
