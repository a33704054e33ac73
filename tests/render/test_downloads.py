"""Rows to take away: the rows of the table, values as they came, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import datetime
from typing import Any

import pytest
from bson.int64 import Int64

from mongo_tables.render.columns import columns_of
from mongo_tables.render.downloads import csv_text, json_text
from mongo_tables.render.html import figure_html
from tests.hosts.builds import read
from tests.render.specs import table

ROWS: list[dict[str, Any]] = [
    {"size": 1, "speed": 27545.66706509288, "low": 25515.0, "high": 28486.6, "note": "plain"},
    {"size": 4, "speed": Int64(10484), "low": 9561.7, "high": 13675.9, "note": None},
    {"size": 32, "speed": -1.5, "note": 'a "quoted", text\nin two lines'},
]
FORMAT = {"speed": {"unit": "documents/s", "decimals": 0, "thousands": True}}


def parsed(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_csv_has_the_rows_of_the_table_with_the_values_as_they_came() -> None:
    spec = table("size", "speed", "note", headers=["Size", "Speed", "Note"], format=FORMAT)
    found = parsed(csv_text(columns_of(spec, ROWS)))
    assert found == [
        ["Size", "Speed (documents/s)", "Note"],
        ["1", "27545.66706509288", "plain"],
        ["4", "10484", ""],
        ["32", "-1.5", 'a "quoted", text\nin two lines'],
    ]
    shown = read(figure_html(spec, ROWS)).tables[0]
    assert [row[0] for row in found[1:]] == [row[0] for row in shown[1:]]
    assert csv_text(columns_of(spec, ROWS)).endswith("\r\n")


def test_csv_has_the_ends_of_ranges_and_the_comparison() -> None:
    spec = table(
        "size",
        "speed",
        format=FORMAT,
        spread={"speed": ["low", "high"]},
        baseline={"row": 1, "column": "speed", "header": "Against 1"},
    )
    rows = [
        {"size": 1, "speed": 200, "low": 190, "high": 210.5},
        {"size": 4, "speed": 250.0, "low": 1, "high": 300},
    ]
    assert parsed(csv_text(columns_of(spec, rows))) == [
        [
            "size",
            "speed (documents/s)",
            "speed, from (documents/s)",
            "speed, to (documents/s)",
            "Against 1 (%)",
        ],
        ["1", "200", "190", "210.5", "0"],
        ["4", "250", "1", "300", "25"],
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])
def test_a_text_that_a_spreadsheet_would_run_is_marked_as_text(text: str) -> None:
    assert parsed(csv_text(columns_of(table("a"), [{"a": text}])))[1] == [f"'{text}"]


UNSEEN = [
    "\ufeff",
    " ",
    "\u200b",
    "\0",
    "\u00a0",
    "\u2028",
    "\u202e",
    "\u2060",
    "\x85",
    "\u3164",
    "\ufe0f",
    " \ufeff\u200b\t",
]


@pytest.mark.parametrize("before", UNSEEN, ids=[f"{ord(each[0]):04x}" for each in UNSEEN])
@pytest.mark.parametrize("sign", "=+-@＝﹢")
def test_no_blank_or_invisible_character_hides_a_formula_from_the_mark(before: str, sign: str) -> None:
    text = f"{before}{sign}cmd|' /C calc'!A0"
    spec = table("a", headers=[text])
    assert parsed(csv_text(columns_of(spec, [{"a": text}]))) == [[f"'{text}"], [f"'{text}"]]


@pytest.mark.parametrize("text", ["", " ", "\u200b", " plain", "\ufeffplain = 1", "(=1)", "a-1", "₂", "•"])
def test_a_text_that_no_spreadsheet_runs_stays_as_it_is(text: str) -> None:
    assert csv_text(columns_of(table("a", "b"), [{"a": text, "b": 1}])).splitlines()[1] == f"{text},1"


def test_json_has_the_rows_as_the_pipeline_gave_them_and_the_pipeline() -> None:
    rows = [{"size": 1, "at": datetime(2026, 11, 21, 4), "big": Int64(2**60), "more": {"x": [None]}}]
    spec = table("size", title="Sizes", pipeline=[{"$sort": {"size": 1}}], format={"size": {"unit": "KiB"}})
    assert json.loads(json_text(spec, rows, None)) == {
        "title": "Sizes",
        "columns": [{"name": "size", "header": "size", "unit": "KiB"}],
        "collection": "c",
        "pipeline": [{"$sort": {"size": 1}}],
        "rows": [{"size": 1, "at": {"$date": "2026-11-21T04:00:00Z"}, "big": 2**60, "more": {"x": [None]}}],
    }


def test_json_stays_json_with_numbers_that_json_does_not_have() -> None:
    (row,) = json.loads(json_text(table("a"), [{"a": math.nan, "b": math.inf}], None))["rows"]
    assert row == {"a": {"$numberDouble": "NaN"}, "b": {"$numberDouble": "Infinity"}}
