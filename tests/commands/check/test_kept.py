"""A check that found nothing is remembered; whatever could make it find something is seen all the same."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.cli import main
from mongo_tables.commands.check import checking, keptchecks
from mongo_tables.files import environment
from tests.commands.check.settledsite import make_site

TABLE = (
    '<!-- MONGO_TABLE: {"id": "speed", "collection": "runs", "pipeline": ["slow"], "columns": ["n"]} -->\n'
)
VALUE = '<!-- MONGO_VALUE: {"table": "speed", "column": "n", "where": {"n": 1}} -->'
SLOW = '[{"$match": {"n": {"$lt": 8}}}, {"$sort": {"n": 1}}, {"$project": {"_id": 0, "n": 1}}]'
LONG_AGO = 1_700_000_000
Check = Callable[..., tuple[int, str, bool]]


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site whose files are old enough to be known by their states."""
    folder = make_site(tmp_path, monkeypatch)
    Path("docs/runs.md").write_text(f"# Runs\n\n{TABLE}")
    Path("docs/other.md").write_text(f"# Other\n\nAt least {VALUE} thread.\n")
    Path("docs/pipelines/slow.json").write_text(SLOW)
    Path("fixtures/runs/all.jsonl").write_text('{"_id": 1, "n": 1}\n{"_id": 2, "n": 8}\n')
    return folder


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Check:
    """Runs the command: its exit status, what it says, and whether it looked at the pages."""
    looked = []
    judge = checking.check_pages

    def judge_seen(*given: object) -> object:
        looked.append(given)
        return judge(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "check_pages", judge_seen)

    def run(*arguments: str) -> tuple[int, str, bool]:
        looked.clear()
        code = main(["check", *arguments])
        return code, "".join(capsys.readouterr()), bool(looked)

    return run


@pytest.mark.parametrize(
    "arguments", [["--static"], [], ["--numbers"], ["--format", "json"], ["--format", "sarif"]]
)
@pytest.mark.parametrize("paths", [["docs/runs.md"], ["docs/other.md", "docs/runs.md"], ["docs"], []])
def test_pages_without_a_fault_are_not_looked_at_again(
    paths: list[str], arguments: list[str], check: Check
) -> None:
    first, again = check(*arguments, *paths), check(*arguments, *paths)
    assert first[0] == 0
    assert (first[2], again[2]) == (True, False)
    assert first[:2] == again[:2]


def test_the_report_for_other_programs_is_written_again(check: Check) -> None:
    check("docs/runs.md", "--sarif", "one.sarif")
    assert not check("docs/runs.md", "--sarif", "two.sarif")[2]
    assert Path("one.sarif").read_bytes() == Path("two.sarif").read_bytes()


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("docs/runs.md", TABLE.replace('["n"]', '["m"]'), "MT"),
        ("docs/other.md", f"# Other\n\n{VALUE.replace('column', 'col')}", "no fault"),
        ("docs/third.md", VALUE.replace('"column": "n"', '"column": "m"'), "no fault"),
        ("docs/pipelines/slow.json", '[{"$sirt": {"n": 1}}]', "$sirt"),
        ("fixtures/runs/all.jsonl", '{"_id": 1, "m": 1}\n', "MT"),
        ("fixtures/runs/more.jsonl", '{"_id": 1, "n": 1}\n', "MT"),
        ("fixtures/runs.csv", "n\n1\n", "`runs`"),
        ("mkdocs.yml", "site_name: Runs\nplugins: [{mongo-tables: {results: gone}}]\n", "gone"),
    ],
)
def test_whatever_is_another_one_is_looked_at(file: str, text: str, says: str, check: Check) -> None:
    for path in ("docs/runs.md", "docs/other.md"):
        assert check(path)[0] == 0
    Path(file).write_text(text)
    _, said, looked = check("docs/runs.md")
    assert looked
    assert says in said


def test_a_quoted_table_that_went_from_another_page_is_missed(check: Check) -> None:
    assert check("--static", "docs/other.md")[0] == 0
    Path("docs/runs.md").unlink()
    assert "MT139" in check("--static", "docs/other.md")[1]


