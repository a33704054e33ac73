"""A first table of benchmarks shows one measure of each, with its unit, and stays as it is when they run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preprocessor.commands.new.benchmarks import suggest_for_benchmarks
from tests.commands.test_commands import mongo_tables


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
    assert found == ({}, ["name", "value"], ["Benchmark", "Time"], ["_id"], {"value": "s"})


def test_what_is_no_time_has_its_unit_in_the_header() -> None:
    more = {"metric": "throughput", "unit": "op/s", "better": "higher"}
    found = suggest_for_benchmarks([benchmark("a", 2.0, **more), benchmark("b", 1.0, **more)])
    assert found == ({}, ["name", "value"], ["Benchmark", "Throughput (op/s)"], ["_id"], {})


def test_of_several_measures_the_first_is_shown_and_units_that_differ_have_a_column() -> None:
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


@pytest.mark.parametrize("command", [["new"], ["init"]])
def test_the_comment_that_is_written_is_clean(tmp_path: Path, command: list[str]) -> None:
    rows = [
        benchmark(name, value, parameters={"size": size})
        for name, value in (("a", 0.25), ("b", 0.125))
        for size in (1, 2)
    ]
    (tmp_path / "fixtures/bench").mkdir(parents=True)
    (tmp_path / "fixtures/bench/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    more = ["--append", "README.md"] if command == ["new"] else []
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
    text = mongo_tables("new", cwd=tmp_path).stdout
    assert '"format": {"parameters.n": {"missing": "–"}, "value": {"duration": "s"}}' in text
