"""Rows that `run` did not write so end each command that concludes from them: one line, and never status 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.commands.compare.test_compare import keep, of_blocks
from tests.results.blockrows import shaken


def spoil(folder: str, **parts: object) -> str:
    """Write the parts into the second row of the folder."""
    path = Path(folder) / "results" / "t.jsonl"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], json.dumps({**json.loads(lines[1]), **parts})]), encoding="utf-8")
    return folder


SPEED = {"block": 0, "operations_per_second": {"$numberDouble": "NaN"}}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"repeats": [SPEED]},
            "repeats.0.operations_per_second is nan, and not a number of 0 or more, at most 1e100",
        ),
        ({"repeats": [{"block": 0}]}, "repeats.0.operations_per_second is missing"),
        ({"campaign": None}, "campaign is null, and not a document"),
        ({"comparison": {"verdict": "great"}}, "comparison.against is missing"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "compare --pool", "history"])
def test_a_row_that_nothing_can_be_concluded_from_is_named_with_its_fault(
    command, parts, said, tmp_path, capsys
):
    sound = keep(tmp_path / "sound", of_blocks(shaken(50)))
    bad = spoil(keep(tmp_path / "bad", of_blocks(shaken(50), identity="two")), **parts)
    before = (tmp_path / "sound/results/t.jsonl").read_bytes()
    arguments = ["--fail-if", "slower"] if command == "compare" else []
    name, *option = command.split()
    assert main([name, sound, *option, bad, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == f"mongo-tables: {bad}: t: size 4: {said}"
    assert (tmp_path / "sound/results/t.jsonl").read_bytes() == before
    assert "Traceback" not in err


def test_other_experiments_are_compared_beside_such_a_row(tmp_path):
    bad = spoil(keep(tmp_path / "bad", of_blocks(shaken(50))), repeats="x")
    keep(tmp_path / "bad", [{**row, "_id": {**row["_id"], "testname": "u"}} for row in of_blocks(shaken(50))])
    assert main(["compare", bad, "--experiment", "u"]) == 0
    assert main(["compare", bad]) == 2
