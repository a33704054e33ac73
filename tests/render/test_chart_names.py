"""Long names of charts: readers can tell them apart, and none is cut off at the edge of the drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.render.charts.axes import fit_names
from mongo_tables.render.charts.drawing import draw_chart
from mongo_tables.render.charts.elements import LETTER, NARROW, WIDTH, break_name
from mongo_tables.render.charts.faults import plot_faults
from mongo_tables.render.charts.plot import as_table, plot_of
from mongo_tables.render.charts.series import panels_of
from tests.render.specs import chart, table

CODECS = ("utf8", "utf16", "latin1", "cp1252", "ascii", "koi8", "gbk", "sjis")
NAMES = {
    "pytest": [f"tests/test_codec.py::test_roundtrip[{name}]" for name in CODECS],
    "forty of pytest": [
        f"tests/test_codec.py::test_roundtrip[{name}-{size}]" for name in CODECS for size in range(5)
    ],
    "go": [f"BenchmarkDecode/json/payload=large/n={number}" for number in range(20)],
    "jmh": [f"org.example.benchmarks.{name}.createInstanceOfEverything" for name in ("Fast", "Slow", "Tidy")],
    "times with builds": [f"2026-11-{day:02}T10:00:00.000Z, build {100 + day}" for day in range(1, 13)],
    "no words": [f"{'a' * 40}{number}" for number in range(6)],
    "differ in the middle": [f"{'a' * 20}/{number}/{'b' * 30}" for number in range(6)],
    "one is short": ["short", f"{'a' * 40}1", f"{'a' * 40}2"],
}


def labels(names: Sequence[str], width: int, mark: str, **keys: Any) -> list[tuple[str, float]]:
    """Return the texts of the axis of names as they are read, each with the left end of its estimated width."""
    rows = [{"n": name, "v": 5 + at} for at, name in enumerate(names)]
    plot = plot_of(chart("n", "v", mark=mark, **keys))
    assert plot is not None
    drawn = "\n".join(draw_chart(plot, rows, width).elements)
    group = re.search(r'<g class="mongo-chart__names">\n(.*?)\n</g>', drawn, re.DOTALL)
    if group is None:
        axis = re.findall(r'v5"/>\n((?:<text[^>]*>[^<]*</text>\n?)+)', drawn)
        found = [re.findall(r'x="([\d.]+)"[^>]*>([^<]*)<', texts) for texts in axis]
        return [
            (
                " ".join(text for _, text in lines),
                min(float(x) - len(text) * LETTER / 2 for x, text in lines),
            )
            for lines in found
        ]
    told: list[list[Any]] = []
    for line in [re.search(r'x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', one) for one in group[1].split("\n")]:
        assert line is not None
        if told and math.isclose(float(line[2]) - told[-1][2], 15, abs_tol=0.2):
            told[-1] = [told[-1][0] + line[3], told[-1][1], float(line[2])]
        else:
            told.append([line[3], float(line[1]), float(line[2])])
    return [(text, at) for text, at, _ in told]


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("width", [WIDTH, NARROW])
@pytest.mark.parametrize(("mark", "horizontal"), [("bar", False), ("bar", True), ("line", False)])
def test_no_two_labels_are_alike_and_none_is_cut_off(
    case: str, width: int, mark: str, horizontal: bool
) -> None:
    names = NAMES[case]
    found = labels(names, width, mark, horizontal=horizontal)
    assert found
    assert len({text for text, _ in found}) == len(found)
    assert all(at > 0 or (mark == "bar" and width == NARROW) for _, at in found)
    if mark == "bar":
        assert len(found) == len(names)


@pytest.mark.parametrize("width", [WIDTH, NARROW])
def test_a_gap_is_between_any_two_names_under_an_axis(width: int) -> None:
    for length in range(1, 26):
        found = labels([letter * length for letter in "abcdefgh"], width, "line")
        ends = [at + len(text) * LETTER for text, at in found]
        assert all(at - end >= 7.9 for end, (_, at) in zip(ends, found[1:], strict=False)), length


def test_what_all_names_have_in_common_is_left_out() -> None:
    assert fit_names(NAMES["pytest"], 26)[:2] == ["…[utf8]", "…[utf16]"]
    assert fit_names(NAMES["go"], 26)[:2] == ["…n=0", "…n=1"]
    assert fit_names(NAMES["jmh"], 26) == ["…Fast…", "…Slow…", "…Tidy…"]


def test_short_names_stay_as_they_are() -> None:
    assert fit_names(["test_a", "test_b"], 26) == ["test_a", "test_b"]


def test_a_long_name_beside_a_bar_is_on_two_lines_between_its_parts() -> None:
    assert break_name(NAMES["pytest"][0], 30 * LETTER) == ["tests/test_codec.py::test_", "roundtrip[utf8]"]


def test_panels_and_series_with_long_names_can_be_told_apart() -> None:
    rows = [{"n": "a", "v": 5, "g": f"{'x' * 70}{at}{'y' * 70}"} for at in range(2)]
    for key in ("series", "facets"):
        plot = plot_of(chart("n", "v", mark="bar", **{key: "g"}))
        assert plot is not None
        texts = re.findall(r">([^<]*xx[^<]*|…[^<]*)<", "\n".join(draw_chart(plot, rows).elements))
        assert len(set(texts)) == len(texts) >= 2


@pytest.mark.parametrize("mark", ["bar", "line"])
def test_names_that_cannot_be_told_apart_are_a_fault(mark: str) -> None:
    names = [f"{end}{'a' * 60}{number}{'b' * 60}{end}" for end in "xyz" for number in range(2)]
    rows = [{"n": name, "v": 1} for name in names]
    plot = plot_of(chart("n", "v", mark=mark))
    ((path, message, hint),) = plot_faults(plot, rows)
    assert (path, "2 names are so long that they look the same" in message, "pipeline" in hint) == (
        ("x",),
        True,
        True,
    )


@given(st.lists(st.text("ab/_ ", min_size=1, max_size=40), unique=True, max_size=6), st.integers(4, 30))
def test_names_are_no_longer_than_their_room(names: list[str], most: int) -> None:
    found = fit_names(names, most)
    assert len(found) == len(names)
    assert all(len(name) <= most for name in found)
    for name in names:
        lines = break_name(name, most * LETTER)
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert all(len(line) <= most for line in lines)


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ({}, ["x: ms", "y: ms"]),
        ({"Parse": ["x"], "Write": ["y"]}, ["Parse: ms", "Write: ms"]),
        ({"Both": ["x", "y"]}, ["x: ms", "y: ms"]),
    ],
)
def test_columns_that_share_a_header_are_series_of_their_own(
    groups: dict[str, list[str]], names: list[str]
) -> None:
    drawn = {"mark": "bar", "x": "n", "y": ["x", "y"]}
    above = {"header_groups": groups} if groups else {}
    plot = plot_of(table("n", "x", "y", headers=["n", "ms", "ms"], chart=drawn, **above))
    assert plot is not None
    rows = [{"n": 1, "x": 2, "y": 3}, {"n": 4, "x": 5, "y": 6}]
    assert not plot_faults(plot, rows)
    assert [series.name for series in panels_of(plot, rows)[0].data.series] == names


def test_a_path_without_a_label_has_the_header_that_a_table_makes_of_it() -> None:
    plot = plot_of(chart("parameters.max_threads", "qps", mark="bar"))
    assert plot is not None
    assert plot.axes_in_words == "qps by Max threads"
    assert as_table(chart("parameters.max_threads", "qps", mark="bar")).headers == ("Max threads", "qps")
