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
        ("We made 30 runs, each of 5 s.", []),
        ("We made 30 runs each lasting about 5 s.", []),
        ("Each benchmark runs for 5 s after a warm-up of 10 s.", []),
        ("Every test case was repeated for at least 5 s.", []),
        ("All benchmarks run for 5 s.", []),
        ("Runs vary by about 3 %.", []),
        ("The results differ between runs by 3 %.", []),
        ("The standard deviation of the time is below 2 %.", []),
        ("The times vary from run to run by at most 3 %.", []),
        ("The results of alpha and beta differ by 37 %.", ["37 %"]),
        ("The runs differ: alpha is at 95 %.", ["95 %"]),
        ("We repeat until the standard deviation is below 2 %.", []),
        ("The coefficient of variation stays under 2 %.", []),
        ("Each run took 5 s.", ["5 s"]),
        ("The CPU of each run is at 95 %.", ["95 %"]),
        ("Each benchmark of beta takes 5 s.", ["5 s"]),
        ("The CPU is at 95 %.", ["95 %"]),
        ("A difference of 37 %.", ["37 %"]),
        ("30 runs took 5 s.", ["5 s"]),
        ("It runs for 5 s.", ["5 s"]),
        ("There were 8080.", ["8080"]),
    ],
)
def test_what_says_how_it_was_measured_is_not_told(prose: str, figures: list[str], tmp_path: Path) -> None:
    assert told(prose, tmp_path) == figures


def test_a_column_of_how_far_runs_scatter_is_what_its_words_speak_of(tmp_path: Path) -> None:
    changed = {"columns": ["_id", "time", "cpu"], "headers": ["Parser", "Time (s)", "Standard deviation (%)"]}
    write_rows(tmp_path, "parsers", ROWS)
    table = f"<!-- RESULT_TABLE: {json.dumps({**BODY, **changed})} -->"
    for said, figures in (("61 %", []), ("2 %", ["2 %"])):
        page = f"# P\n\nThe standard deviation of alpha is {said}.\n\n{table}\n"
        assert tell(page, tmp_path) == figures
