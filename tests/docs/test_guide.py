"""The guide begins with ``init`` and the commands of each day; what it shows works as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mongo_tables.cli import GROUPS
from tests.commands.test_commands import mongo_tables

AUTHORS = Path(__file__).parents[2] / "docs" / "authors"
GUIDE = (AUTHORS / "guide.md").read_text("utf-8")
SOURCES = (AUTHORS / "sources.md").read_text("utf-8")


def fenced(text: str, language: str, holding: str) -> str:
    (found,) = (one for one in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holding in one)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mongo-tables.toml").write_text('results = "bench.json"\npages = ["page.md"]\n')
    return tmp_path


def rendered(project: Path, page: str) -> str:
    (project / "page.md").write_text(page)
    mongo_tables("render", "--in-place", "page.md", cwd=project)
    assert "no fault" in mongo_tables("check", cwd=project).stderr
    return mongo_tables("render", "page.md", cwd=project).stdout


def test_the_first_screen_has_init_and_commands_that_there_are() -> None:
    begun = GUIDE[: GUIDE.index("## 1. Install")]
    assert begun.index("mongo-tables init") < begun.index("| Command |")
    named = set(re.findall(r"`mongo-tables (\w+)", begun))
    assert (
        {"check", "render", "explain", "diff", "init"}
        <= named
        <= {one for group in GROUPS.values() for one in group}
    )


def test_a_csv_in_a_readme_has_all_four_comments(tmp_path: Path) -> None:
    (tmp_path / "bench.csv").write_text(fenced(GUIDE, "csv", "python,ms"))
    mongo_tables("init", cwd=tmp_path)
    page = tmp_path / "README.md"
    page.write_text(f"# Program\n\n{fenced(GUIDE, 'markdown', 'RESULT_CHART')}", "utf-8")
    mongo_tables("render", "--in-place", "README.md", cwd=tmp_path)
    assert "4 comments on 1 page: no fault" in mongo_tables("check", "--numbers", cwd=tmp_path).stderr
    written = page.read_text("utf-8")
    assert "| 3.11   |      9.80 |    102 |    +119 % |           – |" in written
    assert ".svg)" in written and "-->9.80<!--" in written


def test_a_computed_column_works(project: Path) -> None:
    rows = [{"threads": 1, "ops": 4200, "ms": 1000}, {"threads": 8, "ops": 30100, "ms": 1000}]
    (project / "results.json").write_text(json.dumps(rows))
    (project / "mongo-tables.toml").write_text('results = "results.json"\npages = ["page.md"]\n')
    assert "| 30100 |" in rendered(project, fenced(GUIDE, "markdown", '"compute": {"rate"')).replace(
        "30,100", "30100"
    )


def test_a_named_value_works(project: Path) -> None:
    (project / "bench.json").write_text('{"result": {"saved_pct": 0.8125}}')
    settings = project / "mongo-tables.toml"
    settings.write_text(f"{settings.read_text()}\n{fenced(GUIDE, 'toml', '[values.')}")
    assert rendered(project, fenced(GUIDE, "markdown", "RESULT: saved")) == "It saves 81.3 % of all tokens.\n"


def test_the_rows_of_a_map_work(project: Path) -> None:
    (project / "bench.json").write_text(fenced(SOURCES, "json", "by_class"))
    assert "| git |  12 |  81.2 |" in rendered(project, fenced(SOURCES, "markdown", '"result.by_class.*"'))


def test_the_list_in_each_row_works(project: Path) -> None:
    (project / "bench.json").write_text(fenced(SOURCES, "json", "datasets"))
    page = rendered(project, fenced(SOURCES, "markdown", '"datasets.*"'))
    assert "| large    |     310.8 |       90.5 |          3.4 |" in page
    assert "With large data it is 3.4 × as fast." in page


def test_the_guide_says_where_an_id_is_known() -> None:
    assert "unique in the site, so a value or a check on any page can name the table" in " ".join(
        GUIDE.split()
    )
