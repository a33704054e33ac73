"""A unit stands once beside a column, on a page, in a file and in a list of changes."""

from __future__ import annotations

import pytest

from mongo_tables.render.column import find_added_unit, with_unit
from mongo_tables.render.columns import columns_of
from mongo_tables.render.downloads import csv_text
from mongo_tables.render.html import figure_html
from mongo_tables.render.pipe_table import pipe_table
from tests.render.specs import chart, table
from tests.render.test_charts import plot, svg, texts

ROWS = [{"n": 1, "ms": 3}]


def test_a_unit_that_the_header_names_is_not_said_twice() -> None:
    spec = table("n", "ms", headers=["N", "Mean time (ms)"], format={"ms": {"unit": "ms"}})
    assert ">Mean time (ms)</th>" in figure_html(spec, ROWS)
    assert csv_text(columns_of(spec, ROWS)).splitlines()[0] == "N,Mean time (ms)"
    assert "| Mean time (ms) |" in pipe_table(spec, ROWS)[0]
    drawn = svg(plot("n", "ms", labels={"ms": "Mean time (ms)"}, format=chart("n", "ms", format={"ms": {"unit": "ms"}}).format), ROWS)  # fmt: skip
    assert "Mean time (ms)" in texts(drawn)


def test_a_unit_that_the_header_lacks_is_said() -> None:
    spec = table("n", "ms", headers=["N", "Mean time"], format={"ms": {"unit": "ms"}})
    assert 'Mean time <span class="mongo-table__unit">ms</span>' in figure_html(spec, ROWS)
    assert csv_text(columns_of(spec, ROWS)).splitlines()[0] == "N,Mean time (ms)"


@pytest.mark.parametrize(
    ("header", "unit", "added"),
    [
        ("Time (ms)", "ms", ""),
        ("Time [ms]", "ms", ""),
        ("Time ( ms )", "ms", ""),
        ("Speed, MB/s", "MB/s", ""),
        ("Speed (MB per s)", "MB/s", ""),
        ("Time (s)", "ms", "ms"),
        ("Terms", "ms", "ms"),
        ("Rate (per ms)", "ms", "ms"),
        ("Size (MB)", "Mb", "Mb"),
    ],
)
def test_only_the_very_unit_counts_as_named(header: str, unit: str, added: str) -> None:
    assert find_added_unit(header, unit) == added
    assert with_unit(header, unit) == (f"{header} ({unit})" if added else header)
