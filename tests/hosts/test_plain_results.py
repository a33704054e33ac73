"""A site whose results are plain files: built, kept from build to build, and followed by a preview."""

from __future__ import annotations

from pathlib import Path

import markdown
import pytest

from tests.hosts.inprocess import CONFIG, built, seen, table, value, write
from tests.hosts.test_serve import Preview

PAGE = f"# Home\n\nThere are {value('one')}.\n\n{table('one')}\n"
CSV = "a,n\nx,3\ny,5\n"
JSON = '[{"a": "x", "n": 3}, {"a": "y", "n": 5}]'


def site(folder: Path, where: str, files: dict[str, str]) -> Path:
    config = f"{CONFIG}plugins:\n  - mongo-tables:\n      results: {where}\n"
    return write(folder, {"mkdocs.yml": config, "docs/index.md": PAGE, **files})


@pytest.mark.parametrize(
    ("where", "file", "content"),
    [
        ("r.csv", "r.csv", CSV),
        ("bench", "bench/r.json", JSON),
        ("fixtures", "fixtures/r.csv", CSV),
        ("bench/*.json", "bench/r.json", JSON),
        ("r=build/**/*.csv", "build/today/now.csv", CSV),
        ('"r=build/now.csv?a=text, more.csv"', "build/now.csv", CSV),
    ],
)
def test_a_site_takes_its_rows_from_plain_files_wherever_it_is_built_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, file: str, content: str
) -> None:
    folder = site(tmp_path / "a site, [1]", where, {file: content, "more.csv": "n\n1\n"})
    monkeypatch.chdir(tmp_path)
    outcome = built(folder)
    assert outcome.done, outcome.log
    assert seen(folder, "index.html").tables == [[["Kind", "Trains"], ["x", "3"], ["y", "5"]]]


def test_a_build_follows_a_changed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site(tmp_path, "'*.csv'", {"r.csv": CSV}))
    assert built(tmp_path).done
    write(tmp_path, {"r.csv": CSV.replace("5", "77")})
    assert built(tmp_path).done
    assert seen(tmp_path, "index.html").tables[0][2] == ["y", "77"]


def test_a_file_that_is_not_read_is_told_by_each_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site(tmp_path, "bench", {"bench/r.csv": CSV, "bench/more.xlsx": "?"}))
    said = "INFO mongo-tables: bench/more.xlsx: MT313 the results source does not read this file"
    for _ in range(2):
        outcome = built(tmp_path)
        assert outcome.done
        assert outcome.log.count(said) == 1


def test_a_fault_of_a_plain_file_ends_the_build_at_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site(tmp_path, "r.csv", {"r.csv": "a,n\nx,3\ny\n"}))
    outcome = built(tmp_path)
    assert not outcome.done
    assert [line for line in outcome.errors if "MT" in line] == [
        "r.csv:3:1: MT310 1 cells, but the first line names 2 columns (the file is cut off, or a cell "
        "that contains a separator is not in quotes)"
    ]


@pytest.mark.parametrize("where", ["r.csv", "'*.csv'"])
def test_a_preview_follows_a_saved_file_and_a_pattern(tmp_path: Path, where: str) -> None:
    with Preview(site(tmp_path, where, {"r.csv": CSV})) as preview:
        preview.wait("", ">5<")
        preview.edit("r.csv", "y,5", "y,77")
        preview.wait("", ">77<")


def test_the_extension_takes_plain_files_and_shows_them_as_they_are_at_each_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, {"bench/r.csv": CSV}))
    settings = {"mongo-tables": {"results": "bench/*.csv"}}
    for number in ("5", "78"):
        write(tmp_path, {"bench/r.csv": CSV.replace("5", number)})
        html = markdown.markdown(table("one"), extensions=["mongo-tables"], extension_configs=settings)
        assert f">{number}</td>" in html
