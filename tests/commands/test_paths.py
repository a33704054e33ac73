"""What is named on the command line: one page that cannot be read hides nothing of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables

BAD = '<!-- MONGO_TABLE: {"collection": 1} -->\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.md").write_text(BAD)
    (tmp_path / "latin.md").write_bytes("Grüße\r\nfür alle:\rübel\n".encode() + "Grün".encode("latin-1"))
    return tmp_path


def test_a_page_that_is_not_utf_8_is_a_finding_at_its_first_bad_byte(folder: Path) -> None:
    done = mongo_tables("check", "latin.md", "bad.md", cwd=folder, expect=1)
    assert "latin.md:4:3: error MT100 the page is not UTF-8: there is a byte 0xfc" in done.stdout
    assert "bad.md:1:" in done.stdout
    assert done.stderr == ""


def test_nothing_is_rendered_when_a_page_is_not_utf_8(folder: Path) -> None:
    before = (folder / "latin.md").read_bytes()
    assert "MT100" in mongo_tables("render", "--in-place", "latin.md", cwd=folder, expect=1).stderr
    assert (folder / "latin.md").read_bytes() == before


def test_every_missing_path_is_said_and_the_other_pages_are_checked(folder: Path) -> None:
    done = mongo_tables("check", "--static", "none.md", "bad.md", "no/such", cwd=folder, expect=2)
    assert done.stderr.splitlines() == [
        "mongo-tables: none.md: no such file or folder",
        "mongo-tables: no/such: no such file or folder",
    ]
    assert "bad.md:1:" in done.stdout


def test_render_names_every_missing_path_and_writes_nothing(folder: Path) -> None:
    done = mongo_tables("render", "none.md", "bad.md", "no/such", cwd=folder, expect=2)
    assert "none.md: no such" in done.stderr
    assert "no/such: no such" in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_no_page_is_said_to_be_none(folder: Path) -> None:
    (folder / "a.jsonl").write_text("{}\n")
    done = mongo_tables("check", "--static", "a.jsonl", cwd=folder, expect=2)
    assert "a.jsonl: not a page" in done.stderr


def test_an_empty_path_is_not_the_folder_one_is_in(folder: Path) -> None:
    done = mongo_tables("check", "--static", "", cwd=folder, expect=2)
    assert "an empty path names no page" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["a.md", "a.markdown", "a.mdown", "a.mkdn", "a.mkd", "a.qmd"])
def test_every_file_that_a_site_takes_as_a_page_is_one(name: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / name).write_text(BAD)
    assert f"docs/{name}:1:" in mongo_tables("check", "--static", cwd=tmp_path, expect=1).stdout


def test_an_accepted_baseline_does_not_excuse_a_missing_page(folder: Path) -> None:
    done = mongo_tables(
        "check", "none.md", "--static", "--write-baseline", "--baseline", "b.json", cwd=folder, expect=2
    )
    assert "none.md" in done.stderr
    assert not (folder / "b.json").exists()


def test_an_empty_variable_means_that_none_is_set(folder: Path) -> None:
    (folder / "fixtures" / "runs").mkdir(parents=True)
    (folder / "fixtures" / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 7}\n')
    page = (
        '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"], "headers": ["Run"]} -->\n'
    )
    (folder / "page.md").write_text(page)
    for blank in ("", " "):
        done = mongo_tables("render", "page.md", cwd=folder, MONGO_TABLES_RESULTS=blank)
        assert "|   7 |" in done.stdout


def test_an_empty_source_is_not_the_folder_one_is_in(folder: Path) -> None:
    (folder / "page.md").write_text(
        '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"], "headers": ["N"]} -->\n'
    )
    done = mongo_tables("check", "page.md", "--results", "", cwd=folder, expect=2)
    assert "an empty text names no results source" in done.stderr
