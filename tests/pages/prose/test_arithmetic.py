"""What rows say together: bounds that all of them keep, differences of two, and the one that is its own baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pages.prose.telling import tell, write_rows

BODY: dict[str, Any] = {
    "id": "parsers",
    "collection": "parsers",
    "sort": "_id",
    "columns": ["_id", "time", "rate", "memory"],
    "headers": ["Parser", "Time (ms)", "Decodes/s", "Memory (MB)"],
}
ROWS = [
    {"_id": "orjson", "time": 1.62, "rate": 412300, "memory": 400, "times": 1.0},
    {"_id": "ujson", "time": 3.35, "rate": 305100, "memory": 430, "times": 2.07},
    {"_id": "simplejson", "time": 14.7, "rate": 8305, "memory": 921, "times": 9.07},
]


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("fixtures"), "parsers", ROWS)


def told(prose: str, fixtures: Path, **changed: object) -> list[str]:
    table = f"<!-- RESULT_TABLE: {json.dumps({**BODY, **changed})} -->"
    return tell(f"# Parsers\n\n{prose}\n\n{table}\n", fixtures)


@pytest.mark.parametrize(
    "prose",
    [
        "All libraries stay below 20 ms.",
        "All of them take less than 1 s.",
        "They take less than 30 ms.",
        "orjson decodes over 300,000 decodes/s.",
        "orjson and ujson do at least 200,000 decodes/s.",
        "Only simplejson needs more than 10 ms.",
        "All do at least 5,000 decodes/s.",
        "None needs more than 20 ms.",
        "simplejson never takes less than 10 ms.",
        "orjson takes less than 2 ms, all others more than 3 ms.",
        "orjson needs under 2 ms and simplejson over 10 ms.",
        "All but simplejson stay below 5 ms.",
        "Every library except simplejson stays below 5 ms.",
        "Most take less than 5 ms.",
        "orjson is more than 5x faster than simplejson.",
        "orjson is up to 9x faster.",
    ],
)
def test_a_bound_that_rows_keep_is_true_however_far_they_are_from_it(prose: str, fixtures: Path) -> None:
    assert told(prose, fixtures) == []


@pytest.mark.parametrize(
    ("prose", "figure"),
    [
        ("All libraries stay below 12 ms.", "12 ms"),
        ("All stay below 4 ms.", "4 ms"),
        ("All do at least 8,400 decodes/s.", "8,400 decodes/s"),
        ("All do at least 300,000 decodes/s.", "300,000 decodes/s"),  # as two do
        ("ujson decodes over 310,000 decodes/s.", "310,000 decodes/s"),
        ("Only simplejson needs more than 20 ms.", "20 ms"),
        ("Only simplejson needs more than 3 ms.", "3 ms"),  # and so does ujson
        ("Only ujson needs more than 10 ms.", "10 ms"),
        ("None needs more than 10 ms.", "10 ms"),
        ("All but ujson stay below 5 ms.", "5 ms"),
        ("Most take less than 2.4 ms.", "2.4 ms"),
        ("orjson is more than 60x faster than simplejson.", "60x"),
        ("orjson is more than 5x faster than ujson.", "5x"),
        ("orjson is up to 8x faster.", "8x"),
        ("simplejson takes less than 10 ms.", "10 ms"),
        ("It takes up to 50 ms.", "50 ms"),  # which says what the most is
    ],
)
def test_a_bound_that_a_row_breaks_is_told(prose: str, figure: str, fixtures: Path) -> None:
    assert told(prose, fixtures) == [figure]


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("orjson beats ujson by 1.73 ms.", []),
        ("orjson beats ujson by 2.73 ms.", ["2.73 ms"]),
        ("orjson beats ujson by 13.08 ms.", ["13.08 ms"]),  # which is to simplejson
        ("simplejson takes 13.08 ms longer.", []),
        ("simplejson uses 521 MB more than orjson.", []),
        ("ujson uses 521 MB more than orjson.", ["521 MB"]),
        ("simplejson uses 621 MB more than orjson.", ["621 MB"]),
        ("simplejson uses 521 MB.", ["521 MB"]),
        ("It saves 1.73 ms.", ["1.73 ms"]),  # whose, nothing says
    ],
)
def test_a_difference_is_that_of_the_rows_that_are_named(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert told(prose, fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("orjson and ujson take 4.97 ms together.", []),
        ("All of them take 19.67 ms in total.", []),
        ("orjson and ujson take 19.67 ms together.", ["19.67 ms"]),
        ("orjson and simplejson take 4.97 ms together.", ["4.97 ms"]),
        ("They take 4.97 ms.", ["4.97 ms"]),
    ],
)
def test_a_sum_is_that_of_the_rows_that_are_named_or_of_all(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert told(prose, fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("orjson is the baseline, at 1.00x.", []),
        ("orjson has 1.00x (baseline).", []),
        ("orjson takes 1.62 ms (1.00x), ujson 3.35 ms (2.07x).", []),
        ("orjson takes 1.62 ms (1.00x), ujson 3.35 ms (3.07x).", ["3.07x"]),
        ("orjson takes 1.62 ms (1.60x).", ["1.60x"]),
        ("orjson is the baseline with 1.60x.", ["1.60x"]),
        ("| Parser | Relative |\n| --- | --- |\n| orjson | 1.00x |\n| ujson | 2.07x |", []),
        ("| Parser | Relative |\n| --- | --- |\n| orjson | 1.00x |\n| ujson | 3.07x |", ["3.07x"]),
    ],
)
def test_what_others_are_compared_with_is_once_itself(prose: str, figures: list[str], fixtures: Path) -> None:
    assert told(prose, fixtures) == figures


def test_a_column_of_ratios_has_that_of_the_baseline(fixtures: Path) -> None:
    ratios = {
        "columns": ["_id", "times"],
        "headers": ["Parser", "Relative"],
        "format": {"times": {"unit": "×"}},
    }
    assert told("orjson has 1.00x, ujson 2.07x.", fixtures, **ratios) == []
    assert told("ujson has 1.00x.", fixtures, **ratios) == ["1.00x"]
