"""How something was measured is no figure of the rows: levels of confidence, thresholds, the length of runs, machines."""

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
    "columns": ["_id", "time", "cpu", "ops"],
    "headers": ["Parser", "Time (s)", "CPU (%)", "Total"],
}
ROWS = [
    {"_id": "alpha", "time": 1.62, "cpu": 61.0, "ops": 9100},
    {"_id": "beta", "time": 3.35, "cpu": 88.5, "ops": 7010},
]


def told(prose: str, folder: Path) -> list[str]:
    write_rows(folder, "parsers", ROWS)
    return tell(f"# P\n\n{prose}\n\n<!-- RESULT_TABLE: {json.dumps(BODY)} -->\n", folder)


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("Intervals are 95 % confidence intervals.", []),
        ("With a 99% CI.", []),
        ("Differences below 5 % are noise.", []),
        ("The threshold is 5 %.", []),
        ("We made 30 runs of 5 s.", []),
        ("It has a warm-up of 10 s.", []),
        ("It listens on port 8080.", []),
        ("On a Ryzen 9 7950X, a Xeon Gold 6338 and a Core i9-9900K.", []),
        ("The CPU is at 95 %.", ["95 %"]),
        ("A difference of 37 %.", ["37 %"]),
        ("30 runs took 5 s.", ["5 s"]),
        ("It runs for 5 s.", ["5 s"]),
        ("There were 8080.", ["8080"]),
    ],
)
def test_what_says_how_it_was_measured_is_not_told(prose: str, figures: list[str], tmp_path: Path) -> None:
    assert told(prose, tmp_path) == figures
