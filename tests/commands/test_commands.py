"""The command line as users meet it: exit status, what goes to standard output, what is written to disk."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest
from pymongo import MongoClient

from tests import forked
from tests.mongod import Mongod

TABLE = '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [{"$sort": {"n": 1}}], "columns": ["n"], "headers": ["Run"]} -->'


def mongo_tables(
    *arguments: str, cwd: Path, expect: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = forked.completed(forked.MONGO_TABLES, arguments, cwd, {**os.environ, **environment})
    assert expect in (None, done.returncode), (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one page of one table, and its fixture."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(f"# Runs\n\n{TABLE}\n")
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text('{"_id": 2, "n": 2}\n{"_id": 1, "n": 1}\n')
    return tmp_path


def test_check_of_a_sound_page_says_nothing(project: Path) -> None:
    assert mongo_tables("check", cwd=project).stdout == ""


def test_check_looks_into_folders(project: Path) -> None:
    (project / "docs" / "deep").mkdir()
    (project / "docs" / "deep" / "bad.md").write_text(TABLE.replace("$sort", "$sor"))
    assert "docs/deep/bad.md:1:56: error MT301" in mongo_tables("check", cwd=project, expect=1).stdout


def test_static_check_needs_no_results(project: Path) -> None:
    mongo_tables("check", "--static", "--results", "nowhere", cwd=project)
    assert "nowhere" in mongo_tables("check", "--results", "nowhere", cwd=project, expect=2).stderr


def test_render_prints_the_page_with_its_table(project: Path) -> None:
    done = mongo_tables("render", "docs/page.md", cwd=project)
    assert done.stdout == "# Runs\n\n| Run |\n| --: |\n|   1 |\n|   2 |\n"


def test_render_to_a_folder_keeps_the_paths(project: Path) -> None:
    mongo_tables("render", "docs/page.md", "--output", "out", cwd=project)
    assert "|   1 |" in (project / "out" / "docs" / "page.md").read_text()


def test_two_pages_never_become_one_file(project: Path) -> None:
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "page.md").write_text("another")
    pages = [str(project / "docs" / "page.md"), str(elsewhere / "page.md")]
    done = mongo_tables("render", *pages, "--output", "out", cwd=project, expect=2)
    assert "page.md" in done.stderr
    assert not (project / "out").exists()


def test_in_place_twice_changes_nothing_the_second_time(project: Path) -> None:
    page = project / "docs" / "page.md"
    assert "docs/page.md" in mongo_tables("render", "--in-place", "docs/page.md", cwd=project).stderr
    once = page.read_bytes()
    mongo_tables("render", "--in-place", "--check", "docs/page.md", cwd=project)
    mongo_tables("render", "--in-place", "docs/page.md", cwd=project)
    assert page.read_bytes() == once


def test_in_place_check_shows_what_would_change_and_writes_nothing(project: Path) -> None:
    page = project / "docs" / "page.md"
    before = page.read_bytes()
    done = mongo_tables("render", "--in-place", "--check", "docs/page.md", cwd=project, expect=1)
    assert "+|   1 |" in done.stdout
    assert page.read_bytes() == before


def test_a_page_keeps_its_line_ends_and_its_mode(project: Path) -> None:
    page = project / "docs" / "page.md"
    page.write_bytes(f"# Runs\r\n\r\n{TABLE}\r\n".encode())
    page.chmod(0o600)
    mongo_tables("render", "--in-place", "docs/page.md", cwd=project)
    assert b"\n" not in page.read_bytes().replace(b"\r\n", b"")
    assert page.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name", ["table", "chart", "value", "check", "pipeline", "RESULT_TABLE", "MONGO_CHECK"]
)
def test_schema_prints_a_json_schema(name: str, tmp_path: Path) -> None:
    assert "$schema" in json.loads(mongo_tables("schema", name, cwd=tmp_path).stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "missing.md"], "missing.md"),
        (["render", "docs/page.md", "--check"], "--in-place"),
        (["check", "--results", "postgres://h/d"], "results source"),
        (["check", "--pipelines", "nowhere"], "nowhere"),
        (["pull", "fixtures"], "over itself"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_2(arguments: list[str], message: str, project: Path) -> None:
    done = mongo_tables(*arguments, cwd=project, expect=2)
    assert message in done.stderr
    assert done.stdout == ""


def test_a_page_that_is_not_utf_8_is_named(project: Path) -> None:
    (project / "docs" / "page.md").write_bytes(b"\xff\xfe<!-- MONGO_TABLE: {} -->")
    assert "docs/page.md:1:1: error MT100" in mongo_tables("check", cwd=project, expect=1).stdout


def test_an_empty_page_is_fine(project: Path) -> None:
    (project / "docs" / "page.md").write_bytes(b"")
    assert mongo_tables("render", "docs/page.md", cwd=project).stdout == ""


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


SECRET = "tell-no-one"


@pytest.mark.parametrize(
    "command", [("check",), ("render", "docs/page.md"), ("render", "--in-place", "docs/page.md")]
)
def test_a_dead_server_is_one_line(command: tuple[str, ...], project: Path) -> None:
    uri = f"mongodb://someone:{SECRET}@127.0.0.1:{closed_port()}/perf"
    done = mongo_tables(*command, "--results", uri, cwd=project, expect=2)
    assert done.stdout == ""
    assert "127.0.0.1" in done.stderr
    assert SECRET not in done.stderr
    assert (project / "docs" / "page.md").read_text() == f"# Runs\n\n{TABLE}\n"


def test_a_wrong_password_is_one_line_that_does_not_hold_it(
    project: Path, mongod_with_password: Mongod
) -> None:
    uri = mongod_with_password.uri("perf", credentials=f"owner:{SECRET}@", options="authSource=admin")
    done = mongo_tables("check", cwd=project, expect=2, MONGO_TABLES_RESULTS=uri)
    assert SECRET not in done.stdout + done.stderr
    assert "owner" not in done.stderr


def test_pull_copies_what_pages_read_and_says_what_changed(project: Path, mongod: Mongod) -> None:
    client: MongoClient[dict[str, object]] = MongoClient(mongod.uri())
    runs = client.pulled.runs
    runs.drop()
    runs.insert_many([{"_id": 1, "n": 7, "unread": "x"}, {"_id": 3, "n": 3.0}])
    uri = mongod.uri("pulled")
    assert "would change" in mongo_tables("pull", uri, "--dry-run", cwd=project).stdout
    assert mongo_tables("render", "docs/page.md", cwd=project).stdout.count("|   2 |") == 1
    mongo_tables("pull", uri, cwd=project)
    text = mongo_tables("render", "docs/page.md", cwd=project).stdout
    assert "|   3 |\n|   7 |" in text
    assert "nothing changed" in mongo_tables("pull", uri, cwd=project).stdout
    client.drop_database("pulled")
    client.close()


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("chekc",), "check"),
        (("Render", "docs"), "render"),
        (("check", "--formt", "json"), "--format"),
        (("check", "docs", "--statik"), "--static"),
        (("check", "--format", "jsn"), "json"),
        (("schema", "tabel"), "table"),
        (("diff", "a", "b", "--reprot"), "--report"),
        (("render", "--in-plce"), "--in-place"),
        (("compare", "--jsn"), "--json"),
        (("--verion",), "--version"),
    ],
)
def test_a_mistyped_command_or_option_is_told_with_the_nearest(
    project: Path, arguments: tuple[str, ...], nearest: str
) -> None:
    done = mongo_tables(*arguments, cwd=project, expect=2)
    assert done.stderr.endswith(f"\n  hint: did you mean `{nearest}`?\n")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--static", "check"), "options of a command follow its name"),
        (("--results", "fixtures", "check"), "options of a command follow its name"),
        (("helo",), "`mongo-tables --help` lists them"),
    ],
)
def test_an_option_before_its_command_and_a_strange_command_have_a_hint(
    project: Path, arguments: tuple[str, ...], hint: str
) -> None:
    done = mongo_tables(*arguments, cwd=project, expect=2)
    assert done.stderr.endswith(f"\n  hint: {hint}\n")


def test_an_option_that_is_like_none_is_told_without_a_guess(project: Path) -> None:
    assert "hint" not in mongo_tables("check", "--qwxyz", cwd=project, expect=2).stderr