def test_a_change_of_the_same_length_at_the_same_time_is_seen(check: Check) -> None:
    results = Path("fixtures/runs/all.jsonl")
    os.utime(results, (LONG_AGO, LONG_AGO))
    assert check("docs/runs.md")[0] == 0
    before = results.stat().st_ctime_ns
    while (
        results.stat().st_ctime_ns == before
    ):  # The clock of the file system ticks more slowly than this runs.
        results.write_text(results.read_text().replace('"n"', '"m"'))
        os.utime(results, (LONG_AGO, LONG_AGO))
    assert check("docs/runs.md")[0] == 1


def test_a_fault_is_told_each_time_with_its_line(check: Check) -> None:
    Path("docs/runs.md").write_text(TABLE.replace("speed", "no name!"))
    first, again = check("--static", "docs/runs.md"), check("--static", "docs/runs.md")
    assert first == again
    assert again[0] == 1
    assert again[2]


def test_another_version_of_the_server_is_another_check(check: Check) -> None:
    assert not [check("--static", "docs/runs.md") for _ in range(2)][1][2]
    Path("mkdocs.yml").write_text("site_name: Runs\nplugins: [{mongo-tables: {server: '4.4'}}]\n")
    assert check("--static", "docs/runs.md")[2]


def test_what_the_file_of_the_site_inherits_is_looked_at(check: Check) -> None:
    Path("mkdocs.yml").write_text("INHERIT: base.yml\n")
    for server in ("", ", server: '4.4'"):
        Path("base.yml").write_text(
            f"site_name: Runs\nplugins: [{{mongo-tables: {{results: fixtures{server}}}}}]\n"
        )
        assert [check("--static", "docs/runs.md")[2] for _ in range(2)] == [True, False]


