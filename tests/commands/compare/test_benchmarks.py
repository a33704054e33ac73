"""Two files of a benchmark tool: ratios, intervals over processes, and never a verdict."""

from __future__ import annotations

import json
import random
import re
import statistics
from math import exp

import pytest

from mongo_tables.cli import main
from mongo_tables.results.benchmark_results import list_processes
from mongo_tables.results.comparison import compare_benchmarks
from mongo_tables.results.intervals import interval_between


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


def benchmark(samples: list[float], processes: int, unit: str = "s") -> dict:
    return {
        "_id": {"testname": "t", "name": "a", "metric": "time"}, "metric": "time", "unit": unit,
        "value": statistics.median(samples), "samples": samples, "processes": processes,
    }  # fmt: skip


@pytest.fixture
def sides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(old: str, new: str, name: str = "json") -> list[str]:
        (tmp_path / f"old.{name}").write_text(old)
        (tmp_path / f"new.{name}").write_text(new)
        return [f"old.{name}", f"new.{name}"]

    return write


def test_runs_of_processes_have_a_ratio_with_welchs_interval_and_no_verdict(sides, capsys):
    old, new = [0.10, 0.11, 0.12, 0.10], [0.20, 0.22, 0.21]
    assert main(["compare", *sides(hyperfine(*old), hyperfine(*new))]) == 0
    out = capsys.readouterr().out
    found = interval_between(old, new)
    assert (
        re.search(r"  sort, time +108 ms  210 ms  ", out) and "  no verdict: not measured side by side" in out
    )
    assert (
        f"    ratio of geometric means {found.ratio:.3f} ({found.low:.3f} to {found.high:.3f}), "
        "3 processes or more on each side\n" in out
    )
    assert "faster" not in out
    assert "slower" not in out
    assert "An interval is Welch's t on the logarithms of the means of processes" in out


def test_samples_of_one_process_have_a_ratio_without_an_interval(sides, capsys):
    lines = "".join(f"BenchmarkA\t1\t{value} ns/op\t{value} B/op\n" for value in (10, 20, 30))
    assert main(["compare", *sides(lines, lines.replace("20 ", "25 "), "txt")]) == 0
    out = capsys.readouterr().out
    assert "  no verdict: not measured side by side, and samples of one process do not show" in out
    assert "  BenchmarkA, time    20 ns    25 ns  1.250  no verdict" in out
    assert "  BenchmarkA, B/op  20 B/op  25 B/op  1.250  no verdict" in out


def test_a_condition_of_a_difference_cannot_be_met_and_does_not_pass_unseen(sides, capsys):
    arguments = sides(hyperfine(1, 2, 3), hyperfine(4, 5, 6))
    assert main(["compare", *arguments, "--fail-if", "slower"]) == 2
    assert (
        "no row can fail or pass: hyperfine: sort, time: not measured side by side" in capsys.readouterr().err
    )


def test_the_json_has_unit_ratio_interval_and_no_verdict(sides, capsys):
    assert main(["compare", *sides(hyperfine(1, 2, 3), hyperfine(4, 5, 6)), "--json"]) == 0
    row, _ = json.loads(capsys.readouterr().out)["rows"]
    assert (row["one"]["unit"], row["one"]["speed"], row["judged"]["verdict"]) == ("s", 2.0, None)
    assert row["judged"]["low"] < row["judged"]["ratio"] < row["judged"]["high"]


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


def test_a_value_of_zero_has_no_ratio():
    assert compare_benchmarks(benchmark([0.0], 1), benchmark([1.0], 1)).ratio is None
    assert (
        compare_benchmarks(benchmark([0.0, 0.0], 2), benchmark([1.0, 2.0], 2)).reason
        == "a side has no value above 0"
    )


def test_a_process_counts_once_however_many_samples_it_has():
    assert list_processes(benchmark([1.0, 3.0, 5.0, 7.0], 2)) == [2.0, 6.0]
    assert list_processes(benchmark([1.0, 3.0], 1)) == []


def test_the_interval_over_processes_holds_what_it_promises_where_samples_of_a_process_are_alike():
    """Processes differ by 5 %, the samples of one by 0.5 %. Taken as independent, samples would promise far too much."""
    chance = random.Random(17)

    def side() -> dict:
        levels = [exp(chance.gauss(0, 0.05)) for _ in range(10)]
        return benchmark([level * exp(chance.gauss(0, 0.005)) for level in levels for _ in range(20)], 10)

    outside = alone = 0
    for _ in range(400):
        old, new = side(), side()
        found = compare_benchmarks(old, new)
        outside += not found.low <= 1 <= found.high
        every = interval_between(old["samples"], new["samples"])
        alone += not every.low <= 1 <= every.high
    assert 0.02 < outside / 400 < 0.085
    assert alone / 400 > 0.4
