"""Commands over plain files: a page and a file of results, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mongo_tables.cli import main

PAGE = """# Speed

<!-- MONGO_TABLE: {
  "collection": "bench",
  "pipeline": [{"$sort": {"_id": 1}}, {"$project": {"_id": 0, "name": 1, "mean": 1}}],
  "columns": ["name", "mean"],
  "headers": ["Name", "Mean"]
} -->
"""
CSV = "name,mean\nparse,1.5\nrender,2.5\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "speed.md").write_text(PAGE)
    (tmp_path / "bench.csv").write_text(CSV)
    (tmp_path / "bench.json").write_text(
        json.dumps([{"name": "parse", "mean": 1.5}, {"name": "render", "mean": 5}])
    )
    return tmp_path


def test_a_page_is_checked_rendered_and_explained_over_a_file(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "speed.md", "--results", "bench.csv"]) == 0
    assert main(["render", "speed.md", "--results", "bench.csv"]) == 0
    assert main(["explain", "speed.md", "--results", "bench.csv"]) == 0
    said = capsys.readouterr().out
    assert "| render | " in said
    assert "collection bench  from bench.csv" in said


def test_the_variable_names_files_as_well(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MONGO_TABLES_RESULTS", "bench=bench.c*, other=bench.json")
    assert main(["check", "speed.md"]) == 0
    assert main(["init", "--table", "other"]) == 0
    assert '"columns": ["name", "mean"]' in capsys.readouterr().out


def test_the_first_comment_for_a_file_shows_what_is_in_it_and_passes_a_check(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--table", "--results", "bench.csv", "--append", "new.md"]) == 0
    assert "left out: _id\n" in capsys.readouterr().err
    assert main(["check", "new.md", "--results", "bench.csv"]) == 0
    assert main(["init", "--table", "--results", "bench=*.csv", "--append", "more.md"]) == 0
    assert '"columns": ["name", "mean"]' in (place / "more.md").read_text()


def test_a_file_that_is_there_and_not_read_is_a_note_of_a_check(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "bench").mkdir()
    (place / "bench" / "bench.csv").write_text(CSV)
    (place / "bench" / "bench.xlsx").write_text("?")
    assert main(["check", "speed.md", "--results", "bench"]) == 0
    assert capsys.readouterr().out.startswith("bench/bench.xlsx: note MT313 the results source does not read")
    assert main(["check", "speed.md", "--results", "bench", "--fail-on", "note"]) == 1
    assert main(["check", "--static", "speed.md", "--results", "bench"]) == 0
    assert capsys.readouterr().out.count("MT313") == 1


def test_of_the_files_that_no_comment_uses_those_of_no_known_format_are_told(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "bench").mkdir()
    (place / "bench" / "bench.csv").write_text(CSV)
    (place / "bench" / "broken.ndjson").write_text('{"a": 1}\n{"a": nothing}\n')
    (place / "bench" / "notes.txt").write_text("We measured.\n")
    assert main(["check", "speed.md", "--results", "bench"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "MT313" in line]
    assert [line.partition(" note ")[0] for line in told] == ["bench/notes.txt:"]


def test_a_fault_of_a_file_is_a_finding_at_its_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bench.csv").write_text("name,mean\nparse\n")
    assert main(["check", "speed.md", "--results", "bench.csv"]) == 1
    assert "bench.csv:2:1: error MT310 1 cells, but the first line names 2 columns" in capsys.readouterr().out


def test_files_of_two_forms_and_of_a_revision_are_compared(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = "  render, Mean: 2.5 → 5 (2 times)\n"
    assert main(["diff", "bench.csv", "bench.json", "speed.md"]) == 1
    assert expected in capsys.readouterr().out
    git = ["git", "-c", "user.email=a@example.org", "-c", "user.name=A"]
    for asked in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *asked], check=True)
    (place / "bench.csv").write_text(CSV.replace("2.5", "5"))
    for before in ("HEAD:bench.csv", "HEAD:*.csv"):
        assert main(["diff", before, "bench.csv", "speed.md"]) == 1
        assert expected in capsys.readouterr().out


def test_documents_of_a_file_are_copied_into_fixtures(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pull", "bench.csv", "--docs", "speed.md"]) == 0
    written = (place / "fixtures" / "bench" / "bench.jsonl").read_text()
    assert written.splitlines()[0] == '{"_id":1,"name":"parse","mean":1.5}'
    assert main(["check", "speed.md"]) == 0
    assert main(["pull", "bench.csv", "--docs", "speed.md"]) == 0
    assert "0 of 1 files changed" in capsys.readouterr().out


def test_a_copy_beside_a_plain_file_of_the_same_collection_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "fixtures").mkdir()
    (place / "bench.csv").rename(place / "fixtures" / "bench.csv")
    assert main(["pull", "bench.json", "--docs", "speed.md"]) == 2
    assert "the collection 'bench' is already in fixtures/bench.csv" in capsys.readouterr().err
    assert main(["pull", "bench.json", "bench", "--as", "now"]) == 0
    assert main(["check", "speed.md"]) == 0


def test_a_site_names_files_from_where_its_file_is(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "docs").mkdir()
    (place / "docs" / "index.md").write_text(PAGE)
    (place / "mkdocs.yml").write_text(
        'plugins:\n  - mongo-tables:\n      results: "bench=*.json?, bench.csv"\n'
    )
    monkeypatch.chdir(place / "docs")
    assert main(["check"]) == 2
    assert "no file matches ../*.json?" in capsys.readouterr().err
    (place / "mkdocs.yml").write_text(
        'plugins:\n  - mongo-tables:\n      results: "now=*.json, bench.csv?mean=number"\n'
    )
    assert main(["check"]) == 0
