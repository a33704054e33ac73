"""Horizontal charts: each name beside its values, on one scale, with what the values are in words at the end."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.directives.specs import Reference
from mongo_tables.render.charts.drawing import chart_html
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.charts.plot import Plot, plot_of
from tests.render.specs import chart

ROWS: list[dict[str, Any]] = [
    {"n": "without an index", "v": 100, "low": 90, "high": 120, "k": "few"},
    {"n": "one", "v": 50, "low": 40, "high": 60, "k": "few"},
    {"n": "one", "v": 25, "low": None, "high": 30, "k": "many"},
]
CALLED = {"against": "1", "blocks": 20, "margin": 0.1, "p": 0.001}
RATIOS: list[dict[str, Any]] = [
    {"n": "half", "c": {**CALLED, "ratio": 0.5, "low": 0.45, "high": 0.56, "verdict": "slower"}},
    {"n": "as fast", "c": {**CALLED, "ratio": 1.01, "low": 0.97, "high": 1.05, "verdict": "no difference"}},
    {"n": "nobody knows", "c": {**CALLED, "ratio": None, "low": 0.0, "high": float("inf"), "verdict": "not known"}},
]  # fmt: skip


def plot(*y: str, reference: float | None = None, **keys: Any) -> Plot:
    references = () if reference is None else (Reference.of(reference),)
    given = {"mark": "bar", "x": "n", "y": y or ("v",), "horizontal": True, "references": references}
    return Plot(**{**given, **keys})


def svg(asked: Plot, rows: list[dict[str, Any]]) -> ElementTree.Element:
    html = chart_html(asked, rows).replace(" data-search-exclude", "")
    found = ElementTree.fromstring(html).find("svg")
    assert found is not None
    return found


def narrow(asked: Plot, rows: list[dict[str, Any]]) -> ElementTree.Element:
    """The second drawing, for phones."""
    html = chart_html(asked, rows).replace(" data-search-exclude", "")
    return ElementTree.fromstring(html).findall("svg")[1]


def texts(element: ElementTree.Element, kind: str = "") -> list[str]:
    return ["".join(one.itertext()) for one in element.iter("text") if kind in (one.get("class") or "")]


def test_bars_begin_at_zero_and_are_as_long_as_their_values() -> None:
    found = svg(plot(), ROWS[:2])
    bars = [(float(one.get("x") or 0), float(one.get("width") or 0)) for one in found.iter("rect")]
    assert bars[0][0] == bars[1][0]
    assert bars[0][1] == pytest.approx(2 * bars[1][1], abs=0.2)
    assert texts(found, "value") == ["100", "50"]
    assert "without an index" in texts(found)


def test_all_series_of_a_name_stand_under_one_another_and_have_a_key() -> None:
    found = svg(plot(series="k"), ROWS)
    assert texts(found, "label") == ["few", "many"]
    assert texts(found, "value") == ["100", "50", "25"]
    heights = [float(one.get("y") or 0) for one in found.iter("rect") if one.get("height") == "14"]
    assert heights == sorted(heights)
    assert heights[2] - heights[1] < heights[1] - heights[0]


def height(element: ElementTree.Element, text: str) -> float:
    (found,) = (each for each in element.iter("text") if each.text == text)
    return float(found.get("y") or 0)


def test_on_a_phone_names_and_verdicts_stand_above_their_bars_which_have_the_width() -> None:
    found = narrow(plot("c", mark="dot", reference=1.0), RATIOS)
    assert height(found, "half") == height(found, "2.0 times slower (1.8 to 2.2 times)")
    grid = [one.get("d") or "" for one in found.findall("g/path") if (one.get("d") or "").count("V")]
    ends = [float(re.findall(r"[\d.]+", path)[0]) for path in grid]
    assert max(ends) - min(ends) > 300


def test_on_a_phone_short_values_stay_beside_their_bars() -> None:
    found = narrow(plot(series="k"), ROWS)
    bars = [float(one.get("y") or 0) + 7 for one in found.iter("rect") if one.get("height") == "14"]
    values = [float(one.get("y") or 0) for one in found.iter("text") if "value" in (one.get("class") or "")]
    assert values == bars
    assert height(found, "one") < min(bars[1:])


@pytest.mark.parametrize(
    ("asked", "rows", "above"),
    [
        (
            plot("c", mark="dot", reference=1.0),
            RATIOS,
            ["half", "as fast", "nobody knows", "2.0 times slower (1.8 to 2.2 times)"],
        ),
        (plot(series="k", reference=30.0), ROWS, ["without an index", "one"]),
    ],
)
def test_on_a_phone_no_line_crosses_a_text_above_a_bar(
    asked: Plot, rows: list[dict[str, Any]], above: list[str]
) -> None:
    found = narrow(asked, rows)
    paths = [one.get("d") or "" for one in found.iter("path")]
    parts = [
        (float(start), float(end))
        for d in paths
        for start, end in re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)", d)
    ]
    assert len(parts) >= 3 * len({one["n"] for one in rows})
    for text in above:
        at = height(found, text)
        assert not [part for part in parts if part[0] < at <= part[1]]


def test_a_name_takes_the_room_that_its_own_value_leaves() -> None:
    long = "half of the documents"
    rows = [{**RATIOS[2], "n": long}, {**RATIOS[0], "n": f"{long} again"}]
    assert long in texts(narrow(plot("c", mark="dot"), rows))


def test_a_unit_that_the_axis_has_is_not_repeated_at_each_value_but_said_in_words() -> None:
    found = svg(plot(format={"v": ColumnFormat(unit="MiB/s")}), ROWS[:2])
    assert texts(found, "value") == ["100", "50"]
    assert "v (MiB/s)" in texts(found)
    assert "without an index: 100 MiB/s" in (found.findtext("desc") or "")


def test_the_tip_of_a_comparison_says_how_many_blocks_it_rests_on() -> None:
    found = svg(plot("c", mark="dot", reference=1.0), RATIOS)
    assert "n half: 2.0 times slower (1.8 to 2.2 times), 20 blocks – c" in [
        one.text for one in found.iter("title")
    ]


def test_ranges_are_drawn_where_both_ends_are_known() -> None:
    found = svg(plot(series="k", spread={"v": ("low", "high")}), ROWS)
    assert len([one for one in found.iter("path") if one.get("class") == "mongo-chart__range"]) == 2


def test_a_comparison_is_its_ratio_with_its_interval_and_its_words() -> None:
    found = svg(plot("c", mark="dot", reference=1.0), RATIOS)
    assert texts(found, "value") == [
        "2.0 times slower (1.8 to 2.2 times)",
        "no difference larger than 5\u00a0%",
        "not known",
    ]
    (line,) = (
        one.get("d") or "" for one in found.iter("path") if one.get("class") == "mongo-chart__reference"
    )
    at = float(re.findall(r"[\d.]+", line)[0])
    dots = [one.get("d") or "" for one in found.iter("path") if one.get("class") == "mongo-chart__area"]
    left, right = (float(re.findall(r"[\d.]+", dot)[0]) for dot in dots)
    assert left < at < right


@pytest.mark.parametrize("horizontal", [True, False])
def test_where_campaigns_disagree_each_has_a_dot(horizontal: bool) -> None:
    def of(*each: tuple[float, float, float]) -> dict[str, Any]:
        told = [{"ratio": one, "low": low, "high": high, "blocks": 10} for one, low, high in each]
        return {
            **CALLED,
            "ratio": 1.3,
            "low": 1.1,
            "high": 1.6,
            "verdict": "faster",
            "count": 2,
            "each": told,
        }

    disagree, agree = of((1.12, 1.1, 1.14), (1.5, 1.4, 1.6)), of((1.2, 1.1, 1.4), (1.4, 1.3, 1.6))
    found = svg(
        plot("c", mark="dot", horizontal=horizontal), [{"n": "a", "c": disagree}, {"n": "b", "c": agree}]
    )
    dots = [one.get("d") or "" for one in found.iter("path") if one.get("class") == "mongo-chart__area"]
    assert [dot.count("M") for dot in dots] == [2, 1]


def test_an_axis_of_ratios_does_not_begin_at_zero_where_they_lie_around_their_reference() -> None:
    assert "0" not in texts(svg(plot("c", mark="dot", reference=1.0), RATIOS))
    assert "0" in texts(svg(plot("v", mark="dot"), ROWS[:2]))


@pytest.mark.parametrize("mark", ["line", "area"])
def test_a_mark_that_goes_from_value_to_value_is_not_drawn_through_names(mark: str) -> None:
    (fault,) = plot_faults(plot_of(chart("n", "v", mark=mark, horizontal=True)), ROWS[:2])
    assert f"a {mark} cannot connect names" in fault[1]


def test_hostile_names_are_text() -> None:
    found = svg(plot(), [{"n": '<script>x</script> & "y"', "v": 1}, {"n": "b", "v": 2}])
    assert '<script>x</script> & "y"' in " ".join(texts(found))


@pytest.mark.parametrize("reference", [0, -1.0])
def test_a_reference_that_a_logarithmic_axis_has_no_place_for_is_told(reference: float) -> None:
    (fault,) = plot_faults(plot("v", mark="dot", log="y", reference=reference), ROWS[:2])
    assert "cannot show a reference" in fault[1]


def test_a_comparison_without_a_ratio_is_not_drawn_on_a_logarithmic_axis() -> None:
    none = {**CALLED, "ratio": 0.0, "low": 0.0, "high": 1.0, "verdict": "not known"}
    found = svg(plot("c", mark="dot", log="y", reference=1.0), [*RATIOS, {"n": "nothing", "c": none}])
    assert len([one for one in found.iter("path") if one.get("class") == "mongo-chart__area"]) == 2


def test_a_comparison_that_contradicts_itself_is_told() -> None:
    edited = [{"n": "a", "c": {**CALLED, "ratio": 1.2, "low": 1.1, "high": 1.3, "verdict": "slower"}}]
    (fault,) = plot_faults(plot("c", mark="dot", reference=1.0), edited)
    assert "has the verdict slower" in fault[1]


def test_the_description_names_each_row_and_the_reference() -> None:
    described = svg(plot("c", mark="dot", reference=1.0), RATIOS).findtext("desc") or ""
    assert described.startswith("Horizontal dot chart of c by n, with a line at 1. half: 2.0 times slower")


def test_a_name_that_is_wider_than_its_room_is_on_two_lines() -> None:
    found = svg(
        plot(), [{"n": "replaceOneWithFourIndexesAndMajorityWriteConcern", "v": 1}, {"n": "b", "v": 2}]
    )
    assert {"replaceOneWithFourIndexesAnd", "MajorityWriteConcern"} <= set(texts(found))
