"""``mongo-tables import``: what a tool wrote becomes fixtures, the same bytes each time, or one line says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.cli import main

GO = "pkg: example.com/words\nBenchmarkA-8\t10\t1.5 ns/op\nBenchmarkA-8\t10\t2.5 ns/op\nBenchmarkB-8\t10\t4 ns/op\n"
RUN = {
    "command": "sort",
    "mean": 0.2,
    "stddev": 0.1,
    "system": 0.01,
    "times": [0.1, 0.3],
    "exit_codes": [0, 1],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "go.txt").write_text(GO)
    (tmp_path / "run.json").write_text(json.dumps({"results": [RUN]}))
    return tmp_path


def documents(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_file_becomes_a_collection_and_a_second_import_changes_nothing(folder, capsys):
    assert main(["import", "go.txt", "--as", "bench"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "go.txt: Go benchmark, 2 documents",
        "Go benchmark does not write the time of measurement: without --date, figures have no line of origin and no history",
        "fixtures/bench/example.com%2Fwords.jsonl: 2 documents, 2 new, 0 changed, 0 gone",
        "1 of 1 files changed",
    ]
    file = folder / "fixtures" / "bench" / "example.com%2Fwords.jsonl"
    assert [(one["name"], one["value"]) for one in documents(file)] == [("A-8", 2e-9), ("B-8", 4e-9)]
    before = file.read_bytes()
    assert main(["import", "go.txt", "--as", "bench"]) == 0
    assert "nothing changed" in capsys.readouterr().out
    assert file.read_bytes() == before


def test_what_the_file_does_not_say_the_command_line_may(folder):
    given = ["--date", "2026-01-31T12:00:00+01:00", "--commit", "1a2b"]
    assert main(["import", "go.txt", "--as", "bench", "--results", "data", *given]) == 0
    (file,) = (folder / "data" / "bench").iterdir()
    for one in documents(file):
        assert one["start_time"] == {"$date": "2026-01-31T11:00:00Z"}
        assert one["commit"] == {"id": "1a2b"}


def test_what_the_file_says_itself_stays(folder):
    (folder / "go.txt").write_text("commit: of-the-file\n" + GO)
    assert main(["import", "go.txt", "--as", "bench", "--commit", "1a2b"]) == 0
    (file,) = (folder / "fixtures" / "bench").iterdir()
    assert {one["commit"]["id"] for one in documents(file)} == {"of-the-file"}


def test_files_of_several_tools_are_one_collection_and_runs_that_failed_are_told(folder, capsys):
    assert main(["import", "go.txt", "run.json", "--as", "bench"]) == 0
    assert "failed: sort: 1 of 2 runs ended with status 1\n" in capsys.readouterr().out
    assert sorted(one.name for one in (folder / "fixtures" / "bench").iterdir()) == [
        "example.com%2Fwords.jsonl", "hyperfine.jsonl",
    ]  # fmt: skip


def test_a_benchmark_in_two_files_is_an_error_that_names_both(folder, capsys):
    (folder / "again.txt").write_text(GO)
    assert main(["import", "go.txt", "again.txt", "--as", "bench"]) == 2
    assert "again.txt: 'BenchmarkA-8' is in go.txt as well" in capsys.readouterr().err
    assert not (folder / "fixtures").exists()


def test_a_dry_run_writes_nothing(folder, capsys):
    assert main(["import", "go.txt", "--as", "bench", "--dry-run"]) == 0
    assert "1 of 1 files would change" in capsys.readouterr().out
    assert not (folder / "fixtures").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b'{"machine_info": {"node": "x"}', "this `{` is never closed"),
        (b'{"rows": [1, 2]}', "has no benchmarks"),
        (b"\xff\xfe{\x00", "not UTF-8"),
        (b'{"results":[{"command":"a","mean":\xff,"stddev":1,"system":1}]}', "not UTF-8"),
        (
            b'\xef\xbb\xbf{"results":[{"command":"a","mean":"b","stddev":1,"system":1}]}',
            "`mean` must be a number",
        ),
    ],
    ids=["empty", "cut off", "foreign", "UTF-16", "wrong byte", "wrong type"],
)
def test_a_file_that_is_not_read_is_told_in_one_line_and_nothing_is_written(folder, capsys, content, told):
    (folder / "bad.json").write_bytes(content)
    assert main(["import", "go.txt", "bad.json", "--as", "bench"]) == 2
    complaint = capsys.readouterr()
    lines = [line for line in (complaint.err + complaint.out).splitlines() if "bad.json" in line]
    assert len(lines) == 1
    assert told in lines[0]
    assert not (folder / "fixtures").exists()


def test_a_folder_that_cannot_be_written_is_told(folder, capsys):
    (folder / "fixtures").write_text("a file")
    assert main(["import", "go.txt", "--as", "bench"]) == 2
    assert "fixtures" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nofile", "nofile.json", "nowhere/nofile"])
def test_a_file_that_is_not_there_is_told_as_a_file(folder, capsys, name):
    assert main(["import", name, "--as", "bench"]) == 2
    assert f"the file {name} does not exist\n" in capsys.readouterr().err


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(folder):
    (folder / "other.txt").write_bytes(b"\xef\xbb\xbf" + GO.replace("\n", "\r\n").encode())
    assert main(["import", "go.txt", "--as", "one"]) == 0
    assert main(["import", "other.txt", "--as", "other"]) == 0
    one, other = (
        (folder / "fixtures" / name / "example.com%2Fwords.jsonl").read_bytes() for name in ("one", "other")
    )
    assert one == other


def test_a_table_over_the_file_is_that_over_what_was_imported(folder, capsys):
    page = folder / "page.md"
    page.write_text(
        '<!-- MONGO_TABLE: {"collection": "go", "pipeline": [{"$sort": {"_id": 1}}, {"$project": {"name": 1, "mean": 1}}],'
        ' "columns": ["name", "mean"], "headers": ["Name", "Mean"]} -->\n'
    )
    assert main(["import", "go.txt", "--as", "go"]) == 0
    capsys.readouterr()
    shown = []
    for source in ("go.txt", "fixtures"):
        assert main(["render", "page.md", "--results", source]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "| A-8 " in shown[0]


def test_names_with_signs_of_html_and_of_tables_are_shown_as_they_are(folder, capsys):
    hostile = "<img src=x onerror=alert(1)> | **b** `c`"
    (folder / "run.json").write_text(json.dumps({"results": [RUN | {"command": hostile}]}))
    (folder / "page.md").write_text(
        '<!-- MONGO_TABLE: {"collection": "run", "pipeline": [{"$project": {"name": 1, "mean": 1}}],'
        ' "columns": ["name", "mean"], "headers": ["Name", "Mean"]} -->\n'
    )
    assert main(["render", "page.md", "--results", "run.json"]) == 0
    out = capsys.readouterr().out
    assert "<img" not in out
    assert "**b**" not in out


def test_the_line_under_a_table_tells_date_machine_commit_and_tool(folder, capsys):
    (folder / "go.txt").write_text(
        "cpu: Some CPU\ncpu-count: 4\nharness: shellbench 1\nruntime: Go 1.26\n" + GO
    )
    (folder / "page.md").write_text(
        '<!-- MONGO_TABLE: {"collection": "bench", "pipeline": [{"$project": {"name": 1, "mean": 1}}],'
        ' "columns": ["name", "mean"], "headers": ["Name", "Mean"], "provenance": true} -->\n'
    )
    assert main(["import", "go.txt", "--as", "bench", "--date", "2026-01-31", "--commit", "1a2b"]) == 0
    capsys.readouterr()
    assert main(["render", "page.md"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    for part in (
        "Measured 2026-01-31",
        "4 processors",
        "Machine: Some CPU, 4 processors",
        "Commit: 1a2b",
        "Runtime: Go 1.26",
    ):
        assert part in line
    assert "client" not in line.lower()
    assert "Program: shellbench 1" in line


def test_without_samples_the_figures_that_sum_them_up_are_what_is_kept(folder):
    assert main(["import", "go.txt", "--as", "whole"]) == 0
    assert main(["import", "go.txt", "--as", "bench", "--without-samples"]) == 0
    (whole,) = (folder / "fixtures" / "whole").iterdir()
    (file,) = (folder / "fixtures" / "bench").iterdir()
    assert [one["count"] for one in documents(file)] == [2, 1]
    for kept, one in zip(documents(file), documents(whole), strict=True):
        assert "samples" in one
        assert kept == {name: value for name, value in one.items() if name not in ("samples", "processes")}
