"""Stacks: each value begins where the one below it ends, sums are right or not said, and nothing is added up that is not
one amount."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.directives.specs import ColumnFormat
from mongo_tables.render.charts.drawing import chart_html
from mongo_tables.render.charts.elements import NARROW, WIDTH, Box, dress_part
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.charts.plot import Plot
from tests.render.test_charts import dots, narrow, plot, svg, texts
from tests.render.test_horizontal_charts import texts as texts_of

ROWS: list[dict[str, Any]] = [
    {"n": "one", "p": "data", "v": 30, "t": 1},
    {"n": "one", "p": "indexes", "v": 10, "t": 1},
    {"n": "two", "p": "data", "v": 20, "t": 2},
    {"n": "two", "p": "indexes", "v": 40, "t": 2},
]
BOTH_WAYS: list[dict[str, Any]] = [
    {"n": "one", "p": "up", "v": 3},
    {"n": "one", "p": "down", "v": -2},
    {"n": "one", "p": "up too", "v": 1},
    {"n": "one", "p": "down too", "v": -4},
]
CALLED = {
    "ratio": 0.5,
    "low": 0.4,
    "high": 0.6,
    "blocks": 9,
    "margin": 0.1,
    "against": "x",
    "verdict": "slower",
}


def stack(x: str = "n", mark: str = "bar", **keys: Any) -> Plot:
    return plot(x, "v", **{"mark": mark, "stack": True, "series": "p", **keys})


def bars(drawn: ElementTree.Element) -> list[dict[str, float]]:
    """The sides of each part, in the order in which they are drawn: series by series."""
    found = [each for group in drawn.findall("g") for each in group.findall("rect")]
    return [{side: float(each.get(side) or 0) for side in ("x", "y", "width", "height")} for each in found]


def values(drawn: ElementTree.Element) -> list[str]:
    return texts_of(drawn, "mongo-chart__value")


def told(drawn: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in drawn.iter("title")]


def faults(asked: Plot, rows: list[dict[str, Any]]) -> list[str]:
    return [message for _, message, _ in plot_faults(asked, rows)]


def test_each_part_of_a_bar_begins_where_the_one_below_it_ends() -> None:
    data_one, data_two, indexes_one, indexes_two = bars(svg(stack(), ROWS))
    for below, above in ((data_one, indexes_one), (data_two, indexes_two)):
        assert above["x"] == below["x"]
        assert above["y"] + above["height"] == pytest.approx(below["y"], abs=0.11)
    assert data_one["height"] == pytest.approx(3 * indexes_one["height"], abs=0.3)
    assert data_one["y"] + data_one["height"] == pytest.approx(data_two["y"] + data_two["height"], abs=0.11)


def test_what_is_below_zero_stands_below_it() -> None:
    up, down, up_too, down_too = bars(svg(stack(), BOTH_WAYS))
    zero = up["y"] + up["height"]
    assert up_too["y"] + up_too["height"] == pytest.approx(up["y"], abs=0.11)
    assert down["y"] == pytest.approx(zero, abs=0.11)
    assert down_too["y"] == pytest.approx(down["y"] + down["height"], abs=0.11)
    assert values(svg(stack(), BOTH_WAYS)) == [], "what goes both ways comes to nothing that could be seen"


def test_horizontal_parts_stand_side_by_side_in_one_row_with_their_sum_at_its_end() -> None:
    drawn = svg(stack(horizontal=True), ROWS)
    data_one, indexes_one, *_ = bars(drawn)
    assert indexes_one["y"] == data_one["y"]
    assert indexes_one["x"] == pytest.approx(data_one["x"] + data_one["width"], abs=0.11)
    assert values(drawn) == ["40", "60"]
    assert "Horizontal stacked bar chart of v by n" in (drawn.findtext("desc") or "")


def test_a_sum_stands_above_its_bar_and_is_told_with_each_part() -> None:
    drawn = svg(stack(format={"v": ColumnFormat(unit="GiB")}), ROWS)
    assert values(drawn) == ["40", "60"]
    assert told(drawn)[0] == "n one: 30 GiB, 40 in all – data"


def test_a_sum_has_no_noise_of_doubles() -> None:
    rows = [{"n": "one", "p": part, "v": value} for part, value in (("a", 0.1), ("b", 0.2))]
    assert values(svg(stack(), rows)) == ["0.3"]


def test_no_sum_is_said_where_a_part_is_not_known() -> None:
    rows = [*ROWS, {"n": "one", "p": "journal", "v": None}, {"n": "two", "p": "journal", "v": 5}]
    drawn = svg(stack(), rows)
    assert values(drawn) == ["65"]
    assert faults(stack(), rows) == []


def test_a_part_that_no_row_has_leaves_the_others_on_one_another() -> None:
    rows = [row for row in ROWS if row != ROWS[2]]
    _, indexes_one, indexes_two = bars(svg(stack(), rows))
    assert indexes_two["height"] == pytest.approx(4 * indexes_one["height"], abs=0.4)
    assert values(svg(stack(), rows)) == ["40", "40"]
    assert faults(stack(), rows) == []


def test_the_range_of_a_part_is_told_and_not_drawn_where_it_would_look_like_that_of_a_sum() -> None:
    rows = [{**row, "low": row["v"] - 1, "high": row["v"] + 1} for row in ROWS]
    drawn = svg(stack(spread={"v": ("low", "high")}), rows)
    assert not [each for each in drawn.iter("path") if each.get("class") == "mongo-chart__range"]
    assert told(drawn)[0] == "n one: 30 (29–31), 40 in all – data"
    assert "with ranges" not in (drawn.findtext("desc") or "")


def fills(drawn: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """The corners of each area."""
    found = (each.get("d") or "" for each in drawn.iter("path") if each.get("class") == "mongo-chart__fill")
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in found]


def test_the_lower_edge_of_an_area_is_the_line_of_the_one_below_it() -> None:
    data, indexes = fills(svg(stack("t", "area"), ROWS))
    assert indexes[2:] == data[1::-1]
    assert {y for _, y in data[2:]} == {data[-1][1]}, "the first stands on zero"


def test_an_area_has_a_gap_where_what_it_stands_on_is_not_known() -> None:
    rows = [{"t": t, "p": p, "v": None if (t, p) == (3, "a") else t} for t in range(1, 6) for p in "abc"]
    drawn = svg(stack("t", "area"), rows)
    assert [len(each) for each in fills(drawn)] == [4] * 6
    assert len(dots(drawn)) == 12
    assert faults(stack("t", "area"), rows) == []


def test_names_stand_at_the_middle_of_their_parts() -> None:
    for asked in (stack(), stack("t", "area")):
        drawn = svg(asked, ROWS)
        labels = [each for each in drawn.iter("text") if "label" in (each.get("class") or "")]
        assert ["".join(each.itertext()) for each in labels] == ["data", "indexes"]
        heights = [float(each.get("y") or 0) for each in labels]
        grid = sorted(
            float(each.get("y") or 0) for each in drawn.iter("text") if each.get("text-anchor") == "end"
        )
        zero, sixty = grid[-1], grid[0]
        assert heights == pytest.approx([zero - (zero - sixty) / 6, zero - (zero - sixty) * 4 / 6], abs=0.3)


def test_on_a_phone_long_names_of_parts_are_whole_in_the_key() -> None:
    long = "indexes of all collections and their histories"
    rows = [{**row, "p": long if row["p"] == "indexes" else row["p"]} for row in ROWS]
    assert long in texts(narrow(stack(), rows))


@pytest.mark.parametrize(
    ("asked", "rows", "said"),
    [
        (stack(mark="line"), ROWS, "a line does not start at the axis"),
        (stack(mark="dot"), ROWS, "a dot does not start at the axis"),
        (stack(log="y"), ROWS, "equal lengths are not equal amounts"),
        (stack("t", "area", log="y"), ROWS, "an area begins at zero, but a logarithmic axis has no zero"),
        (stack("t", "area", stack=False), ROWS, "areas of several series would hide one another"),
        (stack(), [{"n": "a", "p": "q", "v": CALLED}], "ratios do not add up"),
        (stack("n", "area"), BOTH_WAYS, "above and below zero"),
        (stack("t", "area"), ROWS[1:], "data has no row at 1, so the areas above it have no base there"),
        (stack(), [{"n": "a", "p": f"part {number}", "v": 1} for number in range(13)], "13 series"),
        (
            plot("n", "v", "t", mark="bar", stack=True, format={"v": ColumnFormat(unit="ms"), "t": ColumnFormat(unit="%")}),
            ROWS[::2],
            "ms and % do not add up",
        ),
    ],
)  # fmt: skip
def test_what_does_not_add_up_is_told(asked: Plot, rows: list[dict[str, Any]], said: str) -> None:
    assert any(said in message for message in faults(asked, rows))
    assert "<svg" in chart_html(asked, rows)


def test_sound_stacks_have_no_fault() -> None:
    assert faults(stack(), ROWS) == faults(stack("t", "area"), ROWS) == []
    assert faults(stack("t", "area", stack=False, series=None), ROWS[::2]) == []


@pytest.mark.parametrize("keys", [{}, {"horizontal": True}, {"mark": "area"}], ids=str)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"n": st.sampled_from([1, 2, 3, "x"]), "p": st.sampled_from("abc")},
            optional={"v": st.one_of(st.integers(), st.floats(), st.none(), st.text(max_size=2))},
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["", "y"]),
)
def test_any_rows_give_the_same_drawing_within_its_frame(
    keys: dict[str, Any], rows: list[dict[str, Any]], log: str
) -> None:
    asked = stack(**keys, log=log)
    assert chart_html(asked, rows) == chart_html(asked, rows)
    for width, drawn in ((WIDTH, svg(asked, rows)), (NARROW, narrow(asked, rows))):
        places = " ".join(each.get(name) or "" for each in drawn.iter() for name in ("d", "x", "y", "width"))
        assert not re.search("nan|inf", places)
        for bar in bars(drawn):
            assert -0.1 <= bar["x"] <= bar["x"] + bar["width"] <= width + 0.1
    plot_faults(asked, rows)


def test_a_number_in_a_part_with_stripes_is_on_plain_ground() -> None:
    plain, striped = ("".join(dress_part(index, "8.6", Box(0, 0, 60, 14))) for index in (0, 1))
    assert "mongo-chart__ground" not in plain
    assert (
        striped.index("mongo-chart__stripes") < striped.index("mongo-chart__ground") < striped.index(">8.6<")
    )
