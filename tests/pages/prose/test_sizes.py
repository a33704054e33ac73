"""Shares and factors of memory, sizes and counts: they compare the columns of these, and those of times nothing of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages.prose.telling import tell, write_rows

BODY = {
    "id": "parsers",
    "collection": "parsers",
    "sort": "_id",
    "columns": ["_id", "time", "memory", "file", "docs"],
    "headers": ["Parser", "Time (ms)", "Memory (MB)", "File (KiB)", "Documents"],
}
ROWS = [
    {"_id": "orjson", "time": 1.0, "memory": 12.4, "file": 512, "docs": 30},
    {"_id": "ujson", "time": 3.5, "memory": 18.9, "file": 2048, "docs": 210},
    {"_id": "simplejson", "time": 19.0, "memory": 25.3, "file": 700, "docs": 50},
]


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    return write_rows(tmp_path, "parsers", ROWS)


def told(prose: str, fixtures: Path, **changed: object) -> list[str]:
    table = f"<!-- RESULT_TABLE: {json.dumps({**BODY, **changed})} -->"
    return tell(f"# Parsers\n\n{prose}\n\n{table}\n", fixtures)


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("orjson uses 34 % less memory than ujson.", []),
        ("orjson uses 54 % less memory than ujson.", ["54 %"]),
        ("orjson uses 66 % less memory than ujson.", ["66 %"]),  # which is of its memory
        ("simplejson uses 2x the memory of orjson.", []),
        ("simplejson uses 3x the memory of orjson.", ["3x"]),
        ("simplejson uses 19x the memory of orjson.", ["19x"]),  # it takes 19 times as long
        ("simplejson uses twice the memory of orjson.", []),
        ("ujson uses twice the memory of orjson.", ["twice"]),
        ("The file of ujson is 4x larger than that of orjson.", []),
        ("The file of ujson is 4.1x larger than that of orjson.", ["4.1x"]),  # whatever steps KiB have
        ("The file of ujson is 8x larger than that of orjson.", ["8x"]),
        ("ujson has 7x the documents of orjson.", []),
        ("ujson has 5x the documents of orjson.", ["5x"]),
        ("simplejson is 2x slower than orjson.", ["2x"]),  # 2 is that of the memory
        ("simplejson takes 19x longer than orjson.", []),
        ("simplejson takes 19x longer with 2x the memory of orjson.", []),
    ],
)
def test_a_share_or_a_factor_of_sizes_compares_columns_of_sizes(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert told(prose, fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("ujson takes 18.9 MB.", []),
        ("ujson takes 19.8 MB.", ["19.8 MB"]),  # 18.9 MiB are that many MB, but both are MB
        ("ujson takes 18.0 MB.", ["18.0 MB"]),
        ("ujson takes 18.0 MiB.", []),
        ("ujson takes 18.9 MiB.", []),  # who writes MB often means that
        ("ujson takes 19.8 MiB.", ["19.8 MiB"]),
        ("The file of orjson has 512 KiB.", []),
        ("The file of orjson has 524 KB.", []),
        ("The file of orjson has 545 KiB.", ["545 KiB"]),
        ("The file of orjson has 0.50 MiB.", []),
    ],
)
def test_sizes_are_converted_where_their_units_differ(prose: str, figures: list[str], fixtures: Path) -> None:
    assert told(prose, fixtures) == figures


def test_beside_times_alone_nothing_is_said_of_sizes(fixtures: Path) -> None:
    times = {"columns": ["_id", "time"], "headers": ["Parser", "Time (ms)"]}
    assert told("orjson uses 54 % less memory than ujson.", fixtures, **times) == []
    assert told("orjson takes 54 % less time than ujson.", fixtures, **times) == ["54 %"]


def test_beside_sizes_alone_nothing_is_said_of_speeds(fixtures: Path) -> None:
    sizes = {"columns": ["_id", "memory"], "headers": ["Parser", "Memory (MB)"]}
    assert told("orjson is 54 % faster than ujson, 100 % compatible.", fixtures, **sizes) == []
    assert told("orjson uses 54 % less memory than ujson.", fixtures, **sizes) == ["54 %"]
