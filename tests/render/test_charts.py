"""Charts: every point where its number says, honest axes, readable in any palette, and no label is markup."""

from __future__ import annotations

import itertools
import math
import re
from datetime import date
from typing import Any
from xml.etree import ElementTree

import pytest
from bson.decimal128 import Decimal128
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.render.charts import elements
from mongo_tables.render.charts.axes import Scale, apart, linear_marks, log_marks
from mongo_tables.render.charts.drawing import chart_html
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.charts.plot import Plot, as_table, plot_of
from mongo_tables.render.charts.svg_file import STYLE_SHEET_FILE
from mongo_tables.render.html import figure_html
from mongo_tables.render.pipe_table import pipe_table
from mongo_tables.site.row_faults import row_findings
from tests.render.specs import chart, table

ROWS: list[dict[str, Any]] = [
    {"t": 1, "a": 100, "b": 50, "n": "one"},
    {"t": 2, "a": 200, "b": None, "n": "two"},
    {"t": 4, "a": Decimal128("400"), "b": 150, "n": "three"},
    {"t": 8, "a": 500.0, "b": 170, "n": "four"},
]
HOSTILE = '<script>x</script> & "y" --> ]]> \x00'


def plot(x: str = "t", *y: str, **keys: Any) -> Plot:
    return Plot(**{"mark": "line", "x": x, "y": y or ("a",), **keys})


def svg(asked: Plot, rows: list[dict[str, Any]] = ROWS) -> ElementTree.Element:
    html = chart_html(asked, rows).replace(" data-search-exclude", "")
    found = ElementTree.fromstring(html).find("svg")
    assert found is not None
    return found


def narrow(asked: Plot, rows: list[dict[str, Any]] = ROWS) -> ElementTree.Element:
    """The second drawing, for phones."""
    html = chart_html(asked, rows).replace(" data-search-exclude", "")
    return ElementTree.fromstring(html).findall("svg")[1]


def texts(element: ElementTree.Element) -> list[str]:
    return ["".join(each.itertext()) for each in element.iter("text")]


def dots(element: ElementTree.Element) -> list[tuple[float, float]]:
    shapes = [
        each.get("d") or "" for each in element.iter("path") if each.get("class") == "mongo-chart__area"
    ]
    return [(float(x), float(y)) for x, y in (re.findall(r"[\d.]+", shape)[:2] for shape in shapes)]


def test_points_stand_in_proportion_to_their_numbers() -> None:
    found = dots(svg(plot()))
    grid = {float(text): height for height, text in _grid(svg(plot()))}
    for (_, y), row in zip(found, ROWS, strict=True):
        share = float(str(row["a"])) / 500
        assert y == pytest.approx(grid[0] + share * (grid[500] - grid[0]), abs=0.2)
    xs = [x for x, _ in found]
    assert (xs[2] - xs[1]) / (xs[1] - xs[0]) == pytest.approx(2, abs=0.02)


RANGED: list[dict[str, Any]] = [
    {"t": 1, "a": 100, "c": {"ratio": 1.0, "low": 0.9, "high": 1.25}},
    {"t": 2, "a": 200, "c": {"ratio": 1.5, "low": 1.4, "high": 1.75}},
    {"t": 4, "a": 300, "c": {"ratio": 2.0, "low": None, "high": 2.5}},
]
INTERVALS = {"c.ratio": ("c.low", "c.high")}


def ranges(element: ElementTree.Element) -> list[tuple[float, float]]:
    """The heights of the lower and the upper end of each range that is drawn."""
    drawn = [
        each.get("d") or "" for each in element.iter("path") if each.get("class") == "mongo-chart__range"
    ]
    found = (re.findall(r"M\S+ ([\d.]+)V([\d.]+)", path) for path in drawn)
    return [(float(low), float(high)) for ((low, high),) in found]


@pytest.mark.parametrize("mark", ["line", "dot", "bar"])
def test_ranges_are_drawn_where_their_numbers_say_and_the_axis_holds_them(mark: str) -> None:
    drawn = svg(plot("t", "c.ratio", spread=INTERVALS, mark=mark), RANGED)
    heights = {float(text): height for height, text in _grid(drawn)}
    step = heights[0] - heights[1]
    ends = [end for row in RANGED[:2] for end in (row["c"]["low"], row["c"]["high"])]
    found = [height for pair in ranges(drawn) for height in pair]
    assert found == pytest.approx([heights[0] - end * step for end in ends], abs=0.2)
    assert max(heights) >= 1.75


