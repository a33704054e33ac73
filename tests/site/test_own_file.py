"""A repository from which no site is built says in a file of its own where its pages and results are."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.site.site_config import find_site
from tests.commands.test_commands import mongo_tables

TABLE = '<!-- RESULT_TABLE: {"id": "speed", "collection": "r", "columns": ["a"], "sort": "a"} -->\n'
VALUE = 'Best <!-- RESULT_VALUE: {"table": "speed", "column": "a"} -->.\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "data/r").mkdir(parents=True)
    (tmp_path / "data/r/r.jsonl").write_text('{"_id": 1, "a": "x"}\n')
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/more.md").write_text(VALUE)
    (tmp_path / "README.md").write_text(TABLE)
    (tmp_path / "OTHER.md").write_text("<!-- RESULT_TABLE: {} -->\n")
    (tmp_path / "mongo-tables.toml").write_text('results = "data"\npages = ["README.md", "notes"]\n')
    return tmp_path


def test_the_pages_that_the_file_names_are_checked_and_no_others(project: Path) -> None:
    mongo_tables("render", "--in-place", "README.md", cwd=project)
    assert mongo_tables("check", cwd=project).stderr == "2 comments on 2 pages: no fault\n"


def test_a_page_finds_the_table_of_another_one_that_the_file_names(project: Path) -> None:
    done = mongo_tables("check", "notes/more.md", cwd=project)
    assert done.stderr == "1 comment on 1 page: no fault\n"
    assert mongo_tables("render", "notes/more.md", cwd=project).stdout == "Best x.\n"


def test_the_results_of_the_file_serve_every_page(project: Path) -> None:
    (project / "OTHER.md").write_text(TABLE.replace("speed", "other"))
    assert "| x" in mongo_tables("render", "OTHER.md", cwd=project).stdout


def test_options_of_a_site_may_stand_in_the_file(project: Path) -> None:
    (project / "mongo-tables.toml").write_text('results = "data"\npages = ["README.md"]\nfail_on = "note"\n')
    (project / "README.md").write_text(TABLE.replace(', "sort": "a"', ""))
    (project / "data/r/r.jsonl").write_text('{"_id": 1, "a": "x"}\n{"_id": 2, "a": "y"}\n')
    mongo_tables("render", "--in-place", "README.md", cwd=project)
    assert "MT417" in mongo_tables("check", cwd=project, expect=1).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('result = "data"\n', "unknown key `result`"),
        ('pages = "README.md"\n', "`pages` is not a list of names"),
        ("pages = [1]\n", "`pages` is not a list of names"),
        ("results = [\n", "not TOML"),
        ("results = 5\n", "`results` is not a string"),
        ('pages = ["GONE.md"]\n', "GONE.md: no such file or folder"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_name(project: Path, text: str, said: str) -> None:
    (project / "mongo-tables.toml").write_text(text)
    done = mongo_tables("check", cwd=project, expect=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_site_beside_the_file_must_agree_with_it(project: Path) -> None:
    (project / "mkdocs.yml").write_text("site_name: a\nplugins: [{mongo-tables: {results: data}}]\n")
    done = mongo_tables("check", cwd=project, expect=2)
    assert "mkdocs.yml and mongo-tables.toml name different pages or results" in done.stderr
    (project / "mongo-tables.toml").write_text('results = "data"\n')
    assert find_site(project) is not None


NOT_WRITTEN = "README.md:1:1: error MT166 the figure under this comment is not in the page"


def test_a_page_that_the_file_names_and_that_nothing_was_written_into_is_told(project: Path) -> None:
    done = mongo_tables("check", cwd=project, expect=1)
    assert [line for line in done.stdout.splitlines() if "MT" in line] == [NOT_WRITTEN]
    assert "run `mongo-tables render --in-place README.md`" in done.stdout
    (project / "mongo-tables.toml").write_text('results = "data"\npages = ["OTHER.md"]\n')
    (project / "OTHER.md").write_text(TABLE)
    assert "OTHER.md:1:1: error MT166" in mongo_tables("check", cwd=project, expect=1).stdout
    mongo_tables("check", "README.md", cwd=project)  # which is rendered elsewhere, or it would be named


def test_a_page_in_a_folder_that_the_file_names_may_be_rendered_elsewhere(project: Path) -> None:
    (project / "mongo-tables.toml").write_text('results = "data"\npages = ["notes"]\n')
    (project / "notes/README.md").write_text(TABLE)
    mongo_tables("check", cwd=project)
    mongo_tables("render", "notes/README.md", "--output", "out", cwd=project)


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("README.md", True),
        ("Readme.markdown", True),
        (".github/README.md", True),
        ("docs/README.md", False),  # of the folder that a site would have its pages in
        ("tests/site/README.md", False),
        ("README.template.md", False),
        ("page.md", False),
    ],
)
def test_without_such_a_file_the_readme_of_a_repository_is_told(project: Path, file: str, told: bool) -> None:
    (project / "mongo-tables.toml").write_text('results = "data"\n')
    (project / ".git").mkdir()
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(TABLE)
    done = mongo_tables("check", file, cwd=project, expect=int(told))
    assert ("is not in the page" in done.stdout) is told


def test_a_readme_beside_a_site_is_left_to_it(project: Path) -> None:
    (project / "mongo-tables.toml").unlink()
    (project / "mkdocs.yml").write_text("site_name: a\nplugins: [{mongo-tables: {results: data}}]\n")
    mongo_tables("check", "README.md", cwd=project)
