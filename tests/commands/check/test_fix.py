"""`check --fix`: what hints say is shown as a diff, or written, on pages and in shared pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.cli import main

PAGE = """\
# Runs

<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [{"$match": {"at": {"$gt": ISODate("2026-01-01")}}},
  {"$srot": {"n": 1}}], "columns": ["n"], "headers": ["N"]} -->
"""
MENDED = PAGE.replace('ISODate("2026-01-01")', '{"$date": "2026-01-01T00:00:00Z"}').replace("$srot", "$sort")
ROWS = '{"_id": 1, "n": 1, "at": {"$date": "2026-01-02T00:00:00Z"}}\n'
SHARED = (
    '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": ["all"], "columns": ["n"], "headers": ["N"]} -->\n'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(ROWS)
    (tmp_path / "docs" / "pipelines").mkdir(parents=True)
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    return tmp_path


@pytest.fixture
def fix(capsys: pytest.CaptureFixture[str]):
    """Runs the command: exit status, output, errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["check", "--fix", *arguments])
        return code, *capsys.readouterr()

    return run


def test_a_diff_shows_what_shows_only_once_the_comment_can_be_read(folder: Path, fix) -> None:
    code, out, _ = fix()
    assert (code, (folder / "docs/page.md").read_text()) == (1, PAGE)
    assert "docs/page.md:3:81: error MT120" in out
    assert out.endswith("".join(f"+{line}\n" for line in MENDED.splitlines()[2:]))


def test_what_was_shown_is_written_and_what_is_left_is_told(folder: Path, fix) -> None:
    assert fix("--write") == (0, "", "docs/page.md: written\n1 comment on 1 page: no fault\n")
    assert (folder / "docs/page.md").read_text() == MENDED
    assert fix() == (0, "", "1 comment on 1 page: no fault\n")
    (folder / "docs/page.md").write_text(PAGE.replace('["n"]', '["speed"]'))
    code, out, err = fix("--write")
    assert (code, err) == (1, "docs/page.md: written\n")
    assert "docs/page.md:4:37: error MT302 no row has the column 'speed'" in out and "MT120" not in out


def test_a_shared_pipeline_is_mended_for_all_pages_that_name_it(folder: Path, fix) -> None:
    shared = folder / "docs/pipelines/all.json"
    shared.write_text('[{"$sort": {"n": 1,}}, {"$project": {"n": 1}}]')
    (folder / "docs/page.md").write_text(SHARED)
    (folder / "docs/other.md").write_text(SHARED.replace('["n"]', '["nn"]'))
    code, out, _ = fix()
    assert code == 1
    assert "+++ docs/pipelines/all.json" in out and "+++ docs/other.md" in out
    assert fix("--write")[0] == 0
    assert shared.read_text() == '[{"$sort": {"n": 1}}, {"$project": {"n": 1}}]'
    assert (folder / "docs/other.md").read_text() == (folder / "docs/page.md").read_text() == SHARED


def test_a_stage_of_a_shared_pipeline_is_mended_where_it_is_written(folder: Path, fix) -> None:
    shared = folder / "docs/pipelines/all.json"
    shared.write_text('[{"$sort": {"n": 1}},\n {"$porject": {"n": {"$multipy": ["$n", 2]}}}]\n')
    (folder / "docs/page.md").write_text(SHARED)
    code, out, _ = fix("docs")
    assert code == 1 and "docs/page.md:1:55: error MT301" in out
    assert "  in docs/pipelines/all.json:2:3\n" in out and "+++ docs/pipelines/all.json" in out
    assert fix("--write", "docs")[0] == 0
    assert shared.read_text() == ('[{"$sort": {"n": 1}},\n {"$project": {"n": {"$multiply": ["$n", 2]}}}]\n')
    assert (folder / "docs/page.md").read_text() == SHARED


def test_the_name_of_a_shared_pipeline_stays_where_it_is_like_what_is_mistyped_in_it(
    folder: Path, fix
) -> None:
    shared = folder / "docs/pipelines/speedd.json"
    shared.write_text('[{"$sort": {"_id": 1}}, {"$project": {"n": {"$add": ["$speedd", 1]}}}]')
    (folder / "docs/pipelines/speed.json").write_text('[{"$sort": {"_id": 1}}, {"$project": {"n": 1}}]')
    (folder / "fixtures/runs/a.jsonl").write_text('{"_id": 1, "speed": 1}\n')
    page = SHARED.replace('"all"', '"speedd"')
    (folder / "docs/page.md").write_text(page)
    fix("--write")
    assert (folder / "docs/page.md").read_text() == page
    assert shared.read_text() == '[{"$sort": {"_id": 1}}, {"$project": {"n": {"$add": ["$speed", 1]}}}]'


def test_without_rows_names_of_operators_are_mended_all_the_same(folder: Path, fix) -> None:
    (folder / "docs/page.md").write_text(MENDED.replace("$sort", "$srt"))
    assert fix("--static", "--write")[0] == 0
    assert (folder / "docs/page.md").read_text() == MENDED


def test_a_page_without_a_hint_to_do_is_left_alone(folder: Path, fix) -> None:
    text = PAGE.replace("ISODate", "SomeDate").replace("$srot", "$sort")
    (folder / "docs/page.md").write_text(text)
    code, out, _ = fix("--write")
    assert (code, out.count("MT120")) == (1, 1)
    assert (folder / "docs/page.md").read_text() == text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_page_keeps_its_mark_line_ends_and_last_line(newline: str, mark: str, folder: Path, fix) -> None:
    text, mended = (mark + one.removesuffix("\n").replace("\n", newline) for one in (PAGE, MENDED))
    (folder / "docs/page.md").write_bytes(text.encode())
    assert fix("--write")[0] == 0
    assert (folder / "docs/page.md").read_bytes().decode() == mended


def test_a_read_only_page_stays(folder: Path, fix) -> None:
    (folder / "docs/page.md").chmod(0o444)
    code, _, err = fix("--write")
    assert (code, "docs/page.md: Permission denied" in err) == (2, True)
    assert (folder / "docs/page.md").read_text() == PAGE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "--format", "json"], "--fix prints a diff"),
        (["--write"], "--write requires --fix"),
        (["--fix", "--baseline", "a", "--write-baseline"], "--fix prints a diff"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", *arguments])
    out, err = capsys.readouterr()
    assert (code, out, message in err) == (2, "", True)