def test_a_page_may_have_changed_just_now_and_other_files_may_not(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {file: Path(file).stat().st_size for file in ("docs/runs.md", "fixtures/runs/all.jsonl")}

    def say_changed(file: str) -> None:
        monkeypatch.setattr(keptchecks, "is_settled", lambda state, now: state.split()[0] != str(sizes[file]))

    say_changed("fixtures/runs/all.jsonl")
    assert [check("docs/runs.md")[2] for _ in range(2)] == [True, True]
    say_changed("docs/runs.md")
    assert [check("docs/runs.md")[2] for _ in range(2)] == [True, False]


def test_a_file_from_elsewhere_that_comes_into_a_page_is_looked_at_each_time(check: Check) -> None:
    Path("part.md").write_text("Nothing.\n")
    with Path("docs/other.md").open("a") as page:
        page.write('\n--8<-- "part.md"\n')
    assert check("docs/runs.md")[0] == 0
    Path("part.md").write_text(TABLE.replace('["n"]', '["m"]'))
    assert check("docs/runs.md")[2]


@pytest.mark.parametrize("stage", ['{"$sample": {"size": 1}}', '{"$set": {"n": {"$toLong": "$$NOW"}}}'])
def test_rows_that_may_be_others_tomorrow_are_asked_for_each_time(stage: str, check: Check) -> None:
    Path("docs/pipelines/slow.json").write_text(f"[{stage}, {SLOW[1:]}")
    assert [check("docs/runs.md")[2] for _ in range(2)] == [True, True]


def test_what_is_written_into_a_page_is_held_against_its_files_each_time(check: Check) -> None:
    main(["render", "--in-place", "docs/runs.md"])
    assert [check("docs/runs.md")[2] for _ in range(2)] == [True, True]


def test_a_collection_behind_a_link_is_looked_at_each_time(check: Check) -> None:
    Path("fixtures/runs").rename("fixtures/old")
    Path("fixtures/new").mkdir()
    Path("fixtures/new/all.jsonl").write_text('{"_id": 1, "m": 1}\n')
    for name, found in (("old", 0), ("new", 1)):
        Path("fixtures/runs").unlink(missing_ok=True)
        Path("fixtures/runs").symlink_to(name, target_is_directory=True)
        assert check("docs/runs.md")[0] == found


def test_a_page_that_is_saved_while_it_is_checked_is_looked_at_again(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, good, bad = Path("docs/runs.md"), f"# Runs\n\n{TABLE}", TABLE.replace('["n"]', '["m"]')
    page.write_text(bad)
    find = keptchecks.find_case

    def find_then_save(*given: Any) -> keptchecks.Case | None:
        case = find(*given)
        page.write_text(good)
        return case

    with monkeypatch.context() as patch:
        patch.setattr(keptchecks, "find_case", find_then_save)
        assert check("docs/runs.md")[0] == 0
    page.write_text(bad)
    assert check("docs/runs.md")[0] == 1


def test_a_folder_of_results_that_was_another_one_meanwhile_leaves_no_verdict(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, aside, find = Path("fixtures/runs"), Path("aside"), keptchecks.find_case
    (folder / "all.jsonl").write_text('{"_id": 1, "m": 1}\n')

    def find_then_exchange(*given: Any) -> keptchecks.Case | None:
        case = find(*given)
        folder.rename(aside)
        folder.mkdir()
        (folder / "all.jsonl").write_text('{"_id": 1, "n": 1}\n')
        return case

    with monkeypatch.context() as patch:
        patch.setattr(keptchecks, "find_case", find_then_exchange)
        assert check("docs/runs.md")[0] == 0
    (folder / "all.jsonl").unlink()
    folder.rmdir()
    aside.rename(folder)
    assert check("docs/runs.md")[0] == 1


def test_a_folder_of_pages_that_was_another_one_meanwhile_leaves_no_verdict(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = keptchecks.find_case
    shutil.copytree("docs", "good")
    Path("docs/runs.md").write_text(TABLE.replace('["n"]', '["m"]'))

    def find_then_exchange(*given: Any) -> keptchecks.Case | None:
        case = find(*given)
        Path("docs").rename("bad")
        Path("good").rename("docs")
        return case

    with monkeypatch.context() as patch:
        patch.setattr(keptchecks, "find_case", find_then_exchange)
        assert check()[0] == 0
    Path("docs").rename("good")
    Path("bad").rename("docs")
    assert check()[0] == 1


def test_a_link_above_the_results_that_led_elsewhere_meanwhile_leaves_no_verdict(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = keptchecks.find_case
    for run, field in (("bad", "m"), ("good", "n")):
        Path(run, "fixtures/runs").mkdir(parents=True)
        Path(run, "fixtures/runs/all.jsonl").write_text(f'{{"_id": 1, "{field}": 1}}\n')

    def lead_to(run: str) -> None:
        Path("latest").unlink(missing_ok=True)
        Path("latest").symlink_to(run)

    def find_then_lead_elsewhere(*given: Any) -> keptchecks.Case | None:
        case = find(*given)
        lead_to("good")
        return case

    lead_to("bad")
    asked = ("docs/runs.md", "--results", "latest/fixtures")
    with monkeypatch.context() as patch:
        patch.setattr(keptchecks, "find_case", find_then_lead_elsewhere)
        assert check(*asked)[0] == 0
    lead_to("bad")
    assert check(*asked)[0] == 1


def test_a_folder_behind_a_link_within_a_collection_is_looked_at_each_time(check: Check) -> None:
    Path("fixtures/runs/raw").symlink_to("../../raw")
    Path("raw").mkdir()
    assert check("docs/runs.md")[0] == 0
    Path("raw/more.jsonl").write_text('{"_id": 3, "n": 3}\n')
    assert check("docs/runs.md")[0] == 1


@pytest.mark.parametrize("asked", [(), ("docs",), ("docs/more",), ("docs/more/page.md",)])
def test_a_page_in_a_folder_behind_a_link_is_checked_as_it_is_built(
    asked: tuple[str, ...], check: Check
) -> None:
    Path("elsewhere").mkdir()
    Path("docs/more").symlink_to("../elsewhere")
    page = Path("elsewhere/page.md")
    for body, found in ((TABLE, 0), (TABLE.replace("columns", "columnz"), 1)):
        page.write_text(body.replace("speed", "more"))
        assert check(*asked)[0] == found


def test_a_baseline_is_read_each_time(check: Check) -> None:
    asked = ("docs/runs.md", "--baseline", "known.json")
    assert check("docs/runs.md", "--baseline", "known.json", "--write-baseline")[0] == 0
    assert check(*asked)[0] == check(*asked)[0] == 0
    Path("known.json").unlink()
    assert check(*asked)[0] == 2


def test_the_name_of_an_included_site_is_looked_at(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("part/docs").mkdir(parents=True)
    Path("part/mkdocs.yml").write_text("site_name: other\nnav: [index.md]\n")
    Path("part/docs/index.md").write_text("# Part\n")
    Path("part/docs/draft.md").write_text(TABLE.replace("speed", "draft"))
    Path("docs/other.md").write_text(f"# Other\n\nAt least {VALUE.replace('speed', 'draft')} thread.\n")
    with Path("mkdocs.yml").open("a") as site:
        site.write(
            "nav: [runs.md, other.md, Part: '!include ./part/mkdocs.yml']\nexclude_docs: part/draft.md\n"
        )
    Path("mkdocs.yml").write_text(Path("mkdocs.yml").read_text().replace("[", "[monorepo, ", 1))
    assert check()[0] == 0
    Path("part/mkdocs.yml").write_text("site_name: part\nnav: [index.md]\n")
    assert check()[0] == 1
    Path("part/mkdocs.yml").write_text("site_name: !ENV [PART, other]\nnav: [index.md]\n")
    assert check()[0] == 0
    monkeypatch.setenv("PART", "part")
    assert check()[0] == 1


def test_where_a_folder_of_pages_cannot_be_read_nothing_is_remembered(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("docs/part").mkdir()
    assert check()[0] == 0
    scan = os.scandir

    def refuse(place: str) -> Any:
        if str(place).endswith("docs/part"):
            raise PermissionError(13, "Permission denied", str(place))
        return scan(place)

    monkeypatch.setattr(os, "scandir", refuse)
    assert check()[0] == 2


@pytest.mark.parametrize(("asked", "said"), [("getegid", 12345), ("getgroups", [12345])])
def test_who_is_in_other_groups_may_read_other_files_and_looks_at_them(
    asked: str, said: object, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [check()[2], check()[2]] == [True, False]
    monkeypatch.setattr(os, asked, lambda: said)
    assert [check()[2], check()[2]] == [True, False]


def test_who_may_do_less_than_before_looks_at_files_anew(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [check()[2], check()[2]] == [True, False]
    monkeypatch.setattr(environment, "_list_capabilities", lambda: ["CapEff:\t7"])
    assert [check()[2], check()[2]] == [True, False]


def test_a_page_on_standard_input_is_read_each_time_whatever_is_called_so(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("docs/-").mkdir()
    monkeypatch.chdir("docs")
    for body, found in ((TABLE, 0), (TABLE.replace("columns", "columnz"), 1)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(body.encode())))
        asked = ("--static", "-", "--stdin-filename", "new.md", "--config-file", "../mkdocs.yml")
        assert check(*asked)[0] == found


def test_a_page_of_no_site_is_looked_at_each_time(check: Check) -> None:
    Path("README.md").write_text("# Runs\n\n<!-- MONGO_TABLE: {} -->\n")
    assert check("--static", "README.md")[0] == check("--static", "README.md")[0] == 1


def test_other_bytes_in_the_place_of_what_is_remembered_are_not_believed(
    check: Check, tmp_path: Path
) -> None:
    assert check("--static", "docs/runs.md")[0] == 0
    for entry in (tmp_path / "cache").rglob("*.bson"):
        entry.write_bytes(entry.read_bytes()[:-1] + b"7")
    assert check("--static", "docs/runs.md")[2]
