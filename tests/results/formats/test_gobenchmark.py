"""Go's benchmark text: lines of results, of configuration and of units; what is cut off or of several runs is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.results.model import ResultsError
from tests.results.formats.reading import format_of, read, write
from tests.results.formats.test_recorded import RECORDED

HEAD = "goos: linux\ngoarch: amd64\npkg: example.com/words\ncpu: Some CPU @ 2.00GHz\n"


def go(folder: Path, lines: str, head: str = HEAD) -> list[dict]:
    return read(write(folder, head + lines, "bench.txt"))


def test_each_unit_of_a_line_is_a_document_and_nanoseconds_are_seconds(tmp_path):
    documents = go(
        tmp_path, "BenchmarkJoin/plus/n=10-8 \t 2000 \t 123.4 ns/op\t 64.88 MB/s\t 48 B/op\t 2 allocs/op\n"
    )
    told = [(one["metric"], one["value"], one["unit"], one["better"]) for one in documents]
    assert told == [
        ("time", 1.234e-07, "s", "lower"),
        ("MB/s", 64.88, "MB/s", "higher"),
        ("B/op", 48.0, "B/op", "lower"),
        ("allocs/op", 2.0, "allocs/op", "lower"),
    ]
    first = documents[0]
    assert first["_id"] == {
        "testname": "example.com/words", "name": "BenchmarkJoin/plus/n=10-8", "metric": "time",
    }  # fmt: skip
    assert (first["name"], first["benchmark"]) == ("Join/plus/n=10-8", "Join/plus")
    assert first["parameters"] == {"n": 10, "gomaxprocs": 8}
    assert first["hardware"] == {"cpu": "Some CPU @ 2.00GHz", "cpu_architecture": "amd64", "system": "linux"}


def test_lines_with_the_same_name_are_samples_of_one_process(tmp_path):
    (one,) = go(tmp_path, "BenchmarkA\t10\t3 ns/op\nBenchmarkA\t20\t1 ns/op\nBenchmarkA\t10\t2 ns/op\n")
    assert one["samples"] == [3e-9, 1e-9, 2e-9]
    assert (one["value"], one["statistic"], one["count"], one["processes"]) == (2e-9, "median", 3, 1)
    assert one["iterations"] == [10, 20, 10]


def test_the_same_name_in_two_packages_is_two_benchmarks(tmp_path):
    documents = go(tmp_path, "BenchmarkA\t1\t1 ns/op\npkg: other\nBenchmarkA\t1\t2 ns/op\n")
    assert [one["_id"]["testname"] for one in documents] == ["example.com/words", "other"]


def test_a_unit_line_says_which_direction_is_better(tmp_path):
    documents = go(tmp_path, "Unit hits/op better=higher\nBenchmarkA\t1\t5 hits/op\t7 things\n")
    assert [one.get("better") for one in documents] == ["higher", None]


def test_configuration_that_differs_between_results_is_a_parameter_and_what_does_not_is_none(tmp_path):
    lines = "note: same\ntoolchain: a\nBenchmarkA\t1\t1 ns/op\ntoolchain: b\nBenchmarkA\t1\t2 ns/op\n"
    documents = go(tmp_path, lines)
    assert [one["parameters"] for one in documents] == [{"toolchain": "a"}, {"toolchain": "b"}]
    assert [one["_id"]["name"] for one in documents] == [
        "BenchmarkA (toolchain = a)",
        "BenchmarkA (toolchain = b)",
    ]


def test_commit_and_date_come_from_the_lines_that_the_format_shows(tmp_path):
    head = "commit: 7cd9055\ncommit-time: 2016-02-11T13:25:45-05:00\n"
    (one,) = go(tmp_path, "BenchmarkA\t1\t1 ns/op\n", head)
    assert one["commit"]["id"] == "7cd9055"
    assert one["commit"]["time"].isoformat() == "2016-02-11T18:25:45"
    assert "start_time" not in one


def test_a_file_of_two_commits_is_refused_by_the_line_where_the_second_begins(tmp_path):
    with pytest.raises(
        ResultsError, match=r"bench.txt:3:1: `commit` changes from 'a' to 'b': the file has several"
    ):
        go(tmp_path, "BenchmarkA\t1\t1 ns/op\ncommit: b\nBenchmarkA\t1\t1 ns/op\n", "commit: a\n")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("BenchmarkA\t10\t123\n", "the result of 'BenchmarkA' is cut off"),
        ("BenchmarkA\t10\t12 ns/op\t48\n", "the result of 'BenchmarkA' is cut off"),
        ("BenchmarkA\t10\t12 ns/o", "the file ends within the result of 'BenchmarkA'"),
        ("BenchmarkA\t10\t12 ns/op", "the file ends within the result of 'BenchmarkA'"),
        ("BenchmarkA\t10", "the file ends within the result of 'BenchmarkA'"),
        ("Benchm", "the file ends within a line"),
        ("PAS", "the file ends within a line"),
        ("BenchmarkA\t10\tfast ns/op\n", "'fast' is not a number"),
    ],
)
def test_a_result_that_is_none_is_told_with_its_line(tmp_path, line, told):
    with pytest.raises(ResultsError) as raised:
        go(tmp_path, "BenchmarkB\t1\t1 ns/op\n" + line)
    assert "bench.txt:6:" in raised.value.message
    assert told in raised.value.message
    assert "\n" not in raised.value.message


FAILURES = [
    "--- FAIL: BenchmarkB-2\n    words_test.go:4: no\nFAIL\nexit status 1\nFAIL\texample.com/words\t0.005s\nFAIL\n",
    "BenchmarkB-2    \t--- FAIL: BenchmarkB-2\n    words_test.go:4: no\n",
    "panic: boom\n\ngoroutine 20 [running]:\n",
    "BenchmarkB-2    \tpanic: boom\n",
    "fatal error: all goroutines are asleep - deadlock!\n",
    "FAIL\texample.com/words [build failed]\n",
    "FAIL\r\n",
    "exit status 2\n",
    "signal: killed\n",
    "signal: segmentation fault (core dumped)\n",
    "*** Test killed with quit: ran too long (11m0s).\n",
    "make: *** [Makefile:4: bench] Error 1\n",
    "make[1]: *** Error 1\n",
    "FAIL",
]


@pytest.mark.parametrize("lines", FAILURES)
def test_a_run_that_failed_is_told_in_one_line_with_what_go_says_of_it(tmp_path, lines):
    with pytest.raises(
        ResultsError, match=r"bench.txt:6:1: the run failed, so results may be missing: "
    ) as raised:
        go(tmp_path, "BenchmarkA\t1\t1 ns/op\n" + lines)
    assert "\n" not in raised.value.message
    assert raised.value.message.rpartition("missing: ")[2] in " ".join(lines.split())


def test_words_of_failing_within_other_lines_are_no_failure(tmp_path):
    lines = "a log: panic: no\nFAILED 0 of 3\nexit status 0\n    --- FAIL: in a log\nsignal: strong\nBenchmarkA\t1\t1 ns/op\n"
    assert len(go(tmp_path, lines)) == 1


def test_a_result_behind_what_the_benchmark_printed_belongs_to_the_name_that_began(tmp_path):
    printed = (
        "BenchmarkB-2   \tloaded 10 words\nloaded 20 words\n  732655\t       169.8 ns/op\t      48 B/op\n"
    )
    lines = f"BenchmarkA-2\t1\t1 ns/op\n{printed}BenchmarkC-2\t1\t3 ns/op\nPASS\n"
    told = [(one["name"], one["metric"], one["value"]) for one in go(tmp_path, lines)]
    assert told == [
        ("A-2", "time", 1e-9),
        ("B-2", "time", 1.698e-07),
        ("B-2", "B/op", 48.0),
        ("C-2", "time", 3e-9),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "BenchmarkB-2   \tloaded 10 words\nBenchmarkC-2\t1\t3 ns/op\n",
        "BenchmarkB-2   \t\nBenchmarkB-2\t1\t3 ns/op\n",
        "BenchmarkB-2   \tloaded 10 words and 732655\t 169.8 ns/op\n",
        "BenchmarkB-2   \tloaded 10 words\n732655 words\nPASS\n",
        "BenchmarkB-2\t\n",
    ],
)
def test_a_benchmark_that_began_and_has_no_result_is_told_with_the_line_of_its_name(tmp_path, lines):
    with pytest.raises(
        ResultsError, match=r"bench.txt:6:1: the benchmark 'BenchmarkB-2' begins here and has no result$"
    ):
        go(tmp_path, "BenchmarkA-2\t1\t1 ns/op\n" + lines)


@pytest.mark.parametrize(
    "line",
    ["BenchmarkD 100 12 ns/op", "BenchmarkD\t100 12 ns/op 3 B/op", "BenchmarkD   100\t  12 ns/op   \t"],
)
def test_blanks_stand_between_values_as_well_as_tabs(line, tmp_path):
    first, *_ = go(tmp_path, f"{line}\n", head="")
    assert (first["name"], first["value"], first["iterations"]) == ("D", 1.2e-08, 100)


def test_a_result_between_blanks_belongs_to_the_name_that_began_as_well(tmp_path):
    lines = "BenchmarkB-2 \tloaded 10 words\n10 20 30\n  732655   169.8 ns/op   48 B/op\n"
    assert [one["value"] for one in go(tmp_path, lines)] == [1.698e-07, 48.0]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("  732655\t 169.8 ns/op\n", "6:1: this result has no benchmark name"),
        ("BenchmarkB-2\nloaded\n  732655   169.8 ns/op\n", "8:1: this result has no benchmark name"),
        ("BenchmarkB-2    loaded\n  732655   169.8 ns/op\n", "7:1: this result has no benchmark name"),
        (
            "  BenchmarkB-2\t100\t12 ns/op\n",
            "6:1: the line of 'BenchmarkB-2' looks like a result, but is malformed",
        ),
        (
            "BenchmarkB-2 1e3 12 ns/op\n",
            "6:1: the line of 'BenchmarkB-2' looks like a result, but is malformed",
        ),
        (
            "BenchmarkB-2 1.5 12 MB/s\n",
            "6:1: the line of 'BenchmarkB-2' looks like a result, but is malformed",
        ),
        ("BenchmarkB-2 100 12ns/op\n", "6:1: the result of 'BenchmarkB-2' is cut off"),
    ],
)
def test_a_result_that_belongs_to_nothing_or_has_another_form_is_told(lines, told, tmp_path):
    with pytest.raises(ResultsError) as raised:
        go(tmp_path, "BenchmarkA\t1\t1 ns/op\n" + lines)
    assert told in raised.value.message


@pytest.mark.parametrize(
    "line",
    [
        "732655 words",
        "10 20 30",
        "Benchmarks of 3 kinds: 12 ns/op",
        "Benchmark results: 12 ns/op",
        "12 ns/op",
        "log: 10 12 ns/op",
    ],
)
def test_other_lines_with_numbers_are_passed_over(line, tmp_path):
    assert len(go(tmp_path, f"BenchmarkA\t1\t1 ns/op\n{line}\n")) == 1


@pytest.mark.parametrize("path", sorted((RECORDED / "gobenchmark").glob("*.txt")), ids=lambda path: path.name)
def test_a_recorded_file_that_is_cut_within_a_line_is_never_read(path, tmp_path):
    text = path.read_text("utf-8")
    for end in range(1, len(text)):
        cut = write(tmp_path, text[:end], path.name)
        if text[end - 1] != "\n" and format_of(cut) is not None:
            with pytest.raises(ResultsError, match="the file ends within"):
                read(cut)


def test_what_else_the_program_printed_is_passed_over(tmp_path):
    lines = "=== RUN BenchmarkA\nBenchmarkA\nBenchmarkA\t1\t1 ns/op\n--- BENCH: BenchmarkA\n  log: 1\nPASS\nok  x 1.0s\n"
    assert len(go(tmp_path, lines)) == 1


def test_values_that_are_not_finite_are_counted_and_not_taken(tmp_path):
    first, second = go(tmp_path, "BenchmarkA\t1\t1 ns/op\tNaN hits\nBenchmarkA\t1\t2 ns/op\t3 hits\n")
    assert (first["samples"], "failed" in first) == ([1e-9, 2e-9], False)
    assert (second["samples"], second["failed"]) == ([3.0], "1 of 2 values are not finite")


def test_a_table_in_markdown_or_a_word_is_not_taken_for_go(tmp_path):
    for text in (
        "Benchmarks are in the table.\n",
        "Benchmark, iterations\nBenchmarkA, 5\n",
        "Benchmarking 5 things now\n",
    ):
        assert format_of(write(tmp_path, text, "notes.txt")) is None


def test_two_hundred_thousand_lines_are_read(tmp_path):
    lines = "".join(f"BenchmarkA/n={n % 1000}-8\t100\t{n}.5 ns/op\t{n} B/op\n" for n in range(200_000))
    documents = go(tmp_path, lines)
    assert len(documents) == 2000
    assert documents[0]["count"] == 200
