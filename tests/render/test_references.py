"""References: a line or a band where its numbers say, with a label that neither touches another nor covers a value."""

from __future__ import annotations

import itertools
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from mongo_tables.directives.specs import ColumnFormat, Reference
from mongo_tables.render.charts.elements import NARROW, WIDTH
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.charts.plot import Plot
from mongo_tables.site.markdown import MarkdownContext
from tests.render.specs import chart
from tests.render.test_charts import HOSTILE, dots, narrow, plot, svg, texts
from tests.render.test_horizontal_charts import texts as texts_of

ROWS: list[dict[str, Any]] = [
    {"n": n, "t": t, "v": v} for n, t, v in (("one", 1, 20), ("two", 2, 30), ("three", 4, 40))
]
LINE, BAND = {"value": 25, "label": "asked for"}, {"from": 30, "to": 60, "label": "target"}
FORMS: list[dict[str, Any]] = [
    {"x": "t", "mark": "line"},
    {"x": "t", "mark": "area"},
    {"x": "t", "mark": "dot"},
    {"x": "n", "mark": "bar"},
    {"x": "n", "mark": "bar", "stack": True},
]


def asking(*references: Any, x: str = "t", **keys: Any) -> Plot:
    return plot(x, "v", references=tuple(map(Reference.of, references)), **keys)


def paths(drawn: ElementTree.Element, kind: str) -> list[list[float]]:
    found = (each.get("d") or "" for each in drawn.iter("path") if each.get("class") == kind)
    return [list(map(float, re.findall(r"[\d.]+", path))) for path in found]


def height(drawn: ElementTree.Element, value: str) -> float:
    marks = [each for each in drawn.iter("text") if each.get("text-anchor") == "end"]
    return next(float(each.get("y") or 0) for each in marks if each.text == value)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_line_and_a_band_stand_where_their_numbers_say_and_the_axis_holds_them(
    form: dict[str, Any],
) -> None:
    drawn = svg(asking(20, BAND, **form), ROWS)
    ((_, line, _),) = paths(drawn, "mongo-chart__reference")
    assert line == height(drawn, "20")
    ((_, low, _, high, _),) = paths(drawn, "mongo-chart__span")
    assert high == height(drawn, "60")
    assert low - high == pytest.approx(1.5 * (height(drawn, "0") - line), abs=0.2)


@pytest.mark.parametrize("mark", ["bar", "dot"])
def test_across_a_horizontal_chart_they_go_downwards_with_their_labels_above(mark: str) -> None:
    drawn = svg(asking(LINE, {**BAND, "from": 50}, x="n", mark=mark, horizontal=True), ROWS)
    ((at, top, bottom),) = paths(drawn, "mongo-chart__reference")
    ((low, *_),) = paths(drawn, "mongo-chart__span")
    assert at < low
    assert top < bottom
    labels = [each for each in drawn.iter("text") if each.get("class") == "mongo-chart__aside"]
    assert ["".join(each.itertext()) for each in labels] == ["asked for", "target"]
    assert all(float(each.get("y") or 0) < top for each in labels)
    assert float(labels[0].get("x") or 0) == at


@pytest.mark.parametrize("form", [*FORMS, {"x": "n", "mark": "bar", "horizontal": True}], ids=str)
def test_labels_touch_neither_one_another_nor_what_is_drawn(form: dict[str, Any]) -> None:
    near = [
        {"value": 40, "label": "one machine"},
        {"value": 40.2, "label": "two machines"},
        {"value": 40.1, "label": "a year ago"},
    ]
    for width, drawn in (
        (WIDTH, svg(asking(*near, **form), ROWS)),
        (NARROW, narrow(asking(*near, **form), ROWS)),
    ):
        labels = [
            each for each in drawn.iter("text") if "".join(each.itertext()) in {one["label"] for one in near}
        ]
        assert len(labels) == 3
        boxes = [box(each) for each in labels]
        for (left, top, right, bottom), (
            others_left,
            others_top,
            others_right,
            others_bottom,
        ) in itertools.combinations(boxes, 2):
            assert (
                right <= others_left or others_right <= left or bottom <= others_top or others_bottom <= top
            )
        assert all(0 <= left < right <= width for left, _, right, _ in boxes)


def box(text: ElementTree.Element) -> tuple[float, float, float, float]:
    """About where a text of one line is."""
    width = len("".join(text.itertext())) * 6.8
    x, y = float(text.get("x") or 0), float(text.get("y") or 0)
    left = x - width / 2 if text.get("text-anchor") == "middle" else x
    return left, y - 7, left + width, y + 7


def test_a_label_that_has_no_room_beside_the_drawing_is_whole_in_the_key() -> None:
    long = "the limit of the disk that the smaller machine has"
    drawn = narrow(asking({"value": 25, "label": long}), ROWS)
    assert long in texts(drawn)
    assert max(x for x, _ in dots(drawn)) > NARROW * 0.85


def test_a_line_lies_behind_dots_and_in_front_of_bars() -> None:
    for mark, behind in (("dot", True), ("line", True), ("bar", False), ("area", False)):
        kinds = [each.get("class") or "" for each in svg(asking(25, mark=mark), ROWS).iter()]
        shape = next(
            number for number, kind in enumerate(kinds) if kind in ("mongo-chart__area", "mongo-chart__fill")
        )
        assert (kinds.index("mongo-chart__reference") < shape) is behind


def test_the_description_has_them_in_words() -> None:
    formats = {"v": ColumnFormat(thousands=True)}
    told = svg(asking(25_000, BAND, format=formats), ROWS).findtext("desc") or ""
    assert ", with a line at 25,000, with a band from 30 to 60 (target)." in told


def test_in_markdown_they_stand_below_the_table_of_the_chart() -> None:
    spec = chart("t", "v", reference=[LINE, BAND, 70], format={"v": {"unit": "ms"}})
    context = MarkdownContext({spec.query.key: ROWS}, {})
    assert context.table_lines(spec)[-2:] == [
        "",
        "_For comparison: asked for, 25 ms; target, 30 to 60 ms; 70 ms._",
    ]


def test_on_a_logarithmic_axis_a_band_has_its_place_and_zero_has_none() -> None:
    asked = asking({"from": 10, "to": 100, "label": "usual"}, log="y")
    drawn = svg(asked, ROWS)
    ((_, low, _, high, _),) = paths(drawn, "mongo-chart__span")
    assert (low, high) == (height(drawn, "10"), height(drawn, "100"))
    assert plot_faults(asked, ROWS) == []
    for none in (0, -1, {"from": 0, "to": 10}):
        ((_, message, _),) = plot_faults(asking(none, log="y"), ROWS)
        assert "a logarithmic axis cannot show a reference of" in message
        svg(asking(none, log="y"), ROWS)


def test_a_hostile_label_is_text() -> None:
    for keys in ({}, {"x": "n", "mark": "bar", "horizontal": True}):
        drawn = svg(asking({"value": 25, "label": HOSTILE}, **keys), ROWS)
        assert any("<script>x</script>" in each for each in texts_of(drawn))
