"""Dates along an axis: to scale, with round marks, and never a wrong order."""

from __future__ import annotations

import itertools
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from bson import json_util
from bson.datetime_ms import DatetimeMS
from hypothesis import given, settings
from hypothesis import strategies as st
from pymongo import MongoClient

from mongo_tables.render.charts.drawing import chart_html
from mongo_tables.render.charts.elements import NARROW, WIDTH
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.html import figure_html
from mongo_tables.results.opening import open_source
from tests.mongod import Mongod
from tests.render.specs import chart
from tests.render.test_charts import dots, narrow, plot, svg, texts

DAY = timedelta(days=1)
TWO_SERIES = [
    {"s": "A", "d": datetime(2020, 1, 1), "v": 1},
    {"s": "A", "d": datetime(2024, 1, 1), "v": 9},
    {"s": "B", "d": datetime(2020, 1, 2), "v": 5},
    {"s": "B", "d": datetime(2024, 1, 1), "v": 6},
]
MARKS = ["line", "bar", "dot"]


def under(rows: list[dict[str, Any]], mark: str = "line", **keys: Any) -> list[str]:
    """The texts under the horizontal axis, line by line of each mark."""
    return [
        "".join(each.itertext())
        for each in svg(plot("d", "v", mark=mark, **keys), rows).iter("text")
        if each.get("text-anchor") == "middle" and each.get("class") is None
    ]


def days(*dates: datetime) -> list[dict[str, Any]]:
    return [{"d": date, "v": number} for number, date in enumerate(dates, 1)]


def faults(rows: list[dict[str, Any]], **keys: Any) -> list[str]:
    return [message for _, message, _ in plot_faults(plot("d", "v", **keys), rows)]


@pytest.mark.parametrize("mark", ["line", "dot"])
def test_dates_stand_to_scale_whatever_the_order_of_the_rows(mark: str) -> None:
    found = dots(svg(plot("d", "v", mark=mark, series="s"), TWO_SERIES))
    (first, low), (last, high), (second, _), (same, _) = found
    assert last == same
    assert low > high
    assert 0 <= second - first <= 0.5  # one day of four years
    assert last - first > 400


def test_the_line_of_a_series_that_rises_rises() -> None:
    for rows in itertools.permutations(TWO_SERIES):
        drawn = svg(plot("d", "v", series="s"), list(rows))
        lines = [each.get("d") or "" for each in drawn.iter("path") if "line" in (each.get("class") or "")]
        for line in lines:
            (x1, y1), (x2, y2) = (map(float, point.split()) for point in line[1:].split("L"))
            assert x2 > x1
            assert y2 < y1


def test_bars_stand_to_scale_as_wide_as_their_smallest_distance() -> None:
    rows = days(datetime(2024, 1, 1), datetime(2024, 1, 3), datetime(2024, 1, 9))
    bars = list(svg(plot("d", "v", mark="bar"), rows).iter("rect"))
    middles = [float(bar.get("x") or 0) + float(bar.get("width") or 0) / 2 for bar in bars]
    assert (middles[2] - middles[1]) / (middles[1] - middles[0]) == pytest.approx(3, abs=0.02)
    assert all(float(bar.get("width") or 0) < middles[1] - middles[0] for bar in bars)


def test_bars_of_several_series_share_the_axis_and_none_covers_another() -> None:
    rows = [{"d": datetime(2024, 1, 1) + DAY * n, "v": 3, "s": s} for s in "ABC" for n in (0, 1, 5, 90)]
    drawn = svg(plot("d", "v", mark="bar", series="s"), rows)
    bars = [each for each in drawn.iter("rect") if each.get("height") != "10"]
    spans = sorted((float(bar.get("x") or 0), float(bar.get("width") or 0)) for bar in bars)
    assert len(spans) == 12
    assert all(width > 0 for _, width in spans)
    assert all(x + width <= following + 0.11 for (x, width), (following, _) in itertools.pairwise(spans))


