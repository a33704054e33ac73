"""Plain files that no comment uses are told where nobody could read them, and cost little where they are sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.findings.finding import Finding
from mongo_tables.results import file_documents
from mongo_tables.results.file_documents import SMALL
from mongo_tables.results.model import Query
from mongo_tables.results.opening import open_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "used.json").write_text('[{"name": "a", "ms": 1.5}]\n')
    return tmp_path


def told(folder: Path) -> list[str]:
    source = open_source(str(folder)).local
    assert source is not None
    source.aggregate(Query("used", ()))
    return [_said(one).removeprefix(f"{folder}/") for one in source.broken()]


def _said(fault: Finding) -> str:
    return f"{fault.file}:{fault.line}:{fault.column}: {fault.message}"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("broken.ndjson", '{"a": 1}\n{"a": broken\n', "broken.ndjson:2:"),
        ("cut.json", '[{"a": 1},', "cut.json:1:1: "),
        ("text.json", "hello\n", "text.json:1:1: "),
        ("uneven.csv", "a,b\n1,2,3\n", "uneven.csv:2:1: 3 cells"),
        ("go.txt", "BenchmarkA\t1\t1 ns/op\n  5\t6 ns/op\n", "go.txt:2:1: this result has no benchmark name"),
        (
            "tool.json",
            '{"results": [{"command": "a", "mean": "fast", "stddev": 1, "system": 1}]}\n',
            "tool.json",
        ),
    ],
)
def test_a_file_that_nobody_asks_for_and_nobody_could_read_is_told_at_its_place(
    name: str, content: str, said: str, folder: Path
) -> None:
    (folder / name).write_text(content)
    found = told(folder)
    assert len(found) == 1
    assert found[0].startswith(said) and "\n" not in found[0]


def test_sound_files_and_one_that_is_used_are_not_told(folder: Path) -> None:
    for name, content in (
        ("lines.jsonl", '{"a": 1}\n\n{"a": 2}\n'),
        ("one.json", '{"a": 1}\n'),
        ("lines.json", '{"a": 1}\n{"a": 2}\n'),
        ("table.csv", "a,b\n1,2\n"),
        ("empty.ndjson", ""),
    ):
        (folder / name).write_text(content)
    assert told(folder) == []


def test_a_large_or_packed_file_is_left_to_whoever_uses_it(folder: Path) -> None:
    (folder / "large.ndjson").write_text("{" * SMALL)
    (folder / "packed.json.gz").write_bytes(b"no gzip")
    assert told(folder) == []


def test_json_is_looked_through_without_making_documents_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, read_plain = [], file_documents.read_plain
    monkeypatch.setattr(
        file_documents,
        "read_plain",
        lambda file, name: read.append(file.path.name) or read_plain(file, name),
    )
    (folder / "whole.json").write_text('[{"a": 1}, {"a": 2}]')
    (folder / "lines.ndjson").write_text('{"a": 1}\n{"a": 2}\n')
    assert told(folder) == []
    assert read == ["used.json"]