@pytest.mark.parametrize("mark", ["dot", "bar"])
def test_the_names_of_dots_and_bars_stand_above_the_drawing_each_with_its_colour(mark: str) -> None:
    rows = [{"t": 1, "a": number, "n": f"{number} of the series with long names"} for number in range(1, 8)]
    drawn = svg(plot(series="n", mark=mark), rows)
    labels = [each for each in drawn.iter("text") if each.get("class") == "mongo-chart__label"]
    places = [(float(each.get("x") or 0), float(each.get("y") or 0)) for each in labels]
    assert len(set(places)) == 7
    assert all(x + 26 * 6.8 <= elements.WIDTH for x, _ in places)
    assert max(y for _, y in places) < min(y for y, _ in _grid(drawn))
    colours = [
        each.get("class") for each in drawn.iter() if each.get("class", "").endswith(" mongo-chart__area")
    ]
    assert colours == [f"mongo-chart__s{number % 6} mongo-chart__area" for number in range(7)]


def test_a_range_is_told_with_its_point_and_in_the_description() -> None:
    drawn = svg(
        plot("t", "c.ratio", spread=INTERVALS, format={"c.ratio": ColumnFormat(unit="times")}), RANGED
    )
    titles = [each.text for each in drawn.iter("title")]
    assert "t 1: 1 (0.9–1.25) times – Ratio" in titles
    assert "t 4: 2 times – Ratio" in titles
    assert "with ranges" in (drawn.findtext("desc") or "")


def test_a_range_that_has_no_place_on_a_logarithmic_axis_is_not_drawn() -> None:
    rows = [{"t": 1, "a": 5, "low": 0, "high": 9}, {"t": 2, "a": 6, "low": 4, "high": 9}]
    assert len(ranges(svg(plot(log="y", spread={"a": ("low", "high")}), rows))) == 1


def test_a_table_draws_the_ranges_of_its_cells_and_a_chart_tells_them_in_its_values() -> None:
    spread = {"a": ["low", "high"]}
    rows = [{"t": 1, "a": 5, "low": 3, "high": 9}, {"t": 2, "a": 6, "low": 4, "high": 9}]
    drawings = figure_html(table("t", "a", spread=spread, chart={"x": "t", "y": "a"}), rows).split("<svg")[1:]
    assert [drawing.count("__range") for drawing in drawings] == [2, 2]
    html = figure_html(chart("t", "a", spread=spread), rows)
    assert html.count("__range") == 4
    assert "5 (3–9)" in html
    assert pipe_table(as_table(chart("t", "a", spread=spread)), rows)[2] == "|   1 | 5 (3–9) |"


def test_a_point_outside_its_range_is_a_fault_of_a_chart_too() -> None:
    drawn = chart("t", "a", spread={"a": ["high", "low"]})
    (found,) = row_findings(
        drawn, {}, {drawn.query.key: [{"t": 1, "a": 5, "low": 3, "high": 9}]}, (), date(2026, 1, 1)
    )
    assert (found.rule, "row 1 has 5 in `a`, outside its range from 9 to 3" in found.message) == (
        "MT332",
        True,
    )


def _grid(element: ElementTree.Element) -> list[tuple[float, str]]:
    marks = [each for each in element.iter("text") if each.get("text-anchor") == "end"]
    return [(float(each.get("y") or 0), (each.text or "").replace(",", "")) for each in marks]


def test_a_linear_vertical_axis_begins_at_zero() -> None:
    assert _grid(svg(plot(), [{"t": 1, "a": 990}, {"t": 2, "a": 1000}]))[0][1] == "0"
    assert float(_grid(svg(plot(), [{"t": 1, "a": -5}, {"t": 2, "a": -1}]))[-1][1]) == 0


def test_doublings_are_equal_steps_on_a_logarithmic_axis_that_says_so() -> None:
    drawn = svg(plot(log="xy"))
    xs = [x for x, _ in dots(drawn)]
    steps = [b - a for a, b in itertools.pairwise(xs)]
    assert max(steps) - min(steps) < 0.25
    assert {"a, log scale", "t, log scale"} <= set(texts(drawn))


def test_a_missing_value_is_a_gap() -> None:
    lines = [
        each.get("d") or ""
        for each in svg(plot("t", "b")).iter("path")
        if each.get("class") == "mongo-chart__line"
    ]
    assert [line.count("L") for line in lines] == [1]  # the first point has no neighbour
    assert len(dots(svg(plot("t", "b")))) == 3


