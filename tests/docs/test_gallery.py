"""The gallery shows below each figure the comment that made it, and nothing but that."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Final

from hooks.gallery import FIGURES, FOLD, with_comments
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.schemas import load

PAGE: Final = Path(__file__).parents[2] / "docs" / "authors" / "gallery.md"
TEXT: Final = PAGE.read_text("utf-8")
MARKS: Final = {*load("chart")["properties"]["mark"]["enum"]}
KEYS: Final = {"stack", "horizontal", "reference", "facets", "spread", "log"}


def test_below_each_figure_stands_the_comment_that_makes_it_and_the_page_has_it_once() -> None:
    figures = [one for one in find(TEXT, str(PAGE)).comments if one.keyword in FIGURES]
    assert figures
    assert "```markdown\n<!--" not in TEXT
    shown = with_comments(TEXT)
    folded = re.findall(r"^    ```markdown\n(.*?)\n    ```$", shown, re.DOTALL | re.MULTILINE)
    assert [textwrap.dedent(one) for one in folded] == [TEXT[one.start : one.end] for one in figures]
    for one in figures:
        assert f"{TEXT[one.start : one.end]}{FOLD}" in shown, f"line {one.line}"


def test_every_mark_and_every_setting_of_a_chart_is_in_it() -> None:
    charts = [one.parsed.value for one in find(TEXT, str(PAGE)).comments if one.keyword == "MONGO_CHART"]
    assert {chart.get("mark", "line") for chart in charts} == MARKS
    assert KEYS - {key for chart in charts for key in chart} == set()
