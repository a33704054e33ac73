"""Runs that pytest-benchmark saved below ``.benchmarks`` are one collection, of which a set-up shows the newest run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables


def save(root: Path, python: str, name: str, date: str, **medians: float) -> None:
    folder = root / ".benchmarks" / f"Linux-CPython-{python}-64bit"
    folder.mkdir(parents=True, exist_ok=True)
    figures = ("min", "max", "mean", "median", "q1", "q3")
    run = {
        "version": "5.1.0",
        "datetime": date,
        "machine_info": {"python_implementation": "CPython", "python_version": f"{python}.1"},
        "benchmarks": [
            {
                "name": one,
                "fullname": f"t.py::{one}",
                "stats": dict.fromkeys(figures, median) | {"stddev": 0, "iterations": 1, "rounds": 3},
            }
            for one, median in medians.items()
        ],
    }
    (folder / f"{name}.json").write_text(json.dumps(run))


def shown(root: Path) -> list[list[str]]:
    page = (root / "README.md").read_text("utf-8")
    return [re.split(r" *\| *", row)[1:-1] for row in re.findall(r"^\| \w.*$", page, re.MULTILINE)][1:]


def test_a_set_up_from_a_single_run_also_shows_the_runs_after_it(tmp_path: Path) -> None:
    save(tmp_path, "3.11", "0001_a", "2026-01-01T10:00:00", x=2, y=4)
    done = mongo_tables("init", cwd=tmp_path)
    assert "mongo-tables.toml: written, results are runs=.benchmarks/*/*.json\n" in done.stdout
    assert "the table shows the only run; after the next run, it will also show the change" in done.stdout
    assert shown(tmp_path) == [["x", "2.00 s", "new"], ["y", "4.00 s", "new"]]
    save(tmp_path, "3.11", "0002_b", "2026-01-02T10:00:00", x=3, y=4)
    assert "MT166" in mongo_tables("check", "--numbers", cwd=tmp_path, expect=1).stdout
    mongo_tables("render", "--in-place", "--written", cwd=tmp_path)
    assert shown(tmp_path) == [["x", "3.00 s", "50.0 %"], ["y", "4.00 s", "0.0 %"]]


@pytest.mark.parametrize("first", ["3.11", "3.13"])
def test_the_newest_run_of_several_pythons_is_compared_only_with_runs_of_its_own(
    tmp_path: Path, first: str
) -> None:
    save(tmp_path, "3.12", "0001_a", "2026-01-01T10:00:00", x=4)
    save(tmp_path, first, "0001_a", "2026-01-02T10:00:00", x=8, y=8)
    save(tmp_path, "3.12", "0002_b", "2026-01-02T10:05:00", x=2, y=2)
    told = mongo_tables("init", cwd=tmp_path).stdout
    assert (
        "README.md: the table shows the newest of 3 runs (CPython 3.12.1), and the change since the previous run "
        "with the same runtime and processor\n"
    ) in told
    assert shown(tmp_path) == [["x", "2.00 s", "-50.0 %"], ["y", "2.00 s", "new"]]
    assert "-->2.00 s<!--" in (tmp_path / "README.md").read_text("utf-8")
