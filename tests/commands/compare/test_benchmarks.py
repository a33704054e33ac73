"""Two files of a benchmark tool: ratios, and never a verdict."""

from __future__ import annotations

import json
import re
import statistics

import pytest

from mongo_tables.cli import main


def hyperfine(*times: float, command: str = "sort") -> str:
    return json.dumps(
        {
            "results": [
                {
                    "command": command,
                    "mean": statistics.fmean(times),
                    "stddev": 0.1,
                    "system": 0,
                    "times": times,
                }
            ]
        }
    )


@pytest.fixture
def sides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(old: str, new: str, name: str = "json") -> list[str]:
        (tmp_path / f"old.{name}").write_text(old)
        (tmp_path / f"new.{name}").write_text(new)
        return [f"old.{name}", f"new.{name}"]

    return write


def test_two_files_have_ratios_and_no_verdict(sides, capsys):
    lines = "".join(f"BenchmarkA\t1\t{value} ns/op\t{value} B/op\n" for value in (10, 20, 30))
    assert main(["compare", *sides(lines, lines.replace("20 ", "25 "), "txt")]) == 0
    out = capsys.readouterr().out
    assert "  BenchmarkA, time    20 ns    25 ns  1.250  no verdict: measured without blocks" in out
    assert "  BenchmarkA, B/op  20 B/op  25 B/op  1.250  no verdict: measured without blocks" in out


def test_a_condition_of_a_difference_cannot_be_met_and_does_not_pass_unseen(sides, capsys):
    arguments = sides(hyperfine(1, 2, 3), hyperfine(4, 5, 6))
    assert main(["compare", *arguments, "--fail-if", "slower"]) == 2
    assert (
        "--fail-if cannot judge any row: hyperfine: sort, time: measured without blocks"
        in capsys.readouterr().err
    )


def test_the_json_has_unit_ratio_and_no_verdict(sides, capsys):
    assert main(["compare", *sides(hyperfine(1, 2, 3), hyperfine(4, 5, 6)), "--json"]) == 0
    row, _ = json.loads(capsys.readouterr().out)["rows"]
    assert (row["one"]["unit"], row["one"]["speed"], row["judged"]["verdict"]) == ("s", 2.0, None)
    assert (row["judged"]["ratio"], row["judged"]["low"]) == (2.5, None)


def test_a_file_beside_what_was_imported_of_another_is_compared(sides, capsys):
    old, new = sides(hyperfine(1, 2, 3), hyperfine(4, 5, 6))
    assert main(["import", old, "--as", "bench"]) == 0
    capsys.readouterr()
    assert main(["compare", "fixtures", new]) == 0
    assert re.search(r"  sort, time +2 s     5 s  ", capsys.readouterr().out)


def test_benchmarks_on_one_side_only_are_named(sides, capsys):
    arguments = sides(hyperfine(1, 2), hyperfine(1, 2, command="uniq"))
    assert main(["compare", *arguments]) == 2
    assert "no row is in both" in capsys.readouterr().err


def test_another_machine_is_told(sides, capsys):
    text = "cpu: {}\nBenchmarkA\t1\t5 ns/op\n"
    assert main(["compare", *sides(text.format("one"), text.format("two"), "txt")]) == 0
    assert "measured on another machine: cpu: one in OLD, two in NEW" in capsys.readouterr().out


def test_a_value_of_zero_has_no_ratio(sides, capsys):
    assert main(["compare", *sides("BenchmarkA\t1\t0 ns/op\n", "BenchmarkA\t1\t5 ns/op\n", "txt")]) == 0
    assert "  n/a  no verdict" in capsys.readouterr().out