def test_two_series_differ_in_colour_and_in_dash_and_have_their_names_at_their_ends() -> None:
    drawn = svg(plot("t", "a", "b", labels={"a": "Reads", "b": "Writes"}))
    assert [each.get("class") for each in drawn.findall("g") if each.get("class") != "mongo-chart__axis"] == [
        "mongo-chart__s0 mongo-chart__d0",
        "mongo-chart__s1 mongo-chart__d1",
    ]
    assert {"Reads", "Writes"} <= set(texts(drawn))


LONG: list[dict[str, Any]] = [
    {"t": t, "a": t * k, "s": f"with {k} of the secondary indexes"} for t in (1, 2, 4) for k in (3, 5)
]


def test_on_a_phone_long_names_of_lines_stand_above_them_and_leave_them_the_width() -> None:
    drawn = narrow(plot(series="s", name="Speed"), LONG)
    assert (drawn.get("viewBox") or "").split()[2] == str(elements.NARROW)
    labels = [each for each in drawn.iter("text") if each.get("class") == "mongo-chart__label"]
    assert len(labels) == 2
    assert all(float(each.get("y") or 0) < min(y for y, _ in _grid(drawn)) for each in labels)
    assert max(x for x, _ in dots(drawn)) > elements.NARROW * 0.85
    short = narrow(plot("t", "a", "b", labels={"a": "Reads", "b": "Writes"}))
    assert max(x for x, _ in dots(short)) < elements.NARROW * 0.85, "short names stay at the ends of lines"


@pytest.mark.parametrize("mark", ["line", "bar", "dot"])
def test_the_narrow_drawing_has_the_points_of_the_wide_one_in_their_order(mark: str) -> None:
    asked = plot("n", "a", "b", mark=mark, spread={"a": ("b", "a")})
    areas = [
        [each for each in drawn.findall("g/*") if each.get("class") == "mongo-chart__area"]
        for drawn in (svg(asked), narrow(asked))
    ]
    assert len(areas[0]) == len(areas[1]) == 7
    assert all(each.find("title") is not None for each in areas[0])
    heights = [
        [float(re.findall(r"[\d.]+", each.get("d") or each.get("y") or "")[-1]) for each in some]
        for some in areas
    ]
    assert [a < b for a, b in itertools.pairwise(heights[0])] == [
        a < b for a, b in itertools.pairwise(heights[1])
    ]


def test_without_a_style_sheet_one_drawing_is_shown() -> None:
    assert svg(plot()).get("display") is None
    assert narrow(plot()).get("display") == "none"


def test_both_drawings_have_the_name_and_the_description_and_no_ids() -> None:
    asked = plot(name="Speed")
    assert svg(asked).findtext("desc") == narrow(asked).findtext("desc")
    assert svg(asked).get("aria-label") == narrow(asked).get("aria-label") == "Speed"
    assert " id=" not in chart_html(asked, ROWS)


def test_a_title_that_is_wider_than_the_drawing_has_several_lines() -> None:
    title = "Documents that were inserted in a second by all threads of the client together"
    asked = plot(labels={"a": title, "t": title})
    lines = [
        each.text or "" for each in narrow(asked).iter("text") if each.get("class") == "mongo-chart__name"
    ]
    assert " ".join(lines) == f"{title} {title}"
    assert all(len(line) * 6.8 <= elements.NARROW for line in lines)
    heights = [float(each.get("y") or 0) for each in narrow(asked).iter("text")]
    assert max(heights) <= float((narrow(asked).get("viewBox") or "").split()[3])


@pytest.mark.parametrize("mark", ["bar", "dot"])
def test_names_that_do_not_fit_under_bars_are_at_their_left(mark: str) -> None:
    few, many = ([{"n": f"variant-{number}", "a": number} for number in range(n)] for n in (4, 12))
    assert (svg(plot("n", mark=mark), few).findtext("desc") or "").startswith(f"{mark.title()} chart")
    drawn = svg(plot("n", mark=mark), many)
    assert (drawn.findtext("desc") or "").startswith(f"Horizontal {mark} chart")
    assert {one["n"] for one in many} <= set(texts(drawn))


def test_of_many_names_under_a_line_as_many_are_shown_as_do_not_touch() -> None:
    rows = [{"n": f"variant-{number}", "a": number} for number in range(40)]
    for drawn in (svg(plot("n"), rows), narrow(plot("n"), rows)):
        found = [each for each in drawn.iter("text") if (each.text or "").startswith("variant")]
        at = [float(each.get("x") or 0) for each in found]
        assert len({each.text for each in found}) == len(found) >= 3
        assert all(after - before > 9 * 6.8 for before, after in itertools.pairwise(at))


