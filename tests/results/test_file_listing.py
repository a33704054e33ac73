"""Files that look like results are told from those that do not, whatever lies in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from mongo_tables.results.file_listing import list_likely_files, look_at
from tests.results.formats.test_recorded import RECORDED

HYPERFINE = (RECORDED / "hyperfine" / "1.15.0.json").read_text("utf-8")


def test_what_a_tool_wrote_is_known_by_how_it_begins_other_files_by_their_names(tmp_path: Path) -> None:
    for name, text in {
        "a.json": HYPERFINE,
        "latency.csv": "name,ms\na,1\n",
        "people.csv": "name,age\na,1\n",
        "result.schema.json": "{}",
        "README.md": "bench",
        "bench.pdf": "",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bench").mkdir()
    assert list_likely_files(tmp_path) == ["a.json", "latency.csv"]
    found = look_at(tmp_path / "a.json")
    assert found is not None
    assert (found.format, found.is_of_tool) == ("hyperfine", True)


def test_what_cannot_be_looked_at_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bench.json")
    (tmp_path / "speed.json").symlink_to("nowhere.json")
    assert list_likely_files(tmp_path) == []
    assert list_likely_files(tmp_path / "nowhere") == []
    assert list_likely_files(tmp_path / "speed.json") == []
