"""Each row against one of them: right to the digit, the baseline marked, and nothing compared with nothing."""

from __future__ import annotations

from typing import Any

import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64

from mongo_tables.directives.specs import TableSpec
from mongo_tables.render.columns import columns_of
from mongo_tables.render.comparison import baseline_faults
from mongo_tables.render.downloads import csv_text
from mongo_tables.render.html import figure_html
from mongo_tables.render.pipe_table import pipe_table
from tests.hosts.builds import read
from tests.render.specs import table

ROWS: list[dict[str, Any]] = [
    {"t": 1, "qps": 200},
    {"t": 8, "qps": 195.0},
    {"t": 16, "qps": Decimal128("250.0")},
    {"t": 32, "qps": None},
    {"t": 64, "qps": 2500},
]


def spec(**baseline: Any) -> TableSpec:
    return table("t", "qps", headers=["Threads", "Speed"], baseline={"row": 1, "column": "qps", **baseline})


def shown(**baseline: Any) -> list[list[str]]:
    return read(figure_html(spec(**baseline), ROWS)).tables[0]


def test_each_row_is_compared_in_per_cent() -> None:
    assert [row[-1] for row in shown()] == [
        "Speed against 1",
        "baseline",
        "−2.5\u00a0%",
        "+25\u00a0%",
        "n/a",
        "+1150\u00a0%",
    ]


def test_or_as_a_ratio_under_a_header_of_its_own() -> None:
    found = shown(**{"as": "ratio", "header": "times one thread"})
    assert [row[-1] for row in found] == ["times one thread", "baseline", "0.98", "1.25", "n/a", "12.5"]


@pytest.mark.parametrize(("field", "second"), [({"better": "lower"}, "2.00"), ({"better": "higher"}, "0.50")])
def test_times_as_fast_is_above_one_for_what_is_faster_as_the_rows_say(field: Any, second: str) -> None:
    rows = [{"t": 1, "qps": 4, **field}, {"t": 8, "qps": 2, **field}]
    found = read(figure_html(spec(**{"as": "times as fast"}), rows)).tables[0]
    assert [row[-1] for row in found] == ["Times as fast as 1", "baseline", second]
    head = csv_text(columns_of(spec(**{"as": "times as fast"}), rows)).splitlines()[0]
    assert head.endswith(",Times as fast as 1"), "a ratio is no per cent"
    assert baseline_faults(spec(**{"as": "times as fast"}), rows) == []


def test_times_as_fast_without_a_word_on_what_is_faster_is_told() -> None:
    ((place, message, _),) = baseline_faults(spec(**{"as": "times as fast"}), ROWS)
    assert place == ("baseline", "as")
    assert message == "it is not known whether lower or higher numbers in `qps` are faster"


@pytest.mark.parametrize("value", [16, 16.0, Int64(16)])
def test_a_row_can_be_named_by_its_values(value: object) -> None:
    assert [row[-1] for row in shown(row={"t": float(str(value))})][3] == "baseline"


def test_the_header_of_a_comparison_says_with_what_rows_are_compared() -> None:
    assert '<abbr title="The difference between the column before it and the baseline row.">' in figure_html(
        spec(), ROWS
    )


def test_the_baseline_row_is_marked_and_alone() -> None:
    lines = figure_html(spec(row={"t": 16}), ROWS).splitlines()
    (marked,) = [line for line in lines if line.startswith('<tr class="mongo-table__baseline">')]
    assert marked.endswith(">16</th>")


def test_markdown_has_the_comparison_too() -> None:
    assert pipe_table(spec(), ROWS)[0] == "| Threads | Speed | Speed against 1 |"


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ({"row": 6}, "none of the 5 rows"),
        ({"row": {"t": 2}}, "none of the 5 rows"),
        ({"row": {"t": True}}, "none of the 5 rows"),
        ({"row": 4}, "no number other than 0 in `qps`"),
    ],
)
def test_a_baseline_that_is_not_there_is_said_and_nothing_is_compared(baseline: Any, said: str) -> None:
    (fault,) = baseline_faults(spec(**baseline), ROWS)
    assert said in fault[1]


