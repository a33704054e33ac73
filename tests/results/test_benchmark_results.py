"""Runs that were made in turn are blocks: a benchmark is judged by what it is to another one in the same run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import bson
import pytest
from jsonschema import Draft7Validator

from mongo_tables.cli import main
from mongo_tables.directives.schemas import load
from mongo_tables.results.benchmark_results import merge_runs
from mongo_tables.results.conclusions import pair_blocks
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.intervals import interval
from mongo_tables.results.model import ResultsError
from tests.results.blockrows import SHAKE

WHEN = datetime(2026, 1, 31, tzinfo=UTC)


def row(name: str, value: float | None, metric="time", unit="s", suite="t") -> dict:
    better = "lower" if unit == "s" else "higher"
    return {
        "_id": {"testname": suite, "name": name, "metric": metric}, "name": name, "benchmark": name, "metric": metric, "unit": unit,
        "better": better, "value": value, "tool": "x", "start_time": WHEN, "samples": [value], "count": 1, "processes": 1,
    }  # fmt: skip


def runs(slower: float = 1.2) -> list[list[dict]]:
    """Ten runs on a machine that drifts by a factor of two: ``new`` takes so many times as long as ``old``."""
    return [
        [row("old", drift), row("new", drift * slower * shake)]
        for drift, shake in zip([1 + number / 9 for number in range(10)], SHAKE * 2, strict=False)
    ]


def test_what_is_slower_in_each_run_is_called_slower_however_the_machine_drifts():
    old, new = merge_runs(runs(), "old")
    told = new["comparison"]
    assert (told["against"], told["verdict"], told["blocks"]) == ("old, time", "slower", 10)
    pairs = pair_blocks(new, old)
    assert told["ratio"] == interval(pairs.speeds, pairs.references).ratio
    assert old["comparison"]["against"] == "itself"


def test_equal_things_are_not_told_apart():
    assert merge_runs(runs(1.0), "old")[1]["comparison"]["verdict"] == "no difference"


def test_a_document_of_runs_has_their_values_as_samples_and_the_median_of_its_speeds():
    old, _ = merge_runs(runs(), "old")
    assert (old["count"], old["processes"], old["statistic"]) == (10, 10, "median")
    assert old["samples"] == [1 + number / 9 for number in range(10)]
    assert old["speed"]["blocks"] == 10
    assert old["speed"]["low"] <= old["speed"]["median"] <= old["speed"]["high"]
    assert [one["block"] for one in old["repeats"]] == list(range(10))


def test_operations_a_second_are_speeds_and_other_measures_are_merged_without_a_verdict():
    some = [
        [
            row("a", 10.0 + n, "throughput", "ops/s"),
            row("b", 20.0 + n, "throughput", "ops/s"),
            row("b", 5.0, "B/op", "B"),
        ]
        for n in range(6)
    ]
    _, faster, memory = merge_runs(some, "a")
    assert faster["comparison"]["verdict"] == "faster"
    assert "comparison" not in memory
    assert memory["value"] == 5.0


def test_a_benchmark_that_failed_in_a_run_lacks_that_block():
    some = runs()
    some[3][1] |= {"value": None, "failed": "no such thing"}
    _, new = merge_runs(some, "old")
    assert (new["comparison"]["blocks"], new["failed"], new["count"]) == (9, "no such thing", 9)


def test_a_reference_that_is_not_there_or_several_is_told():
    with pytest.raises(ResultsError, match="there is no benchmark 'other' with a speed") as raised:
        merge_runs(runs(), "other")
    assert raised.value.hint == "there are 'old', 'new'"
    twice = [[row("a (n = 1)", 1.0) | {"benchmark": "a"}, row("a (n = 2)", 2.0) | {"benchmark": "a"}]] * 3
    with pytest.raises(ResultsError, match="several benchmarks are called 'a'"):
        merge_runs(twice, "a")
    assert merge_runs(twice, "a (n = 1)")[1]["comparison"]["verdict"] == "slower"


def test_each_suite_is_judged_by_its_own_reference():
    some = [
        [row(name, 1.0 + n, suite=suite) for suite in ("p", "q") for name in ("old", "new")] for n in range(3)
    ]
    assert {one["comparison"]["against"] for one in merge_runs(some, "old")} == {"old, time", "itself"}


def test_a_document_of_runs_is_what_the_schema_of_benchmarks_says():
    for one in merge_runs(runs(), "old"):
        Draft7Validator(load("benchmark")).validate(json.loads(write_line(bson.encode(one))))


def test_files_of_runs_become_a_table_a_sentence_and_a_comparison_with_a_verdict(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for number, run in enumerate(runs()):
        results = [
            {"command": one["name"], "mean": one["value"], "stddev": 0, "system": 0, "times": [one["value"]]}
            for one in run
        ]
        Path(f"run-{number}.json").write_text(json.dumps({"results": results}))
    files = sorted(map(str, Path().glob("run-*.json")))
    assert main(["import", *files, "--as", "bench", "--reference", "old", "--date", "2026-01-31"]) == 0
    capsys.readouterr()
    assert main(["compare", "fixtures", "--fail-if", "slower 5 %"]) == 1
    out, err = capsys.readouterr()
    assert "new, time  0." in out
    assert "% slower" in out
    assert "itself" not in out
    assert err.strip().endswith(
        "slower 5 %: hyperfine: new, time (each row to its reference, in the same block)"
    )
    Path("page.md").write_text(
        '<!-- MONGO_TABLE: {"id": "t", "collection": "bench", "pipeline": [{"$match": {"metric": "time"}}, {"$sort": {"_id": 1}},'
        ' {"$project": {"_id": 0, "name": 1, "comparison": 1, "value": 1}}], "columns": ["name", "value"], "headers": ["Name", "Time"],'
        ' "baseline": {"row": {"name": "old"}, "column": "value", "comparison": "comparison"}} -->\n\n'
        'It is <!-- MONGO_VALUE: {"table": "t", "column": "comparison", "where": {"name": "new"}} -->.\n'
    )
    assert main(["check", "page.md"]) == 0
    assert main(["render", "page.md"]) == 0
    assert "% slower (" in capsys.readouterr().out


def test_runs_without_a_reference_are_an_error_that_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json"):
        Path(name).write_text(
            json.dumps({"results": [{"command": "x", "mean": 1, "stddev": 0, "system": 0, "times": [1]}]})
        )
    assert main(["import", "a.json", "b.json", "--as", "bench"]) == 2
    assert "or compare the runs with --reference" in capsys.readouterr().err
