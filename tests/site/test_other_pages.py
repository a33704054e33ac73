"""Values and statements about tables of other pages, where pages are looked at alone."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import chdir
from pathlib import Path

import pytest

from mongo_tables.commands.pages import request_of
from mongo_tables.site.disk import read_snapshots
from mongo_tables.site.site import parse_site
from mongo_tables.site.site_config import fill_in
from tests.commands.test_commands import mongo_tables
from tests.hosts.builds import article, build, sample
from tests.hosts.test_build import with_extension

ELSEWHERE = '<!-- MONGO_VALUE: {"table": "all-runs", "column": "qps", "where": {"threads": 8}} -->'
UNKNOWN = ELSEWHERE.replace("all-runs", "no-runs")
TABLE = {"id": "here", "collection": "runs", "pipeline": [], "columns": ["threads"], "headers": ["Threads"]}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return with_extension(sample(tmp_path))


def found(text: str, site: Path) -> list[tuple[str, list[str | None]]]:
    (site / "docs/prose.md").write_text(text, encoding="utf-8")
    with chdir(site):
        fill_in(given := Namespace(config_file=None, results=None, limit=None))
        (snapshot,) = read_snapshots(["docs/prose.md"], request_of(given)).snapshots
        return [(other.file, [table.id for table in other.tables]) for other in parse_site(snapshot).quoted]


def test_zensical_shows_a_value_of_another_page(site: Path) -> None:
    (site / "docs" / "prose.md").write_text(f"# Prose\n\nA peak of {ELSEWHERE}.\n", encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '<span class="mongo-value" data-v="1032240">1032240</span>' in article(
        site / "site" / "prose.html"
    )


def test_zensical_stops_at_a_value_of_no_page(site: Path) -> None:
    (site / "docs" / "prose.md").write_text(f"# Prose\n\nA peak of {UNKNOWN}.\n", encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode != 0
    assert "docs/prose.md:3:" in done.stdout + done.stderr and "MT139" in done.stdout + done.stderr


def test_only_the_tables_that_are_named_come_from_another_page(site: Path) -> None:
    assert found(f"A peak of {ELSEWHERE}.", site) == [("docs/index.md", ["all-runs"])]


def test_a_page_that_names_its_own_tables_needs_no_other(site: Path) -> None:
    own = json.dumps({"table": "here", "column": "threads"})
    assert found(f"<!-- MONGO_TABLE: {json.dumps(TABLE)} -->\n\n<!-- MONGO_VALUE: {own} -->", site) == []


def test_a_page_that_only_mentions_the_name_is_no_neighbour(site: Path) -> None:
    (site / "docs" / "mention.md").write_text('Call it "no-runs".\n', encoding="utf-8")
    assert found(f"A peak of {UNKNOWN}.", site) == []


def test_a_file_that_is_no_text_is_left_to_the_program(site: Path) -> None:
    (site / "docs" / "broken.md").write_bytes(b'\xff "all-runs"')
    assert found(f"A peak of {ELSEWHERE}.", site) == [("docs/index.md", ["all-runs"])]


SPEED = """\
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
    (tmp_path / "docs/deep/speed.md").write_text(SPEED + "\n" + WARNED, encoding="utf-8")
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
    broken = SPEED.replace("$sort", "$sorted")
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
