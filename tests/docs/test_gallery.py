"""The gallery shows below each figure the comment that made it, and nothing but that."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Final

from mongo_tables.directives.comments import Comment
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.schemas import load

PAGE: Final = Path(__file__).parents[2] / "docs" / "authors" / "gallery.md"
TEXT: Final = PAGE.read_text("utf-8")
MARKS: Final = {*load("chart")["properties"]["mark"]["enum"]}
KEYS: Final = {"stack", "horizontal", "reference", "facets", "spread", "log", "timezone"}


def shown_below(comment: Comment) -> str:
    """The first code block after a comment, which is folded."""
    first = re.search(r"^    ```\w*\n(.*?)\n    ```$", TEXT[comment.end :], re.DOTALL | re.MULTILINE)
    assert first is not None
    return textwrap.dedent(first[1])


def test_below_each_figure_stands_the_comment_that_makes_it() -> None:
    figures = [one for one in find(TEXT, str(PAGE)).comments if one.keyword in ("MONGO_CHART", "MONGO_TABLE")]
    assert figures
    for one in figures:
        assert shown_below(one) == TEXT[one.start : one.end], f"line {one.line}"


def test_every_mark_and_every_setting_of_a_chart_is_in_it() -> None:
    charts = [one.parsed.value for one in find(TEXT, str(PAGE)).comments if one.keyword == "MONGO_CHART"]
    assert {chart.get("mark", "line") for chart in charts} == MARKS
    assert KEYS - {key for chart in charts for key in chart} == set()
