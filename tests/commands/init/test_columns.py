"""A first table of benchmarks shows one measure of each, with its unit, and stays as it is when they run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.commands.init.columns import suggest_for_benchmarks
from tests.commands.test_commands import mongo_tables
from tests.results.formats.test_recorded import RECORDED


def benchmark(name: str, value: float, **more: Any) -> dict[str, Any]:
    """A document as formats of benchmark tools give it."""
    metric = more.get("metric", "time")
    return {
        "_id": {"testname": "suite", "name": f"{name}{more.get('parameters', '')}", "metric": metric},
        "name": name,
        "benchmark": name,
        "metric": metric,
        "unit": "s",
        "better": "lower",
        "value": value,
        "tool": "some tool",
        "samples": [value, value],
        **more,
    }


def test_documents_of_another_shape_are_no_benchmarks() -> None:
    assert suggest_for_benchmarks([]) is None
    assert suggest_for_benchmarks([benchmark("a", 1.0), {"name": "b", "value": 2}]) is None


def test_times_are_in_the_unit_that_fits_them_and_rows_in_the_order_of_names() -> None:
    found = suggest_for_benchmarks([benchmark("a", 2.0), benchmark("b", 1.0)])
    assert found == (
        {},
        ["name", "value"],
        ["Benchmark", "Time"],
        ["_id"],
        {"value": {"duration": "s"}},
        [],
        None,
        (),
    )


def test_what_is_no_time_has_its_unit_in_the_header() -> None:
    more = {"metric": "throughput", "unit": "op/s", "better": "higher"}
    found = suggest_for_benchmarks([benchmark("a", 2.0, **more), benchmark("b", 1.0, **more)])
    assert found == ({}, ["name", "value"], ["Benchmark", "Throughput (op/s)"], ["_id"], {}, [], None, ())


@pytest.mark.parametrize(
    ("metrics", "main"),
    [
        (["system time", "user time", "time"], "time"),
        (["CPU time", "throughput", "time"], "time"),
        (["peak memory", "throughput", "peak memory"], "throughput"),
        (["Throughput", "latency", "latency"], "latency"),
        (["a", "b"], "a"),
        (["throughput", "throughput", "time"], "throughput"),
    ],
)
def test_the_main_measure_is_the_time_or_the_throughput_of_most_benchmarks_else_any_of_most(
    metrics: list[str], main: str
) -> None:
    found = suggest_for_benchmarks(
        [benchmark(f"n{n}", 1.0, metric=metric) for n, metric in enumerate(metrics)]
    )
    assert found is not None
    assert found.where == {"metric": main}
    others = list(dict.fromkeys(one for one in metrics if one != main))
    assert found.remarks == [
        f'the table shows `{main}`; other measures are {", ".join(others)}: `"where": {{"metric": "{others[0]}"}}` shows one'
    ]


def test_a_count_that_is_neither_better_high_nor_low_is_not_the_main_measure() -> None:
    counts = [benchmark(f"n{n}", 1.0, metric="Operations", better="", unit="") for n in range(3)]
    found = suggest_for_benchmarks([*counts, benchmark("n0", 1.0, metric="AverageLatency")])
    assert found is not None
    assert found.where == {"metric": "AverageLatency"}


def test_benchmarks_that_failed_are_left_out_and_named() -> None:
    rows = [benchmark("a", 1.0), benchmark("b", 2.0, failed="1 of 1 runs ended with status 3")]
    found = suggest_for_benchmarks(rows)
    assert found is not None
    assert found.where == {"failed": {"$exists": False}}
    assert found.remarks == ["left out, because they failed: b"]


def test_where_everything_failed_that_is_said() -> None:
    found = suggest_for_benchmarks([benchmark("a", 1.0, failed="no")])
    assert found is not None
    assert (found.where, found.remarks) == ({}, ["all benchmarks failed: a"])


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("hyperfine/1.15.0.json", "time"),
        ("hyperfine/2.0.0.json", "time"),
        ("googlebenchmark/1.9.5.json", "time"),
        ("jmh/1.37.json", "time"),
        ("ycsb/soak-postgres.txt", "AverageLatency"),
    ],
)
def test_of_what_a_tool_wrote_the_first_table_shows_the_measure_that_people_ask_for(
    tmp_path: Path, name: str, metric: str
) -> None:
    mongo_tables("import", str(RECORDED / name), "--as", "bench", cwd=tmp_path)
    done = mongo_tables("init", cwd=tmp_path)
    assert f'"where": {{"metric": "{metric}"' in (tmp_path / "README.md").read_text("utf-8")
    assert f"README.md: the table shows `{metric}`; other measures are " in done.stdout


def test_the_first_table_of_runs_that_failed_leaves_them_out_says_so_and_is_clean(tmp_path: Path) -> None:
    results = [
        {"command": name, "mean": 1.0, "stddev": 0.0, "median": 1.0, "user": 1.0, "system": 0.5, "min": 1.0,
         "max": 1.0, "times": [1.0, 1.0], "exit_codes": [code, code]}
        for name, code in (("good", 0), ("bad", 3), ("better", 0))
    ]  # fmt: skip
    (tmp_path / "bench.json").write_text(json.dumps({"results": results}))
    done = mongo_tables("init", cwd=tmp_path)
    assert "README.md: left out, because they failed: bad\n" in done.stdout
    assert done.stderr == "2 comments on 1 page: no fault\n"
    text = (tmp_path / "README.md").read_text("utf-8")
    assert '"where": {"metric": "time", "failed": {"$exists": false}}' in text
    assert "| good" in text
    assert "| bad" not in text


def test_units_that_differ_have_a_column() -> None:
    found = suggest_for_benchmarks(
        [benchmark("a", 2.0), benchmark("b", 9.0, unit="ms"), benchmark("a", 5.0, metric="memory", unit="B")]
    )
    assert found is not None
    assert found.where == {"metric": "time"}
    assert found.columns == ["name", "value", "unit"]
    assert found.headers == ["Benchmark", "Time", "Unit"]


def test_parameters_are_shown_where_they_differ_and_deviations_never() -> None:
    rows = [benchmark("a", 1.0, parameters={"size": size, "mode": "x"}, stddev=0.1) for size in (1, 2)]
    found = suggest_for_benchmarks(rows)
    assert found is not None
    assert found.columns == ["name", "parameters.size", "value"]
    assert found.sort == ["benchmark", "parameters.size"]


@pytest.mark.parametrize("command", [["init", "--table"], ["init"]])
def test_the_comment_that_is_written_is_clean(tmp_path: Path, command: list[str]) -> None:
    rows = [
        benchmark(name, value, parameters={"size": size})
        for name, value in (("a", 0.25), ("b", 0.125))
        for size in (1, 2)
    ]
    (tmp_path / "fixtures/bench").mkdir(parents=True)
    (tmp_path / "fixtures/bench/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    more = ["--append", "README.md"] if "--table" in command else []
    mongo_tables(*command, *more, cwd=tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert '"sort": ["benchmark", "parameters.size"]' in text
    assert '"ignore"' not in text
    mongo_tables("render", "--in-place", "README.md", cwd=tmp_path)
    assert mongo_tables("check", "--fail-on", "note", "README.md", cwd=tmp_path).stdout == ""


def test_a_parameter_that_a_benchmark_does_not_have_is_no_gap_in_what_was_measured(tmp_path: Path) -> None:
    rows = [
        benchmark("a", 1.0, parameters={"n": 1}),
        benchmark("b", 2.0),
        benchmark("c", 3.0, parameters={"n": 2}),
    ]
    (tmp_path / "fixtures/bench").mkdir(parents=True)
    (tmp_path / "fixtures/bench/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = mongo_tables("init", "--table", cwd=tmp_path).stdout
    assert '"format": {"parameters.n": {"missing": "–"}, "value": {"duration": "s"}}' in text
