"""One cell that is no number makes a column of a CSV texts: the others are numbers of its unit nevertheless."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pages.prose.telling import tell

BODY: dict[str, Any] = {
    "id": "bench",
    "collection": "bench",
    "columns": ["name", "ms"],
    "headers": ["Name", "Time (ms)"],
}


def told(prose: str, odd: str, folder: Path, **changed: object) -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "bench.csv").write_text(f"name,ms\nalpha,12.5\nbeta,{odd}\ngamma,10.5\ndelta,4.1e1\n")
    table = f"<!-- RESULT_TABLE: {json.dumps({**BODY, **changed})} -->"
    return tell(f"# Runs\n\n{prose}\n\n{table}\n", folder)


@pytest.mark.parametrize("odd", ["n/a", "-", "NaN", "timeout", '"1,234.5"', "", "11.5"])
@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("alpha takes 12.5 ms, gamma takes 10.5 ms, delta takes 41 ms.", []),
        ("gamma takes 99.9 ms, alpha takes 10.5 ms.", ["99.9 ms", "10.5 ms"]),
        ("gamma takes 10.5 s.", ["10.5 s"]),
        ("alpha takes 19% longer than gamma.", []),
        ("alpha takes 59% longer than gamma.", ["59%"]),
    ],
)
def test_the_other_cells_of_an_odd_one_are_numbers(
    odd: str, prose: str, figures: list[str], tmp_path: Path
) -> None:
    assert told(prose, odd, tmp_path / "results") == figures


def test_thousands_are_grouped_in_texts_as_well(tmp_path: Path) -> None:
    assert told("beta takes 1,234.5 ms.", '"1,234.5"', tmp_path) == []
    assert told("beta takes 1,434.5 ms.", '"1,234.5"', tmp_path) == ["1,434.5 ms"]


def test_without_a_unit_texts_stay_what_things_are_called(tmp_path: Path) -> None:
    assert told("gamma takes 99.9 ms.", "n/a", tmp_path, headers=["Name", "Release"]) == []
