"""`check --prose --fix`: what would change is shown as a diff, and written when that is asked for."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from mongo_tables.cli import main

TABLE = """\
<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [{"$sort": {"n": 1}}], "columns": ["n", "ops"],
  "headers": ["Threads", "Speed (inserts/s)"], "title": "Speed"} -->
"""
ROWS = '{"_id": 1, "n": 1, "ops": 4200.4}\n{"_id": 2, "n": 8, "ops": 30100}\n'
PROSE = "# Runs\n\n8 threads reach 30,100 inserts/s.\n\n"
VALUE = (
    '<!-- MONGO_VALUE: {"table": "table-speed", "column": "ops", "where": {"n": 8}, "format": {"decimals": 0, '
    '"thousands": true}} -->'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(ROWS)
    (tmp_path / "README.md").write_text(PROSE + TABLE)
    return tmp_path


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]):
    """Runs the command: exit status, output, errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main(["check", "--prose", *arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_figure_that_one_cell_says_is_shown_as_a_diff_and_nothing_is_written(folder: Path, check) -> None:
    code, out, err = check("README.md", "--fix")
    assert (code, (folder / "README.md").read_text()) == (1, PROSE + TABLE)
    assert out.splitlines()[:2] == ["--- README.md", "+++ README.md (as it should be)"]
    added = [line for line in out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added[0].startswith(f"+8 threads reach {VALUE}<!-- mongo-tables: begin ")
    assert added[0].endswith("-->30,100<!-- mongo-tables: end --> inserts/s.")
    assert added[1].startswith('+<!-- MONGO_TABLE: {"id": "table-speed", "collection"')
    assert err == "1 comment on 1 page: no fault\n"


def test_what_was_shown_is_written_and_then_there_is_nothing_to_fix(folder: Path, check) -> None:
    assert check("README.md", "--fix", "--write") == (
        0,
        "",
        "README.md: written\n2 comments on 1 page: no fault\n",
    )
    written = (folder / "README.md").read_text()
    assert VALUE in written
    assert main(["render", "--in-place", "README.md"]) == 0
    assert check("README.md", "--fix") == (0, "", "2 comments on 1 page: no fault\n")
    assert VALUE in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("page", "in_place"),
    [
        ("docs/page.md", False),
        ("docs/README.md", False),
        ("README.md", True),
        ("docs/left.md", True),
        ("other/a.md", True),
    ],
)
def test_pages_of_a_site_get_the_comment_alone(page: str, in_place: bool, folder: Path, check) -> None:
    (folder / "mkdocs.yml").write_text("site_name: S\nexclude_docs: left.md\n")
    (folder / page).parent.mkdir(exist_ok=True)
    (folder / page).write_text(PROSE + TABLE)
    assert check(page, "--fix", "--write")[0] == 0
    written = (folder / page).read_text()
    assert ("mongo-tables: begin" in written) == in_place
    assert f"reach {VALUE}{'<' if in_place else ' inserts/s.'}" in written


def test_a_page_of_a_site_that_has_figures_in_place_gets_the_value_as_well(folder: Path, check) -> None:
    (folder / "mkdocs.yml").write_text("site_name: S\n")
    (folder / "docs").mkdir()
    (folder / "docs" / "page.md").write_text(PROSE + TABLE)
    assert main(["render", "--in-place", "docs/page.md"]) == 0
    assert check("docs/page.md", "--fix", "--write")[0] == 0
    assert "-->30,100<!--" in (folder / "docs" / "page.md").read_text()


def test_a_figure_of_several_cells_is_told_and_does_not_fail(folder: Path, check) -> None:
    other = TABLE.replace('"title": "Speed"', '"title": "Again"')
    (folder / "README.md").write_text(f"{PROSE}{TABLE}\n{other}")
    code, out, _ = check("README.md", "--fix")
    assert code == 0
    assert "README.md:3:17: note MT328 `30,100 inserts/s` stays as it is typed: 2 cells have it" in out
    assert "---" not in out


def test_a_figure_that_no_row_has_is_told_by_the_check_and_never_replaced(folder: Path, check) -> None:
    (folder / "README.md").write_text(PROSE.replace("30,100", "55,000") + TABLE)
    code, out, _ = check("README.md", "--fix", "--write")
    assert (code, "MT324 no row of the section's tables has `55,000 inserts/s`" in out) == (1, True)
    assert "55,000" in (folder / "README.md").read_text()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_page_keeps_its_mark_line_ends_and_last_line(newline: str, mark: str, folder: Path, check) -> None:
    text = mark + (PROSE + TABLE).removesuffix("\n").replace("\n", newline)
    (folder / "README.md").write_bytes(text.encode())
    assert check("README.md", "--fix", "--write")[0] == 0
    written = (folder / "README.md").read_bytes().decode()
    assert "-->30,100<!--" in written
    assert written.startswith(mark + "# Runs" + newline)
    assert written.count("\r") == text.count("\r")
    assert not written.endswith("\n")


def test_a_page_that_nobody_may_write_stays(folder: Path, check) -> None:
    (folder / "README.md").chmod(0o444)
    code, _, err = check("README.md", "--fix", "--write")
    assert (code, "README.md: Permission denied" in err) == (2, True)
    assert (folder / "README.md").read_text() == PROSE + TABLE


def test_the_page_on_standard_input_can_be_shown_but_not_written(
    folder: Path, check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((PROSE + TABLE).encode())))
    code, out, _ = check("-", "--stdin-filename", "README.md", "--fix")
    assert (code, "+++ README.md" in out) == (1, True)
    assert check("-", "--fix", "--write")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "--format", "json"], "--fix shows a diff"),
        (["--write"], "--write goes with --fix"),
        (["--fix", "--baseline", "a", "--write-baseline"], "--fix shows a diff"),
        (["--fix", "--static"], "--static runs no pipeline"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    arguments: list[str], message: str, folder: Path, check
) -> None:
    code, out, err = check("README.md", *arguments)
    assert (code, out, message in err) == (2, "", True)
