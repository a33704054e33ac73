"""``check -`` checks the page that an editor has, saved or not, as the file that it belongs to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.test_commands import TABLE, project

__all__ = ["project"]


def check(text: str, *arguments: str, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "mongo_tables.cli", "check", *arguments],
        cwd=cwd,
        input=text.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_page_on_standard_input_is_checked_as_the_file_that_it_belongs_to(project: Path) -> None:
    broken = f"# Runs\n\n{TABLE.replace('$sort', '$sor')}\n"
    status, said, _ = check(broken, "-", "--stdin-filename", "docs/page.md", cwd=project)
    assert status == 1
    assert said.startswith("docs/page.md:3:56: error MT301 there is no stage '$sor'")
    assert said.endswith("1 error in 1 file\n")


def test_the_file_that_a_page_on_standard_input_replaces_is_not_read(project: Path) -> None:
    (project / "docs" / "page.md").write_text(TABLE.replace("$sort", "$sor"))
    for name in ("docs/page.md", str(project / "docs" / "page.md")):
        assert check(TABLE, "docs", "-", "--stdin-filename", name, cwd=project)[:2] == (0, "")


def test_a_page_on_standard_input_needs_no_name(project: Path) -> None:
    assert check(TABLE, "-", cwd=project) == (0, "", "1 comment on 1 page: no fault\n")
    status, said, _ = check(TABLE.replace("$sort", "$sor"), "-", cwd=project)
    assert (status, said.split(":")[0]) == (1, "<stdin>")


def test_values_of_a_page_on_standard_input_find_the_tables_of_other_pages(project: Path) -> None:
    (project / "mkdocs.yml").write_text("site_name: Runs\n")
    named = TABLE.replace('{"collection"', '{"id": "runs", "collection"')
    (project / "docs" / "page.md").write_text(named)
    value = 'The first is <!-- MONGO_VALUE: {"table": "runs", "column": "n", "where": {"n": 1}} -->\n'
    assert check(value, "-", "--stdin-filename", "docs/new.md", cwd=project)[:2] == (0, "")


def test_the_site_is_the_one_around_the_page_wherever_the_editor_was_started(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (project / "mkdocs.yml").write_text("docs_dir: docs\nplugins: [mongo-tables: {results: kept}]\n")
    (project / "fixtures").rename(project / "kept")
    (project / "docs" / "pipelines").mkdir()
    (project / "docs" / "pipelines" / "down.json").write_text('[{"$sort": {"n": -1}}]')
    table = TABLE.replace("[{", '["down", {').replace('["n"]', '["m"]')
    page = f"# Runs\n\n{table}\n"
    name = str(project / "docs" / "new.md")
    status, said, _ = check(page, "-", "--stdin-filename", name, cwd=elsewhere)
    assert status == 1
    assert said.startswith(f"{name}:3:97: error MT302 no row has the column 'm'\n")


def test_a_name_without_a_page_on_standard_input_is_a_mistake(project: Path) -> None:
    status, _, said = check("", "docs", "--stdin-filename", "docs/page.md", cwd=project)
    assert status == 2
    assert "--stdin-filename goes with -" in said


def test_a_page_on_standard_input_that_is_no_text_is_told(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mongo_tables.cli", "check", "-"],
        cwd=project,
        input=b"a\xff",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert b"<stdin>:1:2: error MT100" in done.stdout
