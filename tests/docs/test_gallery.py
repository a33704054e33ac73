"""The gallery shows above each figure the comment that made it, and nothing but that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mongo_tables.directives.comments import Comment
from mongo_tables.directives.page_scan import find

PAGE: Final = Path(__file__).parents[2] / "docs" / "authors" / "gallery.md"
TEXT: Final = PAGE.read_text("utf-8")
MARKS: Final = {"line", "area", "bar", "dot"}
KEYS: Final = {"stack", "horizontal", "reference", "facets", "spread", "log", "timezone"}


def shown_above(comment: Comment) -> str:
    """The last code block before a comment."""
    *_, last = re.findall(r"^```\w*\n(.*?)\n```$", TEXT[: comment.start], re.DOTALL | re.MULTILINE)
    return str(last)


def test_above_each_figure_stands_the_comment_that_makes_it() -> None:
    figures = [one for one in find(TEXT, str(PAGE)).comments if one.keyword in ("MONGO_CHART", "MONGO_TABLE")]
    assert figures
    for one in figures:
        assert shown_above(one) == TEXT[one.start : one.end], f"line {one.line}"


def test_every_mark_and_every_setting_of_a_chart_is_in_it() -> None:
    charts = [one.parsed.value for one in find(TEXT, str(PAGE)).comments if one.keyword == "MONGO_CHART"]
    assert {chart.get("mark", "line") for chart in charts} == MARKS
    assert KEYS - {key for chart in charts for key in chart} == set()
