"""When texts of dates on the axis of a line are told of: where the time between them differs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bson import Code, Decimal128

from mongo_tables.lint.chart_rules import find_dates_as_strings
from mongo_tables.lint.rule_context import RuleContext
from mongo_tables.lint.shape.values import unknown_documents
from mongo_tables.site.pages import read_page


def told(days: list[Any], mark: str = "line") -> bool:
    """Whether a line over these texts is told of."""
    body = {"collection": "runs", "pipeline": [], "x": "day", "y": "n", "mark": mark}
    page = read_page(f"<!-- MONGO_CHART: {json.dumps(body)} -->\n", "page.md", lambda _: None)
    rows = [{"day": day, "n": 1} for day in days]
    subject = RuleContext.of(page.pipeline_specs[0], unknown_documents(), known=False)
    return [one.rule for one in find_dates_as_strings(subject, rows)] == ["MT426"]


@pytest.mark.parametrize(
    "days",
    [
        ["2020-01-01", "2020-01-02", "2020-03-01"],
        ["2020-03-01", "2020-01-02", "2020-01-01"],
        ["2020-01", "2020-02", "2020-06"],
        ["2020-01-01T00:00:00Z", "2020-01-01T01:00:00Z", "2020-01-01T06:00:00Z"],
        ["2020-01-01 00:00", "2020-01-01 00:00:30.5", "2020-01-02"],
    ],
)
def test_texts_of_dates_between_which_the_time_differs_are_told_of(days: list[str]) -> None:
    assert told(days)
    assert told(days, "area")
    assert not told(days, "dot")


@pytest.mark.parametrize(
    "days",
    [
        ["2020-01-01", "2020-01-02", "2020-01-03"],
        ["2020-01", "2020-02", "2020-03"],
        ["2019-12-01", "2020-01-01", "2020-02-01"],
        ["2020-01-01", "2021-01-01", "2022-01-01"],
        ["2020-01-01", "2020-06-01"],
        ["2020-01-01", "2020-01-02", "later"],
        ["2020-13-01", "2020-14-02", "2020-99-03"],
        [],
    ],
)
def test_texts_at_equal_times_or_that_are_no_dates_are_not(days: list[str]) -> None:
    assert not told(days)


@pytest.mark.parametrize("value", [Decimal128("1.5"), [1], {"a": 1}, Code("2020-01-01")])
def test_values_without_a_hash_are_no_texts(value: Any) -> None:
    assert not told(["2020-01-01", value, "2020-03-01"])
    assert not told([value, "2020-01-01"])
