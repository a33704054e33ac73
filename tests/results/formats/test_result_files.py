"""Result files as people have them: one promise for each report, and for its relatives in other formats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import bson
import pytest
from bson.decimal128 import Decimal128

from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.formats.raw_values import are_numbers, are_versions, version_key
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.source_text import split_parts
from tests.commands.test_commands import mongo_tables
from tests.results.formats.reading import format_of, read, write
from tests.results.formats.test_recorded import FILES, NAMES
from tests.results.test_row_names import GO, jmh, pytest_benchmark

YCSB = "[OVERALL], RunTime(ms), 600000\n[OVERALL], Throughput(ops/sec), 9.0\n"
LIBTEST = "test join ... bench:       2,043.12 ns/iter (+/- 33.50) = 480 MB/s\n"
CARGO = '{"reason":"compiler-artifact","package_id":"x"}\n{"reason":"build-finished","success":true}\n'
MESSAGE = json.dumps({
    "reason": "benchmark-complete", "id": "a/b", "unit": "ns", "iteration_count": [10], "measured_values": [100.0],
    "throughput": [{"per_iteration": 5, "unit": "elements"}], "slope": None,
    **{name: {"estimate": 10.0, "lower_bound": 8.0, "upper_bound": 20.0, "unit": "ns"}
       for name in ("typical", "mean", "median")},
})  # fmt: skip


def hyperfine(*delays: str, **more: Any) -> str:
    """A file of hyperfine with a command for each value of a parameter."""
    return json.dumps({"results": [
        {"command": f"sleep {one}", "mean": 1.0, "stddev": 0.0, "median": 1.0, "user": 0.0, "system": 0.0, "min": 1.0,
         "max": 1.0, "times": [1.0], "parameters": {"delay": one}, **more}
        for one in delays
    ]})  # fmt: skip


def rows_of(where: str) -> list[dict[str, Any]]:
    source = FileSource(where, split_parts(where))
    (name,) = source.collections()
    return source.aggregate(Query(name, ()))


# -- recognition --


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("progress of a long run\n" * 20_000 + YCSB, "ycsb"),
        ("=== RUN TestLong\n" * 20_000 + GO, "gobenchmark"),
        ("   Compiling words v0.1.0\n" * 20_000 + LIBTEST, "libtest"),
        ("   Compiling words v0.1.0\n" * 20_000 + MESSAGE + "\n", "criterion"),
        (json.dumps({"benchmarks": [{"data": [1.5] * 50_000, **json.loads(pytest_benchmark("a::b"))["benchmarks"][0]}],
                     "version": "5.1.0"}), "pytestbenchmark"),
        (json.dumps([{"primaryMetric": {"rawData": [[1.5] * 50_000], **json.loads(jmh("a.b"))[0]["primaryMetric"]},
                      "benchmark": "a.b", "mode": "avgt"}]), "jmh"),
        (json.dumps({"results": [{"times": [1.5] * 50_000, **json.loads(hyperfine("1"))["results"][0]}]}), "hyperfine"),
    ],
    ids=["ycsb", "go", "libtest", "criterion", "pytest", "jmh", "hyperfine"],
)  # fmt: skip
def test_a_format_is_known_wherever_in_the_file_its_lines_or_keys_are(
    tmp_path: Path, text: str, module: str
) -> None:
    for name in ("bench.json", "bench.txt", "bench.csv", "bench.log"):
        path = write(tmp_path, text, name)
        found = format_of(path)
        assert found is not None
        assert found.module == module
        assert read(path)


@pytest.mark.parametrize("text", [
    '[{"note": "a file with machine_info, \\"machine_info\\" and more", "n": 1}]',
    '[{"primaryMetric": "speed", "n": 1}, {"mode": "x"}]',
    '[{"results": [{"command": "ls", "stddev": 1}]}]',
    '{"results": [{"command": "ls", "stddev": 1}]}',
    '[{"run": {"benchmarks": [], "machine_info": {}}}]',
    '{"files": ["a"], "groups": [], "filepath": "x"}',
])  # fmt: skip
def test_plain_data_with_words_of_a_tool_is_plain_data(tmp_path: Path, text: str) -> None:
    found = format_of(write(tmp_path, text))
    assert found is not None
    assert found.module == "plain_json"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("name", "text"), [
    ("bench.txt", GO), ("y.txt", YCSB), ("bench.json", hyperfine("1")), ("t.csv", "k,v\na,1\n"), ("t.tsv", "k\tv\n"),
    ("t.jsonl", '{"a": 1}\n'), ("bench.out", "no format at all, in ASCII\n"),
])  # fmt: skip
def test_another_encoding_is_named_before_any_format_is_looked_for(
    tmp_path: Path, encoding: str, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    with pytest.raises(ResultsError) as raised:
        rows_of(str(path))
    assert raised.value.message == f"{path}:1:1: {encoding[:6].upper()}, not UTF-8"
    assert "Out-File -Encoding utf8" in raised.value.hint


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix == ".json"], ids=lambda path: path.name
)
def test_lines_of_a_log_above_json_are_passed_over(path: Path, tmp_path: Path) -> None:
    log = "Running ./bench\n[INFO] Run on (8 X 3000 MHz CPU s)\n***WARNING*** CPU scaling\n\n"
    logged = write(tmp_path, log + path.read_text("utf-8"), path.name)
    if path.parent.name != "bencher":
        assert read(logged) == read(path)


def test_json_behind_other_json_is_no_file_of_a_tool_and_a_fault_has_its_line_in_the_file(
    tmp_path: Path,
) -> None:
    with pytest.raises(ResultsError, match=":2:"):
        rows_of(str(write(tmp_path, f"{hyperfine('1')}\n{hyperfine('2')}")))
    with pytest.raises(ResultsError, match=":3:"):
        rows_of(str(write(tmp_path, f"a log\n\n{hyperfine('1')[:-9]}")))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_fixture_in_another_encoding_is_named_so(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.jsonl").write_bytes('{"_id": 1}\n'.encode(encoding))
    with pytest.raises(ResultsError, match=r"a\.jsonl:1:1: UTF-16, not UTF-8"):
        rows_of(str(tmp_path))


def test_a_file_of_powershell_is_found_by_a_set_up_which_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "bench.txt").write_bytes(GO.encode("utf-16"))
    done = mongo_tables("init", cwd=tmp_path, expect=2)
    assert "UTF-16, not UTF-8" in done.stderr


@pytest.mark.parametrize(
    "text", [CARGO, CARGO + "triple/next   time:   [1.23 ns 1.24 ns 1.25 ns]\nFound 4 outliers\n"]
)
def test_messages_of_cargo_without_results_are_told_what_to_run(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ResultsError) as raised:
        rows_of(str(path))
    assert raised.value.message == f"{path}: this file has no results of Criterion"
    assert raised.value.hint == "use its public output: cargo criterion --message-format=json > bench.json"


def test_lines_of_libtest_between_messages_of_cargo_are_read(tmp_path: Path) -> None:
    assert [one["metric"] for one in rows_of(str(write(tmp_path, CARGO + LIBTEST)))] == ["time", "throughput"]


@pytest.mark.parametrize("text", [
    hyperfine("1")[:-20] + "NaN NaN Infinity nil}", jmh("a.b").replace("12.5", "12.5 12,5 x"),
    pytest_benchmark("a::b") + "} nil",
])  # fmt: skip
def test_of_a_broken_file_of_a_program_one_fault_is_told_without_hints_for_authors(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(ResultsError) as raised:
        rows_of(str(write(tmp_path, text)))
    assert len(raised.value.findings) == 1
    assert raised.value.hint == ""


# -- several runs --


RUNS = [
    pytest.param("0001.json", pytest_benchmark("a.py::x"), 1, id="pytest"),
    pytest.param("a.json", hyperfine("1"), 3, id="hyperfine"),
    pytest.param("a.txt", GO, 2, id="go"),
    pytest.param("a.json", jmh("a.b"), 1, id="jmh"),
    pytest.param("a.out", YCSB, 2, id="ycsb"),
]


@pytest.mark.parametrize(("name", "text", "count"), RUNS)
def test_several_runs_of_a_tool_are_one_collection_with_the_file_in_the_key(
    tmp_path: Path, name: str, text: str, count: int
) -> None:
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        (tmp_path / run / name).write_text(text)
    rows = rows_of(f"runs={tmp_path}/*/{name}")
    assert [one["_id"]["file"] for one in rows] == [
        f"{run}/{name}" for run in ("first", "second") for _ in range(count)
    ]


@pytest.mark.parametrize(("name", "text", "count"), RUNS)
def test_a_file_without_benchmarks_among_several_is_a_note(
    tmp_path: Path, name: str, text: str, count: int
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / f"none-{name}").write_text(
        json.dumps({"machine_info": {}, "benchmarks": [], "version": "5.1.0"})
    )
    assert len(rows_of(f"runs={tmp_path}/*{name}")) == count
    (tmp_path / "p.md").write_text(
        '<!-- RESULT_TABLE: {"collection":"runs","columns":["name","_id.metric","_id.testname","value"],'
        '"sort":"_id"} -->\n'
    )
    done = mongo_tables("check", "p.md", "--results", f"runs=*{name}", cwd=tmp_path)
    assert f"none-{name}: note MT313 this file of pytest-benchmark has no benchmark" in done.stdout
    with pytest.raises(ResultsError, match=r"this file of .* has no benchmark"):
        rows_of(f"runs={tmp_path}/none-{name}")


def test_a_file_of_no_tool_among_runs_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "run-1.json").write_text(pytest_benchmark("a.py::x"))
    (tmp_path / "run-other.json").write_text('{"a": 1}')
    (tmp_path / "p.md").write_text(
        '<!-- RESULT_TABLE: {"collection":"runs","columns":["name","value"],"sort":"_id"} -->\n'
    )
    done = mongo_tables("check", "p.md", "--results", "runs=run-*", cwd=tmp_path, expect=None)
    assert (
        "run-other.json: note MT313 a benchmark tool wrote other files of this collection, but not this one"
        in done.stdout
    )


def test_runs_that_pytest_saves_by_itself_are_found_and_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / ".benchmarks" / "Linux-CPython-3.11-64bit"
    folder.mkdir(parents=True)
    for run in ("0001", "0002"):
        (folder / f"{run}_a.json").write_text(pytest_benchmark("a.py::x", "a.py::y"))
    done = mongo_tables("init", cwd=tmp_path)
    assert "results are runs=.benchmarks/*/*.json" in done.stdout
    assert done.stdout.startswith(".benchmarks/*/*.json (2 files): results, pytest-benchmark\n")
    page = (tmp_path / "README.md").read_text("utf-8")
    assert '"columns": ["_id.file", "name", "value", "per_minute"]' in page
    assert "Linux-CPython-3.11-64bit/0002_a.json" in page


@pytest.mark.parametrize("later", ["2026-02-02T03:04:05", "2026-01-02T03:04:09"])
def test_of_dated_runs_the_newest_is_shown_with_the_change_since_the_one_before(
    tmp_path: Path, later: str
) -> None:
    (tmp_path / "runs").mkdir()
    for name, date, tests in (
        ("b", "2026-01-02T03:04:05", ["a.py::gone", "a.py::x", "a.py::y"]),
        ("a", later, ["a.py::y", "a.py::x", "a.py::z"]),
    ):
        run = json.loads(pytest_benchmark(*tests)) | {"datetime": date}
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps(run))
    told = mongo_tables("init", cwd=tmp_path).stdout
    assert "README.md: the table shows the newest of 2 runs, and the change since the previous run\n" in told
    page = (tmp_path / "README.md").read_text("utf-8")
    assert [re.split(r" *\| *", row)[1:-1] for row in re.findall(r"^\| \w.*$", page, re.MULTILINE)] == [
        ["Benchmark", "Time", "Change"],
        ["x", "2.00 s", "0.0 %"],
        ["y", "1.00 s", "-66.7 %"],
        ["z", "3.00 s", "new"],
    ]
    assert mongo_tables("check", cwd=tmp_path).stdout == ""


def test_runs_of_one_date_are_told_apart_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name in "ab":
        run = json.loads(pytest_benchmark("a.py::x", "a.py::y")) | {"datetime": "2026-01-02T03:04:05"}
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps(run))
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert '"columns": ["_id.file", "name", "value", "per_minute"]' in page
    assert len(set(re.findall(r"^\| \S.*$", page, re.MULTILINE))) == 6
    assert mongo_tables("check", cwd=tmp_path).stdout == ""


def test_runs_without_dates_are_in_the_order_of_the_numbers_in_their_names(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for run in ("run-1", "run-2", "run-10"):
        (tmp_path / "runs" / f"{run}.json").write_text(pytest_benchmark("a.py::x", "a.py::y"))
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert '"sort": ["_sort._id.file", "benchmark"]' in page
    assert re.findall(r"^\| (run-\d+)", page, re.MULTILINE) == ["run-1"] * 2 + ["run-2"] * 2 + ["run-10"] * 2
    assert mongo_tables("check", cwd=tmp_path).stdout == ""


def test_runs_whose_names_sort_by_letters_have_no_other_order(tmp_path: Path) -> None:
    for run in ("0002", "0010"):
        (tmp_path / f"{run}.json").write_text(pytest_benchmark("a.py::x"))
    assert not any("_sort" in row for row in rows_of(f"runs={tmp_path}/*.json"))


@pytest.mark.parametrize("other", ["", "settings.json"])
def test_files_of_one_tool_in_a_folder_of_their_own_are_runs(tmp_path: Path, other: str) -> None:
    (tmp_path / "runs").mkdir()
    for run in ("a", "b"):
        (tmp_path / "runs" / f"{run}.json").write_text(pytest_benchmark("a.py::x", "a.py::y"))
    if other:
        (tmp_path / "runs" / other).write_text('{"a": 1}')
    done = mongo_tables("init", cwd=tmp_path)
    assert f"results are {'runs/a.json' if other else 'runs=runs/*.json'}" in done.stdout


def test_a_command_with_its_version_in_the_name_is_sorted_by_the_version(tmp_path: Path) -> None:
    times = {"stddev": 0, "user": 1, "system": 1, "min": 1, "max": 1, "mean": 1, "median": 1, "times": [1.0]}
    runs = [
        {"command": f"python{one} -c pass", "parameters": {"python": one}, **times}
        for one in ("3.10", "3.9", "3.11")
    ]
    (tmp_path / "bench.json").write_text(json.dumps({"results": runs}))
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert re.findall(r"^\| python(\S+)", page, re.MULTILINE) == ["3.9", "3.10", "3.11"]


def test_of_one_key_in_two_files_the_message_has_the_notation_of_json(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('[{"_id": {"name": "x"}, "n": 1}]')
    with pytest.raises(ResultsError, match=r'a document of .* also has the _id \{"name":"x"\}'):
        rows_of(f"runs={tmp_path}/*.json")


# -- values of other programs --


ODD = [
    {"at": {"$date": "yesterday"}},
    {"$oid": "5f"},
    {"$oid": "507f1f77bcf86cd799439011", "k": 1},
    {"$numberDecimal": "1.5", "unit": "s"},
    [{"$binary": 1}],
    {"$date": {"$numberLong": "1"}},
    {"a": {"$numberInt": "12"}},
    {"deep": [[[{"$regex": "x", "$options": "i"}]]]},
    {"a\0b": 1},
]


@pytest.mark.parametrize("value", ODD, ids=json.dumps)
@pytest.mark.parametrize("place", ["params", "extra_info"])
def test_a_value_that_looks_like_extended_json_stays_a_value(tmp_path: Path, place: str, value: Any) -> None:
    write(tmp_path, pytest_benchmark("a.py::x", **{place: {"q": value}}))
    mongo_tables("import", "bench.json", "--as", "b", "--results", "fixtures", cwd=tmp_path)
    (one,) = rows_of(f"{tmp_path}/fixtures")
    found = one["parameters" if place == "params" else "extra"]["q"]
    assert found == value or json.loads(found) == value
    assert one == rows_of(f"{tmp_path}/bench.json")[0]


def test_names_that_look_like_operators_stay_names(tmp_path: Path) -> None:
    write(tmp_path, pytest_benchmark("a.py::x", params={"$oid": "x", "a\0": 1}))
    mongo_tables("import", "bench.json", "--as", "b", "--results", "fixtures", cwd=tmp_path)
    assert rows_of(f"{tmp_path}/fixtures")[0]["parameters"] == {"_oid": "x", "a_": 1}


BIG = 18446744073709551615


@pytest.mark.parametrize(("name", "text"), [
    ("t.json", f'[{{"n": {BIG}}}]'),
    ("t.json", f'[{{"n": {BIG}, "s": "\\ud83d\\ude00"}}]'),
    ("t.jsonl", f'{{"n": {BIG}}}\n'),
    ("f/t/a.jsonl", f'{{"_id": 1, "n": {BIG}}}\n'),
    ("f/t/a.json", f'[{{"_id": 1, "n": {BIG}}}]'),
])  # fmt: skip
def test_a_whole_number_beyond_64_bits_keeps_its_digits_in_every_format(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    assert rows_of(str(tmp_path / name.split("/")[0]))[0]["n"] == Decimal128(str(BIG))
    with pytest.raises(
        ResultsError,
        match=r":1:\d+: a whole number of 40 digits is too long for every number type of MongoDB",
    ):
        (tmp_path / name).write_text(text.replace(str(BIG), "1" * 40))
        rows_of(str(tmp_path / name.split("/")[0]))


def test_of_a_tool_a_number_beyond_64_bits_keeps_its_digits_and_costs_no_file(tmp_path: Path) -> None:
    path = write(
        tmp_path, pytest_benchmark("a.py::x", extra_info={"seed": BIG, "all": [BIG], "long": 10**40})
    )
    (one,) = read(path)
    assert one["extra"] == {"seed": Decimal128(str(BIG)), "all": [Decimal128(str(BIG))], "long": str(10**40)}
    google = {"context": {"num_cpus": 4, "library_build_type": "release"}, "benchmarks": [
        {"name": "BM_x", "iterations": BIG, "real_time": 5.0, "cpu_time": 4.0, "time_unit": "ns"}]}  # fmt: skip
    rows = read(write(tmp_path, json.dumps(google)))
    assert [("iterations" in one, one["value"]) for one in rows] == [(False, 5e-09), (False, 4e-09)]
    write_line(bson.encode(rows[0]))


@pytest.mark.parametrize(
    ("text", "values", "failed"),
    [
        (hyperfine("1", times=[1.0, float("nan")]), [1.0], "1 of 2 values are not finite"),
        (hyperfine("1", times=[1.0, 1e300]), None, "a figure is above 1e+150, which is not plausible"),
        (jmh("a.b").replace('"scoreUnit"', '"rawData": [[12.5, "NaN"]], "scoreUnit"'), [1.25e-08],
         "1 of 2 values are not finite"),
        (pytest_benchmark("a.py::x", data=[1.0, None]), [1.0], "1 of 2 values are not finite"),
    ],
    ids=["hyperfine", "above", "jmh", "pytest"],
)  # fmt: skip
def test_an_odd_figure_costs_its_measure_and_not_the_file(
    tmp_path: Path, text: str, values: list[float] | None, failed: str
) -> None:
    one = read(write(tmp_path, text))[0]
    assert (one.get("samples"), one["failed"]) == (values, failed)


# -- parameters --


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["0.5", "1.0", "10.0"], "numbers"),
        (["1", "10", "9"], "numbers"),
        (["0.25", "0.5", "1.0"], "numbers"),
        (["0.05", "0.10"], "numbers"),
        (["1e3", "1e-3"], "numbers"),
        (["1", "1.5"], "numbers"),
        (["3.9", "3.10"], "versions"),
        (["3.9", "3.11"], "versions"),
        (["3.10", "3.11"], "versions"),
        (["1.2.3", "1.10.0"], "versions"),
        (["v1.9", "v1.10"], "versions"),
        (["3.9", "3.10-rc1"], "versions"),
        (["1 kB", "9 kB"], ""),
        (["x.y", "z"], ""),
        ([str(2**64), "1"], ""),
    ],
)
def test_texts_are_numbers_or_versions_by_the_whole_column(texts: list[str], kind: str) -> None:
    assert ("numbers" if are_numbers(texts) else "versions" if are_versions(texts) else "") == kind


def test_what_sorts_versions_does_so_letter_by_letter() -> None:
    texts = ["v1.2", "v1.10", "3.9", "3.10", "3.10.1", "3.10-rc1", "10.0"]
    assert sorted(texts, key=version_key) == ["3.9", "3.10", "3.10-rc1", "3.10.1", "10.0", "v1.2", "v1.10"]


def test_parts_of_names_that_are_written_as_parameters_are_parameters_of_every_tool(tmp_path: Path) -> None:
    lines = [LIBTEST.replace("join", f"join::n={n},kind=text") for n in (10, 9)]
    found = read(write(tmp_path, "".join(lines), "bench.txt"))
    assert {str(one["parameters"]): one["benchmark"] for one in found} == {
        "{'n': 10, 'kind': 'text'}": "n,kind", "{'n': 9, 'kind': 'text'}": "n,kind",
    }  # fmt: skip
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert '"sort": ["benchmark", "parameters.n"]' in page
    assert page.index("n=9,") < page.index("n=10,", page.index("| Benchmark"))
    assert not any(
        "parameters" in one for one in read(write(tmp_path, LIBTEST.replace("join", "a==b"), "b.txt"))
    )


@pytest.mark.parametrize(
    ("name", "benchmark"),
    [
        ("JSON.parse n=9", "JSON.parse"),
        ("small (n=9)", "small"),
        ("sort[n=9] of texts", "sort of texts"),
        ("join(n=9, utf8)", "join(utf8)"),
        ("join(utf8, n=9)", "join(utf8)"),
        ("encode - n=9, kind=text", "encode"),
        ("n=9 items/sort", "items/sort"),
        ("a/n=9/b (kind=text)", "a/b"),
        ("n=9", "n"),
    ],
)
def test_the_name_without_parameters_has_neither_their_names_nor_their_brackets(
    tmp_path: Path, name: str, benchmark: str
) -> None:
    text = json.dumps({name: {"latency": {"value": 2.0}}})
    found = read(write(tmp_path, text, "bench.json"))
    assert {one["benchmark"] for one in found} == {benchmark}
    assert all(one["parameters"]["n"] == 9 for one in found)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (hyperfine(*(f"{one / 2:.1f}" for one in range(1, 22))), "delay"),
        (json.dumps([{**json.loads(jmh("a.b"))[0], "params": {"ratio": one}} for one in ("0.25", "1.0", "10.0")]), "ratio"),
        ("".join(f"BenchmarkSort/size={one}-8 \t 100\t 10 ns/op\n" for one in ("9", "10", "10#01", "100")), "size"),
        ("".join(f"BenchmarkSort/ratio={one}-8 \t 100\t 10 ns/op\n" for one in ("9.5", "10.0")), "ratio"),
    ],
    ids=["hyperfine", "jmh", "go", "go decimals"],
)  # fmt: skip
def test_parameters_that_are_numbers_sort_as_numbers(tmp_path: Path, text: str, name: str) -> None:
    path = write(tmp_path, text)
    values = [one["parameters"][name] for one in read(path) if one["metric"] == "time"]
    assert {type(one) for one in values} <= {int, float}
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert f'"parameters.{name}"' in page.split('"sort": ')[1].splitlines()[0]
    if name == "delay":
        assert "| sleep 10.0 |  10.0 | 1.00 s |" in page


def test_versions_are_shown_as_written_and_sorted_by_a_field_that_no_column_shows(tmp_path: Path) -> None:
    runs = [{**json.loads(jmh("a.b"))[0], "params": {"python": one}} for one in ("3.10", "3.9", "3.11")]
    write(tmp_path, json.dumps(runs))
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert '"sort": ["benchmark", "_sort.parameters.python"]' in page
    assert [line.split("|")[2].strip() for line in page.splitlines() if line.startswith("| b")] == [
        "3.9",
        "3.10",
        "3.11",
    ]


# -- measures --


def test_percentiles_of_jmh_are_measures_and_the_histogram_counts(tmp_path: Path) -> None:
    metric = {"score": 107926.4, "scorePercentiles": {"0.0": 202.0, "50.0": 241.0, "99.0": 167680.0, "99.9": 1e6},
              "scoreUnit": "ns/op", "rawDataHistogram": [[[[202.0, 10], [241.0, 50]]]]}  # fmt: skip
    run = {
        "jmhVersion": "1.37",
        "benchmark": "p.Pay.settle",
        "mode": "sample",
        "threads": 16,
        "primaryMetric": metric,
    }
    rows = read(write(tmp_path, json.dumps([run])))
    found = {one["metric"]: one["value"] for one in rows}
    assert found["sampled time p50"] == 2.41e-07
    assert found["sampled time p99"] == 1.6768e-04
    assert "sampled time p99.9" in found
    assert rows[0]["count"] == 60


def test_aggregates_of_google_benchmark_are_measures(tmp_path: Path) -> None:
    base = {"name": "BM_x", "run_name": "BM_x", "run_type": "aggregate", "iterations": 3, "real_time": 0.25,
            "cpu_time": 0.25, "time_unit": "ns"}  # fmt: skip
    rows = read(write(tmp_path, json.dumps({
        "context": {"num_cpus": 4, "library_build_type": "release"},
        "benchmarks": [
            {**base, "aggregate_name": "mean", "aggregate_unit": "time"},
            {**base, "aggregate_name": "p99", "aggregate_unit": "time"},
            {**base, "aggregate_name": "outliers", "aggregate_unit": "percentage"},
            {**base, "aggregate_name": "cv", "aggregate_unit": "percentage"},
        ],
    })))  # fmt: skip
    found = {one["metric"]: (one["value"], one["unit"]) for one in rows}
    assert found["time p99"] == (2.5e-10, "s")
    assert found["time outliers"] == (0.25, "1")
    assert not any("cv" in one for one in found)


def test_threads_of_jmh_that_differ_are_a_parameter(tmp_path: Path) -> None:
    runs = [{**json.loads(jmh("a.b"))[0], "threads": count} for count in (1, 4)]
    rows = read(write(tmp_path, json.dumps(runs)))
    assert [one["parameters"] for one in rows] == [{"threads": 1}, {"threads": 4}]
    assert "parameters" not in read(write(tmp_path, jmh("a.b", "a.c")))[0]


def test_throughput_of_criterion_is_a_measure(tmp_path: Path) -> None:
    time, speed = read(write(tmp_path, f"{MESSAGE}\n"))
    assert (time["metric"], time["value"]) == ("time", 1e-08)
    assert {name: speed[name] for name in ("metric", "unit", "value", "low", "high", "better")} == {
        "metric": "throughput", "unit": "elements/s", "value": 5e8, "low": 2.5e8, "high": 6.25e8, "better": "higher",
    }  # fmt: skip


def test_lines_of_libtest_are_read_and_those_of_a_failure_are_refused(tmp_path: Path) -> None:
    time, speed = read(write(tmp_path, LIBTEST, "bench.txt"))
    assert (time["value"], time["extra"], speed["value"], speed["unit"]) == (
        2.04312e-06, {"deviation": 3.35e-08}, 4.8e8, "B/s",
    )  # fmt: skip
    for text in (
        "thread 'main' panicked at src/lib.rs:1:1:\n",
        "test other ... FAILED\n",
        "test x ... bench: 12 ns",
    ):
        with pytest.raises(ResultsError, match=":2:1: "):
            read(write(tmp_path, LIBTEST + text, "bench.txt"))


def test_events_of_go_are_read_package_by_package(tmp_path: Path) -> None:
    def event(package: str, output: str) -> str:
        return json.dumps({"Action": "output", "Package": package, "Output": output}) + "\n"

    lines = [
        line
        for package in ("a", "b")
        for line in (f"pkg: {package}\n", "BenchmarkX-8 \t", " 100\t 10 ns/op\n")
    ]
    text = "".join(event("ab"[number % 2], lines[number // 2 + 3 * (number % 2)]) for number in range(6))
    rows = read(write(tmp_path, text))
    assert [(one["_id"]["testname"], one["name"], one["value"]) for one in rows] == [
        ("a", "X-8", 1e-08), ("b", "X-8", 1e-08),
    ]  # fmt: skip
    with pytest.raises(ResultsError, match=":7:1: the run failed"):
        read(write(tmp_path, text + event("a", "--- FAIL: BenchmarkY\n")))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_recorded_file_is_known_behind_a_log_or_as_it_is(path: Path, tmp_path: Path) -> None:
    log = "" if path.suffix in (".json", ".csv") else "a line of a log\n" * 3000
    found = format_of(write(tmp_path, log + path.read_text("utf-8"), path.name))
    assert found is not None
    assert found.module == path.parent.name


def test_a_number_at_the_end_of_a_name_is_a_parameter_only_in_the_whole_file(tmp_path: Path) -> None:
    def bases(text: str, name: str = "bench.txt") -> list[tuple[str, Any]]:
        rows = [one for one in read(write(tmp_path, text, name)) if one["metric"] == "time"]
        return [(one["benchmark"], one.get("parameters", {})) for one in rows]

    line = "Benchmark{}\t 100\t 10 ns/op\n"
    assert bases("".join(map(line.format, ("SHA-256", "SHA-512", "MD5")))) == [
        ("SHA-256", {}),
        ("SHA-512", {}),
        ("MD5", {}),
    ]
    assert bases("".join(map(line.format, ("SHA-256-8", "MD5-8")))) == [
        ("SHA-256", {"gomaxprocs": 8}), ("MD5", {"gomaxprocs": 8}),
    ]  # fmt: skip
    assert bases("".join(map(line.format, ("MD5", "MD5-2", "SHA-256")))) == [
        ("MD5", {}), ("MD5", {"gomaxprocs": 2}), ("SHA-256", {}),
    ]  # fmt: skip

    def messages(*names: str) -> str:
        group = json.dumps(
            {"reason": "group-complete", "group_name": "hash", "benchmarks": [f"hash/{one}" for one in names]}
        )
        return "".join(MESSAGE.replace("a/b", f"hash/{one}") + "\n" for one in names) + group + "\n"

    assert bases(messages("sha/256", "sha/fast"), "bench.json") == [("sha/256", {}), ("sha/fast", {})]
    assert bases(messages("sha/0.5", "sha/1.5"), "bench.json") == [
        ("sha", {"value": 0.5}),
        ("sha", {"value": 1.5}),
    ]


def test_of_faults_that_are_alike_the_first_is_told_with_their_number(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"rows": [float("nan")] * 10}))
    with pytest.raises(ResultsError) as raised:
        rows_of(str(path))
    assert raised.value.message == f"{path}:1:11: `NaN` is not a JSON number, and 9 more like it"


def test_a_value_of_two_rows_is_told_the_field_that_selects_one(tmp_path: Path) -> None:
    write(tmp_path, jmh("db.A.read", "db.B.read"))
    (tmp_path / "p.md").write_text(
        '<!-- RESULT_TABLE: {"id": "t", "collection": "bench", "columns": ["_id.testname", "name", "value"], "sort": "_id"} -->\n\n'
        'It takes <!-- RESULT_VALUE: {"table": "t", "column": "value", "where": {"name": "read"}} -->.\n'
    )
    done = mongo_tables("check", "p.md", "--results", "bench.json", cwd=tmp_path, expect=1)
    assert "hint: let `where` select exactly one row, also by `_id.testname`" in done.stdout


def test_a_value_of_two_runs_is_told_how_to_show_the_latest(tmp_path: Path) -> None:
    for number, score in ((1, 10), (2, 20)):
        (tmp_path / f"{number}.json").write_text(json.dumps({"rows": score}))
    value = "It takes <!-- RESULT_VALUE: {} -->.\n"
    page, results = tmp_path / "p.md", ("--results", "runs=*.json")
    page.write_text(value.format('{"collection": "runs", "field": "rows"}'))
    done = mongo_tables("check", "p.md", *results, cwd=tmp_path, expect=1)
    latest = '"sort": "-_id.file", "limit": 1'
    assert f"hint: add `{latest}`: this is the latest run" in done.stdout
    page.write_text(value.format(f'{{"collection": "runs", "field": "rows", {latest}}}'))
    assert "It takes 20." in mongo_tables("render", "p.md", *results, cwd=tmp_path).stdout
    for more, column, hint in (
        (
            "",
            "rows",
            f'put `"collection": "runs", "field": "rows", {latest}` in place of `table` and `column`',
        ),
        (
            '"format": {"rows": {"decimals": 2, "thousands": true}},',
            "rows",
            f'put `"collection": "runs", "field": "rows", "format": {{"decimals": 2, "thousands": true}}, {latest}` in place',
        ),
        ('"compute": {"twice": "2 * rows"},', "twice", f"quote a table with `{latest}`"),
    ):
        page.write_text(
            f'<!-- RESULT_TABLE: {{"id": "t", "collection": "runs", {more} "columns": ["_id.file", "{column}"], '
            f'"sort": "_id.file"}} -->\n\n' + value.format(f'{{"table": "t", "column": "{column}"}}')
        )
        assert hint in mongo_tables("check", "p.md", *results, cwd=tmp_path, expect=1).stdout
    page.write_text(
        '<!-- RESULT_TABLE: {"id": "t", "collection": "runs", "columns": ["rows"], "sort": "-_id.file", "limit": 1} -->\n\n'
        + value.format('{"table": "t", "column": "rows"}')
    )
    assert "It takes 20." in mongo_tables("render", "p.md", *results, cwd=tmp_path).stdout


def test_bars_of_one_name_in_two_suites_are_told_the_suite(tmp_path: Path) -> None:
    write(tmp_path, jmh("db.A.read", "db.B.read"))
    chart = '{"id": "c", "collection": "bench", "mark": "bar", "x": "name", "y": "value", "sort": "_id"}'
    (tmp_path / "p.md").write_text(f"<!-- RESULT_CHART: {chart} -->\n")
    done = mongo_tables("check", "p.md", "--results", "bench.json", cwd=tmp_path, expect=1)
    assert (
        'hint: name the column in which they differ as "series" or "facets", such as `_id.testname`, or draw dots'
        in done.stdout
    )


@pytest.mark.parametrize("odd", ["NaN", "1" * 25])
def test_a_cell_that_makes_text_of_a_column_of_numbers_is_named(odd: str, tmp_path: Path) -> None:
    rows = [f"{number},{number / 4}" for number in range(12)]
    rows[3] = f"3,{odd}"
    (tmp_path / "speed.csv").write_text("\n".join(["n,ms", *rows]) + "\n")
    (tmp_path / "p.md").write_text(
        '<!-- RESULT_TABLE: {"collection": "speed", "columns": ["n", "ms"], "sort": "n"} -->\n'
    )
    done = mongo_tables("check", "p.md", "--results", "speed.csv", cwd=tmp_path, expect=None)
    assert (
        f"speed.csv:5:3: note MT338 `{odd}` is not a number of 64 bits, so the column `ms` is text"
        in done.stdout
    )
    (tmp_path / "speed.csv").write_text(f"n,ms\n1,1.5\n2,{odd}\n3,2.5\n")
    done = mongo_tables("check", "p.md", "--results", "speed.csv", cwd=tmp_path, expect=None)
    assert "speed.csv:3:3: note MT338" in done.stdout
    done = mongo_tables("check", "p.md", "--results", "speed.csv?ms=text", cwd=tmp_path, expect=None)
    assert "MT338" not in done.stdout
