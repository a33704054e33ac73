"""What a result file lost is told: a renamed key, an entry, a line. It is never read as plain data, nor half."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mongo_tables.results.model import ResultsError
from tests.results.formats.reading import format_of, read, write
from tests.results.formats.test_recorded import RECORDED

KEYS = {
    "hyperfine/1.20.0.json": (
        "hyperfine",
        "results command mean stddev median user system min max times exit_codes memory_usage_byte",
    ),
    "hyperfine/2.0.0.json": (
        "hyperfine",
        "metadata hyperfine_version results command summary measurements time_wall_clock",
    ),
    "jmh/1.37.json": (
        "JMH",
        "benchmark mode threads forks primaryMetric secondaryMetrics score scoreUnit scoreConfidence",
    ),
    "pytestbenchmark/5.3.1.json": ("pytest-benchmark", "benchmarks fullname name stats median mean iterations version"),
    "googlebenchmark/1.9.5.json": (
        "Google Benchmark",
        "context benchmarks name run_name real_time cpu_time time_unit",
    ),
    "googlebenchmark/1.7.1-aggregates.json": ("Google Benchmark", "aggregate_name run_name name real_time time_unit"),
    "vitest/4.1.12.json": ("Vitest", "files filepath groups fullName benchmarks name mean p75 p99 rank rme hz"),
    "criterion/1.1.0.json": ("Criterion", "reason id iteration_count measured_values unit throughput typical mean"),
    "gobenchmark/1.26.json": ("Go benchmark", "Action Package Output"),
    "bencher/example.json": ("Bencher", "value"),
}  # fmt: skip
RENAMED = [(name, tool, key) for name, (tool, keys) in KEYS.items() for key in keys.split()]


def renamed(text: str, key: str, count: int = 0) -> str:
    return re.sub(rf'"{key}"(\s*:)', rf'"{key}s_"\1', text, count=count)


@pytest.mark.parametrize("count", [0, 1], ids=["all", "first"])
@pytest.mark.parametrize(("name", "tool", "key"), RENAMED)
def test_a_file_of_a_tool_with_a_renamed_key_is_refused_in_a_line_that_names_both(
    name: str, tool: str, key: str, count: int, tmp_path: Path
) -> None:
    path = write(tmp_path, renamed((RECORDED / name).read_text("utf-8"), key, count))
    with pytest.raises(ResultsError) as raised:
        read(path)
    found = format_of(path)
    assert found is not None
    assert found.name.startswith(tool)
    assert "\n" not in raised.value.message
    assert f"`{key}` is missing, which {tool} always writes" in raised.value.message or tool == "Bencher"
    assert f"`{key}" in raised.value.message


def test_a_file_that_its_author_shortened_is_read(tmp_path: Path) -> None:
    whole = json.loads((RECORDED / "hyperfine/1.20.0.json").read_text("utf-8"))
    for one in whole["results"]:
        for key in ("times", "memory_usage_byte", "min", "max"):
            del one[key]
    assert len(read(write(tmp_path, json.dumps(whole)))) == 6


LINES = [
    ("ycsb/soak-postgres.txt", r"\[(?!.*Return|TOTAL)"),
    ("libtest/1.95.0.txt", "test .* bench"),
    ("criterion/1.1.0.json", '.*"benchmark-complete"'),
]


@pytest.mark.parametrize(("name", "pattern"), LINES)
def test_a_line_that_is_lost_or_broken_is_told(name: str, pattern: str, tmp_path: Path) -> None:
    lines = (RECORDED / name).read_text("utf-8").splitlines(keepends=True)
    numbers = [number for number, line in enumerate(lines) if re.match(pattern, line)]
    assert len(numbers) > 2
    for number in numbers:
        line = lines[number]
        for other in ("", line[1:], line.replace(",", ";", 1), line[: len(line) // 2] + "\n", line[8:]):
            if other == line:
                continue
            path = write(tmp_path, "".join([*lines[:number], other, *lines[number + 1 :]]), Path(name).name)
            if format_of(path) is None:
                continue  # No line of the tool is left by which it is known.
            with pytest.raises(ResultsError) as raised:
                read(path)
            assert "\n" not in raised.value.message, (number, other)


@pytest.mark.parametrize(
    "line", ["enchmarkB-2 \t 100\t 10 ns/op\n", "  10.5 ns/op\t 3 B/op\n", "BenchmarkB x \t 5\t 10 ns/op\n"]
)
def test_a_result_of_go_whose_line_lost_its_begin_is_told(line: str, tmp_path: Path) -> None:
    path = write(tmp_path, "goos: linux\nBenchmarkA-2 \t 100\t 10 ns/op\n" + line, "bench.txt")
    with pytest.raises(ResultsError, match=r"bench.txt:3:1: .* looks like a result, but is malformed$"):
        read(path)


def test_an_event_of_go_that_lost_its_begin_is_told(tmp_path: Path) -> None:
    event = '{"Action":"output","Package":"p","Output":"BenchmarkA-2 \\t 100\\t 9.3 ns/op\\n"}\n'
    path = write(tmp_path, event + event.replace("BenchmarkA", "BenchmarkB")[50:] + event, "bench.json")
    with pytest.raises(
        ResultsError, match=r"bench.json:2:1: the line looks like one of Go benchmark, but is not JSON$"
    ):
        read(path)


@pytest.mark.parametrize("value", ["NaN", "null"])
def test_a_percentile_that_vitest_does_not_give_is_a_row_that_says_so(value: str, tmp_path: Path) -> None:
    text = re.sub(r'"p99": [\d.e-]+', f'"p99": {value}', (RECORDED / "vitest/4.1.12.json").read_text("utf-8"))
    lost = [one for one in read(write(tmp_path, text)) if one["metric"] == "time p99"]
    assert [(one["value"], one["failed"]) for one in lost] == [(None, "Vitest gives no p99")] * 5


def test_a_throughput_that_vitest_does_not_give_is_a_row_that_says_so(tmp_path: Path) -> None:
    text = re.sub(
        r'"hz": [\d.e-]+', '"hz": null', (RECORDED / "vitest/3.2.7.json").read_text("utf-8"), count=1
    )
    lost = [one for one in read(write(tmp_path, text)) if one["value"] is None]
    assert [(one["metric"], one["failed"]) for one in lost] == [("throughput", "Vitest gives no hz")]


@pytest.mark.parametrize("name", ["1.20.0", "2.0.0"])
def test_a_value_of_hyperfine_that_is_not_finite_is_told_at_its_measure(name: str, tmp_path: Path) -> None:
    whole = json.loads((RECORDED / f"hyperfine/{name}.json").read_text("utf-8"))
    first = whole["results"][0]
    if name == "2.0.0":
        first["measurements"][0]["memory_peak_resident"]["value"] = float("nan")
    else:
        first["memory_usage_byte"][0] = float("nan")
    path = write(tmp_path, json.dumps(whole))
    told = [one.get("failed", "") for one in read(path) if one["metric"] == "peak memory"]
    assert [bool(re.search(r"\b1 of \d+ values are not finite", one)) for one in told] == [True, False]


def test_a_file_of_vitest_with_two_projects_is_told_to_be_one_for_each(tmp_path: Path) -> None:
    whole = json.loads((RECORDED / "vitest/4.1.12.json").read_text("utf-8"))
    whole["files"] += whole["files"]
    with pytest.raises(
        ResultsError, match=r"'array 10' of 'bench/join[.]bench[.]js > join' has its time twice"
    ) as raised:
        read(write(tmp_path, json.dumps(whole)))
    assert "one file for each project with `vitest bench --run --project NAME" in str(raised.value.hint)