def test_of_a_baseline_with_several_rows_the_hint_compares_within_groups() -> None:
    rows = [
        {"engine": engine, "test": test, "ms": ms}
        for engine, test, ms in (("a", "parse", 10), ("a", "write", 4), ("b", "parse", 5), ("b", "write", 8))
    ]
    asked = table("engine", "test", "ms", baseline={"row": {"engine": "a"}, "column": "ms"})
    ((_, message, hint),) = baseline_faults(asked, rows)
    assert message == "the baseline must be one row, but 2 of the 4 rows match it"
    assert hint == 'name one row by `test`, too, or compare the rows of each `test`: "group_rows": "test"'


@pytest.mark.parametrize(
    ("stored", "asked", "said"),
    [
        ("3.8", 3.8, 'write it as it is stored, "3.8"'),
        ("3.10", 3.1, 'write it as it is stored, "3.10"'),
        (3.8, "3.8", "write it as it is stored, 3.8"),
        ("3.8", 3.9, "name one row"),
        ("10", 1, "name one row"),
    ],
)
def test_a_baseline_with_a_number_for_a_text_is_told_the_quotes(stored: Any, asked: Any, said: str) -> None:
    rows = [{"python": stored, "ms": 2}, {"python": "other", "ms": 1}]
    wanted = table("python", "ms", baseline={"row": {"python": asked}, "column": "ms"})
    assert [hint for _, _, hint in baseline_faults(wanted, rows)] == [said]


def test_a_sound_baseline_has_no_fault() -> None:
    assert baseline_faults(spec(), ROWS) == []


# -- in tables with groups of rows, within each group --

GROUPED: list[dict[str, Any]] = [
    {"g": "A", "n": "x", "v": 3},
    {"g": "A", "n": "y", "v": 2},
    {"g": "B", "n": "y", "v": 20},
    {"g": "B", "n": "x", "v": 10},
]


def grouped(**baseline: Any) -> TableSpec:
    return table("g", "n", "v", group_rows="g", baseline={"row": 1, "column": "v", **baseline})


def test_rows_are_compared_with_the_first_of_their_group() -> None:
    found = read(figure_html(grouped(), GROUPED)).tables[0]
    assert [row[-1] for row in found] == [
        "v against the first of the group",
        "A",
        "baseline",
        "−33\u00a0%",
        "B",
        "baseline",
        "−50\u00a0%",
    ]


def test_or_with_a_row_of_their_group_that_values_name_and_the_header_says_which() -> None:
    found = read(figure_html(grouped(row={"n": "x"}), GROUPED)).tables[0]
    assert [row[-1] for row in found] == [
        "v against x",
        "A",
        "baseline",
        "−33\u00a0%",
        "B",
        "+100\u00a0%",
        "baseline",
    ]


def test_rows_that_values_name_have_no_common_name_if_names_differ() -> None:
    rows = [{**row, "best": row["v"] in (3, 20)} for row in GROUPED]
    assert pipe_table(grouped(row={"best": True}), rows)[0].endswith(
        "| v against the baseline of the group |"
    )


def test_the_baseline_of_each_group_is_marked() -> None:
    assert figure_html(grouped(), GROUPED).count('<tr class="mongo-table__baseline">') == 2


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ({"row": 3}, "none of the 2 rows of the group A matches it"),
        ({"row": {"v": 3}}, "none of the 2 rows of the group B matches it"),
        ({"row": {"g": "B"}}, "2 of the 2 rows of the group B match it"),
    ],
)
def test_a_group_without_one_baseline_is_named(baseline: Any, said: str) -> None:
    assert any(said in message for _, message, _ in baseline_faults(grouped(**baseline), GROUPED))


def test_a_group_whose_baseline_has_no_number_is_named() -> None:
    rows = [*GROUPED[:2], {**GROUPED[2], "v": 0}, GROUPED[3]]
    (fault,) = baseline_faults(grouped(), rows)
    assert fault[1].startswith("the baseline row of the group B has no number other than 0 in `v`")