def test_a_negative_number_has_a_minus_sign_and_its_range_no_dash_beside_one() -> None:
    rows = [{"t": 1, "a": -5, "low": -6, "high": -4}, {"t": 2, "a": 3, "low": 2, "high": 4}]
    drawn = svg(plot(spread={"a": ("low", "high")}), rows)
    assert "t 1: −5 (−6 to −4) – a" in [each.text for each in drawn.iter("title")]
    assert "−6" in texts(drawn)
    assert "from −5 at 1" in (drawn.findtext("desc") or "")


@pytest.mark.parametrize("log", [(), ("y",)])
def test_the_marks_of_durations_have_the_units_of_the_cells(log: tuple[str, ...]) -> None:
    rows = [{"n": 1, "t": 0.0001}, {"n": 2, "t": 0.002}]
    drawn = "".join(chart_html(plot("n", "t", format={"t": ColumnFormat(duration="s")}, log=log), rows))
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert "1.00 ms" in texts and ("100 µs" if log else "500 µs") in texts
    assert not [text for text in texts if "0.0" in text or "(s)" in text]


def test_a_unit_is_said_once() -> None:
    formats = {"a": ColumnFormat(unit="MiB/s"), "t": ColumnFormat(unit="KiB")}
    asked = plot(labels={"t": "Size (KiB)", "a": "MiB/s"}, format=formats)
    (first, *_) = (each.text for each in svg(asked).iter("title"))
    assert first == "Size (KiB) 1: 100 MiB/s"


def test_each_point_has_the_unit_of_its_own_column() -> None:
    formats = {"a": ColumnFormat(unit="ms"), "b": ColumnFormat(unit="%")}
    told = [each.text for each in svg(plot("t", "a", "b", format=formats)).iter("title")]
    assert told[0] == "t 1: 100 ms – a"
    assert told[4] == "t 1: 50 % – b"


def test_a_point_says_how_many_repeats_it_has() -> None:
    rows = [{"t": t, "a": 5, "low": 3, "high": 9, "runs": t} for t in (1, 2)]
    told = [each.text for each in svg(plot(spread={"a": ("low", "high", "runs")}), rows).iter("title")]
    assert told == ["t 1: 5 (3–9), 1 repeat – a", "t 2: 5 (3–9), 2 repeats – a"]


def test_a_column_can_tell_series_apart() -> None:
    rows = [{"t": t, "a": t * k, "s": f"with {k}"} for t in (1, 2) for k in (3, 5)]
    drawn = svg(plot(series="s"), rows)
    assert {"with 3", "with 5"} <= set(texts(drawn))
    assert len(dots(drawn)) == 4


def test_bars_stand_on_zero_side_by_side() -> None:
    bars = [each for each in svg(plot("n", "a", "b", mark="bar")).iter("rect") if each.get("height") != "10"]
    feet = {round(float(bar.get("y") or 0) + float(bar.get("height") or 0), 0) for bar in bars}
    assert len(feet) == 1
    spans = sorted((float(bar.get("x") or 0), float(bar.get("width") or 0)) for bar in bars)
    assert all(x + width <= following + 0.2 for (x, width), (following, _) in itertools.pairwise(spans))


def test_a_drawing_is_one_image_with_a_name_and_a_description() -> None:
    drawn = svg(plot(name="Speed"))
    assert drawn.get("role") == "img"
    assert drawn.get("aria-label") == "Speed"
    assert drawn.find("title") is None, "browsers show it wherever the pointer rests"
    assert drawn.findtext("desc") == "Line chart of a by t. a: from 100 at 1 to 500 at 8."


@pytest.mark.parametrize("mark", ["line", "bar", "dot"])
def test_over_names_the_description_has_the_least_and_the_greatest_value(mark: str) -> None:
    rows = [{"n": n, "a": a} for n, a in (("w", 7), ("b", 2.5), ("none", None), ("a", 31), ("z", 9))]
    assert (svg(plot("n", mark=mark), rows).findtext("desc") or "").endswith(" a: from 2.5 at b to 31 at a.")


