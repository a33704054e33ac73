"""A page that is named alone may take its numbers from the tables of other pages of its documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables

TABLE = """\
<!-- MONGO_TABLE: {"collection": "results", "id": "speed", "pipeline": [{"$sort": {"_id": 1}}],
     "columns": ["_id", "speed"], "headers": ["Run", "Documents/s"]} -->
"""
WARNED = """\
<!-- MONGO_TABLE: {"collection": "results", "id": "other", "pipeline": [{"$sort": {"speeds": 1}}],
     "columns": ["_id"], "headers": ["Run"]} -->
"""
HOME = """\
At best <!-- MONGO_VALUE: {"table": "speed", "column": "speed", "where": {"_id": 1}} -->.
<!-- MONGO_CHECK: {"table": "speed", "expect": {"speed": {"$gt": 100}}} -->
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A documentation of two pages: one has the table, the other speaks of it."""
    (tmp_path / "mkdocs.yml").write_text("site_name: a\n", encoding="utf-8")
    (tmp_path / "fixtures/results").mkdir(parents=True)
    (tmp_path / "fixtures/results/rows.jsonl").write_text('{"_id": 1, "speed": 4711}\n', encoding="utf-8")
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/deep/speed.md").write_text(TABLE + "\n" + WARNED, encoding="utf-8")
    (tmp_path / "docs/index.md").write_text(HOME, encoding="utf-8")
    return tmp_path


def test_a_page_alone_is_as_right_as_among_the_others(project: Path) -> None:
    done = mongo_tables("check", "docs/index.md", cwd=project)
    assert (done.stdout, done.stderr) == ("", "2 comments on 1 page: no fault\n")


def test_it_shows_the_numbers_of_the_other_page(project: Path) -> None:
    assert "At best 4711." in mongo_tables("render", "docs/index.md", cwd=project).stdout.replace(",", "")


def test_it_may_be_named_from_elsewhere(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    page, rows = str(project / "docs/index.md"), str(project / "fixtures")
    mongo_tables("check", page, "--results", rows, cwd=elsewhere)


def test_what_keeps_the_numbers_away_is_told_where_it_is(project: Path) -> None:
    broken = TABLE.replace("$sort", "$sorted")
    (project / "docs/deep/speed.md").write_text(broken, encoding="utf-8")
    done = mongo_tables("check", "docs/index.md", cwd=project, expect=1)
    assert "docs/deep/speed.md:1:" in done.stdout
    assert "MT139" not in done.stdout


def test_a_false_statement_is_told_of_the_page_that_makes_it(project: Path) -> None:
    (project / "fixtures/results/rows.jsonl").write_text('{"_id": 1, "speed": 1}\n', encoding="utf-8")
    done = mongo_tables("check", "docs/index.md", cwd=project, expect=1)
    assert "docs/index.md:2:1: error MT322" in done.stdout


def test_a_table_that_nobody_has_is_still_unknown(project: Path) -> None:
    (project / "docs/deep/speed.md").write_text(WARNED, encoding="utf-8")
    done = mongo_tables("check", "docs/index.md", cwd=project, expect=1)
    assert done.stdout.count("MT139") == 2


def test_pages_of_no_site_stand_alone(project: Path) -> None:
    (project / "mkdocs.yml").unlink()
    assert "MT139" in mongo_tables("check", "docs/index.md", cwd=project, expect=1).stdout
