"""Ranges and reasons: seen in the cell, told under the table, in HTML and in Markdown."""

from __future__ import annotations

from typing import Any

import pytest

from mongo_tables.directives.specs import TableSpec
from mongo_tables.render.faults import range_faults
from mongo_tables.render.html import figure_html
from mongo_tables.render.pipe_table import pipe_table
from tests.hosts.builds import read
from tests.render.specs import table

ROWS: list[dict[str, Any]] = [
    {"t": 1, "v": 100, "low": 95, "high": 105, "n": 3},
    {"t": 2, "v": 103, "low": 101, "high": 110, "n": 3},
    {"t": 4, "v": 150, "low": 140, "high": 155, "n": 3},
    {"t": 8, "v": 200, "low": 199, "high": 201, "n": 2},
]


def spec(fields: list[str], **keys: Any) -> TableSpec:
    return table("t", "v", spread={"v": fields}, baseline={"row": 1, "column": "v"}, **keys)


def test_a_cell_shows_the_range_behind_its_value_and_sorts_by_the_value() -> None:
    html = figure_html(table("t", "v", spread={"v": ["low", "high"]}, format={"v": {"decimals": 1}}), ROWS)
    assert read(html).tables[0][1] == ["1", "100.0 (95.0–105.0)"]
    assert 'data-v="100"' in html


def test_a_value_without_a_range_stands_alone() -> None:
    shown = read(
        figure_html(table("t", "v", spread={"v": ["low", "high"]}), [{"t": 1, "v": 2, "low": 1}])
    ).tables
    assert shown[0][1] == ["1", "2"]


def test_an_interval_without_ends_is_not_shown() -> None:
    rows = [{"t": 1, "v": 2, "low": 0, "high": float("inf")}]
    assert read(figure_html(table("t", "v", spread={"v": ["low", "high"]}), rows)).tables[0][1] == ["1", "2"]


def test_ranges_are_no_verdict_and_the_table_says_so() -> None:
    html = figure_html(spec(["low", "high", "n"]), ROWS)
    assert [row[-1] for row in read(html).tables[0][1:]] == [
        "baseline",
        "+3.0\u00a0%",
        "+50\u00a0%",
        "+100\u00a0%",
    ]
    assert html.count("mongo-table__note") == 1
    assert "No verdict: these rows were not measured in blocks" in html
    assert pipe_table(spec(["low", "high"]), ROWS)[-1].startswith("_No verdict: these rows")


def test_a_table_without_ranges_or_without_a_baseline_says_nothing_of_verdicts() -> None:
    assert "verdict" not in figure_html(table("t", "v", spread={"v": ["low", "high"]}), ROWS)
    assert "verdict" not in figure_html(table("t", "v", baseline={"row": 1, "column": "v"}), ROWS)


def test_a_value_outside_its_range_is_a_fault() -> None:
    (fault,) = range_faults(table("t", "v", spread={"v": ["high", "low"]}), ROWS)
    assert fault[0] == ("spread", "v")
    assert "row 1 has 100 in `v`, outside its range from 105 to 95" in fault[1]
    assert not list(range_faults(spec(["low", "high"]), ROWS))


def test_a_value_that_is_its_range_but_for_the_last_digit_is_no_fault() -> None:
    rows = [{"t": 1, "v": 0.1 + 0.2, "low": 0.3, "high": 0.3}]
    assert not list(range_faults(spec(["low", "high"]), rows))


REASONS = {"v": {"reason": "too few requests for a <99th> percentile."}}


@pytest.mark.parametrize("row", [{"t": 1}, {"t": 1, "v": None}])
def test_the_reason_why_a_value_is_not_there_can_be_read(row: dict[str, Any]) -> None:
    shown = table("t", "v", headers=["Threads", "p99"], format=REASONS)
    html = figure_html(shown, [row, {"t": 2, "v": 5}])
    assert read(html).tables[0][1] == ["1", "n/a"]
    note = "n/a in “p99”: too few requests for a &lt;99th&gt; percentile."
    assert f'<p class="mongo-table__note">{note}</p>' in html
    assert pipe_table(shown, [row])[-1] == f"_{note}_"


def test_a_reason_that_no_cell_needs_is_not_told() -> None:
    assert "percentile" not in figure_html(table("t", "v", format=REASONS), [{"t": 1, "v": 0}])


def test_columns_that_lack_values_for_one_reason_share_a_note() -> None:
    form = {name: {"reason": "too few."} for name in ("p95", "p99")}
    html = figure_html(table("t", "p95", "p99", format=form), [{"t": 1}])
    assert html.count("mongo-table__note") == 1
    assert "n/a in “p95”, “p99”: too few." in html
