"""What benchmark tools wrote over time: series in their own units, where they changed, and no series without dates."""

from __future__ import annotations

import json

import pytest

from mongo_tables.cli import main

HEAD = "harness: shellbench 1\n"


@pytest.fixture
def campaigns(tmp_path, monkeypatch):
    """Folders of ten imports, a day apart: from the sixth on it takes twice as long."""
    monkeypatch.chdir(tmp_path)
    for day in range(1, 11):
        nanoseconds = (1000 if day < 6 else 2000) + day
        (tmp_path / "go.txt").write_text(f"{HEAD}BenchmarkA\t1\t{nanoseconds} ns/op\t5 B/op\n")
        given = ["--as", "bench", "--date", f"2026-01-{day:02}", "--results", f"runs/{day:02}"]
        assert main(["import", "go.txt", *given]) == 0
    return [f"runs/{day:02}" for day in range(1, 11)]


def test_a_series_is_in_its_own_unit_and_a_change_is_found(campaigns, capsys):
    assert main(["history", *campaigns, "--points"]) == 0
    out = capsys.readouterr().out
    assert "Go benchmark: BenchmarkA, time  2.01 µs  10 campaigns  from 2026-01-01 to 2026-01-10" in out
    assert "2026-01-06 00:00  2.01 µs  shellbench 1" in out
    assert "from 2026-01-06 00:00 on 100 % higher" in out
    assert "Go benchmark: BenchmarkA, B/op   5 B/op  10 campaigns" in out
    assert "1 change in 2 rows" in out


def test_the_documents_for_pages_say_the_unit_and_that_a_figure_is_higher(campaigns, tmp_path):
    assert main(["history", *campaigns, "--write", "fixtures"]) == 0
    (file,) = (tmp_path / "fixtures" / "history").iterdir()
    documents = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {one["unit"] for one in documents} == {"s", "B/op"}
    (changed,) = (one for one in documents if one["change"])
    assert changed["start"] == {"$date": "2026-01-06T00:00:00Z"}
    assert "% higher (+" in changed["change"]["text"]
    assert "slower" not in changed["change"]["text"]


def test_a_run_without_a_date_is_told_by_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "go.txt").write_text("BenchmarkA\t1\t5 ns/op\n")
    assert main(["history", "go.txt"]) == 2
    err = capsys.readouterr().err
    assert "Go benchmark: BenchmarkA, time has no date" in err
    assert "--date" in err
