"""Areas: the ground below a line down to zero, broken where nothing was measured, with its range as a band."""

from __future__ import annotations

import itertools
import re
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from mongo_tables.render.charts.faults import plot_faults
from tests.render.test_charts import dots, plot, svg, texts
from tests.render.test_stack import fills

ROWS: list[dict[str, Any]] = [
    {"t": t, "v": v, "low": v - 5, "high": v + 9} for t, v in ((1, 20), (2, 30), (4, 40))
]


def test_an_area_reaches_from_its_line_to_zero() -> None:
    drawn = svg(plot("t", "v", mark="area"), ROWS)
    (corners,) = fills(drawn)
    assert corners[:3] == dots(drawn)
    grid = {
        text: float(each.get("y") or 0) for each, text in zip(drawn.iter("text"), texts(drawn), strict=True)
    }
    assert {y for _, y in corners[3:]} == {grid["0"]}
    assert (drawn.findtext("desc") or "").startswith("Area chart of v by t")


def test_an_area_below_zero_hangs_from_it() -> None:
    drawn = svg(plot("t", "v", mark="area"), [{"t": 1, "v": -3}, {"t": 2, "v": -4}])
    (corners,) = fills(drawn)
    assert max(y for _, y in corners[2:]) < min(y for _, y in corners[:2])


def test_the_range_of_an_area_is_a_band_around_its_line() -> None:
    drawn = svg(plot("t", "v", mark="area", spread={"v": ("low", "high")}), ROWS)
    (band,) = bands(drawn)
    line = dots(drawn)
    assert [x for x, _ in band] == [x for x, _ in line] + [x for x, _ in reversed(line)]
    assert all(
        high < y < low for (_, high), (_, y), (_, low) in zip(band, line, reversed(band), strict=False)
    )
    assert "with ranges" in (drawn.findtext("desc") or "")


def test_a_band_ends_where_a_range_is_not_known_and_a_single_one_is_a_line() -> None:
    rows = [{**row, **({"low": None} if row["t"] == 2 else {})} for row in [*ROWS, {**ROWS[0], "t": 5}]]
    drawn = svg(plot("t", "v", mark="area", spread={"v": ("low", "high")}), rows)
    assert [len(each) for each in bands(drawn)] == [4]
    assert len([each for each in drawn.iter("path") if each.get("class") == "mongo-chart__range"]) == 1


def bands(drawn: ElementTree.Element) -> list[list[tuple[float, float]]]:
    found = (each.get("d") or "" for each in drawn.iter("path") if each.get("class") == "mongo-chart__band")
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in found]


def test_a_value_between_two_gaps_is_seen() -> None:
    rows = [{"t": t, "v": v} for t, v in ((1, None), (2, 5), (3, None), (4, 5), (5, 6))]
    drawn = svg(plot("t", "v", mark="area"), rows)
    assert len(fills(drawn)) == 1
    stems = [each.get("d") or "" for each in drawn.iter("path") if each.get("class") == "mongo-chart__line"]
    assert len(stems) == 2


def test_areas_of_dates_stand_on_a_time_axis() -> None:
    rows = [{"t": datetime(2026, 3, 28) + timedelta(hours=number), "v": 5} for number in range(48)]
    drawn = svg(plot("t", "v", mark="area"), rows)
    assert "t (UTC)" in texts(drawn)
    xs = [x for x, _ in dots(drawn)]
    steps = {round(right - left, 1) for left, right in itertools.pairwise(xs)}
    assert max(steps) - min(steps) <= 0.2, "an hour is an hour"


@pytest.mark.parametrize("mark", ["line", "area"])
def test_markers_that_would_touch_wait_to_be_pointed_at(mark: str) -> None:
    rows = [{"t": number, "v": number} for number in range(300)]
    many, few = (svg(plot("t", "v", mark=mark), some) for some in (rows, rows[:30]))
    assert len(dots(many)) == 300
    dense = [
        [each for each in drawn.findall("g") if "mongo-chart__dense" in (each.get("class") or "")]
        for drawn in (many, few)
    ]
    assert (bool(dense[0]), bool(dense[1])) == (True, False)


def test_an_area_over_names_that_series_order_differently_is_told_as_a_line_is() -> None:
    rows = [{"t": t, "v": 1, "s": s} for s, order in (("a", "xy"), ("b", "yx")) for t in order]
    asked = plot("t", "v", mark="area", series="s", stack=True)
    assert any("in the other order" in message for _, message, _ in plot_faults(asked, rows))
