"""YAML and TOML as results: one object is one document; nothing of a file runs; each fault is one line."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import open_source
from tests.results.formats import documents, fault, written


def test_an_object_is_one_document_with_the_types_that_the_file_says(tmp_path: Path) -> None:
    yaml = (
        "version: '3.10'\nat: 2026-01-31\nwhen: 2026-01-31T10:00:00+02:00\nlist: [1, 2.5, null, true]\n1: x\n"
    )
    expected = {
        "version": "3.10",
        "at": datetime(2026, 1, 31),
        "when": datetime(2026, 1, 31, 8),
        "list": [1, 2.5, None, True],
        "1": "x",
    }
    assert documents(written(tmp_path, "bench.yaml", yaml)) == [expected]
    toml = 'version = "3.10"\nat = 2026-01-31\nclock = 10:30:00\n[[run]]\nms = 1.5\n'
    expected = {"version": "3.10", "at": datetime(2026, 1, 31), "clock": "10:30:00", "run": [{"ms": 1.5}]}
    assert documents(written(tmp_path, "bench.toml", toml)) == [expected]


def test_a_list_and_several_documents_of_yaml_are_documents(tmp_path: Path) -> None:
    assert documents(written(tmp_path, "a.yml", "- {n: 1}\n- {n: 2}\n")) == [{"n": 1}, {"n": 2}]
    assert documents(written(tmp_path, "b.yml", "n: 1\n---\nn: 2\n")) == [{"n": 1}, {"n": 2}]
    assert documents(written(tmp_path, "c.yml", "# none\n")) == []


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.yaml", "n: [1\nm: 2\n", "a.yaml:2:2: not YAML"),
        ("a.yaml", "at: 2026-13-41\n", "a.yaml: not YAML"),
        ("a.yaml", "just a text\n", "a.yaml: entry 1 is not an object"),
        ("a.yaml", "- 1\n- 2\n", "a.yaml: entry 1 is not an object"),
        ("a.yaml", "a: &a [*a]\n", "a.yaml: too many values"),
        ("a.toml", "n = \n", "a.toml: not TOML"),
        ("a.toml", "n = 1\nn = 2\n", "a.toml: not TOML"),
    ],
)
def test_a_fault_is_one_line_at_its_place(tmp_path: Path, name: str, text: str, told: str) -> None:
    assert fault(written(tmp_path, name, text)).startswith(told)


def test_aliases_that_repeat_without_end_are_refused(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    assert fault(written(tmp_path, "a.yaml", bomb)).startswith("a.yaml: too many values")


def test_tags_run_nothing(tmp_path: Path) -> None:
    text = f"a: !!python/object/apply:os.mkdir ['{tmp_path}/ran']\nb: !ENV HOME\nn: 1\n"
    assert documents(written(tmp_path, "a.yaml", text)) == [{"a": None, "b": None, "n": 1}]
    assert not (tmp_path / "ran").exists()


def test_a_folder_includes_no_settings_but_a_file_that_is_named_is_read(tmp_path: Path) -> None:
    for name in ("bench.json", "bench.toml", "mkdocs.yml"):
        (tmp_path / name).write_text('{"n": 1}' if name.endswith("json") else "")
    (tmp_path / "bench.toml").write_text("n = 2\n")
    assert open_source(str(tmp_path)).collections() == ("bench",)
    source = open_source(f"runs={tmp_path}/*.toml")
    assert [one["n"] for one in source.local.documents("runs")] == [2]
    with pytest.raises(ResultsError, match="has its own types"):
        open_source(f"{tmp_path}/bench.toml?n=text").local.documents("bench")