def test_marks_are_short_and_name_the_larger_unit_where_it_changes() -> None:
    assert under(TWO_SERIES, series="s") == [
        *("Jan", "2020", "Jul", "Jan", "2021", "Jul", "Jan", "2022", "Jul", "Jan", "2023", "Jul", "Jan", "2024"),
    ]  # fmt: skip
    assert under(days(datetime(1824, 5, 31), datetime(2023, 1, 1))) == ["1850", "1900", "1950", "2000"]
    assert under(days(datetime(2024, 12, 28), datetime(2025, 1, 4))) == [
        *("28 Dec", "2024", "29 Dec", "30 Dec", "31 Dec", "1 Jan", "2025", "2 Jan", "3 Jan", "4 Jan"),
    ]  # fmt: skip
    assert under(days(datetime(2024, 12, 31, 18), datetime(2025, 1, 1, 6))) == [
        *("18:00", "31 Dec 2024", "20:00", "22:00", "00:00", "1 Jan 2025", "02:00", "04:00", "06:00"),
    ]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_a_single_date_is_named_in_full(mark: str) -> None:
    assert under(days(datetime(2024, 3, 5)), mark=mark) == ["5 Mar", "2024"]
    assert under(days(datetime(2024, 3, 5, 14, 30)), mark=mark) == ["14:30", "5 Mar 2024"]
    assert under(days(datetime(2024, 3, 5, 14, 30, 1)), mark=mark) == ["14:30:01", "5 Mar 2024"]


def test_two_dates_a_second_apart_are_told_apart() -> None:
    found = under(days(datetime(2024, 3, 5, 14), datetime(2024, 3, 5, 14, 0, 1)))
    assert found[:2] == ["14:00:00.000", "5 Mar 2024"]
    assert found[-1] == "14:00:01.000"


def test_dates_before_1970_stand_where_they_belong() -> None:
    found = dots(svg(plot("d", "v"), days(datetime(1950, 1, 1), datetime(1970, 1, 1), datetime(1990, 1, 1))))
    xs = [x for x, _ in found]
    assert xs[2] - xs[1] == pytest.approx(xs[1] - xs[0], abs=0.2)


def test_utc_is_named_where_times_are_shown() -> None:
    hours = days(datetime(2024, 3, 5), datetime(2024, 3, 5, 12))
    assert "d (UTC)" in texts(svg(plot("d", "v"), hours))
    assert "d" in texts(svg(plot("d", "v"), days(datetime(2024, 3, 5), datetime(2025, 3, 5))))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*days(datetime(2024, 1, 1)), {"d": None, "v": 1}, {"v": 2}], "2 of 3 rows have no `d`"),
        (
            [*days(datetime(2024, 1, 1)), {"d": "2024-01-02", "v": 1}],
            "`d` is a date in 1 of 2 rows, but not in all: another value is 2024-01-02",
        ),
        (
            [*days(datetime(2024, 1, 1)), {"d": DatetimeMS(253_402_300_800_000), "v": 1}],
            "in 1 of 2 rows `d` is not a date in the years 1 to 9999, but Date(253402300800000)",
        ),
        ([{"d": DatetimeMS(-(10**15)), "v": 1}], "in 1 of 1 rows `d` is not a date in the years 1 to 9999"),
        ([{"d": 1, "v": datetime(2024, 1, 1)}], "`v` has dates, which can only be on the horizontal axis"),
        ([{"d": 1, "v": 2}, {"d": 2, "v": float("nan")}], "1 of 2 rows have NaN in `v`"),
        ([{"d": 1, "v": 2}, {"d": 2, "v": float("inf")}], "have Infinity in `v`, which cannot be drawn"),
        ([{"d": 1, "v": 2}, {"d": 2, "v": "many"}], "have many in `v`, which cannot be drawn"),
        ([{"d": 1, "v": 2}, {"d": float("nan"), "v": 3}], "in 1 of 2 rows `d` is not a number"),
    ],
)  # fmt: skip
def test_what_a_chart_would_leave_out_is_told(rows: list[dict[str, Any]], said: str) -> None:
    assert any(said in message for message in faults(rows))
    assert "<svg" in chart_html(plot("d", "v"), rows)


def test_a_null_is_a_gap_and_no_fault() -> None:
    assert faults([*days(datetime(2024, 1, 1)), {"d": datetime(2024, 1, 2), "v": None}]) == []


