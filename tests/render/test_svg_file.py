"""A chart as a file: one SVG that is legible in light and in dark, the same bytes for the same rows, and known to be ours."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.directives.specs import Reference
from mongo_tables.render.charts.drawing import draw_chart
from mongo_tables.render.charts.plot import Plot
from mongo_tables.render.charts.svg_file import STYLE_SHEET_FILE, chart_file, is_as_written, is_marked

ROWS = [
    {"x": x, "y": 10 * x + 1, "low": 10 * x, "high": 10 * x + 5, "name": f"case {x}", "s": s}
    for s in ("one", "two", "three", "four")
    for x in range(1, 6)
]
SPREAD = {"y": ("low", "high")}
LINES = (Reference(20, 20, "usual"), Reference(30, 40, "target"))
PLOTS = [
    Plot(mark="line", x="x", y=("y",), series="s", spread=SPREAD),
    Plot(mark="dot", x="x", y=("y",), series="s", log="xy"),
    Plot(mark="bar", x="name", y=("y",), series="s", spread=SPREAD),
    Plot(mark="bar", x="name", y=("y",), series="s", horizontal=True, references=LINES, spread=SPREAD),
    Plot(mark="area", x="x", y=("y",), references=LINES, spread=SPREAD),
    Plot(mark="bar", x="name", y=("y",), series="s", stack=True),
    Plot(mark="area", x="x", y=("y",), series="s", stack=True),
    Plot(mark="line", x="x", y=("y",), facets="s"),
]


def drawn(plot: Plot, rows: list[dict[str, object]] = ROWS) -> str:  # type: ignore[assignment]
    return chart_file(draw_chart(plot, rows))


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: f"{plot.mark}-{plot.horizontal}")
def test_a_file_is_whole_xml_that_asks_for_nothing_and_the_same_for_the_same_rows(plot: Plot) -> None:
    text = drawn(plot)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(root.attrib["width"]) == 664
    assert drawn(plot) == text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|@import|url\(|on\w+=", text)


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: f"{plot.mark}-{plot.horizontal}")
def test_what_a_site_gives_a_look_has_it_in_the_file(plot: Plot) -> None:
    """Rules for what stands in drawings belong into the section of the style sheet that files take over."""
    style, elements = drawn(plot).split("</style>")
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", STYLE_SHEET_FILE.read_text("utf-8"))
    seen = [
        named
        for named, look in rules
        if "__narrow" not in named and re.search("fill|stroke|opacity|weight", look)
    ]
    classes = {name for one in re.findall(r'class="([^"]+)"', elements) for name in one.split()}
    assert len(classes) > 3
    for name in classes - {"mongo-chart"}:
        if any(re.search(rf"\.{name}\b", named) for named in seen):
            assert re.search(rf"\.{name}\b", style), f"{name} has no rule in the file"


def test_a_file_defines_what_its_rules_go_by() -> None:
    style = drawn(PLOTS[0]).split("</style>")[0]
    used = set(re.findall(r"var\((--[\w-]+)", style))
    for scheme in ("svg { --mongo-page: #ffffff", "dark) { svg { --mongo-page: #0d1117"):
        defined = set(re.findall(r"(--[\w-]+):", style[style.index(scheme) :].splitlines()[0]))
        assert used - defined <= {"--mongo-c"}


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1), st.text())
def test_whatever_a_database_holds_is_text_in_the_drawing(name: str, title: str) -> None:
    rows = [{"x": name, "y": 1}, {"x": "]]></style><script>", "y": 2}]
    text = chart_file(draw_chart(Plot(mark="bar", x="x", y=("y",), name=title), rows))
    root = ElementTree.fromstring(text)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "desc", "style", "rect", "g", "path", "text", "title"}
    assert is_as_written(text)


def test_a_file_of_ours_is_known_whatever_its_line_ends_and_so_is_one_that_was_edited() -> None:
    text = drawn(PLOTS[0])
    for same in (text, text.replace("\n", "\r\n")):
        assert (is_marked(same), is_as_written(same)) == (True, True)
    edited = text.replace("case", "Case").replace("one", "eins")
    assert (is_marked(edited), is_as_written(edited)) == (True, False)
    for other in ("", "<svg/>", text[1:], text.partition("\n")[2]):
        assert (is_marked(other), is_as_written(other)) == (False, False)


def test_no_path_of_this_machine_or_time_stands_in_it() -> None:
    text = drawn(PLOTS[0])
    assert str(Path.cwd()) not in text
    assert not re.search(r"\b20\d\d-\d\d", text)
