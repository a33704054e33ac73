"""Files and folders that may not be read: each is said, none passes for empty, and the others are checked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.modes import closed, obedient

BAD = '<!-- MONGO_TABLE: {"collection": 1} -->\n'
NAMING = (
    '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": ["NAME"], "columns": ["n"], "headers": ["N"]} -->\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "pipelines").mkdir(parents=True)
    (tmp_path / "docs" / "sub").mkdir()
    (tmp_path / "docs" / "first.md").write_text("Text.\n")
    (tmp_path / "docs" / "second.md").write_text(BAD)
    (tmp_path / "docs" / "pipelines" / "one.json").write_text('[{"$sort": {"n": 1}}]')
    return tmp_path


def checked(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = obedient("mongo_tables.cli", "check", "--static", *arguments, cwd=cwd)
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("named", ["docs", "docs/sub"])
def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(folder: Path, named: str) -> None:
    with closed(folder / "docs" / "sub"):
        done = checked(named, cwd=folder)
    assert (done.returncode, done.stderr) == (2, "mongo-tables: docs/sub: Permission denied\n")


def test_a_page_that_cannot_be_read_hides_none_behind_it(folder: Path) -> None:
    with closed(folder / "docs" / "first.md"):
        done = checked("docs", cwd=folder)
    assert (done.returncode, done.stderr) == (2, "mongo-tables: docs/first.md: Permission denied\n")
    assert "docs/second.md:1:" in done.stdout


def test_a_shared_list_that_cannot_be_reached_is_a_finding(folder: Path) -> None:
    (folder / "docs" / "second.md").write_text(NAMING.replace("NAME", "one"))
    with closed(folder / "docs" / "pipelines"):
        done = checked("docs/second.md", cwd=folder)
    assert done.returncode == 1
    assert "docs/pipelines/one.json: error MT142 the file cannot be read (Permission denied)" in done.stdout


def test_a_name_that_no_file_can_have_is_that_of_no_shared_list(folder: Path) -> None:
    (folder / "docs" / "second.md").write_text(NAMING.replace("NAME", "x" * 300))
    done = checked("docs/second.md", cwd=folder)
    assert done.returncode == 1
    assert "docs/second.md:1:55: error MT140 unknown shared stage list" in done.stdout


def test_a_folder_is_not_proposed_as_a_shared_list(folder: Path) -> None:
    (folder / "docs" / "pipelines" / "two.json").mkdir()
    (folder / "docs" / "second.md").write_text(NAMING.replace("NAME", "two"))
    assert "hint: possible names: `one`" in checked("docs/second.md", cwd=folder).stdout


def test_a_shared_list_that_is_not_utf_8_is_told_at_its_first_bad_byte(folder: Path) -> None:
    (folder / "docs" / "pipelines" / "one.json").write_bytes(b'[\n {"$match": {"a": "\xfc"}}]')
    (folder / "docs" / "second.md").write_text(NAMING.replace("NAME", "one"))
    found = checked("docs/second.md", cwd=folder).stdout
    assert (
        "docs/pipelines/one.json:2:20: error MT142 the file is not UTF-8: there is a byte 0xfc here" in found
    )
