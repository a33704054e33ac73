"""Small multiples: a panel for each value of a column, all on the same axes, and one image to a screen reader."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.directives.specs import Reference
from mongo_tables.render.charts.drawing import chart_html
from mongo_tables.render.charts.elements import NARROW, WIDTH
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.charts.plot import Plot, as_table, plot_of
from mongo_tables.render.pipe_table import pipe_table
from tests.render.specs import chart, table
from tests.render.test_charts import HOSTILE, narrow, plot, svg, texts

ROWS: list[dict[str, Any]] = [
    {"m": m, "t": t, "s": s, "v": k * t}
    for m, k in (("M30", 1), ("M40", 2), ("M50", 9))
    for s in ("a", "b")
    for t in (1, 2, 4)
]
FORMS: list[dict[str, Any]] = [
    {"mark": "line"},
    {"mark": "dot"},
    {"mark": "bar"},
    {"mark": "bar", "stack": True},
    {"mark": "area", "stack": True},
    {"mark": "bar", "horizontal": True},
    {"mark": "bar", "horizontal": True, "stack": True},
]


def asking(x: str = "t", **keys: Any) -> Plot:
    return plot(x, "v", **{"facets": "m", "series": "s", **keys})


def panels(drawn: ElementTree.Element) -> dict[str, tuple[float, float, ElementTree.Element]]:
    """Each panel by its name, with where it stands."""
    found = {}
    for group in drawn.findall("g[@transform]"):
        x, y = map(float, re.findall(r"[\d.]+", group.get("transform") or ""))
        name = " ".join(each.text or "" for each in group.findall("text[@class='mongo-chart__panel']"))
        found[name] = x, y, group
    return found


def shapes(group: ElementTree.Element) -> list[list[float]]:
    """The numbers of each bar or marker of a panel."""
    found = [each for each in group.iter() if each.get("class") == "mongo-chart__area"]
    sides = [
        each.get("d") or " ".join(each.get(side) or "" for side in ("x", "y", "width", "height"))
        for each in found
    ]
    return [list(map(float, re.findall(r"[\d.]+", each))) for each in sides]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_each_value_of_the_column_has_a_panel_with_its_rows(form: dict[str, Any]) -> None:
    drawn = svg(asking(**form), ROWS)
    assert list(panels(drawn)) == ["M30", "M40", "M50"]
    assert [len(shapes(group)) for _, _, group in panels(drawn).values()] == [6, 6, 6]
    assert plot_faults(asking(**form), ROWS) == []


@pytest.mark.parametrize("mark", ["line", "bar"])
def test_equal_values_stand_equally_high_in_all_panels(mark: str) -> None:
    rows = [{**row, "v": 5} for row in ROWS[:-1]] + [{**ROWS[-1], "v": 50}]
    found = panels(svg(asking(mark=mark, series=None, x="t"), [row for row in rows if row["s"] == "b"]))
    first, second, third = (shapes(group) for _, _, group in found.values())
    assert first == second
    assert [one[1] for one in third[:2]] == [one[1] for one in first[:2]]


def test_a_series_has_its_colour_also_where_another_is_not_there() -> None:
    rows = [row for row in ROWS if (row["m"], row["s"]) != ("M40", "a")]
    _, _, group = panels(svg(asking(), rows))["M40"]
    (looks,) = [
        each.get("class") or ""
        for each in group.findall("g")
        if each.findall("path[@class='mongo-chart__area']")
    ]
    assert looks.startswith("mongo-chart__s1 ")


def test_all_panels_share_a_key_and_the_titles_of_the_axes() -> None:
    asked = asking(
        references=(Reference(5, 5, "asked for"),), labels={"t": "Threads", "v": "Speed", "s": "Kind"}
    )
    drawn = svg(asked, ROWS)
    for text in ("a", "b", "asked for", "Threads", "Speed"):
        assert texts(drawn).count(text) == 1, text
    assert len([each for each in drawn.iter("path") if each.get("class") == "mongo-chart__reference"]) == 4


@pytest.mark.parametrize(("count", "expected"), [(2, 2), (3, 3), (4, 2), (7, 3)])
def test_so_many_stand_side_by_side_and_on_a_phone_one(count: int, expected: int) -> None:
    rows = [{"m": m, "t": t, "s": "a", "v": t} for m in range(count) for t in (1, 2)]
    for drawn, wanted in ((svg(asking(), rows), expected), (narrow(asking(), rows), 1)):
        places = [(x, y) for x, y, _ in panels(drawn).values()]
        assert len({x for x, _ in places}) == wanted
        assert len({y for _, y in places}) == -(-count // wanted)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_narrow_drawing_has_the_points_of_the_wide_one_in_their_order(form: dict[str, Any]) -> None:
    wide, small = (svg(asking(**form), ROWS), narrow(asking(**form), ROWS))
    tips = [
        each
        for each in wide.iter()
        if each.get("class") == "mongo-chart__area" and each.find("title") is not None
    ]
    assert len(tips) == 18
    assert [len(shapes(one)) for _, _, one in panels(small).values()] == [6, 6, 6]


def test_a_point_says_in_which_panel_it_is() -> None:
    told = [each.text for each in svg(asking(), ROWS).iter("title")]
    assert told[0] == "t 1: 1 – a – M30"
    assert told[-1] == "t 4: 36 – b – M50"


def test_to_a_screen_reader_they_are_one_image_with_a_name() -> None:
    html = chart_html(asking(name="Speed by machine", labels={"m": "machine"}), ROWS)
    assert html.count('role="img"') == 2, "the wide drawing and the narrow one, of which one is shown"
    assert html.count('aria-label="Speed by machine"') == 3
    assert "Line chart of v by t, 3 panels by machine. M30: a: from 1 at 1 to 4 at 4; b: from" in html


def test_a_table_can_ask_for_them_and_its_names_of_points_are_those_of_panels_too() -> None:
    asked = plot_of(table("m", "t", "v", chart={"x": "t", "y": "v", "facets": "m"}))
    assert asked and asked.facets == "m"
    assert chart("t", "v", facets="m", series="s").drawn.naming_columns == ("m", "t", "s")


def test_in_markdown_the_panel_is_the_first_column() -> None:
    lines = pipe_table(as_table(chart("t", "v", facets="m", labels={"m": "Machine"})), ROWS[:1])
    assert lines == ["| Machine |   t |   v |", "| ------- | --: | --: |", "| M30     |   1 |   1 |"]


def test_the_panels_of_dates_stand_on_one_time_axis() -> None:
    start = datetime(2026, 1, 1)
    rows = [
        {"m": m, "t": start + timedelta(days=d), "s": "a", "v": d}
        for m, some in (("x", (0, 9)), ("y", (3, 6)))
        for d in some
    ]
    first, second = (shapes(group) for _, _, group in panels(svg(asking(), rows)).values())
    (left, right), (between, and_then) = ([one[0] for one in each] for each in (first, second))
    assert (between - left) / (right - left) == pytest.approx(1 / 3, abs=0.01)
    assert (and_then - left) / (right - left) == pytest.approx(2 / 3, abs=0.01)


@pytest.mark.parametrize(
    ("asked", "rows", "said"),
    [
        (asking(facets="t"), ROWS, "`t` is also `x`"),
        (asking(facets="s"), ROWS, "`s` is also `series`"),
        (asking(), [{"m": m, "t": 1, "s": "a", "v": 1} for m in range(25)], "25 panels"),
        (asking(), [*ROWS, ROWS[-1]], "2 rows have the same place"),
        (asking(mark="area"), ROWS, "hide one another"),
    ],
)
def test_panels_that_show_nothing_are_told(asked: Plot, rows: list[dict[str, Any]], said: str) -> None:
    assert any(said in message for _, message, _ in plot_faults(asked, rows))
    assert "<svg" in chart_html(asked, rows)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_long_and_hostile_names_of_panels_are_text_that_stays_in_its_panel(form: dict[str, Any]) -> None:
    names = [HOSTILE, "a name that is much too long for a panel and goes on and on " * 3, "ملف", "🚀" * 40]
    rows = [{**row, "m": name} for name in names for row in ROWS[:6]]
    for width, drawn in ((WIDTH, svg(asking(**form), rows)), (NARROW, narrow(asking(**form), rows))):
        assert {each.tag for each in drawn.iter()} <= {"svg", "title", "desc", "g", "path", "text", "rect"}
        found = panels(drawn)
        assert len(found) == 4
        for x, _, group in found.values():
            for each in group.findall("text[@class='mongo-chart__panel']"):
                text = each.text or ""
                assert x + sum(2 if ord(one) > 0x1F000 else 1 for one in text) * 6.8 <= width


@pytest.mark.parametrize("form", FORMS, ids=str)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"t": st.one_of(st.integers(0, 9), st.none(), st.text(max_size=3))},
            optional={
                "m": st.sampled_from([1, "x", None]),
                "v": st.one_of(st.floats(), st.integers(), st.none()),
            },
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["", "x", "y", "xy"]),
)
def test_any_rows_give_the_same_drawing_of_finite_places(
    form: dict[str, Any], rows: list[dict[str, Any]], log: str
) -> None:
    asked = asking(**form, log=log)
    html = chart_html(asked, rows)
    assert html == chart_html(asked, rows)
    for drawn in (svg(asked, rows), narrow(asked, rows)):
        places = " ".join(
            each.get(name) or "" for each in drawn.iter() for name in ("d", "x", "y", "transform")
        )
        assert not re.search("nan|inf", places)
    plot_faults(asked, rows)


GROUPS: list[dict[str, Any]] = [
    {"suite": f"bench/strings.bench.js > {suite}", "name": name, "v": v}
    for suite, name, v in (
        ("join", "plus", 120_793),
        ("join", "concat", 43_210),
        ("find", "concat", 9),
        ("find", "plus", 4),
    )
]
BARS: dict[str, Any] = {"mark": "bar", "horizontal": True, "facets": "suite"}


def test_a_panel_with_names_of_its_own_has_them_in_the_order_of_its_rows() -> None:
    (own,) = [
        group
        for name, (_, _, group) in panels(svg(plot("name", "v", **BARS), GROUPS)).items()
        if "find" in name
    ]
    shown = texts(own)
    assert shown.index("concat") < shown.index("plus")


def test_names_of_panels_that_take_two_lines_lose_what_they_begin_with() -> None:
    more = [{**row, "suite": row["suite"].replace("find", "sort")} for row in GROUPS[2:]]
    assert set(panels(svg(plot("name", "v", **BARS), [*GROUPS, *more]))) == {"…join", "…find", "…sort"}


def test_bars_of_a_narrow_panel_take_its_width_though_few_marks_fit() -> None:
    drawn = svg(plot("name", "v", **BARS), [*GROUPS, {"suite": "c", "name": "x", "v": 1}])
    group = next(iter(panels(drawn).values()))[2]
    assert "100,000" in texts(group)
    assert "200,000" not in texts(group)


def test_names_above_their_bars_begin_where_the_bars_begin() -> None:
    for _, _, group in panels(svg(plot("name", "v", **BARS), GROUPS)).values():
        grid = float(re.findall(r"M([\d.]+)", ElementTree.tostring(group, "unicode"))[0])
        (names,) = group.findall("g[@class='mongo-chart__names']")
        assert {float(one.get("x") or 0) for one in names} == {grid}