@pytest.mark.parametrize("mark", ["line", "bar", "dot"])
def test_hostile_texts_are_text(mark: str) -> None:
    rows = [{"t": HOSTILE, "a": 1, "s": HOSTILE}, {"t": "x", "a": 2, "s": "y"}]
    asked = plot(mark=mark, series="s", name=HOSTILE, labels={"t": HOSTILE, "a": HOSTILE})
    html = chart_html(asked, rows)
    assert "<script" not in html
    assert {each.tag for each in svg(asked, rows).iter()} <= {
        "svg",
        "title",
        "desc",
        "g",
        "path",
        "text",
        "rect",
    }


@pytest.mark.parametrize("mark", ["line", "bar", "dot"])
@given(
    st.lists(
        st.fixed_dictionaries(
            {"t": st.one_of(st.integers(), st.floats(), st.text(max_size=9), st.none())},
            optional={"a": st.one_of(st.integers(), st.floats(), st.text(max_size=3), st.none())},
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["", "x", "y", "xy"]),
)
def test_any_rows_give_the_same_drawing_within_its_frame(
    mark: str, rows: list[dict[str, Any]], log: str
) -> None:
    asked = plot(mark=mark, log=log)
    html = chart_html(asked, rows)
    assert html == chart_html(asked, rows)
    drawn_of = {elements.WIDTH: svg(asked, rows), elements.NARROW: narrow(asked, rows)}
    for width, drawn in drawn_of.items():
        places = " ".join(
            each.get(name) or "" for each in drawn.iter() for name in ("d", "x", "y", "transform")
        )
        assert not re.search("nan|inf", places)
        for x, y in dots(drawn):
            assert 0 <= x <= width
            assert 0 <= y <= 400
    plot_faults(asked, rows)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_marks_enclose_the_values_at_round_distances(one: float, other: float) -> None:
    low, high = sorted((one, other))
    marks = linear_marks(low, high, 5)
    assert marks[0] <= low
    assert marks[-1] >= high
    assert 2 <= len(marks) <= 12


@given(st.floats(1e-290, 1e290), st.floats(1e-290, 1e290))
def test_logarithmic_marks_enclose_the_values(one: float, other: float) -> None:
    low, high = sorted((one, other))
    marks = log_marks(low, high, 6)
    assert marks[0] <= low * (1 + 1e-9)
    assert marks[-1] >= high * (1 - 1e-9)
    assert 2 <= len(marks) <= 9


def test_marks_are_written_without_the_noise_of_doubles() -> None:
    assert linear_marks(0, 0.31, 5) == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert linear_marks(0, 14850, 5) == [0, 5000, 10000, 15000]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_names_at_line_ends_never_overlap(heights: list[float]) -> None:
    placed = sorted(apart(heights, 10, 0, 100))
    assert all(b - a >= 10 - 1e-6 for a, b in itertools.pairwise(placed))
    assert placed[0] >= -1e-6
    assert placed[-1] <= 100 + 1e-6


def test_a_scale_of_one_value_is_no_division_by_zero() -> None:
    assert Scale(3, 3, 0, 100).at(3) == 50


@pytest.mark.parametrize(
    ("asked", "rows", "said"),
    [
        (plot("t", "n"), ROWS, "no row has a number in `n`"),
        (plot(log="y"), [{"t": 1, "a": 0}, {"t": 2, "a": 1}], "cannot show a `a` of 0 or less"),
        (plot(log="x"), [{"t": 0, "a": 1}, {"t": 2, "a": 1}], "cannot show a `t` of 0 or less"),
        (plot(log="y"), [{"t": 1, "a": 5e-324}, {"t": 2, "a": 1}], "cannot show a `a` of 0 or less"),
        (plot("n", log="x"), ROWS, "drawn as names"),
        (plot(), [{"t": 1, "a": 1}, {"t": 1, "a": 2}], "2 rows have the same place"),
        (plot(), [{"t": 1, "a": 1}, {"a": 2}], "1 of 2 rows have no `t`"),
    ],
)
def test_what_cannot_be_drawn_is_said(asked: Plot, rows: list[dict[str, Any]], said: str) -> None:
    assert any(said in message for _, message, _ in plot_faults(asked, rows))


def test_the_smallest_number_there_is_can_be_drawn_on_any_axis() -> None:
    rows = [{"t": 5e-324, "a": 5e-324}, {"t": 2, "a": 1}]
    assert all("<svg" in chart_html(plot(log=axes), rows) for axes in ("", "x", "y", "xy"))


def test_sound_rows_have_no_fault() -> None:
    assert plot_faults(plot("t", "a", log="xy"), ROWS) == []


def test_a_chart_has_its_values_under_it_as_a_table() -> None:
    html = figure_html(chart("t", ["a", "b"], labels={"t": "Threads"}, id="c1", title="Speed"), ROWS)
    assert html.startswith('<figure class="mongo-table" id="c1">\n<figcaption><strong>Speed</strong> ')
    assert '<details class="mongo-chart__values">' in html
    assert ">Threads</th>" in html.split("<details")[1]


def test_a_table_with_a_chart_has_it_above() -> None:
    html = figure_html(table("t", "a", headers=["Threads", "Speed"], chart={"x": "t", "y": "a"}), ROWS)
    assert html.index("<svg") < html.index("<table>")
    assert ">Speed</text>" in html


def test_in_markdown_a_chart_is_its_table() -> None:
    lines = pipe_table(as_table(chart("t", "a", labels={"t": "Threads"})), ROWS[:1])
    assert lines == ["| Threads |   a |", "| ------: | --: |", "|       1 | 100 |"]


def test_every_colour_can_be_read_on_its_page() -> None:
    colours = re.findall(r"--mongo-\d: (#[0-9a-f]{6})", STYLE_SHEET_FILE.read_text("utf-8"))
    assert len(colours) == 12
    for colour, page in zip(colours, ["#ffffff"] * 6 + ["#1e2129"] * 6, strict=True):
        assert _contrast(colour, page) >= 4.5, colour


def _contrast(one: str, other: str) -> float:
    """https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else math.pow((part + 0.055) / 1.055, 2.4) for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("mark", ["line", "dot"])
@pytest.mark.parametrize("horizontal", [False, True])
def test_an_axis_without_zero_shows_small_changes_of_large_values(mark: str, horizontal: bool) -> None:
    if horizontal and mark == "line":
        return
    rows = [{"n": f"run {at}", "v": 10**9 + at} for at in range(5)]
    keys: dict[str, Any] = {"mark": mark, "horizontal": horizontal}
    flat, steep = (plot_of(chart("n", "v", zero=zero, **keys)) for zero in (True, False))
    assert flat and steep
    assert plot_faults(steep, rows) == []
    texts = re.findall(r">([\d,]+)<", chart_html(steep, rows))
    assert {"1,000,000,000", "1,000,000,004"} <= set(texts)
    assert ">0<" in chart_html(flat, rows)
    assert ">0<" not in chart_html(steep, rows)


@pytest.mark.parametrize("mark", ["bar", "area"])
def test_bars_and_areas_begin_at_zero(mark: str) -> None:
    plot = plot_of(chart("n", "v", mark=mark, zero=False))
    found = [
        path
        for path, message, _ in plot_faults(plot, [{"n": "a", "v": 1}, {"n": "b", "v": 2}])
        if "includes 0" in message
    ]
    assert found == [("zero",)]


def values_at(drawn: ElementTree.Element, look: str = "mongo-chart__value") -> list[tuple[str, float]]:
    """The texts with this class, each with its place from the left."""
    found = (each for each in drawn.iter("text") if look in each.get("class", ""))
    return sorted(("".join(one.itertext()), float(one.get("x", "nan"))) for one in found)


@pytest.mark.parametrize(("a", "b", "count"), [(0.00008309, 0.00004538, 0), (83.1, 45.4, 4)])
def test_values_of_bars_side_by_side_are_shown_where_they_fit(a: float, b: float, count: int) -> None:
    rows = [{"n": name, "a": a, "b": b} for name in ("one", "two")]
    assert len(values_at(svg(plot("n", "a", "b", mark="bar"), rows))) == count


def test_a_name_in_the_key_ends_before_the_next_sign() -> None:
    names = ("bench/sort.bench.ts > sort", "bench/sort.bench.ts > other")
    rows = [{"n": "one", "s": name, "a": 1} for name in names]
    (_, second), (_, first) = values_at(
        svg(plot("n", "a", mark="bar", series="s"), rows), "mongo-chart__label"
    )
    assert second - first > elements.text_width(names[0]) * elements.BOLD + 15


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("12 abcd", 10, ["1", "2", "a", "b", "c", "d"]),
        ("2 s", 10, ["2", "s"]),
        ("1  s\tx", 40, ["1 s x"]),
        ("  ", 10, [""]),
    ],
)
def test_a_narrow_line_has_no_blank_at_its_end_and_is_never_empty(
    text: str, room: float, lines: list[str]
) -> None:
    assert elements.break_text(text, room) == lines
