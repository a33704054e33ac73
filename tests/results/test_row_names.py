"""Rows are told apart by names: `init`, the linter and its hints choose the same fields."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.results.row_names import find_naming_fields
from tests.commands.test_commands import mongo_tables
from tests.results.formats.test_recorded import FILES, NAMES

GO = "goos: linux\npkg: e.org/a\nBenchmarkRead-8 \t 100\t 10 ns/op\npkg: e.org/b\nBenchmarkRead-8 \t 100\t 12 ns/op\n"


def jmh(*names: str, **more: Any) -> str:
    """A file of JMH with a benchmark for each name, each slower than the one before."""
    return json.dumps([
        {"jmhVersion": "1.37", "benchmark": name, "mode": "avgt", "threads": 1, "forks": 1,
         "primaryMetric": {"score": 12.5 * number, "scoreUnit": "ns/op"}, **more}
        for number, name in enumerate(names, 1)
    ])  # fmt: skip


def pytest_benchmark(*names: str, **more: Any) -> str:
    """A file of pytest-benchmark with a test for each full name."""
    stats = {"min": 1.0, "max": 1.0, "mean": 1.0, "stddev": 0.0, "median": 1.0, "iterations": 1}
    tests = [
        {"group": None, "name": name.rpartition("::")[2], "fullname": name, "params": None, "extra_info": {},
         "stats": {**stats, "median": float(number)}, **more}
        for number, name in enumerate(names, 1)
    ]  # fmt: skip
    return json.dumps({"machine_info": {"machine": "x"}, "benchmarks": tests, "version": "5.1.0"})


def set_up(folder: Path, name: str, text: str) -> str:
    """Run ``init`` beside a file of results and return the page, which the final check found clean."""
    (folder / name).write_text(text)
    done = mongo_tables("init", cwd=folder)
    assert "2 comments on 1 page: no fault" in done.stdout + done.stderr
    return (folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("bench.txt", GO, ["| e.org/a | Read-8 ", "| e.org/b | Read-8 "]),
        ("bench.json", jmh("db.A.read", "db.B.read"), ["| db.A  | read ", "| db.B  | read "]),
        ("bench.json", pytest_benchmark("a.py::test_x", "b.py::test_x"), ["| a.py  | test_x", "| b.py  | test_x"]),
        ("bench.json", pytest_benchmark("a.py::A::test_x", "a.py::B::test_x"), ["| a.py::A | test_x", "| a.py::B | test_x"]),
    ],
    ids=["go packages", "jmh classes", "pytest files", "pytest classes"],
)  # fmt: skip
def test_a_name_in_two_suites_is_shown_with_its_suite(
    tmp_path: Path, name: str, text: str, rows: list[str]
) -> None:
    page = set_up(tmp_path, name, text)
    assert '"columns": ["_id.testname", "name", "value", "per_' in page
    assert '"headers": ["Suite", "Benchmark", "Time", "Per ' in page
    assert '"where": {"_id.testname": "' in page and '", "name": "' in page
    assert '"sort": "_id"' in page
    for row in rows:
        assert row in page


def test_suites_that_have_benchmarks_of_one_name_are_shown_if_only_their_parameters_differ(
    tmp_path: Path,
) -> None:
    runs = [json.loads(jmh(name, params={"n": n}))[0] for name, n in (("db.A.read", "1"), ("db.B.read", "2"))]
    page = set_up(tmp_path, "bench.json", json.dumps(runs))
    assert re.search(r"\| db.A +\| read \(n = 1\) +\| +1 \|", page)
    assert re.search(r"\| db.B +\| read \(n = 2\) +\| +2 \|", page)


@pytest.mark.parametrize("sort", ['"value"', '"-value"', '["name", "value"]', '"name"', '"_id"'])
def test_rows_of_one_name_are_reported_whatever_they_are_sorted_by(tmp_path: Path, sort: str) -> None:
    (tmp_path / "bench.json").write_text(jmh("db.A.read", "db.B.read"))
    (tmp_path / "README.md").write_text(
        f'<!-- RESULT_TABLE: {{"collection":"bench","columns":["name","value"],"sort":{sort}}} -->\n'
    )
    done = mongo_tables("check", "README.md", "--results", "bench.json", cwd=tmp_path, expect=None)
    assert "MT411" in done.stdout
    assert "hint: show `_id.testname`, which differs between them" in done.stdout


def test_plain_rows_are_told_apart_by_names_too_and_a_whole_number_is_one(tmp_path: Path) -> None:
    comment = '<!-- RESULT_TABLE: {"collection":"t","columns":["name","threads","ms"],"sort":"ms"} -->\n'
    (tmp_path / "p.md").write_text(comment)
    rows = [{"name": "read", "threads": 1, "ms": 2.5}, {"name": "read", "threads": 4, "ms": 3.5}]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    assert (
        "MT411" not in mongo_tables("check", "p.md", "--results", "t.json", cwd=tmp_path, expect=None).stdout
    )
    (tmp_path / "t.json").write_text(json.dumps([{**row, "threads": 1} for row in rows]))
    assert "MT411" in mongo_tables("check", "p.md", "--results", "t.json", cwd=tmp_path, expect=None).stdout


def test_of_many_fields_those_that_tell_documents_apart_are_columns(tmp_path: Path) -> None:
    rows = [{**{f"f{n}": (row >> (n % 2)) % 2 for n in range(8)}, "os": f"os {row // 4}"} for row in range(8)]
    (tmp_path / "speed.json").write_text(json.dumps([{**row, "ms": n + 0.5} for n, row in enumerate(rows)]))
    mongo_tables("init", cwd=tmp_path)
    assert '"os"' in (tmp_path / "README.md").read_text("utf-8")


def test_the_fewest_and_most_readable_fields_are_chosen() -> None:
    rows = [
        {"_id": {"testname": suite, "name": f"{suite}{n}", "metric": "time"}, "name": "x", "unit": "s",
         "parameters": {"n": n}, "value": 1.5}
        for suite in "ab" for n in (1, 2)
    ]  # fmt: skip
    assert find_naming_fields(rows, ["name", "parameters.n"]) == ["_id.testname"]
    assert find_naming_fields(rows, ["_id.name"]) == []
    assert find_naming_fields([rows[0], rows[0]], ["name"]) == []


def names_of_rows(folder: Path, *arguments: str) -> tuple[list[str], list[list[str]]]:
    """The sort keys of the first table that ``init`` writes, and the cells of each row without the figure."""
    mongo_tables("init", *arguments, cwd=folder)
    page = (folder / "README.md").read_text("utf-8")
    comment = json.loads(page.split("RESULT_TABLE:")[1].split("-->")[0])
    sort = [comment["sort"]] if isinstance(comment["sort"], str) else comment["sort"]
    shown = [one for one in page.splitlines() if one.startswith("|")][2:]
    at = comment["columns"].index("value")
    return sort, [row.split("|")[1 : at + 1] for row in shown]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_the_first_table_of_each_recorded_file_names_its_rows_and_is_sorted_by_names(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / path.name).write_bytes(path.read_bytes())
    sort, names = names_of_rows(tmp_path)
    assert "value" not in sort
    assert len({str(one) for one in names}) == len(names) > 0


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_the_first_table_of_two_runs_of_each_recorded_file_does_so_too(path: Path, tmp_path: Path) -> None:
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        (tmp_path / run / path.name).write_bytes(path.read_bytes())
    sort, names = names_of_rows(tmp_path, "--results", f"runs=*/{path.name}")
    assert "value" not in sort
    assert len({str(one) for one in names}) == len(names) > 0