@pytest.mark.parametrize("mark", MARKS)
def test_a_time_axis_cannot_be_logarithmic(mark: str) -> None:
    assert faults(TWO_SERIES[:2], mark=mark, log="x") == [
        "`d` is drawn as a time axis, so its axis cannot be logarithmic"
    ]


def test_bars_too_thin_to_be_seen_are_refused() -> None:
    rows = days(datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(2024, 1, 1))
    (message,) = faults(rows, mark="bar")
    assert "2020-01-01T00:00:00Z and 2020-01-02T00:00:00Z are so close" in message
    assert faults(rows, mark="line") == []


@pytest.mark.parametrize("mark", [*MARKS, "area"])
def test_an_axis_of_days_is_not_marked_by_hours(mark: str) -> None:
    rows = days(*(datetime(2026, 10, day) for day in range(24, 28)))
    assert under(rows, mark=mark) == ["24 Oct", "2026", "25 Oct", "26 Oct", "27 Oct"]


def test_bars_have_no_mark_between_two_that_are_next_to_one_another() -> None:
    months = days(datetime(2025, 12, 1), datetime(2026, 1, 1), datetime(2026, 2, 1))
    assert under(months, mark="bar") == ["Dec", "2025", "Jan", "2026", "Feb"]
    weeks = days(*(datetime(2026, 1, 5) + 7 * number * DAY for number in range(3)))
    assert under(weeks, mark="bar") == ["5 Jan", "2026", "12 Jan", "19 Jan"]


def test_a_time_axis_has_the_same_bytes_whatever_the_source(tmp_path: Path, mongod: Mongod) -> None:
    rows = [
        {
            "_id": number,
            "d": datetime(1969, 12, 31, 23) + timedelta(hours=number, milliseconds=7),
            "v": number,
        }
        for number in range(30)
    ]
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text("".join(json_util.dumps(row) + "\n" for row in rows))
    client: MongoClient[dict[str, Any]] = MongoClient(mongod.uri())
    client.timeaxis.runs.drop()
    client.timeaxis.runs.insert_many(rows)
    spec = chart("d", "v", collection="runs", pipeline=[{"$sort": {"v": -1}}])
    drawn = set()
    for where in (str(tmp_path), mongod.uri("timeaxis")):
        source = open_source(where)
        drawn.add(figure_html(spec, list(source.aggregate(spec.query))))
        source.close()
    client.drop_database("timeaxis")
    assert len(drawn) == 1


dates = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23)).map(
    lambda date: date.replace(microsecond=date.microsecond // 1000 * 1000)
)
near = st.builds(
    lambda start, gaps: [start + timedelta(milliseconds=gap) for gap in gaps],
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda date: date.replace(microsecond=0)),
    st.lists(st.integers(0, 10**7) | st.integers(0, 10**10) | st.integers(0, 9), min_size=1, max_size=6),
)


@pytest.mark.parametrize("mark", MARKS)
@settings(deadline=None)
@given(st.lists(dates, min_size=1, max_size=6) | near)
def test_any_dates_have_marks_that_neither_touch_nor_leave_the_picture(
    mark: str, moments: list[datetime]
) -> None:
    rows = days(*moments)
    asked = plot("d", "v", mark=mark)
    html = chart_html(asked, rows)
    assert html == chart_html(asked, rows)
    assert not re.search(r"rotate|…", html)
    for drawing, width in ((svg(asked, rows), WIDTH), (narrow(asked, rows), NARROW)):
        assert all(0 <= x <= width for x, _ in dots(drawing))
        lines = lines_under_axis(drawing)
        assert lines
        for line in lines:
            for (at, text), (then, following) in itertools.pairwise(line):
                assert then - at >= (len(text) + len(following)) * 6.8 / 2
            for at, text in line:
                assert len(text) * 3.4 <= at <= width - len(text) * 3.4


def lines_under_axis(drawing: ElementTree.Element) -> list[list[tuple[float, str]]]:
    """For each line of texts under the axis where they stand, and what they are."""
    lines: dict[str, list[tuple[float, str]]] = {}
    for each in drawing.iter("text"):
        if each.get("text-anchor") == "middle" and each.get("class") is None:
            lines.setdefault(each.get("y") or "", []).append((float(each.get("x") or 0), each.text or ""))
    return list(lines.values())
