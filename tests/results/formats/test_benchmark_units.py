"""What tools write in other units, forms and versions: each is the same document, or refused in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mongo_tables.results.model import ResultsError
from tests.results.formats.reading import format_of, read, write
from tests.results.formats.test_recorded import RECORDED


def pytest_benchmark(version="5.3.1", **stats: Any) -> dict[str, Any]:
    figures = {
        "min": 1.0,
        "max": 3.0,
        "mean": 2.0,
        "median": 2.0,
        "stddev": 1.0,
        "iterations": 1,
        "rounds": 3,
    }
    one = {
        "group": None,
        "name": "test_a",
        "fullname": "t.py::test_a",
        "params": None,
        "stats": figures | stats,
    }
    return {
        "machine_info": {},
        "commit_info": {},
        "benchmarks": [one],
        "datetime": "2026-01-31T12:00:00+01:00",
        "version": version,
    }


def jmh(unit="ns/op", mode="avgt", version="1.37", **metric: Any) -> list[dict[str, Any]]:
    primary = {
        "score": 2.0,
        "scoreError": 1.0,
        "scoreConfidence": [1.0, 3.0],
        "scoreUnit": unit,
        "rawData": [[1.5], [2.5]],
    }
    return [{"jmhVersion": version, "benchmark": "a.B.c", "mode": mode, "primaryMetric": primary | metric}]


def hyperfine(**result: Any) -> dict[str, Any]:
    times = {
        "mean": 2.0,
        "stddev": 1.0,
        "median": 2.0,
        "user": 0.5,
        "system": 0.25,
        "min": 1.0,
        "max": 3.0,
        "times": [1.0, 3.0],
    }
    return {"results": [{"command": "run", **times, "exit_codes": [0, 0]} | result]}


def google(schema=1, **run: Any) -> dict[str, Any]:
    context = {
        "date": "2026-01-31T12:00:00+01:00",
        "num_cpus": 2,
        "library_build_type": "release",
        "json_schema_version": schema,
    }
    first = {
        "name": "A/8",
        "run_name": "A/8",
        "run_type": "iteration",
        "iterations": 5,
        "real_time": 2.0,
        "cpu_time": 1.0,
        "time_unit": "us",
    }
    return {"context": context, "benchmarks": [first | run]}


def criterion(unit="ns", **message: Any) -> dict[str, Any]:
    about = {"estimate": 2.0, "lower_bound": 1.0, "upper_bound": 3.0, "unit": unit}
    estimates = dict.fromkeys(("typical", "mean", "median"), about)
    return {
        "reason": "benchmark-complete",
        "id": "a",
        "iteration_count": [1, 2],
        "measured_values": [2.0, 4.0],
        "unit": unit,
        **estimates,
        "slope": None,
        "throughput": [],
    } | message


def documents(tmp_path, value) -> list[dict[str, Any]]:
    return read(write(tmp_path, json.dumps(value, separators=(",", ":"))))


@pytest.mark.parametrize(
    ("unit", "mode", "told"),
    [
        ("ns/op", "avgt", ("time", 2e-9, "s", "lower")),
        ("ms/op", "sample", ("sampled time", 2e-3, "s", "lower")),
        ("min/op", "ss", ("single-shot time", 120.0, "s", "lower")),
        ("ops/ms", "thrpt", ("throughput", 2000.0, "ops/s", "higher")),
        ("ops/min", "thrpt", ("throughput", 2 / 60, "ops/s", "higher")),
    ],
)
def test_scores_of_jmh_are_in_seconds_or_operations_a_second(tmp_path, unit, mode, told):
    (one,) = documents(tmp_path, jmh(unit, mode))
    assert (one["metric"], one["value"], one["unit"], one["better"]) == told
    assert (one["processes"], one["count"]) == (2, 2)


def test_a_single_sample_of_jmh_has_no_interval_and_no_score_is_a_failure(tmp_path):
    (one,) = documents(tmp_path, jmh(scoreError="NaN", scoreConfidence=["NaN", "NaN"]))
    assert "low" not in one
    (two,) = documents(tmp_path, jmh(score="NaN", rawData=[]))
    assert (two["value"], two["failed"]) == (None, "JMH gives no score")


def test_forks_of_different_length_are_not_told_apart(tmp_path):
    (one,) = documents(tmp_path, jmh(rawData=[[1.0, 2.0], [3.0]]))
    assert one["processes"] == 1


def test_runs_of_hyperfine_that_failed_are_told_and_each_is_a_process(tmp_path):
    first, *others = documents(tmp_path, hyperfine(exit_codes=[0, 3, None], memory_usage_byte=[10, 20]))
    assert first["failed"] == "1 of 3 runs ended with status 3; 1 of 3 runs ended by a signal"
    assert first["processes"] == 2
    assert [(one["metric"], one["unit"], one["value"]) for one in others] == [
        ("user time", "s", 0.5), ("system time", "s", 0.25), ("peak memory", "B", 15.0),
    ]  # fmt: skip


def test_a_run_of_google_benchmark_that_failed_has_no_value(tmp_path):
    (one,) = documents(tmp_path, google(error_occurred=True, error_message="no such thing"))
    assert (one["value"], one["failed"]) == (None, "no such thing")


def test_counters_are_measures_and_what_is_not_finite_is_told(tmp_path):
    found = {
        one["metric"]: one for one in documents(tmp_path, google(items_per_second=5.0, ratio=float("nan")))
    }
    assert (found["time"]["value"], found["CPU time"]["value"]) == (2e-6, 1e-6)
    assert (found["items_per_second"]["better"], found["items_per_second"]["unit"]) == ("higher", "items/s")
    assert (found["ratio"]["value"], found["ratio"]["failed"]) == (None, "1 of 1 values are not finite")
    assert found["time"]["parameters"] == {"argument 1": 8}


def test_aggregates_alone_are_the_summary(tmp_path):
    value = google()
    value["benchmarks"] = [
        {"name": f"A_{one}", "run_name": "A", "run_type": "aggregate", "aggregate_name": one, "aggregate_unit": unit,
         "iterations": 3, "real_time": time, "cpu_time": time, "time_unit": "ns"}
        for one, unit, time in (("mean", "time", 4.0), ("median", "time", 3.0), ("stddev", "time", 1.0), ("cv", "percentage", 0.3))
    ]  # fmt: skip
    first = documents(tmp_path, value)[0]
    assert (first["value"], first["statistic"], first["mean"], first["stddev"]) == (
        3e-9,
        "median",
        4e-9,
        1e-9,
    )
    assert "samples" not in first


def test_samples_of_criterion_are_times_of_one_iteration(tmp_path):
    (one,) = documents(tmp_path, criterion())
    assert (one["samples"], one["iterations"], one["statistic"]) == ([2e-9, 2e-9], [1, 2], "mean")
    assert (one["low"], one["high"]) == (1e-9, 3e-9)
    (other,) = documents(tmp_path, criterion("cycles"))
    assert (other["metric"], other["unit"], other["value"]) == ("cycles", "cycles", 2.0)


def test_a_message_of_an_unknown_reason_is_told_and_those_of_cargo_are_passed_over(tmp_path):
    lines = [criterion(), {"reason": "compiler-artifact"}, {"level": "info"}]
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines)
    assert len(read(write(tmp_path, text))) == 1
    told = "bench.json:4:11: unknown message 'benchmark-skipped' of cargo-criterion"
    with pytest.raises(ResultsError, match=told):
        read(write(tmp_path, text + '{"reason":"benchmark-skipped"}\n'))


def test_built_in_measures_of_bencher_have_units_and_others_none(tmp_path):
    told = {
        "latency": {"value": 88.0, "lower_value": 87.5, "upper_value": 89.0},
        "throughput": {"value": 5},
        "size": {"value": 7, "upper_value": 8},
    }
    time, throughput, size = documents(tmp_path, {"a": told})
    assert (time["metric"], time["value"], time["low"], time["high"], time["unit"]) == (
        "time",
        8.8e-8,
        8.75e-8,
        8.9e-8,
        "s",
    )
    assert (throughput["unit"], throughput["better"]) == ("ops/s", "higher")
    assert ("better" in size, size["unit"], size["extra"]) == (False, "", {"upper_value": 8.0})


def test_parameters_that_are_numbers_throughout_are_numbers_and_versions_are_texts(tmp_path):
    value = jmh()
    value += jmh()
    value[0]["params"] = {"size": "10", "share": "0.5", "java": "3.9"}
    value[1]["params"] = {"size": "100", "share": "1", "java": "3.10"}
    found = [one["parameters"] for one in documents(tmp_path, value)]
    assert found == [{"size": 10, "share": 0.5, "java": "3.9"}, {"size": 100, "share": 1, "java": "3.10"}]


def test_a_date_is_in_utc(tmp_path):
    for value in (pytest_benchmark(), google()):
        assert documents(tmp_path, value)[0]["start_time"].isoformat() == "2026-01-31T11:00:00"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            pytest_benchmark("6.0.0"),
            "a file of pytest-benchmark 6.0.0: only versions 3 to 5 are supported",
        ),
        (pytest_benchmark("2.5.0"), "a file of pytest-benchmark 2.5.0: only"),
        (pytest_benchmark(median="fast"), "`median` must be a number, not a string"),
        (jmh(version="2.0"), "the file was written by JMH 2.0, but only JMH 1 is supported"),
        (jmh("pages/op"), "the JMH unit 'pages/op' does not fit the mode 'avgt'"),
        (jmh("us/zonk"), "the JMH unit 'us/zonk' does not fit the mode 'avgt'"),
        (jmh("us/op", mode="thrpt"), "the JMH unit 'us/op' does not fit the mode 'thrpt'"),
        (jmh(mode="all"), "unknown JMH mode 'all'"),
        (jmh(rawData=[["x"]]), "this must be a number, not a string"),
        (google(schema=2), "unknown schema 2 of Google Benchmark's JSON: only schema 1 is supported"),
        (google(time_unit="h"), "unknown unit 'h' of Google Benchmark"),
        (
            {"schema_version": 3, "metadata": {"hyperfine_version": "3.0"}, "results": []},
            "schema 3 of hyperfine's JSON",
        ),
        (hyperfine(times="all"), "`times` must be a list, not a string"),
        (criterion(iteration_count=[1]), "`measured_values` and `iteration_count` do not fit each other"),
        ({"a": {"latency": {"value": 1, "p99": 2}}}, "unknown key `p99` in the Bencher Metric Format"),
        ({"a": {"latency": {"lower_value": 1}}}, "`value` is missing"),
        (
            {"a": {"latency": {"value": 2, "lower_value": 3, "upper_value": 1}}},
            "`lower_value` is above `upper_value`",
        ),
    ],
)
def test_what_a_reader_does_not_know_is_refused_in_one_line_with_its_place(tmp_path, value, told):
    with pytest.raises(ResultsError) as raised:
        documents(tmp_path, value)
    message = raised.value.message
    assert message.startswith(f"{tmp_path}/bench.json:1:")
    assert told in message
    assert "\n" not in message


def test_a_benchmark_that_is_there_twice_is_refused_by_its_name(tmp_path):
    value = pytest_benchmark()
    value["benchmarks"] *= 2
    with pytest.raises(ResultsError, match=r"the benchmark 't.py::test_a' has its time twice"):
        documents(tmp_path, value)


def test_a_file_without_a_benchmark_says_so(tmp_path):
    with pytest.raises(ResultsError, match="this file of pytest-benchmark has no benchmark"):
        documents(tmp_path, pytest_benchmark() | {"benchmarks": []})


def test_more_samples_than_a_document_holds_are_refused(tmp_path):
    with pytest.raises(ResultsError, match=r"has 500,001 samples, but the limit is 500,000"):
        documents(tmp_path, hyperfine(times=[1] * 500_001))


@pytest.mark.parametrize(
    "text",
    [
        '{"results":[],"count":0}',
        '{"results":[{"name":"a"}]}',
        '[{"benchmark":"a","mode":"fast"}]',
        '{"benchmarks":[{"name":"a"}]}',
        '{"context":{"a":1}}',
        '{"a":{"b":{"value":"c"}}}',
        '{"a":{"b":1}}',
        "[1]",
    ],
)
def test_json_of_other_programs_is_read_as_plain_json(tmp_path, text):
    found = format_of(write(tmp_path, text))
    assert found is not None
    assert found.name == "JSON"


def test_a_file_with_sorted_keys_is_known_all_the_same(tmp_path):
    for name, value in (
        ("pytest-benchmark", pytest_benchmark()),
        ("Google Benchmark", google()),
        ("JMH", jmh()),
        ("hyperfine", hyperfine()),
    ):
        found = format_of(write(tmp_path, json.dumps(value, sort_keys=True, indent=4)))
        assert found is not None
        assert found.name == name


def test_yahoos_histogram_is_refused_and_a_password_is_not_read(tmp_path):
    head = "YCSB Client 0.17.0\nCommand line: -db x -P workloads/workloada -p url=mongodb://u:geheim@h -threads 16 -t\n"
    lines = "[OVERALL], RunTime(ms), 4000\n[OVERALL], Throughput(ops/sec), 2.5\n[READ], AverageLatency(us), 412.5\n[READ], Return=OK, 9\n"
    found = read(write(tmp_path, head + "[main] INFO x\n" + lines, "run.txt"))
    assert [(one["name"], one["metric"], one["value"], one["unit"]) for one in found] == [
        ("OVERALL", "RunTime", 4.0, "s"), ("OVERALL", "Throughput", 2.5, "ops/s"),
        ("READ", "AverageLatency", 0.0004125, "s"), ("READ", "Return=OK", 9.0, ""),
    ]  # fmt: skip
    assert found[0]["parameters"] == {"workload": "workloada", "threads": 16}
    assert found[0]["versions"] == {"harness": "YCSB 0.17.0"}
    assert "geheim" not in str(found)
    with pytest.raises(ResultsError, match=r"run.txt:7:1: buckets of a histogram"):
        read(write(tmp_path, head + lines + "[READ], 17, 3\n", "run.txt"))
    with pytest.raises(ResultsError, match=r"run.txt:6:1: a line of YCSB is cut off"):
        read(write(tmp_path, head + lines[:-2], "run.txt"))


def test_a_file_of_yahoos_that_is_cut_within_an_operation_is_never_read(tmp_path):
    (path,) = (RECORDED / "ycsb").glob("*.txt")
    text = path.read_text("utf-8")
    operations = {text.index(f"[{name}], Operations") for name in ("READ", "CLEANUP", "UPDATE")}
    between = {len("".join(text.splitlines(keepends=True)[:number])) for number in range(1, 12)}
    for end in range(1, len(text)):
        cut = write(tmp_path, text[:end], "run.txt")
        whole_enough = ("[READ], 99", "[READ], Return", "[UPDATE], Return")
        may_be_whole = end in operations | between or text[end:].startswith(whole_enough)
        if not may_be_whole and format_of(cut) is not None:
            with pytest.raises(ResultsError, match=r"cut off|the file ends within"):
                read(cut)


def ycsb(folder, lines, name="run.txt"):
    return read(write(folder, OVERALL + lines, name))


OVERALL = "[OVERALL], RunTime(ms), 4000\n[OVERALL], Throughput(ops/sec), 2.5\n"
READ = "[READ], Operations, 500\n[READ], AverageLatency(us), 412.5\n[READ], MinLatency(us), 164\n"


def test_an_operation_of_ycsb_alone_without_percentiles_is_cut_off(tmp_path):
    with pytest.raises(ResultsError, match=r"run.txt:6:1: the file ends within READ: it has no Percentile"):
        ycsb(tmp_path, READ + "[READ], MaxLatency(us), 5715\n")


def test_the_first_histogram_of_ycsb_has_no_percentiles_of_operations_beyond_a_second(tmp_path):
    assert len(ycsb(tmp_path, READ + "[READ], MaxLatency(us), 3000000\n")) == 6


def test_figures_of_operations_of_ycsb_that_failed_say_so_and_those_of_the_whole_run(tmp_path):
    ends = "[READ], Return=OK, 400\n[READ], Return=ERROR, 100\n"
    update = "[UPDATE], AverageLatency(us), 5\n[UPDATE], Return=BATCHED_OK, 3\n[TOTAL_GCs], Count, 2\n"
    found = ycsb(tmp_path, f"[READ], AverageLatency(us), 412.5\n{ends}{update}")
    assert [(one["name"], one["metric"], one.get("failed", "")) for one in found] == [
        ("OVERALL", "RunTime", "READ: 100 of 500 operations returned ERROR"),
        ("OVERALL", "Throughput", "READ: 100 of 500 operations returned ERROR"),
        ("READ", "AverageLatency", "100 of 500 operations returned ERROR"),
        ("READ", "Return=OK", "100 of 500 operations returned ERROR"),
        ("READ", "Return=ERROR", "100 of 500 operations returned ERROR"),
        ("UPDATE", "AverageLatency", ""),
        ("UPDATE", "Return=BATCHED_OK", ""),
        ("TOTAL_GCs", "Count", "READ: 100 of 500 operations returned ERROR"),
    ]


@pytest.mark.parametrize("text", ['{"results": []}', '{\n  "results": [\n  ]\n}\n'])
def test_hyperfine_without_a_result_is_told_as_one_without_a_benchmark(tmp_path, text):
    with pytest.raises(ResultsError, match=r"this file of hyperfine has no benchmark"):
        read(write(tmp_path, text))


def ended(group, *names):
    return json.dumps({"reason": "group-complete", "group_name": group, "benchmarks": names})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "thread 'main' panicked at benches/a.rs:4:9:",
            ":2:1: the run failed, so results may be missing: thread",
        ),
        ("thread 'main' (4711) panicked at benches/a.rs:4:9:", ":2:1: the run failed"),
        ("error: bench failed, to rerun pass `--bench a`", ":2:1: the run failed"),
        ('{"reason":"build-finished","success":false}', ":2:1: the build failed, so results may be missing"),
        (ended("b", "b/1"), ":1:1: the group of 'a' never ended, so results may be missing"),
    ],
)
def test_criterion_tells_what_its_file_says_of_a_run_that_failed(tmp_path, line, told):
    text = json.dumps(criterion(), separators=(",", ":"))
    with pytest.raises(ResultsError) as raised:
        read(write(tmp_path, f"{text}\n{line}\n"))
    assert told in raised.value.message
    assert "\n" not in raised.value.message


def test_criterion_passes_over_what_is_no_failure(tmp_path):
    text = json.dumps(criterion(), separators=(",", ":"))
    lines = ['{"reason":"build-finished","success":true}', "warning: unused error: x", ended("a", "a")]
    assert len(read(write(tmp_path, "\n".join([text, *lines, ""])))) == 1
